//! The rule for when two reports are of the same episode: they say the same, in one session, within a few minutes.

use sha2::{Digest, Sha256};

use crate::memory::trace::Trace;
use crate::text::hex::hex;

/// The time within which a report that says the same is the same episode, in minutes.
pub const DUPLICATE_MINUTES: i64 = 10;

/// Returns the key of what an episode says: its task, its status, its output and its failures, without differences of
/// white space and case.
pub fn content_key(trace: &Trace) -> String {
    let mut hash = Sha256::new();
    let failures = trace.failures();
    let texts = [trace.task.as_str(), trace.outcome.as_str(), trace.primary_output().unwrap_or_default()];
    for text in texts.into_iter().chain(failures.iter().map(|failure| failure.error.as_str())) {
        for word in text.split_whitespace() {
            hash.update(word.to_lowercase());
            hash.update(b" ");
        }
        hash.update([0]);
    }
    hex(&hash.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::samples::{now, strategy, trace};
    use crate::memory::trace::Outcome;

    #[test]
    fn white_space_and_case_do_not_count_and_words_and_status_do() {
        let told = |task: &str, outcome| Trace {
            task: task.into(),
            outcome,
            ..Trace::reported(trace(1), strategy(1).workspace_id, "s", None, now())
        };
        let key = content_key(&told("Fix the pager", Outcome::Success));
        assert_eq!(content_key(&told(" fix  the\npager ", Outcome::Success)), key);
        assert_ne!(content_key(&told("Fix the pager", Outcome::Failure)), key);
        assert_ne!(content_key(&told("Fix the pagers", Outcome::Success)), key);
    }
}
