//! A hook looks into the bank by itself where no process serves it, and words alone decide.

use std::sync::Mutex;
use std::time::Duration;

use reasoning_bank_clients::HookEvent;

use super::answers::{HookAnswer, HookAnswers};
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

/// Says what the agent is told of an event; none where nothing is known, or the bank cannot be looked into as it is.
pub(crate) async fn answer_cold(question: HookQuestion, loaded: &Loaded, timeout: Duration) -> Option<ColdAnswer> {
    let settings = &loaded.settings;
    let (recalls, noted) = settings
        .recall_log
        .enabled
        .then(|| RecallLog::unwritten(&settings.data_dir, settings.retrieval.min_relevance))
        .unzip();
    // Nothing else says what the session was shown already.
    if recalls.is_none() && matches!(question.call.event, HookEvent::PromptSubmitted { .. }) {
        return None;
    }
    let system = reading_system(loaded).await.ok()?.handle();
    let answers = HookAnswers {
        system,
        data_dir: settings.data_dir.clone(),
        identity: settings.workspace.identity,
        recalls,
        sessions: Mutex::default(),
        timeout,
        serves: false,
    };
    let HookAnswer { text, shown } = answers.answer(question).await;
    if let Some(shown) = shown {
        answers.note(shown);
    }
    match text {
        Some(text) => Some(ColdAnswer { text, noted }),
        None => {
            noted.iter().for_each(UnwrittenRecalls::write);
            None
        }
    }
}

#[cfg(test)]
mod tests;
