//! What is known of a memory's worth. `confidence` adds signals up; the other files say which signals follow from what happened:
//! a report (`feedback`), a verdict that was turned round (`verdict_override`), the commits after a solve (`stability`). `promotion`
//! proposes what has proved itself to wider scopes, `genealogy` shows what came from what.

pub mod confidence;
pub mod feedback;
pub mod genealogy;
pub mod promotion;
pub mod stability;
pub mod verdict_override;
