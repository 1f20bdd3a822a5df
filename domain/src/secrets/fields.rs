//! Which fields of what is stored hold text that people or models wrote. Ids, kinds, numbers and times do not.

use serde_json::Value;

use super::scrub;
use crate::confidence::Signal;
use crate::memory::{ErrorContext, Memory};
use crate::trace::{Step, Trace};

/// Scrubs every text in a thing. Lengths may change: validate afterwards.
pub trait Scrub {
    /// How many secrets were replaced.
    fn scrub(&mut self) -> u32;
}

impl Scrub for String {
    fn scrub(&mut self) -> u32 {
        let scrubbed = scrub(self);
        let redactions = scrubbed.redactions;
        if redactions > 0 {
            *self = scrubbed.text.into_owned();
        }
        redactions
    }
}

impl<T: Scrub> Scrub for Option<T> {
    fn scrub(&mut self) -> u32 {
        self.as_mut().map_or(0, T::scrub)
    }
}

impl<T: Scrub> Scrub for Vec<T> {
    fn scrub(&mut self) -> u32 {
        self.iter_mut().map(T::scrub).fold(0, u32::saturating_add)
    }
}

/// String by string: it stays JSON, and what is escaped in its text is seen as it is meant. Names stay.
impl Scrub for Value {
    fn scrub(&mut self) -> u32 {
        match self {
            Self::String(text) => text.scrub(),
            Self::Array(items) => items.iter_mut().map(Self::scrub).fold(0, u32::saturating_add),
            Self::Object(fields) => fields.values_mut().map(Self::scrub).fold(0, u32::saturating_add),
            Self::Null | Self::Bool(_) | Self::Number(_) => 0,
        }
    }
}

fn all<const N: usize>(fields: [&mut dyn Scrub; N]) -> u32 {
    fields.into_iter().map(|field| field.scrub()).fold(0, u32::saturating_add)
}

impl Scrub for ErrorContext {
    fn scrub(&mut self) -> u32 {
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
    fn scrub(&mut self) -> u32 {
        all([
            &mut self.title,
            &mut self.description,
            &mut self.content,
            &mut self.error_context,
            &mut self.task,
            &mut self.source_session,
            &mut self.pattern_tags,
            &mut self.difficulty_level,
            &mut self.domain_category,
        ])
    }
}

impl Scrub for Step {
    fn scrub(&mut self) -> u32 {
        all([&mut self.content, &mut self.feedback])
    }
}

impl Scrub for Trace {
    fn scrub(&mut self) -> u32 {
        all([&mut self.task, &mut self.trajectory, &mut self.evidence])
    }
}

impl Scrub for Signal {
    fn scrub(&mut self) -> u32 {
        self.comment.scrub()
    }
}
