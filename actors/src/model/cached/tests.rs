use std::time::Duration;

use futures::FutureExt;
use futures::future::{BoxFuture, join_all};
use reasoning_bank_domain::memory::workspace::WorkspaceId;
use reasoning_bank_domain::prompt::Purpose;
use rstest::rstest;

use super::super::testing::*;
use super::*;
use crate::cache::{CacheLimits, CacheState};
use crate::testkit::Scripted;

fn cached(model: &Scripted, max_entries: u64) -> CachedModel {
    with_cache(model, CacheLimits { max_entries, ..CacheLimits::default() })
}

/// Wraps the model in a cache that lasts as long as the process.
fn with_cache(model: &Scripted, settings: CacheLimits) -> CachedModel {
    let cache = CacheHandle::new(settings);
    std::mem::forget(CacheState::begin(cache.args()));
    CachedModel::new(Arc::new(model.clone()), cache, "test".into(), "medium".into())
}

fn good() -> Scripted {
    let model = Scripted::new();
    model.cost(0.25).answer(Purpose::Evaluate, |_| Ok(GOOD.into())).answer(Purpose::Think, |_| Ok("draft".into()));
    model
}

async fn ask_for(model: &CachedModel, purpose: Purpose, input: &str) -> CompletionReply {
    let request = request(purpose, input);
    model.complete(request, Deadline::after(S(60)), CancellationToken::new()).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn an_equal_question_of_another_task_is_answered_for_nothing() {
    let model = good();
    let cached = cached(&model, 100);
    assert!(!ask_for(&cached, Purpose::Evaluate, "a").await.cached);
    assert!(ask_for(&cached, Purpose::Evaluate, "a").await.cached);
    assert!(!ask_for(&cached, Purpose::Evaluate, "b").await.cached);
    assert!(!ask_for(&cached, Purpose::Think, "a").await.cached && !ask_for(&cached, Purpose::Think, "a").await.cached);
    let statistics = cached.cache.statistics().await;
    assert_eq!((statistics.hits, statistics.misses, statistics.bypassed, statistics.entries), (1, 2, 2, 2));
    assert_eq!((statistics.saved_tokens, statistics.saved_cost_usd), (2 + 1 + 4, Some(0.25)));
    assert!((statistics.hit_rate - 1.0 / 3.0).abs() < 1e-9);

    cached.cache.reset_statistics();
    assert!(ask_for(&cached, Purpose::Evaluate, "a").await.cached, "what is kept stays");
    let statistics = cached.cache.statistics().await;
    assert_eq!((statistics.hits, statistics.misses, statistics.bypassed), (1, 0, 0));
}

#[rstest]
#[case(|request: &mut Completion| request.instructions = "other".into())]
#[case(|request: &mut Completion| request.input = "other".into())]
#[case(|request: &mut Completion| request.max_output_tokens = 7)]
#[case(|request: &mut Completion| request.purpose = Purpose::Judge)]
#[case(|request: &mut Completion| request.workspace_id = WorkspaceId::of_root("/other"))]
#[test]
fn whatever_decides_the_answer_is_in_the_key(#[case] change: fn(&mut Completion)) {
    let cached = cached(&Scripted::new(), 100);
    let one = request(Purpose::Evaluate, "a");
    let mut other = one.clone();
    change(&mut other);
    assert_ne!(cached.key(&one), cached.key(&other));
    let another_task = Completion { attempt: Some(3), ..request(Purpose::Evaluate, "a") };
    assert_eq!(cached.key(&one), cached.key(&another_task));
}

#[test]
fn provider_model_and_effort_are_in_the_key() {
    struct Named(&'static str);
    impl LanguageModel for Named {
        fn name(&self) -> &str {
            "same"
        }
        fn model_for(&self, purpose: Purpose) -> &str {
            if purpose == Purpose::Evaluate { self.0 } else { "same" }
        }
        fn complete(
            &self,
            _: Completion,
            _: Deadline,
            _: CancellationToken,
        ) -> BoxFuture<'_, Result<CompletionReply, FailedCall>> {
            futures::future::ready(Err(ModelError::NoModel.into())).boxed()
        }
    }
    let key = |provider: &str, model, effort: &str, purpose| {
        let cache = CacheHandle::new(CacheLimits::default());
        CachedModel::new(Arc::new(Named(model)), cache, provider.into(), effort.into()).key(&request(purpose, "a"))
    };
    let one = key("p", "m", "low", Purpose::Evaluate);
    for other in [("q", "m", "low"), ("p", "n", "low"), ("p", "m", "high"), ("pm", "", "low")] {
        assert_ne!(one, key(other.0, other.1, other.2, Purpose::Evaluate), "{other:?}");
    }
    assert_eq!(key("p", "m", "low", Purpose::Judge), key("p", "n", "low", Purpose::Judge));
}

#[tokio::test(start_paused = true)]
async fn of_equal_questions_at_once_one_is_asked_and_the_others_share_its_answer() {
    let model = good();
    model.latency(S(2));
    let cached = cached(&model, 100);
    let replies = join_all((0..5).map(|_| ask_for(&cached, Purpose::Evaluate, "a"))).await;
    assert_eq!(replies.iter().filter(|reply| reply.cached).count(), 4);
    assert_eq!(model.calls(Purpose::Evaluate), 1);
    let statistics = cached.cache.statistics().await;
    assert_eq!((statistics.hits, statistics.misses), (4, 1));
}

#[tokio::test(start_paused = true)]
async fn a_first_that_goes_away_leaves_its_question_to_the_next() {
    let model = good();
    model.latency(S(10));
    let cached = cached(&model, 100);
    let cancel = CancellationToken::new();
    let first = cached.complete(request(Purpose::Evaluate, "a"), Deadline::after(S(60)), cancel.clone());
    let second = tokio::time::timeout(S(2), ask_for(&cached, Purpose::Evaluate, "a"));
    let third = ask_for(&cached, Purpose::Evaluate, "a");
    let cancelling = async {
        tokio::time::sleep(S(1)).await;
        cancel.cancel();
    };
    let (first, second, third, ()) = tokio::join!(first, second, third, cancelling);
    assert_eq!(first, Err(ModelError::Cancelled.into()));
    assert!(second.is_err() && third.text == GOOD);
    assert_eq!((model.calls(Purpose::Evaluate), model.abandoned()), (3, 2));
}

#[tokio::test(start_paused = true)]
async fn who_waits_for_another_call_waits_no_longer_than_its_own_deadline() {
    let model = good();
    model.latency(S(10));
    let cached = cached(&model, 100);
    let (first, second) = tokio::join!(ask(&cached), ask_until(&cached, S(3)));
    assert!(first.is_ok());
    assert_eq!(second, Err(ModelError::TimedOut));
}

#[tokio::test(start_paused = true)]
async fn a_first_that_has_no_time_for_another_try_fails_alone_where_others_have_it() {
    let model = good();
    let late = || ModelError::TooLate { reason: Box::new(limited(Some(S(20)))), wait: S(20) };
    model.latency(S(1)).fail(Purpose::Evaluate, late());
    let cached = cached(&model, 100);
    let (first, second, third) = tokio::join!(ask_until(&cached, S(10)), ask(&cached), ask_until(&cached, S(15)));
    assert_eq!((first, third), (Err(late()), Err(late())));
    assert_eq!(second.unwrap().text, GOOD);
    assert_eq!(model.calls(Purpose::Evaluate), 2);
}

#[tokio::test]
async fn a_large_answer_takes_the_place_of_several() {
    let model = good();
    let cached = cached(&model, 3);
    let feedback = "x".repeat(2 * 64 * 1024);
    model.reply(Purpose::Evaluate, format!(r#"{{"score": 0.9, "feedback": "{feedback}"}}"#));
    for input in ["large", "a"] {
        ask_for(&cached, Purpose::Evaluate, input).await;
    }
    assert_eq!(cached.cache.statistics().await.entries, 2);
    ask_for(&cached, Purpose::Evaluate, "b").await;
    assert_eq!(cached.cache.statistics().await.entries, 2);
    assert!(ask_for(&cached, Purpose::Evaluate, "a").await.cached);
    assert!(!ask_for(&cached, Purpose::Evaluate, "large").await.cached);
}

#[tokio::test(start_paused = true)]
async fn errors_answers_that_do_not_read_and_answers_that_were_cut_off_are_not_kept() {
    let model = good();
    model.fail(Purpose::Evaluate, ModelError::Refused("no".into())).reply(Purpose::Evaluate, "no json");
    let cached = cached(&model, 100);
    assert!(ask(&cached).await.is_err());
    assert_eq!(ask(&cached).await.unwrap().text, "no json");
    model.cut_off(Purpose::Evaluate, FinishReason::AtLimit);
    assert_eq!(ask(&cached).await.unwrap().ended, FinishReason::AtLimit);
    assert!(!ask(&cached).await.unwrap().cached);
    let statistics = cached.cache.statistics().await;
    assert_eq!((statistics.hits, statistics.misses, statistics.entries), (0, 4, 0));
}

#[tokio::test]
async fn the_least_recently_used_goes_first_and_the_number_of_entries_is_exact() {
    let model = good();
    let cached = cached(&model, 3);
    for input in ["a", "b", "c", "a", "d"] {
        ask_for(&cached, Purpose::Evaluate, input).await;
        assert!(cached.cache.statistics().await.entries <= 3);
    }
    let kept = async |input| ask_for(&cached, Purpose::Evaluate, input).await.cached;
    assert!(kept("a").await && kept("c").await && kept("d").await);
    assert!(!kept("b").await);
    assert_eq!(cached.cache.statistics().await.entries, 3);
}

#[tokio::test]
async fn an_answer_is_kept_no_longer_than_its_time() {
    let model = good();
    let settings = CacheLimits { max_entries: 10, ttl: Duration::from_nanos(1) };
    let cached = with_cache(&model, settings);
    ask(&cached).await.unwrap();
    assert!(!ask(&cached).await.unwrap().cached);
    assert_eq!(cached.cache.statistics().await.entries, 0);
}

#[tokio::test]
async fn a_cache_of_no_entries_is_off() {
    let model = good();
    let cached = cached(&model, 0);
    assert!(!ask(&cached).await.unwrap().cached && !ask(&cached).await.unwrap().cached);
    let statistics = cached.cache.statistics().await;
    assert_eq!((statistics.hits, statistics.misses, statistics.bypassed, statistics.hit_rate), (0, 0, 2, 0.0));
}

#[tokio::test]
async fn a_cache_ends_with_its_owner_and_every_question_is_asked_until_there_is_another() {
    let model = good();
    let cache = CacheHandle::new(CacheLimits::default());
    let cached = CachedModel::new(Arc::new(model.clone()), cache.clone(), "test".into(), "medium".into());
    let first = CacheState::begin(cache.args());
    ask(&cached).await.unwrap();
    assert!(ask(&cached).await.unwrap().cached);
    drop(first);
    assert!(!ask(&cached).await.unwrap().cached && !ask(&cached).await.unwrap().cached);
    let statistics = cache.statistics().await;
    assert_eq!((statistics.hits, statistics.misses, statistics.bypassed, statistics.entries), (1, 1, 2, 0));

    let second = CacheState::begin(cache.args());
    let third = CacheState::begin(cache.args());
    drop(second);
    ask(&cached).await.unwrap();
    assert!(ask(&cached).await.unwrap().cached, "an owner takes away its own cache alone");
    drop(third);
}
