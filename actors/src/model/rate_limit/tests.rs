use std::collections::VecDeque;
use std::sync::Arc;

use futures::future::join_all;
use reasoning_bank_domain::prompt::Purpose;
use reasoning_bank_domain::system::breaker::BreakerLimits;
use rstest::rstest;
use tokio_util::sync::CancellationToken;

use super::super::Breaker;
use super::super::testing::*;
use super::*;
use crate::ports::{LanguageModel, ModelError};
use crate::runtime::Deadline;
use crate::testkit::Scripted;

fn limited(model: &Scripted, requests_per_minute: u32) -> Breaker {
    model.answer(Purpose::Evaluate, |_| Ok(GOOD.into()));
    let rate_limit = RateLimit::new(NonZeroU32::new(requests_per_minute).unwrap());
    Breaker::new(Arc::new(model.clone()), BreakerLimits::default(), Some(rate_limit))
}

#[rstest]
#[tokio::test(start_paused = true)]
async fn no_minute_has_more_requests_than_allowed_and_most_of_them_are_used(
    #[values(1, 2, 7, 20, 60, 600)] limit: u32,
) {
    let limited = limited(&Scripted::new(), limit);
    let begun = Instant::now();
    let mut last_minute: VecDeque<Duration> = VecDeque::new();
    for _ in 0..4 * limit {
        ask(&limited).await.unwrap();
        let now = begun.elapsed();
        while last_minute.front().is_some_and(|sent| now - *sent >= MINUTE) {
            last_minute.pop_front();
        }
        last_minute.push_back(now);
        assert!(last_minute.len() <= limit as usize, "{} in the minute before {now:?}", last_minute.len());
    }
    let minutes = begun.elapsed().as_secs_f64() / 60.0;
    assert!((3.0..4.5).contains(&minutes), "{minutes}");
}

#[tokio::test(start_paused = true)]
async fn a_few_go_out_at_once_and_the_others_in_their_order() {
    let model = Scripted::new();
    let limited = limited(&model, 60);
    let begun = Instant::now();
    let calls = (0..8).map(|number| {
        let call = limited.complete(
            request(Purpose::Evaluate, &number.to_string()),
            Deadline::after(S(60)),
            CancellationToken::new(),
        );
        async move {
            call.await.unwrap();
            begun.elapsed().as_millis()
        }
    });
    let ended = join_all(calls).await;
    assert!(ended[..6].iter().all(|ms| *ms == 0), "{ended:?}");
    assert!((1..=1_100).contains(&ended[6]) && (1_900..=2_300).contains(&ended[7]), "{ended:?}");
    let inputs: Vec<String> = model.requests().into_iter().map(|request| request.input).collect();
    assert_eq!(inputs, ["0", "1", "2", "3", "4", "5", "6", "7"]);
}

#[tokio::test(start_paused = true)]
async fn a_call_waits_for_its_turn_to_its_deadline_and_leaves_it_to_the_next() {
    let model = Scripted::new();
    let limited = limited(&model, 1);
    ask(&limited).await.unwrap();
    let begun = Instant::now();
    let (late, patient) = tokio::join!(ask_until(&limited, S(10)), ask(&limited));
    assert_eq!(late, Err(ModelError::TimedOut));
    assert!(patient.is_ok());
    assert!((60..=61).contains(&begun.elapsed().as_secs()), "{:?}", begun.elapsed());
    assert_eq!(model.calls(Purpose::Evaluate), 2);
}
