//! The marks by which people say of a piece that something of it is open: boxes of any list, labels such as `TODO:`, a
//! question, and the heading above it.

use std::sync::LazyLock;

use regex::Regex;

use super::pieces::{PieceForm, undated};
use super::signs::label_of;
use super::tasks::{category_by_headings, first_paragraph, is_marked_done};
use super::{BankCategory, BankSection};

/// A box that is not ticked: behind the marker of any list, in a quotation, in a row of a table, or as a sign.
static OPEN_BOX: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let in_list = r"^[\s>]*(?:(?:[-*+]|\d{1,9}[.)])\s+)?\[(?: ?|[~/.>!?-])\](?:\s|$)";
    Regex::new(&format!(r"{in_list}|\|\s*\[ ?\]|[☐⬜🔲]")).ok()
});
/// The marks by which people say of a problem or a question that it is one no more.
static SETTLED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let words = r"(?:fixed|resolved|solved|answered|closed|unblocked|decided|obsolete)";
    Regex::new(&format!(r"(?i)(?:[(:]|\s[–—-])\s*{words}\b[^()]{{0,20}}\)?[.!]?$|^(?:\*\*|__)?{words}\s*[:–—-]")).ok()
});

/// Says of a section by its headings whether its pieces are open until they are marked as settled: tasks, questions,
/// what blocks the work, and problems.
pub(super) fn lists_what_is_open(section: &BankSection) -> bool {
    category_by_headings(section).is_some_and(is_open_category)
}

fn is_open_category(category: BankCategory) -> bool {
    use BankCategory::{Blocked, Issue, Next, Question};
    matches!(category, Blocked | Issue | Next | Question)
}

/// Says whether something of a piece is open. `is_listed` is what [`lists_what_is_open`] says of its section.
pub(super) fn is_open(is_listed: bool, form: PieceForm, text: &str) -> bool {
    let open_box = OPEN_BOX.as_ref();
    if form == PieceForm::OpenItem || open_box.is_some_and(|of| text.lines().any(|line| of.is_match(line))) {
        return true;
    }
    let first = undated(first_paragraph(text));
    let first = first.trim();
    let is_settled = || is_marked_done(first) || SETTLED.as_ref().is_some_and(|settled| settled.is_match(first));
    let lower = || first.get(..8).unwrap_or(first).to_lowercase();
    let says_so = || {
        first.ends_with('?')
            || lower().starts_with("open:")
            || label_of(first).is_some_and(|of| is_open_category(of) && of != BankCategory::Issue)
    };
    form != PieceForm::TickedItem && form != PieceForm::Code && (is_listed || says_so()) && !is_settled()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("Masts\n  * [ ] of blue ships", true)]
    #[case("Masts\n  1. [ ] of blue ships", true)]
    #[case("p\n\t- [ ] tab", true)]
    #[case("> - [ ] quoted", true)]
    #[case("| a | b |\n|---|---|\n| [ ] box | x |", true)]
    #[case("[~] half of the masts", true)]
    #[case("[-] masts", true)]
    #[case("[] masts", true)]
    #[case("☐ masts", true)]
    #[case("TODO: paint the masts", true)]
    #[case("2026-01-02: **Blocked:** no paint", true)]
    #[case("open: who paints the masts", true)]
    #[case("Who paints the masts?", true)]
    #[case("Who paints the masts? (answered: Ana)", false)]
    #[case("See [the masts](masts.md)", false)]
    #[case("The masts are painted.", false)]
    fn a_piece_says_itself_that_it_is_open(#[case] text: &str, #[case] expected: bool) {
        assert_eq!(is_open(false, PieceForm::Item, text), expected);
    }

    #[rstest]
    #[case("Masts are too short", true)]
    #[case("Masts are too short (fixed in 2.1)", false)]
    #[case("~~Masts are too short~~", false)]
    #[case("Resolved: masts are too short", false)]
    fn under_a_heading_of_open_things_a_piece_is_open_until_it_is_settled(#[case] text: &str, #[case] expected: bool) {
        assert_eq!(is_open(true, PieceForm::Item, text), expected);
    }
}
