//! Finding memories: for a caller who asks, and for a task that is about to be solved.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use reasoning_bank_domain::ids::MemoryId;
use reasoning_bank_domain::injection::Injection;
use reasoning_bank_domain::memory::Scope;
use reasoning_bank_domain::retrieval::{Recalled, cut, matching_first, over_fetch, rank, shorten};
use reasoning_bank_domain::score::Asked;
use reasoning_bank_domain::signature::{Signature, mentioned, mentions_error};
use reasoning_bank_domain::view::{RecalledView, Retrieved, SearchMode};
use reasoning_bank_domain::workspace::{Proposed, Workspace, quoted_name};
use tokio::time::Instant;

use super::{MemoriesHandle, Reach, RetrieveRequest, WorkspaceRef, visible};
use crate::error::Error;
use crate::ports::{Conditions, EmbedError, MemoryRow, Recall, Visible};
use crate::runtime::Deadline;
use crate::statistics::Timer;

const MAX_RESULTS: usize = 50;
const MAX_QUERY_CHARS: usize = 200_000;
/// What a long task is searched by: its start and its end.
const TASK_HEAD_CHARS: usize = 3_000;
const TASK_TAIL_CHARS: usize = 1_000;

struct Found {
    recalled: Vec<Recalled>,
    /// The scope that was asked for could not be read.
    partial: bool,
    mode: SearchMode,
    notes: Vec<String>,
}

impl MemoriesHandle {
    pub async fn retrieve(&self, request: RetrieveRequest, deadline: Deadline) -> Result<Retrieved, Error> {
        self.retrieve_except(request, &HashSet::new(), deadline).await
    }

    /// As if the bank did not hold the memories `except`. For measuring; no client can ask for it.
    pub async fn retrieve_except(
        &self,
        request: RetrieveRequest,
        except: &HashSet<MemoryId>,
        deadline: Deadline,
    ) -> Result<Retrieved, Error> {
        let begun = Instant::now();
        check(&request)?;
        let now = self.clock.now();
        let workspace = self.workspaces.resolve(&request.workspace, deadline).await?.workspace;
        let found = self.find(request, except, 0, workspace, now, deadline).await?;
        Ok(Retrieved {
            memories: found.recalled.into_iter().map(|recalled| RecalledView::new(recalled, now)).collect(),
            mode: found.mode,
            partial: found.partial,
            notes: found.notes,
            took_ms: begun.elapsed().as_millis() as u64,
        })
    }

    /// What to inject into the prompts of a task, if anything could be searched, and notes on what was degraded. Never
    /// fails: a solve goes on without.
    pub(crate) async fn recall_for_task(
        &self,
        task: &str,
        domain: Option<String>,
        workspace: Workspace,
        proposed: Proposed,
        deadline: Deadline,
    ) -> (Option<Injection>, Vec<String>) {
        let named = WorkspaceRef::Id(workspace.id.clone());
        let request = RetrieveRequest {
            domain,
            proposed,
            error_signature: mentioned(task).map(|signature| signature.as_str().to_owned()),
            ..RetrieveRequest::new(gist(task), named, self.settings.n_results)
        };
        let (none, warnings) = (HashSet::new(), Injection::MAX_WARNINGS);
        match self.find(request, &none, warnings, workspace, self.clock.now(), deadline).await {
            Ok(found) => {
                let by_words_alone = found.mode == SearchMode::Keyword;
                let floor = self.settings.relevance_floor;
                (Some(Injection::choose(found.recalled, floor, by_words_alone, task)), found.notes)
            }
            Err(error) => (None, vec![format!("{}: no memories were recalled: {error}", error.code())]),
        }
    }

    /// `warnings`: so many of the very error come beside the results that were asked for, however many are more alike.
    async fn find(
        &self,
        request: RetrieveRequest,
        except: &HashSet<MemoryId>,
        warnings: usize,
        workspace: Workspace,
        now: Timestamp,
        deadline: Deadline,
    ) -> Result<Found, Error> {
        let begun = Instant::now();
        // A slow embedder leaves time to search by words.
        let (vector, mut notes) = match self.embedder.embed_query(request.query.clone(), deadline.halfway()).await {
            Ok(vector) => (Some(vector), Vec::new()),
            Err(error) => (None, vec![keyword_note(&error)]),
        };
        let visible = visible(&workspace, request.reach);
        let unread = unread(&request, &workspace, &visible);
        let partial = !unread.is_empty();
        notes.extend(unread);
        // The domain that is asked for ranks; only one within the signature keeps others out.
        let signature = request.error_signature.as_deref().map(|raw| Signature::of(raw, None));
        let recall = Recall {
            visible,
            conditions: Conditions {
                domain: request.domain_filter.clone(),
                tags: request.tags.clone(),
                warnings_only: request.errors_only,
                without_warnings: !request.include_errors && !request.errors_only,
            },
            text: Some(request.query.clone()),
            vector,
            signature: signature.clone(),
            limit: over_fetch(request.n_results) + except.len(),
        };
        let candidates = self.store.candidates(recall, deadline).await?.without(except);
        let mode = match (&candidates.vector, &candidates.text) {
            (Some(_), None) => SearchMode::Vector,
            (Some(_), Some(_)) => SearchMode::Hybrid,
            (None, _) => SearchMode::Keyword,
        };
        let asked = Asked {
            now,
            signature,
            domain: request.domain.clone(),
            majority_domain: None,
            mentions_error: mentions_error(&request.query),
        };
        let mut ranked = rank(candidates, &asked, &self.profile(request.profile));
        if let Some(signature) = asked.signature.as_ref().filter(|_| request.errors_only) {
            matching_first(&mut ranked, signature);
        }
        ranked.retain(|entry| request.min_confidence.is_none_or(|least| entry.score.confidence >= least));
        shorten(&mut ranked, request.n_results, asked.signature.as_ref(), warnings);
        let ids: Vec<MemoryId> = ranked.iter().map(|entry| entry.facts.id).collect();
        let rows = self.store.get(ids, deadline).await?;
        let mut bodies: HashMap<MemoryId, MemoryRow> = rows.into_iter().map(|row| (row.memory.id, row)).collect();
        let recalled = ranked
            .into_iter()
            .filter_map(|entry| {
                let memory = bodies.remove(&entry.facts.id)?.memory;
                Some(Recalled { memory, evidence: entry.evidence, score: entry.score })
            })
            .collect();
        let recalled = cut(recalled, request.n_results + warnings, request.max_tokens, |entry| &entry.memory);
        self.meters.took(Timer::Retrieval, begun.elapsed());
        Ok(Found { recalled, partial, mode, notes })
    }
}

fn check(request: &RetrieveRequest) -> Result<(), Error> {
    let chars = request.query.chars().count();
    if request.query.trim().is_empty() {
        return Err(Error::invalid("query", "is missing or blank"));
    }
    if chars > MAX_QUERY_CHARS {
        return Err(Error::invalid("query", format!("has {chars} characters; at most {MAX_QUERY_CHARS} are allowed")));
    }
    if !(1..=MAX_RESULTS).contains(&request.n_results) {
        return Err(Error::invalid("n_results", format!("is {}; it lies in 1..={MAX_RESULTS}", request.n_results)));
    }
    if request.min_confidence.is_some_and(|least| !(0.0..=1.0).contains(&least)) {
        return Err(Error::invalid("min_confidence", "it lies in 0..=1"));
    }
    Ok(())
}

/// Why scopes that should have been read were not, each in a note.
fn unread(request: &RetrieveRequest, workspace: &Workspace, visible: &Visible) -> Vec<String> {
    let open = request.proposed.beyond(workspace).into_iter().filter(|(scope, _)| request.reach.includes(*scope));
    let mut notes: Vec<String> = open
        .map(|(scope, name)| {
            let (what, name) = (if scope == Scope::Org { "organisation" } else { "team" }, quoted_name(name));
            format!(
                "scope_denied: the checkout proposes the {what}{name}, which the user has not agreed to: its memories \
                 were not read; `reasoning-bank workspace trust` agrees"
            )
        })
        .collect();
    if notes.is_empty() && *visible == Visible::default() {
        notes.push(format!("scope_denied: this workspace has no {}", reach_name(request.reach)));
    }
    notes
}

fn reach_name(reach: Reach) -> &'static str {
    match reach {
        Reach::Cascade | Reach::Project => "project",
        Reach::Team => "team",
        Reach::Org => "organisation",
    }
}

fn keyword_note(error: &EmbedError) -> String {
    format!("embedding_unavailable: searched by keywords only: {error}")
}

fn gist(task: &str) -> String {
    let chars = task.chars().count();
    if chars <= TASK_HEAD_CHARS + TASK_TAIL_CHARS {
        return task.to_owned();
    }
    let head: String = task.chars().take(TASK_HEAD_CHARS).collect();
    let tail: String = task.chars().skip(chars - TASK_TAIL_CHARS).collect();
    format!("{head}\n{tail}")
}
