#![expect(clippy::print_stdout, reason = "the figures are for who asks for them with --show-output")]

use jiff::SignedDuration;
use rstest::rstest;

use super::*;
use crate::memory::pattern::PatternApplication;
use crate::memory::samples::{days_ago, id, now};
use crate::pattern::facts::EpisodeMeasures;
use crate::pattern::observation::reported;
use crate::pattern::samples::{episode, tool_pattern};

/// A small generator of random numbers, so that a failure can be repeated.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn episode(&mut self, n: u128, rate: f64) -> EpisodeFacts {
        let succeeded = self.unit() < rate;
        let measures = EpisodeMeasures {
            duration_s: Some(100.0 * self.unit()),
            tokens: Some((1e4 * self.unit()).floor()),
            tool_calls: Some((20.0 * self.unit()).floor()),
        };
        EpisodeFacts { measures, ..episode(n, Some(succeeded)) }
    }
}

/// The applications of a pattern with their episodes, and comparable ones.
struct Bench {
    part: PatternPart,
    episodes: Vec<EpisodeFacts>,
    applications: Vec<PatternApplication>,
    comparable: Vec<EpisodeFacts>,
}

impl Bench {
    fn new(part: PatternPart) -> Self {
        Self { part, episodes: Vec::new(), applications: Vec::new(), comparable: Vec::new() }
    }

    fn apply(&mut self, episode: EpisodeFacts) {
        self.applications.push(reported(id(1), &self.part, &episode));
        self.episodes.push(episode);
    }

    fn add(&mut self, successes: usize, failures: usize, at: Timestamp) {
        for place in 0..successes + failures {
            let n = self.episodes.len() as u128;
            self.apply(EpisodeFacts { at, ..episode(n, Some(place < successes)) });
        }
    }

    fn review(&mut self, now: Timestamp) -> Option<StageChange> {
        let applied: Vec<Applied<'_>> = self
            .applications
            .iter()
            .zip(&self.episodes)
            .map(|(application, episode)| Applied { application, episode: Some(episode) })
            .collect();
        let comparable: Vec<&EpisodeFacts> = self.comparable.iter().collect();
        let reviewed = review(&self.part, &applied, &comparable, now);
        self.part = reviewed.part;
        reviewed.change
    }
}

fn later(seconds: i64) -> Timestamp {
    now() + SignedDuration::from_secs(seconds)
}

#[rstest]
#[case(4, 0)]
#[case(5, 5)]
#[case(9, 5)]
#[case(10, 10)]
#[case(39, 20)]
#[case(40, 40)]
#[case(1_000, 640)]
fn looks_come_at_five_and_then_at_twice_as_many(#[case] count: u64, #[case] at: u64) {
    assert_eq!(look(count), at);
}

#[test]
fn five_successes_of_five_validate_and_four_of_five_wait_for_the_tenth() {
    let mut bench = Bench::new(tool_pattern(&["rg"]));
    bench.add(5, 0, now());
    let change = bench.review(now()).unwrap();
    assert_eq!((change.to, change.reason.as_str()), (PatternStage::Validated, "5 of 5 applications succeeded"));
    assert!(
        (bench.part.statistics.confidence - (0.5 + 0.3 * (1.0 - (-0.25_f64).exp()) + 0.2 * (1.0 - 1.0 / 32.0))).abs()
            < 1e-12
    );

    let mut bench = Bench::new(tool_pattern(&["rg"]));
    bench.add(4, 1, now());
    assert_eq!(bench.review(now()), None);
    bench.add(4, 0, now());
    assert_eq!(bench.review(now()), None, "8 of 9 is not looked at");
    bench.add(1, 0, now());
    assert_eq!(bench.review(now()).unwrap().to, PatternStage::Validated);
}

#[test]
fn one_session_does_not_validate_and_neither_does_what_is_old() {
    let mut bench = Bench::new(tool_pattern(&["rg"]));
    bench.add(5, 0, now());
    bench.applications.iter_mut().for_each(|application| application.session = "one".into());
    assert_eq!(bench.review(now()), None);
    let mut bench = Bench::new(tool_pattern(&["rg"]));
    bench.add(5, 0, days_ago(91.0));
    assert_eq!(bench.review(now()), None);
}

#[test]
fn a_partial_success_counts_for_nothing() {
    let mut bench = Bench::new(tool_pattern(&["rg"]));
    bench.add(4, 0, now());
    bench.apply(episode(50, None));
    assert_eq!(bench.review(now()), None);
    assert_eq!((bench.part.statistics.num_applications, bench.part.statistics.undecided), (4, 1));
    bench.add(1, 0, now());
    assert!(bench.review(now()).is_some());
}

#[test]
fn a_pattern_that_is_no_better_than_comparable_work_is_not_validated() {
    let mut bench = Bench::new(tool_pattern(&["rg"]));
    bench.comparable = (0..40).map(|n| episode(1_000 + n, Some(n % 10 != 0))).collect();
    bench.add(10, 0, now());
    assert_eq!(bench.review(now()), None, "9 of 10 succeed anyway");
    assert_eq!(bench.part.statistics.base_rate, Some(0.9));
}

#[test]
fn where_everything_succeeds_less_effort_validates() {
    let with = |duration: f64, n: u128| {
        let measures = EpisodeMeasures { duration_s: Some(duration), ..EpisodeMeasures::default() };
        EpisodeFacts { measures, ..episode(n, Some(true)) }
    };
    let mut bench = Bench::new(tool_pattern(&["rg"]));
    bench.comparable = (0..30).map(|n| with(100.0 + n as f64, 1_000 + n)).collect();
    (0..5).for_each(|n| bench.apply(with(50.0 + n as f64, n)));
    assert_eq!(bench.review(now()).unwrap().to, PatternStage::Validated);
    assert_eq!(bench.part.statistics.avg_time_saving, Some(114.5 - 52.0));
    let mut bench = Bench::new(tool_pattern(&["rg"]));
    bench.comparable = (0..30).map(|n| with(100.0 + n as f64, 1_000 + n)).collect();
    (0..5).for_each(|n| bench.apply(with(110.5 + n as f64, n)));
    assert_eq!(bench.review(now()), None);
}

fn validated() -> Bench {
    let mut bench = Bench::new(tool_pattern(&["rg"]));
    bench.add(9, 1, now());
    bench.review(now()).unwrap();
    bench
}

#[test]
fn what_speaks_against_a_validated_pattern_puts_it_under_review() {
    let mut bench = validated();
    bench.add(3, 1, later(1));
    assert_eq!(bench.review(later(2)), None, "4 say nothing");
    bench.add(0, 1, later(3));
    let change = bench.review(later(4));
    assert_eq!(change, None, "3 of 5 is not unlikely at 10 of 12");
    bench.add(1, 4, later(5));
    let change = bench.review(later(6)).unwrap();
    assert_eq!((change.from, change.to), (PatternStage::Validated, PatternStage::UnderReview));
    assert_eq!(change.reason, "only 4 of 10 applications since it was validated succeeded");
}

#[test]
fn ten_applications_under_review_validate_a_new_version_or_deprecate() {
    let review = || {
        let mut bench = validated();
        bench.add(1, 4, later(1));
        assert_eq!(bench.review(later(2)).unwrap().to, PatternStage::UnderReview);
        bench
    };
    let mut better = review();
    better.add(9, 0, later(3));
    assert_eq!(better.review(later(4)), None);
    better.add(1, 0, later(5));
    assert_eq!(better.review(later(6)).unwrap().to, PatternStage::Validated);
    assert_eq!(better.part.version, 2);
    let mut worse = review();
    worse.add(5, 5, later(3));
    let change = worse.review(later(4)).unwrap();
    assert_eq!(change.to, PatternStage::Deprecated);
    assert_eq!(worse.part.lifecycle.deprecation_reason, Some(change.reason));
    assert_eq!(worse.review(later(5)), None);
}

#[test]
fn a_person_accepts_with_a_reason_and_deprecates_with_one() {
    let part = accepted(&tool_pattern(&["rg"]), "our convention", now());
    assert_eq!(part.stage, PatternStage::Validated);
    assert_eq!(part.lifecycle.validation.as_ref().unwrap().accepted_because.as_deref(), Some("our convention"));
    let part = deprecated(&part, "replaced", Some(id(2)));
    assert_eq!((part.stage, part.lifecycle.superseded_by), (PatternStage::Deprecated, Some(id(2))));
}

/// Returns the share of patterns that do nothing and are validated all the same within 40 applications.
fn falsely_validated(rate: f64, comparable: u128, runs: usize, seed: u64) -> f64 {
    let mut random = Random(seed);
    let mut validated = 0;
    for _ in 0..runs {
        let mut bench = Bench::new(tool_pattern(&["rg"]));
        bench.comparable = (0..comparable).map(|n| random.episode(1_000 + n, rate)).collect();
        for n in 0..40 {
            let next = random.episode(n, rate);
            bench.apply(next);
            if bench.review(now()).is_some() {
                validated += 1;
                break;
            }
        }
    }
    validated as f64 / runs as f64
}

#[rstest]
#[case::chance(0.5, 0)]
#[case::chance_with_comparable_episodes(0.5, 60)]
#[case::often(0.7, 60)]
#[case::nearly_always(0.85, 60)]
#[case::nearly_always_of_many(0.9, 300)]
fn at_most_one_in_ten_patterns_that_do_nothing_is_validated(#[case] rate: f64, #[case] comparable: u128) {
    let share = falsely_validated(rate, comparable, 1_000, 7);
    println!("base rate {rate}, {comparable} comparable episodes: {share} validated");
    assert!(share <= 0.1, "{share}");
}
