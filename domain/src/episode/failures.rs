//! Search by a failure: which failure of an episode is the one that was met, and how sure that is.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::memory::ids::TraceId;
use crate::memory::signature::{PrintedFailure, Signature, ToldFailure};
use crate::memory::trace::{FailureAnalysis, Trace};

/// The way in which a failure is like the one that was met, the surest last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(description = "")]
pub enum FailureTier {
    /// Its words mean something alike.
    Meaning,
    /// The error is the same, in another domain.
    Type,
    /// The signature is equal, and the message is another one.
    Signature,
    /// The error and what it printed are the same.
    Message,
}

/// The failure of an episode that is like the one that was met, with what ended it.
#[derive(Debug, Clone, PartialEq)]
pub struct FailureMatch {
    pub tier: FailureTier,
    /// None where the episode failed and does not say of what.
    pub failure: Option<FailureAnalysis>,
}

/// Finds the failure of an episode that is most like the one that was met and `printed`. Among equals one that was
/// resolved comes first.
pub fn matched_failure(trace: &Trace, met: &Signature, printed: &PrintedFailure) -> FailureMatch {
    let domain = trace.episode.as_ref().and_then(|parts| parts.metadata.domain.as_deref());
    let failures = trace.failures().into_iter().map(|failure| {
        let own = failure.read_signature();
        // A failure that names no domain is one of the domain of its episode.
        let own = if own.domain().is_none() { Signature::of(own.as_str(), domain) } else { own };
        let tier = if met.matches(&own) {
            if is_printed(&failure, &own, printed) { FailureTier::Message } else { FailureTier::Signature }
        } else if !met.error().is_empty() && own.error() == met.error() {
            FailureTier::Type
        } else {
            FailureTier::Meaning
        };
        (tier, failure.is_resolved(), failure)
    });
    // The first of equals counts.
    let best = failures.reduce(|best, next| if (next.0, next.1) > (best.0, best.1) { next } else { best });
    match best {
        Some((tier, _, failure)) => FailureMatch { tier, failure: Some(failure) },
        None => FailureMatch { tier: FailureTier::Meaning, failure: None },
    }
}

/// Finds the failure of an episode that is the very one that was printed, and of which it is known what resolved it.
pub fn resolved_failure(trace: &Trace, met: &Signature, printed: &PrintedFailure) -> Option<FailureAnalysis> {
    trace.failures().into_iter().find(|failure| {
        let own = failure.read_signature();
        failure.is_resolved() && met.matches(&own) && is_printed(failure, &own, printed)
    })
}

/// Tells whether a failure with this signature is the very one that was printed.
fn is_printed(failure: &FailureAnalysis, own: &Signature, printed: &PrintedFailure) -> bool {
    let told = PrintedFailure::of(&failure.error);
    match told.has_message() && printed.has_message() {
        true => told.says_the_same(printed),
        false => ToldFailure::of(own.error(), &failure.error).is_of(printed),
    }
}

impl Trace {
    /// Returns the failure that a list tells of the episode: the first that was resolved, or else the first.
    pub fn told_failure(&self) -> Option<FailureAnalysis> {
        let mut failures = self.failures();
        let told = failures.iter().position(FailureAnalysis::is_resolved).unwrap_or_default();
        (told < failures.len()).then(|| failures.swap_remove(told))
    }

    /// Returns the episodes in which failures of this one were resolved.
    pub fn resolved_in(&self) -> impl Iterator<Item = TraceId> {
        let told = self.episode.iter().flat_map(|parts| &parts.reflection.failures_analyzed);
        told.filter_map(|failure| failure.resolved_by)
    }

    /// Names no episode as the one in which a failure was resolved but these.
    pub fn resolved_only_in(&mut self, episodes: &HashSet<TraceId>) {
        let told = self.episode.iter_mut().flat_map(|parts| &mut parts.reflection.failures_analyzed);
        for failure in told {
            failure.resolved_by = failure.resolved_by.filter(|id| episodes.contains(id));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::samples::{now, strategy, trace};
    use crate::memory::trace::{EpisodeParts, Reflection};

    fn failed(failures: &[(&str, &str, Option<&str>)]) -> Trace {
        let failure = |(error, signature, resolution): &(&str, &str, Option<&str>)| FailureAnalysis {
            error: (*error).to_owned(),
            signature: (*signature).to_owned(),
            resolution: resolution.map(str::to_owned),
            ..FailureAnalysis::default()
        };
        let failures_analyzed = failures.iter().map(failure).collect();
        let parts = EpisodeParts {
            reflection: Reflection { failures_analyzed, ..Reflection::default() },
            ..EpisodeParts::default()
        };
        Trace {
            episode: Some(Box::new(parts)),
            ..Trace::reported(trace(1), strategy(1).workspace_id, "s", None, now())
        }
    }

    #[test]
    fn an_equal_signature_comes_before_the_same_error_elsewhere() {
        let met = Signature::of("KeyError: 'user'", Some("web"));
        let printed = PrintedFailure::of("KeyError: 'user'");
        let of = |failures| matched_failure(&failed(failures), &met, &printed);
        let equal = of(&[("ValueError: x", "", None), ("KeyError: 'id'", "", Some("use get"))]);
        assert_eq!(
            (equal.tier, equal.failure.unwrap().resolution.as_deref()),
            (FailureTier::Signature, Some("use get"))
        );
        assert_eq!(
            of(&[("KeyError: 'id'", "", Some("use get")), ("KeyError: 'user'", "", None)]).tier,
            FailureTier::Message
        );
        assert_eq!(of(&[("e", "keyerror|parsing", None)]).tier, FailureTier::Type);
        assert_eq!(of(&[("ValueError: x", "", None)]).tier, FailureTier::Meaning);
        assert_eq!(of(&[]), FailureMatch { tier: FailureTier::Meaning, failure: None });
        let resolved = of(&[("KeyError: 'a'", "", None), ("KeyError: 'b'", "", Some("default"))]);
        assert_eq!(resolved.failure.unwrap().error, "KeyError: 'b'");
    }

    #[test]
    fn a_failure_is_one_of_the_domain_of_its_episode() {
        let mut told = failed(&[("KeyError: 'id'", "", None)]);
        told.episode.as_mut().unwrap().metadata.domain = Some("Parsing".into());
        let printed = PrintedFailure::of("KeyError: 'user'");
        let tier = |domain| matched_failure(&told, &Signature::of("KeyError: 'user'", domain), &printed).tier;
        assert_eq!(tier(Some("web")), FailureTier::Type);
        assert_eq!((tier(Some("parsing")), tier(None)), (FailureTier::Signature, FailureTier::Signature));
    }

    #[test]
    fn the_very_failure_that_was_printed_is_found_where_it_was_resolved() {
        let of = |error: &str, resolution: Option<&str>| {
            let printed = "Traceback (most recent call last):\n  File \"a.py\", line 3\nKeyError: 'tax'";
            let (met, printed) = (Signature::of(printed, None), PrintedFailure::of(printed));
            resolved_failure(&failed(&[(error, "", resolution)]), &met, &printed).and_then(|one| one.resolution)
        };
        assert_eq!(of("KeyError: 'tax'", Some("keep the column")).as_deref(), Some("keep the column"));
        assert_eq!(of("KeyError: 'user'", Some("use get")), None, "it is another key");
        assert_eq!(of("KeyError: 'tax'", None), None);
    }

    #[test]
    fn a_list_tells_the_failure_that_was_resolved_and_names_no_episode_that_is_gone() {
        let [kept, gone] = [1_u128, 2].map(|n| TraceId::from(uuid::Uuid::from_u128(n)));
        let mut trace = failed(&[("A", "", None), ("B", "", None), ("C", "", None)]);
        assert_eq!(trace.told_failure().unwrap().error, "A");
        let told = &mut trace.episode.as_mut().unwrap().reflection.failures_analyzed;
        (told[1].resolved_by, told[2].resolved_by) = (Some(gone), Some(kept));
        assert_eq!(trace.resolved_in().collect::<Vec<_>>(), [gone, kept]);
        assert_eq!(trace.told_failure().unwrap().error, "B");
        trace.resolved_only_in(&HashSet::from([kept]));
        assert_eq!(
            trace.told_failure().unwrap(),
            FailureAnalysis { resolved_by: Some(kept), ..trace.failures()[2].clone() }
        );
        trace.resolved_only_in(&HashSet::new());
        assert_eq!(trace.told_failure().unwrap().error, "A");
        assert_eq!(failed(&[]).told_failure(), None);
    }
}
