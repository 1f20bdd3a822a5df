//! The answers to the hooks of this user's clients, in a process that serves a bank and in the hook itself. A hook
//! lives for a tenth of a second, too short to load a model: it asks on a private socket, or looks into the bank by
//! itself where nobody serves it. It leaves a file for what has to be done later.
//!
//! `question` is what it asks or leaves, `socket` is the way between the two, `answers` says what is known, `cold` says
//! it without a server, `sessions` remembers what each session was shown, `spool` keeps what a session left until it is
//! learned from, and `failures` is the log of hooks that went wrong.

mod answers;
mod cold;
mod failures;
mod question;
mod sessions;
mod socket;
mod spool;

use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use reasoning_bank_actors::system::SystemHandle;
use tokio::sync::{Mutex as AsyncMutex, Notify};
use tokio::time::timeout;

use self::answers::HookAnswers;
pub(crate) use self::answers::warm_up;
pub(crate) use self::cold::{ColdAnswer, answer_cold};
pub(crate) use self::failures::{HookFailure, HookProblem, last_failure, note_failure};
pub(crate) use self::question::{HookQuestion, SpoolEntry};
pub(crate) use self::socket::{AskedServer, ServedAnswer, ask, is_served, may_start_server};
pub(crate) use self::spool::leave;
use crate::project::Identity;
use crate::recall_log::RecallLog;

/// A server has this long for an answer, so that the hook has some left.
const ANSWER_TIMEOUT: Duration = Duration::from_millis(80);

/// The parts that a server needs to answer hooks.
pub(crate) struct HookServer {
    pub(crate) system: SystemHandle,
    pub(crate) data_dir: PathBuf,
    pub(crate) identity: Identity,
    pub(crate) learning: SessionLearning,
    /// True where agents have the tools of working memory.
    pub(crate) has_working_tools: bool,
    pub(crate) recalls: Option<RecallLog>,
}

/// The ways in which sessions are learned from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SessionLearning {
    Nothing,
    ByRules,
    /// A model reads the sessions that are over as well, in the background.
    ByModel,
}

/// Answers hooks for as long as it is polled, and learns from what they left.
pub(crate) async fn answer_hooks(server: HookServer) -> Infallible {
    answer(server, &HookActivity::default()).await
}

/// Answers hooks until none has asked for this long, and learns from what they left. What it has begun to learn it ends.
pub(crate) async fn answer_hooks_while_asked(server: HookServer, idle: Duration) {
    let activity = HookActivity::default();
    let (system, data_dir) = (server.system.clone(), server.data_dir.clone());
    let (identity, learning) = (server.identity, server.learning);
    let idle = async {
        while timeout(idle, activity.asked.notified()).await.is_ok() {}
        drop(activity.learning.lock().await);
    };
    tokio::select! {
        () = idle => {}
        never = answer(server, &activity) => match never {},
    }
    // The last hook may have left something since.
    spool::learn_once(&system, &data_dir, identity, learning).await;
}

/// The activity of a server for hooks.
#[derive(Default)]
struct HookActivity {
    /// Notified of each hook.
    asked: Notify,
    /// Notified of each hook as well: it may have left something.
    left: Notify,
    /// Locked for as long as it learns.
    learning: Arc<AsyncMutex<()>>,
}

async fn answer(server: HookServer, activity: &HookActivity) -> Infallible {
    let HookServer { system, data_dir, identity, learning, has_working_tools, recalls } = server;
    let answers = HookAnswers {
        system: system.clone(),
        data_dir: data_dir.clone(),
        identity,
        recalls,
        sessions: Mutex::default(),
        has_working_tools,
        timeout: ANSWER_TIMEOUT,
        learning: Some(Arc::clone(&activity.learning)),
    };
    tokio::task::spawn_blocking(|| {
        warm_up();
        answers::warm_up_for_secrets();
    });
    let listening = socket::listen(Arc::new(answers), activity, &data_dir);
    let learning = spool::learn(&system, &data_dir, identity, learning, activity);
    match tokio::join!(listening, learning) {}
}
