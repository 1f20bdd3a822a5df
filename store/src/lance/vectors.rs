//! Whose vectors the tables hold (`fingerprint`), which memories were stored without vectors (`unembedded`), and the
//! table in which the vectors of another embedder are made (`next_passages`).

pub(super) mod fingerprint;
pub(super) mod next_passages;
pub(super) mod unembedded;
