//! Texts as searches and models take them: `terms` are what is searched, `tokens` are what a model counts, and `json`
//! tells the size of a JSON text before it is parsed.

pub mod hex;
pub mod json;
pub mod terms;
pub mod tokens;
