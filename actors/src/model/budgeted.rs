//! A question of background work, within the tokens of a day. It sets aside the most that the question may cost, asks,
//! and settles what the question did cost, so that all processes together stay below the cap. The size of a question is
//! in `domain::prompt`, and the account in `ports::account`.

use std::sync::Arc;
use std::time::Duration;

use jiff::civil::Date;
use reasoning_bank_domain::learning::job::day_of;
use reasoning_bank_domain::prompt::{question_tokens, unreported_tokens};
use reasoning_bank_domain::solve::answer::Answer;
use tokio_util::sync::CancellationToken;

use super::{CallOutcome, ask};
use crate::error::Error;
use crate::file_io::in_time;
use crate::ports::{Clock, Completion, LanguageModel, ModelError, TokenAccount};
use crate::runtime::Deadline;

/// The time limit of each write of the account. What a call cost is written down although the time of the call is over.
const ACCOUNT_LIMIT: Duration = Duration::from_secs(30);

/// Clones share the account.
#[derive(Clone)]
pub(crate) struct BudgetedModel {
    model: Arc<dyn LanguageModel>,
    account: Arc<dyn TokenAccount>,
    daily_token_cap: u64,
    clock: Clock,
}

/// There is no answer, for this reason.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BudgetedFailure {
    /// All tokens of a day are too few for the question.
    #[error("background.daily_token_cap is too small for one answer")]
    TooSmall,
    /// The tokens that are left of the day are too few for the question.
    #[error("the tokens of background.daily_token_cap are used up for today")]
    UsedUp,
    #[error("its tokens could not be set aside: {0}")]
    Account(Error),
    #[error(transparent)]
    Model(ModelError),
}

impl BudgetedModel {
    pub(crate) fn new(
        model: Arc<dyn LanguageModel>,
        account: Arc<dyn TokenAccount>,
        daily_token_cap: u64,
        clock: Clock,
    ) -> Self {
        Self { model, account, daily_token_cap, clock }
    }

    pub(crate) fn daily_token_cap(&self) -> u64 {
        self.daily_token_cap
    }

    /// Asks as [`ask`] does. After the deadline it asks nothing. Where nobody said what a call cost, it counts as what
    /// it may have cost; where the caller goes away meanwhile, all that was set aside stays spent.
    pub(crate) async fn ask(
        &self,
        request: Completion,
        deadline: Deadline,
        cancel: CancellationToken,
    ) -> Result<Answer, BudgetedFailure> {
        self.ask_and_count(request, deadline, cancel).await.0
    }

    /// Asks as [`Self::ask`] does, and says how many tokens the question counts as.
    pub(crate) async fn ask_and_count(
        &self,
        request: Completion,
        deadline: Deadline,
        cancel: CancellationToken,
    ) -> (Result<Answer, BudgetedFailure>, u64) {
        let set_aside = self.set_aside(&request, deadline).await;
        let (day, most) = match set_aside {
            Ok(set_aside) => set_aside,
            Err(failure) => return (Err(failure), 0),
        };
        let CallOutcome { result, spent, .. } = ask(&*self.model, request, deadline, cancel).await;
        let may_have_cost = result.as_ref().is_err_and(ModelError::may_have_cost);
        let unreported = if may_have_cost { unreported_tokens(most) } else { 0 };
        let counted = spent.total_tokens() + unreported;
        let settling = self.account.settle(day, most, counted);
        if let Err(why) = in_time(Deadline::after(ACCOUNT_LIMIT), settling).await {
            tracing::warn!(%why, "what was spent of the tokens that were set aside could not be written down");
        }
        (result.map_err(BudgetedFailure::Model), counted)
    }

    /// Sets aside the most that a question may cost, and returns the day and the tokens.
    async fn set_aside(&self, request: &Completion, deadline: Deadline) -> Result<(Date, u64), BudgetedFailure> {
        if deadline.passed() {
            return Err(BudgetedFailure::Model(ModelError::TimedOut));
        }
        let most = question_tokens(request.purpose, &request.instructions, &request.input, request.max_output_tokens);
        if most > self.daily_token_cap {
            return Err(BudgetedFailure::TooSmall);
        }
        let day = day_of(self.clock.now());
        let setting_aside = self.account.set_aside(day, most, self.daily_token_cap);
        let is_set_aside = in_time(deadline.at_most(ACCOUNT_LIMIT), setting_aside).await;
        if is_set_aside.map_err(BudgetedFailure::Account)? { Ok((day, most)) } else { Err(BudgetedFailure::UsedUp) }
    }
}

#[cfg(test)]
mod tests;
