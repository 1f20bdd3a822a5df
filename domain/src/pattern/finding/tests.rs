use rstest::rstest;
use serde_json::{Value, json};

use super::*;
use crate::memory::Complexity;
use crate::memory::pattern::{Applicability, PatternValidation};
use crate::memory::samples::{days_ago, id, now};
use crate::pattern::samples::tool_pattern;

fn pattern(applicability: Value) -> PatternPart {
    let applicability: Applicability = serde_json::from_value(applicability).unwrap();
    PatternPart { applicability, stage: PatternStage::Validated, ..tool_pattern(&["rg"]) }
}

fn features() -> TaskFeatures {
    TaskFeatures {
        domain: Some("web".into()),
        task_type: Some("debugging".into()),
        complexity: Some(Complexity::Medium),
        tools: vec!["rg".into()],
        language: Some("rust".into()),
        ..TaskFeatures::default()
    }
}

fn question() -> PatternQuestion {
    PatternQuestion { features: features(), ..PatternQuestion::default() }
}

fn ids(hits: &[PatternHit]) -> Vec<MemoryId> {
    hits.iter().map(|hit| hit.id).collect()
}

#[rstest]
#[case(json!({}), Ok(0.5))]
#[case(json!({"domains": ["Web", "cli"], "problem_types": ["debugging"]}), Ok(1.0))]
#[case(json!({"domains": ["cli"]}), Err("domains: it is for cli"))]
#[case(json!({"problem_types": ["testing", "review"]}), Err("problem_types: it is for testing, review"))]
#[case(json!({"complexity": {"min": "high"}}), Err("complexity: the task is too simple or too complex for it"))]
#[case(json!({"required_capabilities": ["docker"]}), Err("required_capabilities: docker is not at hand"))]
#[case(json!({"context_conditions": [{"feature": "language", "op": "is", "value": "go"}]}), Err("context_conditions: language is go does not hold"))]
#[case(json!({"context_conditions": [{"feature": "framework", "op": "is", "value": "axum"}], "domains": ["web"]}), Ok(0.5))]
#[case(json!({"anti_conditions": [{"feature": "language", "op": "in", "value": ["rust"]}]}), Err("anti_conditions: language in rust holds"))]
#[case(json!({"anti_conditions": [{"feature": "framework", "op": "is", "value": "axum"}]}), Ok(0.5))]
fn a_pattern_applies_or_is_kept_out_by_what_is_named(#[case] given: Value, #[case] expected: Result<f64, &str>) {
    let part = pattern(given);
    let index = PatternIndex::new([(id(1), &part)]);
    let (hits, left) = index.explain(&question(), now());
    match expected {
        Ok(quality) => assert_eq!(hits[0].score.match_quality, quality),
        Err(why) => assert_eq!(left[0].why.to_string(), why),
    }
    assert_eq!(hits.len() + left.len(), 1);
    assert_eq!(index.find(&question(), now()), hits, "the lists leave out nothing that applies");
}

#[test]
fn only_validated_patterns_are_found_unless_a_stage_is_named() {
    let parts = PatternStage::ALL.map(|stage| PatternPart { stage, ..pattern(json!({})) });
    let index = PatternIndex::new(parts.iter().enumerate().map(|(n, part)| (id(n as u128), part)));
    assert_eq!(ids(&index.find(&question(), now())), [id(1)]);
    let named = PatternQuestion { stages: vec![PatternStage::Candidate, PatternStage::Deprecated], ..question() };
    assert_eq!(ids(&index.find(&named, now())), [id(0), id(3)]);
    let (_, left) = index.explain(&question(), now());
    assert_eq!(left[0].why.to_string(), "its stage is candidate");
    let other = PatternQuestion { categories: vec![PatternCategory::Recovery], ..question() };
    assert_eq!(index.find(&other, now()), []);
}

#[test]
fn the_score_is_the_sum_of_its_weighed_components() {
    let mut part = pattern(json!({"domains": ["web"]}));
    part.statistics.confidence = 0.8;
    part.statistics.success_rate = Some(0.9);
    part.statistics.usage_count = 19;
    let validation = PatternValidation { at: days_ago(90.0), successes: 9, applications: 10, accepted_because: None };
    part.lifecycle.validation = Some(validation);
    let score = PatternIndex::new([(id(1), &part)]).find(&question(), now())[0].score;
    let expected = 0.4 * 0.8 + 0.3 * 0.9 + 0.15 * 20_f64.ln() / 10.0 + 0.1 / std::f64::consts::E + 0.05;
    assert!((score.total - expected).abs() < 1e-12, "{score:?}");
}

#[test]
fn the_best_five_are_suggested_and_the_rest_is_explained() {
    let parts: Vec<PatternPart> = (0..7)
        .map(|n| {
            let mut part = pattern(json!({}));
            part.statistics.confidence = f64::from(n) / 10.0;
            part
        })
        .collect();
    let index = PatternIndex::new(parts.iter().enumerate().map(|(n, part)| (id(n as u128), part)));
    let (hits, left) = index.explain(&question(), now());
    assert_eq!(ids(&hits), [6, 5, 4, 3, 2].map(id));
    assert!(left.iter().all(|out| out.why == KeptOut::Rank) && left.len() == 2);
}

#[test]
fn of_patterns_that_contradict_each_other_the_better_one_is_suggested_and_says_so() {
    let mut worse = pattern(json!({}));
    worse.relationships.contradicts = vec![id(2)];
    let mut better = pattern(json!({}));
    better.statistics.confidence = 0.9;
    let index = PatternIndex::new([(id(1), &worse), (id(2), &better)]);
    let (hits, left) = index.explain(&question(), now());
    assert_eq!((ids(&hits), &hits[0].preferred_over), (vec![id(2)], &vec![id(1)]));
    assert_eq!(left[0].why, KeptOut::Contradicts(id(2)));
}

#[test]
fn lists_and_a_look_at_everything_find_the_same() {
    let domains = ["web", "cli", "data"];
    let types = ["debugging", "testing"];
    let parts: Vec<PatternPart> = (0..60)
        .map(|n| {
            let of = |all: &[&str], n: usize| if n % 4 == 3 { vec![] } else { vec![all[n % all.len()].to_owned()] };
            let mut part = pattern(json!({"domains": of(&domains, n), "problem_types": of(&types, n / 4)}));
            part.statistics.confidence = n as f64 / 100.0;
            part
        })
        .collect();
    let index = PatternIndex::new(parts.iter().enumerate().map(|(n, part)| (id(n as u128), part)));
    for domain in [None, Some("web"), Some("CLI"), Some("other")] {
        for task_type in [None, Some("testing"), Some("other")] {
            let features = TaskFeatures {
                domain: domain.map(str::to_owned),
                task_type: task_type.map(str::to_owned),
                ..TaskFeatures::default()
            };
            let question = PatternQuestion { features, limit: 100, ..PatternQuestion::default() };
            assert_eq!(index.find(&question, now()), index.explain(&question, now()).0, "{domain:?} {task_type:?}");
        }
    }
}

#[test]
fn an_index_of_memories_finds_their_patterns_and_gives_them_as_they_are_stored() {
    let memory = |n: u128, part: Option<PatternPart>| {
        Arc::new(Memory { id: id(n), pattern: part.map(Box::new), ..crate::memory::samples::strategy(n) })
    };
    let memories =
        [memory(1, Some(pattern(json!({})))), memory(2, None), memory(3, Some(pattern(json!({"domains": ["cli"]}))))];
    let index = PatternIndex::of(memories.clone());
    assert_eq!(index.memories().map(|(memory, _)| memory.id).collect::<Vec<_>>(), [id(1), id(3)]);
    let suggested = index.suggested(index.find(&question(), now()));
    assert_eq!(suggested.iter().map(|one| &one.memory).collect::<Vec<_>>(), [&*memories[0]]);
    assert_eq!(index.memory(id(2)), None, "it is no pattern");
}
