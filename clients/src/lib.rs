//! The knowledge of ReasoningBank about the programs that agents run in: which files configure them, how these are
//! edited so that all else in them stays as it is, and how an edit is taken back. It is told where things lie and what
//! files say; reading and writing them is the edge's.
//!
//! In reading order: `agent_client` lists the clients. `locations` says which files configure each of them.
//! `server_entry` is what is written there, as `document` values. `edit` puts such values into JSON with comments,
//! TOML, YAML and markdown, and takes them out. `guidance` has the lines for an agent's instructions, and `hook` says
//! which events of a client are hooked. `receipt` remembers what was written, and decides how it is taken back;
//! `unrecorded` decides what is ours where no receipt is.

mod agent_client;
mod document;
mod edit;
mod guidance;
mod hook;
mod locations;
mod receipt;
mod server_entry;
mod unrecorded;

pub use agent_client::{AgentClient, UnknownClient};
pub use document::{ConfigChange, ConfigFormat, ConfigValue, SERVER_NAME};
pub use edit::{ConfigEditError, apply, hook_programs, remove};
pub use guidance::guidance;
pub use hook::{HookCall, HookEvent, HookMoment};
pub use locations::{CLINE_SERVERS, ClientPlaces, ConfigFile, NoHooks, NoSuchScope, NoUserInstructions, SetupScope};
pub use receipt::{FileRecord, Receipt, fingerprint, unified_diff};
pub use server_entry::{
    ServerCommand, is_elsewhere, kept_arguments, option_of, own_arguments, server_arguments, server_program,
};
pub use unrecorded::UnrecordedFile;
