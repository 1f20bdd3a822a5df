//! The pieces that a bank says already.

use super::edit::{REASON, decisions_of_table};
use super::pieces::{PieceForm, blocks, undated, words_of};
use super::tasks::{is_plain_task, lists_tasks};
use super::{BankDocument, BankFiles, BankSection};
use crate::learning::lesson::says_the_same;

/// The pieces that a bank has already. It has a piece where one says the same, in the same words or as the same
/// statement. A file is read when a piece is asked for that could be in it.
pub(super) struct KnownPieces<'a> {
    files: Vec<KnownFile<'a>>,
    added: Vec<KnownPiece>,
}

struct KnownFile<'a> {
    text: &'a str,
    lower: String,
    pieces: Option<Vec<KnownPiece>>,
}

struct KnownPiece {
    /// An open item is not the same as the words of a report.
    is_open: bool,
    words: String,
    text: String,
}

impl<'a> KnownPieces<'a> {
    pub(super) fn of(files: &'a BankFiles) -> Self {
        let of_file = |text: &'a String| KnownFile { text, lower: text.to_lowercase(), pieces: None };
        Self { files: files.values().map(of_file).collect(), added: Vec::new() }
    }

    pub(super) fn add(&mut self, form: PieceForm, text: &str) {
        self.added.push(KnownPiece::of(form, text));
    }

    pub(super) fn has(&mut self, form: PieceForm, text: &str) -> bool {
        let piece = KnownPiece::of(form, text);
        // A piece that says the same has all words of this one but the articles. Few other pieces have the longest
        // word, so it is looked for first. A table has its reasons in a column, without the word before them.
        let words = piece.words.split(' ').filter(|word| word.is_ascii() && *word != REASON.trim());
        let longest = words.max_by_key(|word| word.len()).unwrap_or_default();
        let says = |known: &KnownPiece| known.words.contains(longest) && known.says(&piece);
        let in_file = |file: &mut KnownFile<'_>| file.lower.contains(longest) && file.pieces().iter().any(says);
        self.added.iter().any(says) || self.files.iter_mut().any(in_file)
    }
}

impl KnownFile<'_> {
    fn pieces(&mut self) -> &[KnownPiece] {
        let text = self.text;
        self.pieces.get_or_insert_with(|| {
            let Ok(document) = BankDocument::parse(text) else { return Vec::new() };
            let of_section = |section: &BankSection| {
                let lists_tasks = lists_tasks(section);
                let pieces = |(form, text): (PieceForm, String)| {
                    let form = if is_plain_task(lists_tasks, form, &text) { PieceForm::OpenItem } else { form };
                    let rows = decisions_of_table(&text).into_iter().map(|row| KnownPiece::of(PieceForm::Item, &row));
                    rows.chain([KnownPiece::of(form, &text)]).collect::<Vec<_>>()
                };
                blocks(document.body(section)).into_iter().flat_map(pieces).collect::<Vec<_>>()
            };
            document.sections().iter().flat_map(of_section).collect()
        })
    }
}

impl KnownPiece {
    fn of(form: PieceForm, text: &str) -> Self {
        let text = undated(text);
        Self { is_open: form == PieceForm::OpenItem, words: words_of(&text), text: text.into_owned() }
    }

    fn says(&self, other: &Self) -> bool {
        self.is_open == other.is_open && (self.words == other.words || says_the_same(&self.text, &other.text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_same_words_are_known_whatever_their_form_but_a_task_is_no_report() {
        let files =
            [("a.md".parse().unwrap(), "# A\n\n- 2026-01-02: Uses **PostgreSQL** 16.\n- [ ] Write docs\n".to_owned())];
        let files = files.into();
        let mut known = KnownPieces::of(&files);
        assert!(known.has(PieceForm::Paragraph, "uses PostgreSQL 16"));
        assert!(!known.has(PieceForm::Paragraph, "uses PostgreSQL 17") && !known.has(PieceForm::Item, "Write docs"));
        assert!(known.has(PieceForm::OpenItem, "write docs."));
    }

    #[test]
    fn an_item_under_a_heading_of_tasks_is_known_as_a_task() {
        let text =
            "# A\n\n## Next steps\n\n1. Write docs\n2. Add retries (done 2026-01-02)\n\n## Notes\n\n- Call Ana\n";
        let files = BankFiles::from([("a.md".parse().unwrap(), text.to_owned())]);
        let mut known = KnownPieces::of(&files);
        assert!(known.has(PieceForm::OpenItem, "2026-11-25: Write docs") && !known.has(PieceForm::Item, "Write docs"));
        assert!(!known.has(PieceForm::OpenItem, "Add retries") && !known.has(PieceForm::OpenItem, "Call Ana"));
    }

    #[test]
    fn the_same_statement_is_known_and_another_value_or_condition_is_not() {
        let text = "# A\n\n- 2026-01-02: When the server answers 429, retry the call.\n";
        let files = BankFiles::from([("a.md".parse().unwrap(), text.to_owned())]);
        let mut known = KnownPieces::of(&files);
        let mut has = |text: &str| known.has(PieceForm::Item, text);
        assert!(has("Retry the call when the server answers 429."));
        for other in ["503", "429 twice"] {
            assert!(!has(&format!("Retry the call when the server answers {other}.")), "{other}");
        }
        assert!(!has("Do not retry the call when the server answers 429."));
    }

    proptest! {
        #[test]
        fn each_piece_of_a_file_is_known(text in "((- |\\* |## )?[a-zÄΣß:(*]{1,5}[ .]?\n{0,2}){0,20}") {
            let files = BankFiles::from([("a.md".parse().unwrap(), text)]);
            for (form, piece) in files.values().flat_map(|text| {
                let document = BankDocument::parse(text.as_str()).unwrap();
                document.sections().iter().flat_map(|section| blocks(document.body(section))).collect::<Vec<_>>()
            }) {
                prop_assert!(KnownPieces::of(&files).has(form, &piece), "{piece:?}");
            }
        }
    }
}
