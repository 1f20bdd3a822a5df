//! The commands `context` and `recover`: what helps with a task, and what helps with an error.

use std::path::Path;

use reasoning_bank_actors::context::{ContextRequest, RecoveryRequest};
use reasoning_bank_actors::system::SystemHandle;
use reasoning_bank_domain::memory::workspace::ProposedScopes;

use super::args::{ContextArgs, RecoverArgs};
use super::bank::BankCaller;
use super::failure::{CommandExit, CommandFailure};
use super::output::Output;
use super::pattern::context_map;
use super::render;
use super::session::{request_deadline, with_searching_bank};
use crate::settings::{self, Loaded, SettingSources};

pub(super) fn context(
    args: ContextArgs,
    loaded: &Loaded,
    sources: &SettingSources,
    output: Output,
) -> Result<CommandExit, CommandFailure> {
    let request = ContextRequest {
        domain: args.domain,
        task_type: args.task_type,
        context: context_map(&args.context)?,
        budget_tokens: args.budget_tokens,
        work_tree: BankCaller { loaded, directory: &sources.directory }.work_tree(),
        ..ContextRequest::new(args.task, loaded.workspace.clone())
    };
    let answer = with_searching_bank(loaded, async |bank| {
        let request = ContextRequest { proposed: proposed(loaded, &bank).await?, ..request };
        Ok(bank.context.for_task(request, request_deadline()).await?)
    })?;
    output.answer(&answer, render::context)
}

pub(super) fn recover(args: RecoverArgs, loaded: &Loaded, output: Output) -> Result<CommandExit, CommandFailure> {
    let request = RecoveryRequest { task: args.task, ..RecoveryRequest::new(args.error, loaded.workspace.clone()) };
    let advice = with_searching_bank(loaded, async |bank| {
        let request = RecoveryRequest { proposed: proposed(loaded, &bank).await?, ..request };
        Ok(bank.context.recovery(request, request_deadline()).await?)
    })?;
    output.answer(&advice, render::recovery)
}

/// Reads what the checkout of the workspace proposes.
async fn proposed(loaded: &Loaded, bank: &SystemHandle) -> Result<ProposedScopes, CommandFailure> {
    let root = bank.workspaces.resolve(&loaded.workspace, request_deadline()).await?.workspace.root;
    Ok(settings::proposed(Path::new(&root)))
}
