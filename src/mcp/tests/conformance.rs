//! The server that the official conformance suite wants: a handler with the suite's own tools, prompts and resources,
//! behind the daemon's HTTP edge. Its definitions and its answers are in two JSON documents. `dialogues` answers the
//! calls that need something of the client first.
//!
//! `scripts/clients/run` starts it from the binary of the unit tests. So no part of it is in the product, and nothing
//! more has to be linked.

// The suite also asks for what the newest revision has deprecated.
#![expect(deprecated)]

mod answers;
mod dialogues;

use std::env;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use reasoning_bank_actors::system::System;
use reasoning_bank_actors::testkit::memory_store::MemStore;
use reasoning_bank_actors::testkit::{Scripted, parts};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, CompleteRequestParams, CompleteResult,
    CompletionInfo, ContentBlock, GetPromptRequestParams, GetPromptResponse, GetPromptResult, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, LoggingLevel, LoggingMessageNotificationParam,
    PaginatedRequestParams, ProgressNotificationParam, PromptListChangedNotification, ReadResourceRequestParams,
    ReadResourceResponse, ReadResourceResult, ServerCapabilities, ServerConfig, ServerNotification,
    SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter, Tool, ToolListChangedNotification,
    UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, ServiceError, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;

use crate::http::{ApiRoutes, Daemon};
use crate::mcp::http_route;
use crate::metrics::ServerMetrics;
use crate::settings::{DEFAULTS, HttpSection};
use answers::{Answers, defined};
use dialogues::{Dialogues, Turn};

#[derive(Clone)]
struct SuiteHandler(Arc<SuiteState>);

struct SuiteState {
    answers: Answers,
    dialogues: Dialogues,
    /// The notifications for clients that listen and asked for them.
    changes: broadcast::Sender<ServerNotification>,
}

impl SuiteHandler {
    fn new() -> Self {
        let (answers, dialogues) = (Answers::read(), Dialogues::read());
        Self(Arc::new(SuiteState { answers, dialogues, changes: broadcast::Sender::new(16) }))
    }
}

fn text(text: impl Into<String>) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(text)])
}

fn unknown(what: &str, name: &str) -> ErrorData {
    ErrorData::invalid_params(format!("there is no {what} {name}"), None)
}

fn failed(error: ServiceError) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

async fn logged(context: &RequestContext<RoleServer>, level: LoggingLevel, what: &str) -> Result<(), ErrorData> {
    let message = LoggingMessageNotificationParam::new(level, what.into()).with_logger("conformance");
    context.peer.notify_logging_message(message).await.map_err(failed)
}

impl ServerHandler for SuiteHandler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_completions()
            .enable_logging()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_tools()
            .enable_tool_list_changed();
        ServerConfig::new(capabilities.build())
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(defined())
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        defined::<ListToolsResult>().tools.into_iter().find(|tool| tool.name == name)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let own = &*self.0;
        let capabilities = context.client_capabilities().unwrap_or_default();
        let (responses, state) = (request.input_responses.as_ref(), request.request_state.as_deref());
        match own.dialogues.turn(&request.name, responses, state, &capabilities)? {
            Some(Turn::Asks(question)) => return Ok(question.into()),
            Some(Turn::Done) => return Ok(text("The client has answered.").into()),
            None => {}
        }
        let arguments = request.arguments.unwrap_or_default();
        if let Some(content) = own.answers.tool(&request.name) {
            return Ok(CallToolResult::success(content).into());
        }
        if let Some(question) = own.answers.question(&request.name, &arguments) {
            let answer = dialogues::asked(question, &context.peer).await.map_err(failed)?;
            return Ok(text(format!("The client has answered: {answer}")).into());
        }
        let done = match &*request.name {
            "test_error_handling" => {
                let content = ContentBlock::text("This tool intentionally returns an error for testing");
                CallToolResult::error(vec![content])
            }
            "test_tool_with_logging" => {
                for what in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
                    logged(&context, LoggingLevel::Info, what).await?;
                }
                text("It has logged.")
            }
            "test_logging_tool" => {
                if let Some(level) = context.meta.log_level() {
                    logged(&context, level, "The request asked for this.").await?;
                }
                text("It has logged what it was asked for.")
            }
            "test_tool_with_progress" => {
                for progress in [0.0, 50.0, 100.0] {
                    let Some(token) = context.meta.get_progress_token() else { break };
                    let progress = ProgressNotificationParam::new(token, progress).with_total(100.0);
                    context.peer.notify_progress(progress).await.map_err(failed)?;
                }
                text("It has reported.")
            }
            "test_custom_header" => text(arguments.get("value").and_then(|value| value.as_str()).unwrap_or_default()),
            "test_missing_capability" if capabilities.sampling.is_none() => {
                let needed = ClientCapabilities::builder().enable_sampling().build();
                return Err(ErrorData::missing_required_client_capability(needed));
            }
            "test_missing_capability" => text("The client has a model."),
            "test_trigger_tool_change" => {
                // Nobody has to listen.
                let _ = own.changes.send(ToolListChangedNotification::default().into());
                text("The tools have changed.")
            }
            "test_trigger_prompt_change" => {
                let _ = own.changes.send(PromptListChangedNotification::default().into());
                text("The prompts have changed.")
            }
            name => return Err(unknown("tool", name)),
        };
        Ok(done.into())
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(defined())
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let own = &*self.0;
        let capabilities = context.client_capabilities().unwrap_or_default();
        let (responses, state) = (request.input_responses.as_ref(), request.request_state.as_deref());
        if let Some(Turn::Asks(question)) = own.dialogues.turn(&request.name, responses, state, &capabilities)? {
            return Ok(question.into());
        }
        let messages = own.answers.prompt(&request.name, &request.arguments.unwrap_or_default());
        let messages = messages.ok_or_else(|| unknown("prompt", &request.name))?;
        Ok(GetPromptResult::new(messages).into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let begun = request.argument.value;
        let values = ["paris", "park", "party"].into_iter().filter(|value| value.starts_with(&begun));
        let completion = CompletionInfo::new(values.map(str::to_owned).collect());
        Ok(CompleteResult::new(completion.map_err(|error| ErrorData::internal_error(error, None))?))
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(defined())
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(defined())
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let contents = self.0.answers.resource(&request.uri).ok_or_else(|| {
            let data = serde_json::json!({"uri": request.uri});
            ErrorData::resource_not_found("there is no such resource", Some(data))
        })?;
        Ok(ReadResourceResult::new(contents).into())
    }

    async fn subscribe(
        &self,
        _request: SubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn unsubscribe(
        &self,
        _request: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn set_level(
        &self,
        _request: SetLevelRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.supported_by(&self.get_info().capabilities))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = self.0.changes.subscribe();
        loop {
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                Ok(change) = changes.recv() => {
                    // A change that the listener did not ask for is refused here.
                    let _ = context.sink().send(change).await;
                }
            }
        }
    }
}

/// Serves with the tokens of the data directory that the environment names, on a free port, which the first line says.
/// It ends on SIGTERM.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "it is a server, which scripts/clients/run starts"]
async fn serve() {
    let data_dir = PathBuf::from(env::var_os("REASONING_BANK_DATA_DIR").expect("the data directory with the token"));
    let defaults: toml::Table = DEFAULTS.parse().unwrap();
    let defaults: HttpSection = defaults["http"].clone().try_into().unwrap();
    let options = HttpSection { listen: "127.0.0.1:0".parse().unwrap(), ..defaults };
    let system = System::start(parts(Arc::new(MemStore::new()), Scripted::new())).await.unwrap();
    let daemon = Daemon::bind(&options, &data_dir).await.unwrap();
    assert!(daemon.needs_token(), "there is a token, so that each request is authenticated");

    let (end, mut asked_to_end) = (CancellationToken::new(), signal(SignalKind::terminate()).unwrap());
    writeln!(io::stdout(), "the suite's server listens on http://{}/mcp", daemon.address()).unwrap();
    let route = http_route(SuiteHandler::new());
    let served =
        daemon.serve_route(system.handle(), route, ApiRoutes::default(), Arc::<ServerMetrics>::default(), end.clone());
    let ended = async {
        asked_to_end.recv().await;
        end.cancel();
    };
    tokio::join!(served, ended);
    system.stop(Duration::from_secs(5)).await;
}
