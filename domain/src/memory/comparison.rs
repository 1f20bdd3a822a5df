//! The forms of texts in which memories are compared with each other, and hashes of them.

use sha2::{Digest, Sha256};

use crate::text::hex::hex;

/// Returns the white space that the lines of a text begin with, line by line. It is None where none begins with any.
/// Two programs may differ in it alone. A single space is no indentation.
pub fn indentation(text: &str) -> Option<String> {
    let of_line = |line: &str| match &line[..line.len() - line.trim_start().len()] {
        " " => String::new(),
        white => white.to_owned(),
    };
    let lines = text.trim().lines().filter(|line| !line.trim().is_empty());
    let all: Vec<String> = lines.map(of_line).collect();
    all.iter().any(|white| !white.is_empty()).then(|| all.join("\n"))
}

/// Returns the text with its white space collapsed.
pub fn spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the text in lower case with its white space collapsed. Two writings of the same sentence have this in
/// common.
pub fn normalised(text: &str) -> String {
    spaced(text).to_lowercase()
}

/// Returns the hash of a list of parts. Each part is prefixed by its length, so that no two lists share a hash by
/// moving a boundary.
pub(crate) fn hash_of_parts(parts: &[&str]) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hex(&hasher.finalize())
}
