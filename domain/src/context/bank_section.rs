//! The sections of a memory bank that are about a task.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::bank::{BankDocument, BankFiles, BankPath, entries_of, template_text};
use crate::text::terms::{query, terms};

/// The most sections of an answer.
pub const SECTIONS_MAX: usize = 3;
/// The least terms of the task that one entry of a section has, its heading included.
const SHARED_TERMS: usize = 2;

/// A section of the bank of the workspace that is about the task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContextSection {
    /// `file#section` within the bank of the workspace.
    pub section: String,
    /// The share of the task's terms that the nearest of its entries has, in 0..1.
    pub relevance: f64,
    /// True where its words are in `rendered`.
    pub shown: bool,
}

/// A section with its words.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundSection {
    /// It names the section within one answer.
    pub(super) id: Uuid,
    pub(super) name: String,
    pub(super) text: String,
    /// Its entries that are about the task.
    pub(super) nearest: String,
    pub(super) relevance: f64,
    /// The files lie in a checkout, where others write as well.
    pub(super) is_of_checkout: bool,
}

/// Finds the sections that are about a task, best first: those with an entry that shares terms with it. Words such as
/// `about` and `the` are no terms.
pub fn sections_about(task: &str, files: &BankFiles, is_of_checkout: bool) -> Vec<FoundSection> {
    let wanted: BTreeSet<String> = query(task).into_iter().map(|wanted| wanted.term).collect();
    let least = SHARED_TERMS.min(wanted.len()).max(1);
    let mut found = Vec::new();
    for (path, text) in files {
        let Ok(document) = BankDocument::parse(text.clone()) else { continue };
        for section in document.sections() {
            let body = without_template(path, document.body(section));
            if body.trim().is_empty() {
                continue;
            }
            let titled: BTreeSet<String> = terms(section.title()).into_iter().collect();
            let shared = |text: &str| {
                let has: BTreeSet<String> = terms(text).into_iter().collect();
                wanted.iter().filter(|term| has.contains(*term) || titled.contains(*term)).count()
            };
            let entries: Vec<(usize, String)> = entries_of(&body).map(|entry| (shared(&entry), entry)).collect();
            let most = entries.iter().map(|(shared, _)| *shared).max().unwrap_or_default();
            if most >= least {
                let nearest = entries.iter().filter(|(shared, _)| 2 * shared > most && *shared >= least);
                let nearest: Vec<&str> = nearest.map(|(_, entry)| entry.as_str()).collect();
                found.push(FoundSection {
                    id: Uuid::nil(),
                    name: format!("{path}#{}", section.name()),
                    text: body.trim().to_owned(),
                    nearest: nearest.join("\n"),
                    relevance: most as f64 / wanted.len() as f64,
                    is_of_checkout,
                });
            }
        }
    }
    found.sort_by(|one, other| other.relevance.total_cmp(&one.relevance));
    found.truncate(SECTIONS_MAX);
    (1..).zip(&mut found).for_each(|(number, section)| section.id = Uuid::from_u128(number));
    found
}

/// Returns what somebody wrote in a section: without the line of a new file that says what belongs there.
fn without_template(path: &BankPath, body: &str) -> String {
    let template = template_text(path).unwrap_or_default();
    let is_own = |line: &&str| line.trim().is_empty() || !template.lines().any(|of| of.trim() == line.trim());
    body.split_inclusive('\n').filter(is_own).collect()
}

impl FoundSection {
    pub(super) fn shown_in(&self, shown: &BTreeSet<Uuid>) -> ContextSection {
        let relevance = (self.relevance * 100.0).round() / 100.0;
        ContextSection { section: self.name.clone(), relevance, shown: shown.contains(&self.id) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bank::{BankKind, template};

    #[test]
    fn sections_that_share_words_with_the_task_are_found_and_others_are_not() {
        let text = "# System patterns\n\nHow it is built.\n\n## Decisions\n\n- SQLite keeps the orders, because it needs no server.\n\n## Conventions\n\n- Names are short.\n";
        let files = BankFiles::from([("systemPatterns.md".parse().unwrap(), text.to_owned())]);
        let found = sections_about("Move the orders out of SQLite", &files, true);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].name.ends_with("Decisions") && found[0].text.contains("needs no server"), "{found:?}");
        assert!(sections_about("Paint the kitchen wall", &files, true).is_empty());
    }

    #[test]
    fn an_entry_is_about_the_task_and_not_the_words_of_a_long_section_together() {
        let done = "## Done\n\n- Wrote the export of invoices.\n- Drew the sea on the start page.\n- Closed SHOP-899 of refunds.\n";
        let files = BankFiles::from([("progress.md".parse().unwrap(), format!("# Progress\n\n{done}"))]);
        assert!(sections_about("Write a haiku about the sea", &files, true).is_empty());
        let found = sections_about("Who closed SHOP-899 of the refunds?", &files, true);
        assert_eq!(found[0].nearest, "- Closed SHOP-899 of refunds.");
        assert!(found[0].text.starts_with("- Wrote"), "{found:?}");
    }

    #[test]
    fn the_lines_of_a_new_bank_are_no_knowledge() {
        let mut files = template(BankKind::Code);
        let task = "How the system is built and what was decided";
        assert!(sections_about(task, &files, false).is_empty());
        let path: BankPath = "systemPatterns.md".parse().unwrap();
        let own = "The system is built of actors.";
        files.insert(path.clone(), files[&path].replace("\n\n## Arch", &format!("\n\n{own}\n\n## Arch")));
        let found = sections_about(task, &files, false);
        assert_eq!(found.iter().map(|section| section.text.as_str()).collect::<Vec<_>>(), [own]);
    }
}
