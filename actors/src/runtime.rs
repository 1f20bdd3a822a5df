//! The glue between rules and ractor: what every actor and handle of this crate is built from.
//! It knows no port and no domain task. Types of ractor stop here and in the actors: handles show none.
//!
//! The file of every actor reads in the same order, with the same names. `usage.rs` is a small one:
//!
//! 1. `UsageHandle` is what others clone and call. It holds a [`Slot`] and a [`Gate`]. `new` makes it, and `child`
//!    gives the [`ChildSpec`] by which a [`Supervisor`] starts the actor, and starts it again.
//! 2. `UsageMsg` is what the handle and the actor's own work send.
//! 3. `UsageArgs` is what each incarnation is started with.
//! 4. `UsageState` is what one incarnation has. Its [`Tasks`] run what a handler must not wait for.
//! 5. `UsageActor` has no fields. `pre_start` makes the state, `handle` takes one message, and `post_stop` finishes
//!    what is under way.
//! 6. The work itself follows: the methods of the state, and functions.
//!
//! Nothing in it is for tests: a test crashes any actor from outside (`testkit::Faults`). Tests and statistics watch
//! [`Events`].

mod call_error;
mod deadline;
mod events;
mod gate;
mod slot;
mod supervise;
mod tasks;
mod timer;

pub use call_error::CallError;
pub(crate) use call_error::ask_again_if_dropped;
pub use deadline::Deadline;
pub use events::{Events, Subscription, SystemEvent};
pub use gate::{Gate, Permit};
pub use slot::Slot;
pub use supervise::{
    ChildPhase, ChildSpec, ChildStatus, Ended, GaveUp, StopOutcome, Stopped, Supervisor, SupervisorArgs,
    SupervisorHandle, SupervisorMsg,
};
pub use tasks::{Panicked, Tasks};
pub use timer::MessageTimer;
