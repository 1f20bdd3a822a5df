//! The handler behind every session: what the server says about itself, which tools it lists, and the calls of them.

use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::FutureExt;
use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::memories::WorkspaceRef;
use reasoning_bank_actors::system::SystemHandle;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CustomRequest, CustomResult, ErrorCode, Implementation,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::Value;
use tracing::Instrument;
use uuid::Uuid;

use super::calls::Calling;
use super::failure;
use super::tools::{ToolDefaults, ToolKind, Toolset};
use crate::project::Identity;

#[derive(Debug, Clone)]
pub struct McpOptions {
    /// Where a call without a workspace reads and writes, until the client switches.
    pub workspace: WorkspaceRef,
    /// What relative paths in calls are relative to.
    pub base: PathBuf,
    pub identity: Identity,
    /// Where it is kept which workspace is the default one.
    pub data_dir: PathBuf,
    /// Whose tools are listed; at least one.
    pub toolsets: Vec<Toolset>,
    /// Whether there is a model; without one `solve_coding_task` does not exist.
    pub can_solve: bool,
    /// Whether exchanges are captured; `capture_exchange` is among the core tools then.
    pub captures: bool,
    pub solve_deadline: Duration,
    pub defaults: ToolDefaults,
}

#[derive(Clone)]
pub(super) struct Server(Arc<Inner>);

struct Inner {
    system: SystemHandle,
    options: McpOptions,
    tools: Vec<(ToolKind, Tool)>,
    default: DefaultWorkspace,
    /// Names this process in what it reports.
    session: String,
}

/// Where a call without a workspace reads and writes.
pub(super) struct DefaultWorkspace(Mutex<WorkspaceRef>);

impl DefaultWorkspace {
    pub(super) fn get(&self) -> WorkspaceRef {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn set(&self, workspace: WorkspaceRef) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = workspace;
    }
}

impl Server {
    pub(super) fn new(system: SystemHandle, options: McpOptions) -> Self {
        let kinds = ToolKind::ALL.into_iter().filter(|kind| kind.is_in(&options.toolsets, options.captures));
        let kinds = kinds.filter(|kind| options.can_solve || *kind != ToolKind::Solve);
        let tools = kinds.map(|kind| (kind, kind.definition(&options.defaults))).collect();
        let default = DefaultWorkspace(Mutex::new(options.workspace.clone()));
        Self(Arc::new(Inner { system, options, tools, default, session: Uuid::now_v7().to_string() }))
    }
}

/// A panic in a tool ends its call, not the server.
async fn guarded(call: impl Future<Output = Result<Value, Error>>) -> Result<Value, Error> {
    let caught = AssertUnwindSafe(call).catch_unwind().await;
    caught.unwrap_or_else(|_panic| Err(Error::internal("a tool panicked")))
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let mut instructions = "ReasoningBank remembers what was learned from earlier tasks in this project. Call \
                                retrieve_memories before starting a task and when an error occurs; call \
                                record_memory when you learned something that will matter again; call \
                                report_outcome when you know what came of the memories you used."
            .to_owned();
        if self.0.options.can_solve {
            instructions += " solve_coding_task works on a self-contained task by itself: recall, several attempts, \
                             judgement, lessons.";
        }
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(
                Implementation::new("reasoning-bank", env!("CARGO_PKG_VERSION")).with_title("ReasoningBank"),
            )
            .with_instructions(instructions)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.0.tools.iter().map(|(_, tool)| tool.clone()).collect()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.0.tools.iter().find(|(_, tool)| tool.name == name).map(|(_, tool)| tool.clone())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some((kind, tool)) = self.0.tools.iter().find(|(_, tool)| tool.name == request.name) else {
            let known: Vec<&str> = self.0.tools.iter().map(|(_, tool)| tool.name.as_ref()).collect();
            let message = format!("unknown tool; the tools are {}", known.join(", "));
            return Err(ErrorData::invalid_params(message, None));
        };
        let span = tracing::info_span!("tool_call", tool = %tool.name);
        let Inner { system, options, default, session, .. } = &*self.0;
        let calling = Calling { system, options, default, session, schema: &tool.input_schema, context };
        let call = guarded(calling.answer(*kind, request.arguments));
        let result = match call.instrument(span).await {
            Ok(document) => CallToolResult::structured(document),
            Err(error) => {
                tracing::info!(tool = %tool.name, code = error.code(), "a call failed");
                failure::tool_error(&error)
            }
        };
        Ok(result.into())
    }

    /// Also what a known method with unreadable parameters arrives as.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        if matches!(request.method.as_str(), "initialize" | "server/discover" | "tools/list" | "tools/call") {
            return Err(ErrorData::invalid_params(format!("malformed params of {}", request.method), None));
        }
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "unknown method", None))
    }
}

#[cfg(test)]
mod tests;
