//! Pieces of a text: its list items, paragraphs and code.

mod procedure;
mod subheading;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::LazyLock;

use jiff::civil::Date;
use regex::Regex;
use sha2::{Digest, Sha256};

pub(super) use self::procedure::has_steps;
use self::procedure::with_procedures;
use self::subheading::{bold_title, introduces};
use super::BankDocument;
use crate::text::hex::hex;

static ITEM: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:[ \t]+(?:\[([ xX])\][ \t]+)?|$)").ok());
static DATE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^[\[(*_]*[0-9]{4}-[0-9]{2}-[0-9]{2}[\])*_]*(?:[ T][0-9]{2}:[0-9]{2}\S*)?\s*(?:[:–—-][\])*_]*)?\s*")
        .ok()
});

const COMMENT_BEGIN: &str = "<!--";
pub(super) const COMMENT_END: &str = "-->";

/// The form of a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PieceForm {
    Paragraph,
    Item,
    /// An item whose box is open.
    OpenItem,
    /// An item whose box is ticked.
    TickedItem,
    /// Code that no sentence introduces.
    Code,
}

impl PieceForm {
    pub(super) fn is_item(self) -> bool {
        matches!(self, Self::Item | Self::OpenItem | Self::TickedItem)
    }
}

/// A list item, a paragraph, or code, with what belongs to it: the lines of an item, the code after a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BankTextPiece {
    /// The headings above it, and the line that introduces its list.
    pub headings: Vec<String>,
    pub form: PieceForm,
    /// The piece as it is written, without the marker of its item.
    pub text: String,
}

/// An open item is not the same as the words of a report.
fn key(form: PieceForm, text: &str) -> String {
    let mark = if form == PieceForm::OpenItem { "[ ] " } else { "" };
    format!("{mark}{}", words_of(text))
}

/// Returns the hash of a piece by its words: 16 hexadecimal digits.
pub(super) fn piece_hash(form: PieceForm, text: &str) -> String {
    hex(&Sha256::digest(key(form, text))[..8])
}

/// Returns the hashes of the pieces of a file that were not in it before.
pub fn new_pieces(before: &str, after: &str) -> BTreeSet<String> {
    let hashes = |text: &str| -> BTreeSet<String> {
        let Ok(document) = BankDocument::parse(text) else { return BTreeSet::new() };
        let of_section = |section| blocks(document.body(section));
        document.sections().iter().flat_map(of_section).map(|(form, text)| piece_hash(form, &text)).collect()
    };
    &hashes(after) - &hashes(before)
}

/// Returns a piece without the date at its beginning.
pub(super) fn undated(text: &str) -> Cow<'_, str> {
    DATE.as_ref().map_or(text.into(), |date| date.replace(text, ""))
}

/// Returns what stands behind the `#` of a word that is a tag, such as `#keep`, `(#keep)` or `**#keep**`.
pub(super) fn tag_in(word: &str) -> Option<&str> {
    word.trim_start_matches(['(', '[', '{', '*', '_', '`', '"', '\'']).strip_prefix('#')
}

/// Returns the words of a piece: lower case, without its date and the punctuation around words.
pub(super) fn words_of(text: &str) -> String {
    let text = undated(text);
    let around = |c: char| matches!(c, '.' | ',' | ';' | ':' | '!' | '?' | '*' | '_' | '`' | '"' | '\'' | '(' | ')');
    let words = text.split_whitespace().map(|word| word.trim_matches(around)).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ").to_lowercase()
}

/// A heading of this many words under which nothing stands may say something by itself.
const TELLING_HEADING_WORDS: usize = 3;

/// Splits a text at its headings, list items and paragraphs. Nothing is left out but white space, the markers of lists,
/// rules across the page, comments, what has no letter or digit, and the headings, which each piece names. A heading
/// with nothing under it is a piece where it has three words or is all there is.
pub fn text_pieces(text: &str) -> Vec<BankTextPiece> {
    let Ok(document) = BankDocument::parse(text) else { return Vec::new() };
    let mut pieces: Vec<BankTextPiece> = Vec::new();
    let mut bare: Vec<BankTextPiece> = Vec::new();
    for (at, section) in document.sections().iter().enumerate() {
        let body = document.body(section);
        let body = if section.level == 0 { body.trim_start_matches(document.front_matter()) } else { body };
        let (mut introduced, mut is_above, mut subheading) = (None::<String>, false, None::<String>);
        let body = without_rules_and_comments(body);
        let mut blocks = block_spans(&body);
        blocks.retain(|block| block.text.contains(char::is_alphanumeric) && !is_comment(&block.text));
        let blocks = with_procedures(blocks, &body, section.title());
        let has_more = document.sections().get(at + 1).is_some_and(|next| next.is_within(section));
        if blocks.is_empty() && !has_more && !section.title().is_empty() {
            let (title, headings) = (section.title().to_owned(), section.path[..section.path.len() - 1].to_vec());
            let piece = BankTextPiece { headings, form: PieceForm::Paragraph, text: title };
            let is_telling = piece.text.split_whitespace().count() >= TELLING_HEADING_WORDS;
            if is_telling { pieces.push(piece) } else { bare.push(piece) }
        }
        for (index, (form, text)) in blocks.iter().enumerate() {
            let next = blocks.get(index + 1).map(|(form, _)| *form);
            if let Some(title) = bold_title(*form, text, next) {
                (introduced, is_above, subheading) = (None, false, Some(title));
                continue;
            }
            if !form.is_item() && introduces(text, next) {
                (introduced, is_above) = (Some(text.clone()), true);
                continue;
            }
            // What is quoted, a table and code behind a list are no items of it.
            let is_behind_list = index.checked_sub(1).and_then(|at| blocks.get(at)).is_some_and(|(of, _)| of.is_item());
            if is_behind_list && is_aside(*form, text) {
                subheading = None;
            }
            // One paragraph below a label belongs to it, and so do all items.
            if !form.is_item() && !is_above {
                introduced = None;
            }
            is_above = false;
            let headings = section.path.iter().cloned().chain(subheading.clone()).chain(introduced.clone()).collect();
            pieces.push(BankTextPiece { headings, form: *form, text: text.clone() });
        }
    }
    if pieces.is_empty() { bare } else { pieces }
}

/// Says whether a piece is code, a table, or a quotation.
fn is_aside(form: PieceForm, text: &str) -> bool {
    form == PieceForm::Code || (form == PieceForm::Paragraph && text.trim_start().starts_with(['>', '|']))
}

/// Returns a text with a blank line in the place of each rule across the page, and of each comment and tag of a part to
/// unfold that has its lines for itself. The summary of such a part is a bold line. Code keeps them, and so does what belongs to a list item.
fn without_rules_and_comments(body: &str) -> String {
    let (mut written, mut rest) = (String::with_capacity(body.len()), body);
    let mut fence: Option<String> = None;
    while !rest.is_empty() {
        let mut end = rest.find('\n').map_or(rest.len(), |at| at + 1);
        let line = rest[..end].trim_end();
        let is_outermost = fence.is_none() && !line.starts_with("  ") && !line.starts_with('\t');
        let comment = is_outermost.then(|| comment_end(rest)).flatten();
        end = comment.unwrap_or(end);
        let summary = details_summary(line).filter(|_| is_outermost && comment.is_none());
        let is_left_out = comment.is_some() || summary.is_some() || (is_outermost && is_thematic_break(line));
        match summary {
            Some(summary) if !summary.is_empty() => written.push_str(&format!("\n**{summary}**\n\n")),
            _ => written.push_str(if is_left_out { "\n" } else { &rest[..end] }),
        }
        fence = match fence {
            Some(mark) => Some(mark).filter(|mark| !ends_fence(line, mark)),
            None => fence_of(line).filter(|_| !is_left_out),
        };
        rest = &rest[end..];
    }
    written
}

/// Returns the summary of a line that opens or closes a part which readers unfold. It is empty where the line has none.
fn details_summary(line: &str) -> Option<&str> {
    static DETAILS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let summary = r"<summary[^>]*>(?:<b>)?([^<]*)(?:</b>)?</summary>";
        Regex::new(&format!(r"(?i)^<(?:/?details[^>]*>\s*(?:<{}\s*)?|{})$", &summary[1..], &summary[1..])).ok()
    });
    let found = DETAILS.as_ref()?.captures(line.trim())?;
    Some(found.get(1).or(found.get(2)).map_or("", |summary| summary.as_str().trim()))
}

/// Returns the end of the comment that a text begins with, and of its last line. None where something follows there, or
/// the comment is never closed.
fn comment_end(text: &str) -> Option<usize> {
    let begins = text.trim_start_matches(' ').strip_prefix(COMMENT_BEGIN)?;
    let end = text.len() - begins.len() + begins.find(COMMENT_END)? + COMMENT_END.len();
    let line_end = text[end..].find('\n').map_or(text.len(), |at| end + at + 1);
    text[end..line_end].trim().is_empty().then_some(line_end)
}

/// Says whether a piece is a comment and nothing else.
fn is_comment(text: &str) -> bool {
    comment_end(text.trim()) == Some(text.trim().len())
}

/// Says whether a line is a rule across the page, such as `* * *`.
pub(super) fn is_thematic_break(trimmed: &str) -> bool {
    let signs: String = trimmed.chars().filter(|c| !c.is_whitespace()).collect();
    signs.len() >= 3 && ["*", "-", "_"].iter().any(|sign| signs.trim_matches(|c| sign.contains(c)).is_empty())
}

/// A piece of what stands under a heading, and where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BlockSpan {
    pub form: PieceForm,
    /// The piece without the marker of its item.
    pub text: String,
    /// Its lines, with the end of the last one.
    pub range: Range<usize>,
}

/// Returns the place of the space in the open box of a list item, nested or not, and the text behind the box. None
/// where the line is no such item.
pub(super) fn open_box(line: &str) -> Option<(usize, &str)> {
    let trimmed = line.trim_start();
    let found = ITEM.as_ref()?.captures(trimmed)?;
    let space = found.get(1).filter(|mark| mark.as_str() == " ")?;
    Some((line.len() - trimmed.len() + space.start(), &trimmed[found[0].len()..]))
}

/// Returns the words of a list item that is not nested and has no box, ticked or not. None where the line is no such
/// item.
pub(super) fn item_without_box(line: &str) -> Option<&str> {
    let found = ITEM.as_ref()?.captures(line).filter(|found| found.get(1).is_none())?;
    let words = line[found[0].len()..].trim();
    let is_item = !line.starts_with("  ") && !words.is_empty() && !is_thematic_break(line.trim());
    is_item.then_some(words)
}

/// Returns the fence that a line opens code with: three or more of one sign.
pub(super) fn fence_of(line: &str) -> Option<String> {
    let line = line.trim_start();
    let sign = line.chars().next().filter(|sign| ['`', '~'].contains(sign))?;
    let fence: String = line.chars().take_while(|c| *c == sign).collect();
    (fence.len() >= 3).then_some(fence)
}

/// Says whether a line closes the code that a fence opened: it has at least as many of the same sign, and nothing else.
pub(super) fn ends_fence(line: &str, fence: &str) -> bool {
    let line = line.trim();
    line.starts_with(fence) && line.chars().all(|c| fence.starts_with(c))
}

/// Returns the entries of a section as they are written: its items, paragraphs and code.
pub fn entries_of(body: &str) -> impl Iterator<Item = String> {
    block_spans(body).into_iter().map(|block| body[block.range].trim().to_owned())
}

/// Splits what stands under a heading into its items, paragraphs and code.
pub(super) fn blocks(body: &str) -> Vec<(PieceForm, String)> {
    block_spans(body).into_iter().map(|block| (block.form, block.text)).collect()
}

/// Splits what stands under a heading as [`blocks`] does, and says where each piece is.
pub(super) fn block_spans(body: &str) -> Vec<BlockSpan> {
    let mut blocks: Vec<BlockSpan> = Vec::new();
    let mut fence: Option<String> = None;
    let mut after_blank = true;
    let mut at = 0;
    for whole_line in body.split_inclusive('\n') {
        let range = at..at + whole_line.len();
        at = range.end;
        let line = whole_line.trim_end_matches(['\n', '\r']);
        let trimmed = line.trim_start();
        let indented = line.len() - trimmed.len() >= 2;
        if let Some(mark) = &fence {
            let is_end = ends_fence(trimmed, mark);
            if let Some(block) = blocks.last_mut() {
                block.add(line, range);
            }
            if is_end {
                (fence, after_blank) = (None, true);
            }
            continue;
        }
        if trimmed.is_empty() {
            after_blank = true;
            continue;
        }
        let mark = fence_of(trimmed);
        let item = ITEM.as_ref().and_then(|item| item.captures(line));
        let last = blocks.last_mut();
        let in_item = last.as_ref().is_some_and(|block| block.form.is_item() && indented);
        let is_open = last.as_ref().is_some_and(|block| !after_blank && block.form != PieceForm::Code);
        match (mark, item, last) {
            (Some(mark), _, last) => {
                fence = Some(mark);
                match last {
                    Some(block) if in_item || block.text.ends_with(':') => block.add(line, range),
                    _ => blocks.push(BlockSpan { form: PieceForm::Code, text: line.to_owned(), range }),
                }
            }
            (None, Some(item), _) if !in_item => {
                let form = match item.get(1).map(|tick| tick.as_str()) {
                    Some(" ") => PieceForm::OpenItem,
                    Some(_) => PieceForm::TickedItem,
                    None => PieceForm::Item,
                };
                blocks.push(BlockSpan { form, text: line[item[0].len()..].trim().to_owned(), range });
            }
            (None, _, Some(block)) if in_item || is_open => {
                if after_blank {
                    block.text.push('\n');
                }
                block.add(line.trim_end(), range);
            }
            _ => blocks.push(BlockSpan { form: PieceForm::Paragraph, text: line.trim().to_owned(), range }),
        }
        after_blank = false;
    }
    blocks.retain(|block| !block.text.trim().is_empty());
    blocks
}

impl BlockSpan {
    fn add(&mut self, line: &str, range: Range<usize>) {
        self.text.push('\n');
        self.text.push_str(line);
        self.range.end = range.end;
    }
}

/// Returns the day that a heading names, where it says nothing else.
pub(super) fn day_title(title: &str) -> Option<Date> {
    date_of(title).filter(|_| !undated(title).contains(char::is_alphanumeric))
}

/// Returns the day that a piece is dated with.
pub(super) fn date_of(text: &str) -> Option<Date> {
    static DAY: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^[\[(*_]*([0-9]{4}-[0-9]{2}-[0-9]{2})").ok());
    DAY.as_ref()?.captures(text)?[1].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_text_is_split_at_headings_items_and_paragraphs() {
        let text = "Intro\ngoes on.\n\n# Tasks\n\nNext steps:\n- [ ] one\n  more\n  - nested\n\n  para\n* two\n3. [x] three\n\nRun:\n\n```sh\n# make\n\nmake\n```\nAfter.\n\n```\nalone\n```\n";
        let pieces = text_pieces(text);
        let shown: Vec<String> = pieces.iter().map(|p| format!("{:?} {:?} {:?}", p.form, p.headings, p.text)).collect();
        assert_eq!(
            shown,
            [
                r#"Paragraph [] "Intro\ngoes on.""#,
                r#"OpenItem ["Tasks", "Next steps:"] "one\n  more\n  - nested\n\n  para""#,
                r#"Item ["Tasks", "Next steps:"] "two""#,
                r#"TickedItem ["Tasks", "Next steps:"] "three""#,
                r#"Paragraph ["Tasks"] "Run:\n```sh\n# make\n\nmake\n```""#,
                r#"Paragraph ["Tasks"] "After.""#,
                r#"Code ["Tasks"] "```\nalone\n```""#,
            ]
        );
    }

    #[test]
    fn rules_across_the_page_comments_and_mere_signs_are_no_pieces() {
        let text = "---\nOne.\n\n---\n\n***\nTwo.\n* * *\n<!-- note -->\n<!--\nhidden\n\nlines\n-->\n- three\n---\n- <!-- x -->\n- ✅\n\n```\n---\n<!-- code -->\n```\nUse <!-- y --> here.\n";
        let of = |text: &str| text_pieces(text).into_iter().map(|piece| piece.text).collect::<Vec<_>>();
        let whole = format!("Intro.\n\n{text}");
        let code = "```\n---\n<!-- code -->\n```";
        assert_eq!(of(&whole), ["Intro.", "One.", "Two.", "three", code, "Use <!-- y --> here."]);
        assert_eq!(of("- one\n---\ntwo"), ["one", "two"]);
        assert_eq!(of("<!-- open"), ["<!-- open"], "a comment that is never closed is kept");
        assert!(["---", "***\n\n- - -", "<!-- note -->", "-", "#", "- …"].into_iter().all(|text| of(text).is_empty()));
    }

    proptest! {
        #[test]
        fn no_word_is_lost(text in "((- |\\* |> |1\\. |  )?[a-z:]{1,5} ?\n{0,2}){0,20}") {
            let pieces = text_pieces(&text);
            let all: String = pieces.iter().flat_map(|piece| piece.headings.iter().chain([&piece.text]).cloned().chain([" ".into()])).collect();
            for word in text.split_whitespace().filter(|word| word.chars().all(|c| c.is_ascii_lowercase())) {
                prop_assert!(all.contains(word), "{word} of {text:?} is not in {all:?}");
            }
        }
    }
}
