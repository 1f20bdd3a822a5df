//! An embedder that has the vectors of the queries already, so that searching is measured without embedding. Texts that
//! it does not have go to a model, which is there only when it is needed: what is measured before does not share the
//! processor with its loading.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use futures::FutureExt;
use futures::future::BoxFuture;
use reasoning_bank_actors::ports::{Chunk, EmbedError, Embedder, EmbedderState, Fingerprint};
use reasoning_bank_actors::runtime::Deadline;

use super::synthetic::{Synthetic, SyntheticQuery};

pub(crate) struct PrecomputedVectors {
    fingerprint: Fingerprint,
    vectors: HashMap<String, Vec<f32>>,
    model: OnceLock<Arc<dyn Embedder>>,
}

impl PrecomputedVectors {
    pub(crate) fn of<'a>(queries: impl IntoIterator<Item = &'a SyntheticQuery>) -> Self {
        let vectors = queries.into_iter().map(|query| (query.text.clone(), query.vector.clone())).collect();
        Self { fingerprint: Synthetic::fingerprint(), vectors, model: OnceLock::new() }
    }

    /// Sets the model for other texts. The first one stays.
    pub(crate) fn or_else(&self, model: Arc<dyn Embedder>) {
        let _ = self.model.set(model);
    }
}

impl Embedder for PrecomputedVectors {
    fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }

    fn state(&self) -> EmbedderState {
        self.model.get().map_or(EmbedderState::Ready, |model| model.state())
    }

    fn embed_query(&self, text: String, deadline: Deadline) -> BoxFuture<'_, Result<Vec<f32>, EmbedError>> {
        match (self.vectors.get(&text), self.model.get()) {
            (Some(vector), _) => std::future::ready(Ok(vector.clone())).boxed(),
            (None, Some(model)) => model.embed_query(text, deadline),
            (None, None) => std::future::ready(Err(EmbedError::Loading)).boxed(),
        }
    }

    fn embed_documents(&self, _: Vec<String>, _: Deadline) -> BoxFuture<'_, Result<Vec<Vec<Chunk>>, EmbedError>> {
        std::future::ready(Err(EmbedError::Failed("memories that are made up have their vectors".into()))).boxed()
    }
}

/// An embedder that embeds some queries with the model, which takes its time, and then gives the vector that it has
/// already. So a query in words that are made up takes as long as any other, and finds something.
pub(crate) struct PrecomputedAtRealCost<E> {
    given: PrecomputedVectors,
    model: E,
    embedded: HashSet<String>,
}

impl<E: Embedder> PrecomputedAtRealCost<E> {
    pub(crate) fn new(given: PrecomputedVectors, model: E, embedded: &[SyntheticQuery]) -> Self {
        Self { given, model, embedded: embedded.iter().map(|query| query.text.clone()).collect() }
    }

    pub(crate) fn model(&self) -> &E {
        &self.model
    }
}

impl<E: Embedder> Embedder for PrecomputedAtRealCost<E> {
    fn fingerprint(&self) -> &Fingerprint {
        self.given.fingerprint()
    }

    fn state(&self) -> EmbedderState {
        self.model.state()
    }

    fn embed_query(&self, text: String, deadline: Deadline) -> BoxFuture<'_, Result<Vec<f32>, EmbedError>> {
        async move {
            if self.embedded.contains(&text) {
                self.model.embed_query(text.clone(), deadline).await?;
            }
            self.given.embed_query(text, deadline).await
        }
        .boxed()
    }

    fn embed_documents(
        &self,
        texts: Vec<String>,
        deadline: Deadline,
    ) -> BoxFuture<'_, Result<Vec<Vec<Chunk>>, EmbedError>> {
        self.given.embed_documents(texts, deadline)
    }
}
