//! The last part of the mining stage: a model reads episodes that are alike and succeeded, and proposes patterns. The
//! rules are in `domain::consolidation::clusters` and `domain::consolidation::proposals`. What goes wrong with the model is a
//! note of the run, and nothing of what the rules found is lost by it.

use std::collections::HashSet;
use std::sync::Arc;

use reasoning_bank_domain::consolidation::clusters::{INSTANCES_MIN, clusters_alike, unread_successes};
use reasoning_bank_domain::consolidation::{
    ChangeKind, ConsolidationRun, EpisodeCluster, HistoryEntry, ModelReading, PROPOSALS_MAX, PatternProposal,
};
use reasoning_bank_domain::memory::Memory;
use reasoning_bank_domain::memory::ids::{MemoryId, TaskId, TraceId};
use reasoning_bank_domain::memory::trace::{Outcome, Trace};
use reasoning_bank_domain::memory::workspace::Workspace;
use reasoning_bank_domain::note::{Code, Note};
use reasoning_bank_domain::pattern::mining::CANDIDATES_MAX;
use reasoning_bank_domain::prompt::{Prompts, Purpose};
use reasoning_bank_domain::solve::answer::Answer;
use tokio_util::sync::CancellationToken;

use super::ConsolidationHandle;
use super::run_inputs::RunInputs;
use super::stages::{StageOutcome, off_the_runtime};
use crate::agents::SolveSettings;
use crate::error::Error;
use crate::model::{BudgetedFailure, BudgetedModel};
use crate::ports::{Completion, EpisodeRow, ModelError, Record};
use crate::runtime::Deadline;
use crate::spans;

/// The most clusters that a model reads in a run. The next run does the rest.
const CLUSTERS_MAX: usize = 5;

const NOT_ALLOWED: &str =
    "no model was asked for patterns: none is set up, or background.daily_token_cap does not allow it";

/// A language model that proposes patterns, within what background work may spend in a day.
#[derive(Clone)]
pub(crate) struct PatternModel {
    model: BudgetedModel,
    prompts: Arc<Prompts>,
    prompt_token_budget: usize,
    max_output_tokens: u32,
}

impl PatternModel {
    /// Makes one. None where background work must not ask a model.
    pub(crate) fn new(model: Option<BudgetedModel>, settings: &SolveSettings) -> Option<Self> {
        Some(Self {
            model: model.filter(|model| model.daily_token_cap() > 0)?,
            prompts: Arc::clone(&settings.prompts),
            prompt_token_budget: settings.limits.prompt_token_budget,
            max_output_tokens: settings.max_output_tokens,
        })
    }

    /// Asks about a cluster, and says how many tokens that counts as.
    async fn ask(
        &self,
        cluster: &EpisodeCluster,
        run: &ConsolidationRun,
        deadline: Deadline,
    ) -> (Result<Vec<PatternProposal>, BudgetedFailure>, u64) {
        let cap = self.model.daily_token_cap();
        let prompt = cluster.prompt(&self.prompts, self.prompt_token_budget, self.max_output_tokens, cap);
        let Some(prompt) = prompt else { return (Err(BudgetedFailure::TooSmall), 0) };
        spans::prompt_cut(Purpose::Patterns, &prompt);
        let request = Completion {
            purpose: Purpose::Patterns,
            workspace_id: run.workspace_id.clone(),
            task_id: TaskId::from(run.run_id.uuid()),
            attempt: None,
            instructions: prompt.instructions,
            input: prompt.input,
            max_output_tokens: self.max_output_tokens,
        };
        let (answer, tokens) = self.model.ask_and_count(request, deadline, CancellationToken::new()).await;
        let proposed = answer.and_then(|answer| match answer {
            Answer::Patterns(proposed) => Ok(proposed),
            _ => Err(BudgetedFailure::Model(ModelError::InvalidOutput("it is about something else".into()))),
        });
        (proposed, tokens)
    }
}

impl ConsolidationHandle {
    /// Adds the candidates that a model proposes to those that rules found. `known` are the patterns that there are. A
    /// run that only plans asks nobody.
    pub(super) async fn propose_by_model(
        &self,
        staged: &mut StageOutcome,
        run: &ConsolidationRun,
        workspace: &Workspace,
        inputs: &RunInputs,
        mut known: HashSet<MemoryId>,
        deadline: Deadline,
    ) -> Result<(), Error> {
        let Some(model) = &self.model else {
            staged.report.notes.push(Note::plain(NOT_ALLOWED));
            return Ok(());
        };
        let clusters = self.unread_clusters(inputs, deadline).await?;
        let mut room = CANDIDATES_MAX.saturating_sub(staged.report.changes.len());
        let asked = clusters.len().min(CLUSTERS_MAX).min(room.div_ceil(PROPOSALS_MAX));
        if !run.applied {
            let detail =
                format!("a run that only plans asks no model; clusters of episodes that one would read: {asked}");
            staged.report.notes.push(Note::plain(detail));
            return Ok(());
        }
        staged.report.left += (clusters.len() - asked) as u64;
        // The stages after this one have at least as much time.
        let until = deadline.halfway();
        let mut reading = ModelReading::default();
        for ids in clusters.into_iter().take(asked) {
            let Some(cluster) = self.told(&ids, workspace, deadline).await? else { continue };
            let (answer, tokens) = model.ask(&cluster, run, until).await;
            reading.tokens += tokens;
            let proposed = match answer {
                Ok(proposed) => proposed,
                Err(failure) => {
                    let goes_on = is_about_the_cluster(&failure);
                    staged.report.notes.push(note_on(failure));
                    if !goes_on {
                        break;
                    }
                    Vec::new()
                }
            };
            reading.clusters += 1;
            let accepted = cluster.accept(proposed, &model.prompts, &known, room, self.clock.now());
            for (reason, count) in accepted.refused {
                *reading.refused.entry(reason.to_owned()).or_default() += count;
            }
            reading.candidates += accepted.candidates.len() as u64;
            room -= accepted.candidates.len();
            for memory in accepted.candidates {
                known.insert(memory.id);
                self.add_candidate(staged, run, memory, format!("a model, of {} episodes that succeeded", ids.len()));
            }
            reading.episodes.extend(ids);
        }
        staged.report.model = Some(reading);
        Ok(())
    }

    /// Adds a candidate to a stage, with what takes it back.
    pub(super) fn add_candidate(&self, staged: &mut StageOutcome, run: &ConsolidationRun, memory: Memory, why: String) {
        staged.note(memory.id.uuid(), ChangeKind::Proposed, &memory.title, why);
        staged.records.push(Record::History(HistoryEntry::made_memory(run, &memory, self.clock.now())));
        staged.records.push(Record::Memory { memory, passages: Vec::new(), confirm: None });
    }

    /// Finds the clusters that are worth a model's time, the largest ones first.
    async fn unread_clusters(&self, inputs: &RunInputs, deadline: Deadline) -> Result<Vec<Vec<TraceId>>, Error> {
        let candidates = unread_successes(&inputs.episodes, &inputs.read, self.clock.now());
        let vectors = self.whole_vectors(&candidates, deadline).await?;
        off_the_runtime(move || clusters_alike(&candidates, &vectors)).await
    }

    /// Reads the episodes of a cluster that a model is shown. None where too few of them are still what they were.
    async fn told(
        &self,
        ids: &[TraceId],
        workspace: &Workspace,
        deadline: Deadline,
    ) -> Result<Option<EpisodeCluster>, Error> {
        let mut shown: Vec<Trace> = Vec::new();
        for id in EpisodeCluster::shown(ids) {
            let row = self.store.episode(*id, Some(workspace.id.clone()), deadline).await?;
            let is_success = |row: &EpisodeRow| !row.state.is_deleted() && row.trace.outcome == Outcome::Success;
            shown.extend(row.filter(is_success).map(|row| row.trace));
        }
        Ok(EpisodeCluster::of(ids.len(), &shown).filter(|_| shown.len() >= INSTANCES_MIN))
    }
}

/// Tells whether the model was at fault with this question alone, so that it is asked the next one.
fn is_about_the_cluster(failure: &BudgetedFailure) -> bool {
    matches!(failure, BudgetedFailure::Model(ModelError::InvalidOutput(_) | ModelError::Refused(_)))
}

fn note_on(failure: BudgetedFailure) -> Note {
    match failure {
        BudgetedFailure::TooSmall | BudgetedFailure::UsedUp => {
            Note::new(Code::TokenBudgetExceeded, format!("no model was asked for patterns: {failure}"))
        }
        BudgetedFailure::Account(error) => Note::new(error.code(), format!("no model was asked for patterns: {error}")),
        BudgetedFailure::Model(error) => {
            let error = Error::from(error);
            Note::new(error.code(), format!("a model proposed no patterns: {error}"))
        }
    }
}
