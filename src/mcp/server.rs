//! The handler behind every session: what the server says about itself, which tools it lists, and the calls of them.

use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use reasoning_bank_actors::agents::Call;
use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::memories::WorkspaceRef;
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_actors::system::SystemHandle;
use reasoning_bank_domain::solve::Progress;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CustomRequest, CustomResult, ErrorCode, Implementation,
    JsonObject, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde::Serialize;
use serde_json::Value;
use tokio::sync::watch;
use tracing::Instrument;

use super::arguments::extract;
use super::tools::{ToolDefaults, ToolKind, Toolset, record, retrieve, solve};
use super::{failure, progress};
use crate::project::{self, Identity};

/// How long a call that needs no model may take.
const MEMORY_DEADLINE: Duration = Duration::from_secs(30);

#[derive(Debug, Clone)]
pub struct McpOptions {
    /// Where a call without a workspace reads and writes.
    pub workspace: WorkspaceRef,
    /// What relative paths in calls are relative to.
    pub base: PathBuf,
    pub identity: Identity,
    /// Whose tools are listed; at least one.
    pub toolsets: Vec<Toolset>,
    /// Whether there is a model; without one `solve_coding_task` does not exist.
    pub can_solve: bool,
    pub solve_deadline: Duration,
    pub defaults: ToolDefaults,
}

#[derive(Clone)]
pub(super) struct Server(Arc<Inner>);

struct Inner {
    system: SystemHandle,
    options: McpOptions,
    tools: Vec<(ToolKind, Tool)>,
}

impl Server {
    pub(super) fn new(system: SystemHandle, options: McpOptions) -> Self {
        let kinds = ToolKind::ALL.into_iter().filter(|kind| kind.is_in(&options.toolsets));
        let kinds = kinds.filter(|kind| options.can_solve || *kind != ToolKind::Solve);
        let tools = kinds.map(|kind| (kind, kind.definition(&options.defaults))).collect();
        Self(Arc::new(Inner { system, options, tools }))
    }

    async fn call(
        &self,
        kind: ToolKind,
        schema: &JsonObject,
        arguments: Option<JsonObject>,
        context: RequestContext<RoleServer>,
    ) -> Result<Value, Error> {
        let Inner { system, options, .. } = &*self.0;
        match kind {
            ToolKind::Solve => {
                let arguments: solve::Arguments = extract(schema, arguments, &[])?;
                let workspace = self.workspace(arguments.workspace.as_deref())?;
                let task = arguments.into_task(&options.defaults);
                let (sender, progress) = watch::channel(Progress::default());
                let deadline = Deadline::after(options.solve_deadline);
                let call = Call { deadline, cancel: context.ct.clone(), progress: Some(sender), verifier: None };
                let work = system.agents.solve(task, workspace, call);
                document(&progress::reported(work, progress, context.meta.get_progress_token(), &context.peer).await?)
            }
            ToolKind::Retrieve => {
                let arguments: retrieve::Arguments = extract(schema, arguments, &[])?;
                let workspace = self.workspace(arguments.workspace.as_deref())?;
                let detail = arguments.detail;
                let request = arguments.into_request(workspace, &options.defaults);
                let retrieved = system.memories.retrieve(request, Deadline::after(MEMORY_DEADLINE)).await?;
                retrieve::document(&retrieved, detail).map_err(Error::internal)
            }
            ToolKind::Record => {
                let arguments: record::Arguments = extract(schema, arguments, &record::JUDGED_BY_THE_MEMORY)?;
                let workspace = self.workspace(arguments.workspace.as_deref())?;
                let request = arguments.into_request(workspace);
                document(&system.memories.record(request, Deadline::after(MEMORY_DEADLINE)).await?)
            }
        }
    }

    fn workspace(&self, named: Option<&str>) -> Result<WorkspaceRef, Error> {
        let options = &self.0.options;
        match named {
            None => Ok(options.workspace.clone()),
            Some(text) => project::workspace(text, &options.base, options.identity)
                .map_err(|error| Error::invalid("workspace", error.to_string())),
        }
    }
}

fn document(answer: &impl Serialize) -> Result<Value, Error> {
    serde_json::to_value(answer).map_err(Error::internal)
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
                                record_memory when you learned something that will matter again."
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
        let call = guarded(self.call(*kind, &tool.input_schema, request.arguments, context));
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
