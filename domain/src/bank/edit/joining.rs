//! The rules by which an entry joins a section: the first one takes the place of what a person left there, such as
//! `TBD`, and a task has no box where the others have none.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

use super::ListMarker;
use crate::bank::BankDocument;
use crate::bank::pieces::{PieceForm, blocks};
use crate::bank::signs::NAMES_OF_ENTRIES;
use crate::bank::tasks::lists_tasks;

static PLACEHOLDER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let to_be = "to be (?:added|determined|defined|filled(?: in)?|written)";
    let words = format!("(?:none|nothing|tbd|tba|n/a|empty|{to_be}|no {NAMES_OF_ENTRIES})");
    Regex::new(&format!(r"(?i)^(?:[-*+]|[-*+]?\s*[_*(\[]*\s*{words}(?: yet| so far| at the moment)?\s*[.…]*[_*)\]]*)$"))
        .ok()
});

impl BankDocument {
    /// Returns the marker of the list that a placeholder is in, where a section has nothing else.
    pub(super) fn placeholder(&self, section: usize) -> Option<Option<ListMarker>> {
        let section = self.sections().get(section).filter(|section| section.level > 0)?;
        let body = self.body(section).trim();
        let is_one = PLACEHOLDER.as_ref()?.is_match(body);
        is_one.then(|| ListMarker::of(body))
    }

    /// Returns a content without open boxes where it joins tasks that have none.
    pub(super) fn without_boxes<'a>(&self, section: usize, content: &'a str) -> Cow<'a, str> {
        let have_none = self.sections().get(section).filter(|section| lists_tasks(section)).is_some_and(|section| {
            let mut items = blocks(self.body(section));
            items.retain(|(form, text)| form.is_item() && text.contains(char::is_alphanumeric));
            !items.is_empty() && items.iter().all(|(form, _)| *form == PieceForm::Item)
        });
        match content.strip_prefix("- [ ] ") {
            Some(rest) if have_none => Cow::Owned(format!("- {}", rest.replace("\n- [ ] ", "\n- "))),
            _ => Cow::Borrowed(content),
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("None", "- one")]
    #[case("TBD", "- one")]
    #[case("_None yet._", "- one")]
    #[case("(none)", "- one")]
    #[case("*", "* one")]
    #[case("- No blockers yet", "- one")]
    #[case("None of these is urgent.", "None of these is urgent.\n\n- one")]
    #[case("- none\n- two", "- none\n- two\n- one")]
    fn the_first_entry_takes_the_place_of_a_placeholder(#[case] before: &str, #[case] after: &str) {
        let text = |body: &str| format!("# A\n\n## Blocked\n\n{body}\n\n## Done\n");
        let document = BankDocument::parse(text(before)).unwrap();
        let changed = document.append(2, "- one").unwrap();
        assert_eq!(changed.text(), text(after));
        if before.len() < 20 && !before.contains("two") {
            assert_eq!(document.prepend(2, "- one").unwrap().text(), text(after));
        }
    }

    #[rstest]
    #[case("Next steps", "1. one", "1. one\n2. two")]
    #[case("Next steps", "* one (done 2026-01-02)", "* one (done 2026-01-02)\n* two")]
    #[case("Next steps", "- [x] one", "- [x] one\n- [ ] two")]
    #[case("Next steps", "", "- [ ] two")]
    #[case("Notes", "- one", "- one\n- [ ] two")]
    fn a_task_has_a_box_unless_the_others_have_none(#[case] title: &str, #[case] before: &str, #[case] after: &str) {
        let text = |body: &str| format!("# A\n\n## {title}\n\n{body}\n");
        let document = BankDocument::parse(text(before)).unwrap();
        assert_eq!(document.append(2, "- [ ] two").unwrap().text().trim_end(), text(after).trim_end());
    }
}
