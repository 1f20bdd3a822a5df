//! A lease in memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::ports::{Lease, LeaseGuard};

/// One lease for all clones.
#[derive(Clone, Default)]
pub struct MemLease {
    taken: Arc<AtomicBool>,
}

struct TakenMemLease(MemLease);

impl Drop for TakenMemLease {
    fn drop(&mut self) {
        self.0.taken.store(false, Ordering::SeqCst);
    }
}

impl Lease for MemLease {
    fn try_take(&self) -> Option<LeaseGuard> {
        let free = !self.taken.swap(true, Ordering::SeqCst);
        free.then(|| Box::new(TakenMemLease(self.clone())) as LeaseGuard)
    }
}
