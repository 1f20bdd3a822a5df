//! A disk that hangs: what is read of it by one key does not answer before it is let go.

use std::collections::BTreeSet;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// The keys that hang. Clones share them.
#[derive(Clone)]
pub(super) struct Hanging<K>(Arc<(Mutex<BTreeSet<K>>, Condvar)>);

/// Lets go what hangs when it is dropped.
pub struct Hang(Option<Box<dyn FnOnce() + Send>>);

impl<K> Default for Hanging<K> {
    fn default() -> Self {
        Self(Arc::new((Mutex::new(BTreeSet::new()), Condvar::new())))
    }
}

impl<K: Ord + Clone + Send + 'static> Hanging<K> {
    pub(super) fn hang(&self, key: K) -> Hang {
        let hanging = self.clone();
        hanging.0.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key.clone());
        Hang(Some(Box::new(move || {
            hanging.0.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&key);
            hanging.0.1.notify_all();
        })))
    }

    /// Waits as long as the key hangs.
    pub(super) fn wait(&self, key: &K) {
        let keys = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        let _keys = self.0.1.wait_while(keys, |keys| keys.contains(key)).unwrap_or_else(PoisonError::into_inner);
    }
}

impl Drop for Hang {
    fn drop(&mut self) {
        self.0.take().into_iter().for_each(|let_go| let_go());
    }
}
