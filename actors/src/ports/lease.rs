//! The lease of the background work of a bank, which one process has at a time.

pub trait Lease: Send + Sync + 'static {
    /// Takes the lease at once; None while somebody else has it.
    fn try_take(&self) -> Option<LeaseGuard>;
}

/// A lease that was taken. It is held until this is dropped, at the latest until its process ends.
pub type LeaseGuard = Box<dyn Send>;
