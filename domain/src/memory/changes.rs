//! Changes to a memory: what may be edited by hand. Where a memory comes from, whom it belongs to and what speaks for
//! it may not.

use jiff::Timestamp;

use super::succession::is_silent;
use super::{Memory, Status};

/// An edit of a memory. `None` leaves a field as it is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Changes {
    pub title: Option<String>,
    pub description: Option<String>,
    pub content: Option<String>,
    /// Takes the place of all tags there are.
    pub pattern_tags: Option<Vec<String>>,
    /// Blank takes it away.
    pub domain_category: Option<String>,
    /// Blank takes it away.
    pub difficulty_level: Option<String>,
    pub status: Option<Status>,
    pub pinned: Option<bool>,
}

impl Changes {
    /// The names of the fields that may be changed.
    pub const FIELDS: [&str; 8] =
        ["title", "description", "content", "pattern_tags", "domain_category", "difficulty_level", "status", "pinned"];

    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the memory after the changes, at `now`. The caller sets its revision and its time of change.
    pub fn apply(&self, memory: &Memory, now: Timestamp) -> Memory {
        fn set<T: Clone>(field: &mut T, change: &Option<T>) {
            if let Some(change) = change {
                field.clone_from(change);
            }
        }
        fn label(field: &mut Option<String>, change: &Option<String>) {
            if let Some(change) = change {
                *field = Some(change.trim().to_owned()).filter(|text| !text.is_empty());
            }
        }
        let before = memory.content.clone();
        let mut memory = memory.clone();
        set(&mut memory.title, &self.title);
        set(&mut memory.description, &self.description);
        set(&mut memory.content, &self.content);
        set(&mut memory.pattern_tags, &self.pattern_tags);
        label(&mut memory.domain_category, &self.domain_category);
        label(&mut memory.difficulty_level, &self.difficulty_level);
        set(&mut memory.pinned, &self.pinned);
        // Other wordings say what the memory says no more, and rules made links from the words that it had.
        // `left_behind` ends the links of older memories to it.
        if memory.content != before {
            memory.valid_from = Some(now);
            memory.wordings.clear();
            if is_silent(&memory) {
                memory.succession.replaces.clear();
            }
            memory.succession.reinstated_without = None;
            memory.succession.outdated_by = memory.succession.outdated_by.filter(|newer| newer.confidence.is_none());
        }
        if let Some(status) = self.status.filter(|status| *status != memory.status) {
            let is_undone = memory.status == Status::Superseded && status == Status::Active;
            memory = memory.reinstated(None).filter(|_| is_undone).unwrap_or(memory);
            memory.status = status;
            memory.quarantined_for.clear();
        }
        memory
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::samples::{id, now, strategy};

    #[test]
    fn what_is_not_named_stays() {
        let memory = Memory { domain_category: Some("rust".into()), pinned: true, ..strategy(1) };
        assert_eq!(Changes::default().apply(&memory, now()), memory);
        assert!(Changes::default().is_empty());
        let changes = Changes { title: Some("Other".into()), status: Some(Status::Archived), ..Changes::default() };
        assert!(!changes.is_empty());
        let changed = changes.apply(&memory, now());
        assert_eq!(changed, Memory { title: "Other".into(), status: Status::Archived, ..memory });
    }

    #[test]
    fn another_status_ends_a_quarantine_and_the_same_one_does_not() {
        let memory = Memory { status: Status::Quarantined, quarantined_for: vec![id(9)], ..strategy(1) };
        let with = |status| Changes { status: Some(status), ..Changes::default() }.apply(&memory, now());
        assert_eq!(with(Status::Quarantined), memory);
        assert_eq!(with(Status::Active), strategy(1));
    }

    #[test]
    fn to_make_a_superseded_memory_active_undoes_that_it_was_replaced() {
        let outdated = strategy(1).superseded(id(2)).unwrap();
        let back = Changes { status: Some(Status::Active), ..Changes::default() }.apply(&outdated, now());
        assert_eq!(Some(back), outdated.reinstated(None));
    }

    #[test]
    fn links_between_words_end_with_the_words() {
        let memory = strategy(1).linked(id(2), 0.9).unwrap();
        let with =
            |content: &str| Changes { content: Some(content.into()), ..Changes::default() }.apply(&memory, now());
        assert_eq!(with(&memory.content), memory);
        let changed = with("Something else.");
        assert!(changed.succession.is_empty() && changed.valid_from == Some(now()), "it was said just now");
        let said = strategy(1).superseded(id(2)).unwrap();
        let changed = Changes { content: Some("Something else.".into()), ..Changes::default() }.apply(&said, now());
        assert_eq!(changed.superseded_by(), Some(id(2)));
    }

    #[test]
    fn a_blank_label_is_taken_away() {
        let memory = Memory {
            domain_category: Some("rust".into()),
            difficulty_level: Some("easy".into()),
            pattern_tags: vec!["a".into()],
            ..strategy(1)
        };
        let changes = Changes {
            domain_category: Some(" ".into()),
            difficulty_level: Some(" hard ".into()),
            pattern_tags: Some(vec![]),
            ..Changes::default()
        };
        let changed = changes.apply(&memory, now());
        assert_eq!(
            (changed.domain_category, changed.difficulty_level, changed.pattern_tags),
            (None, Some("hard".into()), vec![])
        );
    }
}
