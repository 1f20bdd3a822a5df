//! Joining what two writers did to one file since they both read it: a person in an editor, and the bank. Sections are
//! compared three ways. Nothing that the person wrote is lost: where both changed one section, the person's stays and
//! what the bank added is put after it under a heading of its own.

mod renamed;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use jiff::Timestamp;
use jiff::civil::Date;

use self::renamed::renamed_keys;
use super::apply::{day, item};
use super::pieces::{BlockSpan, PieceForm, block_spans, blocks};
use super::{BankDocument, BankInvalid, BankSection};

pub use self::renamed::RenamedHeadings;

const DEEPEST_LEVEL: usize = 6;
/// The heading of an addition begins so, and has its day behind it.
const ADDED: &str = "Added ";

/// A file after a merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BankMerge {
    pub text: String,
    /// The names of the sections that both changed.
    pub conflicts: Vec<String>,
}

/// The titles that lead to a section, and how many sections before it have the same.
type SectionKey = (Vec<String>, usize);

/// A file by its sections.
struct BankSections<'a> {
    document: &'a BankDocument,
    keys: Vec<SectionKey>,
    at: BTreeMap<SectionKey, usize>,
}

impl<'a> BankSections<'a> {
    fn of(document: &'a BankDocument) -> Self {
        let mut seen: BTreeMap<&[String], usize> = BTreeMap::new();
        let key = |section: &'a BankSection| {
            let count = seen.entry(section.path.as_slice()).or_default();
            *count += 1;
            (section.path.clone(), *count)
        };
        let keys: Vec<SectionKey> = document.sections().iter().map(key).collect();
        let at = keys.iter().cloned().enumerate().map(|(index, key)| (key, index)).collect();
        Self { document, keys, at }
    }

    fn section(&self, key: &SectionKey) -> Option<&'a BankSection> {
        self.at.get(key).and_then(|index| self.document.sections().get(*index))
    }

    fn text(&self, key: &SectionKey) -> Option<String> {
        self.section(key).map(|section| unix(self.document.section_text(section)))
    }

    /// Returns a section with its own line ends.
    fn as_written(&self, key: &SectionKey) -> String {
        self.section(key).map(|section| self.document.section_text(section).to_owned()).unwrap_or_default()
    }

    fn level(&self, at: usize) -> usize {
        self.document.sections()[at].level
    }

    fn body(&self, key: &SectionKey) -> String {
        self.section(key).map(|section| unix(self.document.body(section))).unwrap_or_default()
    }
}

/// Merges two versions of a file that come from one base. `theirs` is the person's; its order, line ends and wording
/// stay. `heading` is put above what the bank wrote in a section that the person changed as well.
///
/// # Errors
/// A version is longer than a file of a bank may be.
pub fn merge(base: &str, theirs: &str, ours: &str, heading: &str) -> Result<BankMerge, BankInvalid> {
    let unchanged = |text: &str| BankMerge { text: text.to_owned(), conflicts: Vec::new() };
    if ours == base || ours == theirs {
        return Ok(unchanged(theirs));
    }
    if theirs == base {
        return Ok(unchanged(ours));
    }
    let (base, theirs, ours) = (BankDocument::parse(base)?, BankDocument::parse(theirs)?, BankDocument::parse(ours)?);
    let mut merge = MergeInWork {
        base: BankSections::of(&base),
        theirs: BankSections::of(&theirs),
        ours: BankSections::of(&ours),
        heading,
        line_end: theirs.line_end(),
        joining: BTreeMap::new(),
        text: String::new(),
        conflicts: Vec::new(),
    };
    merge.run();
    let MergeInWork { theirs: sections, text, conflicts, .. } = merge;
    let text = without_repeats(text, &sections, heading);
    // A file that differs in nothing but its line ends is not rewritten.
    let text = if unix(theirs.text()) == unix(&text) { theirs.text().to_owned() } else { text };
    Ok(BankMerge { text, conflicts })
}

fn unix(text: &str) -> String {
    text.replace("\r\n", "\n")
}

struct MergeInWork<'a> {
    base: BankSections<'a>,
    theirs: BankSections<'a>,
    ours: BankSections<'a>,
    heading: &'a str,
    /// The line ends that most of the person's lines have. The bank's lines get them, too.
    line_end: &'a str,
    /// The pieces that go to the end of a section, which has the heading of an earlier merge.
    joining: BTreeMap<SectionKey, String>,
    text: String,
    conflicts: Vec<String>,
}

impl MergeInWork<'_> {
    fn run(&mut self) {
        let renamed = self.renamed();
        // Each section of ours that theirs lacks follows the one that it follows in ours.
        let mut after: BTreeMap<Option<SectionKey>, Vec<SectionKey>> = BTreeMap::new();
        let mut last: Option<SectionKey> = None;
        let new_names: BTreeSet<&SectionKey> = renamed.values().collect();
        for key in &self.ours.keys {
            if self.theirs.at.contains_key(key) {
                last = Some(key.clone());
            } else if new_names.contains(key) {
                last = renamed.iter().find(|(_, old)| *old == key).map(|(new, _)| new.clone());
            } else {
                after.entry(last.clone()).or_default().push(key.clone());
            }
        }
        for key in after.remove(&None).unwrap_or_default() {
            self.only_ours(&key);
        }
        for key in self.theirs.keys.clone() {
            self.of_theirs(&key, renamed.get(&key).unwrap_or(&key));
            for key in after.remove(&Some(key)).unwrap_or_default() {
                self.only_ours(&key);
            }
        }
        // The section that it was to join was not written after all.
        for added in std::mem::take(&mut self.joining).into_values() {
            self.spaced();
            self.text.push_str(&self.ended(&format!("## {}\n\n{added}\n", self.heading)));
        }
        self.end_as_theirs();
    }

    /// Leaves as many blank lines at the end of the file as the person has there.
    fn end_as_theirs(&mut self) {
        let ends = |text: &str| text[text.trim_end_matches(['\r', '\n']).len()..].matches('\n').count();
        let wanted = ends(self.theirs.document.text()).max(1);
        while ends(&self.text) > wanted && self.text.ends_with(self.line_end) {
            self.text.truncate(self.text.len() - self.line_end.len());
        }
    }

    /// Returns the sections whose heading the person changed, with the key that they had. What stands under them is the
    /// same.
    fn renamed(&self) -> BTreeMap<SectionKey, SectionKey> {
        let mut renamed = renamed_keys(&self.base, &self.theirs, |was, is| was == is);
        renamed.retain(|_, old| self.ours.at.contains_key(old));
        renamed
    }

    /// Writes a section that the person has; `old` is the key that it had before.
    fn of_theirs(&mut self, key: &SectionKey, old: &SectionKey) {
        let Some(theirs) = self.theirs.text(key) else { return };
        let was = self.base.text(old);
        if key != old {
            // Only the heading changed, so that what stands under it is ours.
            let heading = self.theirs.section(key).map(|section| unix(self.theirs.document.heading(section)));
            let text = format!("{}{}", heading.unwrap_or_default(), self.ours.body(old));
            return self.write(&self.ended(&text));
        }
        let as_written = self.theirs.as_written(key);
        match (self.ours.text(old), was) {
            (Some(ours), Some(was)) if ours == was => self.write_joined(key, &as_written),
            (Some(ours), Some(was)) if theirs == was => self.write_joined(key, &self.ended(&ours)),
            (Some(ours), _) if ours == theirs => self.write_joined(key, &as_written),
            (Some(_), _) => self.of_both(key, &as_written),
            (None, Some(was)) if was == theirs => {}
            (None, _) => self.write_joined(key, &as_written),
        }
    }

    /// Writes a section that both changed.
    fn of_both(&mut self, key: &SectionKey, theirs: &str) {
        let added = self.added(key);
        if added.is_empty() {
            return self.write_joined(key, theirs);
        }
        self.conflicts.push(self.theirs.section(key).map(BankSection::name).unwrap_or_default());
        // An earlier merge may have put additions under a heading of their own. New ones join them there, so that there
        // is one such heading.
        let is_own = self.theirs.section(key).is_some_and(|section| section.title() == self.heading);
        let below = self.below(key);
        let place = if is_own { Some(key.clone()) } else { Some(below).filter(|key| self.will_be_written(key)) };
        if let Some(place) = place {
            let before = self.joining.remove(&place).map(|before| before + "\n").unwrap_or_default();
            self.joining.insert(place, before + &added);
            return self.write_joined(key, theirs);
        }
        let level = self.theirs.section(key).map_or(0, |section| section.level);
        self.write(theirs.trim_end_matches(['\r', '\n']));
        self.spaced();
        let heading = match level {
            DEEPEST_LEVEL.. => format!("**{}**", self.heading),
            level => format!("{} {}", "#".repeat(level.max(1) + 1), self.heading),
        };
        let tail = &theirs[theirs.trim_end_matches(['\r', '\n']).len()..];
        self.text.push_str(&self.ended(&format!("{heading}\n\n{added}")));
        self.text.push_str(if tail.is_empty() { self.line_end } else { tail });
    }

    /// Returns the section with the heading of this merge below another one.
    fn below(&self, key: &SectionKey) -> SectionKey {
        (key.0.iter().cloned().chain([self.heading.to_owned()]).collect(), 1)
    }

    /// Says whether the person has a section that the bank did not remove.
    fn stays(&self, key: &SectionKey) -> bool {
        let is_removed = || !self.ours.at.contains_key(key) && self.base.text(key) == self.theirs.text(key);
        self.theirs.at.contains_key(key) && !is_removed()
    }

    /// Says whether a section will be written after the one that it is under.
    fn will_be_written(&self, key: &SectionKey) -> bool {
        let is_new = self.ours.at.contains_key(key) && !self.base.at.contains_key(key);
        self.stays(key) || is_new
    }

    /// Writes a section, with what joins it.
    fn write_joined(&mut self, key: &SectionKey, text: &str) {
        let Some(added) = self.joining.remove(key) else { return self.write(text) };
        let has_lists = blocks(text).last().is_some_and(|(form, _)| form.is_item())
            && blocks(&added).first().is_some_and(|(form, _)| form.is_item());
        let written = text.trim_end_matches(['\r', '\n']);
        let between = if has_lists { "\n" } else { "\n\n" };
        let tail = if written.len() == text.len() { self.line_end } else { &text[written.len()..] };
        self.write(&format!("{written}{}{tail}", self.ended(&format!("{between}{added}"))));
    }

    /// Writes a section that the person does not have.
    fn only_ours(&mut self, key: &SectionKey) {
        let (Some(section), Some(ours)) = (self.ours.section(key), self.ours.text(key)) else { return };
        let was = self.base.text(key);
        // The person removed what the bank did not change.
        if was.as_ref() == Some(&ours) {
            return;
        }
        let text = if was.is_some() {
            let added = self.added(key);
            if added.is_empty() {
                return;
            }
            self.conflicts.push(section.name());
            format!("{}\n\n{added}", unix(self.ours.document.heading(section)).trim_end())
        } else {
            ours
        };
        self.spaced();
        self.write_joined(key, &self.ended(&format!("{}\n\n", text.trim_end_matches('\n'))));
    }

    /// Returns the pieces that the bank wrote in a section and that neither the base nor the person has.
    fn added(&self, key: &SectionKey) -> String {
        let mut known: BTreeSet<String> = BTreeSet::new();
        let below = Some(self.below(key)).filter(|below| self.stays(below));
        let below = below.map(|below| self.theirs.body(&below)).unwrap_or_default();
        for body in [self.base.body(key), self.theirs.body(key), below] {
            known.extend(blocks(&body).into_iter().map(|(form, text)| item(form, &text)));
        }
        let (mut added, mut was_item) = (String::new(), false);
        for (form, text) in blocks(&self.ours.body(key)) {
            if known.contains(&item(form, &text)) {
                continue;
            }
            let is_item = form.is_item();
            if !added.is_empty() {
                added.push_str(if was_item && is_item { "\n" } else { "\n\n" });
            }
            added.push_str(&if form == PieceForm::Paragraph || !is_item { text } else { item(form, &text) });
            was_item = is_item;
        }
        added
    }

    fn write(&mut self, text: &str) {
        if !self.text.is_empty() && !self.text.ends_with('\n') && !text.is_empty() {
            self.text.push_str(self.line_end);
        }
        self.text.push_str(text);
    }

    /// Returns a text with the line ends of the person's file.
    fn ended(&self, text: &str) -> String {
        if self.line_end == "\n" { text.to_owned() } else { text.replace('\n', self.line_end) }
    }

    /// Ends what was written with a blank line.
    fn spaced(&mut self) {
        if !self.text.is_empty() {
            let ends = self.text[self.text.trim_end_matches(['\r', '\n']).len()..].matches('\n').count();
            (ends..2).for_each(|_| self.text.push_str(self.line_end));
        }
    }
}

/// Returns the heading for what the bank added to a section that a person changed as well.
pub fn addition_heading(at: Timestamp) -> String {
    format!("{ADDED}{}", day(at))
}

/// Takes out the headings of additions of which a person has removed all. None where there are none.
pub fn without_empty_additions(text: &str) -> Option<String> {
    if !text.contains(ADDED) {
        return None;
    }
    let document = BankDocument::parse(text).ok()?;
    let sections = document.sections();
    let is_addition =
        |section: &BankSection| section.title().strip_prefix(ADDED).is_some_and(|day| day.parse::<Date>().is_ok());
    let is_empty = |(at, section): &(usize, &BankSection)| {
        let has_more = sections.get(at + 1).is_some_and(|next| next.is_within(section));
        is_addition(section) && !has_more && document.body(section).trim().is_empty()
    };
    let mut cut = text.to_owned();
    for (_, section) in sections.iter().enumerate().filter(is_empty).collect::<Vec<_>>().into_iter().rev() {
        cut.replace_range(section.range(), "");
    }
    if cut.len() == text.len() {
        return None;
    }
    let written = cut.trim_end_matches(['\r', '\n']).len();
    let ends_more = cut[written..].matches('\n').count() > 1 && !text.ends_with("\n\n");
    if ends_more {
        cut.truncate(written);
        cut.push_str(document.line_end());
    }
    Some(cut)
}

/// Takes what the bank put under its heading out again where the same stands right above by now. What the person has at
/// both places stays.
fn without_repeats(mut text: String, theirs: &BankSections<'_>, heading: &str) -> String {
    // A text that became too long for a file stays as it is.
    let Ok(document) = BankDocument::parse(&text) else { return text };
    let merged = BankSections::of(&document);
    let mut cut: Vec<Range<usize>> = Vec::new();
    for key in merged.keys.iter().filter(|(path, _)| path.last().is_some_and(|title| title == heading)) {
        let above = (key.0[..key.0.len() - 1].to_vec(), 1);
        let (Some(section), Some(above_it)) = (merged.section(key), merged.section(&above)) else { continue };
        let there = blocks(document.body(above_it));
        let of_person = [blocks(&theirs.body(&above)), blocks(&theirs.body(key))];
        let spans = block_spans(document.body(section));
        let is_repeat = |span: &&BlockSpan| {
            let piece = (span.form, span.text.clone());
            there.contains(&piece) && !of_person.iter().all(|pieces| pieces.contains(&piece))
        };
        let repeats: Vec<_> = spans.iter().filter(is_repeat).map(|span| span.range.clone()).collect();
        if repeats.len() == spans.len() && !spans.is_empty() {
            cut.push(section.range());
        } else {
            let start = section.body_range().start;
            cut.extend(repeats.into_iter().map(|range| start + range.start..start + range.end));
        }
    }
    for range in cut.into_iter().rev() {
        text.replace_range(range, "");
    }
    text
}

#[cfg(test)]
mod tests;
