//! The lease of the background work of a bank, which one process has at a time, and the account of what that work
//! spends, which goes from holder to holder with it.

use futures::future::BoxFuture;
use jiff::civil::Date;

pub trait Lease: Send + Sync + 'static {
    /// Takes the lease at once; None while somebody else has it.
    fn try_take(&self) -> Option<Box<dyn LeaseGuard>>;
}

/// A lease that was taken. It is held until the guard is dropped, at the latest until its process ends.
pub trait LeaseGuard: Send + 'static {
    /// Tokens of models that were spent on a day (UTC); of the last day that was written down, all others are 0.
    fn spent_on(&self, day: Date) -> u64;

    /// Writes down that so many were spent on a day, and forgets other days. Durable when it returns; else why not.
    fn write_down(&mut self, day: Date, tokens: u64) -> BoxFuture<'_, Result<(), String>>;
}
