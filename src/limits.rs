//! The limits of one token on a daemon: so many requests a second, and so many solves at once. Whoever asks for more is told
//! when to come again, and nobody else waits for him. Both limits may change while the daemon runs.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use governor::clock::{Clock, DefaultClock};
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use reasoning_bank_actors::error::Error;
use reasoning_bank_domain::access::TokenId;

use crate::settings::HttpSection;

/// A solve that a token has no place for is worth another try after this time.
const SOLVE_RETRY: Duration = Duration::from_secs(10);
/// A token that was not used for so long has all of its requests again, so nothing is known of it any more.
const IDLE: Duration = Duration::from_secs(60);
/// The idle tokens are forgotten from this number of known ones on.
const FORGET_FROM: usize = 1_000;

/// The limits, and what each token has used of them. Clones share both.
#[derive(Clone)]
pub(crate) struct TokenLimits(Arc<LimitState>);

struct LimitState {
    solves: AtomicUsize,
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
    last: Instant,
}

/// The answer of the limits of a token to one request.
#[derive(Clone)]
pub(crate) struct RequestLimits {
    /// The request is one too many. Another one after this time is not.
    wait: Option<Duration>,
    /// The solves of the token that are in work. A caller without a token has no limit.
    solves: Option<Arc<AtomicUsize>>,
    limits: TokenLimits,
}

/// A place for a solve of a token. It is given back when dropped.
pub(crate) struct SolvePlace(Arc<AtomicUsize>);

impl TokenLimits {
    pub(crate) fn new(settings: &HttpSection) -> Self {
        let used = UsedLimits { requests_per_second: settings.requests_per_second, by_token: HashMap::new() };
        Self(Arc::new(LimitState { solves: AtomicUsize::new(settings.solves_per_token), used: Mutex::new(used) }))
    }

    /// Takes over new limits. Solves in work go on.
    pub(crate) fn set(&self, settings: &HttpSection) {
        self.0.solves.store(settings.solves_per_token, Ordering::Relaxed);
        self.with(|used| {
            if used.requests_per_second != settings.requests_per_second {
                used.requests_per_second = settings.requests_per_second;
                used.by_token.values_mut().for_each(|token| token.requests = limiter(settings.requests_per_second));
            }
        });
    }

    /// Counts a request. Without a token it comes from this machine, and there is no limit.
    pub(crate) fn request(&self, token: Option<&TokenId>) -> RequestLimits {
        let Some(token) = token else { return RequestLimits { wait: None, solves: None, limits: self.clone() } };
        self.with(|used| {
            if used.by_token.len() >= FORGET_FROM && !used.by_token.contains_key(token) {
                let is_used = |of: &TokenUse| of.last.elapsed() < IDLE || of.solves.load(Ordering::Relaxed) > 0;
                used.by_token.retain(|_, of| is_used(of));
            }
            let requests_per_second = used.requests_per_second;
            let of = used.by_token.entry(token.clone()).or_insert_with(|| TokenUse {
                requests: limiter(requests_per_second),
                solves: Arc::default(),
                last: Instant::now(),
            });
            of.last = Instant::now();
            let refused = of.requests.as_ref().and_then(|requests| requests.check().err());
            let wait = refused.map(|until| until.wait_time_from(DefaultClock::default().now()));
            RequestLimits { wait, solves: Some(Arc::clone(&of.solves)), limits: self.clone() }
        })
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

    /// Takes a place for a solve of the token.
    ///
    /// # Errors
    /// `Overloaded`: all are taken.
    pub(crate) fn begin_solve(&self) -> Result<Option<SolvePlace>, Error> {
        let Some(solves) = &self.solves else { return Ok(None) };
        let limit = self.limits.0.solves.load(Ordering::Relaxed);
        let taken = |solves: usize| (solves < limit).then_some(solves + 1);
        match solves.fetch_update(Ordering::Relaxed, Ordering::Relaxed, taken) {
            Ok(_) => Ok(Some(SolvePlace(Arc::clone(solves)))),
            Err(_) => Err(Error::Overloaded { retry_after: SOLVE_RETRY }),
        }
    }
}

impl Drop for SolvePlace {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Makes the limiter of one token, which may use the requests of a second at once. Zero is no limit.
fn limiter(requests_per_second: u32) -> Option<DefaultDirectRateLimiter> {
    let quota = Quota::per_second(NonZeroU32::new(requests_per_second)?);
    Some(RateLimiter::direct(quota))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(requests_per_second: u32, solves_per_token: usize) -> HttpSection {
        let defaults: toml::Table = crate::settings::DEFAULTS.parse().unwrap();
        let http = defaults["http"].clone().try_into::<HttpSection>().unwrap();
        HttpSection { requests_per_second, solves_per_token, ..http }
    }

    fn token(name: &str) -> TokenId {
        TokenId::try_from(name.to_owned()).unwrap()
    }

    #[test]
    fn a_token_that_asks_too_often_is_told_when_to_come_again_and_others_are_let_in() {
        let limits = TokenLimits::new(&settings(2, 1));
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
    fn a_place_for_a_solve_is_given_back() {
        let limits = TokenLimits::new(&settings(0, 1));
        let request = limits.request(Some(&token("0123456789ab")));
        let first = request.begin_solve().unwrap();
        assert!(matches!(request.begin_solve(), Err(Error::Overloaded { .. })));
        limits.set(&settings(0, 2));
        let second = request.begin_solve().unwrap();
        assert!(request.begin_solve().is_err());
        drop((first, second));
        assert!(request.begin_solve().is_ok());
    }
}
