//! The names of what lies in a data directory beside the tables and the journal, which `lance.rs` has the map of.
//! Whoever keeps such a thing names it from here, and so does a backup, which has all of them.

/// The file of tokens, replaced whole.
pub const TOKENS: &str = "tokens.json";
/// The directory of the audit log. Each process appends to a file of its own there.
pub const AUDIT: &str = "audit";
/// The directory of the model tokens that each access token has used, a file for each day. Processes append to it.
pub const SPENDING: &str = "spending";
/// The directory of the rankings that users agreed to, a file for each checkout, replaced whole.
pub const AGREED: &str = "agreed";
/// The directory of the keys that projects are linked to, a file for each checkout, replaced whole.
pub const LINKS: &str = "links";
/// The file with the choice of the default workspace, replaced whole.
pub const DEFAULT_WORKSPACE: &str = "default_workspace";
/// The directory of trace files, where no other one is set. Each file is replaced whole.
pub const TRACES: &str = "traces";
/// The directory of the working memories: below the id of a workspace, a log for each task that is not closed.
pub const WORKING: &str = "working";
/// The directory of the recall log: below the id of a workspace, a file for each day. Serving processes append to it,
/// and it is in no backup.
pub const RECALLS: &str = "recalls";
/// The directory of the events that hooks left for a serving process, a file for each. It is in no backup.
pub const HOOK_SPOOL: &str = "hook-spool";
/// The file with the number of the format, of which there is one wherever there is a bank.
pub const FORMAT_VERSION: &str = "format_version";
/// The log of hooks that went wrong, and the one before it. Hooks append to it, and it is in no backup.
pub const HOOK_LOG: &str = "hook-log.jsonl";
pub const HOOK_LOG_OLD: &str = "hook-log.old.jsonl";
/// The file that says what background work has spent today, replaced whole.
pub const BACKGROUND_SPENT: &str = ".background.spent";
/// The directory of the artefacts of episodes, which `artefact_files` has the map of.
pub const ARTEFACTS: &str = "artefacts";
/// The directory of the memory banks that lie in no checkout: below the kind of a bank and its id, its markdown files.
/// People edit them.
pub const BANKS: &str = "banks";
/// The directory of the records of all memory banks: below the kind and the id, the journal, the base, the history and
/// what is known of sections.
pub const BANK_RECORDS: &str = "bank-records";
