//! What a hook asks a process that serves, or leaves for one.

use std::path::PathBuf;

use reasoning_bank_clients::HookCall;
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HookQuestion {
    /// The absolute path of a directory in the project that the session works in.
    pub(crate) directory: PathBuf,
    pub(crate) call: HookCall,
}
