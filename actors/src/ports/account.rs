//! The account of what a bank spends on language models without being asked to.

use std::io;

use futures::future::BoxFuture;
use jiff::civil::Date;

/// The tokens of one day, of all processes of a bank together. Nothing is known of other days.
pub trait TokenAccount: Send + Sync + 'static {
    /// Sets tokens aside on a day (UTC) unless more than `cap` would be spent on it then. Says whether they are set
    /// aside, and then they are on the disk.
    fn set_aside(&self, day: Date, tokens: u64, cap: u64) -> BoxFuture<'_, io::Result<bool>>;

    /// Writes down what was spent of what was set aside on a day. It may be more.
    fn settle(&self, day: Date, set_aside: u64, spent: u64) -> BoxFuture<'_, io::Result<()>>;
}
