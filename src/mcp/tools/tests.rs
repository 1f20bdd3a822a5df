use reasoning_bank_actors::banks::CONVERSATION_MAX_CHARS;
use serde_json::json;

use super::*;
use crate::mcp::arguments::extract;
use crate::mcp::test_client::options;

#[test]
fn the_schema_says_what_the_configuration_says() {
    let defaults = ToolDefaults { matts_k: 3, n_results: 7, ..ToolDefaults::default() };
    let default = |tool: &ToolSpec, argument: &str| {
        tool.definition(&defaults, &ServerEnd::stdio(None)).input_schema["properties"][argument]["default"].clone()
    };
    assert_eq!(default(&solve_coding_task::TOOL, "matts_k"), 3);
    assert_eq!(default(&solve_coding_task::TOOL, "matts_mode"), "parallel");
    assert_eq!(default(&retrieve_memories::TOOL, "n_results"), 7);
    assert_eq!(default(&retrieve_memories::TOOL, "detail"), "compact");
    assert_eq!(default(&record_memory::TOOL, "scope"), "project");
}

#[test]
fn the_schema_of_an_update_names_the_lengths_that_the_bank_holds_it_to() {
    let update = update::TOOL.definition(&ToolDefaults::default(), &ServerEnd::stdio(None));
    let id = &update.input_schema["properties"]["conversation_id"];
    assert_eq!((&id["minLength"], &id["maxLength"]), (&json!(1), &json!(CONVERSATION_MAX_CHARS)));
}

#[test]
fn the_list_of_core_tools_costs_an_agent_little() {
    let options = McpOptions { captures: true, ..with_tools(&[Toolset::Core]) };
    let core = ALL.into_iter().filter(|tool| tool.is_listed(&options));
    let tools: Vec<Tool> =
        core.map(|tool| tool.definition(&ToolDefaults::default(), &ServerEnd::stdio(None))).collect();
    let answers: usize = tools.iter().map(|tool| serde_json::to_string(&tool.output_schema).unwrap().len()).sum();
    let whole = serde_json::to_string(&rmcp::model::ListToolsResult::with_all_items(tools)).unwrap().len();
    assert!(whole < 12_288, "{whole} bytes");
    let seen = whole - answers;
    assert!(seen < 9_000, "{seen} bytes without the schemas of answers, which models do not see");
}

#[test]
fn every_tool_says_when_to_use_it_and_what_it_does() {
    for tool in ALL {
        let tool = tool.definition(&ToolDefaults::default(), &ServerEnd::stdio(None));
        let name = &tool.name;
        assert!(tool.title.is_some() && tool.output_schema.is_some(), "{name}");
        let description = tool.description.unwrap();
        let says_when = ["Call it", "Use it"].iter().any(|phrase| description.contains(phrase));
        assert!(says_when || is_for_scripts(name), "{name}: {description}");
        let hints = tool.annotations.unwrap();
        for hint in [hints.read_only_hint, hints.destructive_hint, hints.idempotent_hint, hints.open_world_hint] {
            assert!(hint.is_some(), "{name} has all annotations");
        }
        let reads =
            ["find_", "get_", "list_", "retrieve_", "search_", "health_"].iter().any(|prefix| name.starts_with(prefix));
        assert_eq!(hints.read_only_hint, Some(reads), "{name}");
        let destroys = ["delete_", "update_", "purge_"].iter().any(|prefix| name.starts_with(prefix));
        assert_eq!(hints.destructive_hint, Some(destroys), "{name}");
    }
}

#[test]
fn what_cannot_be_undone_is_confirmed_with_true_and_nothing_else() {
    for (tool, arguments) in [
        (&delete_workspace::TOOL, json!({"path": "/w"})),
        (&delete_memory::TOOL, json!({"memory_id": "01890a5d-ac96-774b-bcce-b302099a8057"})),
    ] {
        let schema = tool.definition(&ToolDefaults::default(), &ServerEnd::stdio(None)).input_schema;
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

#[test]
fn what_is_wrong_inside_of_a_pattern_or_a_context_is_named_with_its_place() {
    let refused = |tool: &ToolSpec, arguments: Value| {
        let schema = tool.definition(&ToolDefaults::default(), &ServerEnd::stdio(None)).input_schema;
        let refused = extract::<Value>(&schema, arguments.as_object().cloned(), tool.judged_elsewhere);
        refused.err().map(|error| error.to_string()).unwrap_or_default()
    };
    let pattern = |content: Value| {
        let words = json!({"title": "T", "description": "D", "explanation": "E", "category": "strategy"});
        let mut arguments = words.as_object().cloned().unwrap();
        arguments.insert("content".into(), content);
        refused(&record_pattern::TOOL, Value::Object(arguments))
    };
    let types = r#"one of "strategy", "template", "heuristic", "procedure""#;
    for (content, problem) in [
        (json!({"type": "strategy", "approach": "A"}), String::new()),
        (
            json!({"type": "strategy", "approach": "A", "why": "W"}),
            "content.why: unknown; known are type, approach, key_principles, trade_offs".into(),
        ),
        (json!({"type": "strategy"}), "content.approach: is required: a string".into()),
        (json!({"approach": "A"}), format!("content.type: is required: {types}")),
        (json!({"type": "plan"}), format!("content.type: must be {types}; it is the string \"plan\"")),
        (json!("A"), format!("content: must be an object whose type is {types}; it is the string \"A\"")),
        (
            json!({"type": "procedure", "steps": [{"title": "A", "how": "H"}]}),
            "content.steps[0].how: unknown; known are id, title, tool, depends_on".into(),
        ),
    ] {
        assert_eq!(pattern(content), problem);
    }
    let context = refused(&get_context_for_task::TOOL, json!({"task": "T", "context": {"a": {"b": 1}}}));
    let kinds = "true or false, or a number, or a string, or an array, each a string";
    assert_eq!(context, format!("context.a: must be {kinds}; it is an object"));
}

#[test]
fn the_tools_that_erase_are_told_apart_whoever_may_call_them() {
    let erasing = ALL.into_iter().filter(|tool| tool.erases()).map(|tool| tool.name);
    let known = ["delete_workspace", "update_memory", "delete_memory", "delete_episode", "purge_episodes"];
    assert_eq!(erasing.collect::<Vec<_>>(), known);
}

/// Says whether no agent sees a tool, so that nobody has to be told when to call it.
fn is_for_scripts(tool: &str) -> bool {
    let episodes = ["list_episodes", "archive_episode", "delete_episode", "restore_episode", "purge_episodes"];
    let consolidation = ["consolidate", "list_consolidations", "get_consolidation", "undo_consolidation"];
    let banks = ["list_bank_versions", "restore_bank"];
    ["list_memories", "list_traces", "get_trace", "get_workspace"].contains(&tool)
        || banks.contains(&tool)
        || episodes.contains(&tool)
        || consolidation.contains(&tool)
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
    assert_eq!(listed(&[Toolset::Episodes]), 4);
    assert_eq!(listed(&[Toolset::Patterns]), 4);
    assert_eq!(listed(&[Toolset::Core, Toolset::All]), ALL.iter().filter(|tool| !is_for_scripts(tool.name)).count());
    assert_eq!(listed(&[]), 0);
    let captures = |toolset: Toolset, captures: bool| {
        capture_exchange::TOOL.is_listed(&McpOptions { captures, ..with_tools(&[toolset]) })
    };
    assert!(captures(Toolset::Core, true) && !captures(Toolset::Core, false));
    assert!(captures(Toolset::Learning, false) && !captures(Toolset::Admin, true));
    let without_model = McpOptions { can_solve: false, ..with_tools(&[Toolset::All]) };
    assert!(!solve_coding_task::TOOL.is_listed(&without_model));
}

#[test]
fn the_page_of_the_daemon_names_each_tool_beside_its_permission() {
    const PAGE: &str = include_str!("../../../docs/DAEMON.md");
    let named = |tool: &ToolSpec| {
        let row = format!("| `{}` | ", tool.permission.as_str());
        PAGE.lines().any(|line| line.starts_with(&row) && line.contains(&format!("`{}`", tool.name)))
    };
    let missing: Vec<&str> =
        ALL.into_iter().filter(|tool| !tool.is_local && !named(tool)).map(|tool| tool.name).collect();
    assert_eq!(missing, Vec::<&str>::new());
}
