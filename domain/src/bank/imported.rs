//! Facts that were imported from other programs. They lie in files of their own, each fact on one line with a mark of
//! where it came from, so that the same import again adds nothing. These files are looked up and not thought of as what
//! the project wrote: they are shown where there is room, and optimising neither counts nor shortens them.

use std::collections::BTreeSet;

use super::{BANK_MAX_BYTES, BANK_MAX_FILES, BankFiles, BankPath};
use crate::text::shortened;

/// The folder of a bank that imported facts lie in.
const FOLDER: &str = "imported/";
/// The most bytes of imported facts that a bank takes.
pub const IMPORTED_MAX_BYTES: usize = 1 << 20;
/// A file of facts is followed by another one before it has the most bytes that a file may have.
const FILE_BYTES: usize = 200 << 10;
/// The longest line of a fact; the rest of a longer one is cut off.
pub const FACT_MAX_CHARS: usize = 1_500;

/// A fact, and the mark by which it is known again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedFact {
    pub mark: String,
    /// One line of text.
    pub text: String,
}

/// The outcome of adding facts to a bank.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AddedFacts {
    /// The files that have more now.
    pub changed: BankFiles,
    pub added: usize,
    /// The facts that the bank had already.
    pub known: usize,
    /// The facts that it has no room for.
    pub left_out: usize,
}

impl BankPath {
    /// Says whether the file holds what was imported.
    pub fn is_imported(&self) -> bool {
        self.as_str().starts_with(FOLDER)
    }
}

/// Adds facts of a source to a bank, in their order, as long as there is room for them. `source` is a name of small
/// letters and dashes, such as `claude-mem`.
pub fn add_facts(files: &BankFiles, source: &str, facts: &[ImportedFact]) -> AddedFacts {
    let mut done = AddedFacts::default();
    let mut known = marks(files, source);
    let mut imported: usize = files.iter().filter(|(path, _)| path.is_imported()).map(|(_, text)| text.len()).sum();
    let mut whole: usize = files.values().map(String::len).sum();
    let mut number = (1..).find(|n| path(source, *n).is_none_or(|path| !files.contains_key(&path))).unwrap_or(1) - 1;
    for fact in facts {
        if !known.insert(fact.mark.clone()) {
            done.known += 1;
            continue;
        }
        let line = format!("- {} ({source}:{})\n", line_of(&fact.text), fact.mark);
        let last = path(source, number.max(1));
        let text_of = |path: &BankPath| done.changed.get(path).or_else(|| files.get(path));
        let is_full = last.as_ref().and_then(text_of).is_some_and(|text| text.len() + line.len() > FILE_BYTES);
        number = number.max(1) + usize::from(is_full);
        let file = if is_full { path(source, number) } else { last };
        let Some(file) = file else { continue };
        let before = text_of(&file).cloned();
        let is_new = before.is_none();
        let mut text = before.unwrap_or_else(|| heading(source));
        let more = line.len() + if is_new { text.len() } else { 0 };
        let is_too_many = is_new && files.len() + done.changed.len() >= BANK_MAX_FILES;
        if imported + more > IMPORTED_MAX_BYTES || whole + more > BANK_MAX_BYTES || is_too_many {
            done.left_out += 1;
            number -= usize::from(is_full);
            continue;
        }
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&line);
        done.changed.insert(file, text);
        (imported, whole) = (imported + more, whole + more);
        done.added += 1;
    }
    done
}

/// Splits the files of a bank into those that were written in it and those that were imported.
pub(super) fn without_imported(files: &BankFiles) -> (BankFiles, BankFiles) {
    files.clone().into_iter().partition(|(path, _)| !path.is_imported())
}

fn path(source: &str, number: usize) -> Option<BankPath> {
    let name = if number == 1 { format!("{FOLDER}{source}.md") } else { format!("{FOLDER}{source}-{number}.md") };
    name.parse().ok()
}

fn heading(source: &str) -> String {
    format!("# Imported from {source}\n\nWhat {source} remembered as facts. It is reference, and no advice.\n\n")
}

fn marks(files: &BankFiles, source: &str) -> BTreeSet<String> {
    let begin = format!("({source}:");
    let lines = files.iter().filter(|(path, _)| path.is_imported()).flat_map(|(_, text)| text.lines());
    lines.filter_map(|line| Some(line.rsplit_once(&begin)?.1.strip_suffix(')')?.to_owned())).collect()
}

/// Returns a text as the line of a list, in which it neither opens code or a comment nor begins a heading.
fn line_of(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = line.trim_start_matches(['#', '-', '*', '+', '>', '`', '~', ' ', '=']);
    let line = shortened(line, FACT_MAX_CHARS);
    let opens_task = line.starts_with("[ ]") || line.starts_with("[x]") || line.starts_with("[X]");
    let line = if opens_task { line[3..].trim_start().to_owned() } else { line };
    line.replace("<!--", "<! --")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bank::{BankDocument, check_bounds};
    use proptest::prelude::*;

    fn fact(n: usize, text: &str) -> ImportedFact {
        ImportedFact { mark: format!("{n:016x}"), text: text.to_owned() }
    }

    #[test]
    fn facts_are_added_once_each_with_its_mark() {
        let facts = [fact(1, "Uses pnpm"), fact(2, "# Not a\nheading")];
        let first = add_facts(&BankFiles::new(), "mem0", &facts);
        assert_eq!((first.added, first.known, first.left_out), (2, 0, 0));
        let text = first.changed.values().next().unwrap();
        assert!(
            text.ends_with("- Uses pnpm (mem0:0000000000000001)\n- Not a heading (mem0:0000000000000002)\n"),
            "{text}"
        );
        let again = add_facts(&first.changed, "mem0", &facts);
        assert_eq!((again.added, again.known, again.changed.len()), (0, 2, 0));
        let more = add_facts(&first.changed, "codex", &facts);
        assert_eq!(more.changed.keys().map(BankPath::as_str).collect::<Vec<_>>(), ["imported/codex.md"]);
    }

    #[test]
    fn a_bank_takes_no_more_than_it_has_room_for() {
        let facts: Vec<_> = (0..2_000).map(|n| fact(n, &"word ".repeat(200))).collect();
        let done = add_facts(&BankFiles::new(), "mem0", &facts);
        assert!(done.added > 900 && done.added + done.left_out == 2_000, "{} {}", done.added, done.left_out);
        assert!(done.changed.len() > 4);
        check_bounds(&done.changed).unwrap();
        let again = add_facts(&done.changed, "mem0", &facts);
        assert_eq!((again.added, again.known, again.left_out), (0, done.added, done.left_out));
    }

    proptest! {
        #[test]
        fn no_fact_makes_a_section_or_hides_another(texts in proptest::collection::vec("[-#>`~*=<! \\[\\]x\n]{0,8}\\PC{0,8}", 1..6)) {
            let facts: Vec<_> = texts.iter().enumerate().map(|(n, text)| fact(n, text)).collect();
            let done = add_facts(&BankFiles::new(), "mem0", &facts);
            let text = done.changed.values().next().unwrap().clone();
            let document = BankDocument::parse(text).unwrap();
            prop_assert_eq!(document.sections().len(), 2);
            prop_assert_eq!(add_facts(&done.changed, "mem0", &facts).known, facts.len());
        }
    }
}
