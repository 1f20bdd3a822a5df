//! Imports: what a file may bring into a bank. There are bounds for every file, and bounds for the claims of a file
//! that nobody vouches for. Adapters read the file.

use jiff::{SignedDuration, Timestamp};

use crate::episode::{EpisodeState, REFERENCES_MAX};
use crate::evidence::confidence::prior;
use crate::evidence::stability::names_commit;
use crate::learning::job::{Job, SESSION_MAX_CHARS, TRANSCRIPT_MAX_CHARS, Work};
use crate::memory::trace::{TASK_MAX_CHARS, Trace, TraceMetadata, VerdictSource};
use crate::memory::workspace::{ROOT_MAX_BYTES, SharedWorkspace, Workspace, WorkspaceId, check_name};
use crate::memory::{
    FieldProblem, Memory, REPLACED_MAX, Scope, SourceType, Succession, Trust, check_count, check_length,
};

/// The highest revision that a file may name. It is above every revision that an earlier version could store, and so
/// far below the last possible one that nobody gets there by changing something.
pub const REVISION_MAX: u64 = 1 << 40;
/// The latest stage that a file nobody vouches for may claim.
pub const STAGE_MAX: u32 = 1_000;
/// The most memories that a memory or a trace may name as those it came from, used or left.
pub const LINKS_MAX: usize = 10_000;
/// The most steps of a trace, several times what the longest solve makes.
pub const STEPS_MAX: usize = 10_000;
/// The most passages of a memory, several times what the longest text is cut into.
pub const PASSAGES_MAX: usize = 10_000;
/// The longest that a time may lie ahead of the clock, because the clocks of several machines disagree.
const AHEAD: SignedDuration = SignedDuration::from_hours(24);

/// The source of a file, by who vouches for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The user vouches for it, so it is taken at its word.
    Backup,
    /// Nobody vouches for it. `now` is the time at which it is read.
    Stranger { now: Timestamp },
}

/// Finds what is wrong with a memory of a file, beside what [`Memory::validate`] finds.
pub fn problems_of_memory(memory: &Memory, source: Source) -> Vec<FieldProblem> {
    let names = [("team", &memory.team), ("org", &memory.org), ("embedder", &memory.embedder)];
    let mut problems: Vec<FieldProblem> = names.into_iter().filter_map(|(field, name)| bad_name(field, name)).collect();
    let session = memory.source_session.as_deref().unwrap_or_default();
    problems.extend(too_long("source_session", session, SESSION_MAX_CHARS));
    problems.extend(too_high("revision", memory.revision));
    problems.extend(too_many("derived_from", memory.derived_from.len(), LINKS_MAX));
    problems.extend(too_many("quarantined_for", memory.quarantined_for.len(), LINKS_MAX));
    let Succession { replaces, stands_beside, .. } = &memory.succession;
    problems.extend(too_many("succession.replaces", replaces.len(), REPLACED_MAX));
    problems.extend(too_many("succession.stands_beside", stands_beside.len(), REPLACED_MAX));
    let link = memory.succession.outdated_by.and_then(|newer| newer.confidence);
    if link.is_some_and(|confidence| !(0.0..=1.0).contains(&confidence)) {
        problems.push(FieldProblem::new("succession.outdated_by", "has a confidence that does not lie in 0..=1"));
    }
    if let (scope, None) = memory.owner() {
        problems.push(FieldProblem::new(scope.as_str(), "is missing, as the scope asks for it"));
    }
    if let Source::Stranger { now } = source {
        problems.extend(too_long("task", &memory.task, TASK_MAX_CHARS));
        problems.extend(bad_time("created_at", memory.created_at, now));
        problems.extend(bad_time("updated_at", memory.updated_at, now));
        problems.extend(memory.valid_from.and_then(|at| bad_time("valid_from", at, now)));
    }
    problems
}

/// Finds what is wrong with a trace of a file.
pub fn problems_of_trace(trace: &Trace, source: Source) -> Vec<FieldProblem> {
    let is_score = |score: f64| (0.0..=1.0).contains(&score);
    let mut problems: Vec<FieldProblem> = too_high("revision", trace.revision).into_iter().collect();
    problems.extend(too_many("trajectory", trace.trajectory.len(), STEPS_MAX));
    problems.extend(too_many("memory_items", trace.memory_items.len(), LINKS_MAX));
    problems.extend(too_many("memories_used", trace.memories_used.len(), LINKS_MAX));
    if let Some(commit) = trace.commit.as_deref().filter(|commit| !names_commit(commit)) {
        let chars = commit.chars().count();
        problems.push(FieldProblem::new(
            "commit",
            format!("has {chars} characters that are no 7 to 64 hexadecimal digits"),
        ));
    }
    let session = trace.metadata.source_session.as_deref().unwrap_or_default();
    problems.extend(too_long("metadata.source_session", session, SESSION_MAX_CHARS));
    if trace.final_score.is_some_and(|score| !is_score(score)) {
        problems.push(FieldProblem::new("final_score", "does not lie in 0..=1"));
    }
    if trace.trajectory.iter().filter_map(|step| step.score).any(|score| !is_score(score)) {
        problems.push(FieldProblem::new("trajectory", "has a score that does not lie in 0..=1"));
    }
    if let Source::Stranger { now } = source {
        problems.extend(too_long("task", &trace.task, TASK_MAX_CHARS));
        problems.extend(bad_time("created_at", trace.created_at, now));
    }
    problems
}

/// Finds what is wrong with the state of an episode of a file.
pub fn problem_of_episode_state(state: &EpisodeState) -> Option<FieldProblem> {
    too_many("episode_state.referenced_by", state.referenced_by.len(), REFERENCES_MAX)
}

/// Finds what is wrong with a job of a file.
pub fn problems_of_job(job: &Job) -> Vec<FieldProblem> {
    let texts = match &job.work {
        None if job.is_over() => Vec::new(),
        None => return vec![FieldProblem::new("work", "is missing, as the job is not over")],
        Some(Work::Distill { session_id, transcript, .. }) => {
            vec![
                ("work.session_id", session_id, SESSION_MAX_CHARS),
                ("work.transcript", transcript, TRANSCRIPT_MAX_CHARS),
            ]
        }
        Some(Work::Capture { question, answer, session_id }) => {
            let texts = [("work.question", question), ("work.answer", answer)];
            let session = session_id.iter().map(|session| ("work.session_id", session, SESSION_MAX_CHARS));
            texts.map(|(field, text)| (field, text, TRANSCRIPT_MAX_CHARS)).into_iter().chain(session).collect()
        }
    };
    texts.into_iter().filter_map(|(field, text, most)| too_long(field, text, most)).collect()
}

/// Finds what is wrong with a workspace of a file.
pub fn problems_of_workspace(workspace: &Workspace, source: Source) -> Vec<FieldProblem> {
    let names = [("workspace.team", &workspace.team), ("workspace.org", &workspace.org)];
    let mut problems: Vec<FieldProblem> = names.into_iter().filter_map(|(field, name)| bad_name(field, name)).collect();
    problems.extend(too_high("workspace.revision", workspace.revision));
    if workspace.root.len() > ROOT_MAX_BYTES || workspace.root.contains(char::is_control) {
        let what = format!("has more than {ROOT_MAX_BYTES} bytes or control characters");
        problems.push(FieldProblem::new("workspace.root", what));
    }
    if workspace.key.is_some() && !workspace.root.is_empty() {
        problems.push(FieldProblem::new("workspace.root", "must be empty where there is a key".to_owned()));
    }
    if let Source::Stranger { now } = source {
        problems.extend(bad_time("workspace.created_at", workspace.created_at, now));
    }
    problems
}

/// The readers for whose sake a memory is left out. A file that nobody vouches for shares the memory with them, but the
/// memory's workspace is not trusted with them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct UntrustedReaders {
    pub scope: Scope,
    /// The name of the team or the organisation.
    pub readers: String,
}

/// Returns a memory of a file that nobody vouches for, as it may be stored. `home` is the workspace it belongs to, as
/// this bank knows it. The memory keeps its words and its status. It loses every claim that anybody trusts it, has
/// pinned it or has seen it succeed. The caller checks its links against the file.
///
/// # Errors
///
/// The memory is shared with a team or an organisation that `home` is not trusted with.
pub fn untrusted(memory: Memory, home: Option<&Workspace>) -> Result<Memory, UntrustedReaders> {
    let (scope, named) = memory.owner();
    let agreed = home.and_then(|home| home.readers(scope));
    if scope != Scope::Project && (named.is_none() || named != agreed) {
        return Err(UntrustedReaders { scope, readers: named.unwrap_or_default().to_owned() });
    }
    Ok(Memory {
        revision: 1,
        team: memory.team.filter(|_| memory.scope == Scope::Team),
        org: memory.org.filter(|_| memory.scope == Scope::Org),
        source_type: SourceType::Imported,
        source_session: None,
        trust: Trust::Model,
        evolution_stage: memory.evolution_stage.min(STAGE_MAX),
        prior: memory.prior.min(prior(SourceType::Imported, None)),
        pinned: false,
        quarantined_for: Vec::new(),
        succession: Succession::default(),
        trace_id: None,
        trace_outcome: None,
        // Nobody vouches for what its applications are said to have shown.
        pattern: memory.pattern.map(|part| Box::new(part.as_candidate())),
        ..memory
    })
}

/// Returns a workspace of a file that nobody vouches for, as it may be stored. It is trusted with nobody's memories. It
/// keeps its directory or its key only where its id follows from that, because otherwise it would stand where another
/// workspace is looked for. So the key of a team's workspace is lost with the team.
pub fn untrusted_workspace(workspace: Workspace) -> Workspace {
    let root = Some(workspace.root).filter(|root| WorkspaceId::of_root(root) == workspace.id).unwrap_or_default();
    let key = workspace.key.filter(|key| {
        let without_team = SharedWorkspace { key: key.clone(), team: None, org: None };
        without_team.id() == workspace.id
    });
    Workspace { revision: 0, root, key, team: None, org: None, ..workspace }
}

/// Returns a trace of a file that nobody vouches for, as it may be stored: it says what was tried, and is evidence
/// about no memory.
pub fn untrusted_trace(mut trace: Trace) -> Trace {
    if let Some(parts) = trace.episode.as_deref_mut() {
        parts.metadata.strategies_applied.clear();
        parts.reflection.patterns_discovered.clear();
        parts.consolidated.iter_mut().for_each(|told| told.common_patterns.clear());
    }
    Trace {
        revision: 0,
        verdict_source: match trace.verdict_source {
            VerdictSource::Evidence => VerdictSource::None,
            other => other,
        },
        evidence: None,
        evidence_reported: false,
        memory_items: Vec::new(),
        memories_used: Vec::new(),
        commit: None,
        metadata: TraceMetadata { source_session: None, ..trace.metadata },
        ..trace
    }
}

/// Returns the state of an episode of a file that nobody vouches for, as it may be stored. What hides the episode
/// stays. Its accesses are not taken, because they would rank it higher and keep it young.
pub fn untrusted_episode_state(state: EpisodeState, now: Timestamp) -> EpisodeState {
    EpisodeState {
        access_count: 0,
        last_accessed: None,
        archived_at: state.archived_at.map(|at| at.min(now)),
        deleted_at: state.deleted_at.map(|at| at.min(now)),
        ..state
    }
}

/// Finds what is wrong with the time of something that happened. A time far ahead would never fade and always be
/// newest. None where the time is possible.
pub fn bad_time(field: &'static str, at: Timestamp, now: Timestamp) -> Option<FieldProblem> {
    if at < Timestamp::UNIX_EPOCH {
        return Some(FieldProblem::new(field, "is before 1970"));
    }
    let latest = now.saturating_add(AHEAD).unwrap_or(now);
    (at > latest)
        .then(|| FieldProblem::new(field, format!("is {at}, which is more than a day ahead of the clock here")))
}

fn bad_name(field: &'static str, name: &Option<String>) -> Option<FieldProblem> {
    check_name(field, name.as_deref()?).err()
}

fn too_high(field: &'static str, revision: u64) -> Option<FieldProblem> {
    (revision > REVISION_MAX)
        .then(|| FieldProblem::new(field, format!("is {revision}; at most {REVISION_MAX} is allowed")))
}

fn too_many(field: &'static str, items: usize, max: usize) -> Option<FieldProblem> {
    check_count(field, items, "items", max).err()
}

fn too_long(field: &'static str, text: &str, max: usize) -> Option<FieldProblem> {
    check_length(field, text, max).err()
}

#[cfg(test)]
mod tests;
