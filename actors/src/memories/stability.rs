//! Judging the memories that were used in a solve by the commits after it. The traces of a workspace and the history of
//! its repository give the signals. `domain::evidence::stability` has the rule. Reading a repository is the edge's
//! work.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use reasoning_bank_domain::evidence::stability::{
    BEFORE_REPORT, CommitHistory, JudgedMemory, JudgedWork, Stability, WorkStanding,
};
use reasoning_bank_domain::memory::ids::{MemoryId, SignalId, TraceId};
use reasoning_bank_domain::memory::signal::{Signal, SignalKind, id_of_commit, id_within_trace};
use reasoning_bank_domain::memory::trace::{Outcome, Trace, TraceSource, TraceSummary};
use reasoning_bank_domain::memory::workspace::Workspace;

use super::{MemoriesHandle, WorkspaceRef};
use crate::error::Error;
use crate::ports::{Page, Record};
use crate::runtime::Deadline;

/// The number of the newest traces that are looked at, whether they used memories or not.
const TRACES_MAX: usize = 2_000;
/// The number of traces that one read takes. It is small because a trace holds all that was tried.
const TRACES_AT_ONCE: usize = 50;
/// The most memories or signals that one question to the store, or one commit, has.
const AT_ONCE: usize = 500;

/// The witness in the ids of the signals. It is another one than the judge and every session that reports.
const WITNESS: &str = "repository";

impl MemoriesHandle {
    /// Judges what became of the work that was done after solves of a workspace which used memories and did not fail.
    /// With `apply` the signals that follow for these memories are stored. A signal that is stored already is not
    /// stored again, however often this runs.
    pub async fn stability(
        &self,
        history: &CommitHistory,
        workspace: &WorkspaceRef,
        apply: bool,
        deadline: Deadline,
    ) -> Result<Stability, Error> {
        let now = self.clock.now();
        let workspace = self.workspaces.resolve(workspace, deadline).await?.workspace;
        let (traces, truncated) = self.uses(&workspace, deadline).await?;
        let titles = self.titles(&traces, &workspace, deadline).await?;
        let witnesses: Vec<Witness> = traces.iter().map(|used| used.witness.clone()).collect();
        let mut solves: Vec<JudgedWork> = traces.into_iter().map(|used| judged(used, history, &titles, now)).collect();
        let known = self.known_signals(&solves, &witnesses, deadline).await?;
        let (mut new, mut met) = (Vec::new(), HashSet::new());
        for (solve, witness) in solves.iter_mut().zip(&witnesses) {
            let reason = solve.standing.reason();
            for memory in &mut solve.memories {
                let Some(kind) = memory.signal else { continue };
                let id = witness.id_of(&solve.standing, memory.id, kind);
                memory.known = known.contains(&id);
                if !memory.known && met.insert(id) {
                    let (trace_id, session) = witness.source.clone();
                    let signal = Signal::new(id, memory.id, workspace.id.clone(), kind, now);
                    new.push(Signal { trace_id, session, comment: reason.clone(), ..signal });
                }
            }
        }
        let new_signals = new.len();
        if apply {
            let moved: Vec<MemoryId> = new.iter().map(|signal| signal.memory_id).collect();
            self.keep_signals(new, deadline).await?;
            self.promote_proven(moved, &workspace, deadline).await;
        }
        Ok(Stability { solves, new_signals, truncated })
    }

    /// Reads the traces that count, newest first, and tells whether there are older ones that were not looked at.
    async fn uses(&self, workspace: &Workspace, deadline: Deadline) -> Result<(Vec<Used>, bool), Error> {
        let (mut used, mut seen) = (Vec::new(), 0);
        let mut page = Some(Page::newest(TRACES_AT_ONCE));
        while let Some(asked) = page.take_if(|_| seen < TRACES_MAX) {
            let traces = self.store.traces(Some(workspace.id.clone()), asked.clone(), deadline).await?;
            page = asked.following(&traces, |trace| trace.trace_id.uuid());
            seen += traces.len();
            used.extend(traces.iter().filter_map(Used::of));
        }
        Ok((used, page.is_some()))
    }

    /// Reads the titles of the memories that were used and that the workspace may read.
    async fn titles(
        &self,
        traces: &[Used],
        workspace: &Workspace,
        deadline: Deadline,
    ) -> Result<HashMap<MemoryId, String>, Error> {
        let ids: HashSet<MemoryId> = traces.iter().flat_map(|used| used.memories.iter().copied()).collect();
        let ids: Vec<MemoryId> = ids.into_iter().collect();
        let mut titles = HashMap::new();
        for ids in ids.chunks(AT_ONCE) {
            let rows = self.readable(ids.to_vec(), workspace, deadline).await?;
            titles.extend(rows.into_iter().map(|row| (row.memory.id, row.memory.title)));
        }
        Ok(titles)
    }

    async fn known_signals(
        &self,
        solves: &[JudgedWork],
        witnesses: &[Witness],
        deadline: Deadline,
    ) -> Result<HashSet<SignalId>, Error> {
        let ids = solves.iter().zip(witnesses).flat_map(|(solve, witness)| {
            let signals = solve.memories.iter().filter_map(|memory| Some((memory.id, memory.signal?)));
            signals.map(|(memory, kind)| witness.id_of(&solve.standing, memory, kind))
        });
        let ids: Vec<SignalId> = ids.collect();
        let mut known = HashSet::new();
        for ids in ids.chunks(AT_ONCE) {
            known.extend(self.stored_signals(ids.iter().copied(), deadline).await?);
        }
        Ok(known)
    }

    async fn keep_signals(&self, signals: Vec<Signal>, deadline: Deadline) -> Result<(), Error> {
        for signals in signals.chunks(AT_ONCE) {
            let batch = signals.iter().cloned().map(Record::Signal).collect();
            self.store.commit(batch, deadline).await?;
        }
        Ok(())
    }
}

/// A trace that used memories, as far as it is needed here.
struct Used {
    trace_id: TraceId,
    task: String,
    at: Timestamp,
    commit: Option<String>,
    witness: Witness,
    /// The memories that it used, each once.
    memories: Vec<MemoryId>,
}

impl Used {
    /// Takes what is needed of a trace. None where it used no memories, or failed, because nobody builds on a failure.
    fn of(trace: &Trace) -> Option<Self> {
        if trace.outcome == Outcome::Failure || trace.memories_used.is_empty() {
            return None;
        }
        let mut met = HashSet::new();
        let memories = trace.memories_used.iter().copied().filter(|id| met.insert(*id)).collect();
        let TraceSummary { trace_id, task, created_at, .. } = TraceSummary::of(trace);
        let witness = Witness {
            trace_id,
            is_reported: trace.source == TraceSource::Reported,
            names_commit: trace.commit.is_some(),
            source: trace.source_of_signals(),
        };
        Some(Self { trace_id, task, at: created_at, commit: trace.commit.clone(), witness, memories })
    }
}

fn judged(used: Used, history: &CommitHistory, titles: &HashMap<MemoryId, String>, now: Timestamp) -> JudgedWork {
    let standing = match &used.commit {
        Some(commit) => history.standing_of(commit, used.at, now),
        None if used.witness.is_reported => history.standing(used.at - BEFORE_REPORT, now),
        None => history.standing(used.at, now),
    };
    let signal = standing.signal();
    let memory = |id: MemoryId| Some(JudgedMemory { id, title: titles.get(&id)?.clone(), signal, known: false });
    let memories = used.memories.into_iter().filter_map(memory).collect();
    JudgedWork { trace_id: used.trace_id, task: used.task, solved_at: used.at, standing, memories }
}

/// The work that the signals come from.
#[derive(Clone)]
struct Witness {
    trace_id: TraceId,
    is_reported: bool,
    names_commit: bool,
    source: (Option<TraceId>, Option<String>),
}

impl Witness {
    /// Returns the id of a signal. A commit that a session named for several of its tasks counts once.
    fn id_of(&self, standing: &WorkStanding, memory: MemoryId, kind: SignalKind) -> SignalId {
        let commit = match standing {
            WorkStanding::Stable { last: commit, .. } | WorkStanding::Reverted { commit, .. } => Some(commit),
            WorkStanding::Nothing | WorkStanding::Waiting { .. } | WorkStanding::Unknown => None,
        };
        match (&self.source.1, commit.filter(|_| self.is_reported && self.names_commit)) {
            (Some(session), Some(commit)) => id_of_commit(session, &commit.id, memory, kind),
            _ => id_within_trace(self.trace_id, memory, kind, Some(WITNESS)),
        }
    }
}
