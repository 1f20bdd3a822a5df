//! The parts of a system over a store that is open already: what a test or a bench does not care about is filled in.

use std::sync::Arc;

use futures::FutureExt;

use super::HashEmbedder;
use crate::ports::{Clock, LanguageModel, MemoryStore, StoreError};
use crate::store::StoreOpener;
use crate::system::{SystemParts, SystemSettings};

/// An opener that gives this store each time it is asked.
pub fn opener_of(store: Arc<dyn MemoryStore>) -> StoreOpener {
    Arc::new(move || {
        let store = Arc::clone(&store);
        async move { Ok::<_, StoreError>(store) }.boxed()
    })
}

/// A system over this store and this model, with the hash embedder, the default settings and the time of the machine. It
/// does no background jobs.
pub fn parts(store: Arc<dyn MemoryStore>, model: impl LanguageModel) -> SystemParts {
    SystemParts {
        store: opener_of(store),
        embedder: Arc::new(HashEmbedder::new()),
        model: Arc::new(model),
        provider: "test".into(),
        settings: SystemSettings::default(),
        clock: Clock::system(),
        background: None,
    }
}
