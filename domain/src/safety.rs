//! Safety: what must not be stored or shown. `secrets` finds secrets, and `invisible` finds characters that nobody
//! sees.

pub mod invisible;
pub mod secrets;
