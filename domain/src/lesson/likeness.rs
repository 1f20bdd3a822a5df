//! What a new lesson is to a memory that is there: the same, a relative, or a stranger. Which memories are compared is
//! the caller's choice: the nearest of the same readers.

use std::collections::HashSet;

use crate::memory::{Memory, normalised};

/// From this cosine on, two lessons with mostly the same words say the same.
const SAME_COSINE: f64 = 0.95;
const SAME_OVERLAP: f64 = 0.8;
/// From this cosine on, a lesson is linked to the memory as derived from it.
pub const RELATED_COSINE: f64 = 0.85;

/// What becomes of a lesson beside a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Likeness {
    /// It is added.
    Apart,
    /// It is added, and linked to the memory as derived from it: similar experience is never dropped.
    Related,
    /// It confirms the memory and is not added.
    Same,
}

/// `cosine` is that of their contents. Only what warns of the same kind of error, or what warns of none, is the same.
pub fn likeness(lesson: &Memory, memory: &Memory, cosine: f64) -> Likeness {
    let same_error = lesson.signature() == memory.signature();
    if cosine >= SAME_COSINE && same_error && overlap(lesson, memory) >= SAME_OVERLAP {
        Likeness::Same
    } else if cosine >= RELATED_COSINE {
        Likeness::Related
    } else {
        Likeness::Apart
    }
}

/// The share of words that two lessons have in common (Jaccard), in 0..1.
fn overlap(a: &Memory, b: &Memory) -> f64 {
    let words = |memory: &Memory| -> HashSet<String> {
        let text = normalised(&memory.content_text());
        text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_owned).collect()
    };
    let (a, b) = (words(a), words(b));
    let union = a.union(&b).count();
    if union == 0 { 0.0 } else { a.intersection(&b).count() as f64 / union as f64 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::memory::samples::{strategy, warning};

    fn saying(words: &[String]) -> Memory {
        Memory { title: String::new(), description: String::new(), content: words.join(" "), ..strategy(1) }
    }

    fn words() -> impl Strategy<Value = Vec<String>> {
        prop::collection::vec("[a-f]{1,2}", 0..12)
    }

    #[test]
    fn only_nearly_the_same_words_with_nearly_the_same_meaning_are_the_same() {
        let lesson = Memory { content: "a b c d e f g h".into(), ..saying(&[]) };
        let other = Memory { content: "a b c d e f g h i".into(), ..saying(&[]) };
        assert_eq!(likeness(&lesson, &other, 0.95), Likeness::Same);
        assert_eq!(likeness(&lesson, &other, 0.949), Likeness::Related);
        let fewer = Memory { content: "a b c d e f x y".into(), ..saying(&[]) };
        assert_eq!(likeness(&lesson, &fewer, 1.0), Likeness::Related);
        assert_eq!(likeness(&lesson, &other, 0.849), Likeness::Apart);
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
    }

    proptest! {
        #[test]
        fn words_in_common_are_a_share_the_same_from_either_side(a in words(), b in words()) {
            let (a, b) = (saying(&a), saying(&b));
            prop_assert!((0.0..=1.0).contains(&overlap(&a, &b)));
            prop_assert_eq!(overlap(&a, &b), overlap(&b, &a));
            prop_assert!(a.content.is_empty() || overlap(&a, &a) == 1.0);
        }

        #[test]
        fn similar_experience_is_never_dropped_and_nearness_never_makes_it_less_alike(
            a in words(), b in words(), cosine in -1.0..1.0f64, more in 0.0..1.0f64,
        ) {
            let (a, b) = (saying(&a), saying(&b));
            let now = likeness(&a, &b, cosine);
            prop_assert!(now != Likeness::Same || (cosine >= 0.95 && overlap(&a, &b) >= 0.8));
            prop_assert!(likeness(&a, &b, cosine + more) >= now);
        }
    }
}
