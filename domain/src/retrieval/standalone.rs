//! Prompts that stand alone: they say enough for a search. `yes, go on` means something only after what was said
//! before.

/// A prompt of fewer words is an answer or a nod.
const LEAST_WORDS: usize = 4;
/// Words that only carry on what is under way.
const CONTINUING: [&str; 44] = [
    "a", "again", "ahead", "all", "alright", "and", "as", "carry", "continue", "do", "fine", "go", "good", "great",
    "it", "just", "keep", "looks", "me", "next", "no", "now", "of", "ok", "okay", "on", "one", "please", "proceed",
    "right", "same", "so", "step", "sure", "thanks", "that", "the", "them", "then", "this", "try", "with", "yes",
    "you",
];

/// Tells whether a text only carries on what is under way, such as `ok, thanks`.
pub fn only_carries_on(text: &str) -> bool {
    words(text).next().is_some() && words(text).all(carries_on)
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

fn carries_on(word: &str) -> bool {
    CONTINUING.contains(&word.to_lowercase().as_str())
}

/// Tells whether a prompt of a user says by itself what it is about. A command of the client (`/clear`) does not.
pub fn stands_alone(prompt: &str) -> bool {
    let prompt = prompt.trim();
    let is_command = prompt.starts_with('/') && !prompt.contains(char::is_whitespace);
    let words = || words(prompt);
    // Some languages write no spaces between words.
    let has_enough =
        words().count() >= LEAST_WORDS || prompt.chars().filter(|c| !c.is_ascii()).count() >= 4 * LEAST_WORDS;
    !is_command && has_enough && words().filter(|word| !carries_on(word)).count() >= 2.min(words().count())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("Add retries to the payment client", true)]
    #[case("KeyError: 'user' in the loader, fix it", true)]
    #[case("支付客户端在重试之后会重复扣款请修复这个问题", true)]
    #[case("yes", false)]
    #[case("ok, please go ahead and do that", false)]
    #[case("continue with the next step", false)]
    #[case("run tests", false)]
    #[case("/compact", false)]
    #[case("", false)]
    fn a_prompt_stands_alone_where_it_says_what_it_is_about(#[case] prompt: &str, #[case] alone: bool) {
        assert_eq!(stands_alone(prompt), alone);
    }
}
