//! The answers to hooks: what is known of a project, of a prompt, and of an error.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use reasoning_bank_actors::memories::RetrieveRequest;
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_actors::system::SystemHandle;
use reasoning_bank_actors::working::{LOCAL_OWNER, ListedTask};
use reasoning_bank_actors::workspaces::WorkspaceRef;
use reasoning_bank_clients::{HookCall, HookEvent};
use reasoning_bank_domain::memory::gist;
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::memory::signature::{PrintedFailure, ToldFailure};
use reasoning_bank_domain::memory::workspace::WorkspaceId;
use reasoning_bank_domain::prompt::{one_line, quoted_lines, recalled_notes};
use reasoning_bank_domain::retrieval::conditions::Conditions;
use reasoning_bank_domain::retrieval::responses::{Explained, MemoryView, RecalledView};
use reasoning_bank_domain::retrieval::standalone::stands_alone;
use reasoning_bank_domain::safety::secrets::redact;
use reasoning_bank_domain::text::shortened;
use reasoning_bank_domain::working::session_of;
use tokio::sync::Mutex as AsyncMutex;
use tokio::task::spawn_blocking;
use tokio::time::timeout_at;

use super::question::{HookQuestion, SpoolEntry, WorkedWarnings};
use super::sessions::{SessionTold, ShownSessions};
use super::spool;
use crate::project::{self, Identity};
use crate::recall_log::{RecallEntry, RecallLog};

/// A prompt gets its vector within this time, or is searched by its words alone.
const EMBEDDING_TIMEOUT: Duration = Duration::from_millis(50);
const READ_AHEAD_TIMEOUT: Duration = Duration::from_secs(10);
const SHOWN_MAX: usize = 3;
/// The number of memories that are looked at, because some of them were shown before, or share no more than a
/// signature.
const CONSIDERED: usize = 20;
/// The number of memories that are looked at for a failure, because many warn of one of its kind.
const WARNINGS_CONSIDERED: usize = 50;
/// An open task is told in at most this many tokens.
const OPEN_TASK_TOKENS: usize = 1_000;
const TITLE_CHARS: usize = 200;
/// Three of them, with two parts each, are below 2,000 tokens.
const PART_CHARS: usize = 1_000;

/// An error as tools print it, of no bank.
const SAMPLE: &str = "Traceback (most recent call last):\n  File \"a.py\", line 1\nKeyError: 'a'";

/// A text that may have an assigned secret in any form, so that the patterns of all forms are compiled for it.
const SAMPLE_WITH_NAMES: &str = "set the token: \"a\" (val) | auth > cookie code= password\n";

/// Compiles what a process that goes on to answer needs for warnings that tell of tokens and passwords.
pub(super) fn warm_up_for_secrets() {
    let _ = redact(SAMPLE_WITH_NAMES);
}

/// Compiles the patterns that an answer needs, on two threads, so that the first failure of a session is answered as
/// fast as later ones.
pub(crate) fn warm_up() {
    std::thread::scope(|threads| {
        threads.spawn(|| redact(SAMPLE).redactions);
        let _ = ToldFailure::of(SAMPLE, SAMPLE).is_of(&PrintedFailure::of(SAMPLE));
    });
}

/// Everything that an answer is made of.
pub(super) struct HookAnswers {
    pub(super) system: SystemHandle,
    pub(super) data_dir: PathBuf,
    pub(super) identity: Identity,
    pub(super) recalls: Option<RecallLog>,
    pub(super) sessions: Mutex<ShownSessions>,
    /// True where agents have the tools of working memory.
    pub(super) has_working_tools: bool,
    /// The bank has this long for an answer.
    pub(super) timeout: Duration,
    /// Locked while it is worked off what hooks left. None where the process answers this hook alone.
    pub(super) learning: Option<Arc<AsyncMutex<()>>>,
}

/// An event, the project that it is about, and the time by which the agent is told something.
struct HookContext {
    call: HookCall,
    workspace: WorkspaceRef,
    deadline: Deadline,
}

/// The answer to an event.
#[derive(Default)]
pub(super) struct HookAnswer {
    /// None where nothing is known, or the time is up.
    pub(super) text: Option<String>,
    /// The memories in the text.
    pub(super) shown: Option<ToldMemories>,
}

/// Memories that a session is about to be shown. They count as shown once the hook has printed them: one whose time is
/// up shows nothing.
pub(super) struct ToldMemories {
    pub(super) told: SessionTold,
    workspace: WorkspaceRef,
    entry: Option<RecallEntry>,
}

impl ToldMemories {
    fn of(context: &HookContext, memories: Vec<MemoryId>) -> Self {
        let told = SessionTold { session: context.call.session.clone(), memories, command: None, resolutions: None };
        Self { told, workspace: context.workspace.clone(), entry: None }
    }
}

impl HookAnswers {
    pub(super) async fn answer(&self, question: HookQuestion) -> HookAnswer {
        let directory = question.place(self.identity).to_owned();
        let call = question.call;
        let Ok(root) = project::root(&directory, &directory, self.identity) else { return HookAnswer::default() };
        let workspace = WorkspaceRef::Root(root);
        let context = HookContext { call, workspace, deadline: Deadline::after(self.timeout) };
        let is_new = !self.sessions().knows(&context.call.session);
        if is_new && (self.learning.is_some() || matches!(context.call.event, HookEvent::PromptSubmitted { .. })) {
            self.remember(&context).await;
        }
        let mut answer = match &context.call.event {
            HookEvent::SessionStarted => {
                self.wait_for_what_was_left(&context).await;
                HookAnswer { text: self.known(&context).await, shown: None }
            }
            HookEvent::PromptSubmitted { prompt } => self.relevant(prompt, &context).await.unwrap_or_default(),
            HookEvent::ToolFailed { error, command } => {
                self.warnings(error, command.clone(), &context).await.unwrap_or_default()
            }
            HookEvent::ToolSucceeded { command } => {
                self.leave_worked(command, &directory, &context).await;
                HookAnswer::default()
            }
            HookEvent::Compacting { .. } | HookEvent::SessionEnded { .. } => HookAnswer::default(),
        };
        if is_new && self.learning.is_some() {
            tokio::spawn(read_ahead(self.system.clone(), context.workspace));
        }
        answer.text = answer.text.map(|text| redact(&text).text.into_owned());
        answer
    }

    /// Counts what a session was shown.
    pub(super) fn note(&self, shown: ToldMemories) {
        let ToldMemories { told, workspace, entry } = shown;
        self.system.usage.shown(told.memories, &workspace, &told.session);
        if let Some((log, entry)) = self.recalls.as_ref().zip(entry) {
            log.note(entry);
        }
    }

    pub(super) fn sessions(&self) -> MutexGuard<'_, ShownSessions> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until what hooks left before is worked off, for half of the time: a session that goes on after its
    /// conversation was replaced by a summary has left its task.
    async fn wait_for_what_was_left(&self, context: &HookContext) {
        let Some(learning) = &self.learning else { return };
        let _ = timeout_at(context.deadline.halfway().instant(), learning.lock()).await;
    }

    async fn known(&self, context: &HookContext) -> Option<String> {
        let resolved = self.system.workspaces.resolve(&context.workspace, context.deadline).await.ok()?;
        let held = self.system.store.held(resolved.workspace.id.clone(), context.deadline).await.ok()?;
        let memories = match held.memories {
            0 => None,
            1 => Some("1 memory".to_owned()),
            count => Some(format!("{count} memories")),
        };
        let memories = memories.map(|memories| {
            format!(
                "reasoning-bank has {memories} of this project. The tool retrieve_memories finds what fits a task or an \
                 error."
            )
        });
        let told: Vec<String> =
            memories.into_iter().chain(self.open_tasks(&resolved.workspace.id, context).await).collect();
        (!told.is_empty()).then(|| told.join("\n"))
    }

    /// Tells the tasks that are open in working memory, and how far they are: the one that was read from the transcript
    /// of this session, and the one of an agent that was touched last, where it was touched later.
    async fn open_tasks(&self, workspace: &WorkspaceId, context: &HookContext) -> Vec<String> {
        let tasks = self.system.working.list_all(workspace, LOCAL_OWNER, context.deadline).await.unwrap_or_default();
        let session = context.call.source();
        let of = |session: Option<&str>| tasks.iter().find(|task| session_of(&task.memory) == session);
        let own = of(Some(&session));
        let is_later = |task: &&ListedTask| own.is_none_or(|own| own.memory.touched_at() < task.memory.touched_at());
        own.into_iter().chain(of(None).filter(is_later)).map(|task| self.told(task)).collect()
    }

    fn told(&self, task: &ListedTask) -> String {
        let about = quoted_lines(&task.memory.context(OPEN_TASK_TOKENS).text);
        let shows = if self.has_working_tools {
            "The tool working_context".to_owned()
        } else {
            format!("The command `reasoning-bank working show {}`", task.id)
        };
        format!(
            "A task is open in working memory. {shows} shows how far it is.\n{}",
            recalled_notes(&format!("task_id {}\n{about}", task.id))
        )
    }

    /// Returns what is relevant to a prompt and was not shown to the session yet. Nobody asked for it, so it needs the
    /// higher relevance that the solver's prompts need.
    async fn relevant(&self, prompt: &str, context: &HookContext) -> Option<HookAnswer> {
        if !stands_alone(prompt) {
            return None;
        }
        let prompt = redact(prompt).text;
        let request = RetrieveRequest {
            embedding_timeout: Some(EMBEDDING_TIMEOUT),
            ..RetrieveRequest::new(gist(&prompt), context.workspace.clone(), CONSIDERED)
        };
        let explained = self.system.memories.retrieve_with_candidates(request, context.deadline).await.ok()?;
        let floor = self.system.memories.relevance_floor();
        let memories = &explained.retrieved.memories;
        // What outdates a relevant memory is told in its place.
        let is_relevant = |found: &RecalledView| {
            let outdates =
                |older: &RecalledView| older.outdated_by == Some(found.memory.id) && older.relevance >= floor;
            found.relevance >= floor || memories.iter().any(outdates)
        };
        let is_told = |found: &&RecalledView| {
            is_relevant(found)
                && found.outdated_by.is_none()
                && !self.sessions().has(&context.call.session, found.memory.id)
        };
        let chosen: Vec<&MemoryView> =
            memories.iter().filter(is_told).take(SHOWN_MAX).map(|found| &found.memory).collect();
        let shown = self.shown(context, &prompt, floor, &explained, &chosen).await?;
        let notes: String =
            chosen.into_iter().map(|memory| warning(memory).unwrap_or_else(|| lesson(memory))).collect();
        let text = format!("This project has earlier notes about this.\n{}", recalled_notes(&notes));
        Some(HookAnswer { text: Some(text), shown: Some(shown) })
    }

    /// Returns the warnings whose failure is the one that was met, and what resolved it in earlier tasks. One that is
    /// only similar would be noise at every failure. A warning that the session was told already is named alone, or is
    /// left out where nobody says that a command failed: a file that tells of the error is printed as well.
    async fn warnings(&self, error: &str, command: Option<String>, context: &HookContext) -> Option<HookAnswer> {
        // The error is not redacted here, because it is compared in memory alone. It is redacted where it is printed or
        // noted.
        let failure = PrintedFailure::of(error);
        let searched = Some(failure.gist()).filter(|lines| !lines.is_empty());
        let request = RetrieveRequest {
            conditions: Conditions { warnings_only: true, ..Conditions::default() },
            error_signature: Some(error.to_owned()),
            // The failure decides, so the words will do.
            embedding_timeout: Some(Duration::ZERO),
            min_relevance: Some(0.0),
            ..RetrieveRequest::new(
                searched.unwrap_or_else(|| gist(error).to_string()),
                context.workspace.clone(),
                WARNINGS_CONSIDERED,
            )
        };
        // Episodes get half of the time, so that warnings are told in any case.
        let resolving = self.system.context.known_resolutions(error, &context.workspace, context.deadline.halfway());
        let searching = self.system.memories.retrieve_with_candidates(request, context.deadline);
        let (explained, resolutions) = tokio::join!(searching, resolving);
        let explained = explained.ok()?;
        let session = &context.call.session;
        let is_told = |memory: &MemoryView| !session.is_empty() && self.sessions().has(session, memory.id);
        let is_of_this = |found: &&RecalledView| {
            found.outdated_by.is_none()
                && is_about(&found.memory, &failure)
                && (command.is_some() || !is_told(&found.memory))
        };
        let chosen: Vec<&MemoryView> =
            explained.retrieved.memories.iter().filter(is_of_this).take(SHOWN_MAX).map(|found| &found.memory).collect();
        // All of them with what resolved the error would be more than is told at once.
        let has_room = command.is_some() && chosen.len() < SHOWN_MAX;
        let is_known = |told: &str| !session.is_empty() && self.sessions().has_resolutions(session, told);
        let resolutions = resolutions.ok().filter(|_| has_room).map(|known| known.notes());
        let resolutions = resolutions.filter(|told| !told.is_empty() && !is_known(told));
        let shown = self.shown(context, error, 0.0, &explained, &chosen).await;
        if shown.is_none() && resolutions.is_none() {
            return None;
        }
        let short_or_whole =
            |memory: &MemoryView| if is_told(memory) { Some(reminder(memory)) } else { warning(memory) };
        let notes: String = chosen.into_iter().filter_map(short_or_whole).chain(resolutions.clone()).collect();
        let text = format!("This error is known in this project.\n{}", recalled_notes(&notes));
        let mut shown = shown.unwrap_or_else(|| ToldMemories::of(context, Vec::new()));
        shown.told.command = command.filter(|_| !shown.told.memories.is_empty());
        shown.told.resolutions = resolutions;
        Some(HookAnswer { text: Some(text), shown: Some(shown) })
    }

    /// Leaves in the spool which warnings the session was shown when this command failed.
    async fn leave_worked(&self, command: &str, directory: &Path, context: &HookContext) {
        let warnings = self.sessions().take_succeeded(&context.call.session, command);
        if warnings.is_empty() {
            return;
        }
        let session = context.call.source();
        let worked = WorkedWarnings { directory: directory.to_owned(), session, warnings };
        let data_dir = self.data_dir.clone();
        let left = spawn_blocking(move || spool::leave(&data_dir, &SpoolEntry::Worked(worked))).await;
        if let Ok(Err(error)) = left {
            tracing::debug!(%error, "that a warning worked is not counted");
        }
    }

    /// Learns from the recall log what a new session was shown by other processes.
    async fn remember(&self, context: &HookContext) {
        let session = context.call.session.clone();
        // The next event reads the log if the time is up.
        let Ok(resolved) = self.system.workspaces.resolve(&context.workspace, context.deadline).await else { return };
        let shown = match self.recalls.clone().filter(|_| !session.is_empty()) {
            Some(log) => {
                let of = session.clone();
                spawn_blocking(move || log.shown_to(&of, &resolved.workspace.id)).await.unwrap_or_default()
            }
            None => Vec::new(),
        };
        self.sessions().note(&session, shown);
    }

    /// Returns what a session is about to be shown. None where that is nothing, which is noted at once.
    async fn shown(
        &self,
        context: &HookContext,
        query: &str,
        floor: f64,
        explained: &Explained,
        chosen: &[&MemoryView],
    ) -> Option<ToldMemories> {
        let HookContext { call, workspace, deadline } = context;
        let ids: Vec<MemoryId> = chosen.iter().map(|memory| memory.id).collect();
        let entry = |log: &RecallLog, of| {
            let entry = log.of_search(of, query, Some(floor), explained, |found| ids.contains(&found.id));
            let source = format!("hook {} {}", call.client, call.name);
            RecallEntry { source, session: call.session.clone(), ..entry }
        };
        let entry = match &self.recalls {
            Some(log) => {
                let resolved = self.system.workspaces.resolve(workspace, *deadline).await.ok();
                // Nothing is noted for a workspace that nobody has written to.
                resolved.filter(|of| of.registered).map(|of| entry(log, of.workspace.id))
            }
            None => None,
        };
        if ids.is_empty() {
            if let Some((log, entry)) = self.recalls.as_ref().zip(entry) {
                log.note(entry);
            }
            return None;
        }
        Some(ToldMemories { entry, ..ToldMemories::of(context, ids) })
    }
}

/// Searches twice. The memories of a large workspace are read into memory when it is searched a second time, and the
/// next event of a session wants its answer in time.
async fn read_ahead(system: SystemHandle, workspace: WorkspaceRef) {
    for _ in 0..2 {
        let request = RetrieveRequest {
            embedding_timeout: Some(Duration::ZERO),
            ..RetrieveRequest::new("session", workspace.clone(), 1)
        };
        if let Err(error) = system.memories.retrieve(request, Deadline::after(READ_AHEAD_TIMEOUT)).await {
            tracing::debug!(%error, "memories were not read ahead");
        }
    }
}

/// Tells whether a warning is about the failure that printed this. Its title and description tell where it is of use,
/// and other failures there print the same names.
fn is_about(memory: &MemoryView, printed: &PrintedFailure) -> bool {
    let Some(error) = &memory.error_context else { return false };
    let message = error.error_message.as_deref().unwrap_or_default();
    let told = [&error.error_type, &error.failure_pattern, message];
    ToldFailure::of(&error.error_type, &told.join("\n")).is_of(printed)
}

fn warning(memory: &MemoryView) -> Option<String> {
    let error = memory.error_context.as_ref()?;
    let (failed, instead) = (part(&error.failure_pattern), part(&error.corrective_guidance));
    Some(note("warning", memory, &format!("What failed: {failed}\nWhat to do instead: {instead}")))
}

/// Names a warning that the session was told in full.
fn reminder(memory: &MemoryView) -> String {
    let title = shortened(&one_line(&memory.title), TITLE_CHARS);
    format!("warning {}, told before in this session\n{}", memory.id, quoted_lines(&title))
}

fn lesson(memory: &MemoryView) -> String {
    let (when, content) = (part(&memory.description), part(&memory.content));
    if memory.is_of_failure() {
        return note("note of a past failure", memory, &format!("When: {when}\nWhat was done: {content}"));
    }
    note("lesson", memory, &format!("When: {when}\n{content}"))
}

fn note(kind: &str, memory: &MemoryView, text: &str) -> String {
    let title = shortened(&one_line(&memory.title), TITLE_CHARS);
    format!("{kind} {}, confidence {:.2}\n{}", memory.id, memory.confidence, quoted_lines(&format!("{title}\n{text}")))
}

fn part(text: &str) -> String {
    shortened(&one_line(text), PART_CHARS)
}
