use std::time::Duration;

use reasoning_bank_actors::ports::{EmbedderState, StoreError};
use reasoning_bank_actors::system::{System, SystemParts};
use reasoning_bank_actors::testkit::memory_store::MemStore;
use reasoning_bank_actors::testkit::{HashEmbedder, Scripted, parts, soon};
use reasoning_bank_actors::workspaces::WorkspaceRef;
use reasoning_bank_domain::note::Code;
use reasoning_bank_domain::prompt::Purpose;
use rstest::rstest;
use serde_json::json;

use super::*;
use crate::mcp::ToolDefaults;
use crate::mcp::test_client::{TestClient, options};

const CORE: [&str; 7] = [
    "solve_coding_task",
    "retrieve_memories",
    "record_memory",
    "report_outcome",
    "get_memory_genealogy",
    "get_statistics",
    "capture_exchange",
];

/// A client of a system over fakes.
struct World {
    client: TestClient,
    system: System,
    store: Arc<MemStore>,
    model: Scripted,
    embedder: Arc<HashEmbedder>,
}

async fn world() -> World {
    world_with(true).await
}

async fn world_with(can_solve: bool) -> World {
    let store = Arc::new(MemStore::new());
    let (model, embedder) = (model(), Arc::new(HashEmbedder::new()));
    let parts = parts(Arc::clone(&store) as Arc<_>, model.clone());
    let system = System::start(SystemParts { embedder: Arc::clone(&embedder) as Arc<_>, ..parts }).await.unwrap();
    let workspace = Some(WorkspaceRef::Root("/home/me/project".into()));
    let options = McpOptions { workspace, can_solve, captures: true, ..options() };
    let client = TestClient::connect(Server::stdio(system.handle(), options));
    World { client, system, store, model, embedder }
}

impl World {
    async fn stop(self) {
        self.client.close().await;
        self.system.stop(Duration::from_secs(5)).await;
    }
}

/// Returns a model that solves everything at the first try.
fn model() -> Scripted {
    let judged = json!({"verdict": "success", "score": 0.9, "reasoning": "it works", "learnings": []});
    let model = Scripted::new();
    model
        .answer(Purpose::Think, |_| Ok("a solution".into()))
        .answer(Purpose::Evaluate, |_| Ok(json!({"score": 0.9, "feedback": "fine"}).to_string()))
        .answer(Purpose::Judge, move |_| Ok(judged.to_string()))
        .answer(Purpose::Extract, |_| Ok(json!({"learnings": []}).to_string()))
        .answer(Purpose::Contrast, |_| Ok(json!({"best_index": 1, "analysis": "a", "learnings": []}).to_string()));
    model
}

/// Returns the metadata that a request of the stateless revision carries.
fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

fn tool_names(answer: &Value) -> Vec<&str> {
    answer["result"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn the_handshake_says_who_it_is_and_when_to_call() {
    let mut world = world().await;
    let server = world.client.initialize().await;
    assert_eq!(server["serverInfo"]["name"], "reasoning-bank");
    assert_eq!(server["serverInfo"]["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(server["capabilities"], json!({"tools": {}}));
    let instructions = server["instructions"].as_str().unwrap();
    for tool in ["retrieve_memories", "record_memory", "report_outcome", "solve_coding_task"] {
        assert!(instructions.contains(tool), "{tool} in {instructions}");
    }
    let answer = world.client.request("tools/list", json!({})).await;
    assert_eq!(tool_names(&answer), CORE);
    assert!(answer["result"].get("resultType").is_none(), "unknown to this revision");
    world.stop().await;
}

#[tokio::test]
async fn the_stateless_revision_needs_no_handshake() {
    let mut world = world().await;
    let answer = world.client.request("server/discover", json!({"_meta": meta()})).await;
    let versions = answer["result"]["supportedVersions"].as_array().unwrap();
    for version in ["2025-11-25", "2026-07-28"] {
        assert!(versions.contains(&json!(version)), "{version} in {answer}");
    }
    let answer = world.client.request("tools/list", json!({"_meta": meta()})).await;
    assert_eq!(tool_names(&answer), CORE);
    assert_eq!(answer["result"]["resultType"], "complete");
    assert!(answer["result"]["ttlMs"].is_u64(), "{answer}");
    let params = json!({"name": "retrieve_memories", "arguments": {"query": "anything"}, "_meta": meta()});
    let answer = world.client.request("tools/call", params).await;
    assert_eq!(answer["result"]["structuredContent"]["memories"], json!([]));
    let answer = world.client.request("tools/list", json!({})).await;
    assert_eq!(answer["error"]["code"], -32602, "every request says its version: {answer}");
    world.stop().await;
}

#[tokio::test]
async fn a_probe_may_be_followed_by_the_handshake() {
    let mut world = world().await;
    world.client.request("server/discover", json!({"_meta": meta()})).await;
    world.client.initialize().await;
    assert_eq!(tool_names(&world.client.request("tools/list", json!({})).await), CORE);
    world.stop().await;
}

#[tokio::test]
async fn without_a_model_there_is_no_solver() {
    let mut world = world_with(false).await;
    let server = world.client.initialize().await;
    assert!(!server["instructions"].as_str().unwrap().contains("solve"));
    let answer = world.client.request("tools/list", json!({})).await;
    assert_eq!(tool_names(&answer), CORE[1..]);
    let call = json!({"name": "solve_coding_task", "arguments": {"task": "t"}});
    let answer = world.client.request("tools/call", call).await;
    assert_eq!(answer["error"]["code"], -32602);
    assert_eq!(answer["error"]["message"], format!("unknown tool; the tools are {}", CORE[1..].join(", ")));
    world.stop().await;
}

#[rstest]
#[case::tool("tools/call", json!({"name": "forget_everything"}), -32602)]
#[case::arguments_in_a_list("tools/call", json!({"name": "record_memory", "arguments": [1]}), -32602)]
#[case::no_name("tools/call", json!({"arguments": {}}), -32602)]
#[case::method("tools/destroy", json!({}), -32601)]
#[case::capability_not_had("prompts/get", json!({"name": "x"}), -32601)]
#[tokio::test]
async fn what_cannot_be_routed_is_a_protocol_error(#[case] method: &str, #[case] params: Value, #[case] code: i64) {
    let mut world = world().await;
    world.client.initialize().await;
    let answer = world.client.request(method, params).await;
    assert_eq!(answer["error"]["code"], code, "{answer}");
    world.stop().await;
}

#[tokio::test]
async fn what_was_recorded_is_retrieved_by_its_workspace_alone() {
    let mut world = world().await;
    world.client.initialize().await;
    let lesson = json!({
        "title": "Retry with backoff", "description": "When a call is rate limited.",
        "content": "Double the delay after each failure.",
        "error_context": {"error_type": "RateLimited", "failure_pattern": "p", "corrective_guidance": "g"},
    });
    let (recorded, is_error) = world.client.call("record_memory", lesson.clone()).await;
    assert!(!is_error, "{recorded}");
    assert_eq!(recorded["status"], "created");
    let (again, _) = world.client.call("record_memory", lesson).await;
    assert_eq!((&again["status"], &again["id"]), (&json!("reinforced"), &recorded["id"]));
    let query = json!({"query": "backoff after a failure"});
    let (found, _) = world.client.call("retrieve_memories", query).await;
    let memory = &found["memories"][0];
    assert_eq!(
        (&memory["id"], &memory["warning"], &memory["outcome"]),
        (&recorded["id"], &json!(true), &json!("failure"))
    );
    let elsewhere =
        [("/home/me/other", "scope_denied"), ("/home/me", "scope_denied"), ("0123456789abcdef", "workspace_unknown")];
    for (elsewhere, code) in elsewhere {
        let (error, is_error) =
            world.client.call("retrieve_memories", json!({"query": "backoff", "workspace": elsewhere})).await;
        assert!(is_error);
        assert_eq!(error["code"], code, "{error}");
    }
    let own = json!({"query": "backoff after a failure", "workspace": "/home/me/project"});
    assert_eq!(world.client.call("retrieve_memories", own).await.0["memories"][0]["id"], recorded["id"]);
    world.stop().await;
}

#[tokio::test]
async fn an_incomplete_memory_is_refused_with_all_that_is_wrong() {
    let mut world = world().await;
    world.client.initialize().await;
    let incomplete = json!({"title": " ", "content": "c", "error_context": {"error_type": "E"}});
    let (error, is_error) = world.client.call("record_memory", incomplete).await;
    assert!(is_error);
    assert_eq!((&error["code"], &error["retryable"]), (&json!("memory_invalid"), &json!(false)));
    let message = error["message"].as_str().unwrap();
    for field in ["title", "description", "error_context.failure_pattern", "error_context.corrective_guidance"] {
        assert!(message.contains(field), "{field} in {message}");
    }
    let (nothing, _) = world.client.call("record_memory", json!({})).await;
    assert_eq!(nothing["code"], "memory_invalid");
    world.stop().await;
}

#[tokio::test]
async fn a_failing_store_is_a_tool_error_and_the_next_call_is_served() {
    let mut world = world().await;
    world.client.initialize().await;
    world.store.fail_with(Some(StoreError::Failed("the disk is gone".into())));
    let (error, is_error) = world.client.call("retrieve_memories", json!({"query": "q"})).await;
    assert!(is_error);
    assert_eq!((&error["code"], &error["retryable"]), (&json!("store_unavailable"), &json!(true)));
    world.store.fail_with(None);
    let (found, is_error) = world.client.call("retrieve_memories", json!({"query": "q"})).await;
    assert!(!is_error, "{found}");
    world.stop().await;
}

#[tokio::test]
async fn a_solve_reports_as_documented() {
    let mut world = world().await;
    world.client.initialize().await;
    let (report, is_error) =
        world.client.call("solve_coding_task", json!({"task": "add two numbers", "matts_k": 3})).await;
    assert!(!is_error, "{report}");
    assert_eq!((&report["solution"], &report["outcome"]), (&json!("a solution"), &json!("success")));
    assert_eq!(report["attempts"].as_array().unwrap().len(), 3);
    let schema = tools::solve_coding_task::TOOL
        .definition(&ToolDefaults::default(), &ServerEnd::stdio(None))
        .output_schema
        .unwrap();
    let documented: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
    let fields: Vec<&String> = report.as_object().unwrap().keys().collect();
    assert_eq!(fields, documented);
    let (single, _) = world.client.call("solve_coding_task", json!({"task": "add", "enable_matts": false})).await;
    assert_eq!(single["attempts"].as_array().unwrap().len(), 1);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn progress_is_reported_in_rising_numbers_until_the_answer() {
    let mut world = world().await;
    world.client.initialize().await;
    world.model.latency(Duration::from_millis(250));
    let params = json!({
        "name": "solve_coding_task",
        "arguments": {"task": "add two numbers", "matts_k": 3, "matts_mode": "sequential"},
        "_meta": {"progressToken": "p1"},
    });
    world.client.send(json!({"id": 1, "method": "tools/call", "params": params})).await;
    let mut last = 0.0;
    let mut notified = 0;
    loop {
        let message = world.client.read().await;
        if message["id"] == 1 {
            assert_eq!(message["result"]["isError"], false);
            break;
        }
        assert_eq!(message["method"], "notifications/progress");
        let params = &message["params"];
        assert_eq!(params["progressToken"], "p1");
        let progress = params["progress"].as_f64().unwrap();
        assert!(progress > last && progress <= params["total"].as_f64().unwrap(), "{message} after {last}");
        (last, notified) = (progress, notified + 1);
    }
    assert!(notified >= 3, "{notified}");
    let (_, is_error) = world.client.call("retrieve_memories", json!({"query": "q"})).await;
    assert!(!is_error, "nothing else came after the answer");
    world.stop().await;
}

#[tokio::test]
async fn a_cancelled_solve_stops_its_model_calls_and_is_not_answered() {
    let mut world = world().await;
    world.client.initialize().await;
    let _held = world.model.hold(Purpose::Think);
    let params = json!({"name": "solve_coding_task", "arguments": {"task": "add two numbers", "matts_k": 2}});
    world.client.send(json!({"id": 1, "method": "tools/call", "params": params})).await;
    assert!(world.model.begun(2, soon()).await);
    world.client.send(json!({"method": "notifications/cancelled", "params": {"requestId": 1}})).await;
    assert!(world.model.idle(soon()).await);
    assert_eq!(world.model.abandoned(), 2);
    let (_, is_error) = world.client.call("retrieve_memories", json!({"query": "q"})).await;
    assert!(!is_error, "the next answer is that of the next request");
    world.stop().await;
}

#[tokio::test]
async fn a_cancelled_call_waits_no_longer_and_is_not_answered() {
    let mut world = world().await;
    world.client.initialize().await;
    world.embedder.set_state(EmbedderState::Loading);
    let lesson = json!({"title": "t", "description": "d", "content": "c"});
    let params = json!({"name": "record_memory", "arguments": lesson});
    world.client.send(json!({"id": 1, "method": "tools/call", "params": params})).await;
    world.client.send(json!({"method": "notifications/cancelled", "params": {"requestId": 1}})).await;
    let (found, is_error) = world.client.call("get_statistics", json!({})).await;
    assert!(!is_error, "the next answer is that of the next request: {found}");
    world.embedder.set_state(EmbedderState::Ready);
    assert_eq!(found["memories"]["total"], 0);
    world.stop().await;
}

#[tokio::test]
async fn the_end_of_the_input_ends_a_solve_that_hangs() {
    tokio::time::pause();
    let mut world = world().await;
    world.client.initialize().await;
    let _held = world.model.hold(Purpose::Think);
    let params = json!({"name": "solve_coding_task", "arguments": {"task": "add two numbers", "matts_k": 1}});
    world.client.send(json!({"id": 1, "method": "tools/call", "params": params})).await;
    assert!(world.model.begun(1, soon()).await);
    let model = world.model.clone();
    world.client.close().await;
    assert!(model.idle(soon()).await);
    assert_eq!(world.system.stop(Duration::from_secs(5)).await.cancelled_tasks, 0);
}

#[tokio::test]
async fn a_panic_in_a_tool_is_an_internal_error() {
    let Err(Interrupted::Failed(error)) = guarded(async { panic!("on purpose") }).await else { panic!("no failure") };
    assert_eq!(error.code(), Code::Internal);
}
