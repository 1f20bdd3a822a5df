//! Japanese and Chinese, which write their words without spaces.

use std::borrow::Cow;

/// Words behind which a clause tells what its subject is.
const JOINING: [char; 5] = ['は', '是', '为', '為', '：'];
/// Endings of what happened.
const PAST: [&str; 4] = ["ました", "でした", "だった", "了"];

/// Tells whether a sign is of a Japanese or Chinese word.
pub(super) fn is_sign(sign: char) -> bool {
    matches!(sign, '\u{3005}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}')
}

/// Writes a line with spaces between its signs and what is written with other letters, and with marks that end a
/// sentence elsewhere.
pub(super) fn spaced(line: &str) -> Cow<'_, str> {
    if !line.chars().any(is_sign) {
        return Cow::Borrowed(line);
    }
    let (mut spaced, mut before) = (String::with_capacity(2 * line.len()), ' ');
    for sign in line.chars() {
        let is_border = sign.is_ascii_alphanumeric() && is_sign(before)
            || (before.is_ascii_alphanumeric() || before == '%') && is_sign(sign);
        spaced.extend(is_border.then_some(' '));
        match sign {
            '。' => spaced.push_str(". "),
            '、' | '，' => spaced.push_str(", "),
            _ => spaced.push(sign),
        }
        before = sign;
    }
    Cow::Owned(spaced)
}

/// Tells whether what stands behind a word is told of a subject: `ポートは`.
pub(super) fn joins(word: &str) -> bool {
    word.ends_with(JOINING)
}

/// Tells whether a word says that something happened.
pub(super) fn is_past(word: &str) -> bool {
    word.chars().all(is_sign) && PAST.iter().any(|ending| word.ends_with(ending))
}
