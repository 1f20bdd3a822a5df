//! Conditions that a caller sets on memories, and whether a memory meets them. Stores that evaluate them on columns or
//! in memory keep to this rule. Who may read a memory is no condition; that is the store port's matter.

mod time_range;

use jiff::Timestamp;

pub use time_range::{BadRange, TimeRange, moment};

use crate::memory::label::label_key;
use crate::memory::{Memory, MemoryOutcome, SourceType};

/// All that are given must hold.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Conditions {
    /// The label is compared without regard to case.
    pub domain: Option<String>,
    /// The label is compared without regard to case.
    pub difficulty: Option<String>,
    /// The memory has all of these tags, letter by letter.
    pub tags: Vec<String>,
    pub warnings_only: bool,
    pub without_warnings: bool,
    pub outcome: Option<MemoryOutcome>,
    pub source_type: Option<SourceType>,
    /// The memories were made at this time or later, compared in microseconds.
    pub since: Option<Timestamp>,
    /// The memories were made before this time, compared in microseconds.
    pub until: Option<Timestamp>,
}

impl Conditions {
    pub fn hold(&self, memory: &Memory) -> bool {
        let (warning, made) = (memory.is_warning(), memory.created_at.as_microsecond());
        (warning || !self.warnings_only)
            && (!warning || !self.without_warnings)
            && self.outcome.is_none_or(|outcome| memory.outcome == outcome)
            && self.source_type.is_none_or(|source| memory.source_type == source)
            && self.since.is_none_or(|since| made >= since.as_microsecond())
            && self.until.is_none_or(|until| made < until.as_microsecond())
            && same(self.domain.as_deref(), memory.domain_category.as_deref())
            && same(self.difficulty.as_deref(), memory.difficulty_level.as_deref())
            && self.tags.iter().all(|tag| memory.pattern_tags.contains(tag))
    }
}

fn same(asked: Option<&str>, own: Option<&str>) -> bool {
    asked.is_none_or(|asked| own.is_some_and(|own| asked == own || label_key(asked) == label_key(own)))
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;

    use super::*;
    use crate::memory::samples::{days_ago, strategy, warning};

    #[test]
    fn without_conditions_every_memory_will_do() {
        assert!(Conditions::default().hold(&strategy(1)) && Conditions::default().hold(&warning(2)));
    }

    #[test]
    fn labels_are_compared_without_case_and_tags_letter_by_letter() {
        let memory = Memory {
            domain_category: Some("Parsing ".into()),
            difficulty_level: Some("HARD".into()),
            pattern_tags: vec!["io".into(), "retry".into()],
            ..strategy(1)
        };
        let holds = |conditions: Conditions| conditions.hold(&memory);
        for (domain, expected) in [("parsing", true), (" PARSING", true), ("pars", false), ("", false)] {
            assert_eq!(holds(Conditions { domain: Some(domain.into()), ..Conditions::default() }), expected);
        }
        assert!(holds(Conditions { difficulty: Some("hard".into()), ..Conditions::default() }));
        assert!(!holds(Conditions { difficulty: Some("easy".into()), ..Conditions::default() }));
        for (tags, expected) in [(&["io"][..], true), (&["retry", "io"], true), (&["IO"], false), (&["io", "x"], false)]
        {
            let tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
            assert_eq!(holds(Conditions { tags, ..Conditions::default() }), expected);
        }
        let unlabelled = Conditions { domain: Some(String::new()), ..Conditions::default() };
        assert!(!unlabelled.hold(&strategy(2)), "no label is not an empty one");
    }

    #[test]
    fn a_range_of_time_has_its_beginning_and_not_its_end() {
        let memory = Memory { created_at: days_ago(3.0), ..strategy(1) };
        let micro = SignedDuration::from_micros(1);
        let made = memory.created_at;
        for (since, until, expected) in [
            (Some(made), None, true),
            (Some(made + micro), None, false),
            (None, Some(made), false),
            (None, Some(made + micro), true),
            (Some(made - micro), Some(made + micro), true),
            (Some(made + SignedDuration::from_nanos(1)), None, true),
        ] {
            let conditions = Conditions { since, until, ..Conditions::default() };
            assert_eq!(conditions.hold(&memory), expected, "{since:?} {until:?}");
        }
    }

    #[test]
    fn kind_outcome_and_source_are_told_apart() {
        let (known, failed) = (strategy(1), warning(2));
        let held = |conditions: Conditions| [conditions.hold(&known), conditions.hold(&failed)];
        assert_eq!(held(Conditions { warnings_only: true, ..Conditions::default() }), [false, true]);
        assert_eq!(held(Conditions { without_warnings: true, ..Conditions::default() }), [true, false]);
        let of = |outcome| Conditions { outcome: Some(outcome), ..Conditions::default() };
        assert_eq!(held(of(MemoryOutcome::Failure)), [false, true]);
        assert_eq!(held(of(MemoryOutcome::Mixed)), [false, false]);
        let from = |source| Conditions { source_type: Some(source), ..Conditions::default() };
        assert_eq!(held(from(SourceType::Explicit)), [true, true]);
        assert_eq!(held(from(SourceType::Solve)), [false, false]);
        let both = Conditions { warnings_only: true, ..of(MemoryOutcome::Success) };
        assert_eq!(held(both), [false, false], "all of them must hold");
    }
}
