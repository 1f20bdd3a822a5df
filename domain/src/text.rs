//! Texts as a search and a model take them: the terms that are searched (`terms`), the tokens that a model counts (`tokens`), the
//! size of a JSON text before it is parsed (`json`).

pub mod hex;
pub mod json;
pub mod terms;
pub mod tokens;
