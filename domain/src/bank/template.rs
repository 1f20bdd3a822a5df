//! The files of a new bank. Each begins with one line that says what belongs there.

use super::{BankDocument, BankFiles, BankKind, BankPath};

const GLOBAL: [(&str, &str); 3] = [
    (
        "context.md",
        "# Context\n\nWho the user is, what they work with, and what they are busy with now.\n\n## About\n\n## Environment\n\n## Current work\n\n## Decisions\n",
    ),
    (
        "preferences.md",
        "# Preferences\n\nHow the user likes answers, code and tools to be.\n\n## Communication\n\n## Code\n\n## Tools\n",
    ),
    (
        "references.md",
        "# References\n\nWhat is looked up again: links, commands, and errors with their fixes.\n\n## Links\n\n## Commands\n\n## Errors and fixes\n\n## Notes\n",
    ),
];

const SIX: [(&str, &str); 6] = [
    (
        "projectbrief.md",
        "# Project brief\n\nWhat the project is, what it must reach, and what is not part of it.\n\n## Overview\n\n## Goals\n\n## Requirements\n\n## Scope\n",
    ),
    (
        "productContext.md",
        "# Product context\n\nWhy the product exists, who uses it, and how it should work for them.\n\n## Problems it solves\n\n## Users\n\n## How it should work\n",
    ),
    (
        "activeContext.md",
        "# Active context\n\nWhat is being worked on now, what comes next, and what is not decided yet.\n\n## Current focus\n\n## Next steps\n\n## Open questions\n\n## Notes\n",
    ),
    (
        "systemPatterns.md",
        "# System patterns\n\nHow the system is built, what was decided and why, and what its code keeps to.\n\n## Architecture\n\n## Decisions\n\n## Conventions\n",
    ),
    (
        "techContext.md",
        "# Tech context\n\nWhat the project is built with and how it is run: dependencies, commands, constraints, links, and errors with their fixes.\n\n## Dependencies\n\n## Commands\n\n## Constraints\n\n## Errors and fixes\n\n## Links\n",
    ),
    (
        "progress.md",
        "# Progress\n\nWhat is done, what is blocked, and what is known not to work, newest first.\n\n## Done\n\n## Blocked\n\n## Known issues\n",
    ),
];

/// The heading of the projectbrief that a description is put under.
const OVERVIEW: &str = "Overview";

/// Returns the files of a new bank.
pub fn template(kind: BankKind) -> BankFiles {
    let files: &[(&str, &str)] = match kind {
        BankKind::Global => &GLOBAL,
        BankKind::Project | BankKind::Code => &SIX,
    };
    files.iter().filter_map(|(name, text)| Some((name.parse::<BankPath>().ok()?, (*text).to_owned()))).collect()
}

/// Returns the text that a file of this name has in a new bank. None where no new bank has such a file.
pub fn template_text(path: &BankPath) -> Option<&'static str> {
    let named = |(name, _): &&(&str, &str)| *name == path.as_str();
    GLOBAL.iter().chain(&SIX).find(named).map(|(_, text)| *text)
}

/// Returns the projectbrief with a description of the project in it. None where the bank has no projectbrief, or
/// somebody has written more in it than the template has.
pub fn described(files: &BankFiles, description: &str) -> Option<(BankPath, String)> {
    let description = description.trim();
    let (path, text) = files.iter().find(|(path, _)| path.stem().eq_ignore_ascii_case("projectbrief"))?;
    let (_, empty) = SIX.first()?;
    let is_empty = text.trim().is_empty() || text.split_whitespace().eq(empty.split_whitespace());
    if description.is_empty() || !is_empty {
        return None;
    }
    let text = if text.trim().is_empty() { (*empty).to_owned() } else { text.clone() };
    let document = BankDocument::parse(text).ok()?;
    let overview = document.find(OVERVIEW).ok()?;
    Some((path.clone(), document.append(overview, description).ok()?.into_text()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bank::check_bounds;

    #[test]
    fn every_template_is_a_bank_whose_files_say_what_belongs_there() {
        for kind in BankKind::ALL {
            let files = template(kind);
            assert_eq!(files.len(), if kind == BankKind::Global { 3 } else { 6 });
            check_bounds(&files).unwrap();
            for text in files.values() {
                let line = text.lines().nth(2).unwrap();
                assert!(text.starts_with("# ") && line.ends_with('.') && text.lines().nth(3) == Some(""), "{text}");
            }
        }
    }

    #[test]
    fn a_description_fills_a_brief_that_nobody_wrote_in() {
        let mut files = template(BankKind::Code);
        let (path, text) = described(&files, " A parser for\nlogs. ").unwrap();
        assert!(
            path.as_str() == "projectbrief.md" && text.contains("## Overview\n\nA parser for\nlogs.\n\n## Goals\n")
        );
        files.insert(path.clone(), text);
        assert_eq!(described(&files, "Another"), None);
        files.insert(path, String::new());
        assert!(described(&files, "Another").unwrap().1.starts_with("# Project brief\n"));
        assert_eq!(described(&template(BankKind::Global), "Another"), None);
    }
}
