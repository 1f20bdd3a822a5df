//! A lease in memory.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use jiff::civil::Date;

use crate::ports::{Lease, LeaseGuard};

/// One lease for all clones, with the account of what was spent, as a lock file is.
#[derive(Clone, Default)]
pub struct MemLease {
    taken: Arc<AtomicBool>,
    account: Arc<Mutex<Option<(Date, u64)>>>,
}

impl MemLease {
    /// Returns the day and what was spent on it, as it was written down last.
    pub fn account(&self) -> Option<(Date, u64)> {
        *self.account.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct TakenMemLease(MemLease);

impl Drop for TakenMemLease {
    fn drop(&mut self) {
        self.0.taken.store(false, Ordering::SeqCst);
    }
}

impl Lease for MemLease {
    fn try_take(&self) -> Option<Box<dyn LeaseGuard>> {
        let free = !self.taken.swap(true, Ordering::SeqCst);
        free.then(|| Box::new(TakenMemLease(self.clone())) as Box<dyn LeaseGuard>)
    }
}

impl LeaseGuard for TakenMemLease {
    fn spent_on(&self, day: Date) -> u64 {
        self.0.account().filter(|(known, _)| *known == day).map_or(0, |(_, tokens)| tokens)
    }

    fn write_down(&mut self, day: Date, tokens: u64) -> BoxFuture<'_, Result<(), String>> {
        *self.0.account.lock().unwrap_or_else(PoisonError::into_inner) = Some((day, tokens));
        ready(Ok(())).boxed()
    }
}
