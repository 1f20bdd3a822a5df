//! The check of the log of hooks: it says which hook went wrong last. The client and its user are told nothing of it.

use std::path::Path;

use jiff::{SignedDuration, Timestamp};
use reasoning_bank_store::data_dir::HOOK_LOG;

use super::{Check, Grade};
use crate::hooks::{HookProblem, last_failure};

/// A failure that is older is no warning any more.
const RECENT: SignedDuration = SignedDuration::from_hours(7 * 24);

/// Tells of the hook that went wrong last; none where the log has none.
pub(super) fn check(data_dir: &Path, now: Timestamp) -> Option<Check> {
    let last = last_failure(data_dir)?;
    // A hook that finds no server may need longer than it has. It starts one for those that follow.
    let is_late = last.problem == HookProblem::Late;
    if is_late || now.duration_since(last.at) > RECENT {
        return Some(Check::new("hook-log", Grade::Ok, format!("the last hook that said nothing: {last}")));
    }
    let check = Check::new("hook-log", Grade::Warn, format!("the last hook that went wrong: {last}"));
    Some(check.hint(format!("see to the reason; {} has the earlier ones", data_dir.join(HOOK_LOG).display())))
}
