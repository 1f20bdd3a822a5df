//! Asks for episodes, patterns and contexts, one after another, by the calls that every client's question takes.

use std::time::Instant;

use reasoning_bank_actors::context::ContextRequest;
use reasoning_bank_actors::episodes::{EpisodeQuery, RecordEpisode};
use reasoning_bank_actors::memories::{PatternQuery, RetrieveRequest};
use reasoning_bank_actors::ports::Embedder;
use reasoning_bank_actors::system::SystemHandle;
use reasoning_bank_domain::episode::{EpisodeStatus, NewEpisode, Strategy};
use reasoning_bank_domain::note::Code;
use reasoning_bank_domain::pattern::features::TaskFeatures;
use reasoning_bank_domain::pattern::finding::PatternQuestion;

use super::made::{DOMAINS, TASK_TYPES};
use super::pace::each;
use super::report::{EpisodesFromTables, SearchTimes, ServedEpisodes};
use crate::eval::EvalError;
use crate::eval::report::LatencyPercentiles;
use crate::eval::speed::fill::batch_deadline;
use crate::eval::speed::ms;
use crate::eval::speed::synthetic::{Synthetic, SyntheticQuery};
use crate::process_memory;

/// The number of questions of each kind that are made up, and the most that are asked.
pub(crate) const QUESTIONS: u32 = 200;
/// The number of further questions that warm the bank up.
pub(crate) const WARM_UP: u32 = 20;
/// The number of episodes that are recorded.
const RECORDED: u32 = 30;
const RESULTS: usize = 10;

/// The caller that asks for the episodes of a bank.
pub(crate) struct EpisodeRunner<'a> {
    pub(crate) system: &'a SystemHandle,
    /// The bank that the episodes are of.
    pub(crate) bank: &'a Synthetic,
    /// Questions about episodes, and as many about tasks.
    pub(crate) questions: &'a [SyntheticQuery],
    pub(crate) tasks: &'a [SyntheticQuery],
    /// Queries of the memories.
    pub(crate) queries: &'a [SyntheticQuery],
}

impl EpisodeRunner<'_> {
    async fn memory_query(&self, number: u32) -> Result<(), EvalError> {
        let text = &self.queries[number as usize % self.queries.len()].text;
        let request =
            RetrieveRequest { min_relevance: Some(0.0), ..RetrieveRequest::new(text, Synthetic::workspace(), RESULTS) };
        let found = self.system.memories.retrieve(request, batch_deadline()).await?;
        found_some(found.memories.len(), "memory")
    }

    pub(crate) async fn memory_queries(&self) -> Result<LatencyPercentiles, EvalError> {
        each(WARM_UP, async |number| self.memory_query(number).await).await?;
        each(QUESTIONS, async |number| self.memory_query(WARM_UP + number).await).await
    }

    async fn semantic(&self, number: u32) -> Result<(), EvalError> {
        let text = self.questions[number as usize % self.questions.len()].text.clone();
        let query = EpisodeQuery::new(Synthetic::workspace(), Strategy::Semantic, Some(text), RESULTS);
        let found = self.system.episodes.search(query, batch_deadline()).await?;
        found_some(found.hits.len(), "episode")
    }

    async fn by_attributes(&self, number: u32) -> Result<(), EvalError> {
        let labels = self.bank.episode_labels(self.bank.episode_number(number));
        let query = EpisodeQuery {
            domain: Some(labels.domain.to_owned()),
            task_type: Some(labels.task_type.to_owned()),
            status: Some(labels.outcome),
            tools: vec![labels.tool.to_owned()],
            ..EpisodeQuery::new(Synthetic::workspace(), Strategy::Structured, None, RESULTS)
        };
        let found = self.system.episodes.search(query, batch_deadline()).await?;
        found_some(found.hits.len(), "episode with such labels")
    }

    async fn by_id(&self, number: u32) -> Result<(), EvalError> {
        let id = Synthetic::episode_id(self.bank.episode_number(number));
        self.system.episodes.get(id, &Synthetic::workspace(), batch_deadline()).await.map(drop).map_err(Into::into)
    }

    async fn patterns(&self, number: u32) -> Result<(), EvalError> {
        let (domain, task_type) =
            (DOMAINS[number as usize % DOMAINS.len()], TASK_TYPES[number as usize % TASK_TYPES.len()]);
        let features = TaskFeatures {
            domain: Some(domain.to_owned()),
            task_type: Some(task_type.to_owned()),
            ..TaskFeatures::default()
        };
        let question = PatternQuestion { features, ..PatternQuestion::default() };
        let query = PatternQuery { workspace: Synthetic::workspace(), question, explain: false };
        self.system.memories.find_patterns(query, batch_deadline()).await.map(drop).map_err(Into::into)
    }

    async fn context(&self, number: u32) -> Result<(), EvalError> {
        let task = &self.tasks[number as usize % self.tasks.len()].text;
        let domain = Some(DOMAINS[number as usize % DOMAINS.len()].to_owned());
        let request = ContextRequest { domain, ..ContextRequest::new(task, Synthetic::workspace()) };
        let answer = self.system.context.for_task(request, batch_deadline()).await?;
        match answer.notes.iter().find(|note| note.code == Some(Code::EmbeddingUnavailable)) {
            Some(note) => Err(EvalError::Part(note.detail.clone())),
            None => Ok(()),
        }
    }

    async fn record(&self, number: u32) -> Result<(), EvalError> {
        let task = format!("{} {number}", self.tasks[number as usize % self.tasks.len()].text);
        let mut episode = NewEpisode::new(task, EpisodeStatus::Success);
        episode.metadata.tools_used = vec!["cargo test".into()];
        let request = RecordEpisode { episode, workspace: Synthetic::workspace(), session: Some("measured".into()) };
        self.system.episodes.record(request, batch_deadline()).await.map(drop).map_err(Into::into)
    }

    /// Asks everything of a process that serves. `embedder` is that of the tasks.
    pub(crate) async fn served<E: Embedder>(
        &self,
        embedder: &E,
        resident_bytes: impl AsyncFn() -> u64,
    ) -> Result<ServedEpisodes, EvalError> {
        let begun = Instant::now();
        self.semantic(0).await?;
        let first_search_ms = ms(begun.elapsed());
        let memory_query_ms = self.memory_queries().await?;
        let by_id_ms = each(QUESTIONS, async |number| self.by_id(number).await).await?;
        let by_attributes_ms = each(QUESTIONS, async |number| self.by_attributes(number).await).await?;
        each(WARM_UP, async |number| self.semantic(number).await).await?;
        let semantic_ms = each(QUESTIONS, async |number| self.semantic(WARM_UP + number).await).await?;
        self.patterns(0).await?;
        let patterns_ms = each(QUESTIONS, async |number| self.patterns(number).await).await?;
        let embed = async |number: u32| {
            let text = format!("{} again", self.tasks[number as usize % self.tasks.len()].text);
            // The model is asked, and the vector of such a text is not there: only the time counts.
            let _ = embedder.embed_query(text, batch_deadline()).await;
            Ok(())
        };
        each(WARM_UP, async |number| embed(number).await).await?;
        let embedding_ms = each(QUESTIONS / 3, async |number| embed(WARM_UP + number).await).await?;
        each(WARM_UP, async |number| self.context(number).await).await?;
        let context_ms = each(QUESTIONS / 3, async |number| self.context(WARM_UP + number).await).await?;
        let resident_bytes = resident_bytes().await;
        let rss_bytes = process_memory::read().now;
        let (mut record_times, mut search_times) = (Vec::new(), Vec::new());
        for number in 0..RECORDED {
            let begun = Instant::now();
            self.record(number).await?;
            record_times.push(ms(begun.elapsed()));
            let begun = Instant::now();
            self.semantic(number).await?;
            search_times.push(ms(begun.elapsed()));
        }
        Ok(ServedEpisodes {
            first_search_ms,
            by_id_ms,
            by_attributes_ms,
            semantic_ms,
            patterns_ms,
            context_ms,
            embedding_ms,
            memory_query_ms,
            record_ms: LatencyPercentiles::of(&record_times),
            semantic_after_record_ms: LatencyPercentiles::of(&search_times),
            resident_bytes,
            rss_bytes,
        })
    }

    pub(crate) async fn served_from_tables(&self) -> Result<EpisodesFromTables, EvalError> {
        self.semantic(0).await?;
        Ok(EpisodesFromTables {
            by_attributes_ms: each(QUESTIONS, async |number| self.by_attributes(number).await).await?,
            semantic_ms: each(QUESTIONS, async |number| self.semantic(number).await).await?,
            rss_bytes: process_memory::read().now,
        })
    }

    /// Asks for memories and for episodes in turn, `most` times at most, until `is_over`. Returns how often, too.
    pub(crate) async fn in_turn(
        &self,
        most: u32,
        is_over: impl Fn() -> bool,
    ) -> Result<(SearchTimes, usize), EvalError> {
        let (mut of_memories, mut of_episodes) = (Vec::new(), Vec::new());
        for number in 0..most {
            if is_over() {
                break;
            }
            let begun = Instant::now();
            self.memory_query(number).await?;
            of_memories.push(ms(begun.elapsed()));
            let begun = Instant::now();
            self.semantic(number).await?;
            of_episodes.push(ms(begun.elapsed()));
        }
        let times = SearchTimes {
            memory_query_ms: LatencyPercentiles::of(&of_memories),
            semantic_ms: LatencyPercentiles::of(&of_episodes),
        };
        Ok((times, of_memories.len()))
    }
}

fn found_some(count: usize, what: &str) -> Result<(), EvalError> {
    if count == 0 { Err(EvalError::Part(format!("no {what} was found"))) } else { Ok(()) }
}
