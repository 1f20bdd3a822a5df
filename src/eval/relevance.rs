//! `eval relevance` measures how well an answer knows that it is one. Banks of several sizes are sampled from retrieval
//! sets and asked as every client asks: questions whose answers are there, questions of the same set whose answers are
//! not, and questions of other sets.

mod banks;
mod fit;
pub(crate) mod report;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::time::Duration;

use jiff::Timestamp;
use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::memories::{Restorable, RetrieveRequest};
use reasoning_bank_actors::ports::{Conditions, Embedder, Passage, Recall, Visible};
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_actors::system::SystemHandle;
use reasoning_bank_actors::workspaces::WorkspaceRef;
use reasoning_bank_domain::memory::Memory;
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::memory::workspace::WorkspaceId;
use reasoning_bank_domain::retrieval::candidates::{Candidates, MatchedTerms, over_fetch};
use reasoning_bank_domain::retrieval::ranking::Ranking;
use reasoning_bank_domain::retrieval::relevance::{Coefficients, is_far_below};
use reasoning_bank_domain::retrieval::score::{Profile, QueryContext};
use reasoning_bank_domain::safety::secrets::Scrub;
use uuid::Uuid;

use self::banks::{AnswerableQuery, BankQuestion, SampledBank};
use self::fit::{Example, fit};
use self::report::{AnswerObservation, Fitted, RelevanceReport, RelevanceRow, ShownMemory, calibration_error, weight};
use super::EvalError;
use super::retrieval::memory;

pub(crate) use self::banks::Set;

const BATCH: usize = 128;
const BATCH_TIMEOUT: Duration = Duration::from_secs(600);
const QUERY_TIMEOUT: Duration = Duration::from_secs(60);
/// An answer has this many memories.
const SHOWN: usize = 5;
/// The coefficients are fitted to the first memory of an answer, because what an agent reads first decides.
const FITTED: usize = 1;

pub(crate) struct RelevancePlan {
    pub(crate) sizes: Vec<usize>,
    /// The number of questions of each kind for one set and one size.
    pub(crate) questions: usize,
    pub(crate) seed: u64,
    pub(crate) fit: bool,
    /// The relevance that an answer needs, as in the settings of the bank that is asked.
    pub(crate) min_relevance: f64,
}

/// The observations of the banks of one set and one size.
struct SizeObservations {
    set: usize,
    size: usize,
    memories: f64,
    observations: Vec<AnswerObservation>,
}

/// A bank that has been stored.
struct StoredBank {
    root: String,
    documents: HashMap<MemoryId, usize>,
}

/// The memories of documents with their passages, embedded once.
type Embedded = HashMap<usize, (Memory, Vec<Passage>)>;

/// Asks everything that the plan says. `done` is told how many questions were answered.
pub(crate) async fn measure(
    sets: &[Set],
    plan: &RelevancePlan,
    system: &SystemHandle,
    embedder: &impl Embedder,
    done: impl Fn(u64),
) -> Result<RelevanceReport, EvalError> {
    let mut ids = IdCounter(0);
    let mut asked = 0;
    let mut seen: Vec<SizeObservations> = Vec::new();
    for (number, set) in sets.iter().enumerate() {
        let foreign = foreign(sets, number, plan.seed);
        let sizes = plan.sizes.iter().map(|size| (*size, set.banks(*size, plan.questions, plan.seed, &foreign)));
        let sizes: Vec<(usize, Vec<SampledBank>)> = sizes.collect();
        let banks = sizes.iter().flat_map(|(_, banks)| banks);
        let documents: BTreeSet<usize> = banks.flat_map(|bank| bank.documents.iter().copied()).collect();
        let embedded = embed(set, documents.into_iter().collect(), &mut ids, system).await?;
        for (size, banks) in sizes {
            let mut observations = Vec::new();
            for (place, bank) in banks.iter().enumerate() {
                let root = format!("/eval/relevance/{number}/{size}/{place}");
                let stored = store(bank, root, &embedded, &mut ids, system).await?;
                for question in &bank.questions {
                    observations.push(ask(question, &stored, system, embedder).await?);
                    asked += 1;
                    done(asked);
                }
            }
            let memories: usize = banks.iter().map(|bank| bank.documents.len()).sum();
            let memories = memories as f64 / banks.len().max(1) as f64;
            seen.push(SizeObservations { set: number, size, memories, observations });
        }
    }
    Ok(RelevanceReport {
        embedder: embedder.fingerprint().to_string(),
        min_relevance: plan.min_relevance,
        rows: rows(sets, &seen),
        calibration: calibration(plan, &seen),
        fitted: plan.fit.then(|| fitted(sets, plan, &seen)),
    })
}

/// Lists the questions of the other sets, one of each set in turn.
fn foreign(sets: &[Set], own: usize, seed: u64) -> Vec<&AnswerableQuery> {
    let others = sets.iter().enumerate().filter(|(number, _)| *number != own);
    let others: Vec<Vec<&AnswerableQuery>> = others.map(|(_, set)| set.shuffled(seed)).collect();
    let longest = others.iter().map(Vec::len).max().unwrap_or_default();
    (0..longest).flat_map(|turn| others.iter().filter_map(move |set| set.get(turn).copied())).collect()
}

struct IdCounter(u128);

impl IdCounter {
    fn next(&mut self) -> MemoryId {
        self.0 += 1;
        Uuid::from_u128(self.0).into()
    }
}

async fn embed(
    set: &Set,
    documents: Vec<usize>,
    ids: &mut IdCounter,
    system: &SystemHandle,
) -> Result<Embedded, EvalError> {
    let now = Timestamp::now();
    let workspace = WorkspaceId::of_root("/eval/relevance");
    let mut embedded = Embedded::new();
    for numbers in documents.chunks(BATCH) {
        let mut memories = Vec::new();
        for number in numbers {
            let mut memory = memory(set.documents[*number].clone(), now);
            memory.scrub();
            (memory.id, memory.workspace_id) = (ids.next(), workspace.clone());
            memories.push(memory);
        }
        let of: Vec<MemoryId> = memories.iter().map(|memory| memory.id).collect();
        let things = memories.into_iter().map(|memory| Restorable::Memory { memory, passages: Vec::new() }).collect();
        system.memories.restore(things, Deadline::after(BATCH_TIMEOUT)).await?;
        let stored = system.store.get(of.clone(), Deadline::after(BATCH_TIMEOUT)).await?;
        let mut stored: HashMap<MemoryId, Memory> = stored.into_iter().map(|row| (row.memory.id, row.memory)).collect();
        let mut passages = system.store.passages(of.clone(), Deadline::after(BATCH_TIMEOUT)).await?;
        for (number, id) in numbers.iter().zip(of) {
            if let (Some(memory), Some(passages)) = (stored.remove(&id), passages.remove(&id)) {
                embedded.insert(*number, (memory, passages));
            }
        }
    }
    Ok(embedded)
}

/// Stores a bank in a workspace of its own.
async fn store(
    bank: &SampledBank,
    root: String,
    embedded: &Embedded,
    ids: &mut IdCounter,
    system: &SystemHandle,
) -> Result<StoredBank, Error> {
    let workspace = WorkspaceId::of_root(&root);
    let mut documents = HashMap::new();
    let mut things = Vec::new();
    for number in &bank.documents {
        let Some((memory, passages)) = embedded.get(number) else { continue };
        let id = ids.next();
        documents.insert(id, *number);
        let memory = Memory { id, workspace_id: workspace.clone(), ..memory.clone() };
        things.push(Restorable::Memory { memory, passages: passages.clone() });
    }
    for things in things.chunks(BATCH) {
        system.memories.restore(things.to_vec(), Deadline::after(BATCH_TIMEOUT)).await?;
    }
    Ok(StoredBank { root, documents })
}

async fn ask(
    question: &BankQuestion,
    stored: &StoredBank,
    system: &SystemHandle,
    embedder: &impl Embedder,
) -> Result<AnswerObservation, EvalError> {
    let failed = |error| EvalError::Query { id: question.id.clone(), error };
    let workspace = || WorkspaceRef::Root(stored.root.clone());
    let answer = RetrieveRequest::new(question.text.clone(), workspace(), SHOWN);
    let wide = RetrieveRequest { min_relevance: Some(0.0), ..answer.clone() };
    let answer = system.memories.retrieve(answer, Deadline::after(QUERY_TIMEOUT)).await.map_err(failed)?;
    let wide = system.memories.retrieve(wide, Deadline::after(QUERY_TIMEOUT)).await.map_err(failed)?;
    let kept: HashSet<MemoryId> = answer.memories.into_iter().map(|found| found.memory.id).collect();
    let is_right = |id: &MemoryId| stored.documents.get(id).is_some_and(|number| question.gold.contains(number));
    let shown = wide.memories.iter().map(|found| ShownMemory {
        is_right: is_right(&found.memory.id),
        relevance: found.relevance,
        is_kept: kept.contains(&found.memory.id),
    });
    let recall = Recall {
        visible: Visible { workspace: Some(WorkspaceId::of_root(&stored.root)), team: None, org: None },
        conditions: Conditions::default(),
        with_superseded: false,
        text: Some(question.text.clone()),
        vector: embedder.embed_query(question.text.clone(), Deadline::after(QUERY_TIMEOUT)).await.ok(),
        signature: None,
        limit: over_fetch(SHOWN),
    };
    let found = system.store.candidates(recall, Deadline::after(QUERY_TIMEOUT)).await.map_err(failed)?;
    let by_words = Candidates { vector: None, ..found.clone() };
    let by_vectors = Candidates { text: None, terms: MatchedTerms::default(), ..found.clone() };
    Ok(AnswerObservation {
        kind: question.kind,
        right: question.gold.len(),
        shown: shown.collect(),
        evidence: [found, by_words, by_vectors].map(|candidates| evidence(candidates, is_right)),
    })
}

/// Collects the evidence for the memories of an answer, best first.
fn evidence(candidates: Candidates, is_right: impl Fn(&MemoryId) -> bool) -> Vec<Example> {
    let asked = QueryContext {
        now: Timestamp::now(),
        signature: None,
        domain: None,
        majority_domain: None,
        mentions_error: false,
        compares_meaning: true,
    };
    let ranking = Ranking::of(candidates, &asked, &Profile::default());
    let example = |features, id| Example { features, is_relevant: is_right(id), weight: 1.0 };
    let examples = ranking.kept().take(SHOWN).filter_map(|one| Some(example(one.score.why.relevance?, &one.facts.id)));
    examples.collect()
}

fn rows(sets: &[Set], seen: &[SizeObservations]) -> Vec<RelevanceRow> {
    seen.iter().map(|one| RelevanceRow::of(&sets[one.set].name, one.size, one.memories, &one.observations)).collect()
}

fn calibration(plan: &RelevancePlan, seen: &[SizeObservations]) -> Vec<(usize, f64)> {
    let of_size = |size: usize| seen.iter().filter(move |one| one.size == size).map(|one| &one.observations[..]);
    plan.sizes.iter().map(|size| (*size, calibration_error(of_size(*size)))).collect()
}

fn fitted(sets: &[Set], plan: &RelevancePlan, seen: &[SizeObservations]) -> Fitted {
    let is_kept = |relevance: f64, best: f64| relevance >= plan.min_relevance && !is_far_below(relevance, best);
    let mut left_out: Vec<SizeObservations> = Vec::new();
    for number in 0..sets.len() {
        let (own, others): (Vec<&SizeObservations>, Vec<&SizeObservations>) =
            seen.iter().partition(|one| one.set == number);
        let coefficients = fit(&examples(&others, 0));
        left_out.extend(own.into_iter().map(|one| SizeObservations {
            observations: one.observations.iter().map(|one| one.judged_by(&coefficients, is_kept)).collect(),
            ..*one
        }));
    }
    let all: Vec<&SizeObservations> = seen.iter().collect();
    let names = ["HYBRID", "KEYWORD", "VECTOR"].into_iter().enumerate();
    let source = names.map(|(mode, name)| in_source(name, &fit(&examples(&all, mode))));
    Fitted {
        source: source.collect::<Vec<String>>().join("\n"),
        left_out: rows(sets, &left_out),
        calibration: calibration(plan, &left_out),
    }
}

fn examples(seen: &[&SizeObservations], mode: usize) -> Vec<Example> {
    let of = |seen: &&SizeObservations| {
        let of_kind = |kind| seen.observations.iter().filter(|one| one.kind == kind).count();
        let weighed = |one: &AnswerObservation| {
            let weight = weight(one.kind, of_kind(one.kind));
            let first = one.evidence[mode].iter().take(FITTED);
            first.map(|example| Example { weight, ..*example }).collect::<Vec<Example>>()
        };
        seen.observations.iter().flat_map(weighed).collect::<Vec<Example>>()
    };
    seen.iter().flat_map(of).collect()
}

/// Writes coefficients as the source of the domain holds them.
fn in_source(name: &str, coefficients: &Coefficients) -> String {
    let Coefficients { intercept, cosine, terms, saturation, lead, margin, agreement, crowd } = coefficients;
    format!(
        "pub const {name}: Self = Self {{\n    intercept: {intercept:.2},\n    cosine: {cosine:.2},\n    terms: {terms:.2},\n    \
         saturation: {saturation:.2},\n    lead: {lead:.2},\n    margin: {margin:.2},\n    agreement: {agreement:.2},\n    crowd: {crowd:.2},\n}};"
    )
}
