//! Failures that came at least twice, and what ended them at least twice. No test is made: that something came again is
//! all that is claimed.

use std::collections::BTreeMap;

use super::candidate::MinedPattern;
use crate::memory::signature::Signature;
use crate::pattern::facts::EpisodeFacts;
use crate::pattern::wording::title_key;

/// The fewest episodes with a failure, or with what ended it.
const TIMES_MIN: usize = 2;

/// Returns the failures and recoveries of one workspace.
pub(super) fn repeated(episodes: &[&EpisodeFacts]) -> Vec<MinedPattern> {
    let mut failures: BTreeMap<&Signature, Vec<&EpisodeFacts>> = BTreeMap::new();
    let mut recoveries: BTreeMap<(&Signature, String), (&str, Vec<&EpisodeFacts>)> = BTreeMap::new();
    for episode in episodes {
        for failure in episode.failures.iter().filter(|failure| !failure.signature.error().is_empty()) {
            add(failures.entry(&failure.signature).or_default(), episode);
            let by = failure.resolved_by.as_deref().filter(|by| !title_key(by).is_empty());
            if let Some(by) = by {
                let (_, of) = recoveries.entry((&failure.signature, title_key(by))).or_insert((by, Vec::new()));
                add(of, episode);
            }
        }
    }
    let failures = failures.into_iter().filter(|(_, of)| of.len() >= TIMES_MIN);
    let recoveries = recoveries.into_iter().filter(|(_, (_, of))| of.len() >= TIMES_MIN);
    failures
        .map(|(signature, of)| MinedPattern::failure(signature, &of))
        .chain(recoveries.map(|((signature, _), (by, of))| MinedPattern::recovery(signature, by, &of)))
        .collect()
}

/// Adds an episode that is not there. Its failures come one after the other.
fn add<'a>(of: &mut Vec<&'a EpisodeFacts>, episode: &'a EpisodeFacts) {
    if of.last().is_none_or(|last| last.id != episode.id) {
        of.push(episode);
    }
}
