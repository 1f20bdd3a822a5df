//! A bank that is made up. Every memory and every query follows from its number and a seed alone, so that any part of a
//! measurement makes the very same ones again, and none has to hold them all.
//!
//! Vectors lie around as many centres as is the root of the number of memories. What sets a vector apart from its
//! centre is strong in few directions and weak in most, as with embeddings of texts. All directions are turned, so that
//! no coordinate says more than another. Words are as frequent as in texts: by Zipf's law, out of a vocabulary that
//! grows as Heaps' law says (both in Manning, Raghavan, Schütze: Introduction to Information Retrieval, 2008, 5.1).

use jiff::Timestamp;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{RngCore, SeedableRng};
use reasoning_bank_actors::memories::Restorable;
use reasoning_bank_actors::ports::{Conditions, Fingerprint, Passage, PassageKind, Recall, Visible};
use reasoning_bank_actors::workspaces::WorkspaceRef;
use reasoning_bank_domain::evidence::confidence::prior;
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::memory::workspace::WorkspaceId;
use reasoning_bank_domain::memory::{Memory, MemoryOutcome, NewMemory, SourceType, Trust};
use uuid::Uuid;

pub(crate) const DIMS: usize = 384;
/// Vectors have this many directions before they are turned: a power of two.
const DIRECTIONS: usize = 512;
/// The distance between a query and the memory it is about, where 1 is the distance between that memory and its centre.
const DISTANCE_OF_QUERIES: f32 = 1.0;
/// One of this many memories is in another workspace.
const OTHERS: u32 = 10;
/// There are this many other workspaces.
const OTHER_WORKSPACES: u32 = 10;
/// Heaps' law: the vocabulary has this many words for each root of the number of words written.
const WORDS_A_ROOT: f64 = 30.0;
const WORDS_OF_A_MEMORY: f64 = 55.0;
const QUERIED: &str = "/eval/queried";
const FIRST_SECOND: i64 = 1_735_689_600;
/// A million memories that are this far apart cover a year.
const SECONDS_BETWEEN: i64 = 31;

/// The purposes that numbers are drawn for. Each has a stream of its own, so that no number is drawn twice.
#[derive(Debug, Clone, Copy)]
pub(super) enum NoiseStream {
    Centre = 1,
    Turn,
    Vector,
    Text,
    Query,
    QueryVector,
    Episode,
    EpisodeVector,
    Pattern,
}

pub(crate) struct Synthetic {
    rows: u32,
    seed: u64,
    /// The strength of each direction.
    strengths: Vec<f32>,
    signs: Vec<f32>,
    centres: Vec<Vec<f32>>,
    vocabulary: f64,
}

/// A query and its vector.
pub(crate) struct SyntheticQuery {
    pub(crate) text: String,
    pub(crate) vector: Vec<f32>,
}

impl SyntheticQuery {
    /// Asks for candidates by the words and by the vector of the query.
    pub(crate) fn recall(&self, limit: usize) -> Recall {
        Recall {
            with_superseded: false,
            visible: Visible { workspace: Some(Synthetic::workspace_id()), team: None, org: None },
            conditions: Conditions::default(),
            text: Some(self.text.clone()),
            vector: Some(self.vector.clone()),
            signature: None,
            limit,
        }
    }
}

impl Synthetic {
    pub(crate) fn new(rows: u32, seed: u64) -> Self {
        let total: f32 = (1..=DIRECTIONS).map(|n| 1.0 / n as f32).sum();
        let strengths = (1..=DIRECTIONS).map(|n| (1.0 / (n as f32 * total)).sqrt()).collect();
        let mut turn = Noise::of(seed, NoiseStream::Turn, 0);
        let signs = (0..DIRECTIONS).map(|_| if turn.next() & 1 == 0 { 1.0 } else { -1.0 }).collect();
        let even = (1.0 / DIRECTIONS as f32).sqrt();
        let centre = |n| {
            let mut noise = Noise::of(seed, NoiseStream::Centre, n);
            (0..DIRECTIONS).map(|_| even * noise.normal()).collect()
        };
        let centres = (0..u64::from(rows.isqrt()).max(1)).map(centre).collect();
        let vocabulary = WORDS_A_ROOT * (WORDS_OF_A_MEMORY * f64::from(rows)).sqrt();
        Self { rows, seed, strengths, signs, centres, vocabulary }
    }

    pub(crate) fn rows(&self) -> u32 {
        self.rows
    }

    /// Names an embedder of its own: vectors of another size, or of another bank, are not compared with these.
    pub(crate) fn fingerprint() -> Fingerprint {
        Fingerprint { name: "synthetic".into(), dims: DIMS, hash: String::new() }
    }

    /// Returns the workspace that is asked, which has nine of ten memories.
    pub(crate) fn workspace() -> WorkspaceRef {
        WorkspaceRef::Root(QUERIED.into())
    }

    pub(crate) fn workspace_id() -> WorkspaceId {
        WorkspaceId::of_root(QUERIED)
    }

    pub(crate) fn is_queried(number: u32) -> bool {
        number % OTHERS != OTHERS - 1
    }

    pub(crate) fn id(number: u32) -> MemoryId {
        Uuid::from_u128(u128::from(number) + 1).into()
    }

    pub(crate) fn number(id: MemoryId) -> u32 {
        (id.uuid().as_u128() - 1) as u32
    }

    /// Makes a memory with its vector, as an import has it. Those from [`Self::rows`] on are of the same kind.
    pub(crate) fn memory(&self, number: u32, embedder: &str) -> Restorable {
        let root = if Self::is_queried(number) {
            QUERIED.into()
        } else {
            format!("/eval/other/{}", number / OTHERS % OTHER_WORKSPACES)
        };
        let mut words = Noise::of(self.seed, NoiseStream::Text, u64::from(number));
        let at = Timestamp::from_second(FIRST_SECOND + SECONDS_BETWEEN * i64::from(number)).unwrap_or_default();
        let content_words = 20 + words.below(41) as usize;
        let memory = Memory {
            embedder: Some(embedder.to_owned()),
            ..Memory::new(NewMemory {
                id: Self::id(number),
                content: self.words(content_words, &mut words),
                title: self.words(5, &mut words),
                description: self.words(10, &mut words),
                outcome: MemoryOutcome::Success,
                workspace_id: WorkspaceId::of_root(&root),
                source_type: SourceType::Imported,
                trust: Trust::Tool,
                prior: prior(SourceType::Imported, None),
                at,
            })
        };
        let passage = Passage {
            kind: PassageKind::Content,
            n: 0,
            text: memory.content_text(),
            vector: Some(self.vector(number)),
        };
        Restorable::Memory { memory, passages: vec![passage] }
    }

    pub(super) fn noise(&self, purpose: NoiseStream, number: u64) -> Noise {
        Noise::of(self.seed, purpose, number)
    }

    /// Moves a place in a random direction. At a distance of 1 it is as far from where it was as a memory is from its
    /// centre.
    pub(super) fn moved(&self, mut place: Vec<f32>, distance: f32, noise: &mut Noise) -> Vec<f32> {
        for (x, strength) in place.iter_mut().zip(&self.strengths) {
            *x += distance * strength * noise.normal();
        }
        place
    }

    /// Makes the vector of a memory, of length 1.
    pub(crate) fn vector(&self, number: u32) -> Vec<f32> {
        self.turned(self.place(number))
    }

    /// Makes a query about a memory of the workspace that is asked: near its vector, in some of its words.
    pub(crate) fn query(&self, number: u32) -> SyntheticQuery {
        let mut noise = Noise::of(self.seed, NoiseStream::Query, u64::from(number));
        let about = noise.below(u64::from(self.rows)) as u32;
        let about = if Self::is_queried(about) { about } else { about - 1 };
        let mut text = Noise::of(self.seed, NoiseStream::Text, u64::from(about));
        let count = 20 + text.below(41) as usize;
        let content = self.words(count, &mut text);
        let content: Vec<&str> = content.split(' ').collect();
        let words = 6 + noise.below(5);
        let words: Vec<&str> = (0..words).map(|_| content[noise.below(content.len() as u64) as usize]).collect();
        let mut apart = Noise::of(self.seed, NoiseStream::QueryVector, u64::from(number));
        let vector = self.moved(self.place(about), DISTANCE_OF_QUERIES, &mut apart);
        SyntheticQuery { text: words.join(" "), vector: self.turned(vector) }
    }

    /// Places a vector around its centre, before it is turned.
    pub(super) fn place(&self, number: u32) -> Vec<f32> {
        let mut noise = Noise::of(self.seed, NoiseStream::Vector, u64::from(number));
        let centre = &self.centres[noise.below(self.centres.len() as u64) as usize];
        centre.iter().zip(&self.strengths).map(|(x, strength)| x + strength * noise.normal()).collect()
    }

    /// Turns a vector by a Walsh-Hadamard transform with random signs, cuts it to [`DIMS`] and brings it to length 1.
    pub(super) fn turned(&self, mut vector: Vec<f32>) -> Vec<f32> {
        vector.iter_mut().zip(&self.signs).for_each(|(x, sign)| *x *= sign);
        let mut half = 1;
        while half < DIRECTIONS {
            for pair in vector.chunks_exact_mut(2 * half) {
                let (left, right) = pair.split_at_mut(half);
                for (a, b) in left.iter_mut().zip(right) {
                    (*a, *b) = (*a + *b, *a - *b);
                }
            }
            half *= 2;
        }
        vector.truncate(DIMS);
        let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        vector.iter_mut().for_each(|x| *x /= length);
        vector
    }

    pub(super) fn words(&self, count: usize, noise: &mut Noise) -> String {
        let mut text = String::with_capacity(6 * count);
        for n in 0..count {
            if n > 0 {
                text.push(' ');
            }
            push_word(&mut text, self.vocabulary.powf(noise.share()) as u64);
        }
        text
    }
}

/// Writes the word of a rank from 1 on: syllables for the digits of its number, so that frequent words are short.
fn push_word(text: &mut String, mut rank: u64) {
    const CONSONANTS: &[u8; 20] = b"bcdfghjklmnpqrstvwxz";
    const VOWELS: &[u8; 5] = b"aeiou";
    while rank > 0 {
        let syllable = ((rank - 1) % 100) as usize;
        text.push(char::from(CONSONANTS[syllable / VOWELS.len()]));
        text.push(char::from(VOWELS[syllable % VOWELS.len()]));
        rank = (rank - 1) / 100;
    }
}

/// A stream of numbers that are the same in every run, by a generator whose numbers no version changes (Steele, Lea,
/// Flood: Fast splittable pseudorandom number generators, 2014).
pub(super) struct Noise(SplitMix64);

impl Noise {
    pub(super) fn of(seed: u64, purpose: NoiseStream, number: u64) -> Self {
        let mut of_purpose = SplitMix64::seed_from_u64(seed ^ ((purpose as u64) << 56));
        Self(SplitMix64::seed_from_u64(of_purpose.next_u64() ^ number.wrapping_mul(0xd6e8_feb8_6659_fd93)))
    }

    fn next(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Draws a number in 0..1.
    fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Draws a number in 0..`end`.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        (self.share() * end as f64) as u64
    }

    /// Draws a number that is about normal, with mean 0 and variance 1: the sum of four uniform numbers.
    pub(super) fn normal(&mut self) -> f32 {
        const SCALE: f32 = 1.732_050_8 / 65_536.0;
        let bits = self.next();
        let sum = (0..4).map(|part| ((bits >> (16 * part)) & 0xffff) as f32).sum::<f32>();
        (sum - 2.0 * 65_535.0) * SCALE
    }
}

// benches/store.rs takes this file too, and would look for them beside it
#[cfg(test)]
#[path = "synthetic/tests.rs"]
mod tests;
