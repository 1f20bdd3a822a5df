//! Related texts: what earlier tasks and lessons say about a task, as texts that working memory holds beside it.

use std::fmt::Write as _;

use super::WorkingMemory;
use crate::episode::EpisodeFound;
use crate::retrieval::responses::MemoryView;
use crate::text::shortened;
use crate::text::tokens::truncate;

/// A text that was found has at most this many tokens: six of them fill their section.
const FOUND_TOKENS: usize = 320;
/// The longest error and resolution in it, in characters.
const PART_CHARS: usize = 300;

impl WorkingMemory {
    /// Returns what one asks about the task: its description, and the step in work.
    pub fn question(&self) -> String {
        let (task, current) = (self.task(), self.execution().current.as_deref());
        let step = task.plan.iter().find(|step| Some(step.id.as_str()) == current).map(|step| step.title.as_str());
        let parts = [Some(task.description.as_str()), step].into_iter().flatten().map(str::trim);
        parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
    }
}

/// Writes an episode that was found: where it is stored, and what it says.
pub fn episode_text(found: &EpisodeFound) -> (String, String) {
    let episode = &found.episode;
    let mut text = format!("{} {}: {}", episode.status.as_str(), episode.task_type, episode.task);
    if let Some(failure) = &found.failure {
        let _ = write!(text, "\nfailed: {}", shortened(&failure.error, PART_CHARS));
        if let Some(resolution) = &failure.resolution {
            let _ = write!(text, "\nresolved by: {}", shortened(resolution, PART_CHARS));
        }
    }
    if let Some(output) = &episode.output {
        let _ = write!(text, "\noutcome: {output}");
    }
    for insight in &episode.insights {
        let _ = write!(text, "\n{insight}");
    }
    (format!("episode {}", episode.episode_id), short(text))
}

/// Writes a memory that was found: where it is stored, and what it says.
pub fn memory_text(memory: &MemoryView) -> (String, String) {
    let mut text = format!("{}: {}\n{}", memory.title, memory.description, memory.content);
    if let Some(error) = &memory.error_context {
        let _ = write!(text, "\navoid: {}\ninstead: {}", error.failure_pattern, error.corrective_guidance);
    }
    (format!("memory {}", memory.id), short(text))
}

fn short(text: String) -> String {
    truncate(&text, FOUND_TOKENS).unwrap_or(text)
}
