//! Which fields of what is stored hold text that people or models wrote. Ids, kinds, numbers and times do not.

use std::iter::Sum;
use std::ops::Add;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Scrubbed, scrub};
use crate::confidence::Signal;
use crate::memory::{ErrorContext, Memory};
use crate::trace::{Step, Trace};
use crate::workspace::Workspace;

/// What was taken out of texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Removed {
    /// How many secrets were replaced.
    pub redactions: u32,
    /// How many characters that nobody sees were dropped.
    pub dropped_characters: u32,
}

impl Removed {
    pub fn is_nothing(self) -> bool {
        self == Self::default()
    }
}

impl Add for Removed {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            redactions: self.redactions.saturating_add(other.redactions),
            dropped_characters: self.dropped_characters.saturating_add(other.dropped_characters),
        }
    }
}

impl Sum for Removed {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), Add::add)
    }
}

/// Takes secrets and invisible characters out of every text in a thing. Lengths may change: validate afterwards.
pub trait Scrub {
    fn scrub(&mut self) -> Removed;
}

impl Scrub for String {
    fn scrub(&mut self) -> Removed {
        let Scrubbed { text, redactions, dropped_characters, .. } = scrub(self);
        let removed = Removed { redactions, dropped_characters };
        if !removed.is_nothing() {
            *self = text.into_owned();
        }
        removed
    }
}

impl<T: Scrub> Scrub for Option<T> {
    fn scrub(&mut self) -> Removed {
        self.as_mut().map(T::scrub).unwrap_or_default()
    }
}

impl<T: Scrub> Scrub for Vec<T> {
    fn scrub(&mut self) -> Removed {
        self.iter_mut().map(T::scrub).sum()
    }
}

/// String by string: it stays JSON, and what is escaped in its text is seen as it is meant. Names stay.
impl Scrub for Value {
    fn scrub(&mut self) -> Removed {
        match self {
            Self::String(text) => text.scrub(),
            Self::Array(items) => items.iter_mut().map(Self::scrub).sum(),
            Self::Object(fields) => fields.values_mut().map(Self::scrub).sum(),
            Self::Null | Self::Bool(_) | Self::Number(_) => Removed::default(),
        }
    }
}

fn all<const N: usize>(fields: [&mut dyn Scrub; N]) -> Removed {
    fields.into_iter().map(|field| field.scrub()).sum()
}

impl Scrub for ErrorContext {
    fn scrub(&mut self) -> Removed {
        all([
            &mut self.error_type,
            &mut self.failure_pattern,
            &mut self.corrective_guidance,
            &mut self.error_message,
            &mut self.stack_trace,
            &mut self.task_domain,
        ])
    }
}

impl Scrub for Memory {
    fn scrub(&mut self) -> Removed {
        all([
            &mut self.title,
            &mut self.description,
            &mut self.content,
            &mut self.error_context,
            &mut self.task,
            &mut self.further_tasks,
            &mut self.wordings,
            &mut self.source_session,
            &mut self.pattern_tags,
            &mut self.difficulty_level,
            &mut self.domain_category,
        ])
    }
}

impl Scrub for Step {
    fn scrub(&mut self) -> Removed {
        all([&mut self.content, &mut self.feedback])
    }
}

impl Scrub for Trace {
    fn scrub(&mut self) -> Removed {
        all([
            &mut self.task,
            &mut self.trajectory,
            &mut self.evidence,
            &mut self.ended_by,
            &mut self.metadata.source_session,
        ])
    }
}

/// For a copy on its way out: the root that is stored is what the directory is found by.
impl Scrub for Workspace {
    fn scrub(&mut self) -> Removed {
        all([&mut self.name, &mut self.root, &mut self.team, &mut self.org])
    }
}

impl Scrub for Signal {
    fn scrub(&mut self) -> Removed {
        self.comment.scrub()
    }
}
