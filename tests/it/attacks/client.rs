//! What a client may not do: reach another project, destroy without being allowed to, or keep the server busy.

/// How many inputs this family goes through.
pub(super) fn inputs() -> usize {
    0
}
