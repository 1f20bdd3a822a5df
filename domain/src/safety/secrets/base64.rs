//! Base64 that stands for a text, which files of registries and of clusters hold instead of a password.

/// The longest text that is looked at, in characters of its encoding.
const LONGEST: usize = 256;

/// Returns the text that is encoded. None where it is not printable ASCII.
pub(super) fn decoded(value: &str) -> Option<String> {
    let digits = value.trim_end_matches('=').as_bytes();
    if value.len() > LONGEST || digits.len() < 4 || digits.len() % 4 == 1 {
        return None;
    }
    let mut text = String::new();
    for quad in digits.chunks(4) {
        let mut bits = 0;
        for byte in quad {
            bits = bits << 6 | digit(*byte)?;
        }
        bits <<= 6 * (4 - quad.len());
        let bytes = bits.to_be_bytes();
        text.extend(bytes[1..quad.len()].iter().map(|byte| char::from(*byte)));
    }
    text.chars().all(|c| matches!(c, ' '..='~')).then_some(text)
}

fn digit(byte: u8) -> Option<u32> {
    let digit = match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    };
    Some(digit.into())
}
