//! The commands of `episode`: what happened in tasks is kept, found, shown, archived, deleted and restored.

use std::path::Path;

use reasoning_bank_actors::context::{GivenContext, LearnEpisode};
use reasoning_bank_actors::episodes::{EpisodeListRequest, EpisodeQuery, RecordEpisode, Shown};
use reasoning_bank_actors::error::Error;
use reasoning_bank_domain::context::{ContextForTask, ShownContext};
use reasoning_bank_domain::episode::{ARTEFACT_MAX_BYTES, EpisodeStatus, NewArtefact, NewEpisode, Strategy};
use reasoning_bank_domain::memory::Scope;
use reasoning_bank_domain::memory::ids::TraceId;
use reasoning_bank_domain::memory::trace::FailureAnalysis;
use reasoning_bank_domain::retrieval::conditions::TimeRange;
use uuid::Uuid;

use super::args::{EpisodeCommand, EpisodeListArgs, EpisodeSearchArgs, LearnEpisodeArgs, RecordEpisodeArgs, Sure};
use super::confirm::confirm;
use super::failure::{CommandExit, CommandFailure};
use super::output::Output;
use super::session::{request_deadline, rewrite_deadline, with_bank, with_searching_bank};
use super::{input, render};
use crate::settings::Loaded;

/// The text between an error and what resolved it.
const RESOLVED_BY: &str = " => ";

pub(super) fn command(command: EpisodeCommand, loaded: &Loaded, output: Output) -> Result<CommandExit, CommandFailure> {
    let workspace = &loaded.workspace;
    match command {
        EpisodeCommand::Record(args) => {
            let episode = episode_of(*args)?;
            let session = episode.session_id.clone();
            let recorded = with_searching_bank(loaded, async |bank| {
                let request = RecordEpisode { episode, workspace: workspace.clone(), session };
                Ok(bank.episodes.record(request, request_deadline()).await?)
            })?;
            output.answer(&recorded, render::episode_reported)
        }
        EpisodeCommand::Learn(args) => learn(*args, loaded, output),
        EpisodeCommand::Search(args) => search(query_of(args, loaded), loaded, output),
        EpisodeCommand::Failures { error, k } => {
            let strategy = if error.is_some() { Strategy::Failure } else { Strategy::Structured };
            let request = EpisodeQuery::new(workspace.clone(), strategy, error, k.into());
            search(EpisodeQuery { with_failures: true, ..request }, loaded, output)
        }
        EpisodeCommand::Get { id } => {
            let episode =
                with_bank(loaded, async |bank| Ok(bank.episodes.get(id, workspace, request_deadline()).await?))?;
            output.answer(&episode, render::episode)
        }
        EpisodeCommand::Artefact { id, name, out } => artefact(id, &name, out.as_deref(), loaded, output),
        EpisodeCommand::List(args) => {
            let request = list_of(args, loaded);
            let listed = with_bank(loaded, async |bank| Ok(bank.episodes.list(request, request_deadline()).await?))?;
            output.answer(&listed, render::episodes)
        }
        EpisodeCommand::Archive { id } => {
            let archived =
                with_bank(loaded, async |bank| Ok(bank.episodes.archive(id, workspace, request_deadline()).await?))?;
            output.answer(&archived, render::episode_archived)
        }
        EpisodeCommand::Delete { id, now: true, sure } => erase(id, sure, loaded, output),
        EpisodeCommand::Delete { id, .. } => {
            let deleted =
                with_bank(loaded, async |bank| Ok(bank.episodes.delete(id, workspace, request_deadline()).await?))?;
            output.answer(&deleted, render::episode_deleted)
        }
        EpisodeCommand::Restore { id } => {
            let restored =
                with_bank(loaded, async |bank| Ok(bank.episodes.restore(id, workspace, request_deadline()).await?))?;
            output.answer(&restored, render::episode_restored)
        }
        EpisodeCommand::Purge { all, sure } => {
            if all {
                confirm("Erase all deleted episodes of the workspace for good", sure)?;
            }
            let purged =
                with_bank(loaded, async |bank| Ok(bank.episodes.purge(workspace, all, rewrite_deadline()).await?))?;
            output.answer(&purged, render::episodes_purged)
        }
    }
}

fn learn(args: LearnEpisodeArgs, loaded: &Loaded, output: Output) -> Result<CommandExit, CommandFailure> {
    let episode = episode_of(args.episode)?;
    let shown = match &args.context {
        Some(_) if episode.session_id.is_some() => {
            return Err(CommandFailure::usage(
                "session_id: does not belong beside --context, which is a session itself",
            ));
        }
        Some(path) => {
            let answer: ContextForTask = input::document(&input::read(path)?)?;
            Some(ShownContext::of(&answer, &episode.task.original_input, None, None))
        }
        None => None,
    };
    // A context is the session of its task; without one, every call by hand is a session of its own.
    let session = match &shown {
        Some(shown) => shown.context_id.to_string(),
        None => episode.session_id.clone().unwrap_or_else(|| Uuid::now_v7().to_string()),
    };
    let told = LearnEpisode {
        workspace: loaded.workspace.clone(),
        context: shown.map(GivenContext::Shown),
        status: episode.outcome.status,
        episode: Some(episode),
        insights: Vec::new(),
        session: session.as_str().into(),
        counts_in: Scope::SHARED.to_vec(),
    };
    let learned = with_searching_bank(loaded, async |bank| Ok(bank.context.learn(told, request_deadline()).await?))?;
    output.answer(&learned, render::learned_episode)
}

fn search(request: EpisodeQuery, loaded: &Loaded, output: Output) -> Result<CommandExit, CommandFailure> {
    let found =
        with_searching_bank(loaded, async |bank| Ok(bank.episodes.search(request, request_deadline()).await?))?;
    output.answer(&found, render::episodes_found)
}

fn erase(id: TraceId, sure: Sure, loaded: &Loaded, output: Output) -> Result<CommandExit, CommandFailure> {
    confirm(&format!("Erase the episode {id} for good, with its trace"), sure)?;
    let erased =
        with_bank(loaded, async |bank| Ok(bank.episodes.erase(id, &loaded.workspace, rewrite_deadline()).await?))?;
    output.answer(&erased, render::episode_deleted)
}

fn artefact(
    id: TraceId,
    name: &str,
    out: Option<&Path>,
    loaded: &Loaded,
    output: Output,
) -> Result<CommandExit, CommandFailure> {
    let workspace = &loaded.workspace;
    let artefact =
        with_bank(loaded, async |bank| Ok(bank.episodes.artefact(id, workspace, name, request_deadline()).await?))?;
    if let Some(path) = out {
        input::write_new(path, &artefact.content)?;
        return output.answer(&artefact.reference, |reference| render::artefact_written(reference, path));
    }
    let text = artefact.whole_text().map_err(Error::from)?;
    output.answer(&text, render::artefact_text)
}

fn episode_of(args: RecordEpisodeArgs) -> Result<NewEpisode, CommandFailure> {
    let mut episode = match &args.file {
        Some(path) => input::document_by_schema(&input::read(path)?, &[])?,
        None => told_in(&args),
    };
    for path in &args.artefacts {
        episode.artefacts.push(artefact_of(path, args.binary)?);
    }
    Ok(episode)
}

/// Reads a file that is kept with an episode, under the file's name.
fn artefact_of(path: &Path, may_be_binary: bool) -> Result<NewArtefact, CommandFailure> {
    let content = input::read_bytes(path, ARTEFACT_MAX_BYTES as u64)?;
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    let new = NewArtefact { name, text: String::new(), media_type: None, binary: None };
    match String::from_utf8(content) {
        Ok(text) => Ok(NewArtefact { text, ..new }),
        Err(error) if may_be_binary => Ok(NewArtefact { binary: Some(error.into_bytes()), ..new }),
        Err(_) => {
            let problem = "is no text in UTF-8, so secrets cannot be taken out of it; --binary keeps it as it is";
            Err(CommandFailure::usage(format!("--artefact: {} {problem}", path.display())))
        }
    }
}

fn told_in(args: &RecordEpisodeArgs) -> NewEpisode {
    let status = args.status.map_or(EpisodeStatus::Partial, Into::into);
    let mut episode = NewEpisode::new(args.task.clone().unwrap_or_default(), status);
    episode.outcome.parts.primary_output = args.output.clone();
    episode.task.parts.parsed_goals = args.goals.clone();
    episode.reflection.insights = args.insights.clone();
    episode.reflection.failures_analyzed = args.failures.iter().map(|text| failure_of(text)).collect();
    episode.metadata.tools_used = args.tools.clone();
    episode.metadata.tags = args.tags.clone();
    episode.metadata.domain = args.domain.clone();
    episode.metadata.task_type = args.task_type.clone();
    episode.session_id = args.session.clone();
    episode
}

fn failure_of(text: &str) -> FailureAnalysis {
    let (error, resolution) = match text.split_once(RESOLVED_BY) {
        Some((error, resolution)) => (error, Some(resolution.trim().to_owned())),
        None => (text, None),
    };
    FailureAnalysis { error: error.trim().to_owned(), resolution, ..FailureAnalysis::default() }
}

fn query_of(args: EpisodeSearchArgs, loaded: &Loaded) -> EpisodeQuery {
    EpisodeQuery {
        min_relevance: args.min_relevance,
        domain: args.domain,
        task_type: args.task_type,
        status: args.status.map(|status| EpisodeStatus::from(status).into()),
        tools: args.tools,
        tags: args.tags,
        session: args.session,
        made: TimeRange { since: args.since, until: args.until },
        prefer_recent: args.prefer_recent,
        only_successful: args.only_successful,
        include_archived: args.include_archived,
        ..EpisodeQuery::new(loaded.workspace.clone(), args.strategy.into(), args.query, args.k.into())
    }
}

fn list_of(args: EpisodeListArgs, loaded: &Loaded) -> EpisodeListRequest {
    let shown = match (args.archived, args.deleted) {
        (_, true) => Shown::Deleted,
        (true, false) => Shown::WithArchived,
        (false, false) => Shown::Current,
    };
    EpisodeListRequest {
        shown,
        domain: args.domain,
        task_type: args.task_type,
        status: args.status.map(|status| EpisodeStatus::from(status).into()),
        after: args.page.after.map(TraceId::from),
        ..EpisodeListRequest::new(loaded.workspace.clone(), args.page.limit.into())
    }
}
