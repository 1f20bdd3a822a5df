use reasoning_bank_domain::prompt::Purpose;
use rstest::rstest;

use super::super::testing::*;
use super::*;
use crate::ports::Usage;
use crate::testkit::{MemAccount, Scripted};

fn question() -> Completion {
    request(Purpose::Evaluate, "what of this?")
}

/// Returns the most tokens that the question may cost.
fn most() -> u64 {
    let asked = question();
    question_tokens(asked.purpose, &asked.instructions, &asked.input, asked.max_output_tokens)
}

fn budgeted(model: &Scripted, account: &MemAccount, cap: u64) -> BudgetedModel {
    BudgetedModel::new(Arc::new(model.clone()), Arc::new(account.clone()), cap, Clock::system())
}

async fn ask_within(model: &BudgetedModel, limit: Duration) -> Result<Answer, BudgetedFailure> {
    model.ask(question(), Deadline::after(limit), CancellationToken::new()).await
}

fn spent(account: &MemAccount) -> Option<u64> {
    account.spent().map(|(_, tokens)| tokens)
}

fn late() -> ModelError {
    ModelError::TooLate { reason: Box::new(busy()), wait: S(1) }
}

#[rstest]
#[case(busy(), true)]
#[case(late(), true)]
#[case(ModelError::TimedOut, true)]
#[case(ModelError::Cancelled, true)]
#[case(limited(None), false)]
#[case(ModelError::CircuitOpen { retry_after: S(1) }, false)]
#[case(ModelError::Refused("no".into()), false)]
#[case(ModelError::KeyRejected("no".into()), false)]
#[case(ModelError::NoModel, false)]
#[tokio::test(start_paused = true)]
async fn a_failed_call_counts_what_it_cost_and_what_it_may_have_cost(#[case] error: ModelError, #[case] unsaid: bool) {
    let (model, account) = (Scripted::new(), MemAccount::default());
    model.failures_cost(Usage { input_tokens: 7, ..Usage::default() });
    model.fail(Purpose::Evaluate, error.clone());
    let failed = ask_within(&budgeted(&model, &account, most()), S(60)).await.unwrap_err();
    assert!(matches!(failed, BudgetedFailure::Model(of) if of == error));
    assert_eq!(spent(&account), Some(7 + if unsaid { most() / 2 } else { 0 }));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_outlasts_its_deadline_counts_and_after_the_deadline_nobody_asks() {
    let (model, account) = (Scripted::new(), MemAccount::default());
    let budgeted = budgeted(&model, &account, most());
    let _held = model.hold(Purpose::Evaluate);
    let failed = ask_within(&budgeted, S(1)).await.unwrap_err();
    assert!(matches!(failed, BudgetedFailure::Model(ModelError::TimedOut)));
    assert_eq!(spent(&account), Some(most() / 2));
    let failed = ask_within(&budgeted, S(0)).await.unwrap_err();
    assert!(matches!(failed, BudgetedFailure::Model(ModelError::TimedOut)));
    assert_eq!((model.calls(Purpose::Evaluate), spent(&account)), (1, Some(most() / 2)));
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_goes_away_leaves_all_that_was_set_aside_spent() {
    let (model, account) = (Scripted::new(), MemAccount::default());
    let budgeted = budgeted(&model, &account, most());
    let _held = model.hold(Purpose::Evaluate);
    assert!(tokio::time::timeout(S(1), ask_within(&budgeted, S(60))).await.is_err());
    assert_eq!(spent(&account), Some(most()));
}

#[tokio::test(start_paused = true)]
async fn a_question_is_asked_only_where_the_day_has_its_tokens_left() {
    let (model, account) = (Scripted::new(), MemAccount::default());
    model.answer(Purpose::Evaluate, |_| Ok(GOOD.into()));
    let too_small = ask_within(&budgeted(&model, &account, most() - 1), S(60)).await.unwrap_err();
    assert!(matches!(too_small, BudgetedFailure::TooSmall));
    assert_eq!((model.calls(Purpose::Evaluate), spent(&account)), (0, None));

    let budgeted = budgeted(&model, &account, most());
    assert!(ask_within(&budgeted, S(60)).await.is_ok());
    let cost = spent(&account).unwrap();
    assert!((1..most()).contains(&cost), "{cost}");
    assert!(matches!(ask_within(&budgeted, S(60)).await.unwrap_err(), BudgetedFailure::UsedUp));
    assert_eq!((model.calls(Purpose::Evaluate), spent(&account)), (1, Some(cost)));
}
