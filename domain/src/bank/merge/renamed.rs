//! Headings that a person renamed: a section of theirs is one of before under another heading. A merge follows them,
//! and so does what is filed later.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{BankSections, SectionKey, blocks};
use crate::bank::{BankDocument, BankPath};

/// The most former titles of a heading that are known.
const FORMER_MAX: usize = 8;

/// The headings that a person renamed, by file: each title with those that it had before.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RenamedHeadings(BTreeMap<BankPath, BTreeMap<String, BTreeSet<String>>>);

impl RenamedHeadings {
    /// Follows what a person made of a file.
    pub fn follow(&mut self, path: &BankPath, before: &str, after: &str) {
        // A file that is too long has no sections to follow.
        let (Ok(before), Ok(after)) = (BankDocument::parse(before), BankDocument::parse(after)) else { return };
        let (base, theirs) = (BankSections::of(&before), BankSections::of(&after));
        let mut known = self.0.remove(path).unwrap_or_default();
        for (new, old) in renamed_keys(&base, &theirs, is_alike) {
            let (Some(new), Some(old)) = (new.0.last(), old.0.last()) else { continue };
            if new != old {
                let mut former = known.remove(old).unwrap_or_default();
                former.insert(old.clone());
                former.remove(new);
                while former.len() > FORMER_MAX {
                    former.pop_first();
                }
                known.entry(new.clone()).or_default().extend(former);
            }
        }
        known.retain(|title, _| after.sections().iter().any(|section| section.title() == title));
        if !known.is_empty() {
            self.0.insert(path.clone(), known);
        }
    }

    /// Forgets the headings of a file that was removed.
    pub fn forget(&mut self, path: &BankPath) {
        self.0.remove(path);
    }

    /// Says whether a heading of a file had a title that is meant before a person renamed it.
    pub fn had(&self, path: &BankPath, title: &str, is_meant: impl Fn(&str) -> bool) -> bool {
        let former = self.0.get(path).and_then(|titles| titles.get(title));
        former.is_some_and(|former| former.iter().any(|title| is_meant(title)))
    }
}

/// Returns the sections that have another heading than in the base, each with the key that it had. `is_same` compares
/// what stood under the old heading with what stands under the new one. Of sections that are empty the places tell.
pub(super) fn renamed_keys(
    base: &BankSections<'_>,
    theirs: &BankSections<'_>,
    is_same: impl Fn(&str, &str) -> bool,
) -> BTreeMap<SectionKey, SectionKey> {
    let mut gone: Vec<usize> = (0..base.keys.len()).filter(|at| !theirs.at.contains_key(&base.keys[*at])).collect();
    let has_places = base.keys.len() == theirs.keys.len();
    let mut renamed = BTreeMap::new();
    for (place, key) in theirs.keys.iter().enumerate().filter(|(_, key)| !base.at.contains_key(*key)) {
        let body = theirs.body(key);
        let is_former = |at: &usize| {
            let was = base.body(&base.keys[*at]);
            match (was.trim(), body.trim()) {
                ("", "") => has_places && *at == place && base.level(*at) == theirs.level(place),
                ("", _) | (_, "") => false,
                (was, is) => is_same(was, is),
            }
        };
        if let Some(found) = gone.iter().position(is_former) {
            renamed.insert(key.clone(), base.keys[gone.remove(found)].clone());
        }
    }
    renamed
}

/// Says whether at least half of what stood under a heading still stands there, and is half of what stands there.
fn is_alike(was: &str, is: &str) -> bool {
    let (was, is) = (blocks(was), blocks(is));
    let kept = was.iter().filter(|piece| is.contains(piece)).count();
    kept > 0 && 2 * kept >= was.len() && 2 * kept >= is.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn followed(before: &str, after: &str) -> Vec<&'static str> {
        let (mut renamed, path) = (RenamedHeadings::default(), BankPath::notes());
        renamed.follow(&path, before, after);
        ["A", "B", "C"].into_iter().filter(|old| renamed.had(&path, "New", |title| title == *old)).collect()
    }

    #[test]
    fn a_heading_is_followed_by_what_stands_under_it_or_by_its_place() {
        let before = "# P\n\n## A\n\n- one\n- two\n\n## B\n\n## C\n\n- three\n";
        assert_eq!(followed(before, &before.replace("## A", "## New")), ["A"]);
        assert_eq!(followed(before, &before.replace("## A\n\n- one", "## New\n\n- mine")), ["A"]);
        assert_eq!(followed(before, &before.replace("## B", "## New")), ["B"], "an empty one has its place");
        let moved = "# P\n\n## New\n\n- three\n\n## A\n\n- one\n- two\n\n## B\n";
        assert_eq!(followed(before, moved), ["C"]);
        assert!(followed(before, &before.replace("## C\n\n- three", "## New\n\n- other")).is_empty());
        let mostly_new = before.replace("## C\n\n- three", "## New\n\n- three\n- four\n- five");
        assert!(followed(before, &mostly_new).is_empty(), "one entry that moved is no heading");
        assert!(followed(before, &format!("{before}\n## New\n\n- one\n")).is_empty(), "nothing is gone");
        assert_eq!(followed(&before.replace("# P\n", "# O\n"), &before.replace("## C", "## New")), ["C"]);
    }

    #[test]
    fn a_heading_that_is_renamed_again_is_still_known_by_its_first_title() {
        let (mut renamed, path) = (RenamedHeadings::default(), BankPath::notes());
        let text = |title: &str| format!("# P\n\n## {title}\n\n- one\n");
        renamed.follow(&path, &text("A"), &text("B"));
        renamed.follow(&path, &text("B"), &text("C"));
        assert!(renamed.had(&path, "C", |title| title == "A") && renamed.had(&path, "C", |title| title == "B"));
        renamed.follow(&path, &text("C"), &text("A"));
        assert!(!renamed.had(&path, "A", |title| title == "A"));
        renamed.follow(&path, &text("A"), "# P\n");
        assert_eq!(renamed, RenamedHeadings::default(), "what is removed is forgotten");
    }
}
