//! The arguments of `hook`.

use clap::Args;

/// The client and its event. Unknown ones are answered with nothing: a client takes a failing hook for a reason to
/// stop.
#[derive(Debug, Args)]
pub(in crate::cli) struct HookArgs {
    /// The client that runs the hook, such as claude-code
    pub(in crate::cli) client: String,
    /// The event of the client, such as PostToolUseFailure
    pub(in crate::cli) event: String,
    /// Answer the hooks that follow, until none has asked for a while
    #[arg(long, hide = true)]
    pub(in crate::cli) serve: bool,
}
