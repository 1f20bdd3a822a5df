//! Conditions narrow a search and a list as the rule of the domain says ([`Conditions::hold`]), whatever an adapter
//! makes of them: columns of tables, or numbers in memory.

use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use reasoning_bank_domain::memory::{MemoryOutcome, SourceType};

use super::*;

/// The number of conditions that are tried. Some hold for nothing, some for all.
const TRIED: usize = 60;
const STORED: usize = 48;

fn labels() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["parsing", " Parsing ", "PARSING", "network", "it's 100%_odd", "Größe"])
        .prop_map(str::to_owned)
}

fn tags(most: usize) -> impl Strategy<Value = Vec<String>> {
    vec(prop::sample::select(vec!["io", "IO", "a,b", "a", "%"]).prop_map(str::to_owned), 0..=most)
}

fn outcomes() -> impl Strategy<Value = MemoryOutcome> {
    prop::sample::select(vec![MemoryOutcome::Success, MemoryOutcome::Failure, MemoryOutcome::Mixed])
}

fn sources() -> impl Strategy<Value = SourceType> {
    prop::sample::select(vec![SourceType::Explicit, SourceType::Solve, SourceType::Imported])
}

fn times() -> impl Strategy<Value = jiff::Timestamp> {
    (0..6u64).prop_map(|seconds| now() + Duration::from_secs(seconds))
}

fn stored() -> impl Strategy<Value = Memory> {
    let texts = (of(labels()), of(labels()), tags(3));
    (texts, any::<bool>(), outcomes(), sources(), times()).prop_map(
        |(texts, warns, outcome, source_type, created_at)| {
            let (domain_category, difficulty_level, pattern_tags) = texts;
            let plain = memory(&workspace("/here"), "common words", &format!("{domain_category:?} {created_at}"));
            let plain = if warns { warning(plain) } else { plain };
            Memory { domain_category, difficulty_level, pattern_tags, outcome, source_type, created_at, ..plain }
        },
    )
}

fn conditions() -> impl Strategy<Value = Conditions> {
    let kinds = prop::sample::select(vec![(false, false), (false, false), (true, false), (false, true)]);
    let rare = |strategy| prop::option::weighted(0.3, strategy);
    let labels = (rare(labels().boxed()), rare(labels().boxed()), tags(1));
    let times = (prop::option::weighted(0.3, times()), prop::option::weighted(0.3, times()));
    let kinds = (kinds, prop::option::weighted(0.3, outcomes()), prop::option::weighted(0.3, sources()));
    (labels, kinds, times).prop_map(|((domain, difficulty, tags), (kinds, outcome, source_type), (since, until))| {
        let (warnings_only, without_warnings) = kinds;
        Conditions { domain, difficulty, tags, warnings_only, without_warnings, outcome, source_type, since, until }
    })
}

#[rstest]
#[tokio::test]
async fn a_search_and_a_list_have_the_memories_for_which_the_conditions_hold(
    #[values(InMemory, Lance, Resident)] backend: Backend,
) {
    let mut runner = TestRunner::deterministic();
    let stored = vec(stored(), STORED).new_tree(&mut runner).unwrap().current();
    let opened = backend.open().await;
    let (store, here) = (&opened.store, workspace("/here"));
    commit(store, stored.iter().map(|memory| as_it_is(memory, Some([1.0, 0.0, 0.0, 0.0]))).collect()).await;
    let mut narrowed = 0;
    for _ in 0..TRIED {
        let conditions = conditions().new_tree(&mut runner).unwrap().current();
        let holding = stored.iter().filter(|memory| conditions.hold(memory)).map(|memory| memory.id);
        let expected: BTreeSet<MemoryId> = holding.collect();
        let (text, vector) = (Some("common words".into()), Some(vec![1.0, 0.0, 0.0, 0.0]));
        let asked = Recall { text, vector, conditions: conditions.clone(), limit: 10 * STORED, ..recall(&here) };
        let found = store.reads().candidates(asked, soon()).await.unwrap();
        let filter =
            MemoryFilter { workspace: Some(here.clone()), conditions: conditions.clone(), ..Default::default() };
        let listed = memories(store, filter, everything()).await;
        for ids in [ids(&found.text), ids(&found.vector), listed] {
            assert_eq!(ids.into_iter().collect::<BTreeSet<_>>(), expected, "{conditions:?}");
        }
        narrowed += usize::from(!expected.is_empty() && expected.len() < STORED);
    }
    assert!(narrowed > TRIED / 4, "{narrowed} conditions hold for some memories and not for others");
}
