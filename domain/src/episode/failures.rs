//! Search by a failure: which failure of an episode is the one that was met, and how sure that is.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::memory::signature::Signature;
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
    /// The signature is equal.
    Signature,
}

/// The failure of an episode that is like the one that was met, with what ended it.
#[derive(Debug, Clone, PartialEq)]
pub struct FailureMatch {
    pub tier: FailureTier,
    /// None where the episode failed and does not say of what.
    pub failure: Option<FailureAnalysis>,
}

/// Finds the failure of an episode that is most like the one that was met. Among equals one that was resolved comes
/// first.
pub fn matched_failure(trace: &Trace, met: &Signature) -> FailureMatch {
    let failures = trace.failures().into_iter().map(|failure| {
        let own = failure.read_signature();
        let tier = if met.matches(&own) {
            FailureTier::Signature
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
        let of = |failures| matched_failure(&failed(failures), &met);
        let equal = of(&[("ValueError: x", "", None), ("KeyError: 'id'", "", Some("use get"))]);
        assert_eq!(
            (equal.tier, equal.failure.unwrap().resolution.as_deref()),
            (FailureTier::Signature, Some("use get"))
        );
        assert_eq!(of(&[("e", "keyerror|parsing", None)]).tier, FailureTier::Type);
        assert_eq!(of(&[("ValueError: x", "", None)]).tier, FailureTier::Meaning);
        assert_eq!(of(&[]), FailureMatch { tier: FailureTier::Meaning, failure: None });
        let resolved = of(&[("KeyError: 'a'", "", None), ("KeyError: 'b'", "", Some("default"))]);
        assert_eq!(resolved.failure.unwrap().error, "KeyError: 'b'");
    }
}
