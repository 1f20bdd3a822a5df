use proptest::prelude::*;

use super::*;
use crate::memory::Memory;
use crate::memory::samples::{days_ago, now, strategy, warning};
use crate::memory::signal::SignalKind;

const PROFILES: [ProfileName; 4] =
    [ProfileName::Composite, ProfileName::Paper, ProfileName::Cascade, ProfileName::Episodic];

fn profile(name: ProfileName) -> Profile {
    Profile::new(name, Weights::COMPOSITE, 30.0)
}

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

fn listed(rank: usize, score: f64, relative: f64, share: f64) -> ListEntry {
    ListEntry { rank, score, relative, share }
}

fn similar(similarity: f64) -> Fused {
    Fused { similarity, vector: Some(listed(1, similarity, similarity, 1.0)), text: None }
}

fn score_of(name: ProfileName, asked: &QueryContext, memory: &Memory, similarity: f64) -> Score {
    score(&profile(name), asked, &Facts::from(memory), &Evidence::default(), &similar(similarity))
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}

#[test]
fn the_default_is_the_weighted_sum_by_confidence_and_scope() {
    let memory = Memory { created_at: days_ago(30.0), prior: 0.6, scope: Scope::Team, pinned: true, ..strategy(1) };
    let score = score_of(ProfileName::Composite, &asked(), &memory, 0.7);
    assert!(close(score.recency, 0.5), "a half-life is the time after which half is left");
    assert!(close(score.base, 0.6 * 0.7 + 0.3 * 0.5 + 0.1 * 0.0));
    assert!(close(score.composite, score.base * (0.5 + 0.5 * 0.6) * 0.9));
}

#[test]
fn the_paper_counts_similarity_alone() {
    let memory = Memory { created_at: days_ago(900.0), prior: 0.1, scope: Scope::Org, ..warning(1) };
    let score = score_of(ProfileName::Paper, &asked(), &memory, 0.4);
    assert!(close(score.base, 0.4) && close(score.composite, 0.4));
}

#[test]
fn the_cascade_multiplies_similarity_confidence_freshness_and_scope() {
    let memory = Memory { created_at: days_ago(73.0), prior: 0.8, scope: Scope::Org, pinned: true, ..strategy(1) };
    let score = score_of(ProfileName::Cascade, &asked(), &memory, 0.5);
    assert!(close(score.composite, 0.5 * 0.8 * ((1.0 + 0.1 * 0.8) / 1.1) * 0.8), "{}", score.composite);
    let old = Memory { created_at: days_ago(1_000.0), ..memory };
    assert!(close(score_of(ProfileName::Cascade, &asked(), &old, 0.5).composite, 0.5 * 0.8 / 1.1 * 0.8));
}

#[test]
fn the_episodic_profile_has_five_components() {
    let asked = QueryContext { domain: Some("Parsing".into()), ..asked() };
    let memory = Memory { domain_category: Some("parsing".into()), ..strategy(1) };
    let mut evidence = Evidence::default();
    (0..9).for_each(|_| evidence.add(SignalKind::Injected, now()));
    let score = score(&profile(ProfileName::Episodic), &asked, &Facts::from(&memory), &evidence, &similar(0.5));
    let access = 10f64.ln() / 10.0;
    assert!(close(score.base, 0.5 * 0.5 + 0.2 * 1.0 + 0.15 * 1.0 + 0.1 * access + 0.05 * 1.0));
    let names: Vec<&str> = score.why.components.iter().map(|component| component.name.as_str()).collect();
    assert_eq!(names, ["similarity", "recency", "success", "access", "domain"]);
}

#[test]
fn weights_need_not_add_up_to_one() {
    let doubled = Weights { similarity: 1.2, recency: 0.6, error_context: 0.2, ..Weights::default() };
    let twice = Profile::new(ProfileName::Composite, doubled, 30.0);
    let memory = Facts::from(&strategy(1));
    let one = score(&Profile::default(), &asked(), &memory, &Evidence::default(), &similar(0.3));
    let two = score(&twice, &asked(), &memory, &Evidence::default(), &similar(0.3));
    assert!(close(one.base, two.base) && close(one.composite, two.composite));
}

#[test]
fn an_error_context_counts_by_how_directly_it_matches() {
    let signature = |raw: &str| Some(Signature::of(raw, None));
    let domain = |name: &str| Some(name.to_owned());
    let table = [
        (QueryContext { signature: signature("IndexError"), ..asked() }, 1.0),
        (QueryContext { signature: signature("indexerror|algorithms"), domain: domain("other"), ..asked() }, 1.0),
        (QueryContext { signature: signature("indexerror|network"), ..asked() }, 0.0),
        (QueryContext { signature: signature("IndexError"), domain: domain("Algorithms "), ..asked() }, 1.0),
        (QueryContext { signature: signature("IndexError"), domain: domain("network"), ..asked() }, 0.5),
        (QueryContext { signature: signature("IndexError"), majority_domain: domain("network"), ..asked() }, 1.0),
        (QueryContext { signature: signature("KeyError"), domain: domain("Algorithms "), ..asked() }, 0.5),
        (QueryContext { majority_domain: domain("algorithms"), ..asked() }, 0.5),
        (QueryContext { domain: domain("network"), majority_domain: domain("algorithms"), ..asked() }, 0.0),
        (QueryContext { domain: domain("algorithms"), mentions_error: true, ..asked() }, 0.5),
        (QueryContext { domain: domain("network"), mentions_error: true, ..asked() }, 0.25),
        (QueryContext { mentions_error: true, ..asked() }, 0.25),
        (asked(), 0.0),
    ];
    for (asked, expected) in table {
        assert_eq!(score_of(ProfileName::Composite, &asked, &warning(1), 0.5).error_context, expected, "{asked:?}");
        assert_eq!(score_of(ProfileName::Composite, &asked, &strategy(1), 0.5).error_context, 0.0, "{asked:?}");
    }
}

#[test]
fn a_warning_is_of_its_category_and_of_the_domain_of_its_error() {
    let memory = Memory { domain_category: Some("rust".into()), ..warning(1) };
    for (domain, expected) in [("Rust", 0.5), ("algorithms", 0.5), ("network", 0.0)] {
        let asked = QueryContext { domain: Some(domain.into()), ..asked() };
        assert_eq!(score_of(ProfileName::Composite, &asked, &memory, 0.5).error_context, expected, "{domain}");
    }
}

#[test]
fn recency_counts_from_the_last_use_that_helped() {
    let facts = Facts::from(&Memory { created_at: days_ago(300.0), ..strategy(1) });
    let mut evidence = Evidence::default();
    evidence.add(SignalKind::Helpful, days_ago(30.0));
    let score = score(&Profile::default(), &asked(), &facts, &evidence, &similar(0.5));
    assert!(close(score.recency, 0.5));
}

#[test]
fn what_was_made_in_the_future_of_a_slow_clock_is_new() {
    let memory = Memory { created_at: days_ago(-2.0), ..strategy(1) };
    assert!(close(score_of(ProfileName::Composite, &asked(), &memory, 0.5).recency, 1.0));
}

#[test]
fn the_reasons_show_what_each_list_said() {
    let (vector, text) = (Some(listed(2, 0.41, 0.5, 0.8)), Some(listed(1, 7.25, 1.0, 0.2)));
    let fused = Fused { similarity: 0.6, vector, text };
    let facts = Facts::from(&strategy(1));
    let why = score(&Profile::default(), &asked(), &facts, &Evidence::default(), &fused).why;
    insta::assert_snapshot!(serde_json::to_string_pretty(&why).unwrap(), @r#"
    {
      "profile": "composite",
      "components": [
        {
          "name": "similarity",
          "value": 0.6,
          "weight": 0.6
        },
        {
          "name": "recency",
          "value": 1.0,
          "weight": 0.3
        },
        {
          "name": "error_context",
          "value": 0.0,
          "weight": 0.1
        }
      ],
      "factors": [
        {
          "name": "confidence_factor",
          "value": 0.9
        },
        {
          "name": "scope_weight",
          "value": 1.0
        }
      ],
      "lists": [
        {
          "name": "vector",
          "rank": 2,
          "relative": 0.5,
          "share": 0.8
        },
        {
          "name": "text",
          "rank": 1,
          "relative": 1.0,
          "share": 0.2
        }
      ],
      "cosine": 0.41,
      "text_score": 7.25
    }
    "#);
}

fn any_weights() -> impl Strategy<Value = Weights> {
    (0.01..10.0f64, 0.0..10.0f64, 0.0..10.0f64).prop_map(|(similarity, recency, error_context)| Weights {
        similarity,
        recency,
        error_context,
        ..Weights::default()
    })
}

fn any_profile() -> impl Strategy<Value = Profile> {
    (prop::sample::select(PROFILES.to_vec()), any_weights(), 0.5..400.0f64)
        .prop_map(|(name, weights, half_life)| Profile::new(name, weights, half_life))
}

/// The properties of a memory, one field for each thing a score can depend on.
#[derive(Debug, Clone)]
struct Case {
    similarity: f64,
    age_days: f64,
    prior: f64,
    pinned: bool,
    scope: Scope,
    success: bool,
    warns: bool,
    same_domain: bool,
    same_signature: bool,
    mentions_error: bool,
    uses: usize,
    helpful: usize,
    not_helpful: usize,
}

impl Case {
    fn score(&self, profile: &Profile) -> Score {
        let mut memory = if self.warns { warning(1) } else { strategy(1) };
        memory.outcome = if self.success { MemoryOutcome::Success } else { MemoryOutcome::Failure };
        memory.created_at = days_ago(self.age_days);
        (memory.prior, memory.pinned, memory.scope) = (self.prior, self.pinned, self.scope);
        memory.domain_category = Some("algorithms".into());
        let asked = QueryContext {
            now: now(),
            signature: self.same_signature.then(|| Signature::of("IndexError", None)),
            domain: Some(if self.same_domain { "algorithms".into() } else { "network".into() }),
            majority_domain: None,
            mentions_error: self.mentions_error,
            compares_meaning: true,
        };
        let mut evidence = Evidence::default();
        (0..self.uses).for_each(|_| evidence.add(SignalKind::Injected, days_ago(self.age_days)));
        (0..self.helpful).for_each(|_| evidence.add(SignalKind::Helpful, days_ago(self.age_days)));
        (0..self.not_helpful).for_each(|_| evidence.add(SignalKind::NotHelpful, days_ago(self.age_days)));
        score(profile, &asked, &Facts::from(&memory), &evidence, &similar(self.similarity))
    }
}

fn any_case() -> impl Strategy<Value = Case> {
    (
        (0.0..=1.0f64, 0.0..2_000.0f64, 0.001..0.999f64, any::<bool>()),
        prop::sample::select(vec![Scope::Project, Scope::Team, Scope::Org]),
        (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>()),
        (0usize..40, 0usize..6, 0usize..6),
    )
        .prop_map(|((similarity, age_days, prior, pinned), scope, bits, (uses, helpful, not_helpful))| {
            let (success, warns, same_domain, same_signature, mentions_error) = bits;
            Case {
                similarity,
                age_days,
                prior,
                pinned,
                scope,
                success,
                warns,
                same_domain,
                same_signature,
                mentions_error,
                uses,
                helpful,
                not_helpful,
            }
        })
}

proptest! {
    #[test]
    fn components_base_and_composite_stay_between_0_and_1(case in any_case(), profile in any_profile()) {
        let score = case.score(&profile);
        let shown = score.why.components.iter().map(|component| component.value);
        let factors = score.why.factors.iter().map(|factor| factor.value);
        let named = [score.similarity, score.recency, score.error_context, score.confidence, score.base, score.composite];
        for value in shown.chain(factors).chain(named) {
            prop_assert!((0.0..=1.0).contains(&value), "{:?}", score);
        }
    }

    #[test]
    fn the_reasons_multiply_out_to_the_score_shown(case in any_case(), profile in any_profile()) {
        let score = case.score(&profile);
        let weighted: f64 = score.why.components.iter().map(|c| c.value * c.weight).sum();
        let weights: f64 = score.why.components.iter().map(|c| c.weight).sum();
        let factors: f64 = score.why.factors.iter().map(|f| f.value).product();
        prop_assert!(close(weighted / weights, score.base));
        prop_assert!(close(weighted / weights * factors, score.composite));
    }

    #[test]
    fn raising_any_component_never_lowers_the_score(case in any_case(), profile in any_profile(), up in 0.0..=1.0f64) {
        let before = case.score(&profile).composite;
        let better = [
            Case { similarity: case.similarity + up * (1.0 - case.similarity), ..case.clone() },
            Case { age_days: case.age_days * (1.0 - up), ..case.clone() },
            Case { prior: case.prior + up * (0.999 - case.prior), ..case.clone() },
            Case { scope: Scope::Project, ..case.clone() },
            Case { success: true, ..case.clone() },
            Case { same_domain: true, ..case.clone() },
            Case { same_signature: true, ..case.clone() },
            Case { mentions_error: true, ..case.clone() },
            Case { uses: case.uses + 7, ..case.clone() },
            Case { pinned: true, ..case.clone() },
        ];
        for raised in better {
            prop_assert!(raised.score(&profile).composite >= before - 1e-12, "{:?}", raised);
        }
    }

    #[test]
    fn a_helpful_vote_never_lowers_a_score_and_a_bad_one_never_raises_it(case in any_case(), profile in any_profile()) {
        let before = case.score(&profile).composite;
        let praised = Case { helpful: case.helpful + 1, ..case.clone() };
        prop_assert!(praised.score(&profile).composite >= before - 1e-12);
        let blamed = Case { not_helpful: case.not_helpful + 1, ..case.clone() };
        prop_assert!(blamed.score(&profile).composite <= before + 1e-12);
    }

    #[test]
    fn recency_halves_with_every_half_life(days in 0.0..400.0f64, half_life in 1.0..100.0f64, name in prop::sample::select(PROFILES.to_vec())) {
        let profile = Profile::new(name, Weights::COMPOSITE, half_life);
        let recency = |days| {
            let facts = Facts::from(&Memory { created_at: days_ago(days), ..strategy(1) });
            score(&profile, &asked(), &facts, &Evidence::default(), &similar(0.5)).recency
        };
        prop_assert!((recency(days + half_life) - recency(days) / 2.0).abs() < 1e-6);
    }
}
