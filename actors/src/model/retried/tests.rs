use reasoning_bank_domain::prompt::Purpose;
use rstest::rstest;
use tokio::time::Instant;

use super::super::testing::*;
use super::*;
use crate::testkit::Scripted;

fn retried(model: &Scripted, chance: fn() -> f64) -> RetriedModel {
    let retried = RetriedModel::new(Arc::new(model.clone()), RetryPolicy::default(), Meters::new());
    RetriedModel { chance, ..retried }
}

fn failing(error: fn() -> ModelError) -> Scripted {
    let model = Scripted::new();
    model.answer(Purpose::Evaluate, move |_| Err(error()));
    model
}

#[rstest]
#[case(|| 0.5, 1.0 + 2.0 + 4.0)]
#[case(|| 0.0, 0.75 * 7.0)]
#[case(|| 1.0, 1.25 * 7.0)]
#[tokio::test(start_paused = true)]
async fn a_call_is_made_once_and_three_times_again_after_pauses_that_double(
    #[case] chance: fn() -> f64,
    #[case] seconds: f64,
) {
    let model = failing(busy);
    let retried = retried(&model, chance);
    let begun = Instant::now();
    let message = "503 (4 tries)".into();
    assert_eq!(ask(&retried).await, Err(ModelError::Transient { message, retry_after: None }));
    assert_eq!(model.calls(Purpose::Evaluate), 4);
    assert!((begun.elapsed().as_secs_f64() - seconds).abs() < 0.01, "{:?}", begun.elapsed());
    assert_eq!(retried.meters.llm().total.retries, 3);
}

#[test]
fn pauses_are_spread_by_chance() {
    let model = RetriedModel::new(Arc::new(Scripted::new()), RetryPolicy::default(), Meters::new());
    let first: Vec<f64> = (0..200).map(|_| model.pauses().next().unwrap().as_secs_f64()).collect();
    assert!(first.iter().all(|pause| (0.75..=1.25).contains(pause)), "{first:?}");
    assert!(first.iter().any(|pause| *pause < 0.9) && first.iter().any(|pause| *pause > 1.1), "{first:?}");
}

#[tokio::test(start_paused = true)]
async fn the_first_answer_ends_the_tries() {
    let model = Scripted::new();
    model.fail(Purpose::Evaluate, busy()).fail(Purpose::Evaluate, limited(None)).reply(Purpose::Evaluate, GOOD);
    assert_eq!(ask(&retried(&model, || 0.5)).await.unwrap().text, GOOD);
    assert_eq!(model.calls(Purpose::Evaluate), 3);
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_says_how_long_to_wait_is_obeyed() {
    let model = Scripted::new();
    model.fail(Purpose::Evaluate, limited(Some(S(7)))).fail(Purpose::Evaluate, busy()).reply(Purpose::Evaluate, GOOD);
    let begun = Instant::now();
    assert!(ask(&retried(&model, || 0.5)).await.is_ok());
    assert_eq!(begun.elapsed().as_secs(), 7 + 2);
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_would_pass_the_deadline_is_not_begun() {
    let model = failing(|| limited(Some(S(30))));
    let begun = Instant::now();
    let error = ask_until(&retried(&model, || 0.5), S(10)).await.unwrap_err();
    assert_eq!(begun.elapsed(), Duration::ZERO);
    assert_eq!(
        error.to_string(),
        "the provider limits the rate: 429 (1 try; the next, after 30.0 s, would come too late)"
    );
}

#[rstest]
#[case(ModelError::Refused("no".into()))]
#[case(ModelError::KeyRejected("401".into()))]
#[case(ModelError::InvalidOutput("no json".into()))]
#[case(ModelError::CircuitOpen { retry_after: S(4) })]
#[case(ModelError::NoModel)]
#[tokio::test(start_paused = true)]
async fn what_does_not_pass_is_not_tried_again(#[case] error: ModelError) {
    let model = Scripted::new();
    model.fail(Purpose::Evaluate, error.clone());
    assert_eq!(ask(&retried(&model, || 0.5)).await, Err(error));
    assert_eq!(model.calls(Purpose::Evaluate), 1);
}

#[tokio::test(start_paused = true)]
async fn cancelling_ends_a_pause_and_a_call() {
    let model = failing(busy);
    let retried = retried(&model, || 0.5);
    let cancel = CancellationToken::new();
    let call = retried.complete(request(Purpose::Evaluate, ""), Deadline::after(S(60)), cancel.clone());
    let cancelling = async {
        sleep(Duration::from_millis(500)).await;
        cancel.cancel();
    };
    let begun = Instant::now();
    let (answer, ()) = tokio::join!(call, cancelling);
    assert_eq!((answer, begun.elapsed().as_millis()), (Err(ModelError::Cancelled.into()), 500));
    assert_eq!(model.calls(Purpose::Evaluate), 1);
}

#[rstest]
#[case::answered_at_last(2, 2.0 * 2.5 + 4.5)]
#[case::given_up(4, 4.0 * 2.5)]
#[tokio::test(start_paused = true)]
async fn tries_that_failed_are_paid_for(#[case] failures: usize, #[case] dollars: f64) {
    let model = Scripted::new();
    let spent = |cost: f64| Usage { input_tokens: 3, cost_usd: Some(cost), ..Usage::default() };
    model.cost(4.5).failures_cost(spent(2.5));
    for _ in 0..failures {
        model.fail(Purpose::Evaluate, busy());
    }
    model.reply(Purpose::Evaluate, GOOD);
    let asked = request(Purpose::Evaluate, "what of this?");
    let answer = retried(&model, || 0.5).complete(asked, Deadline::after(S(3600)), CancellationToken::new()).await;
    let usage = answer.map_or_else(|failed| failed.usage, |reply| reply.usage);
    assert_eq!(usage.cost_usd, Some(dollars));
}
