//! Tasks in a file: items whose boxes are open, and under a heading such as `Next steps` those without a box until they
//! are marked as done.

use std::sync::LazyLock;

use regex::Regex;

use super::pieces::{PieceForm, fence_of, item_without_box};
use super::signs::heading_of;
use super::{BankCategory, BankSection};

/// The marks by which people say of an item without a box that it is done.
static DONE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let words = r"(?:done|finished|completed|shipped|merged)";
    Regex::new(&format!(r"(?i)^(?:~~|[✅✔☑✓])|[✅✔☑✓]\u{{fe0f}}?$|(?:[(:]|\s[–—-])\s*{words}\s*[\d-]{{0,10}}\)?[.!]?$"))
        .ok()
});

/// An item of a bank that is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OpenItem<'a> {
    pub(super) section: usize,
    pub(super) place: TaskPlace,
    pub(super) text: &'a str,
    /// An open box stands below it.
    pub(super) has_open_below: bool,
}

/// An open item with the first lines of the items that it stands below, the outermost first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NestedTask<'a> {
    pub(super) item: OpenItem<'a>,
    pub(super) above: Vec<&'a str>,
}

/// The place in a text at which an open item is marked as done, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum TaskPlace {
    /// The space in its box.
    Box(usize),
    /// The end of the words of an item without a box.
    End(usize),
}

/// Says whether a piece of a section is a task that has no box and is not done.
pub(super) fn is_plain_task(lists_tasks: bool, form: PieceForm, text: &str) -> bool {
    lists_tasks && form == PieceForm::Item && !is_marked_done(first_paragraph(text))
}

/// Returns the first paragraph of an item, without the items and the code below it.
pub(super) fn first_paragraph(item: &str) -> &str {
    let begins_item = |words: &str| ["- ", "* ", "+ "].iter().any(|marker| words.starts_with(marker));
    let goes_on = |line: &&str| {
        let words = line.trim();
        let is_text = !words.is_empty() && fence_of(line).is_none() && !begins_item(words);
        is_text && line.starts_with("  ") && item_without_box(words).is_none()
    };
    let mut lines = item.split_inclusive('\n');
    let first = lines.next().map_or(0, str::len);
    item[..first + lines.take_while(goes_on).map(str::len).sum::<usize>()].trim_end()
}

/// Returns the category that the headings of a section tell, the nearest first. The title of a file says nothing of what
/// stands under others.
pub(super) fn category_by_headings(section: &BankSection) -> Option<BankCategory> {
    let titles = section.path.iter().skip(usize::from(section.path.len() > 1));
    titles.rev().find_map(|title| heading_of(title))
}

/// Says whether the items under a heading are tasks.
pub(super) fn lists_tasks(section: &BankSection) -> bool {
    category_by_headings(section) == Some(BankCategory::Next)
}

/// Says whether the words of an item without a box tell that it is done, such as `Write docs (done 2026-11-25)`.
pub(super) fn is_marked_done(text: &str) -> bool {
    DONE.as_ref().is_some_and(|done| done.is_match(text.trim()))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("Write docs (done 2026-11-25)", true)]
    #[case("~~Write docs~~", true)]
    #[case("Write docs ✅", true)]
    #[case("Write docs: done.", true)]
    #[case("Write docs - done", true)]
    #[case("✓ Write docs", true)]
    #[case("✔\u{fe0f} Write docs", true)]
    #[case("Ask what is done", false)]
    #[case("Finish what is half-done", false)]
    #[case("Write docs: done by Ana", false)]
    fn an_item_without_a_box_may_be_marked_as_done(#[case] item: &str, #[case] is_done: bool) {
        assert_eq!(is_marked_done(item), is_done);
    }

    #[rstest]
    #[case("Write docs (done 2026-11-25)\n  - for the API", false)]
    #[case("Write docs\n  for all (done 2026-11-25)", false)]
    #[case("Write docs\n  - for the API (done 2026-11-25)", true)]
    fn an_item_is_done_by_its_first_paragraph(#[case] item: &str, #[case] is_task: bool) {
        assert_eq!(is_plain_task(true, PieceForm::Item, item), is_task);
    }
}
