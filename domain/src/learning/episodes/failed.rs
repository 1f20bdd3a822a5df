//! The failures of an episode, and what resolved each: the change after which the same command passed.

use super::calls::{CallStep, NamedCall};
use super::checks::is_check;
use crate::memory::signature::{Signature, error_message};
use crate::memory::trace::FailureAnalysis;
use crate::prompt::one_line;
use crate::text::shortened;

/// The most failures of an episode.
const FAILURES_MAX: usize = 50;
/// The longest error that is kept, in characters.
const ERROR_MAX_CHARS: usize = 1_000;
/// The most changes that a resolution names: the last ones before the success.
const NAMED_MAX: usize = 5;
/// The longest command that a resolution names, in characters.
const COMMAND_MAX_CHARS: usize = 200;

/// Finds what failed, each kind of error of a command once, and what resolved it.
pub(super) fn failures(calls: &[NamedCall<'_>]) -> Vec<FailureAnalysis> {
    let mut found: Vec<(usize, FailureAnalysis)> = Vec::new();
    for (place, call) in calls.iter().enumerate() {
        if call.call.succeeded != Some(false) || found.len() == FAILURES_MAX {
            continue;
        }
        let printed = call.call.output.as_deref().unwrap_or_default();
        let said = error_message(printed).unwrap_or_else(|| printed.trim().to_owned());
        let said = if said.is_empty() { format!("{} failed", call.name) } else { said };
        let error: String = said.chars().take(ERROR_MAX_CHARS).collect();
        let signature = Signature::of(&error, None).to_string();
        let later = &calls[place + 1..];
        let resolution = ended(call, later).and_then(|(at, success)| resolution(call, success, &later[..=at]));
        let is_known = |(at, known): &(usize, FailureAnalysis)| {
            let before = &calls[*at];
            known.signature == signature && (before.repeats(call) || call.repeats(before))
        };
        match found.iter_mut().find(|known| is_known(known)) {
            // The change that came after the last failure is the one that helped.
            Some((_, known)) => known.resolution = resolution,
            None => found.push((place, FailureAnalysis { error, signature, resolution, ..FailureAnalysis::default() })),
        }
    }
    found.into_iter().map(|(_, failure)| failure).collect()
}

/// Finds the call with which a failure ended, and what passed in it: all that may have failed was done again by then.
fn ended<'a>(failed: &NamedCall<'_>, later: &'a [NamedCall<'_>]) -> Option<(usize, &'a CallStep<'a>)> {
    let mut open = failed.blamed();
    for (at, call) in later.iter().enumerate() {
        let mut success = None;
        for passed in call.passed() {
            let before = open.len();
            open.retain(|failed| !resolves(passed, failed));
            success = (open.len() < before).then_some(passed).or(success);
        }
        // Where nothing tells which of its commands ran, the very line did.
        let again = call.call.succeeded == Some(true) && call.call.input == failed.call.input;
        let last = again.then(|| call.steps.last()).flatten();
        if let Some(success) = success.filter(|_| open.is_empty()).or(last) {
            return Some((at, success));
        }
    }
    None
}

/// Tells whether a failure ended with this success: the same was done again. A command that said nothing of what it is
/// about may need to be told, such as `git push` the branch. A check without words is about everything, and so only
/// all of it ends its failure.
fn resolves(success: &CallStep<'_>, failed: &CallStep<'_>) -> bool {
    let is_told_now = || {
        let are_commands = success.is_command() && failed.is_command();
        are_commands && success.name == failed.name && failed.chosen().is_empty() && !is_check(failed)
    };
    success.repeats(failed) || is_told_now()
}

/// Says what was changed from a failure to the success that ended it, which is in the last call. None where nothing was
/// done but the same again.
fn resolution(failed: &NamedCall<'_>, passed: &CallStep<'_>, until: &[NamedCall<'_>]) -> Option<String> {
    let (success, between) = until.split_last()?;
    let command = |call: &NamedCall<'_>| format!("`{}`", shortened(&one_line(&call.call.input), COMMAND_MAX_CHARS));
    let helped = |call: &&NamedCall<'_>| {
        call.call.succeeded != Some(false) && call.changes_the_work() && !failed.is_same_command(call)
    };
    let mut done: Vec<String> = Vec::new();
    for call in between.iter().rev().filter(helped) {
        let what = match &call.call.target {
            Some(target) => format!("{} {target}", call.name),
            None if call.is_command() => command(call),
            None => call.name.clone(),
        };
        if !done.contains(&what) && done.len() < NAMED_MAX {
            done.push(what);
        }
    }
    done.reverse();
    if success.call.target.is_none() && !success.is_same_command(failed) {
        done.push(command(success));
    }
    (!done.is_empty()).then(|| format!("{}; then {} succeeded", done.join(", "), passed.name))
}
