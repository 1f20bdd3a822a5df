//! A language model says where in a bank a text belongs, and makes its files shorter.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use reasoning_bank_domain::bank::{
    BankFiles, BankOperation, LongFile, optimize_prompt, proposed_operations, update_prompt,
};
use reasoning_bank_domain::learning::job::day_of;
use reasoning_bank_domain::memory::ids::TaskId;
use reasoning_bank_domain::memory::workspace::WorkspaceId;
use reasoning_bank_domain::prompt::{Prompt, Prompts, Purpose};
use reasoning_bank_domain::solve::answer::Answer;
use reasoning_bank_domain::text::tokens;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::agents::SolveSettings;
use crate::file_io::in_time;
use crate::model::{CallOutcome, ask};
use crate::ports::{BankLocation, Clock, Completion, LanguageModel, TokenAccount};
use crate::runtime::Deadline;

/// A question is asked at most this many times: again where the answer does not have its form.
const CALLS: u64 = 2;

/// The work on a bank that a model may do.
pub trait BankModel: Send + Sync + 'static {
    /// Says where in a bank a text belongs.
    ///
    /// # Errors
    /// It does not know, for this reason.
    fn file<'a>(
        &'a self,
        place: &'a BankLocation,
        files: &'a BankFiles,
        content: &'a str,
        deadline: Deadline,
    ) -> BoxFuture<'a, Result<Vec<BankOperation>, String>>;

    /// Makes sections of a file shorter.
    ///
    /// # Errors
    /// It cannot, for this reason.
    fn shorten<'a>(
        &'a self,
        place: &'a BankLocation,
        files: &'a BankFiles,
        file: &'a LongFile,
        deadline: Deadline,
    ) -> BoxFuture<'a, Result<Vec<BankOperation>, String>>;
}

/// Asks a language model, within what background work may spend in a day.
pub struct LanguageBankModel {
    model: Arc<dyn LanguageModel>,
    prompts: Arc<Prompts>,
    prompt_token_budget: usize,
    max_output_tokens: u32,
    account: Arc<dyn TokenAccount>,
    daily_token_cap: u64,
    clock: Clock,
}

impl LanguageBankModel {
    pub(crate) fn new(
        model: Arc<dyn LanguageModel>,
        settings: &SolveSettings,
        account: Arc<dyn TokenAccount>,
        daily_token_cap: u64,
        clock: Clock,
    ) -> Self {
        Self {
            model,
            prompts: Arc::clone(&settings.prompts),
            prompt_token_budget: settings.limits.prompt_token_budget,
            max_output_tokens: settings.max_output_tokens,
            account,
            daily_token_cap,
            clock,
        }
    }

    async fn ask(
        &self,
        place: &BankLocation,
        prompt: Prompt,
        deadline: Deadline,
    ) -> Result<Vec<BankOperation>, String> {
        if prompt.cut.is_some() {
            return Err("the text is too long for the model".to_owned());
        }
        let asked = tokens::estimate(&prompt.instructions) + tokens::estimate(&prompt.input);
        let reserved = CALLS * (asked as u64 + u64::from(self.max_output_tokens));
        let day = day_of(self.clock.now());
        let set_aside = in_time(deadline, self.account.set_aside(day, reserved, self.daily_token_cap)).await;
        if !set_aside.map_err(|why| format!("its tokens could not be set aside: {why}"))? {
            return Err("the tokens of background.daily_token_cap are used up for today".to_owned());
        }
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
        if let Err(why) = in_time(deadline, self.account.settle(day, reserved, spent.total_tokens())).await {
            tracing::warn!(%why, "what was spent of the tokens that were set aside could not be written down");
        }
        match result {
            Ok(Answer::Bank(proposal)) => {
                proposed_operations(&self.prompts, proposal).map_err(|problem| problem.to_string())
            }
            Ok(_) => Err("the model answered something else".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }
}

impl BankModel for LanguageBankModel {
    fn file<'a>(
        &'a self,
        place: &'a BankLocation,
        files: &'a BankFiles,
        content: &'a str,
        deadline: Deadline,
    ) -> BoxFuture<'a, Result<Vec<BankOperation>, String>> {
        let prompt = update_prompt(&self.prompts, files, content, self.prompt_token_budget);
        self.ask(place, prompt, deadline).boxed()
    }

    fn shorten<'a>(
        &'a self,
        place: &'a BankLocation,
        files: &'a BankFiles,
        file: &'a LongFile,
        deadline: Deadline,
    ) -> BoxFuture<'a, Result<Vec<BankOperation>, String>> {
        let prompt = optimize_prompt(&self.prompts, files, file, self.prompt_token_budget);
        self.ask(place, prompt, deadline).boxed()
    }
}
