//! A thing whose text is longer than one memory or one fact takes: it is taken in parts, so that nothing of it is lost.

use reasoning_bank_domain::bank::FACT_MAX_CHARS;
use reasoning_bank_domain::memory::{CONTENT_MAX_CHARS, spaced};
use reasoning_bank_domain::text::{pieces, shortened};

use crate::item::{ItemKind, SourceItem};
use crate::memory::{fact_text, first_sentence};

/// The most characters of the title of a part, without its number.
const TITLE_CHARS: usize = 100;
/// The most characters of a part of a fact: its title and its number stand on the same line.
const FACT_PART_CHARS: usize = FACT_MAX_CHARS - 2 * TITLE_CHARS;

/// Returns the thing as it is, or its parts, of which the first one keeps its origin.
pub fn parts_of(item: SourceItem) -> Vec<SourceItem> {
    let has_more_than = |text: &str, most: usize| text.chars().nth(most).is_some();
    let (is_long, part_chars) = match item.kind {
        ItemKind::Fact => (has_more_than(&fact_text(&item), FACT_MAX_CHARS), FACT_PART_CHARS),
        ItemKind::Strategy | ItemKind::Warning => (has_more_than(&item.content, CONTENT_MAX_CHARS), CONTENT_MAX_CHARS),
    };
    if !is_long {
        return vec![item];
    }
    let SourceItem { title, content, .. } = &item;
    let is_said_again = content.starts_with(title.trim_end_matches('…'));
    let text = match () {
        () if content.trim().is_empty() => title.clone(),
        // The title of a part is cut.
        () if has_more_than(title, TITLE_CHARS) && !is_said_again => format!("{title}\n\n{content}"),
        () => content.clone(),
    };
    let named = if title.trim().is_empty() { content } else { title };
    let named = shortened(&spaced(first_sentence(named)), TITLE_CHARS);
    let item = SourceItem { title: String::new(), content: String::new(), ..item };
    let parts = pieces(&text, part_chars);
    let count = parts.len();
    let part = |(number, part): (usize, &str)| SourceItem {
        origin: if number == 1 { item.origin.clone() } else { format!("{}\0part {number}", item.origin) },
        title: format!("{named} ({number} of {count})"),
        content: part.to_owned(),
        ..item.clone()
    };
    (1..).zip(parts).map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(kind: ItemKind, title: &str, content: &str) -> SourceItem {
        SourceItem { title: title.to_owned(), content: content.to_owned(), ..SourceItem::new("42", kind) }
    }

    fn words(texts: impl IntoIterator<Item = String>) -> Vec<String> {
        texts.into_iter().flat_map(|text| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).collect()
    }

    #[test]
    fn a_text_that_fits_stays_whole() {
        for kind in [ItemKind::Fact, ItemKind::Strategy, ItemKind::Warning] {
            let short = item(kind, "The export", "It runs at night.");
            assert_eq!(parts_of(short.clone()), [short]);
        }
        let title = "t".repeat(FACT_MAX_CHARS);
        let said_twice = item(ItemKind::Fact, &title, &title);
        assert_eq!(parts_of(said_twice.clone()), [said_twice]);
    }

    #[test]
    fn six_hundred_thousand_characters_are_taken_whole() {
        let text = "The nightly export reads the orders of the day. ".repeat(12_500);
        for (kind, count) in [(ItemKind::Strategy, 6), (ItemKind::Warning, 6), (ItemKind::Fact, 463)] {
            let parts = parts_of(item(kind, "The export", &text));
            assert!(parts.len().abs_diff(count) <= count / 20 + 1, "{kind:?}: {}", parts.len());
            assert_eq!(words(parts.iter().map(|part| part.content.clone())), words([text.clone()]), "{kind:?}");
            let last = format!("The export ({0} of {0})", parts.len());
            assert_eq!((&*parts[0].origin, &*parts[parts.len() - 1].title), ("42", &*last));
            let mut origins: Vec<&str> = parts.iter().map(|part| &*part.origin).collect();
            origins.dedup();
            assert_eq!(origins.len(), parts.len());
            assert!(
                kind != ItemKind::Fact || parts.iter().all(|part| fact_text(part).chars().count() <= FACT_MAX_CHARS)
            );
        }
    }

    #[test]
    fn a_long_title_that_the_content_does_not_repeat_is_not_lost() {
        let title = "The title goes on. ".repeat(60);
        let parts = parts_of(item(ItemKind::Fact, &title, &"And so does the content. ".repeat(30)));
        let told = words(parts.iter().map(|part| part.content.clone()));
        assert_eq!(told.iter().filter(|word| *word == "goes").count(), 60);
        let parts = parts_of(item(ItemKind::Fact, &title.repeat(2), ""));
        let told = words(parts.iter().map(|part| part.content.clone()));
        assert_eq!(told.iter().filter(|word| *word == "goes").count(), 120);
    }
}
