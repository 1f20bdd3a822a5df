//! The embedding model: texts in, vectors out, offline. Not here: what is embedded and when (the callers in `actors`),
//! and how vectors are searched (the store).
//!
//! One thread owns the model. Callers reach it through two bounded lanes; queries overtake documents between slices.

mod builtin;
mod chunking;
mod encoder;
mod job;
mod lanes;
mod onnx;
mod pool;
mod tract;
mod worker;

pub use builtin::BuiltinEmbedder;
pub use pool::EmbedderPool;
