//! An actor opens things on the disk, and its handlers must not wait for that. Whoever asks for the same thing
//! meanwhile waits for the same opening.

use std::collections::HashMap;
use std::hash::Hash;

use futures::FutureExt;
use futures::future::{BoxFuture, Shared};
use ractor::{ActorRef, Message};

use crate::error::Error;

/// The openings that run, each by the key of what it opens.
pub(crate) struct Openings<K, T>(HashMap<K, Opening<T>>);

/// An opening. It runs as long as anybody polls a clone of it.
pub(crate) type Opening<T> = Shared<BoxFuture<'static, Result<T, Error>>>;

impl<K, T> Default for Openings<K, T> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<K: Clone + Eq + Hash + Send + 'static, T: Clone + Send + Sync + 'static> Openings<K, T> {
    /// Returns the opening of a thing that runs, or begins one: `open` may block. Its outcome is sent to the actor
    /// before it is there for those who wait, and the actor then calls [`Self::ended`].
    pub(crate) fn join<M: Message>(
        &mut self,
        key: &K,
        to: &ActorRef<M>,
        open: impl FnOnce(K) -> Result<T, Error> + Send + 'static,
        opened: impl FnOnce(K, Result<T, Error>) -> M + Send + 'static,
    ) -> Opening<T> {
        let begin = || {
            let (key, of, to) = (key.clone(), key.clone(), to.clone());
            let opening = async move {
                let outcome = match tokio::task::spawn_blocking(move || open(of)).await {
                    Ok(outcome) => outcome,
                    Err(panicked) => Err(Error::internal(panicked)),
                };
                let _ = to.send_message(opened(key, outcome.clone()));
                outcome
            };
            opening.boxed().shared()
        };
        self.0.entry(key.clone()).or_insert_with(begin).clone()
    }

    pub(crate) fn ended(&mut self, key: &K) {
        self.0.remove(key);
    }
}
