//! The glue between rules and ractor: what every actor and handle of this crate is built from.
//! It knows no port and no domain task. Types of ractor stop here and in the actors: handles show none.
//!
//! An actor in short: its handle holds a [`Slot`] and a [`Gate`], its state a [`Tasks`], its [`ChildSpec`] says how a
//! [`Supervisor`] starts it again, and tests and statistics watch [`Events`].

mod call;
mod deadline;
mod events;
mod gate;
mod slot;
mod supervise;
mod tasks;

pub use call::CallError;
pub use deadline::Deadline;
pub use events::{Events, Subscription, SystemEvent};
pub use gate::{Gate, Permit};
pub use slot::Slot;
pub use supervise::{
    ChildPhase, ChildSpec, ChildStatus, Ended, Ending, GaveUp, Stopped, Supervisor, SupervisorArgs, SupervisorHandle,
    SupervisorMsg,
};
pub use tasks::{Panicked, Tasks};
