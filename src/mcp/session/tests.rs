use std::sync::Arc;

use rmcp::model::{CallToolRequestParams, CallToolResponse, CallToolResult, ServerCapabilities, ServerConfig};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::sync::Notify;

use super::*;
use crate::mcp::test_client::TestClient;

/// A server whose one tool answers when it is told to.
#[derive(Clone, Default)]
struct Slow {
    called: Arc<Notify>,
    answer: Arc<Notify>,
}

impl ServerHandler for Slow {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn call_tool(
        &self,
        _request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.called.notify_one();
        self.answer.notified().await;
        Ok(CallToolResult::structured(json!({"done": true})).into())
    }
}

fn connect(handler: Slow) -> TestClient {
    TestClient::connect(handler)
}

#[tokio::test]
async fn a_session_that_never_began_ends_with_its_input() {
    let TestClient { input, session, .. } = connect(Slow::default());
    drop(input);
    session.await.unwrap().unwrap();
}

#[tokio::test]
async fn messages_out_of_order_before_the_handshake_do_not_end_the_session() {
    let mut client = connect(Slow::default());
    let cancelled = json!({"requestId": 1, "reason": "the probe took too long"});
    client.send(json!({"method": "notifications/cancelled", "params": cancelled})).await;
    client.send(json!({"method": "notifications/initialized"})).await;
    client.send(json!({"id": 9, "result": {}})).await;
    client.initialize().await;
}

#[tokio::test]
async fn requests_in_flight_are_answered_after_the_input_ended() {
    let handler = Slow::default();
    let mut client = connect(handler.clone());
    client.initialize().await;
    client.send(json!({"id": 1, "method": "tools/call", "params": {"name": "slow"}})).await;
    client.input.shutdown().await.unwrap();
    handler.called.notified().await;
    handler.answer.notify_one();
    let answer = client.read().await;
    assert_eq!((&answer["id"], &answer["result"]["structuredContent"]), (&json!(1), &json!({"done": true})));
    client.session.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_request_that_never_ends_does_not_keep_the_session_alive() {
    let handler = Slow::default();
    let mut client = connect(handler.clone());
    client.initialize().await;
    client.send(json!({"id": 1, "method": "tools/call", "params": {"name": "slow"}})).await;
    handler.called.notified().await;
    let TestClient { input, output, session, .. } = client;
    drop(input);
    tokio::time::timeout(Duration::from_secs(10), session).await.unwrap().unwrap().unwrap();
    drop(output);
}

#[tokio::test]
async fn what_ends_the_server_ends_sessions_as_the_end_of_their_input_does() {
    let not_begun = connect(Slow::default());
    not_begun.end.cancel();
    not_begun.session.await.unwrap().unwrap();

    let handler = Slow::default();
    let mut client = connect(handler.clone());
    client.initialize().await;
    client.send(json!({"id": 1, "method": "tools/call", "params": {"name": "slow"}})).await;
    handler.called.notified().await;
    client.end.cancel();
    handler.answer.notify_one();
    assert_eq!(client.read().await["id"], 1, "a request in flight is answered");
    client.session.await.unwrap().unwrap();
}
