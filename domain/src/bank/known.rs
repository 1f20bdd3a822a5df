//! The pieces that a bank says already.

use std::collections::{HashMap, HashSet};

use super::edit::{REASON, decisions_of_table};
use super::pieces::{PieceForm, blocks, undated, words_of};
use super::signs::is_question;
use super::tasks::{is_plain_task, lists_tasks};
use super::{BankDocument, BankFiles, BankSection};
use crate::learning::lesson::Wordings;

/// A file is looked through for a word this many times. Then its pieces are read, and found by their words.
const SEARCHES_MAX: usize = 32;
/// The word that a question has beside those of the statement about the same.
const ASKED: &str = "?";
/// Words that may be in one text and not in another which says the same.
const LEFT_OUT: [&str; 4] = ["a", "an", "the", "then"];

/// The pieces that a bank has already. It has a piece where one says the same, in the same words or as the same
/// statement. A file is read when a piece is asked for that could be in it, or when many are asked for.
pub(super) struct KnownPieces<'a> {
    files: Vec<KnownFile<'a>>,
    added: PieceIndex,
}

struct KnownFile<'a> {
    text: &'a str,
    lower: String,
    searches: usize,
    pieces: Option<PieceIndex>,
}

/// Pieces by their words, in any order: no piece is compared with one that has other words.
#[derive(Default)]
struct PieceIndex(HashMap<(bool, Vec<String>), PiecesOfWords>);

/// Pieces with the same words. They are read when another one with these words is asked for.
#[derive(Default)]
struct PiecesOfWords {
    unread: Vec<KnownPiece>,
    words: HashSet<String>,
    wordings: Wordings,
}

struct KnownPiece {
    /// An open item is not the same as the words of a report.
    is_open: bool,
    words: String,
    text: String,
}

impl<'a> KnownPieces<'a> {
    pub(super) fn of(files: &'a BankFiles) -> Self {
        let of_file = |text: &'a String| KnownFile { text, lower: text.to_lowercase(), searches: 0, pieces: None };
        Self { files: files.values().map(of_file).collect(), added: PieceIndex::default() }
    }

    pub(super) fn add(&mut self, form: PieceForm, text: &str) {
        self.added.add(KnownPiece::of(form, text));
    }

    pub(super) fn has(&mut self, form: PieceForm, text: &str) -> bool {
        let piece = KnownPiece::of(form, text);
        // A piece that says the same has all words of this one but the articles. Few other pieces have the longest
        // word, so it is looked for first. A table has its reasons in a column, without the word before them.
        let words = piece.words.split(' ').filter(|word| word.is_ascii() && ![REASON.trim(), ASKED].contains(word));
        let longest = words.max_by_key(|word| word.len()).unwrap_or_default();
        let key = piece.key();
        let in_file = |file: &mut KnownFile<'_>| file.may_have(longest) && file.pieces().has(&key, &piece);
        self.added.has(&key, &piece) || self.files.iter_mut().any(in_file)
    }
}

impl KnownFile<'_> {
    fn may_have(&mut self, word: &str) -> bool {
        self.searches += 1;
        self.pieces.is_some() || self.searches > SEARCHES_MAX || self.lower.contains(word)
    }

    fn pieces(&mut self) -> &mut PieceIndex {
        let text = self.text;
        self.pieces.get_or_insert_with(|| {
            let mut index = PieceIndex::default();
            let Ok(document) = BankDocument::parse(text) else { return index };
            let mut of_section = |section: &BankSection| {
                let lists_tasks = lists_tasks(section);
                for (form, text) in blocks(document.body(section)) {
                    let form = if is_plain_task(lists_tasks, form, &text) { PieceForm::OpenItem } else { form };
                    for row in decisions_of_table(&text) {
                        index.add(KnownPiece::of(PieceForm::Item, &row));
                    }
                    index.add(KnownPiece::of(form, &text));
                }
            };
            document.sections().iter().for_each(&mut of_section);
            index
        })
    }
}

impl PieceIndex {
    fn add(&mut self, piece: KnownPiece) {
        self.0.entry(piece.key()).or_default().unread.push(piece);
    }

    fn has(&mut self, key: &(bool, Vec<String>), piece: &KnownPiece) -> bool {
        self.0.get_mut(key).is_some_and(|pieces| pieces.has(piece))
    }
}

impl PiecesOfWords {
    fn has(&mut self, piece: &KnownPiece) -> bool {
        for unread in self.unread.drain(..) {
            self.wordings.add(&unread.text);
            self.words.insert(unread.words);
        }
        self.words.contains(&piece.words) || self.wordings.has(&piece.text)
    }
}

impl KnownPiece {
    fn of(form: PieceForm, text: &str) -> Self {
        let text = undated(text);
        let mut words = words_of(&text);
        if is_question(&text) {
            words.push_str(&format!(" {ASKED}"));
        }
        Self { is_open: form == PieceForm::OpenItem, words, text: text.into_owned() }
    }

    /// Returns what is the same of pieces that say the same: their words in one order, without articles and signs.
    fn key(&self) -> (bool, Vec<String>) {
        let lower = self.text.replace('’', "'").to_lowercase();
        let words = lower.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
        let mut words: Vec<String> =
            words.filter(|word| !word.is_empty() && !LEFT_OUT.contains(word)).map(str::to_owned).collect();
        words.extend(is_question(&self.text).then(|| ASKED.to_owned()));
        words.sort_unstable();
        (self.is_open, words)
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
        assert!(!has("When the server answers 429, retry the call?"), "a question is no statement");
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
