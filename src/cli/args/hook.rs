//! The arguments of `hook`.

use clap::Args;

/// What is not known is answered with nothing: a client takes a failing hook for a reason to stop.
#[derive(Debug, Args)]
pub(in crate::cli) struct HookArgs {
    /// Which client runs the hook, such as claude-code
    pub(in crate::cli) client: String,
    /// Which of its events, such as PostToolUseFailure
    pub(in crate::cli) event: String,
}
