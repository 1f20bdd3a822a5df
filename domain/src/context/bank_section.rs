//! The sections of a memory bank that are about a task.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::bank::{BankDocument, BankFiles, BankPath, template_text};
use crate::text::terms::terms;

/// The most sections of an answer.
pub const SECTIONS_MAX: usize = 3;
/// The least terms of the task that a section has.
const SHARED_TERMS: usize = 2;

/// A section of the bank of the workspace that is about the task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContextSection {
    /// `file#section` within the bank of the workspace.
    pub section: String,
    /// The share of the task's terms that it has, in 0..1.
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
    pub(super) relevance: f64,
    /// The files lie in a checkout, where others write as well.
    pub(super) is_of_checkout: bool,
}

/// Finds the sections that are about a task, best first: those that share terms with it.
pub fn sections_about(task: &str, files: &BankFiles, is_of_checkout: bool) -> Vec<FoundSection> {
    let wanted: BTreeSet<String> = terms(task).into_iter().collect();
    let mut found = Vec::new();
    for (path, text) in files {
        let Ok(document) = BankDocument::parse(text.clone()) else { continue };
        for section in document.sections() {
            let body = without_template(path, document.body(section));
            if body.trim().is_empty() {
                continue;
            }
            let has: BTreeSet<String> = terms(&body).into_iter().chain(terms(section.title())).collect();
            let shared = wanted.intersection(&has).count();
            if shared >= SHARED_TERMS.min(wanted.len()).max(1) {
                found.push(FoundSection {
                    id: Uuid::nil(),
                    name: format!("{path}#{}", section.name()),
                    text: body.trim().to_owned(),
                    relevance: shared as f64 / wanted.len() as f64,
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
