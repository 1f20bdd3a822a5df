//! Columns: what an owner index knows of its memories beside their passages. They hold the fields that scoring needs,
//! and those that searches are narrowed by. A value that many memories share (a domain, a tag, a signature) is kept
//! once.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use jiff::Timestamp;
use sha2::{Digest, Sha256};

use super::hits::push;
use reasoning_bank_domain::memory::ids::{MemoryId, TraceId};
use reasoning_bank_domain::memory::label::label_key;
use reasoning_bank_domain::memory::signature::{Signature, SignatureFrequency};
use reasoning_bank_domain::memory::{Facts, Memory, MemoryOutcome, Scope, SourceType};
use reasoning_bank_domain::retrieval::conditions::Conditions;
use reasoning_bank_domain::text::hex::hex;

/// A memory as an owner index takes it.
#[derive(Debug, Clone, PartialEq)]
pub struct IndexedMemory {
    pub facts: Facts,
    pub tags: Vec<String>,
    pub difficulty: Option<String>,
    pub source_type: SourceType,
    pub location: RowLocation,
}

impl IndexedMemory {
    pub fn new(memory: &Memory, row_id: u64) -> Self {
        Self {
            facts: Facts::from(memory),
            tags: memory.pattern_tags.clone(),
            difficulty: memory.difficulty_level.clone(),
            source_type: memory.source_type,
            location: RowLocation { row_id, revision: memory.revision },
        }
    }
}

/// The place and the revision of a memory, as the owner index knows them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowLocation {
    /// The place of the memory in the store, in the store's own terms. The store may have moved it since.
    pub row_id: u64,
    pub revision: u64,
}

/// The fields of a memory that are needed once it is found.
#[derive(Debug)]
struct ScoreFields {
    id: MemoryId,
    text_key: [u8; 32],
    trace_id: Option<TraceId>,
    prior: f64,
    tags: Box<[u32]>,
    /// This is [`RowLocation::row_id`].
    row_id: u64,
    revision: ShortRevision,
    /// The revision whose passages are here, if there are any.
    passages_of: ShortRevision,
    scope: Scope,
    pinned: bool,
}

/// The fields that narrow a search. A search reads them of every memory.
#[derive(Debug)]
struct FilterFields {
    created_at: Timestamp,
    domain: u32,
    difficulty: u32,
    signature: u32,
    outcome: MemoryOutcome,
    source_type: SourceType,
}

/// A revision, or none. Every memory has two of them here, so each takes six bytes.
/// [`reasoning_bank_domain::learning::imported::REVISION_MAX`] is far below what these hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ShortRevision([u8; 6]);

impl ShortRevision {
    const NONE: Self = Self([u8::MAX; 6]);
    const LAST: u64 = (1 << 48) - 2;

    fn new(revision: u64) -> Self {
        let [_, _, bytes @ ..] = revision.min(Self::LAST).to_be_bytes();
        Self(bytes)
    }

    fn get(self) -> Option<u64> {
        let [a, b, c, d, e, f] = self.0;
        (self != Self::NONE).then(|| u64::from_be_bytes([0, 0, a, b, c, d, e, f]))
    }
}

impl ScoreFields {
    fn tags_bytes(&self) -> usize {
        allocated(size_of_val(&*self.tags))
    }
}

#[derive(Debug, Default)]
pub(super) struct MemoryColumns {
    /// This and the next two have an entry for each number, including numbers that were given up.
    rows: Vec<ScoreFields>,
    filters: Vec<FilterFields>,
    here: Vec<bool>,
    numbers: HashMap<MemoryId, u32>,
    names: Shared<String>,
    tags: Shared<String>,
    signatures: Shared<Signature>,
    /// The bytes that the tags of all rows take, beside the rows.
    tags_bytes: usize,
}

impl MemoryColumns {
    pub(super) fn put(&mut self, indexed: IndexedMemory) {
        let IndexedMemory { facts, tags, difficulty, source_type, location } = indexed;
        let id = facts.id;
        let row = ScoreFields {
            id,
            text_key: packed(&facts.text_key),
            trace_id: facts.trace_id,
            prior: facts.prior,
            tags: tags.into_iter().map(|tag| self.tags.number(tag)).collect(),
            row_id: location.row_id,
            revision: ShortRevision::new(location.revision),
            passages_of: ShortRevision::NONE,
            scope: facts.scope,
            pinned: facts.pinned,
        };
        let filter = FilterFields {
            created_at: facts.created_at,
            domain: facts.domain.map_or(0, |domain| self.names.number(domain)),
            difficulty: difficulty.map_or(0, |difficulty| self.names.number(difficulty)),
            signature: facts.signature.map_or(0, |signature| self.signatures.number(signature)),
            outcome: facts.outcome,
            source_type,
        };
        match self.number(id) {
            Some(number) => {
                let former = &self.rows[number];
                self.tags_bytes = self.tags_bytes + row.tags_bytes() - former.tags_bytes();
                self.rows[number] = ScoreFields { passages_of: former.passages_of, ..row };
                self.filters[number] = filter;
            }
            None => self.add(row, filter),
        }
    }

    fn add(&mut self, row: ScoreFields, filter: FilterFields) {
        self.numbers.insert(row.id, self.rows.len() as u32);
        self.tags_bytes += row.tags_bytes();
        push(&mut self.rows, row);
        push(&mut self.filters, filter);
        push(&mut self.here, true);
    }

    fn number(&self, id: MemoryId) -> Option<usize> {
        self.numbers.get(&id).map(|number| *number as usize)
    }

    pub(super) fn remove(&mut self, id: MemoryId) {
        if let Some(number) = self.numbers.remove(&id) {
            self.here[number as usize] = false;
        }
    }

    /// Gives the memory another number, so that none of its passages are found any more.
    pub(super) fn renumber(&mut self, id: MemoryId) {
        let Some(number) = self.number(id).filter(|number| self.rows[*number].passages_of != ShortRevision::NONE)
        else {
            return;
        };
        self.here[number] = false;
        let (row, filter) = (&mut self.rows[number], &self.filters[number]);
        self.tags_bytes -= row.tags_bytes();
        let row = ScoreFields { tags: std::mem::take(&mut row.tags), passages_of: ShortRevision::NONE, ..*row };
        let filter = FilterFields { ..*filter };
        self.add(row, filter);
    }

    /// Returns the number that passages of this revision of the memory get. None where the memory is not here, or where
    /// its passages are those of a later revision.
    pub(super) fn number_for_passages(&mut self, id: MemoryId, revision: u64) -> Option<u32> {
        match self.rows[self.number(id)?].passages_of.get() {
            Some(passages_of) if passages_of > revision => return None,
            Some(passages_of) if passages_of < revision => self.renumber(id),
            _ => {}
        }
        let number = self.number(id)?;
        self.rows[number].passages_of = ShortRevision::new(revision);
        Some(number as u32)
    }

    pub(super) fn passages_of(&self, id: MemoryId) -> Option<u64> {
        self.rows[self.number(id)?].passages_of.get()
    }

    pub(super) fn contains(&self, id: MemoryId) -> bool {
        self.numbers.contains_key(&id)
    }

    pub(super) fn ids(&self) -> impl ExactSizeIterator<Item = MemoryId> {
        self.numbers.keys().copied()
    }

    pub(super) fn is_here(&self, number: u32) -> bool {
        self.here[number as usize]
    }

    pub(super) fn id(&self, number: u32) -> MemoryId {
        self.rows[number as usize].id
    }

    /// Returns how many numbers were given, and how many of them were given up.
    pub(super) fn numbered(&self) -> (usize, usize) {
        (self.rows.len(), self.rows.len() - self.numbers.len())
    }

    pub(super) fn location(&self, id: MemoryId) -> Option<RowLocation> {
        let row = &self.rows[self.number(id)?];
        Some(RowLocation { row_id: row.row_id, revision: row.revision.get()? })
    }

    pub(super) fn moved(&mut self, id: MemoryId, row_id: u64) {
        if let Some(number) = self.number(id) {
            self.rows[number].row_id = row_id;
        }
    }

    pub(super) fn facts(&self, id: MemoryId) -> Option<Facts> {
        let number = self.number(id)?;
        let (row, filter) = (&self.rows[number], &self.filters[number]);
        Some(Facts {
            id,
            scope: row.scope,
            outcome: filter.outcome,
            signature: self.signatures.get(filter.signature).cloned(),
            domain: self.names.get(filter.domain).cloned(),
            prior: row.prior,
            pinned: row.pinned,
            created_at: filter.created_at,
            trace_id: row.trace_id,
            text_key: hex(&row.text_key),
        })
    }

    /// Counts the memories that are here and warn of any error, and those of them that warn of this one.
    pub(super) fn signature_frequency(&self, error: &Signature) -> SignatureFrequency {
        let matching = self.signatures.those(|own| error.matches(own));
        let mut signature_frequency = SignatureFrequency::default();
        for (filter, _) in self.filters.iter().zip(&self.here).filter(|(filter, here)| **here && filter.signature != 0)
        {
            signature_frequency.warnings += 1;
            signature_frequency.of_this += u64::from(matching.contains(&filter.signature));
        }
        signature_frequency
    }

    /// Returns the wanted memories that are here and warn of this error.
    pub(super) fn warning_of(&self, error: &Signature, wanted: &NumberedConditions) -> impl Iterator<Item = MemoryId> {
        let matching = self.signatures.those(|own| error.matches(own));
        let numbers = (0..self.rows.len()).filter(move |number| matching.contains(&self.filters[*number].signature));
        numbers.filter(|number| self.meets(*number as u32, wanted)).map(|number| self.rows[number].id)
    }

    /// Returns the conditions in the numbers of this owner index. None where no memory can meet them.
    pub(super) fn wanted(&self, conditions: &Conditions) -> Option<NumberedConditions> {
        let Conditions {
            domain,
            difficulty,
            tags,
            warnings_only,
            without_warnings,
            outcome,
            source_type,
            since,
            until,
        } = conditions;
        let named = |asked: &Option<String>| {
            let asked = label_key(asked.as_deref()?);
            Some(self.names.those(|name| label_key(name) == asked))
        };
        Some(NumberedConditions {
            nothing: *conditions == Conditions::default(),
            domains: named(domain),
            difficulties: named(difficulty),
            tags: tags.iter().map(|tag| self.tags.find(tag)).collect::<Option<_>>()?,
            warnings_only: *warnings_only,
            without_warnings: *without_warnings,
            outcome: *outcome,
            source_type: *source_type,
            since: since.map(Timestamp::as_microsecond),
            until: until.map(Timestamp::as_microsecond),
        })
    }

    /// Tells whether the number belongs to a memory that is wanted.
    pub(super) fn meets(&self, number: u32, wanted: &NumberedConditions) -> bool {
        if wanted.nothing || !self.is_here(number) {
            return self.is_here(number);
        }
        let (row, filter) = (&self.rows[number as usize], &self.filters[number as usize]);
        let (warning, made) = (filter.signature != 0, filter.created_at.as_microsecond());
        (warning || !wanted.warnings_only)
            && (!warning || !wanted.without_warnings)
            && wanted.outcome.is_none_or(|outcome| filter.outcome == outcome)
            && wanted.source_type.is_none_or(|source| filter.source_type == source)
            && wanted.since.is_none_or(|since| made >= since)
            && wanted.until.is_none_or(|until| made < until)
            && wanted.domains.as_ref().is_none_or(|domains| domains.contains(&filter.domain))
            && wanted.difficulties.as_ref().is_none_or(|difficulties| difficulties.contains(&filter.difficulty))
            && wanted.tags.iter().all(|tag| row.tags.contains(tag))
    }

    pub(super) fn shrink(&mut self) {
        self.rows.shrink_to_fit();
        self.filters.shrink_to_fit();
        self.here.shrink_to_fit();
        self.numbers.shrink_to_fit();
    }

    pub(super) fn bytes(&self) -> usize {
        self.rows.capacity() * size_of::<ScoreFields>()
            + self.filters.capacity() * size_of::<FilterFields>()
            + self.here.capacity()
            + map_bytes::<MemoryId, u32>(self.numbers.capacity())
            + self.tags_bytes
            + self.names.bytes(String::len)
            + self.tags.bytes(String::len)
            + self.signatures.bytes(|signature| signature.as_str().len())
    }
}

/// Conditions in the numbers of one owner index.
#[derive(Debug)]
pub(super) struct NumberedConditions {
    nothing: bool,
    domains: Option<Vec<u32>>,
    difficulties: Option<Vec<u32>>,
    tags: Vec<u32>,
    warnings_only: bool,
    without_warnings: bool,
    outcome: Option<MemoryOutcome>,
    source_type: Option<SourceType>,
    since: Option<i64>,
    until: Option<i64>,
}

/// Values that many memories have in common, known by numbers from 1; 0 stands for no value.
#[derive(Debug)]
struct Shared<T> {
    all: Vec<Arc<T>>,
    numbers: HashMap<Arc<T>, u32>,
}

impl<T> Default for Shared<T> {
    fn default() -> Self {
        Self { all: Vec::new(), numbers: HashMap::new() }
    }
}

impl<T: Hash + Eq> Shared<T> {
    fn number(&mut self, value: T) -> u32 {
        if let Some(number) = self.numbers.get(&value) {
            return *number;
        }
        let value = Arc::new(value);
        self.all.push(Arc::clone(&value));
        let number = self.all.len() as u32;
        self.numbers.insert(value, number);
        number
    }

    fn find(&self, value: &T) -> Option<u32> {
        self.numbers.get(value).copied()
    }

    fn get(&self, number: u32) -> Option<&T> {
        self.all.get((number as usize).checked_sub(1)?).map(AsRef::as_ref)
    }

    /// Returns the numbers of the values for which this holds.
    fn those(&self, holds: impl Fn(&T) -> bool) -> Vec<u32> {
        (1..).zip(&self.all).filter(|(_, value)| holds(value)).map(|(number, _)| number).collect()
    }

    fn bytes(&self, length: impl Fn(&T) -> usize) -> usize {
        let values =
            self.all.iter().map(|value| allocated(size_of::<T>() + 16) + allocated(length(value))).sum::<usize>();
        values + self.all.capacity() * size_of::<Arc<T>>() + map_bytes::<Arc<T>, u32>(self.numbers.capacity())
    }
}

/// Packs a key of 64 hexadecimal digits in small letters into half of its size, and any other key into its hash.
fn packed(key: &str) -> [u8; 32] {
    let digit = |byte: u8| char::from(byte).to_digit(16).filter(|_| !byte.is_ascii_uppercase());
    let digits: Option<Vec<u32>> = key.bytes().map(digit).collect();
    match digits.filter(|digits| digits.len() == 64) {
        Some(digits) => std::array::from_fn(|at| (digits[2 * at] * 16 + digits[2 * at + 1]) as u8),
        None => Sha256::digest(key.as_bytes()).into(),
    }
}

/// Estimates the bytes that an allocation takes which asks for the given number. Allocators round up and keep a word of
/// their own.
pub(super) fn allocated(bytes: usize) -> usize {
    if bytes == 0 { 0 } else { (bytes + 8).next_multiple_of(16).max(32) }
}

/// Estimates the bytes that a map of this capacity takes: its entries, a control byte for each, and an eighth that
/// stays free.
pub(super) fn map_bytes<K, V>(capacity: usize) -> usize {
    capacity * (size_of::<(K, V)>() + 1) * 8 / 7
}
