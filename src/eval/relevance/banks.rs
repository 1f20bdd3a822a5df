//! The banks that are made of a set, and the questions that each is asked. Every bank is a sample of the documents.
//! Half of its questions of the same set have their answers in it; of the other half no answer is left in it. It is
//! also asked questions of other sets.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::eval::EvalError;
use crate::eval::dataset::{self, Corpus, CorpusDocument, DatasetQuery};

/// One of this many memories of a bank answers a question.
const MEMORIES_A_QUESTION: usize = 3;

pub(crate) struct Set {
    /// The name of the set's directory.
    pub(crate) name: String,
    pub(crate) documents: Vec<CorpusDocument>,
    pub(crate) queries: Vec<AnswerableQuery>,
}

/// A query with answers in its set.
pub(crate) struct AnswerableQuery {
    pub(crate) id: String,
    pub(crate) text: String,
    workspace: Option<String>,
    /// The numbers of the documents that answer it, and of those with the same words.
    gold: BTreeSet<usize>,
    exclude: BTreeSet<usize>,
}

/// The kinds of questions that a bank is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum QuestionKind {
    /// The bank has the answer.
    Answerable,
    /// The question is of the same set, and its answer was taken out.
    Removed,
    /// The question is of another set.
    Foreign,
}

pub(crate) struct BankQuestion {
    pub(crate) kind: QuestionKind,
    pub(crate) id: String,
    pub(crate) text: String,
    /// The numbers of the documents that answer it. There are none unless the question is answerable.
    pub(crate) gold: BTreeSet<usize>,
}

pub(crate) struct SampledBank {
    /// The numbers of the documents in the bank.
    pub(crate) documents: Vec<usize>,
    pub(crate) questions: Vec<BankQuestion>,
}

impl Set {
    /// Reads `corpus.jsonl` and `queries.jsonl` of a directory. Queries without an answer in the corpus are left out.
    ///
    /// # Errors
    /// The error names every line that is wrong, up to a bound.
    pub(crate) fn read(directory: &Path) -> Result<Self, EvalError> {
        let corpus = Corpus::open(&directory.join("corpus.jsonl"))?;
        let mut documents: Vec<CorpusDocument> = Vec::with_capacity(corpus.len());
        corpus.each(|_, document| {
            documents.push(document);
            Ok(())
        })?;
        let mut same: HashMap<(&str, &str), Vec<usize>> = HashMap::new();
        for (number, document) in documents.iter().enumerate() {
            same.entry((&document.title, &document.text)).or_default().push(number);
        }
        let named = |id: &str| {
            let document = &documents[corpus.number(id)? as usize];
            same.get(&(document.title.as_str(), document.text.as_str())).cloned()
        };
        let judged = |query: DatasetQuery| AnswerableQuery {
            gold: query.gold.ids().filter_map(named).flatten().collect(),
            exclude: query.exclude.iter().filter_map(|id| named(id)).flatten().collect(),
            id: query.id,
            text: query.text,
            workspace: query.workspace,
        };
        let queries = dataset::queries(&directory.join("queries.jsonl"))?.into_iter().map(judged);
        let queries = queries.filter(|query| !query.gold.is_empty()).collect();
        let name = directory.file_name().unwrap_or(directory.as_os_str()).to_string_lossy().into_owned();
        Ok(Self { name, documents, queries })
    }

    /// Returns the queries in an order that follows from the seed alone.
    pub(crate) fn shuffled(&self, seed: u64) -> Vec<&AnswerableQuery> {
        shuffled(&self.queries, seed, |query| &query.id)
    }

    /// Makes banks of `size` memories, or of fewer where the set has no more, until `questions` with an answer have
    /// been asked, or every one of them once. `foreign` are the queries of other sets, which are asked in this order.
    pub(crate) fn banks(
        &self,
        size: usize,
        questions: usize,
        seed: u64,
        foreign: &[&AnswerableQuery],
    ) -> Vec<SampledBank> {
        let mut groups: BTreeMap<Option<&str>, Vec<&AnswerableQuery>> = BTreeMap::new();
        for query in self.shuffled(seed) {
            groups.entry(query.workspace.as_deref()).or_default().push(query);
        }
        let mut foreign = foreign.iter().cycle();
        let mut groups: Vec<WorkspaceQueries> =
            groups.into_iter().map(|(workspace, queries)| WorkspaceQueries::new(workspace, queries)).collect();
        let (mut banks, mut asked) = (Vec::new(), 0);
        while asked < questions {
            let before = asked;
            for group in &mut groups {
                let most = (size / MEMORIES_A_QUESTION).max(1).min(questions.saturating_sub(asked));
                let Some(mut bank) = group.bank(self, size, most, seed.wrapping_add(banks.len() as u64)) else {
                    continue;
                };
                let answerable =
                    bank.questions.iter().filter(|question| question.kind == QuestionKind::Answerable).count();
                bank.questions
                    .extend(foreign.by_ref().take(answerable).map(|query| query.asked(QuestionKind::Foreign)));
                asked += answerable;
                banks.push(bank);
            }
            if asked == before {
                break;
            }
        }
        banks
    }
}

impl AnswerableQuery {
    fn asked(&self, kind: QuestionKind) -> BankQuestion {
        let gold = if kind == QuestionKind::Answerable { self.gold.clone() } else { BTreeSet::new() };
        BankQuestion { kind, id: self.id.clone(), text: self.text.clone(), gold }
    }
}

/// The queries of one workspace. They are asked one after another, each once with its answer in the bank.
struct WorkspaceQueries<'a> {
    workspace: Option<&'a str>,
    queries: Vec<&'a AnswerableQuery>,
    next: usize,
}

impl<'a> WorkspaceQueries<'a> {
    fn new(workspace: Option<&'a str>, queries: Vec<&'a AnswerableQuery>) -> Self {
        Self { workspace, queries, next: 0 }
    }

    /// Makes the next bank. There is none where all queries have been asked, or where too few are left to leave some
    /// without an answer.
    fn bank(&mut self, set: &Set, size: usize, most: usize, seed: u64) -> Option<SampledBank> {
        let left = &self.queries[self.next..];
        let most = most.min(self.queries.len() / 2).min(left.len());
        let (mut documents, mut answerable): (BTreeSet<usize>, Vec<&AnswerableQuery>) = (BTreeSet::new(), Vec::new());
        for query in left.iter().take(most) {
            let more: BTreeSet<usize> = documents.union(&query.gold).copied().collect();
            if more.len() <= size || answerable.is_empty() {
                (documents, _) = (more, answerable.push(query));
            }
        }
        // The queries that are asked last in a later bank are without an answer in this one.
        let others = self.queries.iter().cycle().skip(self.next + most).take(self.queries.len() - most);
        let has_none = |query: &&&AnswerableQuery| query.gold.is_disjoint(&documents);
        let removed: Vec<&AnswerableQuery> = others.filter(has_none).take(answerable.len()).copied().collect();
        self.next += most;
        if answerable.is_empty() || removed.is_empty() {
            return None;
        }
        let mut absent: BTreeSet<usize> = removed.iter().flat_map(|query| query.gold.iter().copied()).collect();
        absent.extend(answerable.iter().chain(&removed).flat_map(|query| query.exclude.iter().copied()));
        let numbers: Vec<usize> = (0..set.documents.len()).collect();
        let may_be_there = |number: &usize| {
            let own = self.workspace.is_none() || set.documents[*number].workspace.as_deref() == self.workspace;
            own && !absent.contains(number)
        };
        let mut rest = shuffled(&numbers, seed, ToString::to_string).into_iter().copied().filter(may_be_there);
        while documents.len() < size {
            let Some(number) = rest.next() else { break };
            documents.insert(number);
        }
        let questions = answerable.iter().map(|query| query.asked(QuestionKind::Answerable));
        let questions = questions.chain(removed.iter().map(|query| query.asked(QuestionKind::Removed))).collect();
        Some(SampledBank { documents: documents.into_iter().collect(), questions })
    }
}

/// Returns the items in an order that follows from the seed alone.
fn shuffled<'a, T, K: AsRef<[u8]>>(all: &'a [T], seed: u64, key: impl Fn(&'a T) -> K) -> Vec<&'a T> {
    let mut all: Vec<&T> = all.iter().collect();
    all.sort_by_cached_key(|one| {
        Sha256::new().chain_update(seed.to_le_bytes()).chain_update(key(one)).finalize().to_vec()
    });
    all
}
