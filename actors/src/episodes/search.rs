//! Finding episodes: one function for all strategies, and one form of answer.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::Ordering;
use std::time::Duration;

use jiff::SignedDuration;
use reasoning_bank_domain::episode::{
    EpisodeFilter, EpisodeFound, EpisodeHits, EpisodeScore, EpisodeSummary, EpisodeTexts, FailureMatch, FailureTier,
    QuantizedVector, RECENT_DAYS, ScoreInputs, ScoredEpisode, Strategy, matched_failure, resolved_failure, tool_name,
};
use reasoning_bank_domain::memory::ids::TraceId;
use reasoning_bank_domain::memory::signature::{PrintedFailure, Signature};
use reasoning_bank_domain::memory::trace::{FailureAnalysis, Outcome, TASK_MAX_CHARS};
use reasoning_bank_domain::memory::{LABEL_MAX_CHARS, check_count, check_length, check_range, check_text};
use reasoning_bank_domain::note::{Code, Note};
use reasoning_bank_domain::retrieval::conditions::TimeRange;
use reasoning_bank_domain::text::terms;

use super::EpisodesHandle;
use crate::error::Error;
use crate::ports::{EmbedError, EpisodeRow, EpisodeSearch};
use crate::runtime::Deadline;
use crate::workspaces::WorkspaceRef;

/// The most episodes of an answer.
pub const MAX_HITS: usize = 50;
/// The number of the most alike episodes that are weighed for each one that is asked for, and the least number in all.
const WEIGHED_FOR_EACH: usize = 10;
const WEIGHED_LEAST: usize = 100;
/// The number of the newest episodes that are compared by their words where there are no vectors.
const COMPARED_BY_WORDS: usize = 500;
/// The number of the newest episodes with an error that are looked at for one in which it was resolved.
const RESOLVED_LOOKED_AT: usize = 20;
/// The most labels of one kind that a question names.
const LABELS_MAX: usize = 20;

/// A question about episodes.
#[derive(Debug, Clone, PartialEq)]
pub struct EpisodeQuery {
    pub workspace: WorkspaceRef,
    pub strategy: Strategy,
    /// The task, or the error that was met. Only `structured` and `temporal` do without.
    pub query: Option<String>,
    /// The most episodes in the answer, in 1..=50.
    pub k: usize,
    /// The least score of an answer, in 0..=1.
    pub min_relevance: f64,
    /// The least similarity of an answer by meaning, in 0..=1. The score also counts age and success, so this keeps out
    /// what is new and about something else.
    pub min_similarity: f64,
    pub domain: Option<String>,
    pub task_type: Option<String>,
    pub status: Option<Outcome>,
    pub tools: Vec<String>,
    pub tags: Vec<String>,
    pub session: Option<String>,
    pub made: TimeRange,
    /// True where only episodes of the last 30 days are found.
    pub prefer_recent: bool,
    pub only_successful: bool,
    pub include_archived: bool,
    /// The query gets its vector within this time, or is searched by its words alone, which the answer says. None: the
    /// first half of the caller's time.
    pub embedding_timeout: Option<Duration>,
    /// True where only episodes in which something failed are found.
    pub with_failures: bool,
}

impl EpisodeQuery {
    pub fn new(workspace: WorkspaceRef, strategy: Strategy, query: Option<String>, k: usize) -> Self {
        Self {
            workspace,
            strategy,
            query,
            k,
            min_relevance: 0.0,
            min_similarity: 0.0,
            domain: None,
            task_type: None,
            status: None,
            tools: Vec::new(),
            tags: Vec::new(),
            session: None,
            made: TimeRange::default(),
            prefer_recent: false,
            only_successful: false,
            include_archived: false,
            embedding_timeout: None,
            with_failures: false,
        }
    }

    /// Checks the question, and returns what is asked for.
    fn check(&self) -> Result<&str, Error> {
        check_range("k", self.k, 1..=MAX_HITS)?;
        check_range("min_relevance", self.min_relevance, 0.0..=1.0)?;
        check_range("min_similarity", self.min_similarity, 0.0..=1.0)?;
        for (field, labels) in [("tools", &self.tools), ("tags", &self.tags)] {
            check_count(field, labels.len(), field, LABELS_MAX)?;
            labels.iter().try_for_each(|label| check_text(field, label, LABEL_MAX_CHARS))?;
        }
        for (field, label) in [("domain", &self.domain), ("task_type", &self.task_type), ("session_id", &self.session)]
        {
            label.as_deref().map_or(Ok(()), |label| check_length(field, label, LABEL_MAX_CHARS))?;
        }
        if self.only_successful && self.status.is_some_and(|status| status != Outcome::Success) {
            return Err(Error::invalid("status", "is not SUCCESS, and only_successful is true; name one of them"));
        }
        let query = self.query.as_deref().unwrap_or_default();
        if self.strategy.needs_query() {
            check_text("query", query, TASK_MAX_CHARS)?;
        }
        Ok(query)
    }
}

/// A text that episodes are compared with.
struct ComparedText<'a> {
    query: &'a str,
    /// True where outcomes are compared, false where tasks and whole episodes are.
    of_outcome: bool,
    limit: usize,
    timeout: Option<Duration>,
}

impl EpisodesHandle {
    /// Finds episodes of a workspace.
    pub async fn search(&self, request: EpisodeQuery, deadline: Deadline) -> Result<EpisodeHits, Error> {
        let query = request.check()?.to_owned();
        let workspace = self.workspace_of(&request.workspace, deadline).await?;
        let filter = self.filter_of(&request, self.filter(workspace))?;
        match request.strategy {
            Strategy::Structured => {
                self.by_time(filter, "the labels and times fit; newest first", &request, deadline).await
            }
            Strategy::Temporal => {
                self.by_time(filter, "of the time or session; newest first", &request, deadline).await
            }
            Strategy::Semantic | Strategy::Hybrid => self.by_score(filter, &query, &request, deadline).await,
            Strategy::Failure => self.by_failure(filter, &query, &request, deadline).await,
        }
    }

    fn filter_of(&self, request: &EpisodeQuery, filter: EpisodeFilter) -> Result<EpisodeFilter, Error> {
        let (since, until) = request.made.read(filter.now).map_err(|bad| Error::invalid(bad.end, bad.problem))?;
        let recent = filter.now.checked_sub(SignedDuration::from_hours(24 * RECENT_DAYS)).ok();
        let since = if request.prefer_recent { since.max(recent) } else { since };
        // By meaning alone the domain raises the score, and leaves nothing out.
        let domain = request.domain.clone().filter(|_| request.strategy != Strategy::Semantic);
        Ok(EpisodeFilter {
            domain,
            task_type: request.task_type.clone(),
            status: if request.only_successful { Some(Outcome::Success) } else { request.status },
            tools: request.tools.iter().map(|tool| tool_name(tool, None)).collect(),
            tags: request.tags.clone(),
            session: request.session.clone(),
            since,
            until,
            with_failures: request.with_failures || request.strategy == Strategy::Failure,
            ..filter
        }
        .with_archived(request.include_archived))
    }

    async fn by_time(
        &self,
        filter: EpisodeFilter,
        reason: &str,
        request: &EpisodeQuery,
        deadline: Deadline,
    ) -> Result<EpisodeHits, Error> {
        let now = filter.now;
        let (workspace, tells_failures) = (filter.workspace.clone(), filter.with_failures);
        let mut rows = self.store.episodes(filter, None, request.k, deadline).await?;
        if let Some(workspace) = workspace.filter(|_| tells_failures) {
            self.name_readable(&mut rows, &workspace, deadline).await?;
        }
        let found = |row: &EpisodeRow| {
            let summary = EpisodeSummary::new(&row.trace, &row.state, self.rules, now);
            let failure = if tells_failures { row.trace.told_failure() } else { None };
            EpisodeFound { failure, ..EpisodeFound::by_time(summary, reason) }
        };
        Ok(EpisodeHits { hits: rows.iter().map(found).collect(), notes: Vec::new() })
    }

    async fn by_score(
        &self,
        filter: EpisodeFilter,
        query: &str,
        request: &EpisodeQuery,
        deadline: Deadline,
    ) -> Result<EpisodeHits, Error> {
        let weighed = (request.k * WEIGHED_FOR_EACH).max(WEIGHED_LEAST);
        let asked = ComparedText { query, of_outcome: false, limit: weighed, timeout: request.embedding_timeout };
        let (alike, notes) = self.alike(&filter, asked, deadline).await?;
        let (now, domain) = (filter.now, request.domain.as_deref());
        let mut scored: Vec<ScoredEpisode> = alike
            .into_iter()
            .map(|(inputs, similarity)| ScoredEpisode::new(inputs, similarity, domain, now))
            .filter(|scored| scored.is_found(&filter, request.min_relevance))
            .filter(|scored| scored.score.similarity() >= request.min_similarity)
            .collect();
        ScoredEpisode::rank(&mut scored);
        scored.truncate(request.k);
        let scores: HashMap<TraceId, EpisodeScore> = scored.iter().map(|of| (of.inputs.id, of.score)).collect();
        let mut rows = self.rows_of(&filter, scored.iter().map(|of| of.inputs.id).collect(), deadline).await?;
        if let Some(workspace) = &filter.workspace {
            self.name_readable(&mut rows, workspace, deadline).await?;
        }
        let found = |row: &EpisodeRow| {
            let score = *scores.get(&row.trace.trace_id)?;
            let summary = EpisodeSummary::new(&row.trace, &row.state, self.rules, now);
            Some(EpisodeFound { failure: row.trace.told_failure(), ..EpisodeFound::by_score(summary, score) })
        };
        Ok(EpisodeHits { hits: rows.iter().filter_map(found).collect(), notes })
    }

    /// Finds the failures that are like the one that was met: those with an equal signature first, then the same error
    /// in another domain, then what means something alike. Among equals those that were resolved come first. Episodes
    /// in which nothing failed are left out.
    async fn by_failure(
        &self,
        filter: EpisodeFilter,
        query: &str,
        request: &EpisodeQuery,
        deadline: Deadline,
    ) -> Result<EpisodeHits, Error> {
        let met = Signature::of(query, request.domain.as_deref());
        let printed = PrintedFailure::of(query);
        // The domain is a part of the signature here.
        let filter = EpisodeFilter { domain: None, ..filter };
        let weighed = (request.k * WEIGHED_FOR_EACH).max(WEIGHED_LEAST);
        let same = EpisodeFilter { signature: Some(met.clone()), ..filter.clone() };
        let same = if met.error().is_empty() {
            Vec::new()
        } else {
            self.store.episodes(same, None, weighed, deadline).await?
        };
        let asked = ComparedText { query, of_outcome: true, limit: weighed, timeout: request.embedding_timeout };
        let (alike, notes) = self.alike(&filter, asked, deadline).await?;
        let similarities: HashMap<TraceId, f64> =
            alike.iter().map(|(inputs, similarity)| (inputs.id, *similarity)).collect();
        let alike = self.rows_of(&filter, alike.into_iter().map(|(inputs, _)| inputs.id).collect(), deadline).await?;
        let mut seen = HashSet::new();
        let rows = same.into_iter().chain(alike);
        let mut rows: Vec<EpisodeRow> = rows.filter(|row| seen.insert(row.trace.trace_id)).collect();
        if let Some(workspace) = &filter.workspace {
            self.name_readable(&mut rows, workspace, deadline).await?;
        }
        let mut found: Vec<(bool, EpisodeFound)> = rows
            .into_iter()
            .map(|row| (matched_failure(&row.trace, &met, &printed), row))
            .filter(|(matched, row)| matched.failure.is_some() || row.trace.outcome != Outcome::Success)
            .map(|(matched, row)| {
                let is_resolved = matched.failure.as_ref().is_some_and(FailureAnalysis::is_resolved);
                let summary = EpisodeSummary::new(&row.trace, &row.state, self.rules, filter.now);
                let similarity = similarities.get(&row.trace.trace_id).copied().unwrap_or_default();
                (is_resolved, EpisodeFound::by_failure(summary, matched, similarity))
            })
            .filter(|(_, found)| found.score.is_none_or(|score| score > 0.0 && score >= request.min_relevance))
            .collect();
        found.sort_by(|(a_resolved, a), (b_resolved, b)| {
            let score = |of: &EpisodeFound| of.score.unwrap_or_default();
            let newest = b.episode.timestamp.cmp(&a.episode.timestamp);
            let by_tier = b.why.failure.cmp(&a.why.failure).then(b_resolved.cmp(a_resolved));
            by_tier.then(score(b).total_cmp(&score(a))).then(newest)
        });
        let hits = found.into_iter().map(|(_, found)| found).take(request.k).collect();
        Ok(EpisodeHits { hits, notes })
    }

    /// Reads what was found. What the filter lets through no more, as it was deleted meanwhile, is left out.
    async fn rows_of(
        &self,
        filter: &EpisodeFilter,
        ids: Vec<TraceId>,
        deadline: Deadline,
    ) -> Result<Vec<EpisodeRow>, Error> {
        let mut rows = self.store.episodes_of_ids(ids, deadline).await?;
        rows.retain(|row| filter.holds(&row.trace, &row.state));
        Ok(rows)
    }

    /// Finds the newest episodes in which the very failure that was printed was resolved.
    pub(crate) async fn resolved(
        &self,
        printed: &str,
        workspace: &WorkspaceRef,
        most: usize,
        deadline: Deadline,
    ) -> Result<Vec<EpisodeFound>, Error> {
        let met = Signature::of(printed, None);
        if met.error().is_empty() {
            return Ok(Vec::new());
        }
        let workspace = self.workspace_of(workspace, deadline).await?;
        let filter =
            EpisodeFilter { signature: Some(met.clone()), with_failures: true, ..self.filter(workspace.clone()) };
        let now = filter.now;
        let mut rows = self.store.episodes(filter, None, RESOLVED_LOOKED_AT, deadline).await?;
        self.name_readable(&mut rows, &workspace, deadline).await?;
        let printed = PrintedFailure::of(printed);
        let found = rows.iter().filter_map(|row| {
            let failure = resolved_failure(&row.trace, &met, &printed)?;
            let summary = EpisodeSummary::new(&row.trace, &row.state, self.rules, now);
            let found = FailureMatch { tier: FailureTier::Message, failure: Some(failure) };
            Some(EpisodeFound::by_failure(summary, found, 0.0))
        });
        Ok(found.take(most).collect())
    }

    /// Finds the episodes that are most like a text, with their similarities. Where there is no vector of the text,
    /// words are compared, and a note says so.
    async fn alike(
        &self,
        filter: &EpisodeFilter,
        ComparedText { query, of_outcome, limit, timeout }: ComparedText<'_>,
        deadline: Deadline,
    ) -> Result<(Vec<(ScoreInputs, f64)>, Vec<Note>), Error> {
        let by_words =
            |error: &EmbedError| Note::new(Code::EmbeddingUnavailable, format!("searched by words only: {error}"));
        let Some(workspace) = &filter.workspace else { return Ok(Default::default()) };
        let half = deadline.halfway();
        let until = timeout.map_or(half, |timeout| half.at_most(timeout));
        let asked = self.embedder.of(workspace).embed_query(query.to_owned(), until).await;
        let vector = match asked {
            Ok(vector) => vector,
            Err(error) => return Ok((self.by_words(filter, query, limit, deadline).await?, vec![by_words(&error)])),
        };
        let Some(vector) = QuantizedVector::of(&vector) else {
            return Ok((self.by_words(filter, query, limit, deadline).await?, Vec::new()));
        };
        // A process that answers once and ends has no background work that makes vectors, so it makes some before its
        // first search.
        if !self.filled.swap(true, Ordering::Relaxed)
            && let Err(error) = self.fill(filter.clone(), deadline.halfway()).await
        {
            tracing::debug!(code = error.code().as_str(), "episodes without vectors wait for the next try");
        }
        let embedder = self.embedder.fingerprint().to_string();
        let search = EpisodeSearch { filter: filter.clone(), vector, embedder, of_outcome, limit };
        Ok((self.store.nearest_episodes(search, deadline).await?, Vec::new()))
    }

    /// Compares the newest episodes by their words: the similarity is the part of the words of the query that the
    /// episode has.
    async fn by_words(
        &self,
        filter: &EpisodeFilter,
        query: &str,
        limit: usize,
        deadline: Deadline,
    ) -> Result<Vec<(ScoreInputs, f64)>, Error> {
        let wanted = terms::query(query);
        let rows = self.store.episodes(filter.clone(), None, COMPARED_BY_WORDS, deadline).await?;
        let mut found: Vec<(ScoreInputs, f64)> = rows
            .iter()
            .map(|row| {
                let EpisodeTexts { task, outcome, whole } = EpisodeTexts::of(&row.trace);
                let own: HashSet<String> = [task, outcome, whole].iter().flat_map(|text| terms::terms(text)).collect();
                let shared = wanted.iter().filter(|of| own.contains(&of.term)).count();
                #[allow(clippy::cast_precision_loss, reason = "a query has at most 128 terms")]
                let similarity = shared as f64 / wanted.len().max(1) as f64;
                (ScoreInputs::of(&row.trace, &row.state), similarity)
            })
            .filter(|(_, similarity)| *similarity > 0.0)
            .collect();
        found.sort_by(|a, b| b.1.total_cmp(&a.1));
        found.truncate(limit);
        Ok(found)
    }
}
