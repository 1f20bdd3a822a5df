use std::collections::HashSet;

use proptest::prelude::*;

use super::*;
use crate::memory::MemoryOutcome;
use crate::memory::samples::{days_ago, id, now, strategy, trace, warning};
use crate::memory::signal::SignalKind;
use crate::retrieval::candidates::over_fetch;
use crate::retrieval::fusion::RankedList;
use crate::retrieval::score::{ProfileName, Weights};

const PROFILES: [ProfileName; 4] =
    [ProfileName::Composite, ProfileName::Paper, ProfileName::Cascade, ProfileName::Episodic];

fn asked() -> QueryContext {
    QueryContext {
        now: now(),
        signature: None,
        domain: None,
        majority_domain: None,
        mentions_error: false,
        compares_meaning: true,
    }
}

/// Returns memories with a cosine each, as a search by vector alone finds them.
fn by_vector(memories: &[(Memory, f64)]) -> Candidates {
    Candidates {
        vector: Some(RankedList {
            hits: memories.iter().map(|(memory, cosine)| (memory.id, *cosine)).collect(),
            truncated: false,
        }),
        text: None,
        facts: memories.iter().map(|(memory, _)| (Facts::from(memory), Evidence::default())).collect(),
        ..Candidates::default()
    }
}

fn ids(ranked: &[Ranked]) -> Vec<MemoryId> {
    ranked.iter().map(|entry| entry.facts.id).collect()
}

fn kept(ranking: &Ranking) -> Vec<MemoryId> {
    ranking.kept().map(|entry| entry.facts.id).collect()
}

fn cuts(ranking: &Ranking) -> Vec<(MemoryId, Option<Cut>)> {
    ranking.entries.iter().map(|entry| (entry.facts.id, entry.cut)).collect()
}

fn ranking(candidates: Candidates) -> Ranking {
    Ranking::of(candidates, &asked(), &Profile::default())
}

/// The answer of everything that may be in it.
fn rank(candidates: Candidates, asked: &QueryContext, profile: &Profile) -> Vec<Ranked> {
    Ranking::of(candidates, asked, profile).into_kept().collect()
}

fn rank_default(candidates: Candidates) -> Vec<Ranked> {
    rank(candidates, &asked(), &Profile::default())
}

/// The first `n` of these memories, as far as they fit into `max` tokens; the first is the best.
fn cut(memories: &[Memory], n: usize, max: Option<usize>) -> Ranking {
    let found: Vec<(Memory, f64)> =
        memories.iter().enumerate().map(|(at, memory)| (memory.clone(), 0.9 - 0.01 * at as f64)).collect();
    let mut ranking = ranking(by_vector(&found));
    ranking.shorten(n, None, WarningPlacement::Within);
    ranking.fit(max, |id| memories.iter().find(|memory| memory.id == id));
    ranking
}

#[test]
fn four_times_the_answer_is_fetched_and_never_less_than_fifty() {
    assert_eq!([1, 5, 20, 21, 50].map(over_fetch), [80, 80, 80, 84, 200]);
}

#[test]
fn the_best_comes_first_and_ties_go_by_id() {
    let ranked = rank_default(by_vector(&[(strategy(3), 0.6), (strategy(2), 0.6), (strategy(1), 0.2)]));
    assert_eq!(ids(&ranked), [id(2), id(3), id(1)]);
}

#[test]
fn what_an_answer_leaves_out_by_default_stays_and_is_noted() {
    let mut ranking = ranking(by_vector(&[1, 2, 3, 4].map(|n| (strategy(n), 1.0 - 0.1 * n as f64))));
    for (entry, relevance) in ranking.entries.iter_mut().zip([0.9, 0.5, 0.4, 0.1]) {
        (entry.relevance, entry.relevance_of_text) = (relevance, relevance);
    }
    ranking.note_spared(0.3);
    let spared: Vec<Option<Cut>> = ranking.kept().map(|entry| entry.spared).collect();
    let rules = [Cut::FarBelowBest { best: 0.9 }, Cut::BelowRelevance { least: 0.3 }];
    assert_eq!(spared, [None, None, Some(rules[0]), Some(rules[1])]);
}

#[test]
fn beside_a_warning_of_the_very_error_stays_what_is_not_far_below_its_text() {
    let mut ranking = ranking(by_vector(&[1, 2, 3].map(|n| (strategy(n), 1.0 - 0.1 * n as f64))));
    for (entry, (relevance, of_text)) in ranking.entries.iter_mut().zip([(1.0, 0.5), (0.3, 0.3), (0.2, 0.2)]) {
        (entry.relevance, entry.relevance_of_text) = (relevance, of_text);
    }
    ranking.cut_far_below_best();
    assert_eq!(kept(&ranking), [id(1), id(2)]);
}

#[test]
fn the_same_words_in_several_scopes_are_told_once_by_the_narrowest() {
    let copy = |n: u128, scope: Scope| Memory { title: "Same".into(), content: "Words".into(), scope, ..strategy(n) };
    let wide_is_better = [(copy(1, Scope::Org), 0.9), (copy(2, Scope::Team), 0.8), (copy(3, Scope::Project), 0.3)];
    assert_eq!(ids(&rank_default(by_vector(&wide_is_better))), [id(3)]);
    assert_eq!(ids(&rank_default(by_vector(&wide_is_better[..2]))), [id(2)]);
    let told = Some(Cut::Duplicate { of: id(3) });
    assert_eq!(cuts(&ranking(by_vector(&wide_is_better))), [(id(2), told), (id(1), told), (id(3), None)]);
}

#[test]
fn of_equal_words_in_one_scope_the_better_stays() {
    let same = |n: u128, days: f64| Memory {
        title: "Same".into(),
        content: "Words".into(),
        created_at: days_ago(days),
        ..strategy(n)
    };
    assert_eq!(ids(&rank_default(by_vector(&[(same(1, 90.0), 0.5), (same(2, 1.0), 0.5)]))), [id(2)]);
}

#[test]
fn without_a_domain_asked_for_that_of_most_of_the_best_is_taken() {
    let of = |n: u128, domain: &str| Memory { domain_category: Some(domain.into()), ..strategy(n) };
    let mut candidates =
        vec![(of(1, "Parsing"), 0.9), (of(2, "parsing"), 0.9), (of(3, "network"), 0.9), (strategy(4), 0.9)];
    let parser = Memory { error_context: warning(5).error_context, ..of(5, "parsing") };
    candidates.push((parser, 0.5));
    let error_of_5 = |candidates: &[(Memory, f64)]| {
        let ranked = rank_default(by_vector(candidates));
        ranked.iter().find(|entry| entry.facts.id == id(5)).unwrap().score.error_context
    };
    assert_eq!(error_of_5(&candidates), 0.5);
    candidates[0].0.domain_category = Some("network".into());
    candidates[1].0.domain_category = Some("storage".into());
    assert_eq!(error_of_5(&candidates), 0.0, "no domain has more than half");
}

#[test]
fn a_candidate_in_no_list_is_kept_with_no_similarity() {
    let mut candidates = by_vector(&[(strategy(1), 0.9)]);
    candidates.facts.push((Facts::from(&strategy(2)), Evidence::default()));
    let ranked = rank_default(candidates);
    assert_eq!(ids(&ranked), [id(1), id(2)]);
    assert_eq!(ranked[1].score.similarity, 0.0);
}

#[test]
fn warnings_of_the_error_that_is_asked_for_come_before_better_ones() {
    let of = |n: u128, error_type: &str| {
        let mut memory = Memory { id: id(n), title: format!("Warning {n}"), ..warning(n) };
        if let Some(error) = &mut memory.error_context {
            error.error_type = error_type.into();
        }
        memory
    };
    let candidates = by_vector(&[
        (of(1, "KeyError"), 0.9),
        (of(2, "ValueError"), 0.1),
        (strategy(3), 0.8),
        (of(4, "builtins.ValueError"), 0.3),
    ]);
    let mut ranking = ranking(candidates);
    assert_eq!(kept(&ranking), [1, 3, 4, 2].map(id));
    ranking.matching_first(&Signature::of("ValueError: bad literal", None));
    assert_eq!(kept(&ranking), [4, 2, 1, 3].map(id));
}

#[test]
fn an_answer_is_cut_at_n() {
    let memories: Vec<Memory> = (1..=5).map(strategy).collect();
    let beyond = Some(Cut::BeyondN { n: 3 });
    let expected = [(1, None), (2, None), (3, None), (4, beyond), (5, beyond)].map(|(n, cut)| (id(n), cut));
    assert_eq!(cuts(&cut(&memories, 3, None)), expected);
    assert_eq!(kept(&cut(&memories, 9, None)), [1, 2, 3, 4, 5].map(id));
}

#[test]
fn an_answer_is_cut_before_the_first_that_does_not_fit_its_tokens() {
    let mut memories: Vec<Memory> = (1..=4).map(strategy).collect();
    memories[2].content = "word ".repeat(500);
    let small = tokens::estimate(&memories[0].format_for_prompt());
    let kept = |max| kept(&cut(&memories, 10, Some(max))).len();
    assert_eq!(kept(0), 0);
    assert_eq!(kept(small - 1), 0);
    assert_eq!(kept(small), 1);
    assert_eq!(kept(4 * small), 2, "nothing worse takes the place of what is too long");
    let over = Some(Cut::OverTokens { max: 4 * small });
    assert_eq!(cuts(&cut(&memories, 10, Some(4 * small)))[2..], [(id(3), over), (id(4), over)]);
}

#[test]
fn what_has_no_body_any_more_is_not_told() {
    let memories: Vec<Memory> = (1..=3).map(strategy).collect();
    let mut ranking = ranking(by_vector(&memories.iter().cloned().map(|memory| (memory, 0.5)).collect::<Vec<_>>()));
    ranking.fit(None, |id| memories.iter().find(|memory| memory.id == id && memory.title != "Strategy 2"));
    assert_eq!(cuts(&ranking), [(id(1), None), (id(2), Some(Cut::Gone)), (id(3), None)]);
}

#[test]
fn what_is_less_certain_than_asked_for_is_cut_before_the_answer_is_shortened() {
    let prior = |n: u128, prior: f64| Memory { prior, pinned: true, ..strategy(n) };
    let found = [(prior(1, 0.3), 0.9), (prior(2, 0.8), 0.6), (prior(3, 0.7), 0.5)];
    let mut ranking = ranking(by_vector(&found));
    ranking.require_confidence(0.7);
    ranking.shorten(1, None, WarningPlacement::Within);
    let by_id: BTreeMap<MemoryId, Option<Cut>> = cuts(&ranking).into_iter().collect();
    let expected = [None, Some(Cut::BelowConfidence { least: 0.7 }), Some(Cut::BeyondN { n: 1 })];
    assert_eq!([2, 1, 3].map(|n| by_id[&id(n)]), expected);
}

#[test]
fn of_the_best_trace_all_are_kept_and_nothing_else() {
    let of = |n: u128, of: Option<u128>| Memory { trace_id: of.map(trace), ..strategy(n) };
    let found = [(of(1, Some(7)), 0.9), (of(2, Some(8)), 0.8), (of(3, Some(7)), 0.2), (of(4, None), 0.1)];
    let mut first = ranking(by_vector(&found));
    assert_eq!(first.best_trace(), Some(trace(7)));
    first.keep_best_trace();
    let other = Some(Cut::NotOfBestTrace { best: id(1) });
    assert_eq!(cuts(&first), [(id(1), None), (id(2), other), (id(3), None), (id(4), other)]);

    let alone = [(of(1, None), 0.9), (of(2, None), 0.8), (of(3, Some(7)), 0.2)];
    let mut alone = ranking(by_vector(&alone));
    alone.keep_best_trace();
    assert_eq!((alone.best_trace(), kept(&alone)), (None, vec![id(1)]), "no trace is a trace of its own");
    let mut nothing = Ranking::default();
    nothing.keep_best_trace();
    assert_eq!(nothing, Ranking::default());
}

#[test]
fn the_domain_that_counted_is_told() {
    let of = |n: u128| Memory { domain_category: Some("Parsing".into()), ..strategy(n) };
    let found = by_vector(&[(of(1), 0.9), (of(2), 0.8)]);
    assert_eq!(ranking(found.clone()).domain.as_deref(), Some("parsing"));
    let named = QueryContext { domain: Some("network".into()), ..asked() };
    assert_eq!(Ranking::of(found, &named, &Profile::default()).domain.as_deref(), Some("network"));
}

fn any_memory() -> impl Strategy<Value = (u128, Scope, f64, bool, Option<&'static str>)> {
    (
        0u128..6,
        prop::sample::select(vec![Scope::Project, Scope::Team, Scope::Org]),
        0.0..900.0f64,
        any::<bool>(),
        prop::option::of(prop::sample::select(vec!["parsing", "network"])),
    )
}

/// Makes up to a dozen candidates, some with the same words, some in one list only, with votes.
fn any_candidates() -> impl Strategy<Value = Candidates> {
    let one = (any_memory(), prop::option::of(-0.2..1.0f64), prop::option::of(0.0..20.0f64), 0usize..4, 0usize..4);
    (prop::collection::vec(one, 1..12), any::<bool>(), any::<bool>(), any::<bool>()).prop_map(
        |(all, has_vector, has_text, truncated)| {
            let mut vector = RankedList { truncated, ..RankedList::default() };
            let mut text = RankedList { truncated, ..RankedList::default() };
            let mut facts = Vec::new();
            for (n, ((words, scope, days, warns, domain), cosine, bm25, helpful, not)) in all.into_iter().enumerate() {
                let n = n as u128 + 1;
                let memory = Memory {
                    title: format!("Title {words}"),
                    content: "Content".into(),
                    scope,
                    created_at: days_ago(days),
                    domain_category: domain.map(str::to_owned),
                    ..if warns { warning(n) } else { strategy(n) }
                };
                let mut evidence = Evidence::default();
                (0..helpful).for_each(|_| evidence.add(SignalKind::Helpful, days_ago(days / 2.0)));
                (0..not).for_each(|_| evidence.add(SignalKind::NotHelpful, days_ago(days)));
                vector.hits.extend(cosine.map(|cosine| (memory.id, cosine)));
                text.hits.extend(bm25.map(|score| (memory.id, score)));
                facts.push((Facts::from(&memory), evidence));
            }
            Candidates {
                vector: has_vector.then_some(vector),
                text: has_text.then_some(text),
                facts,
                ..Candidates::default()
            }
        },
    )
}

fn any_question() -> impl Strategy<Value = QueryContext> {
    (any::<bool>(), prop::option::of(prop::sample::select(vec!["parsing", "network"])), any::<bool>()).prop_map(
        |(signature, domain, mentions_error)| QueryContext {
            signature: signature.then(|| Signature::of("IndexError", None)),
            domain: domain.map(str::to_owned),
            mentions_error,
            ..asked()
        },
    )
}

#[test]
fn warnings_of_the_very_error_are_kept_beside_the_first_n() {
    let candidates = (1..=6).map(|n| (Facts::from(&if n < 4 { strategy(n) } else { warning(n) }), Evidence::default()));
    let candidates = Candidates { facts: candidates.collect(), ..Candidates::default() };
    let ranked = ranking(candidates);
    let wanted = Signature::of("IndexError", None);
    for (n, error, more, expected) in
        [(2, Some(&wanted), 2, 4), (2, Some(&wanted), 0, 2), (2, None, 2, 2), (9, Some(&wanted), 2, 6)]
    {
        let mut shortened = ranked.clone();
        shortened.shorten(n, error, WarningPlacement::Beside(more));
        let left: Vec<Ranked> = shortened.into_kept().collect();
        assert_eq!((left.len(), &left[..n.min(6)]), (expected, &ranked.entries[..n.min(6)]));
        assert!(left[n.min(6)..].iter().all(|entry| entry.facts.signature.is_some()));
    }
}

#[test]
fn a_warning_of_the_very_error_has_the_last_place_where_its_score_gives_it_none() {
    let wanted = Signature::of("IndexError", None);
    let found = [(strategy(1), 0.9), (strategy(2), 0.8), (strategy(3), 0.7), (warning(4), 0.1), (warning(5), 0.0)];
    let shortened = |n: usize, error: Option<&Signature>| {
        let mut ranking = ranking(by_vector(&found));
        ranking.shorten(n, error, WarningPlacement::Within);
        kept(&ranking)
    };
    assert_eq!(shortened(3, Some(&wanted)), [1, 2, 4].map(id));
    assert_eq!(shortened(4, Some(&wanted)), [1, 2, 3, 4].map(id), "it has a place of its own");
    assert_eq!(shortened(1, Some(&wanted)), [id(4)]);
    assert_eq!(shortened(3, None), [1, 2, 3].map(id));
    assert_eq!(shortened(3, Some(&Signature::of("KeyError", None))), [1, 2, 3].map(id));
    assert_eq!(shortened(0, Some(&wanted)), []);
}

proptest! {
    #[test]
    fn shuffling_candidates_never_changes_the_result(
        (candidates, facts) in any_candidates().prop_flat_map(|c| (Just(c.clone()), Just(c.facts).prop_shuffle())),
        question in any_question(),
        name in prop::sample::select(PROFILES.to_vec()),
    ) {
        let mut shuffled = Candidates { facts, ..candidates.clone() };
        for list in [&mut shuffled.vector, &mut shuffled.text].into_iter().flatten() {
            list.hits.reverse();
        }
        let profile = Profile::new(name, Weights::COMPOSITE, 30.0);
        prop_assert_eq!(rank(candidates, &question, &profile), rank(shuffled, &question, &profile));
    }

    #[test]
    fn an_answer_is_in_order_with_no_words_told_twice(candidates in any_candidates(), question in any_question()) {
        let ranked = rank(candidates.clone(), &question, &Profile::default());
        for pair in ranked.windows(2) {
            prop_assert_ne!(better(&pair[0], &pair[1]), Ordering::Greater);
        }
        let keys: HashSet<&str> = ranked.iter().map(|entry| entry.facts.text_key.as_str()).collect();
        prop_assert_eq!(keys.len(), ranked.len());
        for (facts, _) in &candidates.facts {
            let told = ranked.iter().find(|entry| entry.facts.text_key == facts.text_key);
            prop_assert!(told.is_some_and(|told| told.facts.scope <= facts.scope), "the narrowest is told");
        }
    }

    #[test]
    fn a_helpful_vote_never_lowers_a_rank_whatever_the_profile(
        candidates in any_candidates(),
        question in any_question(),
        name in prop::sample::select(PROFILES.to_vec()),
        pick in any::<prop::sample::Index>(),
        days in 0.0..900.0f64,
    ) {
        let profile = Profile::new(name, Weights::COMPOSITE, 30.0);
        let (place, chosen) = picked(&rank(candidates.clone(), &question, &profile), &pick);
        let mut voted = candidates;
        let (_, evidence) = voted.facts.iter_mut().find(|(facts, _)| facts.id == chosen).unwrap();
        evidence.add(SignalKind::Helpful, days_ago(days));
        prop_assert!(place_of(chosen, &rank(voted, &question, &profile)) <= place);
    }

    #[test]
    fn what_makes_a_memory_better_never_lowers_its_rank(
        candidates in any_candidates(),
        question in any_question(),
        name in prop::sample::select(PROFILES.to_vec()),
        pick in any::<prop::sample::Index>(),
        up in 0.0..=1.0f64,
    ) {
        let profile = Profile::new(name, Weights::COMPOSITE, 30.0);
        let (place, chosen) = picked(&rank(candidates.clone(), &question, &profile), &pick);
        let raise: [Raise<'_>; 5] = [
            &|facts, _| facts.prior += up * (0.999 - facts.prior),
            &|facts, _| facts.pinned = true,
            &|facts, _| facts.scope = Scope::Project,
            &|facts, _| facts.created_at = facts.created_at.max(days_ago(900.0 * (1.0 - up))),
            &|_, evidence| evidence.add(SignalKind::Stable, now()),
        ];
        for raise in raise {
            let mut better = candidates.clone();
            let (facts, evidence) = better.facts.iter_mut().find(|(facts, _)| facts.id == chosen).unwrap();
            raise(facts, evidence);
            prop_assert!(place_of(chosen, &rank(better, &question, &profile)) <= place);
        }
    }

    #[test]
    fn an_answer_is_a_beginning_of_the_ranking_within_its_number_and_its_tokens(
        words in prop::collection::vec(1usize..200, 0..8), n in 0usize..10, max in prop::option::of(0usize..600),
    ) {
        let memories: Vec<Memory> = words
            .iter()
            .enumerate()
            .map(|(n, words)| Memory { content: "word ".repeat(*words), ..strategy(n as u128) })
            .collect();
        let kept = kept(&cut(&memories, n, max));
        let first: Vec<MemoryId> = memories.iter().take(kept.len()).map(|memory| memory.id).collect();
        prop_assert!(kept.len() <= n && kept == first);
        let tokens: usize = memories[..kept.len()].iter().map(|memory| tokens::estimate(&memory.format_for_prompt())).sum();
        prop_assert!(max.is_none_or(|max| tokens <= max));
    }

    /// Whatever rules are applied, every candidate is either in the answer or has the one rule that cut it.
    #[test]
    fn nothing_is_lost_between_the_candidates_and_the_answer(
        candidates in any_candidates(), question in any_question(), least in 0.0..1.0f64, n in 0usize..8, paper: bool,
    ) {
        let all: HashSet<MemoryId> = candidates.facts.iter().map(|(facts, _)| facts.id).collect();
        let mut ranking = Ranking::of(candidates, &question, &Profile::default());
        ranking.require_confidence(least);
        if paper {
            ranking.keep_best_trace();
        }
        ranking.shorten(n, question.signature.as_ref(), if paper { WarningPlacement::Within } else { WarningPlacement::Beside(1) });
        prop_assert_eq!(&ranking.entries.iter().map(|entry| entry.facts.id).collect::<HashSet<_>>(), &all);
        prop_assert_eq!(ranking.entries.len(), all.len());
        prop_assert!(ranking.kept().count() <= n + 1);
        prop_assert!(ranking.kept().all(|entry| entry.score.confidence >= least));
    }

    #[test]
    fn at_least_fifty_and_four_times_the_answer_are_fetched(n in 0usize..10_000) {
        prop_assert!(over_fetch(n) >= 80 && over_fetch(n) >= 4 * n);
    }
}

type Raise<'a> = &'a dyn Fn(&mut Facts, &mut Evidence);

/// Returns any one of the answer, and its place.
fn picked(ranked: &[Ranked], pick: &prop::sample::Index) -> (usize, MemoryId) {
    let n = pick.index(ranked.len());
    (n, ranked[n].facts.id)
}

fn place_of(id: MemoryId, ranked: &[Ranked]) -> usize {
    ranked.iter().position(|entry| entry.facts.id == id).unwrap()
}

#[test]
fn the_same_words_of_another_outcome_or_layout_are_no_duplicates() {
    let said = |n: u128, content: &str, outcome| Memory { id: id(n), content: content.into(), outcome, ..strategy(1) };
    let (loops, ends) = ("for x in xs:\n    work(x)\n    commit()", "for x in xs:\n    work(x)\ncommit()");
    let memories = [
        (said(1, loops, MemoryOutcome::Success), 0.9),
        (said(2, loops, MemoryOutcome::Failure), 0.8),
        (said(3, ends, MemoryOutcome::Success), 0.7),
        (said(4, loops, MemoryOutcome::Success), 0.6),
    ];
    let ranking = ranking(by_vector(&memories));
    assert_eq!(kept(&ranking), [id(1), id(2), id(3)]);
}

#[test]
fn what_is_relevant_by_the_very_error_comes_first() {
    let mut ranking = ranking(by_vector(&[(strategy(1), 0.9), (warning(2), 0.2), (strategy(3), 0.4)]));
    ranking
        .entries
        .iter_mut()
        .filter(|entry| entry.facts.id == id(2))
        .for_each(|entry| entry.score.why.very_error = true);
    ranking.very_error_first();
    assert_eq!(kept(&ranking), [id(2), id(1), id(3)]);
}
