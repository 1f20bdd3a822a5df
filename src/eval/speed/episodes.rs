//! The measures of episodes, patterns, integrated queries, consolidation and working memory. The memories of the bank
//! are stored first, so that searching them is measured without and with episodes beside them.

pub(crate) mod consolidate;
pub(crate) mod fill;
mod made;
mod pace;
pub(crate) mod report;
pub(crate) mod serve;
pub(crate) mod working;
