use rstest::rstest;

use super::*;
use crate::mcp::arguments::extract;
use crate::mcp::caller::ServerEnd;
use crate::mcp::test_client::taken;

#[test]
fn every_scope_in_the_schema_is_one_that_is_understood() {
    let schema = TOOL.definition(&ToolDefaults::default(), &ServerEnd::stdio(None)).input_schema;
    let words: Vec<ScopeFilter> = serde_json::from_value(schema["properties"]["scope"]["enum"].clone()).unwrap();
    assert_eq!(words, [ScopeFilter::Cascade, ScopeFilter::Project, ScopeFilter::Team, ScopeFilter::Org]);
}

#[test]
fn what_is_left_out_of_retrieve_has_the_documented_defaults() {
    let schema = TOOL.definition(&ToolDefaults::default(), &ServerEnd::stdio(None)).input_schema;
    let arguments: Arguments = extract(&schema, json!({"query": "q"}).as_object().cloned(), &[]).unwrap();
    assert_eq!(arguments.detail, Detail::Compact);
    let workspace = WorkspaceRef::Root("/w".into());
    let request = arguments.into_request(workspace.clone(), Default::default(), &ToolDefaults::default());
    let expected = RetrieveRequest::new("q", workspace, 5);
    assert_eq!(request, RetrieveRequest { max_tokens: Some(8_000), ..expected });
}

#[rstest]
#[case::no_results(json!({"query": "q", "n_results": 0}), "n_results: must be an integer from 1 to 50; it is 0")]
#[case::one_too_many(json!({"query": "q", "n_results": 51}), "n_results: must be an integer from 1 to 50; it is 51")]
#[case::far_too_many(json!({"query": "q", "n_results": 10_000}), "n_results: must be an integer from 1 to 50; it is 10000")]
#[case::blank(json!({"query": "  "}), "query: must be a string of 1 to 200000 characters; it is empty or blank")]
#[case::above_one(json!({"query": "q", "min_confidence": 1.01}), "min_confidence: must be a number from 0 to 1; it is 1.01")]
#[case::scope(json!({"query": "q", "scope": "all"}), r#"scope: must be one of "cascade", "project", "team", "org"; it is the string "all""#)]
#[case::a_null_tag(json!({"query": "q", "tags": ["a", null]}), "tags[1]: must be a string of 1 to 120 characters; it is null")]
#[case::one_tag(json!({"query": "q", "tags": "a"}), r#"tags: must be an array of 0 to 20 items, each a string of 1 to 120 characters; it is the string "a""#)]
#[case::many_tags(json!({"query": "q", "tags": vec!["a"; 21]}), "tags: must be an array of 0 to 20 items, each a string of 1 to 120 characters; it has 21 items")]
#[case::no_tokens(json!({"query": "q", "max_tokens": 0}), "max_tokens: must be an integer from 1 to 200000; it is 0")]
fn a_bad_argument_of_retrieve_is_named_with_its_bound(#[case] arguments: Value, #[case] message: &str) {
    assert_eq!(taken::<Arguments>(&TOOL, arguments), Err(message.into()));
}

#[rstest]
#[case::all_of_retrieve(json!({
    "query": "q", "n_results": 50, "workspace": "0123456789abcdef", "scope": "org", "domain": "d", "domain_filter": "d",
    "tags": ["a"], "include_errors": false, "errors_only": true, "error_signature": "ValueError", "min_confidence": 1,
    "since": "7d", "until": "2026-11-20", "profile": "paper", "max_tokens": 1, "detail": "full"
}))]
fn good_arguments_are_taken(#[case] arguments: Value) {
    assert_eq!(taken::<Arguments>(&TOOL, arguments), Ok(()));
}

#[test]
fn a_call_without_arguments_is_one_with_none() {
    let schema = TOOL.definition(&ToolDefaults::default(), &ServerEnd::stdio(None)).input_schema;
    let error = extract::<Arguments>(&schema, None, &[]).unwrap_err();
    assert_eq!(error.to_string(), "query: is required: a string of 1 to 200000 characters");
}

fn retrieved() -> Retrieved {
    let id = "01890a5d-ac96-774b-bcce-b302099a8057";
    let error =
        json!({"error_type": "IndexError", "failure_pattern": "p", "corrective_guidance": "g", "stack_trace": "s"});
    serde_json::from_value(json!({
        "memories": [{
            "id": id, "title": "t", "description": "d", "content": "c", "outcome": "failure", "warning": true,
            "error_context": error, "scope": "project", "workspace_id": "0123456789abcdef", "source_type": "solve",
            "trust": "model", "status": "active", "revision": 1, "pinned": false, "confidence": 0.6000000000000001, "usage_count": 2,
            "derived_from": [], "evolution_stage": 0, "pattern_tags": ["a"], "domain_category": "rust", "trace_id": id,
            "created_at": "2026-11-20T10:00:00Z", "updated_at": "2026-11-20T10:00:00Z", "relevance": 0.71234567, "similarity_score": 0.123456789, "recency_score": 1.0,
            "error_score": 0.0, "base_score": 0.5, "composite_score": 0.4,
            "why": {
                "profile": "composite", "components": [{"name": "similarity", "value": 0.123456789, "weight": 0.6}],
                "factors": [{"name": "scope_weight", "value": 1.0}], "cosine": 0.87654321
            },
        }],
        "mode": "hybrid", "partial": false, "notes": [], "took_ms": 3,
    }))
    .unwrap()
}

#[test]
fn compact_drops_the_state_of_the_bank_raw_errors_and_last_digits() {
    let answer = document(&retrieved(), Detail::Compact).unwrap();
    assert_eq!(
        answer,
        json!({
            "memories": [{
                "id": "01890a5d-ac96-774b-bcce-b302099a8057", "title": "t", "description": "d", "content": "c",
                "outcome": "failure", "warning": true,
                "error_context": {"error_type": "IndexError", "failure_pattern": "p", "corrective_guidance": "g"},
                "scope": "project", "workspace_id": "0123456789abcdef", "source_type": "solve", "trust": "model",
                "confidence": 0.6, "derived_from": [], "evolution_stage": 0, "pattern_tags": ["a"],
                "domain_category": "rust", "trace_id": "01890a5d-ac96-774b-bcce-b302099a8057",
                "created_at": "2026-11-20T10:00:00Z", "relevance": 0.712346, "similarity_score": 0.123457, "recency_score": 1.0,
                "error_score": 0.0, "base_score": 0.5, "composite_score": 0.4,
                "why": {
                    "profile": "composite",
                    "components": [{"name": "similarity", "value": 0.123457, "weight": 0.6}],
                    "factors": [{"name": "scope_weight", "value": 1.0}],
                    "cosine": 0.876543,
                },
            }],
            "mode": "hybrid", "partial": false, "notes": [], "took_ms": 3,
        })
    );
}

#[test]
fn full_keeps_everything() {
    let retrieved = retrieved();
    let answer = document(&retrieved, Detail::Full).unwrap();
    assert_eq!(answer, serde_json::to_value(&retrieved).unwrap());
}

#[test]
fn what_the_answer_schema_spells_out_is_in_a_compact_answer() {
    let schema = TOOL.definition(&ToolDefaults::default(), &ServerEnd::stdio(None)).output_schema.unwrap();
    let answer = document(&retrieved(), Detail::Compact).unwrap();
    for field in schema["properties"].as_object().unwrap().keys() {
        assert!(answer.get(field).is_some(), "{field}");
    }
    for field in schema["properties"]["memories"]["items"]["properties"].as_object().unwrap().keys() {
        assert!(answer["memories"][0].get(field).is_some(), "{field}");
    }
}
