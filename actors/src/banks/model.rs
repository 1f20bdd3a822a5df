//! A language model says where in a bank a text belongs, and makes its files shorter.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use reasoning_bank_domain::bank::{
    BankFiles, BankOperation, LongFile, optimize_prompt, proposed_operations, update_prompt,
};
use reasoning_bank_domain::memory::ids::TaskId;
use reasoning_bank_domain::memory::workspace::WorkspaceId;
use reasoning_bank_domain::prompt::{Prompt, Prompts, Purpose};
use reasoning_bank_domain::solve::answer::Answer;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::agents::SolveSettings;
use crate::model::BudgetedModel;
use crate::ports::{BankLocation, Completion};
use crate::runtime::Deadline;

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
    model: BudgetedModel,
    prompts: Arc<Prompts>,
    prompt_token_budget: usize,
    max_output_tokens: u32,
}

impl LanguageBankModel {
    pub(crate) fn new(model: BudgetedModel, settings: &SolveSettings) -> Self {
        Self {
            model,
            prompts: Arc::clone(&settings.prompts),
            prompt_token_budget: settings.limits.prompt_token_budget,
            max_output_tokens: settings.max_output_tokens,
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
        match self.model.ask(request, deadline, CancellationToken::new()).await {
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
