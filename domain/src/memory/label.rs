//! Labels: the names of domains and difficulties that people and models give to memories.

/// Returns the form in which names of domains and of difficulties are compared.
pub fn label_key(label: &str) -> String {
    label.trim().to_lowercase()
}
