//! Corrections: whether what somebody says next takes back the answer before it, because it did not work or was wrong.
//! The first sentence decides, in English, German, French, Spanish, Italian and Dutch. A question, a condition and a
//! word of thanks take nothing back. In doubt an answer stands.

use std::sync::LazyLock;

use regex::Regex;

/// The first sentence is looked for within this many characters.
const LOOKED_AT_CHARS: usize = 400;

#[allow(clippy::expect_used, reason = "a constant pattern that every test of this module compiles")]
static CORRECTION: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = concat!(
        r"(?i)^\W{0,4}(?:nope|wrong|falsch|faux|incorrecto|sbagliato|fout)\b|^\W{0,4}(?:no|nein|non|nee)(?:[,.!:;—]|$)",
        r"|\b(?:(?:still|again) (?:fail|get|see|broken|crash|not|the same|an? error)\w*",
        r"|(?:does|did|do|is|was)(?: not|n['’]t) (?:work|help|fix|compile|build|pass|correct|right|what i)\w*",
        r"|(?:not|isn['’]t) (?:working|correct|right|true|fixed)|same (?:error|problem|issue|failure)",
        r"|that(?: is|['’]s) (?:wrong|not|incorrect|false)|you(?: are|['’]re) wrong|made it worse|no effect",
        r"|(?:undo|revert|roll back|take back) (?:that|this|it|your)|(?:it|that|this) (?:broke|fails?|failed|crashe[sd])",
        r"|(?:geht|klappt|funktioniert|stimmt|hilft|kompiliert)(?: \w+){0,3} nicht|immer noch|derselbe fehler",
        r"|ne (?:marche|fonctionne|compile) (?:pas|toujours)|n['’]est pas (?:correct|vrai|juste)|toujours (?:la même|le même|pas)",
        r"|(?:no|sigue sin) (?:funciona|funcionar|compila|es correcto)|sigue (?:fallando|igual)|mismo error",
        r"|non (?:funziona|va|compila|è corretto|è vero)|stesso errore|ancora (?:lo stesso|non)",
        r"|(?:werkt|klopt|helpt|compileert)(?: \w+){0,3} niet|nog steeds|dezelfde fout)\b",
    );
    Regex::new(pattern).expect("a valid pattern")
});

#[allow(clippy::expect_used, reason = "a constant pattern that every test of this module compiles")]
static STANDING: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = concat!(
        r"(?i)\?\s*$|\b(?:if|when|how|why|what|whether|unless|wenn|falls|wie|warum|comment|pourquoi|cómo|come|hoe)\b",
        r"|\b(?:thanks?|thank you|great|perfect|nice|works|worked|fixed it|no longer|danke|super|klasse|merci|parfait",
        r"|gracias|perfecto|grazie|perfetto|bedankt)\b|^\W{0,4}no (?:problem|worries)",
    );
    Regex::new(pattern).expect("a valid pattern")
});

#[allow(clippy::expect_used, reason = "a constant pattern that every test of this module compiles")]
static END_OF_SENTENCE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"[.!?]+(?:\s|$)|\n").expect("a valid pattern"));

pub(super) fn is_correction(message: &str) -> bool {
    let message = message.trim_start();
    let looked_at = message.char_indices().nth(LOOKED_AT_CHARS).map_or(message.len(), |(at, _)| at);
    let end = END_OF_SENTENCE.find(&message[..looked_at]).map_or(looked_at, |end| end.end());
    let sentence = message[..end].trim_end();
    CORRECTION.is_match(sentence) && !STANDING.is_match(sentence)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("No, that is not it. The port is taken.")]
    #[case("It still fails with the same error:\n\nE0382")]
    #[case("That didn't work, the lock is still held")]
    #[case("that's wrong, the index starts at one")]
    #[case("Please revert that.")]
    #[case("Das funktioniert leider nicht, der Test ist rot")]
    #[case("Ça ne marche pas non plus")]
    #[case("No funciona, sigue fallando")]
    #[case("Non funziona, stesso errore di prima")]
    #[case("Dat werkt niet, nog steeds dezelfde fout")]
    fn what_takes_an_answer_back(#[case] message: &str) {
        assert!(is_correction(message), "{message}");
    }

    #[rstest]
    #[case("Thanks, that worked. How do I add a second replica?")]
    #[case("Now explain why the borrow checker complains here.")]
    #[case("Nothing else to do? Then let's write the notes.")]
    #[case("Danke! Und wie geht es mit zwei Replikaten?")]
    #[case("How do I know that the cache is not stale?")]
    #[case("What is the difference between Arc and Rc?")]
    #[case("Great, it no longer fails! Now the second part.")]
    #[case("No problem with that. How do I add an index?")]
    #[case("Non-blocking sockets in tokio: how are they closed?")]
    #[case("What happens if it fails in CI and not here?")]
    #[case("Thanks, works. How do I revert this migration later?")]
    #[case("Perfect. Now the login page does not work on a phone.")]
    fn what_goes_on(#[case] message: &str) {
        assert!(!is_correction(message), "{message}");
    }
}
