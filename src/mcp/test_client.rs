//! The client's end of a session, for tests: JSON documents over in-process streams.

use std::time::Duration;

use rmcp::ServerHandler;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::arguments::extract;
use super::caller::ServerEnd;
use super::session::{self, SessionError};
use super::tools::ToolSpec;
use super::{McpOptions, ToolDefaults};
use crate::project::Identity;
use crate::settings::{Destructive, Toolset};
use reasoning_bank_domain::note::Code;

/// The options of a server that has the core tools and a model, asks before it erases, and works in no workspace yet.
pub(super) fn options() -> McpOptions {
    McpOptions {
        workspace: None,
        base: "/".into(),
        home: None,
        identity: Identity::Path,
        data_dir: "/nowhere".into(),
        backup_dir: None,
        toolsets: vec![Toolset::Core],
        destructive: Destructive::Ask,
        shares: false,
        can_solve: true,
        captures: false,
        recalls: None,
        solve_deadline: Duration::from_secs(60),
        defaults: ToolDefaults::default(),
        prompts: Default::default(),
    }
}

/// Reads the arguments of a call of a tool, or says what is wrong with them.
pub(super) fn taken<T: DeserializeOwned>(tool: &ToolSpec, arguments: Value) -> Result<(), String> {
    let Value::Object(arguments) = arguments else { panic!("an object, not {arguments}") };
    let schema = tool.definition(&ToolDefaults::default(), &ServerEnd::stdio(None)).input_schema;
    extract::<T>(&schema, Some(arguments), tool.judged_elsewhere).map(drop).map_err(|error| {
        assert_eq!(error.code(), Code::InvalidArgument);
        error.to_string()
    })
}

pub(super) struct TestClient {
    pub(super) input: DuplexStream,
    pub(super) output: BufReader<DuplexStream>,
    pub(super) session: JoinHandle<Result<(), SessionError>>,
    /// Ends the session from the server's side.
    pub(super) end: CancellationToken,
    last_id: u64,
}

impl TestClient {
    pub(super) fn connect(handler: impl ServerHandler + Clone) -> Self {
        let (input, read) = tokio::io::duplex(1 << 16);
        let (write, output) = tokio::io::duplex(1 << 16);
        let end = CancellationToken::new();
        let session = tokio::spawn(session::run(handler, read, write, end.clone()));
        Self { input, output: BufReader::new(output), session, end, last_id: 100 }
    }

    pub(super) async fn send(&mut self, mut message: Value) {
        message["jsonrpc"] = json!("2.0");
        self.input.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    pub(super) async fn read(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).await.unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    /// Sends a request and returns the next message, which is its answer where nothing else is under way.
    pub(super) async fn request(&mut self, method: &str, params: Value) -> Value {
        self.last_id += 1;
        self.send(json!({"id": self.last_id, "method": method, "params": params})).await;
        let answer = self.read().await;
        assert_eq!(answer["id"], self.last_id, "{answer}");
        answer
    }

    /// Calls a tool; returns its structured content, which the text repeats, and whether it is an error.
    pub(super) async fn call(&mut self, tool: &str, arguments: Value) -> (Value, bool) {
        let answer = self.request("tools/call", json!({"name": tool, "arguments": arguments})).await;
        let result = &answer["result"];
        let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text in {answer}"));
        assert_eq!(serde_json::from_str::<Value>(text).unwrap(), result["structuredContent"]);
        (result["structuredContent"].clone(), result["isError"] == true)
    }

    pub(super) async fn initialize(&mut self) -> Value {
        let client = json!({"name": "test", "version": "1"});
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
        let answer = self.request("initialize", params).await;
        assert_eq!(answer["result"]["protocolVersion"], "2025-11-25", "{answer}");
        self.send(json!({"method": "notifications/initialized"})).await;
        answer["result"].clone()
    }

    pub(super) async fn close(self) {
        drop(self.input);
        self.session.await.unwrap().unwrap();
    }
}
