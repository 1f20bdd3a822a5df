//! The most tokens that a question may cost. Background work sets them aside of a day's tokens before it asks, so the
//! count covers the repair, too. What is set aside and what is settled is in `actors::model::budgeted`.

use super::Purpose;
use crate::text::tokens;

/// The most calls for one question: an answer that does not have its form is asked for again.
const CALLS: u64 = 2;
/// The number of tokens that an endpoint may add to a call, or by which its count may differ from ours.
const MARGIN: u64 = 500;

/// Returns the most tokens that a question may take, with its answer and its repair, by our own count.
pub fn question_tokens(purpose: Purpose, instructions: &str, input: &str, max_output_tokens: u32) -> u64 {
    let prompt = tokens::estimate(instructions) + tokens::estimate(input);
    CALLS * (prompt as u64 + beside_prompt(purpose, max_output_tokens))
}

/// Returns the most tokens that a prompt may have for its question to stay within `question_tokens`.
pub(crate) fn prompt_tokens_within(question_tokens: u64, purpose: Purpose, max_output_tokens: u32) -> u64 {
    (question_tokens / CALLS).saturating_sub(beside_prompt(purpose, max_output_tokens))
}

/// Returns the tokens that a failed call of a question may have cost although nobody said so.
pub fn unreported_tokens(question_tokens: u64) -> u64 {
    question_tokens.div_ceil(CALLS)
}

/// Returns the tokens of a call beside its prompt: the answer, and what a repair adds to the prompt.
fn beside_prompt(purpose: Purpose, max_output_tokens: u32) -> u64 {
    let schema = purpose.schema().map_or(0, |schema| tokens::estimate(&schema.to_string()));
    schema as u64 + MARGIN + u64::from(max_output_tokens)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_as_long_as_a_budget_allows_makes_a_question_within_it() {
        let prompt = "word ".repeat(400);
        for purpose in [Purpose::Distill, Purpose::Capture, Purpose::Bank] {
            let most = question_tokens(purpose, "", &prompt, 1_000);
            assert_eq!(prompt_tokens_within(most, purpose, 1_000), tokens::estimate(&prompt) as u64);
            assert_eq!(prompt_tokens_within(100, purpose, 1_000), 0, "less than the answer alone");
        }
    }

    #[test]
    fn a_question_counts_its_repair_and_a_failed_call_is_half_of_it() {
        let (none, some) = (question_tokens(Purpose::Bank, "", "", 0), question_tokens(Purpose::Bank, "", "", 10));
        assert!(none > CALLS * MARGIN, "the schema of the repair counts: {none}");
        assert_eq!(some - none, CALLS * 10);
        assert_eq!((unreported_tokens(some) * CALLS, unreported_tokens(3)), (some, 2));
    }
}
