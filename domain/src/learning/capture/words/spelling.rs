//! The spelling of cues and texts before they are compared. It is in ASCII, so that one automaton reads all languages
//! with spaces between words quickly. A small letter is an English one; a capital stands for a letter with an accent,
//! or of the Cyrillic script.

use unicode_normalization::UnicodeNormalization;

/// Returns a text as it is compared with cues.
pub(super) fn spelled(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).map(letter).collect()
}

/// Returns a pattern for such texts. What is ASCII in it stays, with the classes and escapes that it writes.
pub(super) fn respelled(pattern: &str) -> String {
    pattern.chars().map(|c| if c.is_ascii() { c } else { letter(c) }).collect()
}

/// Returns the sign for a character, which is a word sign for every letter and digit.
fn letter(c: char) -> char {
    match c {
        _ if c.is_ascii() => c,
        '\u{2018}' | '\u{2019}' => '\'',
        '\u{2013}' | '\u{2014}' => '-',
        'ß' => 'S',
        'ø' | 'œ' => 'O',
        'ł' => 'L',
        'æ' => 'A',
        'ı' => 'I',
        'а'..='я' | 'ё' => cyrillic(c),
        _ if c.is_alphanumeric() => {
            c.nfd().next().filter(char::is_ascii_alphabetic).map_or('_', |base| base.to_ascii_uppercase())
        }
        _ => ' ',
    }
}

/// Letters that are seldom told apart share a sign, since there are fewer signs than letters.
fn cyrillic(c: char) -> char {
    const LETTERS: &str = "абвгдежзийклмнопрстуфхцчшщъыьэюяё";
    const SIGNS: &str = "ABVGDEJZIIKLMNOPRSTUFHCCWWQIQEXYE";
    LETTERS.chars().position(|letter| letter == c).and_then(|at| SIGNS.chars().nth(at)).unwrap_or('_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_spelled_in_ascii_with_a_sign_for_each_character() {
        assert_eq!(spelled("Größe, J’ai été — Сейчас"), "grOSe, j'ai EtE - SEICAS");
        assert_eq!(spelled("数a 1"), "_a 1");
        assert_eq!(respelled(r"\bété\W"), r"\bEtE\W");
    }
}
