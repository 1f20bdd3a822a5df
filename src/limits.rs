//! The limits of one token on a daemon: requests a second, solves at once, and model tokens a day. Whoever asks for
//! more is told when to come again, and nobody else has to wait. The limits may change while the daemon runs.

mod spending;

use std::collections::HashMap;
use std::io;
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use governor::clock::{Clock, DefaultClock};
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use jiff::Timestamp;
use reasoning_bank_actors::error::Error;
use reasoning_bank_domain::access::TokenId;
use reasoning_bank_domain::learning::job::next_day;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::spawn_blocking;

use self::spending::Spending;
use crate::settings::HttpSection;

/// A solve that a token has no place for is worth another try after this time.
const SOLVE_RETRY: Duration = Duration::from_secs(10);
/// A request that a token has no place for is worth another try after this time.
const OPEN_RETRY: Duration = Duration::from_secs(1);
/// The time after which a token that was not used has all of its requests again, so that nothing is known of it any
/// more.
const IDLE: Duration = Duration::from_secs(60);
/// The most requests that a token has open at once, streams that wait for news included. Each takes a connection.
const OPEN_MAX: usize = 256;
/// The number of large bodies of a token that are read at once.
const LARGE_BODIES: usize = 4;
/// The number of imports and of exports that are in work at once. A token has at most half of them.
pub(crate) const IMPORTS: usize = 2;
pub(crate) const EXPORTS: usize = 4;
/// The idle tokens are forgotten from this number of known ones on.
const FORGET_FROM: usize = 1_000;

/// The limits, and what each token has used of them. Clones share both.
#[derive(Clone)]
pub(crate) struct TokenLimits(Arc<LimitState>);

struct LimitState {
    solves: AtomicUsize,
    /// Zero: there is no limit.
    model_tokens_per_day: AtomicU64,
    spending: Mutex<Spending>,
    used: Mutex<UsedLimits>,
}

struct UsedLimits {
    requests_per_second: u32,
    by_token: HashMap<TokenId, TokenUse>,
}

struct TokenUse {
    /// None: there is no limit.
    requests: Option<DefaultDirectRateLimiter>,
    solves: Arc<AtomicUsize>,
    places: TokenPlaces,
    last: Instant,
}

/// The places of a token for what it has in work. Clones share them.
#[derive(Clone)]
struct TokenPlaces {
    open: Arc<Semaphore>,
    large_bodies: Arc<Semaphore>,
    imports: Arc<Semaphore>,
    exports: Arc<Semaphore>,
}

impl Default for TokenPlaces {
    fn default() -> Self {
        let [open, large_bodies, imports, exports] =
            [OPEN_MAX, LARGE_BODIES, IMPORTS / 2, EXPORTS / 2].map(|count| Arc::new(Semaphore::new(count)));
        Self { open, large_bodies, imports, exports }
    }
}

impl TokenPlaces {
    /// Says whether something is in work. An import goes on when its request is over.
    fn is_any_taken(&self) -> bool {
        let Self { open, large_bodies, imports, exports } = self;
        [(open, OPEN_MAX), (large_bodies, LARGE_BODIES), (imports, IMPORTS / 2), (exports, EXPORTS / 2)]
            .into_iter()
            .any(|(places, all)| places.available_permits() < all)
    }
}

impl TokenUse {
    fn new(requests_per_second: u32) -> Self {
        Self {
            requests: limiter(requests_per_second),
            solves: Arc::default(),
            places: TokenPlaces::default(),
            last: Instant::now(),
        }
    }

    /// Says whether the token was used lately, or has something in work.
    fn is_used(&self) -> bool {
        self.places.is_any_taken() || self.solves.load(Ordering::Relaxed) > 0 || self.last.elapsed() < IDLE
    }
}

/// The answer of the limits of a token to one request.
#[derive(Clone)]
pub(crate) struct RequestLimits {
    /// The request is one too many. Another one after this time is not.
    wait: Option<Duration>,
    /// The token, and what it has in work. A caller without a token has no limit.
    in_work: Option<TokenWork>,
    limits: TokenLimits,
}

/// A token, and what it has in work.
#[derive(Clone)]
struct TokenWork {
    token: TokenId,
    solves: Arc<AtomicUsize>,
    places: TokenPlaces,
}

/// A place for a solve of a token. It is given back when dropped.
pub(crate) struct SolvePlace {
    token: TokenId,
    solves: Arc<AtomicUsize>,
    limits: TokenLimits,
}

impl TokenLimits {
    pub(crate) fn new(settings: &HttpSection, data_dir: &Path) -> Self {
        let used = UsedLimits { requests_per_second: settings.requests_per_second, by_token: HashMap::new() };
        Self(Arc::new(LimitState {
            solves: AtomicUsize::new(settings.solves_per_token),
            model_tokens_per_day: AtomicU64::new(settings.model_tokens_per_day),
            spending: Mutex::new(Spending::of(data_dir)),
            used: Mutex::new(used),
        }))
    }

    /// Takes over new limits. Solves in work go on.
    pub(crate) fn set(&self, settings: &HttpSection) {
        self.0.solves.store(settings.solves_per_token, Ordering::Relaxed);
        self.0.model_tokens_per_day.store(settings.model_tokens_per_day, Ordering::Relaxed);
        self.with(|used| {
            if used.requests_per_second != settings.requests_per_second {
                used.requests_per_second = settings.requests_per_second;
                used.by_token.values_mut().for_each(|token| token.requests = limiter(settings.requests_per_second));
            }
        });
    }

    /// Counts a request. Without a token it comes from this machine, and there is no limit.
    pub(crate) fn request(&self, token: Option<&TokenId>) -> RequestLimits {
        let Some(token) = token else { return RequestLimits { wait: None, in_work: None, limits: self.clone() } };
        self.with(|used| {
            if used.by_token.len() >= FORGET_FROM && !used.by_token.contains_key(token) {
                used.by_token.retain(|_, of| of.is_used());
            }
            let requests_per_second = used.requests_per_second;
            let of = used.by_token.entry(token.clone()).or_insert_with(|| TokenUse::new(requests_per_second));
            of.last = Instant::now();
            let refused = of.requests.as_ref().and_then(|requests| requests.check().err());
            let wait = refused.map(|until| until.wait_time_from(DefaultClock::default().now()));
            let work = TokenWork { token: token.clone(), solves: Arc::clone(&of.solves), places: of.places.clone() };
            RequestLimits { wait, in_work: Some(work), limits: self.clone() }
        })
    }

    async fn check_spending(&self, token: &TokenId) -> Result<(), Error> {
        let limit = self.0.model_tokens_per_day.load(Ordering::Relaxed);
        if limit == 0 {
            return Ok(());
        }
        let (now, of) = (Timestamp::now(), token.clone());
        match self.spending(move |spending| spending.of_token(&of, now)).await {
            Ok(used) if used < limit => Ok(()),
            Ok(used) => {
                let until_tomorrow = next_day(now).duration_since(now);
                Err(Error::DailyLimit { used, limit, retry_after: until_tomorrow.try_into().unwrap_or(SOLVE_RETRY) })
            }
            Err(error) => Err(Error::internal(format!("what was used today cannot be read: {error}"))),
        }
    }

    /// Reads or writes the files of what was spent, on a thread that may wait for the disk.
    async fn spending<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Spending) -> io::Result<T> + Send + 'static,
    ) -> io::Result<T> {
        let state = Arc::clone(&self.0);
        let work = move || work(&mut state.spending.lock().unwrap_or_else(PoisonError::into_inner));
        spawn_blocking(work).await.unwrap_or_else(|error| Err(io::Error::other(error)))
    }

    /// Locks what was used. Every change under the lock leaves whole data behind.
    fn with<T>(&self, work: impl FnOnce(&mut UsedLimits) -> T) -> T {
        work(&mut self.0.used.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl RequestLimits {
    /// Returns how long to wait, where the request is one too many.
    pub(crate) fn wait(&self) -> Option<Duration> {
        self.wait
    }

    /// Takes the place of an open request of the token, for as long as the permit is kept.
    ///
    /// # Errors
    /// `Overloaded`: all are taken.
    pub(crate) fn open(&self) -> Result<Option<OwnedSemaphorePermit>, Error> {
        let Some(TokenWork { places, .. }) = &self.in_work else { return Ok(None) };
        let permit = Arc::clone(&places.open).try_acquire_owned();
        permit.map(Some).map_err(|_| Error::Overloaded { retry_after: OPEN_RETRY })
    }

    /// Returns the places of the large bodies of the token.
    pub(crate) fn large_bodies(&self) -> Option<Arc<Semaphore>> {
        self.in_work.as_ref().map(|work| Arc::clone(&work.places.large_bodies))
    }

    /// Returns the places of the imports of the token.
    pub(crate) fn imports(&self) -> Option<Arc<Semaphore>> {
        self.in_work.as_ref().map(|work| Arc::clone(&work.places.imports))
    }

    /// Returns the places of the exports of the token.
    pub(crate) fn exports(&self) -> Option<Arc<Semaphore>> {
        self.in_work.as_ref().map(|work| Arc::clone(&work.places.exports))
    }

    /// Takes a place for a solve of the token.
    ///
    /// # Errors
    /// `Overloaded`: all are taken. `DailyLimit`: the token has used its model tokens of today.
    pub(crate) async fn begin_solve(&self) -> Result<Option<SolvePlace>, Error> {
        let Some(TokenWork { token, solves, .. }) = &self.in_work else { return Ok(None) };
        self.limits.check_spending(token).await?;
        let limit = self.limits.0.solves.load(Ordering::Relaxed);
        let taken = |solves: usize| (solves < limit).then_some(solves + 1);
        match solves.fetch_update(Ordering::Relaxed, Ordering::Relaxed, taken) {
            Ok(_) => {
                let (token, solves, limits) = (token.clone(), Arc::clone(solves), self.limits.clone());
                Ok(Some(SolvePlace { token, solves, limits }))
            }
            Err(_) => Err(Error::Overloaded { retry_after: SOLVE_RETRY }),
        }
    }
}

impl SolvePlace {
    /// Counts the model tokens that the solve has used.
    pub(crate) async fn spent(&self, model_tokens: u64) {
        if model_tokens == 0 {
            return;
        }
        let token = self.token.clone();
        let noted = self.limits.spending(move |spending| spending.add(&token, model_tokens, Timestamp::now()));
        if let Err(error) = noted.await {
            tracing::error!(%error, token = %self.token, model_tokens, "what a solve has used could not be noted");
        }
    }
}

impl Drop for SolvePlace {
    fn drop(&mut self) {
        self.solves.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Makes the limiter of one token, which may use the requests of a second at once. Zero is no limit.
fn limiter(requests_per_second: u32) -> Option<DefaultDirectRateLimiter> {
    let quota = Quota::per_second(NonZeroU32::new(requests_per_second)?);
    Some(RateLimiter::direct(quota))
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    fn settings(requests_per_second: u32, solves_per_token: usize) -> HttpSection {
        let defaults: toml::Table = crate::settings::DEFAULTS.parse().unwrap();
        let http = defaults["http"].clone().try_into::<HttpSection>().unwrap();
        HttpSection { requests_per_second, solves_per_token, model_tokens_per_day: 0, ..http }
    }

    fn token(name: &str) -> TokenId {
        TokenId::try_from(name.to_owned()).unwrap()
    }

    #[test]
    fn a_token_that_asks_too_often_is_told_when_to_come_again_and_others_are_let_in() {
        let limits = TokenLimits::new(&settings(2, 1), Path::new(""));
        let (ana, ben) = (token("0123456789ab"), token("ba9876543210"));
        assert!((0..2).all(|_| limits.request(Some(&ana)).wait().is_none()));
        let wait = limits.request(Some(&ana)).wait().unwrap();
        assert!(wait > Duration::ZERO && wait <= Duration::from_millis(500), "{wait:?}");
        assert!(limits.request(Some(&ben)).wait().is_none());
        assert!((0..10).all(|_| limits.request(None).wait().is_none()), "who needs no token has no limit");
        limits.set(&settings(0, 1));
        assert!((0..10).all(|_| limits.request(Some(&ana)).wait().is_none()), "0 is no limit");
    }

    #[test]
    fn a_token_has_so_many_requests_open_and_others_have_their_own() {
        let limits = TokenLimits::new(&settings(0, 1), Path::new(""));
        let (ana, ben) = (limits.request(Some(&token("0123456789ab"))), limits.request(Some(&token("ba9876543210"))));
        let mut open: Vec<_> = (0..OPEN_MAX).map(|_| ana.open().unwrap().unwrap()).collect();
        assert!(matches!(ana.open(), Err(Error::Overloaded { .. })));
        assert!(ben.open().is_ok());
        open.pop();
        assert!(ana.open().is_ok());
        assert!(limits.request(None).open().unwrap().is_none(), "who needs no token has no limit");
    }

    #[tokio::test]
    async fn a_token_is_used_as_long_as_it_has_something_in_work() {
        let mut of = TokenUse::new(0);
        of.last = Instant::now().checked_sub(IDLE).unwrap();
        assert!(!of.is_used());
        let TokenPlaces { open, large_bodies, imports, exports } = of.places.clone();
        for places in [open, large_bodies, imports, exports] {
            let place = places.acquire_owned().await.unwrap();
            assert!(of.is_used());
            drop(place);
            assert!(!of.is_used());
        }
    }

    #[tokio::test]
    async fn a_place_for_a_solve_is_given_back() {
        let limits = TokenLimits::new(&settings(0, 1), Path::new(""));
        let request = limits.request(Some(&token("0123456789ab")));
        let first = request.begin_solve().await.unwrap();
        assert!(matches!(request.begin_solve().await, Err(Error::Overloaded { .. })));
        limits.set(&settings(0, 2));
        let second = request.begin_solve().await.unwrap();
        assert!(request.begin_solve().await.is_err());
        drop((first, second));
        assert!(request.begin_solve().await.is_ok());
    }

    #[tokio::test]
    async fn the_runtime_goes_on_while_somebody_reads_what_was_spent() {
        let dir = tempfile::tempdir().unwrap();
        let few = HttpSection { model_tokens_per_day: 100, ..settings(0, 1) };
        let limits = TokenLimits::new(&few, dir.path());
        let request = limits.request(Some(&token("0123456789ab")));
        let mut begun = Box::pin(request.begin_solve());
        {
            let _read_by_somebody = limits.0.spending.lock().unwrap();
            assert!(begun.as_mut().now_or_never().is_none());
        }
        begun.await.unwrap();
    }

    #[tokio::test]
    async fn a_token_that_has_used_its_model_tokens_of_today_solves_no_more_until_tomorrow() {
        let dir = tempfile::tempdir().unwrap();
        let few = HttpSection { model_tokens_per_day: 100, ..settings(0, 1) };
        let limits = TokenLimits::new(&few, dir.path());
        let request = limits.request(Some(&token("0123456789ab")));
        request.begin_solve().await.unwrap().unwrap().spent(99).await;
        request.begin_solve().await.unwrap().unwrap().spent(50).await;
        let begun = request.begin_solve().await;
        let Err(Error::DailyLimit { used, limit, retry_after }) = begun else { panic!("it may solve") };
        assert_eq!((used, limit), (149, 100));
        assert!(retry_after > Duration::ZERO && retry_after <= Duration::from_hours(24), "{retry_after:?}");
        assert!(limits.request(Some(&token("ba9876543210"))).begin_solve().await.is_ok());
        let other = TokenLimits::new(&few, dir.path());
        assert!(other.request(Some(&token("0123456789ab"))).begin_solve().await.is_err());
        limits.set(&settings(0, 1));
        assert!(request.begin_solve().await.is_ok());
    }
}
