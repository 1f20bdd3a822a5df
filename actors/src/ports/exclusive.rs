//! A right that one process has at a time for one bank, such as that to work off its queue.

use std::any::Any;

/// Held until it is dropped, at the latest until its process ends.
pub type Right = Box<dyn Any + Send>;

pub trait Exclusive: Send + Sync + 'static {
    /// At once; None while somebody else has it.
    fn try_take(&self) -> Option<Right>;
}
