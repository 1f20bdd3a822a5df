//! Stability: what became of the commits that were made after a solve, and which evidence about the memories used in it
//! follows. Reading a repository is the edge's work; the commits come in as data.
//!
//! The rule, for a solve at `t`:
//! - The commits that count are those made from `t` (its whole second: git knows no smaller one) to seven days after it.
//!   None: nothing came of the solve, and nothing is said of its memories.
//! - One of them is reverted: `Reverted`, as soon as that is seen, however late. A commit is reverted where a commit that
//!   stands says so ("This reverts commit …"), and stands where none does. So the revert of a revert takes it back, and
//!   times play no part in it: a commit can only name one that was there before it. A commit that reverts one of those
//!   that count is no work of its own: taking it back is no revert.
//! - Else `Stable`, once seven days have passed since the last of them: at the latest fourteen after the solve.
//! - Work that a client reports was done before its report: commits count from an hour before it on.
//! - Where a client named the commit that came of its work, that commit alone counts, if it was made within seven days of
//!   the report.
//!
//! A solve on the 1st, commits on the 2nd and the 5th: stable from the 12th on. The one of the 2nd is reverted on the
//! 6th: reverted from the 6th on. That revert is reverted on the 7th: stable from the 14th on, since all of it counts.

use std::collections::{HashMap, HashSet};

use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::memory::ids::{MemoryId, TraceId};
use crate::memory::signal::SignalKind;

/// How long commits are taken for the outcome of a solve, and how long they have to stand.
pub const DAYS: i64 = 7;
const WINDOW_SECONDS: i64 = DAYS * 24 * 60 * 60;
/// How long before a report the work of a client is taken to have begun.
pub const BEFORE_REPORT: SignedDuration = SignedDuration::from_hours(1);

/// Of a commit named in a message, in hexadecimal digits.
const ABBREVIATION: std::ops::RangeInclusive<usize> = 7..=64;
/// Commits that one message reverts, at most; the first count.
const REVERTS_MAX: usize = 1_000;

/// A commit of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// In lowercase hexadecimal digits, whole.
    pub id: String,
    /// When the work was done (the author's date), which rewriting the history keeps.
    pub at: Timestamp,
    /// The first line of its message.
    pub subject: String,
    /// The commits that it says it reverts, each by the start of its id: [`reverts`] of its message.
    pub reverts: Vec<String>,
}

/// The commits that a message says are reverted, by the start of their ids, in lowercase: what follows
/// "This reverts commit", wherever it stands, and however often.
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

/// Whether a text can be the id of a commit, or the start of one: 7 to 64 hexadecimal digits.
pub fn names_commit(text: &str) -> bool {
    ABBREVIATION.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// What became of what was made after a solve.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "standing", rename_all = "snake_case")]
pub enum WorkStanding {
    /// Nothing was committed within seven days of it.
    Nothing,
    /// It is too early to say, at the latest until then.
    Waiting { until: Timestamp },
    /// `commits` of them, and no revert for seven days after `last`.
    Stable { commits: usize, last: CommitName },
    /// One of them was reverted.
    Reverted { commit: CommitName, by: CommitName },
    /// The history that was read does not reach back to it, or holds no commit of that time that was named.
    Unknown,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommitName {
    pub id: String,
    pub subject: String,
}

impl WorkStanding {
    /// The evidence about the memories that were used.
    pub fn signal(&self) -> Option<SignalKind> {
        match self {
            Self::Stable { .. } => Some(SignalKind::Stable),
            Self::Reverted { .. } => Some(SignalKind::Reverted),
            Self::Nothing | Self::Waiting { .. } | Self::Unknown => None,
        }
    }

    /// Why, in a sentence that quotes nothing; none where there is no evidence.
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

/// A solve that used memories, or a client's own work that did, and what it says of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JudgedWork {
    pub trace_id: TraceId,
    /// Its first 200 characters.
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
    /// `stable` or `reverted`; absent where there is nothing to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<SignalKind>,
    /// The signal is stored already.
    pub known: bool,
}

/// What became of the solves of a workspace.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Stability {
    /// Newest first: those that used memories and did not fail.
    pub solves: Vec<JudgedWork>,
    /// How many signals are not stored yet, or were not before this.
    pub new_signals: usize,
    /// There are older solves that were not looked at.
    pub truncated: bool,
}

/// The commits of a repository, and which of them were reverted.
#[derive(Debug, Clone, Default)]
pub struct CommitHistory {
    /// By time, then by id; each once.
    commits: Vec<Commit>,
    /// For each the ones it reverts, as far as they are known.
    targets: Vec<Vec<usize>>,
    /// For each one that does not stand, a standing commit that reverts it: the last of them.
    undone_by: HashMap<usize, usize>,
    reaches_back_to: Option<Timestamp>,
}

impl CommitHistory {
    /// `reaches_back_to`: commits made before are not all there; none where all are.
    pub fn new(mut commits: Vec<Commit>, reaches_back_to: Option<Timestamp>) -> Self {
        commits.sort_by(|a, b| (a.at, &a.id).cmp(&(b.at, &b.id)));
        let mut met = HashSet::new();
        commits.retain(|commit| met.insert(commit.id.clone()));
        let targets = targets(&commits);
        let undone_by = undone_by(&targets);
        Self { commits, targets, undone_by, reaches_back_to }
    }

    /// What became of the commit whose id begins like this, in lowercase, and that was named at `at`.
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

    /// What became of what was made after a solve at `at`.
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

    /// `commits` that nobody reverted, of which `last` is the last one.
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

/// For each commit those it reverts. What names none of them, or several, names nothing, and so does its own name.
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

/// Decides from those that nobody reverts: they stand, what they revert does not, and what only such commits revert
/// stands. Commits that revert each other in a circle, which takes forged ids, are left as they are: not reverted.
fn undone_by(targets: &[Vec<usize>]) -> HashMap<usize, usize> {
    // How many there are that may yet turn out to stand and to revert it.
    let mut undecided = vec![0_usize; targets.len()];
    targets.iter().flatten().for_each(|target| undecided[*target] += 1);
    let mut undone: HashMap<usize, usize> = HashMap::new();
    // Decided commits, and whether they stand.
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
