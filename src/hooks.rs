//! What a process that serves a bank does for the hooks of this user's clients. A hook lives for a tenth of a second, too
//! short to open a bank of its own: it asks on a private socket, or leaves a file.
//!
//! `question` is what it asks or leaves, `socket` is the way between the two, `answers` says what is known, `sessions`
//! remembers what each session was shown, and `spool` keeps what a session left until it is learned from.

mod answers;
mod question;
mod sessions;
mod socket;
mod spool;

use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use reasoning_bank_actors::system::SystemHandle;

use self::answers::HookAnswers;
pub(crate) use self::question::{HookQuestion, SpoolEntry};
pub(crate) use self::socket::ask;
pub(crate) use self::spool::leave;
use crate::project::Identity;
use crate::recall_log::RecallLog;

/// What hooks are answered with.
pub(crate) struct HookServer {
    pub(crate) system: SystemHandle,
    pub(crate) data_dir: PathBuf,
    pub(crate) identity: Identity,
    /// Sessions that are over are learned from.
    pub(crate) captures: bool,
    pub(crate) recalls: Option<RecallLog>,
}

/// Answers hooks for as long as it is polled, and learns from what they left.
pub(crate) async fn answer_hooks(server: HookServer) -> Infallible {
    let HookServer { system, data_dir, identity, captures, recalls } = server;
    let answers = HookAnswers {
        system: system.clone(),
        data_dir: data_dir.clone(),
        identity,
        recalls,
        sessions: Mutex::default(),
    };
    tokio::task::spawn_blocking(answers::warm_up);
    let listening = socket::listen(Arc::new(answers), &data_dir);
    let learning = spool::learn(&system, &data_dir, identity, captures);
    match tokio::join!(listening, learning) {}
}
