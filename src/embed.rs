//! The embedding model: texts in, vectors out, offline. Not here: what is embedded and when (the callers in `actors`),
//! and how vectors are searched (the store).
//!
//! A few threads run one model, whose weights they share. Callers reach them through two bounded lanes; queries overtake
//! documents between slices.

mod chunking;
mod condense;
mod encoder;
mod graph;
mod hub;
mod job;
mod lanes;
mod local;
mod model;
mod onnx_runtime;
mod prompts;
mod runtime;
mod tract;
mod worker;

pub(crate) use condense::QUERY_TOKENS;
pub(crate) use hub::PREFIX as HUB_PREFIX;
pub use local::{EmbedderOptions, LocalEmbedder, Workload};
pub use model::EmbeddingModelError;
