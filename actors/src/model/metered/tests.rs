use super::super::testing::*;
use super::*;
use crate::testkit::Scripted;

fn metered(model: &Scripted) -> MeteredModel {
    MeteredModel::new(Arc::new(model.clone()), Meters::new())
}

#[tokio::test(start_paused = true)]
async fn calls_tokens_cost_failures_and_time_are_counted_by_purpose() {
    let model = Scripted::new();
    model.cost(0.5).latency(S(2)).answer(Purpose::Evaluate, |_| Ok("three words here".into()));
    let cost = Usage { input_tokens: 7, output_tokens: 2, ..Usage::default() };
    model.failures_cost(cost).fail(Purpose::Judge, busy());
    let metered = metered(&model);
    for _ in 0..2 {
        ask(&metered).await.unwrap();
    }
    let judge = request(Purpose::Judge, "");
    metered.complete(judge, Deadline::after(S(60)), CancellationToken::new()).await.unwrap_err();
    let llm = metered.meters.llm();
    let evaluate = LlmCounts {
        calls: 2,
        input_tokens: 2 * (2 + 3),
        output_tokens: 2 * 3,
        cost_usd: Some(1.0),
        ..LlmCounts::default()
    };
    assert_eq!(llm.by_purpose[&Purpose::Evaluate], evaluate);
    assert_eq!(
        llm.by_purpose[&Purpose::Judge],
        LlmCounts { calls: 1, failures: 1, input_tokens: 7, output_tokens: 2, ..LlmCounts::default() }
    );
    assert_eq!((llm.total.calls, llm.total.failures, llm.total.cost_usd), (3, 1, Some(1.0)));
    let latency = metered.meters.latencies().llm;
    assert_eq!((latency.count, latency.p99.round()), (3, 2001.0));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_runs_out_of_time_has_failed_and_one_that_is_cancelled_or_dropped_has_not() {
    let model = Scripted::new();
    let _held = model.hold(Purpose::Evaluate);
    let metered = metered(&model);
    let deadline = Deadline::after(S(2));
    let call = |cancel| metered.complete(request(Purpose::Evaluate, ""), deadline, cancel);
    let cancelled = CancellationToken::new();
    cancelled.cancel();
    assert_eq!(call(cancelled).await, Err(ModelError::Cancelled.into()));
    assert!(tokio::time::timeout(S(1), call(CancellationToken::new())).await.is_err());
    assert_eq!(metered.meters.llm().total.failures, 0);
    assert_eq!(call(CancellationToken::new()).await, Err(ModelError::TimedOut.into()));
    let total = metered.meters.llm().total;
    assert_eq!((total.calls, total.failures), (3, 1));
    assert_eq!(metered.meters.latencies().llm.count, 1);
}
