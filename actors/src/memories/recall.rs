//! Finding memories: for a caller who asks, and for a task that is about to be solved.

mod search;

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::memory::signature::{Signature, mentioned, mentions_error};
use reasoning_bank_domain::memory::workspace::{ProposedScopes, Workspace, quoted_name};
use reasoning_bank_domain::memory::{Memory, Scope, check_range, check_text, gist};
use reasoning_bank_domain::note::{Code, Note};
use reasoning_bank_domain::retrieval::candidates::over_fetch;
use reasoning_bank_domain::retrieval::prompt_memories::PromptMemories;
use reasoning_bank_domain::retrieval::ranking::{Cut, Ranked, Ranking, WarningPlacement};
use reasoning_bank_domain::retrieval::recalled::Recalled;
use reasoning_bank_domain::retrieval::relevance::SHIPPED_EMBEDDER;
use reasoning_bank_domain::retrieval::responses::{CandidateView, Explained, RecalledView, Retrieved, SearchMode};
use reasoning_bank_domain::retrieval::score::QueryContext;
use tokio::time::Instant;

use self::search::{Search, Searched};
use super::{MemoriesHandle, RetrieveRequest, ScopeFilter, WorkspaceRef, visible, with_time_range};
use crate::error::Error;
use crate::ports::{EmbedError, Recall, Visible};
use crate::runtime::Deadline;
use crate::statistics::Timer;

/// The most memories in an answer.
pub const MAX_RESULTS: usize = 50;
/// The longest query, in characters.
pub const MAX_QUERY_CHARS: usize = 200_000;

/// The purpose of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Aim {
    Answer,
    /// An answer, together with the bodies of the candidates that are not in it.
    Explanation,
    /// Memories of which some are injected into the prompts of a task. That choice, and not the search, decides which
    /// trace they are of. Warnings of the very error come beside those that were asked for, however many memories are
    /// more alike.
    Prompt,
}

struct Found {
    ranking: Ranking,
    bodies: HashMap<MemoryId, Memory>,
    /// True where not all that was asked for could be read.
    partial: bool,
    mode: SearchMode,
    notes: Vec<Note>,
}

impl Found {
    fn recalled(mut self) -> Vec<Recalled> {
        let recalled = |ranked: Ranked| {
            let Ranked { facts, evidence, score, relevance, spared, outdated_by, contested_by, .. } = ranked;
            let memory = self.bodies.remove(&facts.id)?;
            Some(Recalled { memory, evidence, score, relevance, spared, outdated_by, contested_by })
        };
        self.ranking.into_kept().filter_map(recalled).collect()
    }

    /// Makes the answer. `threshold` is the relevance that an answer needs by default.
    fn retrieved(self, threshold: f64, now: Timestamp, begun: Instant) -> Retrieved {
        let (mode, partial, notes) = (self.mode, self.partial, self.notes.clone());
        let memories =
            self.recalled().into_iter().map(|recalled| RecalledView::new(recalled, threshold, now)).collect();
        Retrieved { memories, mode, partial, notes, took_ms: begun.elapsed().as_millis() as u64 }
    }

    /// Makes the answer with its candidates.
    fn explained(self, threshold: f64, now: Timestamp, begun: Instant) -> Explained {
        let candidates = CandidateView::all_of(&self.ranking, |id| self.bodies.get(&id));
        let domain = self.ranking.domain.clone();
        Explained { retrieved: self.retrieved(threshold, now, begun), domain, candidates }
    }
}

impl MemoriesHandle {
    pub async fn retrieve(&self, request: RetrieveRequest, deadline: Deadline) -> Result<Retrieved, Error> {
        self.retrieve_except(request, &HashSet::new(), deadline).await
    }

    /// Answers as if the bank did not hold the memories `except`. This is for measuring, and no client can ask for it.
    pub async fn retrieve_except(
        &self,
        request: RetrieveRequest,
        except: &HashSet<MemoryId>,
        deadline: Deadline,
    ) -> Result<Retrieved, Error> {
        let (begun, now) = (Instant::now(), self.clock.now());
        Ok(self.asked(request, except, Aim::Answer, now, deadline).await?.retrieved(
            self.settings.min_relevance,
            now,
            begun,
        ))
    }

    /// Finds the memories of the answer of [`Self::retrieve`] as they are stored, with its notes.
    pub(crate) async fn recall(
        &self,
        request: RetrieveRequest,
        deadline: Deadline,
    ) -> Result<(Vec<Recalled>, Vec<Note>), Error> {
        let found = self.asked(request, &HashSet::new(), Aim::Answer, self.clock.now(), deadline).await?;
        let notes = found.notes.clone();
        Ok((found.recalled(), notes))
    }

    /// Gives the answer of [`Self::retrieve`], with every candidate and the rule that kept it out.
    pub async fn explain(&self, request: RetrieveRequest, deadline: Deadline) -> Result<Explained, Error> {
        let (begun, now) = (Instant::now(), self.clock.now());
        let found = self.asked(request, &HashSet::new(), Aim::Explanation, now, deadline).await?;
        Ok(found.explained(self.settings.min_relevance, now, begun))
    }

    /// Gives the answer of [`Self::retrieve`], with every candidate. Only those in the answer have their titles, so
    /// that nothing more is read for it.
    pub async fn retrieve_with_candidates(
        &self,
        request: RetrieveRequest,
        deadline: Deadline,
    ) -> Result<Explained, Error> {
        let (begun, now) = (Instant::now(), self.clock.now());
        let found = self.asked(request, &HashSet::new(), Aim::Answer, now, deadline).await?;
        Ok(found.explained(self.settings.min_relevance, now, begun))
    }

    async fn asked(
        &self,
        request: RetrieveRequest,
        except: &HashSet<MemoryId>,
        aim: Aim,
        now: Timestamp,
        deadline: Deadline,
    ) -> Result<Found, Error> {
        check(&request)?;
        let workspace = self.workspaces.resolve(&request.workspace, deadline).await?.workspace;
        self.find(request, except, aim, workspace, now, deadline).await
    }

    /// Finds what to inject into the prompts of a task, with notes on what was degraded. It never fails: where nothing
    /// could be searched it gives None, and the solve goes on without memories.
    pub(crate) async fn recall_for_task(
        &self,
        task: &str,
        domain: Option<String>,
        workspace: Workspace,
        proposed: ProposedScopes,
        deadline: Deadline,
    ) -> (Option<PromptMemories>, Vec<Note>) {
        let named = WorkspaceRef::Id(workspace.id.clone());
        let request = RetrieveRequest {
            domain,
            proposed,
            error_signature: mentioned(task).map(|signature| signature.as_str().to_owned()),
            ..RetrieveRequest::new(gist(task), named, self.settings.n_results)
        };
        match self.find(request, &HashSet::new(), Aim::Prompt, workspace, self.clock.now(), deadline).await {
            Ok(found) => {
                let notes = found.notes.clone();
                (Some(PromptMemories::choose(found.recalled(), self.settings.relevance_floor, task)), notes)
            }
            Err(error) => (None, vec![Note::new(error.code(), format!("no memories were recalled: {error}"))]),
        }
    }

    /// Finds memories in three steps: it searches, ranks and cuts what was found, and reads what the ranking leaves.
    async fn find(
        &self,
        request: RetrieveRequest,
        except: &HashSet<MemoryId>,
        aim: Aim,
        workspace: Workspace,
        now: Timestamp,
        deadline: Deadline,
    ) -> Result<Found, Error> {
        let begun = Instant::now();
        let conditions = with_time_range(&request.conditions, &request.made, now)?;
        let (vector, mut notes) = self.vector_of(&request, &workspace, deadline).await;
        let visible = visible(&workspace, request.scopes);
        let unread = unread(&request, &workspace, &visible);
        let partial = !unread.is_empty();
        notes.extend(unread);
        let recall = Recall {
            visible,
            conditions,
            with_superseded: request.include_superseded,
            text: Some(request.query.clone()),
            vector,
            // The domain that is asked for only ranks. A domain within the signature keeps others out.
            signature: request.error_signature.as_deref().map(|raw| Signature::of(raw, None)),
            limit: over_fetch(request.n_results) + except.len(),
        };
        let mut search = self.search_by(&request, recall, except, aim, now);
        let Searched { mut ranking, mode, complete } = self.search(&mut search, deadline).await?;
        if !complete {
            let looked_at = format!("{} of each list were looked at; others may fit as well", search.recall.limit);
            notes.push(Note::new(Code::Narrowed, looked_at));
        }
        let has_found = ranking.kept().next().is_some();
        if aim != Aim::Prompt && has_found {
            notes.extend(self.cut_irrelevant(&mut ranking, &search, request.min_relevance, mode));
        }
        let bodies = self.read_newest_first(&mut ranking, &search, aim, deadline).await?;
        ranking.fit(request.max_tokens, |id| bodies.get(&id));
        notes.extend(over_tokens(&ranking));
        let limitation = self.store.limitation();
        notes.extend(limitation.map(|limitation| limitation.note()));
        let partial = partial || limitation.is_some_and(|limitation| limitation.is_incomplete());
        // Of a partial answer a note says already which memories could not be read.
        if aim != Aim::Prompt && !has_found && !partial {
            notes.push(nothing_found(mode));
        }
        self.meters.took(Timer::Retrieval, begun.elapsed());
        Ok(Found { ranking, bodies, partial, mode, notes })
    }

    /// Embeds the query. Where there is no vector in time, a note says that words alone are searched by.
    async fn vector_of(
        &self,
        request: &RetrieveRequest,
        workspace: &Workspace,
        deadline: Deadline,
    ) -> (Option<Vec<f32>>, Vec<Note>) {
        // A slow embedder leaves time to search by words.
        let half = deadline.halfway();
        let timeout = request.embedding_timeout.map_or(half, |timeout| half.at_most(timeout));
        match self.embedder.of(&workspace.id).embed_query(request.query.clone(), timeout).await {
            Ok(vector) => (Some(vector), Vec::new()),
            Err(error) => (None, vec![keyword_note(&error)]),
        }
    }

    fn search_by<'a>(
        &self,
        request: &RetrieveRequest,
        recall: Recall,
        except: &'a HashSet<MemoryId>,
        aim: Aim,
        now: Timestamp,
    ) -> Search<'a> {
        let profile = self.profile(request.profile);
        Search {
            asked: QueryContext {
                now,
                signature: recall.signature.clone(),
                domain: request.domain.clone(),
                majority_domain: None,
                mentions_error: mentions_error(&request.query),
                compares_meaning: self.embedder.fingerprint().hash == SHIPPED_EMBEDDER,
            },
            one_trace: profile.tells_one_trace() && aim != Aim::Prompt,
            profile,
            min_confidence: request.min_confidence,
            n: request.n_results,
            except,
            recall,
        }
    }

    /// Shortens the ranking to what was asked for, reads the memories in it, and puts newer ones before those that they
    /// outdate.
    async fn read_newest_first(
        &self,
        ranking: &mut Ranking,
        search: &Search<'_>,
        aim: Aim,
        deadline: Deadline,
    ) -> Result<HashMap<MemoryId, Memory>, Error> {
        let placement = if aim == Aim::Prompt {
            WarningPlacement::Beside(PromptMemories::MAX_WARNINGS)
        } else {
            WarningPlacement::Within
        };
        ranking.shorten(search.n, search.asked.signature.as_ref(), placement);
        let told = ranking.entries.iter().filter(|entry| aim == Aim::Explanation || entry.cut.is_none());
        let rows = self.store.get(told.map(|entry| entry.facts.id).collect(), deadline).await?;
        let mut bodies: HashMap<MemoryId, Memory> = rows.into_iter().map(|row| (row.memory.id, row.memory)).collect();
        let newer = ranking.newer_beyond(|id| bodies.get(&id));
        if !newer.is_empty() {
            let rows = self.store.get(newer, deadline).await?;
            bodies.extend(rows.into_iter().map(|row| (row.memory.id, row.memory)));
        }
        ranking.newest_first(|id| bodies.get(&id));
        let mut outside = ranking.newer_outside(|id| bodies.get(&id));
        outside.retain(|id| !search.except.contains(id));
        if !outside.is_empty() {
            let newer = self.store.readable(outside, search.recall.visible.clone(), deadline).await?;
            let newer: Vec<Memory> = newer.into_iter().map(|row| row.memory).collect();
            ranking.mark_outdated(&newer, |id| bodies.get(&id));
        }
        ranking.shorten(search.n, search.asked.signature.as_ref(), placement);
        Ok(bodies)
    }

    /// Cuts what is not relevant enough. Where the caller decides what that is, each memory is marked that an answer
    /// leaves out by default. Notes say where words alone decide the relevance, and where nothing is left.
    fn cut_irrelevant(
        &self,
        ranking: &mut Ranking,
        search: &Search<'_>,
        asked_for: Option<f64>,
        mode: SearchMode,
    ) -> Vec<Note> {
        let by_default = self.settings.min_relevance;
        if asked_for.is_some() && by_default > 0.0 && !search.one_trace {
            ranking.note_spared(by_default);
        }
        let least = asked_for.unwrap_or(by_default);
        if least <= 0.0 {
            return Vec::new();
        }
        let found = ranking.kept().map(|entry| entry.relevance).reduce(f64::max);
        ranking.require_relevance(least, search.one_trace);
        if asked_for.is_none() && !search.one_trace {
            ranking.cut_far_below_best();
        }
        let mut notes = Vec::new();
        if mode != SearchMode::Keyword && !search.asked.compares_meaning {
            let by_words = "relevance is calibrated for the built-in embedding model; words alone decide it here";
            notes.push(Note::new(Code::RelevanceByWords, by_words));
        }
        if let Some(best) = found.filter(|_| ranking.kept().next().is_none()) {
            let none = format!(
                "nothing here is about this (the nearest has a relevance of {best:.2}, and {least:.2} is needed); \
                 min_relevance 0 shows what is nearest"
            );
            notes.push(Note::new(Code::NothingRelevant, none));
        }
        notes
    }
}

fn nothing_found(mode: SearchMode) -> Note {
    let none = match mode {
        SearchMode::Keyword => "nothing here is about this: no memory has a word of the query",
        _ => "nothing here is about this: there is no memory that this search may find",
    };
    Note::new(Code::NothingRelevant, none)
}

/// Makes a note of how many memories did not fit into the tokens of the answer. None where all did.
fn over_tokens(ranking: &Ranking) -> Option<Note> {
    let max_of = |entry: &Ranked| if let Some(Cut::OverTokens { max }) = entry.cut { Some(max) } else { None };
    let max = ranking.entries.iter().find_map(max_of)?;
    let cut = ranking.entries.iter().filter_map(max_of).count();
    let of = cut + ranking.kept().count();
    let left_out = format!("{cut} of {of} memories did not fit into {max} tokens; raise max_tokens to see them");
    Some(Note::new(Code::MaxTokens, left_out))
}

fn check(request: &RetrieveRequest) -> Result<(), Error> {
    check_text("query", &request.query, MAX_QUERY_CHARS)?;
    check_range("n_results", request.n_results, 1..=MAX_RESULTS)?;
    if request.min_confidence.is_some_and(|least| !(0.0..=1.0).contains(&least)) {
        return Err(Error::invalid("min_confidence", "it lies in 0..=1"));
    }
    if request.min_relevance.is_some_and(|least| !(0.0..=1.0).contains(&least)) {
        return Err(Error::invalid("min_relevance", "it lies in 0..=1"));
    }
    Ok(())
}

/// Makes a note of each scope that should have been read and was not, which says why.
fn unread(request: &RetrieveRequest, workspace: &Workspace, visible: &Visible) -> Vec<Note> {
    let open = request.proposed.beyond(workspace).into_iter().filter(|(scope, _)| request.scopes.includes(*scope));
    let mut notes: Vec<Note> = open
        .map(|(scope, name)| {
            let (what, name) = (if scope == Scope::Org { "organisation" } else { "team" }, quoted_name(name));
            let not_read = format!(
                "the checkout proposes the {what}{name}, which the user has not agreed to: its memories were not read; \
                 `reasoning-bank workspace trust` agrees"
            );
            Note::new(Code::ScopeDenied, not_read)
        })
        .collect();
    if notes.is_empty() && *visible == Visible::default() {
        let none = format!("this workspace has no {}", scopes_name(request.scopes));
        notes.push(Note::new(Code::ScopeDenied, none));
    }
    notes
}

fn scopes_name(scopes: ScopeFilter) -> &'static str {
    match scopes {
        ScopeFilter::Cascade | ScopeFilter::Project => "project",
        ScopeFilter::Team => "team",
        ScopeFilter::Org => "organisation",
    }
}

fn keyword_note(error: &EmbedError) -> Note {
    Note::new(Code::EmbeddingUnavailable, format!("searched by keywords only: {error}"))
}
