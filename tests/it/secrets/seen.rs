//! Everything that a process wrote, sent and said, and the search for secrets in it.

use std::collections::HashSet;
use std::path::Path;

use crate::support::Ran;

/// The number of bytes of a secret that are too much to let out.
const PIECE: usize = 12;

/// Tells whether the piece is of what differs from key to key, not of what all keys of a kind begin with.
fn is_random(piece: &[u8]) -> bool {
    let digits = piece.iter().filter(|byte| byte.is_ascii_digit()).count();
    digits >= 2 && piece.iter().all(|byte| byte.is_ascii_alphanumeric() || b"+/_-=".contains(byte))
}

/// A number below 2^20 for its first four bytes.
fn start_of(piece: &[u8]) -> usize {
    let start = piece[..4].iter().fold(0u32, |number, byte| number << 8 | u32::from(*byte));
    (start.wrapping_mul(0x9e37_79b1) >> 12) as usize
}

/// The pieces that were written, sent and said.
#[derive(Default)]
pub(super) struct Seen(Vec<(String, String)>);

impl Seen {
    /// Adds bytes, which need not be UTF-8: secrets are ASCII, so they are found all the same.
    pub(super) fn add(&mut self, name: impl Into<String>, bytes: impl AsRef<[u8]>) {
        self.0.push((name.into(), String::from_utf8_lossy(bytes.as_ref()).into_owned()));
    }

    pub(super) fn ran(&mut self, name: &str, ran: &Ran) {
        self.add(format!("stdout of {name}"), &ran.stdout);
        self.add(format!("stderr of {name}"), &ran.stderr);
    }

    /// Every file below.
    pub(super) fn directory(&mut self, directory: &Path) {
        for entry in std::fs::read_dir(directory).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                self.directory(&path);
            } else {
                self.add(path.display().to_string(), std::fs::read(&path).unwrap());
            }
        }
    }

    /// Returns where which secret is: as it is, as it stands in JSON, and in part.
    pub(super) fn leaks<'a>(&'a self, secrets: impl Iterator<Item = &'a str>) -> Vec<String> {
        let mut leaks = Vec::new();
        let mut pieces = HashSet::new();
        for secret in secrets {
            pieces.extend(secret.as_bytes().windows(PIECE).filter(|piece| is_random(piece)));
            let escaped = serde_json::to_string(secret).unwrap();
            for form in [secret, escaped.trim_matches('"')] {
                let found = self.0.iter().filter(|(_, text)| text.contains(form));
                leaks.extend(found.map(|(name, _)| format!("{form:?} in {name}")));
            }
        }
        // Most of the bytes are looked at without hashing twelve of them.
        let mut begins = vec![false; 1 << 20];
        pieces.iter().for_each(|piece| begins[start_of(piece)] = true);
        for (name, text) in &self.0 {
            let mut windows = text.as_bytes().windows(PIECE).filter(|window| begins[start_of(window)]);
            let part = windows.find(|window| pieces.contains(window));
            leaks.extend(part.map(|part| format!("part {:?} in {name}", String::from_utf8_lossy(part))));
        }
        leaks
    }
}
