//! What must not be stored or shown: secrets (`secrets`), and characters that nobody sees (`invisible`).

pub mod invisible;
pub mod secrets;
