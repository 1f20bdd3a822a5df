//! Evidence: what is known of a memory's worth. `confidence` adds its signals up, and `fading`
//! says what age and use are in a score. `verdict_override` says what becomes
//! of votes when a verdict changes, and `stability` what follows from the commits after a solve. `feedback` is what a
//! client reports and reads afterwards, and `report` what follows from it. `promotion` proposes proven memories
//! to wider scopes, and `genealogy` shows what came from what.

pub mod confidence;
pub mod fading;
pub mod feedback;
pub mod genealogy;
pub mod promotion;
pub mod report;
pub mod stability;
pub mod verdict_override;
