//! Escape sequences of terminals: colours, movements of the cursor, titles and links. They are dropped whole, as the
//! letters in them carry nothing without the control that begins them.

/// The most bytes that the parameters of a control sequence may have. Colours and movements have far fewer.
const LONGEST_CONTROL: usize = 64;
/// The longest string that is taken for part of a sequence, in bytes. The addresses of links are the longest.
const LONGEST_STRING: usize = 4_096;

/// Returns the length in bytes of the escape sequence that a text begins with. None where programs write no such
/// sequence: then only its first character is invisible, and what follows is text.
pub(super) fn sequence(text: &str) -> Option<usize> {
    let mut chars = text.chars();
    match chars.next()? {
        '\u{1b}' => match chars.next()? {
            '[' => control(text, 2),
            ']' | 'P' | '_' | '^' | 'X' => string(text, 2),
            // This sequence chooses a character set.
            '(' | ')' => chars.next().filter(|set| matches!(set, 'A' | 'B' | '0'..='2')).map(|_| 3),
            _ => None,
        },
        '\u{9b}' => control(text, 2),
        '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}' => string(text, 2),
        _ => None,
    }
}

/// Returns the length in bytes of a control sequence (`31m`, `2K`, `?25l`): its beginning of `start` bytes, its
/// parameters, and the letter or `~` that says what to do. Without parameters only the letters that are in use count,
/// so that the first letter of a text is not taken for one.
fn control(text: &str, start: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let parameters =
        bytes.iter().skip(start).take(LONGEST_CONTROL).take_while(|byte| b"0123456789;:?>=!".contains(byte));
    let parameters = parameters.count();
    let end = start + parameters;
    let last = bytes.get(end)?;
    let known = if parameters == 0 { b"mKJH".contains(last) } else { last.is_ascii_alphabetic() || *last == b'~' };
    known.then_some(end + 1)
}

/// Returns the length in bytes of a string, such as a title or a link. Its beginning has `start` bytes, and it must end
/// on the same line.
fn string(text: &str, start: usize) -> Option<usize> {
    let within = &text[start..text.floor_char_boundary(LONGEST_STRING.min(text.len())).max(start)];
    let end = within.find(['\u{7}', '\u{1b}', '\u{9c}', '\n'])?;
    let rest = &within[end..];
    let closing = ["\u{7}", "\u{1b}\\", "\u{9c}"].into_iter().find(|closing| rest.starts_with(closing))?;
    Some(start + end + closing.len())
}
