//! Likeness: a new lesson repeats a memory that is there, or is a memory of its own. The caller chooses which memories
//! are compared: the nearest of the same readers.
//!
//! The vectors of two statements that differ in one value are nearly the same, so nearness alone never makes two
//! lessons one: every word has to be the same as well (`wording`). In doubt a lesson is added.

use super::wording::{says_the_same, wording_key};
use crate::memory::label::label_key;
use crate::memory::signature::Signature;
use crate::memory::{Memory, hash_of_parts, indentation, normalised};

/// Two lessons with the same words say the same from this cosine on.
const SAME_COSINE: f64 = 0.95;

/// Tells whether a lesson says what a memory says already. `cosine` is that of their contents.
pub fn is_repeat(lesson: &Memory, memory: &Memory, cosine: f64) -> bool {
    cosine >= SAME_COSINE && is_same_statement(lesson, memory)
}

/// Returns the cosine of two vectors, which have the length one.
pub(crate) fn cosine(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(a, b)| f64::from(a * b)).sum()
}

/// Tells whether every word that carries something is the same, in the text and in what a warning warns of.
fn is_same_statement(a: &Memory, b: &Memory) -> bool {
    a.outcome == b.outcome
        && a.signature() == b.signature()
        && a.advice(normalised) == b.advice(normalised)
        && indentation(&a.content) == indentation(&b.content)
        && !are_of_other_domains(a, b)
        && [(&a.title, &b.title), (&a.description, &b.description), (&a.content, &b.content)]
            .into_iter()
            .all(|(a, b)| says_the_same(a, b))
}

fn are_of_other_domains(a: &Memory, b: &Memory) -> bool {
    let domain = |memory: &Memory| memory.domain_category.as_deref().map(label_key);
    domain(a).zip(domain(b)).is_some_and(|(a, b)| a != b)
}

/// Returns a key that is the same for memories of which [`is_repeat`] may find that one repeats the other, so that
/// only those with one key need to be compared.
pub fn statement_key(memory: &Memory) -> String {
    let texts = [&memory.title, &memory.description, &memory.content].map(|text| wording_key(text));
    let signature = memory.signature();
    let advice = memory.advice(normalised);
    let about = signature.as_ref().map(Signature::as_str).into_iter();
    let about = about.chain(advice.iter().flatten().map(String::as_str));
    let said = texts.iter().map(String::as_str);
    hash_of_parts(&std::iter::once(memory.outcome.as_str()).chain(said).chain(about).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::memory::samples::{strategy, warning};

    fn saying(content: &str) -> Memory {
        Memory { content: content.into(), ..strategy(1) }
    }

    #[test]
    fn programs_of_another_indentation_and_lessons_of_another_domain_are_no_repeats() {
        let (all, each) = ("for x in xs:\n    work(x)\ncommit()", "for x in xs:\n    work(x)\n    commit()");
        assert!(!is_repeat(&saying(all), &saying(each), 1.0));
        assert!(is_repeat(&saying(all), &saying(&format!("{all}\n")), 1.0));
        assert_ne!(saying(all).duplicate_key(), saying(each).duplicate_key());
        assert_eq!(saying("Run it.\nThen stop.").duplicate_key(), saying("Run it. Then stop.").duplicate_key());
        let of = |domain: Option<&str>| Memory { domain_category: domain.map(str::to_owned), ..saying("Ship it.") };
        assert!(!is_repeat(&of(Some("ios")), &of(Some("android")), 1.0));
        assert_ne!(of(Some("ios")).duplicate_key(), of(Some("android")).duplicate_key());
        assert!(is_repeat(&of(Some("iOS")), &of(Some("ios")), 1.0));
        assert!(is_repeat(&of(None), &of(Some("ios")), 1.0));
    }

    #[test]
    fn only_the_same_words_with_nearly_the_same_meaning_are_the_same() {
        let lesson = saying("Retry the call when the server answers 429.");
        let other = saying("When the server answers 429, retry the call");
        assert!(is_repeat(&lesson, &other, 0.95));
        assert!(!is_repeat(&lesson, &other, 0.949));
        let update = saying("Retry the call when the server answers 503.");
        assert!(!is_repeat(&lesson, &update, 1.0));
        let elsewhere = Memory { description: "Only in staging.".into(), ..lesson.clone() };
        assert!(!is_repeat(&lesson, &elsewhere, 1.0));
    }

    #[test]
    fn the_same_words_about_another_error_are_related() {
        let of = |error_type: &str| {
            let mut memory = warning(1);
            memory.error_context.as_mut().unwrap().error_type = error_type.into();
            memory
        };
        assert!(is_repeat(&of("x.IndexError"), &of("IndexError: out of range"), 1.0));
        assert!(!is_repeat(&of("IndexError"), &of("KeyError"), 1.0));
        assert!(!is_repeat(&Memory { error_context: None, ..of("KeyError") }, &of("KeyError"), 1.0));
        let mut advised = of("IndexError");
        advised.error_context.as_mut().unwrap().corrective_guidance = "check the length first".into();
        assert!(!is_repeat(&advised, &of("IndexError"), 1.0));
    }

    proptest! {
        #[test]
        fn nearness_never_makes_a_lesson_less_alike(
            a in "[a-f]( [a-f]){0,3}", b in "[a-f]( [a-f]){0,3}", cosine in -1.0..1.0f64, more in 0.0..1.0f64,
        ) {
            let (a, b) = (saying(&a), saying(&b));
            let now = is_repeat(&a, &b, cosine);
            prop_assert!(!now || (cosine >= 0.95 && says_the_same(&a.content, &b.content)));
            prop_assert!(is_repeat(&a, &b, cosine + more) >= now);
            prop_assert!(!now || statement_key(&a) == statement_key(&b));
        }
    }
}
