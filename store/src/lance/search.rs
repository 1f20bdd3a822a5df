//! The answers to readers. A query gets its candidates (`candidates`), with what its terms are worth
//! (`term_statistics`); lists and exports are read in pages (`pages`), and what there is in all is counted (`summary`).
//! Each of them reads the tables through a view that shows a commit whole or not at all (`view`). Searches that are
//! answered from memory are in `resident`.

mod candidates;
pub(super) mod episodes;
pub(super) mod pages;
pub(super) mod summary;
mod term_statistics;
pub(super) mod view;

pub(super) use self::candidates::candidates;
