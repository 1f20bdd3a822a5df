use proptest::prelude::*;

use super::*;
use crate::memory::samples::{id, now, strategy, warning};

fn member(memory: &Memory) -> Member {
    Member::new(memory, &Evidence::default(), now())
}

fn child(n: u128, parent: Option<u128>, derived_from: &[u128]) -> Memory {
    Memory {
        parent_memory_id: parent.map(id),
        derived_from: derived_from.iter().map(|n| id(*n)).collect(),
        ..strategy(n)
    }
}

fn ids(nodes: &[Node]) -> Vec<MemoryId> {
    nodes.iter().map(|node| node.id).collect()
}

/// A family of seven memories: 1 and 2 made 3 (1 its parent); 3 made 4 and 5; 6 came from 2 alone; 4 and 5 made 7.
fn family() -> Vec<Member> {
    let merged = Memory { source_type: SourceType::Consolidated, ..child(7, None, &[4, 5]) };
    let family = [
        strategy(1),
        warning(2),
        child(3, Some(1), &[1, 2]),
        child(4, Some(3), &[3]),
        child(5, None, &[3]),
        child(6, Some(2), &[]),
        merged,
    ];
    family.iter().map(member).collect()
}

#[test]
fn ancestors_and_descendants_are_those_of_the_one_asked_for() {
    let genealogy = Genealogy::of(id(3), family(), false).unwrap();
    assert_eq!(genealogy.memory.id, id(3));
    assert_eq!(ids(&genealogy.ancestors), [id(1), id(2)]);
    assert_eq!(ids(&genealogy.descendants), [id(4), id(5), id(7)]);
    assert_eq!(ids(&genealogy.relatives), [id(6)], "of the same source");
    let edge = |from: u128, to: u128, kind| Edge { from: id(from), to: id(to), kind };
    let expected = [
        edge(1, 3, EdgeKind::Parent),
        edge(2, 3, EdgeKind::Derived),
        edge(2, 6, EdgeKind::Parent),
        edge(3, 4, EdgeKind::Parent),
        edge(3, 5, EdgeKind::Derived),
        edge(4, 7, EdgeKind::Consolidated),
        edge(5, 7, EdgeKind::Consolidated),
    ];
    assert_eq!(genealogy.edges, expected);
    assert_eq!(Genealogy::of(id(99), family(), false), None);
}

#[test]
fn it_is_drawn_as_text_and_as_graphs() {
    let genealogy = Genealogy::of(id(3), family(), true).unwrap();
    insta::assert_snapshot!("tree", genealogy.tree);
    insta::assert_snapshot!("dot", genealogy.dot());
    insta::assert_snapshot!("mermaid", genealogy.mermaid());
}

#[test]
fn a_source_that_is_not_known_is_left_out() {
    let genealogy = Genealogy::of(id(3), vec![member(&child(3, Some(1), &[1, 2]))], false).unwrap();
    assert!(genealogy.ancestors.is_empty() && genealogy.edges.is_empty());
}

#[test]
fn a_title_stays_a_label() {
    let evil = Memory { title: "a\"]; m0 --> x[\"\n\\\" <script>\u{1b}[2J`|end|".into(), ..strategy(1) };
    let genealogy = Genealogy::of(id(1), vec![member(&evil)], false).unwrap();
    assert_eq!(genealogy.tree.lines().count(), 1);
    assert!(!genealogy.tree.contains('\u{1b}'));
    let dot = genealogy.dot();
    assert!(dot.contains(r#"[label="a\"]; m0 --> x[\" \\\" <script> [2J`|end|", style=bold];"#), "{dot}");
    let mermaid = genealogy.mermaid();
    assert_eq!(mermaid.lines().count(), 3, "{mermaid}");
    let label = mermaid.lines().nth(1).unwrap().strip_prefix("  m0[\"").unwrap().strip_suffix("\"]").unwrap();
    assert!(!label.contains(['"', '<', '>', '[', ']', '|', '`']), "{label}");
}

#[test]
fn a_long_line_of_descent_is_drawn_in_little_space() {
    let chain: Vec<Member> = (1..=5_000).map(|n| member(&child(n, (n > 1).then(|| n - 1), &[]))).collect();
    let genealogy = Genealogy::of(id(1), chain, false).unwrap();
    assert_eq!(genealogy.tree.lines().count(), 5_000);
    assert!(genealogy.tree.len() < 5_000 * 300, "{}", genealogy.tree.len());
    assert!(genealogy.tree.contains("[level 4999] Strategy 5000"));
}

/// Makes any relations whatever, cycles and memories that name themselves among them.
fn relations() -> impl Strategy<Value = Vec<Member>> {
    prop::collection::vec((prop::option::of(0u128..12), prop::collection::vec(0u128..12, 0..4)), 1..12).prop_map(
        |relations| {
            let memory = |(n, (parent, sources)): (usize, (Option<u128>, Vec<u128>))| {
                member(&child(n as u128, parent, &sources))
            };
            relations.into_iter().enumerate().map(memory).collect()
        },
    )
}

proptest! {
    #[test]
    fn whatever_the_relations_everyone_is_met_once_and_drawn(members in relations()) {
        let known: BTreeSet<MemoryId> = members.iter().map(|member| member.node.id).collect();
        let genealogy = Genealogy::of(id(0), members, false).unwrap();
        let nodes: Vec<MemoryId> = genealogy.nodes().map(|node| node.id).collect();
        let distinct: BTreeSet<MemoryId> = nodes.iter().copied().collect();
        prop_assert_eq!(nodes.len(), distinct.len());
        prop_assert!(distinct.is_subset(&known));
        for edge in &genealogy.edges {
            prop_assert!(distinct.contains(&edge.from) && distinct.contains(&edge.to) && edge.from != edge.to);
        }
        for node in &nodes {
            let whole = genealogy.tree.lines().filter(|line| line.ends_with(&node.to_string())).count();
            prop_assert_eq!(whole, 1, "{}\n{}", node, genealogy.tree);
        }
        prop_assert_eq!(genealogy.tree.lines().filter(|line| line.contains("* ")).count() >= 1, true);
    }

    #[test]
    fn the_order_in_which_they_are_loaded_does_not_matter(members in relations().prop_shuffle(), reversed in any::<bool>()) {
        let Some(first) = members.iter().map(|member| member.node.id).min() else { return Ok(()) };
        let mut other = members.clone();
        if reversed { other.reverse() } else { other.sort_by_key(|member| member.node.id) }
        prop_assert_eq!(Genealogy::of(first, members, false), Genealogy::of(first, other, false));
    }

    #[test]
    fn an_edge_leads_from_an_ancestor_towards_the_one_asked_for(members in relations()) {
        let genealogy = Genealogy::of(id(0), members, false).unwrap();
        for node in &genealogy.ancestors {
            let leads = genealogy.edges.iter().any(|edge| edge.from == node.id);
            prop_assert!(leads, "{:?} leads nowhere", node.id);
        }
        for node in &genealogy.descendants {
            prop_assert!(genealogy.edges.iter().any(|edge| edge.to == node.id));
        }
    }
}
