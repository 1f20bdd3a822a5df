//! Evidence: what is known of a memory's worth. `confidence` adds signals up. Other files say which signals follow from
//! what happened: `feedback` from a report, `verdict_override` from a verdict that changed, `stability` from the
//! commits after a solve. `promotion` proposes proven memories to wider scopes, and `genealogy` shows what came from
//! what.

pub mod confidence;
pub mod feedback;
pub mod genealogy;
pub mod promotion;
pub mod stability;
pub mod verdict_override;
