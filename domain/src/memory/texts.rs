//! The text fields of stored records: people or models wrote them, so they are scrubbed. Ids, kinds, numbers and times
//! hold no text.

use super::record::{ErrorContext, Memory};
use super::signal::Signal;
use super::trace::{Step, Trace};
use super::workspace::Workspace;
use crate::safety::secrets::{Removed, Scrub, all};

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
            &mut self.pattern,
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
            &mut self.episode,
        ])
    }
}

/// Scrubs a copy on its way out. The root stays in the stored workspace, as the directory is found by it.
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
