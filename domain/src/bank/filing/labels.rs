//! Labels in a text, such as `TODO:`: where one begins, a piece begins, and where its section tells it, it is left out.

use super::classify;
use crate::bank::pieces::{date_of, fence_of, undated};
use crate::bank::signs::{begins_status, begins_ticked, heading_of, label_of};
use crate::bank::{BankCategory, BankTextPiece, PieceForm};
use crate::memory::normalised;

/// The labels that say no more than a heading of their category does.
const TOLD: [(BankCategory, &[&str]); 6] = [
    (
        BankCategory::Next,
        &["todo", "to do", "to-do", "next", "next step", "next steps", "next task", "task", "action item", "open"],
    ),
    (BankCategory::Done, &["done", "finished", "completed", "what we did", "what i did", "accomplished"]),
    (BankCategory::Decision, &["decision", "decisions", "decided"]),
    (BankCategory::Blocked, &["blocked", "blocker", "blockers"]),
    (BankCategory::Question, &["question", "questions", "open question", "open questions", "open"]),
    (BankCategory::Issue, &["known issue", "known issues", "issue"]),
];

/// Splits pieces where a label begins: at the lines of a paragraph that begin with labels, ticks or boxes, and at
/// sentences that tell what is done, next, blocked or asked.
pub(super) fn labelled(pieces: Vec<BankTextPiece>) -> Vec<BankTextPiece> {
    pieces.into_iter().flat_map(by_lines).map(boxed).flat_map(by_sentences).collect()
}

/// Reads the box that a piece begins with without the marker of a list.
fn boxed(piece: BankTextPiece) -> BankTextPiece {
    match box_of(&piece.text) {
        Some((form, text)) if matches!(piece.form, PieceForm::Item | PieceForm::Paragraph) => {
            BankTextPiece { headings: piece.headings, form, text: text.to_owned() }
        }
        _ => piece,
    }
}

fn box_of(text: &str) -> Option<(PieceForm, &str)> {
    let (mark, rest) = text.trim_start().strip_prefix('[')?.split_once("] ")?;
    let form = match mark {
        " " | "~" | "-" => PieceForm::OpenItem,
        "x" | "X" => PieceForm::TickedItem,
        _ => return None,
    };
    rest.contains(char::is_alphanumeric).then_some((form, rest.trim_start()))
}

fn has_code(text: &str) -> bool {
    text.lines().any(|line| fence_of(line).is_some())
}

fn by_lines(piece: BankTextPiece) -> Vec<BankTextPiece> {
    let lines: Vec<&str> = piece.text.split_inclusive('\n').collect();
    let is_begin =
        |line: &str| label_of(line).is_some() || begins_ticked(line) || box_of(line).is_some() || begins_dated(line);
    let tells_state = |line: &&str| speaker_and_words(line).is_some_and(|(_, words)| begins_state(words));
    // Lines such as `Host: db1` belong together, and tell of no work.
    let has_speakers = lines.iter().any(tells_state);
    let is_begin = |line: &str| is_begin(line) || (has_speakers && speaker_and_words(line).is_some());
    let begins = |line: &&&str| is_begin(line);
    if has_code(&piece.text) || piece.form != PieceForm::Paragraph || lines.iter().filter(begins).count() < 2 {
        return vec![piece];
    }
    let parts = lines.chunk_by(|_, next| !is_begin(next));
    let part = |lines: &[&str]| BankTextPiece { text: lines.concat().trim_end().to_owned(), ..piece.clone() };
    parts.map(part).collect()
}

/// Returns the name of the person that a line begins with, and what he says behind the colon.
pub(super) fn speaker_and_words(line: &str) -> Option<(&str, &str)> {
    const NAME_MAX_WORDS: usize = 3;
    let (name, words) = line.trim_start().split_once(": ")?;
    let is_of_name = |c: char| c.is_alphabetic() || matches!(c, '.' | '-' | '\'' | '_');
    let is_name = |word: &str| word.chars().all(is_of_name) && word.starts_with(char::is_uppercase);
    let handle = name.strip_prefix('@').filter(|handle| !handle.is_empty() && handle.chars().all(is_of_name));
    let is_person = handle.is_some()
        || (!name.is_empty() && name.split(' ').count() <= NAME_MAX_WORDS && name.split(' ').all(is_name));
    (is_person && label_of(line).is_none() && words.contains(char::is_alphanumeric))
        .then_some((name, words.trim_start()))
}

/// Says whether what a person says tells what is done, next, blocked or asked.
fn begins_state(words: &str) -> bool {
    let piece = BankTextPiece { headings: Vec::new(), form: PieceForm::Paragraph, text: words.to_owned() };
    matches!(
        classify(&piece),
        BankCategory::Done | BankCategory::Next | BankCategory::Blocked | BankCategory::Question | BankCategory::Focus
    )
}

/// Says whether a line is an entry of a log: a date, and words behind it.
fn begins_dated(line: &str) -> bool {
    date_of(line).is_some() && undated(line).contains(char::is_alphanumeric)
}

fn by_sentences(piece: BankTextPiece) -> Vec<BankTextPiece> {
    let has_table = piece.text.lines().any(|line| line.trim_start().starts_with('|'));
    if piece.form == PieceForm::Code || piece.form == PieceForm::OpenItem || has_code(&piece.text) || has_table {
        return vec![piece];
    }
    let text = piece.text.as_str();
    let mut parts: Vec<BankTextPiece> = Vec::new();
    let (mut from, mut last, mut ticks) = (0, 0, 0);
    let ends = text.match_indices(char::is_whitespace).map(|(at, space)| at + space.len());
    for at in ends.chain([text.len()]) {
        ticks += text[last..at].matches('`').count();
        last = at;
        let before = text[from..at].trim_end();
        let is_end = before.ends_with(['.', '!', '?']) || text[from..at].ends_with('\n');
        let is_in_code = ticks % 2 == 1;
        let next = &text[at..];
        let begins_piece = || begins_status(next) || tells_rest(next) && !tells_rest(&text[from..at]);
        if before.is_empty() || (at < text.len() && (!is_end || is_in_code || !begins_piece())) {
            continue;
        }
        // What follows is not ticked with its item.
        let form = if from > 0 && piece.form == PieceForm::TickedItem { PieceForm::Item } else { piece.form };
        parts.push(BankTextPiece { headings: piece.headings.clone(), form, text: before.to_owned() });
        from = at;
    }
    if parts.len() > 1 { parts } else { vec![piece] }
}

/// Says whether the first sentence of a text tells that something is left to do, which the report before it is not about.
fn tells_rest(text: &str) -> bool {
    const SENTENCE_BYTES: usize = 300;
    const SIGNS: [&str; 9] = [
        "is still open",
        "are still open",
        "remains open",
        "remain open",
        "is still missing",
        "are still missing",
        "is not done yet",
        "are not done yet",
        "is still to do",
    ];
    // Few sentences are longer, and a text may have any number of them.
    let text = &text[..text.floor_char_boundary(SENTENCE_BYTES)];
    let end = [". ", "! ", "? ", "\n"].iter().filter_map(|end| text.find(end)).min();
    let sentence = text[..end.unwrap_or(text.len())].to_lowercase();
    SIGNS.iter().any(|sign| sentence.contains(sign))
}

/// Returns a text without the label that its section tells by its title.
pub(super) fn without_told_label<'a>(text: &'a str, section: &str) -> &'a str {
    let Some((label, rest)) = text.split_once(':') else { return text };
    let bold = ["**", "__"].into_iter().find(|mark| label.starts_with(mark)).unwrap_or_default();
    let (label, rest) = match label.strip_prefix(bold).unwrap_or(label) {
        label if bold.is_empty() => (label, rest),
        // The bold words end before the colon or behind it.
        label => match (label.strip_suffix(bold), rest.strip_prefix(bold)) {
            (Some(label), _) => (label, rest),
            (None, Some(rest)) => (label, rest),
            (None, None) => return text,
        },
    };
    let (label, category, rest) = (normalised(label), heading_of(section), rest.trim_start());
    let is_told = TOLD.iter().any(|(of, labels)| Some(*of) == category && labels.contains(&label.as_str()));
    if is_told && rest.contains(char::is_alphanumeric) { rest } else { text }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("TODO: rotate the key", "Next steps", "rotate the key")]
    #[case("**Decision:** use `a: b`", "Decisions", "use `a: b`")]
    #[case("**Decision**: one binary", "Key decisions", "one binary")]
    #[case("Open: show a banner", "Next steps", "show a banner")]
    #[case("Out of scope: printing", "Scope", "Out of scope: printing")]
    #[case("ADR-12: one binary", "Decisions", "ADR-12: one binary")]
    #[case("Root cause: a stale lock", "Errors and fixes", "Root cause: a stale lock")]
    #[case("TODO: rotate the key", "Current work", "TODO: rotate the key")]
    #[case("Done:", "Done", "Done:")]
    fn a_label_that_its_section_tells_is_left_out(#[case] text: &str, #[case] section: &str, #[case] wanted: &str) {
        assert_eq!(without_told_label(text, section), wanted);
    }

    #[rstest]
    #[case("The login is done. Next: show a banner", &["The login is done.", "Next: show a banner"])]
    #[case("Working on the grid.\nBlocked by the missing key. TODO: ask Ana", &["Working on the grid.", "Blocked by the missing key.", "TODO: ask Ana"])]
    #[case("Update: the import is done. The flags of the CLI are still open. Ask Ana.", &["Update: the import is done.", "The flags of the CLI are still open. Ask Ana."])]
    #[case("The flags are still open. The docs are still open.", &["The flags are still open. The docs are still open."])]
    #[case("Port taken. Fix: kill the old process", &["Port taken. Fix: kill the old process"])]
    #[case("What comes\nnext: the grid. In `a. Next: b` too", &["What comes\nnext: the grid. In `a. Next: b` too"])]
    #[case("2026-11-20: moved it\n2026-11-21: blocked by IAM\n  since noon", &["2026-11-20: moved it", "2026-11-21: blocked by IAM\n  since noon"])]
    #[case("2026-11-20: moved it\nfrom a to b", &["2026-11-20: moved it\nfrom a to b"])]
    #[case("Anja: Stop2 is fine. Next: look at RTC drift.\nPiotr: blocked by the boards.", &["Anja: Stop2 is fine.", "Next: look at RTC drift.", "Piotr: blocked by the boards."])]
    #[case("@li: merged it.\n@sven: who tests it?", &["@li: merged it.", "@sven: who tests it?"])]
    #[case("Host: db1\nPort: 5432", &["Host: db1\nPort: 5432"])]
    #[case("Run it.\n```\nx. Next: y\n```", &["Run it.\n```\nx. Next: y\n```"])]
    fn a_sentence_with_a_label_of_its_own_is_a_piece(#[case] text: &str, #[case] wanted: &[&str]) {
        let piece = BankTextPiece { headings: Vec::new(), form: PieceForm::Paragraph, text: text.to_owned() };
        let parts: Vec<String> = labelled(vec![piece]).into_iter().map(|piece| piece.text).collect();
        assert_eq!(parts, wanted);
    }
}
