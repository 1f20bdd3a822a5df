//! The deadline of calls that a test expects to be answered.

use std::time::Duration;

use crate::runtime::Deadline;

/// Long enough for a busy machine: nothing waits for it where all is well.
pub fn soon() -> Deadline {
    Deadline::after(Duration::from_secs(60))
}
