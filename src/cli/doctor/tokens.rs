//! The check of the tokens of a team's server: no two organisations have a team in common.

use std::path::Path;

use jiff::Timestamp;

use super::{Check, Grade};
use crate::tokens::{TokenFile, teams_in_common};

/// Says what is wrong with the tokens; none where nothing is.
pub(super) fn check(data_dir: &Path, now: Timestamp) -> Option<Check> {
    let tokens = match TokenFile::of(data_dir).read() {
        Ok(tokens) => tokens,
        Err(error) => {
            let hint = "a server lets nobody in; where the file is broken, move it away and make new tokens";
            return Some(Check::new("tokens", Grade::Fail, error.to_string()).hint(hint));
        }
    };
    let shared: Vec<String> = teams_in_common(&tokens, now).iter().map(ToString::to_string).collect();
    let hint = "keep the tokens of one organisation, `token revoke` the others, and make those again with a team of \
                another name";
    (!shared.is_empty()).then(|| Check::new("tokens", Grade::Warn, shared.join("; ")).hint(hint))
}
