//! The embedding model: texts go in, vectors come out, without a network. A few threads run one model and share its
//! weights. Callers reach them through two bounded lanes, and queries overtake documents between slices.
//!
//! `local` is the embedder that the rest of the program sees; `model` and `hub` find the files of a model, `tract` and
//! `onnx_runtime` run it, `chunking` and `condense` cut texts to its window, and `lanes`, `job` and `worker` are its
//! queue. What is embedded, and when, is decided in `actors`; how vectors are searched is the matter of the store.

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
pub(crate) use runtime::beside as library_beside;
pub use runtime::end_process;
