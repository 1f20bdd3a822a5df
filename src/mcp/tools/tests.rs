use reasoning_bank_actors::memories::Reach;
use reasoning_bank_actors::workspaces::WorkspaceRef;
use reasoning_bank_domain::memory::trace::MattsMode;
use reasoning_bank_domain::retrieval::responses::Retrieved;
use reasoning_bank_domain::solve::task::SolveTask;
use serde_json::json;

use super::retrieve_memories::Detail;
use super::*;
use crate::mcp::arguments::extract;
use crate::mcp::test_client::options;

fn solve_task(arguments: Value, defaults: &ToolDefaults) -> SolveTask {
    let schema = solve_coding_task::TOOL.definition(defaults).input_schema;
    let arguments: solve_coding_task::Arguments = extract(&schema, arguments.as_object().cloned(), &[]).unwrap();
    arguments.into_task(defaults)
}

#[test]
fn what_a_caller_of_solve_leaves_out_comes_from_the_configuration() {
    let defaults = ToolDefaults { matts_k: 3, matts_mode: MattsMode::Sequential, ..ToolDefaults::default() };
    let expected = SolveTask {
        task: "t".into(),
        use_memory: true,
        k: 3,
        mode: MattsMode::Sequential,
        store_result: true,
        domain: None,
    };
    assert_eq!(solve_task(json!({"task": "t"}), &defaults), expected);
    let single = SolveTask { k: 1, ..expected.clone() };
    assert_eq!(solve_task(json!({"task": "t", "enable_matts": false, "matts_k": 4}), &defaults), single);
    let without = ToolDefaults { enable_matts: false, ..defaults };
    assert_eq!(solve_task(json!({"task": "t"}), &without), single);
    assert_eq!(solve_task(json!({"task": "t", "enable_matts": true}), &without), expected);
}

#[test]
fn the_schema_says_what_the_configuration_says() {
    let defaults = ToolDefaults { matts_k: 3, n_results: 7, ..ToolDefaults::default() };
    let default = |tool: &ToolSpec, argument: &str| {
        tool.definition(&defaults).input_schema["properties"][argument]["default"].clone()
    };
    assert_eq!(default(&solve_coding_task::TOOL, "matts_k"), 3);
    assert_eq!(default(&solve_coding_task::TOOL, "matts_mode"), "parallel");
    assert_eq!(default(&retrieve_memories::TOOL, "n_results"), 7);
    assert_eq!(default(&retrieve_memories::TOOL, "detail"), "compact");
    assert_eq!(default(&record_memory::TOOL, "scope"), "project");
}

#[test]
fn every_scope_in_the_schema_is_one_that_is_understood() {
    let schema = retrieve_memories::TOOL.definition(&ToolDefaults::default()).input_schema;
    let words: Vec<Reach> = serde_json::from_value(schema["properties"]["scope"]["enum"].clone()).unwrap();
    assert_eq!(words, [Reach::Cascade, Reach::Project, Reach::Team, Reach::Org]);
}

#[test]
fn what_is_left_out_of_retrieve_has_the_documented_defaults() {
    let schema = retrieve_memories::TOOL.definition(&ToolDefaults::default()).input_schema;
    let arguments: retrieve_memories::Arguments =
        extract(&schema, json!({"query": "q"}).as_object().cloned(), &[]).unwrap();
    assert_eq!(arguments.detail, Detail::Compact);
    let workspace = WorkspaceRef::Root("/w".into());
    let request = arguments.into_request(workspace.clone(), Default::default(), &ToolDefaults::default());
    let expected = reasoning_bank_actors::memories::RetrieveRequest::new("q", workspace, 5);
    assert_eq!(request, reasoning_bank_actors::memories::RetrieveRequest { max_tokens: Some(8_000), ..expected });
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
    let answer = retrieve_memories::document(&retrieved(), Detail::Compact).unwrap();
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
    let answer = retrieve_memories::document(&retrieved, Detail::Full).unwrap();
    assert_eq!(answer, serde_json::to_value(&retrieved).unwrap());
}

#[test]
fn what_the_answer_schema_spells_out_is_in_a_compact_answer() {
    let schema = retrieve_memories::TOOL.definition(&ToolDefaults::default()).output_schema.unwrap();
    let answer = retrieve_memories::document(&retrieved(), Detail::Compact).unwrap();
    for field in schema["properties"].as_object().unwrap().keys() {
        assert!(answer.get(field).is_some(), "{field}");
    }
    for field in schema["properties"]["memories"]["items"]["properties"].as_object().unwrap().keys() {
        assert!(answer["memories"][0].get(field).is_some(), "{field}");
    }
}

#[test]
fn the_list_of_core_tools_costs_an_agent_little() {
    let options = McpOptions { captures: true, ..with_tools(&[Toolset::Core]) };
    let core = ALL.into_iter().filter(|tool| tool.is_listed(&options));
    let tools: Vec<Tool> = core.map(|tool| tool.definition(&ToolDefaults::default())).collect();
    let answers: usize = tools.iter().map(|tool| serde_json::to_string(&tool.output_schema).unwrap().len()).sum();
    let whole = serde_json::to_string(&rmcp::model::ListToolsResult::with_all_items(tools)).unwrap().len();
    assert!(whole < 12_288, "{whole} bytes");
    let seen = whole - answers;
    assert!(seen < 9_000, "{seen} bytes without the schemas of answers, which models do not see");
}

#[test]
fn every_tool_says_when_to_use_it_and_what_it_does() {
    for tool in ALL {
        let tool = tool.definition(&ToolDefaults::default());
        let name = &tool.name;
        assert!(tool.title.is_some() && tool.output_schema.is_some(), "{name}");
        let description = tool.description.unwrap();
        let says_when = ["Call it", "Use it"].iter().any(|phrase| description.contains(phrase));
        assert!(says_when, "{name}: {description}");
        let hints = tool.annotations.unwrap();
        for hint in [hints.read_only_hint, hints.destructive_hint, hints.idempotent_hint, hints.open_world_hint] {
            assert!(hint.is_some(), "{name} has all annotations");
        }
        let reads = ["get_", "list_", "retrieve_", "health_"].iter().any(|prefix| name.starts_with(prefix));
        assert_eq!(hints.read_only_hint, Some(reads), "{name}");
        let destroys = ["delete_", "update_"].iter().any(|prefix| name.starts_with(prefix));
        assert_eq!(hints.destructive_hint, Some(destroys), "{name}");
    }
}

#[test]
fn what_cannot_be_undone_is_confirmed_with_true_and_nothing_else() {
    for (tool, arguments) in [
        (&delete_workspace::TOOL, json!({"path": "/w"})),
        (&delete_memory::TOOL, json!({"memory_id": "01890a5d-ac96-774b-bcce-b302099a8057"})),
    ] {
        let schema = tool.definition(&ToolDefaults::default()).input_schema;
        let refused = |confirm: Option<Value>| {
            let mut arguments = arguments.as_object().cloned().unwrap();
            arguments.extend(confirm.map(|confirm| ("confirm".to_owned(), confirm)));
            extract::<Value>(&schema, Some(arguments), &[]).err().map(|error| error.to_string())
        };
        assert_eq!(refused(None).unwrap(), "confirm: is required: one of true");
        assert_eq!(refused(Some(json!(false))).unwrap(), "confirm: must be one of true; it is false");
        assert!(refused(Some(json!("true"))).is_some());
        assert_eq!(refused(Some(json!(true))), None);
    }
}

fn with_tools(toolsets: &[Toolset]) -> McpOptions {
    McpOptions { toolsets: toolsets.to_vec(), ..options() }
}

#[test]
fn the_tools_of_a_group_are_those_it_has() {
    let listed = |toolsets: &[Toolset]| ALL.into_iter().filter(|tool| tool.is_listed(&with_tools(toolsets))).count();
    assert_eq!(listed(&[Toolset::Core]), 6);
    assert_eq!(listed(&[Toolset::Core, Toolset::Workspace]), 9);
    assert_eq!(listed(&[Toolset::Admin]), 5);
    assert_eq!(listed(&[Toolset::Core, Toolset::All]), ALL.len());
    assert_eq!(listed(&[]), 0);
    let captures = |toolset: Toolset, captures: bool| {
        capture_exchange::TOOL.is_listed(&McpOptions { captures, ..with_tools(&[toolset]) })
    };
    assert!(captures(Toolset::Core, true) && !captures(Toolset::Core, false));
    assert!(captures(Toolset::Learning, false) && !captures(Toolset::Admin, true));
    let without_model = McpOptions { can_solve: false, ..with_tools(&[Toolset::All]) };
    assert!(!solve_coding_task::TOOL.is_listed(&without_model));
}
