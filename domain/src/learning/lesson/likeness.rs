//! Likeness: a new lesson is the same as a memory that is there, a relative of it, or a stranger to it. The caller
//! chooses which memories are compared: the nearest of the same readers.
//!
//! The vectors of two statements that differ in one value are nearly the same, so nearness alone never makes two
//! lessons one: every word has to be the same as well (`wording`). In doubt a lesson is added.

use super::wording::{says_the_same, wording_key};
use crate::memory::label::label_key;
use crate::memory::signature::Signature;
use crate::memory::{Memory, hash_of_parts, indentation, normalised};

/// Two lessons with the same words say the same from this cosine on.
const SAME_COSINE: f64 = 0.95;
/// A lesson counts as derived from a memory from this cosine on.
pub const RELATED_COSINE: f64 = 0.85;

/// The likeness of a lesson to a memory, which decides what becomes of the lesson.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Likeness {
    /// It is added.
    Apart,
    /// It is added, and counts as derived from the memory, because similar experience is never dropped.
    Related,
    /// It confirms the memory and is not added. Where its words differ, they are kept with the memory.
    Same,
}

/// Compares a lesson with a memory. `cosine` is that of their contents.
pub fn likeness(lesson: &Memory, memory: &Memory, cosine: f64) -> Likeness {
    if cosine >= SAME_COSINE && is_same_statement(lesson, memory) {
        Likeness::Same
    } else if cosine >= RELATED_COSINE {
        Likeness::Related
    } else {
        Likeness::Apart
    }
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

/// Returns a key that is the same for memories of which [`likeness`] may find that they are the same, so that only
/// those with one key need to be compared.
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
        assert_eq!(likeness(&saying(all), &saying(each), 1.0), Likeness::Related);
        assert_eq!(likeness(&saying(all), &saying(&format!("{all}\n")), 1.0), Likeness::Same);
        assert_ne!(saying(all).duplicate_key(), saying(each).duplicate_key());
        assert_eq!(saying("Run it.\nThen stop.").duplicate_key(), saying("Run it. Then stop.").duplicate_key());
        let of = |domain: Option<&str>| Memory { domain_category: domain.map(str::to_owned), ..saying("Ship it.") };
        assert_eq!(likeness(&of(Some("ios")), &of(Some("android")), 1.0), Likeness::Related);
        assert_ne!(of(Some("ios")).duplicate_key(), of(Some("android")).duplicate_key());
        assert_eq!(likeness(&of(Some("iOS")), &of(Some("ios")), 1.0), Likeness::Same);
        assert_eq!(likeness(&of(None), &of(Some("ios")), 1.0), Likeness::Same);
    }

    #[test]
    fn only_the_same_words_with_nearly_the_same_meaning_are_the_same() {
        let lesson = saying("Retry the call when the server answers 429.");
        let other = saying("When the server answers 429, retry the call");
        assert_eq!(likeness(&lesson, &other, 0.95), Likeness::Same);
        assert_eq!(likeness(&lesson, &other, 0.949), Likeness::Related);
        assert_eq!(likeness(&lesson, &other, 0.849), Likeness::Apart);
        let update = saying("Retry the call when the server answers 503.");
        assert_eq!(likeness(&lesson, &update, 1.0), Likeness::Related);
        let elsewhere = Memory { description: "Only in staging.".into(), ..lesson.clone() };
        assert_eq!(likeness(&lesson, &elsewhere, 1.0), Likeness::Related);
    }

    #[test]
    fn the_same_words_about_another_error_are_related() {
        let of = |error_type: &str| {
            let mut memory = warning(1);
            memory.error_context.as_mut().unwrap().error_type = error_type.into();
            memory
        };
        assert_eq!(likeness(&of("x.IndexError"), &of("IndexError: out of range"), 1.0), Likeness::Same);
        assert_eq!(likeness(&of("IndexError"), &of("KeyError"), 1.0), Likeness::Related);
        assert_eq!(
            likeness(&Memory { error_context: None, ..of("KeyError") }, &of("KeyError"), 1.0),
            Likeness::Related
        );
        let mut advised = of("IndexError");
        advised.error_context.as_mut().unwrap().corrective_guidance = "check the length first".into();
        assert_eq!(likeness(&advised, &of("IndexError"), 1.0), Likeness::Related);
    }

    proptest! {
        #[test]
        fn nearness_never_makes_a_lesson_less_alike(
            a in "[a-f]( [a-f]){0,3}", b in "[a-f]( [a-f]){0,3}", cosine in -1.0..1.0f64, more in 0.0..1.0f64,
        ) {
            let (a, b) = (saying(&a), saying(&b));
            let now = likeness(&a, &b, cosine);
            prop_assert!(now != Likeness::Same || (cosine >= 0.95 && says_the_same(&a.content, &b.content)));
            prop_assert!(likeness(&a, &b, cosine + more) >= now);
            prop_assert!(now != Likeness::Same || statement_key(&a) == statement_key(&b));
        }
    }
}
