//! Tests of significance, all of them one-sided. A p-value lies in 0..=1. Samples without any observation give 1,
//! because nothing speaks against the assumption. domain/tests/significance.rs compares all of them with SciPy and
//! statsmodels.

mod binomial;
mod fisher;
mod mann_whitney;
mod several;

pub use binomial::{binomial_at_least, binomial_at_most};
pub use fisher::{ContingencyTable, fisher_greater};
pub use mann_whitney::{SAMPLE_MAX, mann_whitney_less};
pub use several::{benjamini_hochberg, holm};
