//! A one_for_one supervisor: children are started in order, started again as `domain::system::restart` decides, and
//! stopped in a given order. It decides nothing itself and knows no child beyond its [`ChildSpec`]; children that come
//! and go with requests belong to an actor of their own that links them.

mod actor;
mod child;
mod handle;

pub use actor::{Ended, GaveUp, StopOutcome, Stopped, Supervisor, SupervisorArgs, SupervisorMsg};
pub use child::{ChildPhase, ChildSpec, ChildStatus};
pub use handle::SupervisorHandle;
