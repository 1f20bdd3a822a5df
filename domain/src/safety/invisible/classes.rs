//! The classes of characters. They say which characters nobody sees, and beside which others an invisible one is needed
//! all the same.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CharacterClass {
    /// It is seen, or is white space that a text is laid out with.
    Seen,
    /// It begins an escape sequence of a terminal.
    Escape,
    CarriageReturn,
    /// It ends a line by the rules of Unicode, but no program takes it for a line end.
    LineEnd,
    /// The flag that tags of a country may follow.
    Flag,
    Joiner,
    NonJoiner,
    /// It chooses whether the character before it is shown as a picture or as text.
    EmojiStyle,
    /// It says in which direction the text beside it runs.
    Direction,
    /// It shapes the characters of one script.
    OfScript,
    /// It carries nothing anywhere.
    Nothing,
}

impl CharacterClass {
    pub(super) fn of(c: char) -> Self {
        match c {
            '\n' | '\t' | ' '..='~' => Self::Seen,
            '\r' => Self::CarriageReturn,
            '\u{1b}' | '\u{90}' | '\u{98}' | '\u{9b}' | '\u{9d}'..='\u{9f}' => Self::Escape,
            '\u{85}' | '\u{2028}' | '\u{2029}' => Self::LineEnd,
            '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' => Self::Nothing,
            '\u{a0}'..='\u{ac}' | '\u{ae}'..='\u{34e}' => Self::Seen,
            '\u{1f3f4}' => Self::Flag,
            '\u{200c}' => Self::NonJoiner,
            '\u{200d}' => Self::Joiner,
            '\u{200e}' | '\u{200f}' | '\u{61c}' => Self::Direction,
            '\u{fe0e}' | '\u{fe0f}' => Self::EmojiStyle,
            '\u{34f}' | '\u{180b}'..='\u{180f}' | '\u{2800}' | '\u{2d7f}' | '\u{13430}'..='\u{13455}' => Self::OfScript,
            // The soft hyphen, the fillers of Hangul, vowels of Khmer that are not written.
            '\u{ad}' | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' | '\u{17b4}' | '\u{17b5}' => Self::Nothing,
            // The zero-width space, embeddings, overrides, isolates, invisible operators, deprecated controls.
            '\u{200b}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => Self::Nothing,
            // Variants of characters, the mark of a byte order, annotations, the place of a lost object.
            '\u{fe00}'..='\u{fe0d}' | '\u{feff}' | '\u{fff0}'..='\u{fffc}' => Self::Nothing,
            // Controls of shorthand and of music.
            '\u{1bca0}'..='\u{1bca3}' | '\u{1d159}' | '\u{1d173}'..='\u{1d17a}' => Self::Nothing,
            // Tags, variants of ideographs, and all that is reserved for the like.
            '\u{e0000}'..='\u{e0fff}' => Self::Nothing,
            '\u{fdd0}'..='\u{fdef}' => Self::Nothing,
            c if u32::from(c) & 0xfffe == 0xfffe => Self::Nothing,
            _ => Self::Seen,
        }
    }
}

/// Tells whether a character that is invisible by itself has an effect between these two neighbours. A second one of
/// the same kind has none, so no more than one bit can be hidden at each letter of these scripts.
pub(super) fn is_needed(class: CharacterClass, c: char, before: Option<char>, after: Option<char>) -> bool {
    let is = |side: Option<char>, what: fn(char) -> bool| side.is_some_and(what);
    match class {
        CharacterClass::Joiner => is(before, joins) || (is(before, ends_emoji) && is(after, is_emoji)),
        CharacterClass::NonJoiner => is(before, joins),
        CharacterClass::EmojiStyle => {
            is(before, |c| is_emoji(c) && !is_skin(c))
                || (is(before, |c| matches!(c, '0'..='9' | '#' | '*')) && after == Some('\u{20e3}'))
        }
        CharacterClass::Direction => {
            !is(before, |c| CharacterClass::of(c) == CharacterClass::Direction)
                && (is(before, runs_to_the_left) || is(after, runs_to_the_left))
        }
        CharacterClass::OfScript => is_of_script(c, before, after),
        CharacterClass::Seen | CharacterClass::Flag => true,
        CharacterClass::Escape | CharacterClass::CarriageReturn | CharacterClass::LineEnd | CharacterClass::Nothing => {
            false
        }
    }
}

fn is_of_script(c: char, before: Option<char>, after: Option<char>) -> bool {
    let Some(before) = before else { return c == '\u{2800}' && matches!(after, Some('\u{2801}'..='\u{28ff}')) };
    match c {
        // The grapheme joiner keeps the marks of a Hebrew letter in their order.
        '\u{34f}' => matches!(before, '\u{591}'..='\u{5ea}'),
        '\u{180b}'..='\u{180f}' => matches!(before, '\u{1820}'..='\u{18aa}'),
        // A blank of Braille is a space among Braille.
        '\u{2800}' => matches!(before, '\u{2800}'..='\u{28ff}') || matches!(after, Some('\u{2801}'..='\u{28ff}')),
        '\u{2d7f}' => matches!(before, '\u{2d30}'..='\u{2d6f}'),
        _ => matches!(before, '\u{13000}'..='\u{13455}'),
    }
}

/// The flags of England, Scotland and Wales, the only flags in use that are spelled in tags.
const COUNTRIES: [&str; 3] = ["gbeng", "gbsct", "gbwls"];

/// Returns the length in bytes of the flag that a text begins with, including its tags. None where the tags do not
/// spell one of the [`COUNTRIES`].
pub(super) fn flag_of_a_country(text: &str) -> Option<usize> {
    let mut tags = text.char_indices().skip(1);
    let spelled: String =
        tags.by_ref().take(5).map_while(|(_, c)| char::from_u32(u32::from(c).checked_sub(0xe0000)?)).collect();
    let (end, closing) = tags.next()?;
    (closing == '\u{e007f}' && COUNTRIES.contains(&spelled.as_str())).then_some(end + closing.len_utf8())
}

/// Tells whether a character is a letter or a mark of a script whose letters join, or take another form where they do
/// not join.
fn joins(c: char) -> bool {
    matches!(
        c,
        // Arabic, Syriac, Thaana, N'Ko, Mandaic
        '\u{620}'..='\u{65f}' | '\u{66e}'..='\u{6d3}' | '\u{6d5}'..='\u{6ff}' | '\u{710}'..='\u{7fa}'
        | '\u{840}'..='\u{85b}' | '\u{860}'..='\u{8e1}' | '\u{8e3}'..='\u{8ff}'
        // Devanagari to Sinhala
        | '\u{900}'..='\u{dff}'
        // Tibetan, Myanmar, Khmer, Mongolian, Balinese to Lepcha
        | '\u{f00}'..='\u{109f}' | '\u{1780}'..='\u{17b3}' | '\u{17b6}'..='\u{17d3}' | '\u{1820}'..='\u{18aa}'
        | '\u{1a20}'..='\u{1aad}' | '\u{1b00}'..='\u{1c4f}'
        | '\u{a840}'..='\u{a877}' | '\u{a8e0}'..='\u{a8ff}' | '\u{a980}'..='\u{a9df}' | '\u{aa60}'..='\u{aa7f}'
        | '\u{fb50}'..='\u{fdcf}' | '\u{fdf0}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}'
        | '\u{10a00}'..='\u{10a5f}' | '\u{10ac0}'..='\u{10aff}' | '\u{11000}'..='\u{11fff}' | '\u{1e900}'..='\u{1e95f}'
    )
}

/// Tells whether a character belongs to Hebrew, to Arabic, or to another script that runs from right to left.
fn runs_to_the_left(c: char) -> bool {
    matches!(
        c,
        '\u{590}'..='\u{61b}' | '\u{61d}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdcf}' | '\u{fdf0}'..='\u{fdff}'
        | '\u{fe70}'..='\u{fefc}' | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}'
    )
}

fn ends_emoji(c: char) -> bool {
    is_emoji(c) || c == '\u{fe0f}'
}

fn is_skin(c: char) -> bool {
    matches!(c, '\u{1f3fb}'..='\u{1f3ff}')
}

/// Tells whether a character is a picture, or a symbol that can be shown as a picture or as text.
fn is_emoji(c: char) -> bool {
    matches!(
        c,
        '©' | '®' | '‼' | '⁉' | '™' | 'ℹ' | '〰' | '〽' | '㊗' | '㊙'
        | '\u{2190}'..='\u{21ff}' | '\u{2300}'..='\u{23ff}' | '\u{2460}'..='\u{24ff}' | '\u{25a0}'..='\u{27bf}'
        | '\u{2900}'..='\u{297f}' | '\u{2b00}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}'
    )
}
