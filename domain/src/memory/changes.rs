//! Changes to a memory that is there: what may be edited by hand. Where a memory comes from, whom it belongs to and
//! what speaks for it may not.

use super::{Memory, Status};

/// What is to become of a memory; `None` leaves a field as it is.
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
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The memory as it becomes. Its revision and its time of change are the caller's to set.
    pub fn apply(&self, memory: &Memory) -> Memory {
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
        // They say in other words what it says no more.
        if memory.content != before {
            memory.wordings.clear();
        }
        if let Some(status) = self.status.filter(|status| *status != memory.status) {
            memory.status = status;
            memory.quarantined_for.clear();
        }
        memory
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::samples::{id, strategy};

    #[test]
    fn what_is_not_named_stays() {
        let memory = Memory { domain_category: Some("rust".into()), pinned: true, ..strategy(1) };
        assert_eq!(Changes::default().apply(&memory), memory);
        assert!(Changes::default().is_empty());
        let changes = Changes { title: Some("Other".into()), status: Some(Status::Archived), ..Changes::default() };
        assert!(!changes.is_empty());
        let changed = changes.apply(&memory);
        assert_eq!(changed, Memory { title: "Other".into(), status: Status::Archived, ..memory });
    }

    #[test]
    fn another_status_ends_a_quarantine_and_the_same_one_does_not() {
        let memory = Memory { status: Status::Quarantined, quarantined_for: vec![id(9)], ..strategy(1) };
        let with = |status| Changes { status: Some(status), ..Changes::default() }.apply(&memory);
        assert_eq!(with(Status::Quarantined), memory);
        assert_eq!(with(Status::Active), strategy(1));
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
        let changed = changes.apply(&memory);
        assert_eq!(
            (changed.domain_category, changed.difficulty_level, changed.pattern_tags),
            (None, Some("hard".into()), vec![])
        );
    }
}
