//! A hook looks into the bank by itself where no process serves it, and words alone decide.

use std::sync::Mutex;
use std::time::Duration;

use reasoning_bank_clients::HookEvent;

use super::answers::{HookAnswer, HookAnswers};
use super::failures::HookProblem;
use super::question::HookQuestion;
use crate::bootstrap::reading_system;
use crate::recall_log::{RecallLog, UnwrittenRecalls};
use crate::settings::Loaded;

/// The answer of a hook that nobody serves.
pub(crate) struct ColdAnswer {
    pub(crate) text: String,
    /// The entries to be written once the agent was told: a hook whose time is up shows nothing.
    pub(crate) noted: Option<UnwrittenRecalls>,
}

/// Says what the agent is told of an event; none where nothing is known.
///
/// # Errors
/// The bank cannot be looked into as it is.
pub(crate) async fn answer_cold(
    question: HookQuestion,
    loaded: &Loaded,
    timeout: Duration,
) -> Result<Option<ColdAnswer>, HookProblem> {
    let settings = &loaded.settings;
    let (recalls, noted) = settings
        .recall_log
        .enabled
        .then(|| RecallLog::unwritten(&settings.data_dir, settings.retrieval.min_relevance))
        .unzip();
    // Nothing else says what the session was shown already.
    if recalls.is_none() && matches!(question.call.event, HookEvent::PromptSubmitted { .. }) {
        return Ok(None);
    }
    let system = reading_system(loaded).await.map_err(|_| HookProblem::BankUnreadable)?.handle();
    let answers = HookAnswers {
        system,
        data_dir: settings.data_dir.clone(),
        identity: settings.workspace.identity,
        recalls,
        sessions: Mutex::default(),
        has_working_tools: settings.mcp.has_working_tools(),
        timeout,
        learning: None,
    };
    let HookAnswer { text, shown } = answers.answer(question).await;
    if let Some(shown) = shown {
        answers.note(shown);
    }
    if text.is_none() {
        noted.iter().for_each(UnwrittenRecalls::write);
    }
    Ok(text.map(|text| ColdAnswer { text, noted }))
}

#[cfg(test)]
mod tests;
