//! Tests of candidates: the memories that a workspace finds, and their order.

use reasoning_bank_domain::memory::signature::{Signature, SignatureFrequency};
use reasoning_bank_domain::memory::workspace::WorkspaceId;
use reasoning_bank_domain::memory::{MemoryOutcome, SourceType};

use super::*;

#[rstest]
#[tokio::test]
async fn vectors_rank_by_cosine_and_a_memory_counts_by_its_best_passage(
    #[values(InMemory, Lance, Resident)] backend: Backend,
) {
    let opened = backend.open().await;
    let here = workspace("/here");
    let [near, far, opposite, blind] =
        ["near", "far", "opposite", "blind"].map(|title| memory(&here, title, "some content"));
    let of = |m: &Memory, vectors: &[[f32; DIMS]]| {
        let passages = vectors.iter().zip(0..).map(|(v, n)| passage(PassageKind::Content, n, &m.content_text(), *v));
        record_with(m, passages.collect())
    };
    let batch = vec![
        of(&near, &[[0.0, 0.0, 1.0, 0.0], [0.6, 0.8, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]]),
        of(&far, &[[0.28, 0.96, 0.0, 0.0]]),
        of(&opposite, &[[-1.0, 0.0, 0.0, 0.0]]),
        record(&blind, None),
    ];
    commit(&opened.store, batch).await;
    let found = opened.store.reads().candidates(by_vector(&here, [1.0, 0.0, 0.0, 0.0]), soon()).await.unwrap();
    let list = found.vector.clone().unwrap();
    assert_eq!(ids(&found.vector), [near.id, far.id, opposite.id]);
    for ((_, score), expected) in list.hits.iter().zip([0.6, 0.28, -1.0]) {
        // in memory a vector is kept in 8 bits a number
        assert!((score - expected).abs() < 0.005, "{score} instead of {expected}");
    }
    assert!(!list.truncated && found.text.is_none());
    assert_eq!(found.facts.len(), 3);

    let two = Recall { limit: 2, ..by_vector(&here, [1.0, 0.0, 0.0, 0.0]) };
    let found = opened.store.reads().candidates(two, soon()).await.unwrap();
    assert_eq!(ids(&found.vector), [near.id, far.id]);
    assert!(found.vector.unwrap().truncated);
}

#[rstest]
#[tokio::test]
async fn a_memory_of_many_passages_does_not_crowd_out_the_others(
    #[values(InMemory, Lance, Resident)] backend: Backend,
) {
    let opened = backend.open().await;
    let here = workspace("/here");
    let long = memory(&here, "Long", "gauge");
    let short = memory(&here, "Short", "gauge");
    let chunks = (0..60).map(|n| passage(PassageKind::Content, n, "gauge gauge", [1.0, 0.001 * n as f32, 0.0, 0.0]));
    let batch = vec![record_with(&long, chunks.collect()), record(&short, Some([0.5, 0.5, 0.0, 0.0]))];
    commit(&opened.store, batch).await;
    let both = Recall { limit: 2, text: Some("gauge".into()), ..by_vector(&here, [1.0, 0.0, 0.0, 0.0]) };
    let found = opened.store.reads().candidates(both, soon()).await.unwrap();
    assert_eq!(ids(&found.vector), [long.id, short.id]);
    assert_eq!(sorted(ids(&found.text)), sorted(vec![long.id, short.id]));
}

#[rstest]
#[case("parseHttpHeader")]
#[case("parse http header")]
#[case("parse_http_header")]
#[tokio::test]
async fn identifiers_are_found_by_their_parts_however_they_are_written(
    #[values(InMemory, Lance, Resident)] backend: Backend,
    #[case] query: &str,
) {
    let opened = backend.open().await;
    let here = workspace("/here");
    let stored = [
        memory(&here, "Camel", "call parseHttpHeader first"),
        memory(&here, "Snake", "call parse_http_header first"),
        memory(&here, "Words", "parse the http header first"),
    ];
    add(&opened.store, &stored).await;
    add(&opened.store, &[memory(&here, "Other", "nothing of the kind")]).await;
    let found = found_by_text(&opened.store, by_text(&here, query)).await;
    assert_eq!(sorted(found), sorted(stored.iter().map(|m| m.id).collect()));
}

#[rstest]
#[tokio::test]
async fn any_text_is_a_query_and_none_is_syntax(#[values(InMemory, Lance, Resident)] backend: Backend) {
    let opened = backend.open().await;
    let here = workspace("/here");
    let kept = memory(&here, "Bounds", "use an exclusive upper bound");
    add(&opened.store, std::slice::from_ref(&kept)).await;
    for nothing in ["?!", "\"", "'", "( AND", "\u{0}", "*", "%_%", "\u{1f980}", "-", "zzz"] {
        let found = opened.store.reads().candidates(by_text(&here, nothing), soon()).await.unwrap();
        assert_eq!(found.text.map(|list| list.hits.len()), Some(0), "{nothing:?}");
    }
    for blank in ["", " \n\t"] {
        assert!(opened.store.reads().candidates(by_text(&here, blank), soon()).await.unwrap().text.is_none());
    }
    let long = "bound ".to_owned() + &(0..40_000).map(|n| format!("word{n} ")).collect::<String>();
    for query in ["bound'; DROP TABLE memories; --", "\"exclusive AND (bound", "bound^9 +upper -bound~2", &long] {
        assert_eq!(found_by_text(&opened.store, by_text(&here, query)).await, [kept.id], "{:.40}", query);
    }
}

#[rstest]
#[tokio::test]
async fn nobody_reads_what_is_not_theirs(#[values(InMemory, Lance, Resident)] backend: Backend) {
    let opened = backend.open().await;
    let [here, there] = [workspace("/here"), workspace("/there")];
    let scoped = |workspace, scope, team: Option<&str>, org: Option<&str>| {
        let mut memory = memory(workspace, &format!("{scope:?} {team:?} {org:?}"), "shared wisdom");
        (memory.scope, memory.team, memory.org) = (scope, team.map(Into::into), org.map(Into::into));
        memory
    };
    let mine = scoped(&here, Scope::Project, Some("red"), Some("acme"));
    let theirs = scoped(&there, Scope::Project, Some("red"), Some("acme"));
    let red = scoped(&there, Scope::Team, Some("red"), Some("acme"));
    let blue = scoped(&here, Scope::Team, Some("blue"), Some("acme"));
    let acme = scoped(&there, Scope::Org, Some("red"), Some("acme"));
    let hostile = scoped(&there, Scope::Team, Some("' OR '1'='1"), None);
    let all = [&mine, &theirs, &red, &blue, &acme, &hostile];
    add(&opened.store, &all.map(Memory::clone)).await;

    let reads = async |workspace: Option<_>, team: Option<&str>, org: Option<&str>| {
        let visible = Visible { workspace, team: team.map(Into::into), org: org.map(Into::into) };
        let recall = Recall { visible, text: Some("wisdom".into()), ..by_vector(&here, [1.0, 0.0, 0.0, 0.0]) };
        let found = opened.store.reads().candidates(recall, soon()).await.unwrap();
        let (text, vector) = (sorted(ids(&found.text)), sorted(ids(&found.vector)));
        assert_eq!(text, vector);
        assert_eq!(text, sorted(found.facts.iter().map(|(facts, _)| facts.id).collect()));
        text
    };
    let expected = |memories: &[&Memory]| sorted(memories.iter().map(|m| m.id).collect());
    assert_eq!(reads(Some(here.clone()), None, None).await, expected(&[&mine]));
    assert_eq!(reads(Some(there.clone()), Some("red"), None).await, expected(&[&theirs, &red]));
    assert_eq!(reads(Some(here.clone()), Some("red"), Some("acme")).await, expected(&[&mine, &red, &acme]));
    assert_eq!(reads(None, Some("blue"), None).await, expected(&[&blue]));
    assert_eq!(reads(None, Some("' OR '1'='1"), None).await, expected(&[&hostile]));
    assert_eq!(reads(None, None, None).await, expected(&[]));
    assert_eq!(reads(Some(workspace("/nowhere")), Some("red' --"), Some("x\" OR true")).await, expected(&[]));
}

#[rstest]
#[tokio::test]
async fn conditions_hold_before_the_lists_are_cut(#[values(InMemory, Lance, Resident)] backend: Backend) {
    let opened = backend.open().await;
    let here = workspace("/here");
    let tags = |tags: &[&str]| tags.iter().map(|tag| (*tag).to_owned()).collect::<Vec<_>>();
    let tagged = |title: &str, domain: Option<&str>, with: &[&str]| {
        let mut memory = memory(&here, title, "common words");
        (memory.domain_category, memory.pattern_tags) = (domain.map(Into::into), tags(with));
        memory
    };
    let parsing = tagged("1", Some("Parsing"), &["io", "x' OR 'a'='a"]);
    let network = warning(tagged("2", Some("network"), &["io", "retry"]));
    let odd = tagged("3", Some("it's"), &["a,b", "\",\"", "%"]);
    let plain = tagged("4", None, &["x,", ",y"]);
    add(&opened.store, &[&parsing, &network, &odd, &plain].map(Memory::clone)).await;
    add(&opened.store, &(5..70).map(|n| tagged(&n.to_string(), None, &[])).collect::<Vec<_>>()).await;

    let found = async |conditions: Conditions| {
        let recall =
            Recall { conditions, limit: 4, text: Some("words".into()), ..by_vector(&here, [1.0, 0.0, 0.0, 0.0]) };
        let found = opened.store.reads().candidates(recall, soon()).await.unwrap();
        assert_eq!(sorted(ids(&found.text)), sorted(ids(&found.vector)));
        sorted(ids(&found.text))
    };
    let domain = |domain: &str| Conditions { domain: Some(domain.into()), ..Conditions::default() };
    let with = |with: &[&str]| Conditions { tags: tags(with), ..Conditions::default() };
    assert_eq!(found(domain(" PARSING")).await, [parsing.id]);
    assert_eq!(found(domain("it's")).await, [odd.id]);
    assert_eq!(found(domain("' OR 1=1 --")).await, []);
    assert_eq!(found(with(&["io"])).await, sorted(vec![parsing.id, network.id]));
    assert_eq!(found(with(&["io", "retry"])).await, [network.id]);
    assert_eq!(found(with(&["x' OR 'a'='a"])).await, [parsing.id]);
    assert_eq!(found(with(&["\",\""])).await, [odd.id]);
    assert_eq!(found(with(&["a,b", "%"])).await, [odd.id]);
    for absent in ["i", "I", "a", ",", "_", "", "b\",\"c"] {
        assert_eq!(found(with(&[absent])).await, [], "{absent:?}");
    }
    assert_eq!(found(Conditions { warnings_only: true, ..Conditions::default() }).await, [network.id]);
    let no_warnings = Conditions { without_warnings: true, ..with(&["io"]) };
    assert_eq!(found(no_warnings).await, [parsing.id]);
}

#[rstest]
#[tokio::test]
async fn time_outcome_source_and_difficulty_hold_before_the_lists_are_cut(
    #[values(InMemory, Lance, Resident)] backend: Backend,
) {
    let opened = backend.open().await;
    let here = workspace("/here");
    let made = |seconds: i64| now() + jiff::SignedDuration::from_secs(seconds);
    let plain = |n: usize| Memory { created_at: made(-100_000), ..memory(&here, &format!("{n}"), "common words") };
    let old = Memory { created_at: made(-200_000), ..plain(1) };
    let late = Memory { created_at: made(-50), ..plain(2) };
    let mixed = Memory { outcome: MemoryOutcome::Mixed, difficulty_level: Some(" Hard".into()), ..plain(3) };
    let solved = Memory { source_type: SourceType::Solve, ..warning(plain(4)) };
    add(&opened.store, &(5..75).map(plain).collect::<Vec<_>>()).await;
    add(&opened.store, &[&old, &late, &mixed, &solved].map(Memory::clone)).await;

    let found = async |conditions: Conditions| {
        let error = Some(Signature::of("ValueError", None));
        let recall = Recall {
            conditions,
            limit: 4,
            signature: error,
            text: Some("words".into()),
            ..by_vector(&here, [1.0, 0.0, 0.0, 0.0])
        };
        let found = opened.store.reads().candidates(recall, soon()).await.unwrap();
        assert_eq!(sorted(ids(&found.text)), sorted(ids(&found.vector)));
        assert_eq!(sorted(ids(&found.text)), sorted(found.facts.iter().map(|(facts, _)| facts.id).collect()));
        assert!(!found.are_cut_off());
        sorted(ids(&found.text))
    };
    let some = Conditions::default;
    let micro = jiff::SignedDuration::from_micros(1);
    let (first, last) = (old.created_at, late.created_at);
    for (conditions, expected) in [
        (Conditions { since: Some(last), ..some() }, vec![late.id]),
        (Conditions { since: Some(last + micro), ..some() }, vec![]),
        (Conditions { until: Some(first), ..some() }, vec![]),
        (Conditions { until: Some(first + micro), ..some() }, vec![old.id]),
        (Conditions { since: Some(first), until: Some(first + micro), ..some() }, vec![old.id]),
        (Conditions { outcome: Some(MemoryOutcome::Mixed), ..some() }, vec![mixed.id]),
        (Conditions { difficulty: Some("HARD ".into()), ..some() }, vec![mixed.id]),
        (Conditions { difficulty: Some("' OR 1=1 --".into()), ..some() }, vec![]),
        (Conditions { source_type: Some(SourceType::Solve), ..some() }, vec![solved.id]),
        (Conditions { source_type: Some(SourceType::Imported), ..some() }, vec![]),
        (Conditions { outcome: Some(MemoryOutcome::Mixed), since: Some(last), ..some() }, vec![]),
    ] {
        assert_eq!(found(conditions.clone()).await, expected, "{conditions:?}");
    }
    // a change of a memory is a change of what it is found by
    let eased = next(&mixed, |memory| memory.difficulty_level = Some("easy".into()));
    commit(&opened.store, vec![change(&eased, Some([1.0, 0.0, 0.0, 0.0]))]).await;
    assert_eq!(found(Conditions { difficulty: Some("hard".into()), ..some() }).await, []);
    assert_eq!(found(Conditions { difficulty: Some("easy".into()), ..some() }).await, [mixed.id]);
}

/// Superseded memories are found only where they are asked for. Memories that are out of search for other reasons are
/// never found.
#[rstest]
#[tokio::test]
async fn superseded_memories_are_found_where_they_are_asked_for(#[values(InMemory, Lance, Resident)] backend: Backend) {
    let opened = backend.open().await;
    let here = workspace("/here");
    let of = |name: &str, status| Memory { status, ..warning(memory(&here, name, "common words")) };
    let (active, superseded) = (of("active", Status::Active), of("superseded", Status::Superseded));
    let others = [of("archived", Status::Archived), of("quarantined", Status::Quarantined)];
    add(&opened.store, &[&[active.clone(), superseded.clone()][..], &others].concat()).await;
    for with_superseded in [false, true] {
        let recall = Recall {
            with_superseded,
            signature: Some(Signature::of("ValueError", None)),
            text: Some("words".into()),
            ..by_vector(&here, [1.0, 0.0, 0.0, 0.0])
        };
        let found = opened.store.reads().candidates(recall, soon()).await.unwrap();
        let mut expected = vec![active.id];
        expected.extend(with_superseded.then_some(superseded.id));
        let expected = sorted(expected);
        assert_eq!(sorted(ids(&found.text)), expected);
        assert_eq!(sorted(ids(&found.vector)), expected);
        assert_eq!(sorted(found.facts.iter().map(|(facts, _)| facts.id).collect()), expected);
        let warnings = expected.len() as u64;
        assert_eq!(found.signature_frequency, Some(SignatureFrequency { warnings, of_this: warnings }));
    }
}

/// The test holds however few of very many memories meet the conditions, and however far from the query they are.
#[rstest]
#[tokio::test]
async fn conditions_never_leave_fewer_than_there_are(#[values(InMemory, Lance, Resident)] backend: Backend) {
    let opened = backend.open().await;
    let here = workspace("/here");
    let mut rare = BTreeSet::new();
    let mut batch = Vec::new();
    for n in 0..900 {
        let mut memory = memory(&here, &format!("{n}"), "common words");
        let is_rare = n % 100 == 7;
        memory.outcome = if is_rare { MemoryOutcome::Mixed } else { MemoryOutcome::Success };
        let vector = if is_rare { [0.1, 1.0, 0.0, 0.0] } else { [1.0, 0.001 * n as f32, 0.0, 0.0] };
        rare.extend(is_rare.then_some(memory.id));
        batch.push(record(&memory, Some(vector)));
    }
    commit(&opened.store, batch).await;
    opened.store.maintain(soon()).await.unwrap();
    let conditions = Conditions { outcome: Some(MemoryOutcome::Mixed), ..Conditions::default() };
    let recall = Recall { conditions, limit: 50, text: Some("words".into()), ..by_vector(&here, [1.0, 0.0, 0.0, 0.0]) };
    let found = opened.store.reads().candidates(recall, soon()).await.unwrap();
    for list in [ids(&found.vector), ids(&found.text)] {
        assert_eq!(list.into_iter().collect::<BTreeSet<_>>(), rare);
    }
}

#[rstest]
#[tokio::test]
async fn only_active_memories_are_candidates(#[values(InMemory, Lance, Resident)] backend: Backend) {
    let opened = backend.open().await;
    let here = workspace("/here");
    let active = memory(&here, "active", "common words");
    let mut all = vec![active.clone()];
    for status in [Status::Archived, Status::Superseded, Status::Quarantined] {
        all.push(Memory { status, ..memory(&here, status.as_str(), "common words") });
    }
    add(&opened.store, &all).await;
    let both = Recall { text: Some("words".into()), ..by_vector(&here, [1.0, 0.0, 0.0, 0.0]) };
    let found = opened.store.reads().candidates(both, soon()).await.unwrap();
    assert_eq!((ids(&found.vector), ids(&found.text)), (vec![active.id], vec![active.id]));
    assert_eq!(opened.store.reads().get(all.iter().map(|m| m.id).collect(), soon()).await.unwrap().len(), 4);
}

#[rstest]
#[tokio::test]
async fn warnings_of_an_error_are_candidates_whatever_they_say(#[values(InMemory, Lance, Resident)] backend: Backend) {
    let opened = backend.open().await;
    let store = &opened.store;
    let warnings = Warnings::store(store).await;
    an_error_finds_its_warnings_however_it_is_written(store, &warnings).await;
    conditions_and_visibility_hold_for_warnings(store, &warnings).await;
    the_newest_are_found_where_not_all_have_room(store, &warnings).await;
    warnings_come_beside_the_lists_and_in_them_once(store, &warnings).await;
    a_changed_error_is_found_by_its_new_name_alone(store, &warnings).await;
}

/// The warnings of several errors, here and elsewhere, and a strategy that only reads like a warning.
struct Warnings {
    here: WorkspaceId,
    bare: Memory,
    parsing: Memory,
    network: Memory,
    other: Memory,
    odd: Memory,
    /// A tagged one of a team elsewhere, whose memories are visible.
    red: Memory,
    /// A warning of a team elsewhere, whose memories are not visible.
    blue: Memory,
    strategy: Memory,
}

impl Warnings {
    async fn store(store: &Arc<dyn MemoryStore>) -> Self {
        let [here, there] = [workspace("/here"), workspace("/there")];
        let of = |workspace, error_type: &str, domain: Option<&str>| {
            let mut memory = warning(memory(workspace, &format!("{error_type} {domain:?}"), "nothing alike"));
            let error = memory.error_context.as_mut().unwrap();
            (error.error_type, error.task_domain) = (error_type.into(), domain.map(Into::into));
            memory
        };
        let bare = of(&here, "builtins.ValueError", None);
        let parsing = of(&here, "ValueError", Some("Parsing"));
        let network = of(&here, "ValueError: bad % _ literal", Some("network"));
        let other = of(&here, "XValueError", None);
        let odd = of(&here, "it's 100%_odd", Some("a|b"));
        let foreign = of(&there, "ValueError", None);
        let mut red = of(&there, "ValueError", Some("red"));
        (red.scope, red.team, red.pattern_tags) = (Scope::Team, Some("red".into()), vec!["io".into()]);
        let mut blue = of(&there, "ValueError", Some("blue"));
        (blue.scope, blue.team) = (Scope::Team, Some("blue".into()));
        let retired = Memory { status: Status::Archived, ..of(&here, "ValueError", Some("retired")) };
        let strategy = memory(&here, "ValueError", "ValueError|parsing");
        let all = [&bare, &parsing, &network, &other, &odd, &foreign, &red, &blue, &retired, &strategy];
        add(store, &all.map(Memory::clone)).await;
        commit(store, vec![Record::Signal(signal(&bare, SignalKind::Helpful, now()))]).await;
        Self { here, bare, parsing, network, other, odd, red, blue, strategy }
    }

    /// Asks for the warnings of an error, as a member of the red team.
    fn of(&self, raw: &str, domain: Option<&str>) -> Recall {
        Recall {
            signature: Some(Signature::of(raw, domain)),
            visible: Visible { team: Some("red".into()), ..visible(&self.here) },
            ..recall(&self.here)
        }
    }
}

async fn assert_found(store: &Arc<dyn MemoryStore>, recall: Recall, expected: &[&Memory]) {
    let asked = format!("{recall:?}");
    let found = store.reads().candidates(recall, soon()).await.unwrap().facts;
    let expected = sorted(expected.iter().map(|memory| memory.id).collect());
    assert_eq!(sorted(found.into_iter().map(|(facts, _)| facts.id).collect()), expected, "{asked}");
}

async fn an_error_finds_its_warnings_however_it_is_written(store: &Arc<dyn MemoryStore>, warnings: &Warnings) {
    let Warnings { bare, parsing, network, other, odd, red, .. } = warnings;
    assert_found(store, warnings.of("ValueError", None), &[bare, parsing, network, red]).await;
    assert_found(store, warnings.of("valueerror|parsing", None), &[bare, parsing]).await;
    assert_found(store, warnings.of("x.ValueError: y", Some("NETWORK")), &[bare, network]).await;
    assert_found(store, warnings.of("XValueError", Some("any")), &[other]).await;
    assert_found(store, warnings.of("it's 100%_odd", Some("a|b")), &[odd]).await;
    for nobody in ["", "Error", "%", "' OR '1'='1", "value_rror"] {
        assert_found(store, warnings.of(nobody, None), &[]).await;
    }
}

async fn conditions_and_visibility_hold_for_warnings(store: &Arc<dyn MemoryStore>, warnings: &Warnings) {
    let only = |conditions| Recall { conditions, ..warnings.of("ValueError", None) };
    let tagged = Conditions { tags: vec!["io".into()], ..Conditions::default() };
    assert_found(store, only(tagged), &[&warnings.red]).await;
    assert_found(store, only(Conditions { without_warnings: true, ..Conditions::default() }), &[]).await;
    assert_found(store, Recall { visible: Visible::default(), ..warnings.of("ValueError", None) }, &[]).await;
}

/// The newest are found also where there are so many newer ones that their conditions are looked at after the first
/// few.
async fn the_newest_are_found_where_not_all_have_room(store: &Arc<dyn MemoryStore>, warnings: &Warnings) {
    let Warnings { here, parsing, network, red, blue, .. } = warnings;
    assert_found(store, Recall { limit: 2, ..warnings.of("ValueError", None) }, &[network, red]).await;
    let own = Recall { limit: 1, visible: visible(here), ..warnings.of("ValueError", Some("parsing")) };
    assert_found(store, own, &[parsing]).await;
    let of_others =
        (0..20).map(|n| Memory { content: format!("{n}"), id: uuid::Uuid::now_v7().into(), ..blue.clone() });
    add(store, &of_others.collect::<Vec<_>>()).await;
    // Those of another team take no place.
    assert_found(store, Recall { limit: 1, ..warnings.of("ValueError", Some("red")) }, &[red]).await;
}

async fn warnings_come_beside_the_lists_and_in_them_once(store: &Arc<dyn MemoryStore>, warnings: &Warnings) {
    let Warnings { bare, parsing, strategy, .. } = warnings;
    let text = Some("strategy literal parsing".into());
    let both = Recall { text, ..warnings.of("ValueError", Some("parsing")) };
    let candidates = store.reads().candidates(both, soon()).await.unwrap();
    let bare_one = candidates.facts.iter().find(|(facts, _)| facts.id == bare.id).unwrap();
    assert_eq!(bare_one.1.count(SignalKind::Helpful), 1);
    assert!(!ids(&candidates.text).contains(&bare.id) && ids(&candidates.text).contains(&strategy.id));
    assert_eq!(candidates.facts.iter().filter(|(facts, _)| facts.id == parsing.id).count(), 1);
}

async fn a_changed_error_is_found_by_its_new_name_alone(store: &Arc<dyn MemoryStore>, warnings: &Warnings) {
    let Warnings { bare, parsing, .. } = warnings;
    let renamed = next(bare, |memory| memory.error_context.as_mut().unwrap().error_type = "KeyError".into());
    commit(store, vec![change(&renamed, None)]).await;
    assert_found(store, warnings.of("KeyError", None), &[bare]).await;
    assert_found(store, warnings.of("ValueError", Some("parsing")), &[parsing]).await;
}
