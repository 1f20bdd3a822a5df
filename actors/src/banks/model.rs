//! A language model says where in a bank a text belongs.

use std::sync::{Arc, Mutex, PoisonError};

use futures::FutureExt;
use futures::future::BoxFuture;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use reasoning_bank_domain::bank::{BankFiles, BankOperation, proposed_operations, update_prompt};
use reasoning_bank_domain::memory::ids::TaskId;
use reasoning_bank_domain::memory::workspace::WorkspaceId;
use reasoning_bank_domain::prompt::{Prompts, Purpose};
use reasoning_bank_domain::solve::answer::Answer;
use reasoning_bank_domain::text::tokens;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::update::BankFiler;
use crate::agents::SolveSettings;
use crate::model::{CallOutcome, ask};
use crate::ports::{BankLocation, Clock, Completion, LanguageModel};
use crate::runtime::Deadline;

/// A question is asked at most so many times: again where the answer has not its form.
const CALLS: u64 = 2;

/// Asks a model, within what this process may spend in a day.
pub struct ModelFiler {
    model: Arc<dyn LanguageModel>,
    prompts: Arc<Prompts>,
    prompt_token_budget: usize,
    max_output_tokens: u32,
    daily_token_cap: u64,
    /// The day, and the tokens that were used on it.
    spent: Mutex<(Date, u64)>,
    clock: Clock,
}

impl ModelFiler {
    pub(crate) fn new(
        model: Arc<dyn LanguageModel>,
        settings: &SolveSettings,
        daily_token_cap: u64,
        clock: Clock,
    ) -> Self {
        Self {
            model,
            prompts: Arc::clone(&settings.prompts),
            prompt_token_budget: settings.limits.prompt_token_budget,
            max_output_tokens: settings.max_output_tokens,
            daily_token_cap,
            spent: Mutex::new((Date::MIN, 0)),
            clock,
        }
    }

    async fn ask(
        &self,
        place: &BankLocation,
        files: &BankFiles,
        content: &str,
        deadline: Deadline,
    ) -> Result<Vec<BankOperation>, String> {
        let prompt = update_prompt(&self.prompts, files, content, self.prompt_token_budget);
        if prompt.cut.is_some() {
            return Err("the text and the bank are too long for the model".to_owned());
        }
        let asked = tokens::estimate(&prompt.instructions) + tokens::estimate(&prompt.input);
        let reserved = CALLS * (asked as u64 + u64::from(self.max_output_tokens));
        let day = self.reserve(reserved)?;
        let request = Completion {
            purpose: Purpose::Bank,
            // An answer is given again to nobody who uses another bank.
            workspace_id: WorkspaceId::of_root(&format!("bank\0{}", place.key)),
            task_id: TaskId::from(Uuid::now_v7()),
            attempt: None,
            instructions: prompt.instructions,
            input: prompt.input,
            max_output_tokens: self.max_output_tokens,
        };
        let CallOutcome { result, spent, .. } = ask(&*self.model, request, deadline, CancellationToken::new()).await;
        self.give_back(day, reserved.saturating_sub(spent.total_tokens()));
        match result {
            Ok(Answer::Bank(proposal)) => {
                proposed_operations(&self.prompts, proposal).map_err(|problem| problem.to_string())
            }
            Ok(_) => Err("the model answered something else".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Sets tokens of today's aside, where there are so many left.
    fn reserve(&self, tokens: u64) -> Result<Date, String> {
        let today = self.clock.now().to_zoned(TimeZone::UTC).date();
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        let used = if spent.0 == today { spent.1 } else { 0 };
        if used.saturating_add(tokens) > self.daily_token_cap {
            return Err("the tokens of background.daily_token_cap are used up for today".to_owned());
        }
        *spent = (today, used + tokens);
        Ok(today)
    }

    fn give_back(&self, day: Date, tokens: u64) {
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        if spent.0 == day {
            spent.1 = spent.1.saturating_sub(tokens);
        }
    }
}

impl BankFiler for ModelFiler {
    fn file<'a>(
        &'a self,
        place: &'a BankLocation,
        files: &'a BankFiles,
        content: &'a str,
        deadline: Deadline,
    ) -> BoxFuture<'a, Result<Vec<BankOperation>, String>> {
        self.ask(place, files, content, deadline).boxed()
    }
}
