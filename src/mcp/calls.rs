//! The calls of tools: from arguments to the system and back to a document.

use std::path::Path;
use std::time::Duration;

use reasoning_bank_actors::agents::Call;
use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::memories::WorkspaceRef;
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_actors::system::SystemHandle;
use reasoning_bank_domain::memory::Trust;
use reasoning_bank_domain::solve::Progress;
use reasoning_bank_domain::workspace::Proposed;
use rmcp::RoleServer;
use rmcp::model::JsonObject;
use rmcp::service::RequestContext;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::watch;
use uuid::Uuid;

use super::arguments::extract;
use super::progress;
use super::server::{DefaultWorkspace, McpOptions};
use super::tools::{Nothing, ToolKind, admin, capture, genealogy, jobs, record, report, retrieve, solve, workspaces};
use crate::{project, settings};

/// How long a call that needs no model may take.
const MEMORY_DEADLINE: Duration = Duration::from_secs(30);
/// Erasing rewrites what is left, and rebuilds indexes.
const ERASE_DEADLINE: Duration = Duration::from_secs(120);

/// One call and what it may use.
pub(super) struct Calling<'a> {
    pub(super) system: &'a SystemHandle,
    pub(super) options: &'a McpOptions,
    pub(super) default: &'a DefaultWorkspace,
    /// Names this process in what it reports.
    pub(super) session: &'a str,
    pub(super) schema: &'a JsonObject,
    pub(super) context: RequestContext<RoleServer>,
}

impl Calling<'_> {
    /// Ends at once when the client cancels; what the store has begun by then it finishes.
    pub(super) async fn answer(self, kind: ToolKind, arguments: Option<JsonObject>) -> Result<Value, Error> {
        let cancel = self.context.ct.clone();
        let answer = self.ask(kind, arguments);
        if kind == ToolKind::Solve {
            // It is told of the cancellation, and comes to an orderly end.
            return answer.await;
        }
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(Error::Cancelled),
            answer = answer => answer,
        }
    }

    async fn solve(&self, arguments: Option<JsonObject>) -> Result<Value, Error> {
        let arguments: solve::Arguments = self.extract(arguments, &[])?;
        let workspace = self.workspace(arguments.workspace.as_deref())?;
        let task = arguments.into_task(&self.options.defaults);
        let (sender, progress) = watch::channel(Progress::default());
        let deadline = Deadline::after(self.options.solve_deadline);
        let call = Call {
            cancel: self.context.ct.clone(),
            progress: Some(sender),
            proposed: self.proposed(&workspace, Deadline::after(MEMORY_DEADLINE)).await.unwrap_or_default(),
            ..Call::until(deadline)
        };
        let work = self.system.agents.solve(task, workspace, call);
        let token = self.context.meta.get_progress_token();
        document(&progress::reported(work, progress, token, &self.context.peer).await?)
    }

    async fn ask(&self, kind: ToolKind, arguments: Option<JsonObject>) -> Result<Value, Error> {
        let (memories, workspaces) = (&self.system.memories, &self.system.workspaces);
        let deadline = Deadline::after(MEMORY_DEADLINE);
        match kind {
            ToolKind::Solve => self.solve(arguments).await,
            ToolKind::Retrieve => {
                let arguments: retrieve::Arguments = self.extract(arguments, &[])?;
                let workspace = self.workspace(arguments.workspace.as_deref())?;
                let detail = arguments.detail;
                let proposed = self.proposed(&workspace, deadline).await?;
                let request = arguments.into_request(workspace, proposed, &self.options.defaults);
                let retrieved = memories.retrieve(request, deadline).await?;
                retrieve::document(&retrieved, detail).map_err(Error::internal)
            }
            ToolKind::Record => {
                let arguments: record::Arguments = self.extract(arguments, &record::JUDGED_BY_THE_MEMORY)?;
                let workspace = self.workspace(arguments.workspace.as_deref())?;
                document(&memories.record(arguments.into_request(workspace), deadline).await?)
            }
            ToolKind::Report => {
                let arguments: report::Arguments = self.extract(arguments, &report::JUDGED_BY_THE_MEMORY)?;
                let workspace = self.workspace(arguments.workspace.as_deref())?;
                let request = arguments.into_request(workspace, self.session.to_owned());
                document(&memories.feedback(request, deadline).await?)
            }
            ToolKind::Genealogy => {
                let arguments: genealogy::Arguments = self.extract(arguments, &[])?;
                let workspace = self.workspace(arguments.workspace.as_deref())?;
                let id = arguments.memory_id.into();
                document(&memories.genealogy(id, &workspace, arguments.depth, deadline).await?)
            }
            ToolKind::Statistics => {
                self.extract::<Nothing>(arguments, &[])?;
                document(&self.system.statistics(deadline).await?)
            }
            ToolKind::DistillSession => {
                let arguments: jobs::DistillArguments = self.extract(arguments, &[])?;
                let workspace = self.workspace(arguments.workspace.as_deref())?;
                document(&self.system.distiller.queue(arguments.into_work(), &workspace, deadline).await?)
            }
            ToolKind::GetJob => {
                let arguments: jobs::JobArguments = self.extract(arguments, &[])?;
                let workspace = self.workspace(arguments.workspace.as_deref())?;
                document(&self.system.distiller.job(arguments.job_id.into(), &workspace, deadline).await?)
            }
            ToolKind::Capture => {
                let arguments: capture::Arguments = self.extract(arguments, &[])?;
                let workspace = self.workspace(arguments.workspace.as_deref())?;
                let exchange = arguments.into_exchange(self.session);
                let captured = self.system.learner.capture(exchange, &workspace, Trust::Model, deadline).await?;
                document(&capture::Answer::from(captured))
            }
            ToolKind::ListWorkspaces => {
                self.extract::<Nothing>(arguments, &[])?;
                let current = match self.default.get() {
                    WorkspaceRef::Id(id) => id,
                    root => workspaces.resolve(&root, deadline).await?.workspace.id,
                };
                document(&workspaces::Workspaces { workspaces: workspaces.list(deadline).await?, current })
            }
            ToolKind::SwitchWorkspace => {
                let arguments: workspaces::SwitchArguments = self.extract(arguments, &[])?;
                let workspace = self.named("path", &arguments.path)?;
                let shown = workspaces.show(&workspace, deadline).await?;
                self.default.set(workspace);
                document(&shown)
            }
            ToolKind::DeleteWorkspace => {
                let arguments: workspaces::DeleteArguments = self.extract(arguments, &[])?;
                let all = workspaces.list(deadline).await?;
                let found = project::registered(&arguments.path, &self.options.base, self.options.identity, &all)
                    .map_err(|error| Error::invalid("path", error.to_string()))?;
                let found = found.ok_or_else(|| Error::WorkspaceUnknown(arguments.path.clone()))?;
                let workspace = WorkspaceRef::Id(found.id.clone());
                let erased = workspaces.delete(&workspace, Deadline::after(ERASE_DEADLINE)).await?;
                settings::clear_default(&self.options.data_dir, found).map_err(Error::internal)?;
                document(&admin::Removed::from(erased))
            }
            ToolKind::HealthCheck => {
                self.extract::<Nothing>(arguments, &[])?;
                document(&self.system.health(deadline).await)
            }
            ToolKind::ResetStatistics => {
                self.extract::<Nothing>(arguments, &[])?;
                self.system.reset_statistics();
                document(&self.system.statistics(deadline).await?)
            }
            ToolKind::GetMemory => {
                let arguments: admin::GetArguments = self.extract(arguments, &[])?;
                let workspace = self.workspace(arguments.workspace.as_deref())?;
                document(&memories.get(arguments.memory_id.into(), &workspace, deadline).await?)
            }
            ToolKind::UpdateMemory => {
                let arguments: admin::UpdateArguments = self.extract(arguments, &record::JUDGED_BY_THE_MEMORY)?;
                let workspace = self.workspace(arguments.workspace.as_deref())?;
                document(&memories.update(arguments.into_request(workspace), deadline).await?)
            }
            ToolKind::DeleteMemory => {
                let arguments: admin::DeleteArguments = self.extract(arguments, &[])?;
                let workspace = self.workspace(arguments.workspace.as_deref())?;
                let id: Uuid = arguments.memory_id;
                let erased = memories.delete(id.into(), &workspace, Deadline::after(ERASE_DEADLINE)).await?;
                document(&admin::Removed::from(erased))
            }
        }
    }

    /// What the checkout of a workspace asks for.
    async fn proposed(&self, workspace: &WorkspaceRef, deadline: Deadline) -> Result<Proposed, Error> {
        let root = self.system.workspaces.resolve(workspace, deadline).await?.workspace.root;
        Ok(settings::proposed(Path::new(&root)))
    }

    fn extract<T: DeserializeOwned>(
        &self,
        arguments: Option<JsonObject>,
        judged_elsewhere: &[&str],
    ) -> Result<T, Error> {
        extract(self.schema, arguments, judged_elsewhere)
    }

    fn workspace(&self, named: Option<&str>) -> Result<WorkspaceRef, Error> {
        named.map_or_else(|| Ok(self.default.get()), |text| self.named("workspace", text))
    }

    fn named(&self, argument: &'static str, text: &str) -> Result<WorkspaceRef, Error> {
        project::workspace(text, &self.options.base, self.options.identity)
            .map_err(|error| Error::invalid(argument, error.to_string()))
    }
}

fn document(answer: &impl Serialize) -> Result<Value, Error> {
    serde_json::to_value(answer).map_err(Error::internal)
}
