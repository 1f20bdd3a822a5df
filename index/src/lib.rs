//! The search engine of ReasoningBank, in memory. An owner index holds what a search of the memories of one workspace,
//! one team or one organisation needs, and a search reads up to three of them. This package has the data structures and
//! the search. The store decides which owner indexes there are, fills them and keeps them current.
//!
//! In reading order: `owner_index` is what the store fills and asks. `columns` has what scoring and filters need of
//! each memory, `inverted_index` searches words by BM25, and `quantized_vectors` searches vectors, whose arithmetic is
//! in `kernels`. `hits` takes the best memories of the passages that either found. `episodes` is the same for episodes:
//! one table of all of them.

mod columns;
mod episodes;
mod hits;
mod inverted_index;
mod kernels;
mod owner_index;
mod quantized_vectors;
#[cfg(test)]
mod samples;

pub use columns::{IndexedMemory, RowLocation};
pub use episodes::{ByteVectors, EpisodeColumns, EpisodeTable, StateColumns, VectorColumns};
pub use hits::Full;
pub use inverted_index::{Collection, TermQuery};
pub use owner_index::{FoundByWords, OwnerIndex, merge};
