//! Entries under the headings of their days, where a person keeps such headings: `### 2026-11-25` below `## Done`.

use jiff::civil::Date;

use super::BOXES;
use crate::bank::pieces::{blocks, date_of, day_title, undated};
use crate::bank::{BankDocument, BankInvalid};

impl BankDocument {
    /// Adds entries under the headings of their days. A day without a heading gets one, in the order of the others.
    /// Returns None where most headings right below the section name no day.
    ///
    /// # Errors
    /// The file would be too long, or another section would change.
    pub(in crate::bank) fn with_day_entries(
        &self,
        section: usize,
        content: &str,
        day: &str,
        is_newest: bool,
    ) -> Option<Result<Self, BankInvalid>> {
        let has_headings = Self::parse(content).ok()?.sections().len() > 1;
        let days = self.days_below(section).filter(|_| !has_headings)?;
        let ((first, _), (_, latest)) = (days.first()?, days.last()?);
        let is_newest_first = days[0].1 >= *latest;
        let sample = self.sections().get(*first)?;
        let (form, keeps_date) = (sample.title().to_owned(), self.has_dated_entry(*first));
        let mut document = self.clone();
        for (date, entries) in by_days(content, day.parse().ok()?, keeps_date) {
            let days = document.days_below(section)?;
            let follows = |other: Date| if is_newest_first { other < date } else { other > date };
            let of_day = days.iter().find(|(_, other)| *other == date);
            let next = days.iter().find(|(_, other)| follows(*other));
            let title = || form.replace(&date_of(&form).unwrap_or(date).to_string(), &date.to_string());
            let changed = match (of_day, next) {
                (Some((at, _)), _) if is_newest => document.prepend(*at, &entries),
                (Some((at, _)), _) => document.append(*at, &entries),
                (None, Some((next, _))) => document.with_section_before(*next, sample.level, &title(), &entries),
                (None, None) => document.with_section(Some(section), &title(), &entries),
            };
            match changed {
                Ok(changed) => document = changed,
                Err(error) => return Some(Err(error)),
            }
        }
        Some(Ok(document))
    }

    /// Returns the headings right below a section that name a day, with their places. None where most of them do not.
    fn days_below(&self, section: usize) -> Option<Vec<(usize, Date)>> {
        let of = self.sections().get(section).filter(|of| of.level > 0)?;
        let under = self.sections().iter().enumerate().skip(section + 1);
        let below: Vec<_> = under
            .take_while(|(_, other)| other.is_within(of))
            .filter(|(_, other)| other.level == of.level + 1)
            .collect();
        let days: Vec<_> = below.iter().filter_map(|(at, other)| Some((*at, day_title(other.title())?))).collect();
        (!days.is_empty() && 2 * days.len() >= below.len()).then_some(days)
    }

    /// Says whether the entries of a section have dates of their own.
    fn has_dated_entry(&self, section: usize) -> bool {
        let body = self.sections().get(section).map_or("", |of| self.body(of));
        blocks(body).iter().find(|(form, _)| form.is_item()).is_some_and(|(_, text)| date_of(text).is_some())
    }
}

/// Parts a content into the entries of each day, in their order. Those without a date are of `day`. Their heading tells
/// the date, so that they go without it unless the others keep theirs.
fn by_days(content: &str, day: Date, keeps_date: bool) -> Vec<(Date, String)> {
    let content = content.trim_matches(['\n', '\r']);
    let items = content.strip_prefix("- ").filter(|_| !content.contains("```"));
    let Some(items) = items else { return vec![(day, content.to_owned())] };
    let mut days: Vec<(Date, String)> = Vec::new();
    for item in items.split("\n- ") {
        let mark = BOXES.into_iter().find(|mark| item.starts_with(mark)).unwrap_or_default();
        let words = &item[mark.len()..];
        let bare = undated(words);
        let is_kept = keeps_date || !bare.contains(char::is_alphanumeric);
        let entry = format!("- {mark}{}", if is_kept { words } else { &bare });
        let date = date_of(words).unwrap_or(day);
        match days.iter_mut().find(|(of, _)| *of == date) {
            Some((_, entries)) => entries.push_str(&format!("\n{entry}")),
            None => days.push((date, entry)),
        }
    }
    days
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "# Progress\n\n## Done\n\nNewest first.\n\n### 2026-11-24\n\n* Wrote docs\n\n### 2026-11-20\n\n* Began\n\n## Blocked\n";

    fn with(text: &str, content: &str, is_newest: bool) -> Option<String> {
        let document = BankDocument::parse(text).unwrap();
        let section = document.find("Done").unwrap();
        let changed = document.with_day_entries(section, content, "2026-11-25", is_newest);
        changed.map(|changed| changed.unwrap().into_text())
    }

    #[test]
    fn an_entry_joins_those_of_its_day_and_a_new_day_has_its_heading_among_the_others() {
        let items = "- 2026-11-25: Fixed the login\n- [x] 2026-11-20: Asked Ana\n- 2026-11-22: Read";
        let wanted = LOG
            .replace("### 2026-11-24", "### 2026-11-25\n\n- Fixed the login\n\n### 2026-11-24")
            .replace("### 2026-11-20\n\n", "### 2026-11-22\n\n- Read\n\n### 2026-11-20\n\n* [x] Asked Ana\n");
        assert_eq!(with(LOG, items, true), Some(wanted));
        let after = with(LOG, "- 2026-11-20: Asked Ana", false).unwrap();
        assert!(after.contains("* Began\n* Asked Ana\n\n## Blocked"), "{after}");
        let oldest = with(LOG, "- 2026-11-01: Planned", true).unwrap();
        assert!(oldest.contains("* Began\n\n### 2026-11-01\n\n- Planned\n\n## Blocked"), "{oldest}");
        let windows = LOG.replace('\n', "\r\n");
        let added = "\r\n### 2026-11-25\r\n\r\n- One\r\n\r\n### 2026-11-24";
        assert_eq!(with(&windows, "- One", true), Some(windows.replace("\r\n### 2026-11-24", added)));
    }

    #[test]
    fn the_form_and_the_order_of_the_headings_are_kept() {
        let text = "# P\n\n## Done\n\n### [2026-11-20]\n\n- 2026-11-20: One\n\n### [2026-11-24]\n\n- 2026-11-24: Two\n";
        let added = "\n### [2026-11-25]\n\n- 2026-11-25: Three\n";
        assert_eq!(with(text, "- 2026-11-25: Three", true), Some(format!("{text}{added}")));
        let code = "Run:\n\n```sh\nmake\n```";
        assert_eq!(with(text, code, true), Some(format!("{text}\n### [2026-11-25]\n\n{code}\n")));
    }

    #[test]
    fn other_headings_are_no_days() {
        for title in ["2026-11-24: Release", "Added 2026-11-24", "Server"] {
            let text = format!("# P\n\n## Done\n\n### {title}\n\n- One\n");
            assert_eq!(with(&text, "- Two", true), None, "{title}");
        }
        assert_eq!(with("# P\n\n## Done\n\n- One\n\n## 2026-11-24\n", "- Two", true), None);
        assert_eq!(with(LOG, "#### Deeper\n\nText.", true), None);
    }
}
