//! The newest first of what speaks of the same thing, among the memories of an answer.

use super::{Ranked, Ranking};
use crate::ids::MemoryId;
use crate::memory::{Memory, Scope, Trust};
use crate::supersession::{Dated, Placed, Statement, newest_first, updates};
use crate::workspace::WorkspaceId;

/// Longer contents are no statements about one thing, and are left where they are.
const STATEMENT_MAX_CHARS: usize = 1_000;

/// Whose a memory is, and of which kind: only within these does a newer one go before an older one.
type Owner<'a> = (Scope, &'a WorkspaceId, bool);

impl Ranking {
    /// Puts newer memories of the answer before the ones that they outdate, which then name the newest of them. `body`
    /// gives the memory of an id. Nothing is hidden, and nothing of lower trust or of another owner goes before.
    pub fn newest_first<'a>(&mut self, body: impl Fn(MemoryId) -> Option<&'a Memory>) {
        let compared: Vec<(usize, &Memory, Statement)> = (0..self.entries.len())
            .filter(|place| self.entries[*place].cut.is_none())
            .filter_map(|place| Some((place, body(self.entries[place].facts.id)?)))
            .filter(|(_, memory)| memory.content.chars().nth(STATEMENT_MAX_CHARS).is_none())
            .map(|(place, memory)| (place, memory, Statement::of(&memory.title, &memory.content)))
            .collect();
        let placed: Vec<Placed<'_, _, Owner<'_>>> = compared
            .iter()
            .map(|(place, memory, statement)| Placed {
                score: self.entries[*place].score.composite,
                at: memory.created_at,
                trust: memory.trust,
                owner: (memory.scope, &memory.workspace_id, memory.is_warning()),
                statement,
            })
            .collect();
        let shown = newest_first(&placed, &links(&placed));
        let moved: Vec<Ranked> = shown
            .order
            .iter()
            .map(|n| {
                let outdated_by = shown.outdated_by[*n].map(|newer| compared[newer].1.id);
                Ranked { outdated_by, ..self.entries[compared[*n].0].clone() }
            })
            .collect();
        for ((place, ..), entry) in compared.iter().zip(moved) {
            self.entries[*place] = entry;
        }
    }
}

/// The pairs of a newer and an older one that it updates, whatever their scores.
fn links(placed: &[Placed<'_, Trust, Owner<'_>>]) -> Vec<(usize, usize)> {
    let said = |n: usize| Dated { statement: placed[n].statement, at: placed[n].at };
    let pairs = (0..placed.len()).flat_map(|newer| (0..placed.len()).map(move |older| (newer, older)));
    pairs.filter(|(newer, older)| updates(said(*newer), said(*older)).is_some()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::confidence::Evidence;
    use crate::memory::Facts;
    use crate::memory::samples::{days_ago, id, strategy};
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
        Ranked { facts, evidence, score, cut, outdated_by: None }
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
    fn another_qualifier_a_lower_trust_and_another_owner_change_nothing() {
        let unchanged = |newer: Memory| {
            let memories = [said(1, 9, OLD), newer];
            assert_eq!(shown(&memories), [(id(1), None), (id(3), None)], "{:?}", memories[1]);
        };
        unchanged(said(3, 1, "On staging the service listens on port 9090."));
        unchanged(Memory { trust: Trust::Model, ..said(3, 1, NEW) });
        unchanged(Memory { scope: Scope::Team, ..said(3, 1, NEW) });
        unchanged(said(3, 1, &format!("{NEW} {}", "It is a long story. ".repeat(60))));
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
