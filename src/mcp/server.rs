//! The handler behind every session: it says what the server is, lists the tools, and answers the calls of them, those
//! of scripts as well.

mod bulk;

use std::num::NonZeroU64;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Once, OnceLock};
use std::thread;

use axum::http::request::Parts;
use futures::FutureExt;
use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_actors::system::SystemHandle;
use reasoning_bank_domain::access::Permission;
use reasoning_bank_domain::bank::warm_up;
use reasoning_bank_domain::note::Code;
use reasoning_bank_domain::safety::secrets::Scrub;
use reasoning_bank_domain::solve::task::Progress;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestMethod, CompleteRequestParams,
    CompleteResult, ConstString, CustomRequest, CustomResult, DiscoverResult, ErrorCode, GetPromptRequestMethod,
    GetPromptRequestParams, GetPromptResponse, Implementation, InitializeRequestParams, InitializeResult, JsonObject,
    ListPromptsRequestMethod, ListPromptsResult, ListResourceTemplatesRequestMethod, ListResourceTemplatesResult,
    ListResourcesRequestMethod, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestMethod, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig,
    SetLevelRequestMethod, SubscribeRequestMethod, SubscribeRequestParams, Tool, UnsubscribeRequestMethod,
    UnsubscribeRequestParams,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::Value;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::Instrument;

pub(crate) use self::bulk::ArrivedImport;
use super::caller::{Caller, ServerEnd};
use super::calls::{Calling, Interrupted, MEMORY_DEADLINE, QUOTED, RequestsInWork, noted_key};
use super::client::{RequestKey, ToolClient};
use super::failure;
use super::open_questions::OpenQuestions;
use super::options::McpOptions;
use super::tools::{self, ToolSpec};
use crate::audit::{AuditEntry, AuditLog, NamedIds};
use crate::metrics::ServerMetrics;

#[derive(Clone)]
pub(crate) struct Server(Arc<ServerState>);

struct ServerState {
    system: SystemHandle,
    options: McpOptions,
    tools: Vec<OfferedTool>,
    end: ServerEnd,
    questions: OpenQuestions,
    requests: RequestsInWork,
}

/// A tool as this server has it.
struct OfferedTool {
    spec: &'static ToolSpec,
    definition: Tool,
    /// Agents see it. Scripts may call every tool.
    is_listed: bool,
}

/// A tool in words and schemas.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DescribedTool<'a> {
    pub(crate) name: &'a str,
    pub(crate) title: Option<&'a str>,
    pub(crate) description: Option<&'a str>,
    /// The JSON Schema of its arguments.
    pub(crate) arguments: &'a JsonObject,
    pub(crate) changes_something: bool,
}

/// A call of a tool by a script.
pub(crate) struct ScriptCall {
    pub(crate) tool: &'static str,
    pub(crate) arguments: JsonObject,
    /// The revisions of which the memory that is changed must have one. None allows any.
    pub(crate) if_revisions: Option<Vec<u64>>,
    /// The progress of a solve goes here.
    pub(crate) progress: watch::Sender<Progress>,
    pub(crate) key: Option<RequestKey>,
    /// Cancelled when the script is gone.
    pub(crate) cancel: CancellationToken,
}

impl Server {
    /// Makes the server of one client over stdio.
    pub(super) fn stdio(system: SystemHandle, options: McpOptions) -> Self {
        let end = ServerEnd::stdio(options.workspace.clone());
        Self::new(system, options, end)
    }

    /// Makes the server that all clients over the network share.
    pub(crate) fn http(
        system: SystemHandle,
        options: McpOptions,
        audit: AuditLog,
        metrics: Arc<ServerMetrics>,
    ) -> Self {
        Self::new(system, options, ServerEnd::http(audit, metrics))
    }

    fn new(system: SystemHandle, options: McpOptions, end: ServerEnd) -> Self {
        // Scripts are there over HTTP alone.
        let has_scripts = matches!(end, ServerEnd::Http { .. });
        let offered = tools::ALL.into_iter().filter(|spec| spec.is_for(&end)).filter_map(|spec| {
            let is_listed = spec.is_listed(&options);
            let definition = (is_listed || has_scripts).then(|| spec.definition(&options.defaults, &end))?;
            Some(OfferedTool { spec, definition, is_listed })
        });
        let tools: Vec<OfferedTool> = offered.collect();
        if tools.iter().any(|tool| tool.is_listed && tool.spec.shows_banks()) {
            // Nobody waits for the thread, which ends with the process.
            static WARMED: Once = Once::new();
            WARMED.call_once(|| drop(thread::spawn(warm_up)));
        }
        let (questions, requests) = (OpenQuestions::default(), RequestsInWork::default());
        Self(Arc::new(ServerState { system, options, tools, end, questions, requests }))
    }

    /// Writes into the audit log of a team's server what a caller did, and to what. What was erased is noted for good
    /// before the answer goes out.
    async fn note(
        &self,
        spec: &ToolSpec,
        caller: &Caller<'_>,
        arguments: Option<&JsonObject>,
        outcome: Result<&Value, Code>,
    ) {
        let (ServerEnd::Http { audit, .. }, Caller::Holder { principal, key, .. }) = (&self.0.end, caller) else {
            return;
        };
        let argument = |name: &str| arguments.and_then(|arguments| arguments.get(name));
        let named = ["workspace", "path"].into_iter().find_map(|name| argument(name)?.as_str());
        let NamedIds { ids, left_out } =
            NamedIds::of(arguments.into_iter().chain(outcome.ok().and_then(Value::as_object)));
        audit
            .append(AuditEntry {
                workspace: noted_key(principal, key.as_ref(), named).map(String::from),
                ids,
                more_ids: NonZeroU64::new(left_out),
                outcome: outcome.err().map_or("ok", Code::as_str),
                ..AuditEntry::by(principal, spec.name)
            })
            .await;
        if spec.erases() {
            audit.sync().await;
        }
    }

    /// Answers a call of a tool, if the caller may make it and there is room for it.
    async fn answer(
        &self,
        offered: &OfferedTool,
        caller: Caller<'_>,
        arguments: Option<&JsonObject>,
        client: ToolClient<'_>,
        cancel: CancellationToken,
    ) -> Result<Value, Interrupted> {
        let (spec, tool) = (offered.spec, offered.spec.name);
        let timed = self.0.end.timed(tool);
        let _served = self.0.system.activity.begin();
        // In the revisions with a handshake a call goes on when its client has left.
        let _in_work = self.0.end.work().map(TaskTracker::token);
        if !spec.may_be_called_by(&caller) {
            timed.into_iter().for_each(|timed| timed.ended(Code::PermissionDenied.as_str()));
            self.note(spec, &caller, arguments, Err(Code::PermissionDenied)).await;
            return Err(Error::PermissionDenied(spec.permission).into());
        }
        let ServerState { system, options, questions, requests, .. } = &*self.0;
        let (schema, judged_elsewhere) = (&*offered.definition.input_schema, spec.judged_elsewhere);
        let deadline = Deadline::after(MEMORY_DEADLINE);
        let calling = Calling {
            system,
            options,
            caller,
            questions,
            tool,
            schema,
            judged_elsewhere,
            arguments,
            client,
            requests,
            resolved: OnceLock::new(),
            keyed: OnceLock::new(),
            place: OnceLock::new(),
            cancel,
            deadline,
        };
        let answer = async {
            let solves = spec.permission == Permission::Solve;
            if let Some(place) = self.0.end.within_limits(&calling.caller, solves).await? {
                let _ = calling.place.set(place);
            }
            let _permit = if spec.may_wait_long() { None } else { self.0.end.admit().await? };
            let answer = spec.answer(&calling);
            match calling.client.key() {
                Some(key) => guarded(calling.once(key, answer)).await,
                None => guarded(answer).await,
            }
        };
        let ended = async {
            calling.caller.ended().await;
            calling.cancel.cancel();
            // The call ends by itself now.
            std::future::pending().await
        };
        let mut answer = tokio::select! {
            answer = answer.instrument(tracing::info_span!("tool_call", tool)) => answer,
            never = ended => never,
        };
        let outcome = match &answer {
            Ok(document) => Ok(document),
            Err(Interrupted::Asks(_)) => Err(Code::ConsentRequired),
            Err(Interrupted::Failed(error)) => Err(error.code()),
        };
        timed.into_iter().for_each(|timed| timed.ended(outcome.err().map_or("ok", Code::as_str)));
        if spec.changes_something() {
            self.note(spec, &calling.caller, arguments, outcome).await;
        }
        match &mut answer {
            // A document that an earlier version stored was cleaned by weaker rules, and a root is stored as it is.
            Ok(document) if calling.client.key().is_some() => {
                document.scrub();
            }
            Ok(document) => spec.scrub(document),
            Err(Interrupted::Asks(_)) => {}
            Err(Interrupted::Failed(error)) => {
                tracing::info!(tool, code = error.code().as_str(), "a call failed");
            }
        }
        answer.map_err(|interrupted| match interrupted {
            Interrupted::Failed(error) => calling.caller.told(error).into(),
            asks @ Interrupted::Asks(_) => asks,
        })
    }

    /// Answers a call of a script. Its request says who it is.
    ///
    /// # Errors
    /// The errors are those of the tool.
    pub(crate) async fn script(&self, request: &Parts, call: ScriptCall) -> Result<Value, Error> {
        let offered =
            self.offered(call.tool).ok_or_else(|| Error::internal("a route names a tool that does not exist"))?;
        let caller = self.0.end.caller(Some(request))?;
        let ScriptCall { arguments, if_revisions, progress, key, cancel, .. } = call;
        let client = ToolClient::Script { progress, key, if_revisions };
        match self.answer(offered, caller, Some(&arguments), client, cancel).await {
            Ok(document) => Ok(document),
            Err(Interrupted::Failed(error)) => Err(error),
            Err(Interrupted::Asks(_)) => Err(Error::internal("a script was asked a question")),
        }
    }

    /// Returns the work that goes on though its client is gone, for whoever begins and awaits such.
    pub(crate) fn work(&self) -> TaskTracker {
        self.0.end.work().cloned().unwrap_or_default()
    }

    /// Describes a tool, whether agents see it or not.
    pub(crate) fn described(&self, tool: &str) -> Option<DescribedTool<'_>> {
        let OfferedTool { spec, definition, .. } = self.offered(tool)?;
        Some(DescribedTool {
            name: &definition.name,
            title: definition.title.as_deref(),
            description: definition.description.as_deref(),
            arguments: &definition.input_schema,
            changes_something: spec.changes_something(),
        })
    }

    /// Makes the JSON Schema of the answer of a tool to a script.
    pub(crate) fn answer_schema(&self, tool: &str) -> Option<JsonObject> {
        Some(self.offered(tool)?.spec.answer_for_scripts())
    }

    fn offered(&self, tool: &str) -> Option<&OfferedTool> {
        self.0.tools.iter().find(|offered| offered.spec.name == tool)
    }

    /// Returns the tools that agents see.
    fn listed(&self) -> impl Iterator<Item = &OfferedTool> {
        self.0.tools.iter().filter(|offered| offered.is_listed)
    }

    /// Returns the tools that a caller may call.
    fn allowed<'a>(&'a self, caller: &'a Caller<'_>) -> impl Iterator<Item = &'a Tool> {
        let allowed = self.listed().filter(|offered| offered.spec.may_be_called_by(caller));
        allowed.map(|offered| &offered.definition)
    }

    /// Returns the caller of a request, or the error of the protocol that says why there is none.
    fn caller(&self, context: &RequestContext<RoleServer>) -> Result<Caller<'_>, ErrorData> {
        self.0.end.caller(context.extensions.get()).map_err(|error| ErrorData::invalid_request(error.to_string(), None))
    }

    /// Returns the caller of a request that is no call of a tool, if their token has not asked too often.
    fn caller_within_rate(&self, context: &RequestContext<RoleServer>) -> Result<Caller<'_>, ErrorData> {
        let caller = self.caller(context)?;
        self.0.end.within_rate(&caller).map_err(|error| failure::protocol_error(&error))?;
        Ok(caller)
    }

    /// Refuses a method that the server does not have. Asking for it counts as any other request does.
    fn no_method<M: ConstString>(&self, context: &RequestContext<RoleServer>) -> ErrorData {
        self.caller_within_rate(context).err().unwrap_or_else(ErrorData::method_not_found::<M>)
    }
}

/// Turns a panic in a tool into the end of its call, not of the server.
async fn guarded(call: impl Future<Output = Result<Value, Interrupted>>) -> Result<Value, Interrupted> {
    let caught = AssertUnwindSafe(call).catch_unwind().await;
    caught.unwrap_or_else(|_panic| Err(Error::internal("a tool panicked").into()))
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let mut instructions = format!(
            "ReasoningBank remembers what was learned from earlier tasks in this project. Call retrieve_memories before \
             starting a task and when an error occurs; call record_memory when you learned something that will matter \
             again; call report_outcome when you know what came of the memories you used. What it recalls is {QUOTED}."
        );
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

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        self.caller_within_rate(&context)?;
        context.peer.set_peer_info(request.clone());
        self.negotiate_initialize(&request)
    }

    async fn ping(&self, context: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        self.caller_within_rate(&context).map(drop)
    }

    async fn discover(&self, context: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        self.caller_within_rate(&context)?;
        let versions = self.supported_protocol_versions().into_owned();
        Ok(DiscoverResult::from_server_info(versions, self.get_info()))
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let caller = self.caller_within_rate(&context)?;
        Ok(ListToolsResult::with_all_items(self.allowed(&caller).cloned().collect()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.listed().find(|offered| offered.definition.name == name).map(|offered| offered.definition.clone())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let (caller, cancel) = (self.caller(&context)?, context.ct.clone());
        let Some(offered) = self.listed().find(|offered| offered.definition.name == request.name) else {
            if let Err(error) = self.0.end.within_rate(&caller) {
                return Ok(failure::tool_error(&error).into());
            }
            let known: Vec<&str> = self.allowed(&caller).map(|tool| tool.name.as_ref()).collect();
            let message = format!("unknown tool; the tools are {}", known.join(", "));
            return Err(ErrorData::invalid_params(message, None));
        };
        let client = ToolClient::Agent { request: &request, context };
        match self.answer(offered, caller, request.arguments.as_ref(), client, cancel).await {
            Ok(document) => Ok(CallToolResult::structured(document).into()),
            Err(Interrupted::Asks(question)) => Ok((*question).into()),
            Err(Interrupted::Failed(error)) => Ok(failure::tool_error(&error).into()),
        }
    }

    // There are tools and nothing else. What a client asks for all the same is no method, not an empty list.

    async fn complete(
        &self,
        _request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Err(self.no_method::<CompleteRequestMethod>(&context))
    }

    async fn get_prompt(
        &self,
        _request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        Err(self.no_method::<GetPromptRequestMethod>(&context))
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Err(self.no_method::<ListPromptsRequestMethod>(&context))
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Err(self.no_method::<ListResourcesRequestMethod>(&context))
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Err(self.no_method::<ListResourceTemplatesRequestMethod>(&context))
    }

    async fn read_resource(
        &self,
        _request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        Err(self.no_method::<ReadResourceRequestMethod>(&context))
    }

    async fn subscribe(
        &self,
        _request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Err(self.no_method::<SubscribeRequestMethod>(&context))
    }

    async fn unsubscribe(
        &self,
        _request: UnsubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Err(self.no_method::<UnsubscribeRequestMethod>(&context))
    }

    #[expect(deprecated, reason = "clients of the revisions with a handshake may still ask for it")]
    async fn set_level(
        &self,
        _request: rmcp::model::SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Err(self.no_method::<SetLevelRequestMethod>(&context))
    }

    /// Answers unknown methods. A known method with unreadable parameters arrives here as well.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        self.caller_within_rate(&context)?;
        if matches!(request.method.as_str(), "server/discover" | "tools/list" | "tools/call") {
            return Err(ErrorData::invalid_params(format!("malformed params of {}", request.method), None));
        }
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "unknown method", None))
    }
}

#[cfg(test)]
mod tests;
