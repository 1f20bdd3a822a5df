//! Patterns whose words may have letters of any script, and that compile fast.

use regex::{Error, Regex};

/// The ranges that nearly all letters and digits of all scripts lie in. The class `\w` has some 770 ranges, which take
/// milliseconds to compile for each time that a pattern has it.
const WORD: &str = r"0-9A-Za-z_\u{AA}\u{B5}\u{BA}\u{C0}-\u{1FFF}\u{2C00}-\u{2DFF}\u{3005}-\u{3007}\u{3031}-\u{FEFE}\u{FF10}-\u{FFDC}\u{10000}-\u{10FFFF}";

/// Compiles a pattern with these ranges in the place of `\w` and `\W`, and with the digits of ASCII in that of `\d`.
///
/// # Errors
/// The pattern is not valid.
pub(super) fn compiled(pattern: &str) -> Result<Regex, Error> {
    let mut out = String::with_capacity(4 * pattern.len());
    let mut chars = pattern.chars();
    let mut in_class = false;
    while let Some(c) = chars.next() {
        match (c, in_class) {
            ('\\', _) => match (chars.next(), in_class) {
                (Some('w'), true) => out.push_str(WORD),
                (Some('w'), false) => out.push_str(&format!("[{WORD}]")),
                (Some('W'), false) => out.push_str(&format!("[^{WORD}]")),
                (Some('d'), true) => out.push_str("0-9"),
                (Some('d'), false) => out.push_str("[0-9]"),
                (escaped, _) => out.extend(std::iter::once('\\').chain(escaped)),
            },
            _ => {
                in_class = if in_class { c != ']' } else { c == '[' };
                out.push(c);
            }
        }
    }
    Regex::new(&out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_letters_of_any_script() {
        let word = compiled(r"^\w+$").unwrap();
        for text in ["été", "größen_Wert2", "об", "エラー", "错误", "v2"] {
            assert!(word.is_match(text), "{text}");
        }
        for text in ["a-b", "a b", "«a»", "“a”", "a…", "(", "、"] {
            assert!(!word.is_match(text), "{text}");
        }
        assert!(compiled(r"^[\w.]+\W\d[\d,]\\w$").unwrap().is_match(r"a.b-1,\w"));
    }
}
