//! The order of an answer in which the newest of what speaks of the same thing comes first.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use super::{Ranked, Ranking};
use crate::ids::MemoryId;
use crate::memory::{Memory, Scope};
use crate::promotion::is_copy;
use crate::supersession::{Dated, Neighbour, Placed, Statement, found, newest_first, updates};

/// The first memories of an answer that are compared.
const COMPARED_MAX: usize = 10;
/// A longer content is no statement about one thing, and stays where it is.
const STATEMENT_MAX_CHARS: usize = 300;
/// Contents that share less of their words, by the shorter one, are not compared: reading statements takes its time, and
/// most answers speak of several things.
const LEAST_COMMON_WORDS: f64 = 0.5;

/// A memory of an answer that may be compared with others.
struct Compared<'a> {
    /// Where it stands in the ranking.
    place: usize,
    memory: &'a Memory,
    words: BTreeSet<String>,
    stated: OnceCell<Stated>,
}

/// What a memory states.
struct Stated {
    with_title: Statement,
    by_content: Statement,
}

impl<'a> Compared<'a> {
    fn new(place: usize, memory: &'a Memory) -> Self {
        let words = memory.content.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        Self { place, memory, words: words.map(str::to_lowercase).collect(), stated: OnceCell::new() }
    }

    /// Nobody knows when the words were said of a memory that was changed, or copied to another scope.
    fn is_datable(memory: &Memory) -> bool {
        memory.revision == 1 && !is_copy(memory)
    }

    fn stated(&self) -> &Stated {
        let Memory { title, content, .. } = self.memory;
        self.stated.get_or_init(|| Stated {
            with_title: Statement::of(title, content),
            by_content: Statement::of("", content),
        })
    }

    fn dated<'s>(&self, statement: &'s Statement) -> Dated<'s> {
        Dated { statement, at: self.memory.created_at }
    }

    /// Whether both may speak of the same thing: about the same error, or about none, in words that are alike, under
    /// titles with the same numbers. Numbered titles name things that are told apart.
    fn is_comparable(&self, other: &Self) -> bool {
        let numbers = |memory: &'a Memory| {
            let words = memory.title.split(|c: char| !c.is_alphanumeric());
            words.filter(|word| word.contains(|c: char| c.is_ascii_digit())).collect::<Vec<_>>()
        };
        let (common, shorter) =
            (self.words.intersection(&other.words).count(), self.words.len().min(other.words.len()));
        common as f64 >= LEAST_COMMON_WORDS * shorter as f64
            && self.memory.signature() == other.memory.signature()
            && numbers(self.memory) == numbers(other.memory)
    }

    /// Whose memory it is: the workspace's, the team's or the organisation's.
    fn owner(&self) -> (Scope, Option<&str>) {
        let Memory { scope, workspace_id, team, org, .. } = self.memory;
        let name = match scope {
            Scope::Project => Some(workspace_id.as_str()),
            Scope::Team => team.as_deref(),
            Scope::Org => org.as_deref(),
        };
        (*scope, name)
    }
}

impl Ranking {
    /// Puts newer memories of the answer before the ones that they outdate, which then name the newest of them. `body`
    /// gives the memory of an id. Nothing is hidden. A memory of lower trust or of another owner goes before none; the one
    /// that it contradicts names it.
    pub fn newest_first<'a>(&mut self, body: impl Fn(MemoryId) -> Option<&'a Memory>) {
        let compared: Vec<Compared> = (0..self.entries.len())
            .filter(|place| self.entries[*place].cut.is_none())
            .take(COMPARED_MAX)
            .filter_map(|place| Some((place, body(self.entries[place].facts.id)?)))
            .filter(|(_, memory)| Compared::is_datable(memory))
            .filter(|(_, memory)| memory.content.chars().nth(STATEMENT_MAX_CHARS).is_none())
            .map(|(place, memory)| Compared::new(place, memory))
            .collect();
        let placed: Vec<_> = compared
            .iter()
            .map(|one| Placed { at: one.memory.created_at, trust: one.memory.trust, owner: one.owner() })
            .collect();
        let shown = newest_first(&placed, &links(&compared));
        let id = |n: Option<usize>| n.map(|n| compared[n].memory.id);
        let marked = |n: &usize| Ranked {
            outdated_by: id(shown.outdated_by[*n]),
            contested_by: id(shown.contested_by[*n]),
            ..self.entries[compared[*n].place].clone()
        };
        let moved: Vec<Ranked> = shown.order.iter().map(marked).collect();
        for (one, entry) in compared.iter().zip(moved) {
            self.entries[one.place] = entry;
        }
    }
}

/// The pairs of a newer memory and an older one that it updates, by its content alone and with its title, found as if they
/// had come one after another.
fn links(compared: &[Compared]) -> Vec<(usize, usize)> {
    let mut by_time: Vec<usize> = (0..compared.len()).collect();
    by_time.sort_by_key(|n| compared[*n].memory.created_at);
    let mut is_outdated = vec![false; compared.len()];
    let mut links = Vec::new();
    for (count, newer) in by_time.iter().copied().enumerate() {
        let new = &compared[newer];
        let older: Vec<usize> = by_time[..count].iter().copied().filter(|n| new.is_comparable(&compared[*n])).collect();
        let neighbour = |n: &usize| {
            let old = &compared[*n];
            Neighbour { said: old.dated(&old.stated().by_content), is_outdated: is_outdated[*n] }
        };
        if older.is_empty() {
            continue;
        }
        let neighbours: Vec<Neighbour> = older.iter().map(neighbour).collect();
        for (place, _) in found(new.dated(&new.stated().by_content), &neighbours) {
            let old = &compared[older[place]];
            if updates(new.dated(&new.stated().with_title), old.dated(&old.stated().with_title)).is_some() {
                is_outdated[older[place]] = true;
                links.push((newer, older[place]));
            }
        }
    }
    links
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::confidence::Evidence;
    use crate::memory::Trust;
    use crate::memory::samples::{days_ago, id, strategy, warning};
    use crate::memory::{ErrorContext, Facts};
    use crate::ranking::Cut;
    use crate::score::{Asked, Profile, score};

    fn said(n: u128, days: i64, content: &str) -> Memory {
        let (title, created_at) = ("Deployment".to_owned(), days_ago(days as f64));
        Memory { title, content: content.into(), created_at, ..strategy(n) }
    }

    fn entry(memory: &Memory, cut: Option<Cut>) -> Ranked {
        let now = days_ago(0.0);
        let asked = Asked { now, signature: None, domain: None, majority_domain: None, mentions_error: false };
        let (facts, evidence) = (Facts::from(memory), Evidence::default());
        let score = score(&Profile::default(), &asked, &facts, &evidence, &Default::default());
        Ranked { facts, evidence, score, cut, outdated_by: None, contested_by: None }
    }

    /// The answer for these memories, best first, with what outdates each.
    fn shown(memories: &[Memory]) -> Vec<(MemoryId, Option<MemoryId>)> {
        let entries = memories.iter().map(|memory| entry(memory, None)).collect();
        let mut ranking = Ranking { entries, domain: None };
        ranking.newest_first(|id| memories.iter().find(|memory| memory.id == id));
        ranking.kept().map(|entry| (entry.facts.id, entry.outdated_by)).collect()
    }

    const OLD: &str = "The service listens on port 8080.";
    const NEW: &str = "The service listens on port 9090.";

    #[test]
    fn a_newer_value_goes_before_the_one_that_it_outdates() {
        let other = said(2, 5, "Releases are cut on Friday.");
        let memories = [said(1, 9, OLD), other, said(3, 1, NEW)];
        assert_eq!(shown(&memories), [(id(3), None), (id(1), Some(id(3))), (id(2), None)]);
        let in_order = [said(3, 1, NEW), said(1, 9, OLD)];
        assert_eq!(shown(&in_order), [(id(3), None), (id(1), Some(id(3)))]);
    }

    #[test]
    fn another_qualifier_a_change_since_and_a_long_text_change_nothing() {
        let unchanged = |newer: Memory| {
            let memories = [said(1, 9, OLD), newer];
            assert_eq!(shown(&memories), [(id(1), None), (id(3), None)], "{:?}", memories[1]);
        };
        unchanged(said(3, 1, "On staging the service listens on port 9090."));
        unchanged(Memory { revision: 2, ..said(3, 1, NEW) });
        unchanged(said(3, 1, &format!("{NEW} {}", "It is a long story. ".repeat(60))));
    }

    #[test]
    fn a_lower_trust_and_another_owner_are_shown_beside_it() {
        let contested = |newer: Memory| {
            let memories = [said(1, 9, OLD), newer];
            let mut ranking =
                Ranking { entries: memories.iter().map(|memory| entry(memory, None)).collect(), domain: None };
            ranking.newest_first(|id| memories.iter().find(|memory| memory.id == id));
            let shown = ranking.kept().map(|entry| (entry.facts.id, entry.outdated_by, entry.contested_by));
            assert_eq!(shown.collect::<Vec<_>>(), [(id(1), None, Some(id(3))), (id(3), None, None)]);
        };
        contested(Memory { trust: Trust::Model, ..said(3, 1, NEW) });
        contested(Memory { scope: Scope::Team, ..said(3, 1, NEW) });
    }

    #[test]
    fn an_attribute_with_several_values_is_left_as_it_is() {
        let memories = [said(1, 9, "The port is 80."), said(2, 9, "The port is 81."), said(3, 1, "The port is 82.")];
        assert!(shown(&memories).iter().all(|(_, outdated_by)| outdated_by.is_none()));
    }

    #[test]
    fn numbered_titles_and_other_errors_are_told_apart() {
        let titled =
            |n: u128, days: i64, title: &str, content: &str| Memory { title: title.into(), ..said(n, days, content) };
        let unmoved = |memories: [Memory; 2]| {
            assert_eq!(shown(&memories), [(id(1), None), (id(3), None)], "{memories:?}");
        };
        unmoved([titled(1, 9, "Case 1", "The answer is 3."), titled(3, 1, "Case 2", "The answer is 4.")]);
        unmoved([titled(1, 9, "Case 1", "zebra"), titled(3, 1, "Case 2", "Parse the answer of the server.")]);
        let warns = |memory: Memory, error_type: &str| {
            let error_context =
                warning(1).error_context.map(|error| ErrorContext { error_type: error_type.into(), ..error });
            Memory { error_context, ..memory }
        };
        unmoved([warns(said(1, 9, OLD), "KeyError"), warns(said(3, 1, NEW), "ValueError")]);
    }

    #[test]
    fn what_is_cut_stays_where_it_is() {
        let memories = [said(1, 9, OLD), said(2, 5, "Releases are cut on Friday."), said(3, 1, NEW)];
        let cut = Some(Cut::BeyondN { n: 1 });
        let entries = vec![entry(&memories[0], None), entry(&memories[1], cut), entry(&memories[2], None)];
        let mut ranking = Ranking { entries, domain: None };
        ranking.newest_first(|id| memories.iter().find(|memory| memory.id == id));
        assert_eq!(ranking.entries.iter().map(|entry| entry.facts.id).collect::<Vec<_>>(), [id(3), id(2), id(1)]);
    }
}
