//! Stability: what became of the commits that were made after a solve, and which evidence about the memories used in it
//! follows. An adapter reads the repository; the commits come in as data.
//!
//! The rule, for a solve at `t`:
//! - The commits that count are those made from `t` (its whole second: git knows no smaller one) to seven days after
//!   it. Without any, nothing came of the solve, and nothing is said of its memories.
//! - The solve is `Reverted` as soon as one of these commits is seen to be reverted, however late. A commit is reverted
//!   where a commit that stands says so ("This reverts commit …"). A commit stands where none that stands reverts it,
//!   so the revert of a revert takes it back. Times play no part in it, as a commit can only name an earlier one. A
//!   commit that reverts one of those that count is no work of its own: taking it back is no revert.
//! - Otherwise the solve is `Stable` once seven days have passed since the last of the commits, which is fourteen days
//!   after the solve at the latest.
//! - The work that a client reports was done before its report, so commits count from an hour before the report on.
//! - Where a client named the commit that came of its work, that commit alone counts, if it was made within seven days
//!   of the report.
//!
//! An example: after a solve on the 1st, commits are made on the 2nd and the 5th. The solve is stable from the 12th on.
//! If the commit of the 2nd is reverted on the 6th, the solve is reverted from the 6th on. If that revert is reverted
//! on the 7th, the solve is stable from the 14th on, because all of these commits count.

use std::collections::{HashMap, HashSet};

use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::memory::ids::{MemoryId, TraceId};
use crate::memory::signal::SignalKind;

/// The number of days after a solve in which commits count as its outcome, and the number of days that they have to
/// stand.
pub const DAYS: i64 = 7;
const WINDOW_SECONDS: i64 = DAYS * 24 * 60 * 60;
/// The time before a report at which the work of a client is taken to have begun.
pub const BEFORE_REPORT: SignedDuration = SignedDuration::from_hours(1);

/// The numbers of hexadecimal digits that may name a commit in a message.
const ABBREVIATION: std::ops::RangeInclusive<usize> = 7..=64;
/// The most commits that one message reverts. The first ones count.
const REVERTS_MAX: usize = 1_000;

/// A commit of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// The whole id, in lowercase hexadecimal digits.
    pub id: String,
    /// The time when the work was done: the author's date, which stays when the history is rewritten.
    pub at: Timestamp,
    /// The first line of its message.
    pub subject: String,
    /// The commits that its message says it reverts, each by the start of its id (see [`reverts`]).
    pub reverts: Vec<String>,
}

/// Finds the commits that a message reverts, by the start of their ids, in lowercase. The ids follow "This reverts
/// commit", wherever and however often that stands in the message.
pub fn reverts(message: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut words = message.split_whitespace().peekable();
    while let Some(word) = words.next() {
        if !word.eq_ignore_ascii_case("this") || words.next_if(|word| word.eq_ignore_ascii_case("reverts")).is_none() {
            continue;
        }
        if words.next_if(|word| matches!(*word, "commit" | "commits")).is_none() {
            continue;
        }
        loop {
            while words.next_if(|word| *word == "and").is_some() {}
            let Some(id) = words.peek().and_then(|word| abbreviation(word)) else { break };
            words.next();
            if found.len() == REVERTS_MAX {
                return found;
            }
            found.push(id);
        }
    }
    found
}

fn abbreviation(word: &str) -> Option<String> {
    let id = word.trim_matches(|c: char| c.is_ascii_punctuation());
    names_commit(id).then(|| id.to_ascii_lowercase())
}

/// Tells whether a text can be the id of a commit, or the start of one: 7 to 64 hexadecimal digits.
pub fn names_commit(text: &str) -> bool {
    ABBREVIATION.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The fate of the commits that were made after a solve.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "standing", rename_all = "snake_case")]
pub enum WorkStanding {
    /// Nothing was committed within seven days of it.
    Nothing,
    /// It is too early to say; it will be known at the latest then.
    Waiting { until: Timestamp },
    /// None of the `commits` commits was reverted for seven days after `last`.
    Stable { commits: usize, last: CommitName },
    /// One of them was reverted.
    Reverted { commit: CommitName, by: CommitName },
    /// The history that was read does not reach back to it, or does not hold the commit that was named.
    Unknown,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommitName {
    pub id: String,
    pub subject: String,
}

impl WorkStanding {
    /// Returns the evidence that follows about the memories that were used. None where no evidence follows.
    pub fn signal(&self) -> Option<SignalKind> {
        match self {
            Self::Stable { .. } => Some(SignalKind::Stable),
            Self::Reverted { .. } => Some(SignalKind::Reverted),
            Self::Nothing | Self::Waiting { .. } | Self::Unknown => None,
        }
    }

    /// Returns the reason as a sentence that quotes no message of a commit. None where there is no evidence.
    pub fn reason(&self) -> Option<String> {
        let short = |commit: &CommitName| commit.id.chars().take(12).collect::<String>();
        match self {
            Self::Stable { commits: 1, last } => Some(format!("commit {} stood for {DAYS} days", short(last))),
            Self::Stable { commits, last } => {
                Some(format!("{commits} commits, the last of them {}, stood for {DAYS} days", short(last)))
            }
            Self::Reverted { commit, by } => Some(format!("commit {} was reverted by {}", short(commit), short(by))),
            Self::Nothing | Self::Waiting { .. } | Self::Unknown => None,
        }
    }
}

/// A solve that used memories, or a client's own work that did, with what its commits say of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JudgedWork {
    pub trace_id: TraceId,
    /// The first 200 characters of the task.
    pub task: String,
    pub solved_at: Timestamp,
    #[serde(flatten)]
    pub standing: WorkStanding,
    pub memories: Vec<JudgedMemory>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JudgedMemory {
    pub id: MemoryId,
    pub title: String,
    /// The evidence that follows, `stable` or `reverted`. Absent where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<SignalKind>,
    /// True where the signal is stored already.
    pub known: bool,
}

/// The solves of a workspace, with what became of each.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Stability {
    /// The solves that used memories and did not fail, newest first.
    pub solves: Vec<JudgedWork>,
    /// The number of new signals, which were not stored yet or were stored by this very call.
    pub new_signals: usize,
    /// True where there are older solves that were not looked at.
    pub truncated: bool,
}

/// The commits of a repository, and which of them were reverted.
#[derive(Debug, Clone, Default)]
pub struct CommitHistory {
    /// The commits in the order of time, then of id; each once.
    commits: Vec<Commit>,
    /// The commits that each commit reverts, as far as they are known. All are given by their places in `commits`.
    targets: Vec<Vec<usize>>,
    /// The place of the last standing commit that reverts a commit, by the place of the commit that was undone.
    undone_by: HashMap<usize, usize>,
    reaches_back_to: Option<Timestamp>,
}

impl CommitHistory {
    /// Makes the history of these commits. Commits made before `reaches_back_to` may be missing; where it is None, all
    /// are here.
    pub fn new(mut commits: Vec<Commit>, reaches_back_to: Option<Timestamp>) -> Self {
        commits.sort_by(|a, b| (a.at, &a.id).cmp(&(b.at, &b.id)));
        let mut met = HashSet::new();
        commits.retain(|commit| met.insert(commit.id.clone()));
        let targets = targets(&commits);
        let undone_by = undone_by(&targets);
        Self { commits, targets, undone_by, reaches_back_to }
    }

    /// Tells what became of a commit that a client named at the time `at`, by the start of its id in lowercase. That is
    /// unknown where no commit or several have this start, or where the commit was made more than seven days from `at`.
    pub fn standing_of(&self, commit: &str, at: Timestamp, now: Timestamp) -> WorkStanding {
        let mut named = self.commits.iter().enumerate().filter(|(_, known)| known.id.starts_with(commit));
        let (Some((n, known)), None) = (named.next(), named.next()) else { return WorkStanding::Unknown };
        if known.at.as_second().abs_diff(at.as_second()) > WINDOW_SECONDS.unsigned_abs() {
            return WorkStanding::Unknown;
        }
        if let Some(by) = self.undone_by.get(&n) {
            return WorkStanding::Reverted { commit: self.name(n), by: self.name(*by) };
        }
        self.stable(1, n, now)
    }

    /// Tells what became of the work that followed a solve at the time `at`.
    pub fn standing(&self, at: Timestamp, now: Timestamp) -> WorkStanding {
        let from = at.as_second();
        let closes = from.saturating_add(WINDOW_SECONDS);
        if self.reaches_back_to.is_some_and(|limit| from < limit.as_second()) {
            return WorkStanding::Unknown;
        }
        let begin = self.commits.partition_point(|commit| commit.at.as_second() < from);
        let end = self.commits.partition_point(|commit| commit.at.as_second() <= closes);
        let made = begin..end.max(begin);
        let is_work = |n: &usize| !self.targets[*n].iter().any(|target| made.contains(target));
        let reverted = made.clone().filter(is_work).find_map(|n| Some((n, *self.undone_by.get(&n)?)));
        if let Some((commit, by)) = reverted {
            return WorkStanding::Reverted { commit: self.name(commit), by: self.name(by) };
        }
        match made.clone().next_back() {
            Some(last) => self.stable(made.len(), last, now),
            None if now.as_second() > closes => WorkStanding::Nothing,
            None => waiting(closes),
        }
    }

    /// Returns the standing of the given number of `commits` that nobody reverted. `last` is the place of the last one.
    fn stable(&self, commits: usize, last: usize, now: Timestamp) -> WorkStanding {
        let stable_from = self.commits[last].at.as_second().saturating_add(WINDOW_SECONDS);
        if now.as_second() < stable_from {
            return waiting(stable_from);
        }
        WorkStanding::Stable { commits, last: self.name(last) }
    }

    fn name(&self, n: usize) -> CommitName {
        let Commit { id, subject, .. } = &self.commits[n];
        CommitName { id: id.clone(), subject: subject.clone() }
    }
}

fn waiting(until: i64) -> WorkStanding {
    WorkStanding::Waiting { until: Timestamp::from_second(until).unwrap_or(Timestamp::MAX) }
}

/// Finds the commits that each commit reverts. A name that fits no commit, or several, names none, and no commit
/// reverts itself.
fn targets(commits: &[Commit]) -> Vec<Vec<usize>> {
    let mut ids: Vec<(&str, usize)> = commits.iter().enumerate().map(|(n, commit)| (commit.id.as_str(), n)).collect();
    ids.sort_unstable();
    let named = |start: &String| {
        let first = ids.partition_point(|(id, _)| *id < start.as_str());
        let mut matching = ids[first..].iter().take_while(|(id, _)| id.starts_with(start.as_str()));
        matching.next().filter(|_| matching.next().is_none()).map(|(_, n)| *n)
    };
    let of_one = |(n, commit): (usize, &Commit)| {
        let mut own: Vec<usize> = commit.reverts.iter().filter_map(named).filter(|target| *target != n).collect();
        own.sort_unstable();
        own.dedup();
        own
    };
    commits.iter().enumerate().map(of_one).collect()
}

/// Maps each commit that was undone to the last standing commit that undid it. A commit that nobody reverts stands. A
/// commit that it reverts does not stand, and one that only undone commits revert stands again. Commits that revert
/// each other in a cycle, which takes forged ids, count as not reverted.
fn undone_by(targets: &[Vec<usize>]) -> HashMap<usize, usize> {
    // The number of commits that may yet turn out to stand and to revert each commit.
    let mut undecided = vec![0_usize; targets.len()];
    targets.iter().flatten().for_each(|target| undecided[*target] += 1);
    let mut undone: HashMap<usize, usize> = HashMap::new();
    // The commits that are decided, each with whether it stands.
    let mut decided: Vec<(usize, bool)> =
        (0..targets.len()).filter(|n| undecided[*n] == 0).map(|n| (n, true)).collect();
    while let Some((n, stands)) = decided.pop() {
        for target in &targets[n] {
            if stands {
                if !undone.contains_key(target) {
                    decided.push((*target, false));
                }
                undone.entry(*target).and_modify(|by| *by = n.max(*by)).or_insert(n);
            } else {
                undecided[*target] -= 1;
                if undecided[*target] == 0 && !undone.contains_key(target) {
                    decided.push((*target, true));
                }
            }
        }
    }
    undone
}

#[cfg(test)]
mod tests;
