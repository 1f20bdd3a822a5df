//! Tests of the ways to search: profiles, conditions, ranges of time, errors; and of the reasons why a candidate is in
//! the answer or not.

use std::collections::BTreeSet;

use reasoning_bank_actors::memories::{RecordRequest, RetrievalSettings, RetrieveRequest};
use reasoning_bank_actors::ports::Conditions;
use reasoning_bank_actors::system::SystemSettings;
use reasoning_bank_actors::testkit::ManualClock;
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::memory::{MemoryOutcome, SourceType};
use reasoning_bank_domain::note::Code;
use reasoning_bank_domain::prompt::Purpose;
use reasoning_bank_domain::retrieval::conditions::TimeRange;
use reasoning_bank_domain::retrieval::ranking::Cut;
use reasoning_bank_domain::retrieval::responses::{CandidateView, RecalledView, Retrieved};
use reasoning_bank_domain::retrieval::score::ProfileName;

use crate::support::*;

const PROFILES: [ProfileName; 4] =
    [ProfileName::Composite, ProfileName::Paper, ProfileName::Cascade, ProfileName::Episodic];

async fn found(world: &World, request: RetrieveRequest) -> Retrieved {
    world.handle.memories.retrieve(request, soon()).await.unwrap()
}

fn set(ids: impl IntoIterator<Item = MemoryId>) -> BTreeSet<MemoryId> {
    ids.into_iter().collect()
}

/// Returns the base score, the composite score and the similarity, as the reasons have them.
fn multiplied_out(found: &RecalledView) -> (f64, f64, f64) {
    let why = &found.why;
    let weights: f64 = why.components.iter().map(|part| part.weight).sum();
    let base = why.components.iter().map(|part| part.value * part.weight).sum::<f64>() / weights;
    let composite = why.factors.iter().fold(base, |product, factor| product * factor.value);
    (base, composite, why.lists.iter().map(|list| list.share * list.relative).sum())
}

#[tokio::test(start_paused = true)]
async fn whatever_the_profile_and_whoever_chose_it_the_reasons_multiply_out_to_the_scores() {
    for name in PROFILES {
        let retrieval = RetrievalSettings { profile: name, ..RetrievalSettings::default() };
        let world = world_with(good_model(), SystemSettings { retrieval, ..SystemSettings::default() }).await;
        for n in 0..4 {
            let lesson =
                lesson(&format!("Retry {n}"), &format!("double the delay after each failure {}", "x ".repeat(n)));
            world.recorded(lesson).await;
        }
        world.recorded(warning("Timeout", None, lesson("Storm", "no delay after a failure"))).await;
        let asked = RetrieveRequest { error_signature: Some("Timeout".into()), ..query("delay after a failure") };
        let configured = found(&world, asked.clone()).await;
        let other = if name == ProfileName::Cascade { ProfileName::Composite } else { ProfileName::Cascade };
        let chosen = found(&world, RetrieveRequest { profile: Some(other), ..asked }).await;
        assert_eq!(configured.memories.len(), if name == ProfileName::Paper { 1 } else { 5 });
        for (profile, answer) in [(name, configured), (other, chosen)] {
            for found in &answer.memories {
                let (base, composite, similarity) = multiplied_out(found);
                assert_eq!(found.why.profile, profile);
                assert!((base - found.base_score).abs() < 1e-9, "{found:?}");
                assert!((composite - found.composite_score).abs() < 1e-9, "{found:?}");
                assert!((similarity - found.similarity_score).abs() < 1e-9, "{found:?}");
            }
        }
        world.stop().await;
    }
}

/// A model whose judge draws two lessons that have no word in common.
const TWO_LESSONS: &str = r#"{"verdict": "success", "score": 0.9, "reasoning": "it works", "learnings": [
    {"title": "Halve sorted ranges", "description": "Searching numbers in order.",
     "content": "Bisect with an exclusive upper bound.", "pattern_tags": [], "domain_category": null,
     "difficulty_level": null, "error_context": null},
    {"title": "Zebra", "description": "Quagga okapi.", "content": "Gnu kudu impala.", "pattern_tags": [],
     "domain_category": null, "difficulty_level": null, "error_context": null}]}"#;

#[tokio::test(start_paused = true)]
async fn the_paper_tells_the_items_of_the_best_trace_and_nothing_else_however_far_they_are() {
    let model = good_model();
    model.answer(Purpose::Judge, |_| Ok(TWO_LESSONS.into()));
    let world = world(model).await;
    let report = world.handle.agents.solve(task("find it", 1), project(), call()).await.unwrap();
    let learned = set(report.learnings.iter().map(|learned| learned.id));
    assert_eq!(learned.len(), 2);
    for n in 0..60 {
        world.recorded(lesson(&format!("Bisect {n}"), &format!("halve something with a bound, case {n}"))).await;
    }
    let asked = RetrieveRequest {
        profile: Some(ProfileName::Paper),
        ..query("halve sorted ranges, searching numbers in order")
    };
    let answer = found(&world, asked.clone()).await;
    assert_eq!(set(ids(&answer)), learned);
    assert!(answer.memories[0].composite_score > answer.memories[1].composite_score);
    assert!(answer.memories.iter().all(|found| found.composite_score == found.similarity_score));

    let explained = world.handle.memories.explain(asked.clone(), soon()).await.unwrap();
    let best = answer.memories[0].memory.id;
    let others = explained.candidates.iter().filter(|candidate| !learned.contains(&candidate.id));
    assert!(others.clone().count() > 40 && others.clone().all(|other| other.cut == Some(Cut::NotOfBestTrace { best })));

    let only_one = Conditions { outcome: Some(MemoryOutcome::Failure), ..Conditions::default() };
    assert_eq!(ids(&found(&world, RetrieveRequest { conditions: only_one, ..asked }).await), []);
    let plain = RetrieveRequest { profile: Some(ProfileName::Paper), ..query("bisect 7") };
    assert_eq!(found(&world, plain).await.memories.len(), 1, "without a trace it is a trace of its own");
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_explanation_has_the_answer_and_for_every_other_candidate_the_rule_that_cut_it() {
    let world = world_at(ManualClock::default().clock(), good_model(), SystemSettings::default()).await;
    let doubtful = |lesson| RecordRequest { source_type: SourceType::PassiveLearning, ..lesson };
    let best = world.recorded(lesson("Retry", "double the delay after a failure")).await;
    let second = world.recorded(lesson("Retry later", "delay after failure")).await;
    let third = world.recorded(lesson("Delay", "wait a while")).await;
    let unsure = world.recorded(doubtful(lesson("Delay at will", "double delay failure"))).await;
    let asked =
        RetrieveRequest { n_results: 2, min_confidence: Some(0.6), ..query("double the delay after a failure") };
    let explained = world.handle.memories.explain(asked.clone(), soon()).await.unwrap();
    let fate = |id: MemoryId| {
        let candidate = explained.candidates.iter().find(|candidate| candidate.id == id).unwrap();
        (candidate.rank, candidate.cut)
    };
    assert_eq!(explained.candidates.len(), 4);
    assert_eq!((fate(best), fate(second)), ((Some(1), None), (Some(2), None)));
    assert_eq!(fate(third), (None, Some(Cut::BeyondN { n: 2 })));
    assert_eq!(fate(unsure), (None, Some(Cut::BelowConfidence { least: 0.6 })));
    let scores = |candidate: &CandidateView| candidate.composite_score;
    assert!(explained.candidates.is_sorted_by(|a, b| scores(a) >= scores(b)));
    assert!(explained.candidates.iter().all(|candidate| candidate.title.is_some() && !candidate.why.lists.is_empty()));

    let answer = found(&world, asked.clone()).await;
    assert_eq!(explained.retrieved.memories, answer.memories, "it explains the very answer");
    let short = RetrieveRequest { max_tokens: Some(1), ..asked };
    let explained = world.handle.memories.explain(short, soon()).await.unwrap();
    assert!(explained.retrieved.memories.is_empty());
    assert_eq!(explained.candidates[0].cut, Some(Cut::OverTokens { max: 1 }));
    let notes = &explained.retrieved.notes;
    assert!(
        notes.iter().any(|note| note.to_string().contains("did not fit into 1 tokens; raise max_tokens")),
        "{notes:?}"
    );
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_was_learned_within_a_time_is_found_however_much_is_more_alike() {
    let clock = ManualClock::default();
    let world = world_at(clock.clock(), good_model(), SystemSettings::default()).await;
    for n in 0..80 {
        world.recorded(lesson(&format!("Retry {n}"), "double the delay after a failure")).await;
    }
    clock.advance(10 * DAY);
    let middle = world.recorded(lesson("Middle", "a delay of something else")).await;
    clock.advance(10 * DAY);
    let late = world.recorded(lesson("Late", "another thing with a delay")).await;
    clock.advance(DAY);
    let within = |since: Option<&str>, until: Option<&str>| RetrieveRequest {
        made: TimeRange { since: since.map(Into::into), until: until.map(Into::into) },
        ..query("double the delay after a failure")
    };
    assert_eq!(set(ids(&found(&world, within(Some("7d"), None)).await)), set([late]));
    assert_eq!(set(ids(&found(&world, within(Some("2w"), None)).await)), set([middle, late]));
    assert_eq!(set(ids(&found(&world, within(Some("2w"), Some("5d"))).await)), set([middle]));
    let day = "2027-01-25";
    assert_eq!(set(ids(&found(&world, within(Some(day), Some(day))).await)), set([middle]));
    assert!(!ids(&found(&world, within(None, Some("15d"))).await).contains(&middle));
    for (request, end) in [(within(Some("soon"), None), "since"), (within(Some("1d"), Some("2d")), "until")] {
        let error = world.handle.memories.retrieve(request, soon()).await.unwrap_err();
        assert_eq!(error.code(), Code::InvalidArgument);
        assert!(error.to_string().starts_with(end), "{error}");
    }
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn confidence_that_is_asked_for_is_looked_for_beyond_the_first_candidates() {
    let world = world(good_model()).await;
    for n in 0..120 {
        let alike = lesson(&format!("Delay {n}"), &format!("double the delay after a failure {n}"));
        world.recorded(RecordRequest { source_type: SourceType::PassiveLearning, ..alike }).await;
    }
    let mut certain = BTreeSet::new();
    for n in 0..3 {
        certain.insert(world.recorded(lesson(&format!("Other {n}"), &format!("zebra quagga delay {n}"))).await);
    }
    let asked = |least| RetrieveRequest {
        min_confidence: Some(least),
        n_results: 3,
        ..query("double the delay after a failure")
    };
    let answer = found(&world, asked(0.6)).await;
    assert_eq!((set(ids(&answer)), answer.notes.len()), (certain, 0));
    let none = found(&world, asked(0.99)).await;
    assert!(none.memories.is_empty() && none.notes.len() == 1, "all were looked at: {:?}", none.notes);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_failure_finds_its_warnings_however_it_is_written() {
    let world = world(good_model()).await;
    let json = world.recorded(warning("json.JSONDecodeError", Some("parsing"), lesson("Zebra", "quagga"))).await;
    let index = world.recorded(warning("IndexError", Some("algorithms"), lesson("Okapi", "impala"))).await;
    for n in 0..60 {
        world.recorded(lesson(&format!("Read {n}"), &format!("read the answer of the server {n}"))).await;
        world.recorded(warning("KeyError", None, lesson(&format!("Key {n}"), &format!("read the answer {n}")))).await;
    }
    let traceback = "Traceback (most recent call last):\n  File \"/app/a.py\", line 3, in <module>\n    load()\n\
                     json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)";
    for raw in
        ["JSONDecodeError", "json.decoder.JSONDecodeError: Expecting value", "jsondecodeerror|parsing", traceback]
    {
        let asked = RetrieveRequest {
            conditions: Conditions { warnings_only: true, ..Conditions::default() },
            error_signature: Some(raw.into()),
            ..query("read the answer of the server")
        };
        let answer = found(&world, asked).await;
        assert_eq!((answer.memories[0].memory.id, answer.memories[0].error_score), (json, 1.0), "{raw}");
        assert!(answer.memories.iter().all(|found| found.memory.warning));
    }
    let both = RetrieveRequest {
        error_signature: Some("IndexError: list index out of range".into()),
        domain: Some("Algorithms".into()),
        ..query("read the answer of the server")
    };
    let answer = found(&world, both).await;
    let first = answer.memories.first().map(|found| (found.memory.id, found.error_score));
    assert_eq!((answer.memories.len(), first), (5, Some((index, 1.0))), "before what the words find");
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn conditions_keep_out_whatever_they_do_not_hold_of() {
    let world = world(good_model()).await;
    let tagged = RecordRequest {
        pattern_tags: vec!["net".into()],
        domain_category: Some("Networking".into()),
        difficulty_level: Some("hard".into()),
        outcome: Some(MemoryOutcome::Mixed),
        ..lesson("Tagged", "delay")
    };
    let tagged = world.recorded(tagged).await;
    let passive = RecordRequest { source_type: SourceType::PassiveLearning, ..lesson("Passive", "a delay") };
    let passive = world.recorded(passive).await;
    let some = Conditions::default;
    for (conditions, expected) in [
        (Conditions { domain: Some("networking".into()), ..some() }, tagged),
        (Conditions { difficulty: Some("Hard".into()), ..some() }, tagged),
        (Conditions { outcome: Some(MemoryOutcome::Mixed), ..some() }, tagged),
        (Conditions { tags: vec!["net".into()], ..some() }, tagged),
        (Conditions { source_type: Some(SourceType::PassiveLearning), ..some() }, passive),
        (Conditions { outcome: Some(MemoryOutcome::Success), ..some() }, passive),
    ] {
        let request = RetrieveRequest { conditions: conditions.clone(), ..query("delay") };
        assert_eq!(ids(&found(&world, request).await), [expected], "{conditions:?}");
    }
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_earlier_versions_said_of_their_own_limits_is_in_no_answer_and_in_no_prompt() {
    let world = world(good_model()).await;
    let title = "A solve of a task like this ended with token_budget_exceeded";
    let made_by_rules = RecordRequest {
        source_type: SourceType::Solve,
        ..warning("token_budget_exceeded", None, lesson(title, "sort the list of users by their names"))
    };
    let operational = world.recorded(made_by_rules).await;
    let own = warning("token_budget_exceeded", None, lesson("Split", "sort long lists of users in parts"));
    let recorded = world.recorded(own).await;
    for error_signature in [None, Some("token_budget_exceeded".to_owned())] {
        let asked = RetrieveRequest { error_signature, ..query("sort the list of users") };
        assert_eq!(ids(&found(&world, asked).await), [recorded]);
    }
    let asked = task("sort the list of users by their names", 1);
    let solved = world.handle.agents.solve(asked, project(), call()).await.unwrap();
    let told =
        solved.memories_used.iter().map(|used| used.id).chain(solved.memories_left_out.iter().map(|left| left.id));
    assert!(!set(told).contains(&operational));
    let shown = world.handle.memories.get(operational, &project(), soon()).await.unwrap();
    assert_eq!(shown.title, title, "it is kept");
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_search_for_what_is_nearest_marks_what_an_answer_leaves_out() {
    let retrieval = RetrievalSettings { min_relevance: 0.01, ..RetrievalSettings::default() };
    let world = world_with(good_model(), SystemSettings { retrieval, ..SystemSettings::default() }).await;
    for (title, content) in [
        ("Fix the session loader", "the session loader drops users, as it reads them by their id"),
        ("Close files", "before a session ends"),
        ("Translate zebra", "quagga okapi"),
    ] {
        world.recorded(lesson(title, content)).await;
    }
    let asked = query("the session loader drops users by their id");
    let by_default = set(ids(&found(&world, asked.clone()).await));
    let nearest = found(&world, RetrieveRequest { min_relevance: Some(0.0), ..asked.clone() }).await;
    let is_marked = |found: &&RecalledView| found.far_below_best || found.below_threshold;
    let marked = set(nearest.memories.iter().filter(is_marked).map(|found| found.memory.id));
    assert!(nearest.memories.iter().any(|found| found.far_below_best), "{nearest:?}");
    assert_eq!(set(ids(&nearest)).difference(&marked).copied().collect::<BTreeSet<_>>(), by_default);
    let explained = world.handle.memories.explain(RetrieveRequest { min_relevance: Some(0.0), ..asked }, soon()).await;
    let spared = explained.unwrap().candidates.into_iter().filter(|candidate| candidate.spared.is_some());
    assert_eq!(set(spared.map(|candidate| candidate.id)), marked);
    world.stop().await;
}
