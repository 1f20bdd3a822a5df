//! The places of what takes long and holds much, exports and imports: so many of them are in work at once, and so many
//! of one token.

use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use reasoning_bank_domain::note::Code;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::Problem;

/// The places of one kind of work. Clones share them.
#[derive(Clone)]
pub(super) struct Places {
    all: Arc<Semaphore>,
    /// The names of what they are for.
    works: &'static str,
    /// Who gets none may come again after this time.
    retry_after: Duration,
}

impl Places {
    pub(super) fn new(count: usize, works: &'static str, retry_after: Duration) -> Self {
        Self { all: Arc::new(Semaphore::new(count)), works, retry_after }
    }

    /// Takes one of the places of a token, which are `own`. A caller without a token has no bound.
    ///
    /// # Errors
    /// All of them are taken.
    pub(super) fn take_own(&self, own: Option<Arc<Semaphore>>) -> Result<Option<OwnedSemaphorePermit>, Problem> {
        let taken = own.map(Semaphore::try_acquire_owned).transpose();
        taken.map_err(|_all_taken| self.refused("the token has too many"))
    }

    /// Takes one of all places, for which it waits this long.
    ///
    /// # Errors
    /// No place became free.
    pub(super) async fn take(&self, wait: Duration) -> Result<OwnedSemaphorePermit, Problem> {
        let taken = timeout(wait, Arc::clone(&self.all).acquire_owned()).await;
        taken.ok().and_then(Result::ok).ok_or_else(|| self.refused("there are too many"))
    }

    fn refused(&self, who: &str) -> Problem {
        let (problem, hint) = (format!("{who} {} at once", self.works), "send it again when others have ended");
        let problem = Problem::new(StatusCode::SERVICE_UNAVAILABLE, Code::Overloaded.as_str(), problem, hint);
        problem.retry_after(self.retry_after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_token_has_some_of_the_places_and_leaves_the_others() {
        let places = Places::new(2, "exports", Duration::from_secs(10));
        let ana = Arc::new(Semaphore::new(1));
        let own = places.take_own(Some(Arc::clone(&ana))).ok().unwrap();
        let first = places.take(Duration::ZERO).await.ok().unwrap();
        assert!(places.take_own(Some(Arc::clone(&ana))).is_err());
        let second = places.take(Duration::ZERO).await.ok().unwrap();
        assert!(places.take(Duration::ZERO).await.is_err());
        assert!(places.take_own(None).is_ok_and(|own| own.is_none()), "who needs no token has no bound");
        drop((own, first, second));
        assert!(places.take_own(Some(ana)).is_ok() && places.take(Duration::ZERO).await.is_ok());
    }
}
