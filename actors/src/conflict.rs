//! Trying a change again where others changed the same things meanwhile.

use crate::error::Error;
use crate::ports::StoreError;

/// The most times that a change is tried. It is also the number of sessions that may report on one trace at once, since
/// each time one of them wins.
pub(crate) const TRIES: usize = 8;

/// Tries a change until it meets no conflict, at most [`TRIES`] times, and returns what came of the last try. `change`
/// is told which try it is, from 1. It reads anew what it changes, so it comes on top of what the others did.
pub(crate) async fn retry_on_conflict<T, F>(change: impl Fn(usize) -> F) -> Result<T, Error>
where
    F: Future<Output = Result<T, Error>>,
{
    let mut tries = 1;
    loop {
        match change(tries).await {
            Err(Error::Store(StoreError::Conflict(_) | StoreError::TraceChanged(_))) if tries < TRIES => tries += 1,
            done => return done,
        }
    }
}

/// Tells whether nobody tries again after this try of [`retry_on_conflict`].
pub(crate) fn is_last(tries: usize) -> bool {
    tries >= TRIES
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use uuid::Uuid;

    use super::*;

    async fn tries_until(done: impl Fn(usize) -> Result<(), StoreError>) -> (usize, Result<(), Error>) {
        let tries = Cell::new(0);
        let change = async |n| {
            tries.set(n);
            Ok(done(n)?)
        };
        let outcome = retry_on_conflict(change).await;
        (tries.get(), outcome)
    }

    #[tokio::test]
    async fn a_conflict_is_tried_again_and_nothing_else_is() {
        let conflict = StoreError::Conflict(Uuid::nil().into());
        let of = |error: &StoreError| Err(error.clone());
        assert_eq!(tries_until(|n| if n < 3 { of(&conflict) } else { Ok(()) }).await, (3, Ok(())));
        assert_eq!(tries_until(|_| of(&conflict)).await, (TRIES, Err(conflict.clone().into())));
        assert_eq!(tries_until(|_| of(&StoreError::TimedOut)).await, (1, Err(StoreError::TimedOut.into())));
    }
}
