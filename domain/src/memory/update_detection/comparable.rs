//! Comparable memories: which may speak of the same thing, and which of them a newer one updates.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use super::statement::names_several;
use super::{DatedStatement, OlderStatement, Statement, found, updates};
use crate::memory::ids::MemoryId;
use crate::memory::{Memory, normalised, replacement_problem};

/// The longest content, in characters, that is a statement about one thing.
const STATEMENT_MAX_CHARS: usize = 300;

/// The least share of the shorter content's words that two contents have in common where they are alike.
const LEAST_COMMON_WORDS: f64 = 0.5;
/// Code of fewer lines may say a value, such as `const PORT: u16 = 80;`.
const CODE_LEAST_LINES: usize = 3;
/// The most words of a content that is only a value. A longer one is a sentence.
const VALUE_MAX_WORDS: usize = 3;

/// A memory that may be compared with others. Its statement is read when it is first needed.
#[derive(Debug)]
pub struct ComparableMemory<'a> {
    pub memory: &'a Memory,
    words: BTreeSet<String>,
    stated: OnceCell<Stated>,
}

#[derive(Debug)]
struct Stated {
    with_title: Statement,
    by_content: Statement,
}

/// A memory that a newer one is compared with.
#[derive(Debug, Clone, Copy)]
pub struct OlderMemory<'a> {
    pub compared: &'a ComparableMemory<'a>,
    /// True where another memory updates this one already.
    pub is_outdated: bool,
}

impl<'a> ComparableMemory<'a> {
    /// Prepares a memory for comparison. None where its content is too long or is code, or where nobody knows when it
    /// was said, as for a copy in another scope that does not tell.
    pub fn of(memory: &'a Memory) -> Option<Self> {
        let is_datable = memory.valid_from.is_some() || !memory.is_copy();
        let is_short = memory.content.chars().nth(STATEMENT_MAX_CHARS).is_none();
        let words = memory.content.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        (is_datable && is_short && !is_code(&memory.content)).then(|| Self {
            memory,
            words: words.map(str::to_lowercase).collect(),
            stated: OnceCell::new(),
        })
    }

    fn stated(&self) -> &Stated {
        let Memory { title, content, .. } = self.memory;
        self.stated.get_or_init(|| Stated {
            with_title: match is_value(content) {
                true => Statement::of("", &format!("{title}: {content}")),
                false => Statement::of(title, content),
            },
            by_content: Statement::of("", content),
        })
    }

    fn dated<'s>(&self, statement: &'s Statement) -> DatedStatement<'s> {
        DatedStatement { statement, at: self.memory.said_at() }
    }

    /// Returns the words of its title that name one of several things: those with digits that the content does not
    /// have, such as `Case 2`. A title that repeats what the content says names nothing.
    fn names(&self) -> BTreeSet<String> {
        let words = self.memory.title.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
        words.filter(|word| word.contains(|c: char| c.is_ascii_digit()) && !self.words.contains(word)).collect()
    }

    /// Tells whether the contents are alike in their words. Reading statements takes time, so a search compares no
    /// others.
    pub fn shares_words(&self, other: &Self) -> bool {
        let common = self.words.intersection(&other.words).count();
        let shorter = self.words.len().min(other.words.len());
        common as f64 >= LEAST_COMMON_WORDS * shorter as f64
    }

    /// Tells whether both may speak of the same thing: about the same error, or about none, under titles that do not
    /// tell them apart. A pair that somebody undid is told apart, too.
    fn is_comparable(&self, older: &Self) -> bool {
        self.memory.signature() == older.memory.signature()
            && !older.memory.succession.stands_beside.contains(&self.memory.id)
            && !self.memory.succession.stands_beside.contains(&older.memory.id)
            && self.names() == older.names()
    }

    /// Finds the older memories that it updates, and returns their places with the confidence of each in 0..=1.
    ///
    /// Under the same title, a content may consist of a value alone. Under another one it has to update the other
    /// content by itself, and the titles must not contradict it.
    pub fn updates(&self, older: &[OlderMemory<'_>]) -> Vec<(usize, f64)> {
        let comparable = (0..older.len()).filter(|n| self.is_comparable(older[*n].compared));
        let (same, other): (Vec<usize>, Vec<usize>) = comparable.partition(|n| {
            let titles = [self, older[*n].compared].map(|compared| normalised(&compared.memory.title));
            titles[0] == titles[1]
        });
        let is_listed = |n: &usize| is_value(&self.memory.content) && is_value(&older[*n].compared.memory.content);
        let same: Vec<usize> =
            same.into_iter().filter(|n| !(names_several(&self.memory.title) && is_listed(n))).collect();
        let under_same_title = self.updates_by(|stated| &stated.with_title, older, &same);
        let by_content = self.updates_by(|stated| &stated.by_content, older, &other).into_iter();
        let under_other_title = by_content.filter_map(|(n, confidence)| {
            let (new, old) = (self.stated(), older[n].compared.stated());
            let with_title = updates(self.dated(&new.with_title), older[n].compared.dated(&old.with_title))?;
            Some((n, confidence.min(with_title)))
        });
        under_same_title.into_iter().chain(under_other_title).collect()
    }

    /// Finds the older memories that it updates among those at `places`. `read` gives the statement of each to compare.
    fn updates_by(
        &self,
        read: impl Fn(&Stated) -> &Statement,
        older: &[OlderMemory<'_>],
        places: &[usize],
    ) -> Vec<(usize, f64)> {
        if places.is_empty() {
            return Vec::new();
        }
        let neighbour = |place: &usize| {
            let OlderMemory { compared, is_outdated } = older[*place];
            OlderStatement { said: compared.dated(read(compared.stated())), is_outdated }
        };
        let neighbours: Vec<OlderStatement> = places.iter().map(neighbour).collect();
        let found = found(self.dated(read(self.stated())), &neighbours).into_iter();
        found.map(|(n, confidence)| (places[n], confidence)).collect()
    }
}

/// Tells whether a content is code of several lines, most of which end as no sentence does. Two functions may differ in
/// one name and do quite different things.
fn is_code(content: &str) -> bool {
    let lines = || content.lines().map(str::trim_end).filter(|line| !line.is_empty());
    let of_code = lines().filter(|line| line.ends_with(['{', '}', '(', ')', ';', ','])).count();
    // A list may have brackets and commas at the ends of its lines, and data in braces has values.
    let has_statements = !content.starts_with(['{', '[']) && lines().any(|line| line.ends_with(['{', '}', ';']));
    has_statements && lines().count() >= CODE_LEAST_LINES && 2 * of_code > lines().count()
}

/// Tells whether a content is only a value, such as `30 s`. The title then tells what it is the value of.
fn is_value(content: &str) -> bool {
    content.split_whitespace().count() <= VALUE_MAX_WORDS && !content.trim_end().ends_with(['.', '!', '?'])
}

/// The links of a memory that is about to be stored to those that are there, each with its confidence in 0..=1.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct UpdateLinks {
    /// The older memories that it updates.
    pub updates: Vec<(MemoryId, f64)>,
    /// The newest memory that updates it, as what is stored later may have been said before.
    pub updated_by: Option<(MemoryId, f64)>,
}

/// Finds the links between a memory and those that are stored for the same readers. A memory of lower trust updates
/// nothing.
pub fn links(memory: &Memory, stored: &[Memory]) -> UpdateLinks {
    let Some(own) = ComparableMemory::of(memory) else { return UpdateLinks::default() };
    let others: Vec<ComparableMemory> = stored.iter().filter_map(ComparableMemory::of).collect();
    let (older, newer): (Vec<&ComparableMemory>, Vec<&ComparableMemory>) =
        others.iter().partition(|other| other.memory.said_at() < memory.said_at());
    let outweighs = |newer: &Memory, older: &Memory| newer.trust >= older.trust;
    let older: Vec<OlderMemory> = older
        .into_iter()
        .filter(|older| outweighs(memory, older.memory))
        .map(|compared| OlderMemory { compared, is_outdated: compared.memory.linked_to().is_some() })
        .collect();
    let updates = own.updates(&older).into_iter();
    let updates = updates.map(|(n, confidence)| (older[n].compared.memory.id, confidence)).collect();
    let newest = newer
        .into_iter()
        .filter(|newer| outweighs(newer.memory, memory))
        .filter_map(|newer| {
            let found = newer.updates(&[OlderMemory { compared: &own, is_outdated: false }]);
            Some((newer.memory, found.first()?.1))
        })
        .max_by_key(|(newer, _)| (newer.said_at(), newer.id));
    UpdateLinks { updates, updated_by: newest.map(|(newer, confidence)| (newer.id, confidence)) }
}

/// The most memories that may be outdated that are told for one.
const POSSIBLY_OUTDATED_MAX: usize = 3;

/// Picks the memories that a memory may outdate although no rule links them, so that whoever recorded it can say so.
/// `stored` are its neighbours, the nearest first. A memory that something newer outdates already is not picked, and
/// neither is one that the memory cannot replace or that somebody said it stands beside.
pub fn possibly_outdated(memory: &Memory, stored: &[Memory]) -> Vec<Memory> {
    let is_open = |older: &&Memory| {
        older.linked_to().is_none()
            && older.said_at() <= memory.said_at()
            && !memory.succession.replaces.contains(&older.id)
            && !older.succession.stands_beside.contains(&memory.id)
            && replacement_problem(older, memory, false).is_none()
    };
    stored.iter().filter(is_open).take(POSSIBLY_OUTDATED_MAX).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Trust;
    use crate::memory::samples::{days_ago, id, strategy};

    fn said(n: u128, days: f64, content: &str) -> Memory {
        Memory { title: "Deployment".into(), content: content.into(), created_at: days_ago(days), ..strategy(n) }
    }

    const OLD: &str = "The service listens on port 8080.";
    const NEW: &str = "The service listens on port 9090.";

    fn ids(found: &[(MemoryId, f64)]) -> Vec<MemoryId> {
        found.iter().map(|(id, _)| *id).collect()
    }

    #[test]
    fn a_new_memory_updates_what_was_said_before_and_is_updated_by_what_was_said_since() {
        let stored = [said(1, 9.0, OLD), said(2, 9.0, "Releases are cut on Friday.")];
        let newer = links(&said(3, 1.0, NEW), &stored);
        assert_eq!((ids(&newer.updates), newer.updated_by), (vec![id(1)], None));
        let stored_later = Memory { valid_from: Some(days_ago(20.0)), ..said(3, 0.0, NEW) };
        let older = links(&stored_later, &stored);
        assert_eq!((ids(&older.updates), older.updated_by.map(|(id, _)| id)), (vec![], Some(id(1))));
    }

    #[test]
    fn numbers_of_titles_tell_things_apart_unless_they_are_what_changed() {
        let titled = |n, days, title: &str, content: &str| Memory { title: title.into(), ..said(n, days, content) };
        let repeated = titled(1, 9.0, "Port 8080 for the service", OLD);
        assert_eq!(ids(&links(&titled(3, 1.0, "Port 9090 for the service", NEW), &[repeated]).updates), [id(1)]);
        let numbered = titled(1, 9.0, "Case 1", OLD);
        assert_eq!(links(&titled(3, 1.0, "Case 2", NEW), &[numbered]), UpdateLinks::default());
    }

    #[test]
    fn a_function_does_not_update_another_one_and_a_constant_does() {
        let flag = |name: &str| format!("fn {name}(self, yes: bool) -> Self {{\n    self.set(Flag::{name}, yes)\n}}");
        assert_eq!(links(&said(3, 1.0, &flag("last")), &[said(1, 9.0, &flag("first"))]), UpdateLinks::default());
        let list = |n: u16| format!("Staging listens on {n} (HTTP)\nThe wiki on 443 (TLS)\nMetrics on 9100 (internal)");
        assert_eq!(ids(&links(&said(3, 1.0, &list(90)), &[said(1, 9.0, &list(80))]).updates), [id(1)]);
        let port = |n: u16| format!("The file has `const PORT: u16 = {n};`.");
        assert_eq!(ids(&links(&said(3, 1.0, &port(90)), &[said(1, 9.0, &port(80))]).updates), [id(1)]);
    }

    #[test]
    fn under_the_same_title_a_value_says_enough_unless_the_title_names_several_things() {
        let told = |n, days, title: &str, content: &str| Memory { title: title.into(), ..said(n, days, content) };
        let updates = |title: &str, old: &str, new: &str| {
            links(&told(3, 1.0, title, new), &[told(1, 9.0, title, old)]).updates.len()
        };
        assert_eq!(updates("Issue tracker", "Jira", "Linear"), 1);
        assert_eq!(updates("Token lifetime", "15 minutes", "1 hour"), 1);
        assert_eq!(updates("Open ports of the gateway", "8080", "9090"), 0);
        assert_eq!(
            links(&told(3, 1.0, "Wiki", "Linear"), &[told(1, 9.0, "Issue tracker", "Jira")]),
            UpdateLinks::default()
        );
    }

    #[test]
    fn what_has_a_newer_one_was_undone_or_is_trusted_more_is_not_updated() {
        let old = said(1, 9.0, OLD);
        for stored in [
            old.linked(id(2), 0.9).unwrap(),
            old.reinstated(Some(id(3))).unwrap(),
            Memory { trust: Trust::User, ..old.clone() },
        ] {
            assert_eq!(links(&said(3, 1.0, NEW), &[stored]), UpdateLinks::default());
        }
        assert_eq!(ids(&links(&said(3, 1.0, NEW), &[old]).updates), [id(1)]);
    }

    #[test]
    fn possibly_outdated_is_what_is_near_and_could_be_replaced_by_the_word_of_its_author() {
        let memory = said(9, 1.0, "Customers are logged out after an hour.").replacing(id(1));
        let of = |n, change: fn(&mut Memory)| {
            let mut older = said(n, 9.0, "A session expires after 30 minutes.");
            change(&mut older);
            older
        };
        let trusted = Memory { trust: Trust::User, ..of(2, |_| {}) };
        let stored = [
            of(1, |_| {}),
            trusted,
            of(3, |older| older.succession.stands_beside.push(id(9))),
            of(4, |_| {}).linked(id(8), 0.9).unwrap(),
            said(5, 0.0, "A session expires after 30 minutes."),
            of(6, |_| {}),
            of(7, |_| {}),
            of(10, |_| {}),
            of(11, |_| {}),
        ];
        let picked: Vec<MemoryId> = possibly_outdated(&memory, &stored).iter().map(|memory| memory.id).collect();
        assert_eq!(picked, [id(6), id(7), id(10)]);
    }
}
