use proptest::prelude::*;

use super::*;
use crate::memory::samples::{days_ago, id, now, strategy};

fn workspace() -> Workspace {
    Workspace { team: Some("blue".into()), ..Workspace::of_root("/home/ann/project", now()) }
}

fn request() -> RecordRequest {
    RecordRequest {
        title: "Retry with backoff".into(),
        description: "when a call may fail".into(),
        content: "double the delay".into(),
        outcome: None,
        error_context: None,
        pattern_tags: vec![],
        domain_category: None,
        difficulty_level: None,
        parent_memory_id: None,
        derived_from: vec![],
        scope: Scope::Project,
        task: None,
        workspace: WorkspaceRef::Root("/home/ann/project".into()),
        source_type: SourceType::Explicit,
        trust: Trust::Agent,
        session: None,
        supersedes: vec![],
        valid_from: None,
    }
}

fn error() -> ErrorContext {
    ErrorContext {
        error_type: "TimeoutError".into(),
        failure_pattern: "all retried at once".into(),
        corrective_guidance: "add jitter".into(),
        error_message: None,
        stack_trace: None,
        task_domain: None,
    }
}

fn recorded(request: RecordRequest) -> Result<Memory, RecordRefusal> {
    request.into_memory(id(1), &workspace(), now())
}

fn argument(refused: RecordRefusal) -> FieldProblem {
    let RecordRefusal::Argument(problem) = refused else { panic!("{refused:?}") };
    problem
}

#[test]
fn a_request_becomes_a_memory_of_its_workspace() {
    let memory = recorded(RecordRequest { session: Some("s".into()), ..request() }).unwrap();
    assert_eq!((memory.id, memory.workspace_id.clone()), (id(1), workspace().id));
    assert_eq!((memory.scope, memory.team.clone(), memory.org.clone()), (Scope::Project, None, None));
    assert_eq!((memory.outcome, memory.prior, memory.revision), (MemoryOutcome::Success, 0.8, 1));
    assert_eq!((memory.source_session.as_deref(), memory.created_at), (Some("s"), now()));
    memory.validate().unwrap();
}

#[test]
fn what_warns_of_an_error_is_a_failure_unless_the_caller_says_otherwise() {
    let warning = RecordRequest { error_context: Some(error()), ..request() };
    assert_eq!(recorded(warning.clone()).unwrap().outcome, MemoryOutcome::Failure);
    let mixed = RecordRequest { outcome: Some(MemoryOutcome::Mixed), ..warning };
    assert_eq!(recorded(mixed).unwrap().outcome, MemoryOutcome::Mixed);
}

#[test]
fn an_error_is_of_the_domain_of_its_lesson_unless_it_names_one() {
    let of = |task_domain: Option<&str>| {
        let error_context = Some(ErrorContext { task_domain: task_domain.map(Into::into), ..error() });
        let request = RecordRequest { error_context, domain_category: Some("net".into()), ..request() };
        recorded(request).unwrap().error_context.unwrap().task_domain
    };
    assert_eq!(of(None).as_deref(), Some("net"));
    assert_eq!(of(Some("io")).as_deref(), Some("io"));
}

#[test]
fn what_is_shared_needs_somebody_to_share_it_with() {
    let shared = |scope| recorded(RecordRequest { scope, ..request() });
    let memory = shared(Scope::Team).unwrap();
    assert_eq!((memory.team.as_deref(), memory.org), (Some("blue"), None));
    assert_eq!(shared(Scope::Org), Err(RecordRefusal::NoReaders(Scope::Org)));
}

#[test]
fn words_may_be_older_than_their_record_and_not_newer() {
    let said = |valid_from: &str| recorded(RecordRequest { valid_from: Some(valid_from.into()), ..request() });
    assert_eq!(said("3d").unwrap().said_at(), days_ago(3.0));
    for bad in ["soon", "1969-12-31", "2027-01-01"] {
        assert_eq!(argument(said(bad).unwrap_err()).field, "valid_from", "{bad}");
    }
}

#[test]
fn too_many_links_are_refused() {
    let many: Vec<MemoryId> = (0..51).map(id).collect();
    let derived = RecordRequest { derived_from: many.clone(), ..request() };
    let replacing = RecordRequest { supersedes: many, ..request() };
    for (request, field) in [(derived, "derived_from"), (replacing, "supersedes")] {
        let refused = argument(request.check_counts().unwrap_err());
        assert_eq!((refused.field, &*refused.problem), (field, "has 51 memories; at most 50 are allowed"));
    }
}

#[test]
fn far_too_many_tags_are_refused_by_their_number_alone() {
    let tagged = |n: usize| RecordRequest { pattern_tags: vec![String::new(); n], ..request() }.check_counts();
    tagged(200).unwrap();
    let RecordRefusal::Memory(invalid) = tagged(201).unwrap_err() else { panic!("tags make a memory invalid") };
    assert_eq!(invalid.to_string(), "the memory is not valid: pattern_tags has 201 tags; at most 20 are allowed");
}

#[test]
fn secrets_are_taken_out_of_every_text_and_counted() {
    let key = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    let text = || format!("with {key}");
    let secret = RecordRequest {
        title: text(),
        description: text(),
        content: text(),
        task: Some(text()),
        domain_category: Some(text()),
        difficulty_level: Some(text()),
        pattern_tags: vec![text()],
        error_context: Some(ErrorContext { error_message: Some(text()), ..error() }),
        ..request()
    };
    let (clean, removed) = secret.scrubbed();
    assert_eq!((removed.redactions, removed.dropped_characters), (8, 0));
    assert!(!format!("{clean:?}").contains(&key), "{clean:?}");
}

#[test]
fn a_memory_comes_after_all_that_it_is_said_to_come_from() {
    let named = Memory { parent_memory_id: Some(id(3)), derived_from: vec![id(2), id(3), id(2)], ..strategy(1) };
    assert_eq!(named_sources(&named), [id(2), id(3)]);
    let of_model = Memory { trust: Trust::Model, evolution_stage: 4, ..strategy(3) };
    let memory = with_sources(named, &[strategy(2), of_model]).unwrap();
    assert_eq!((memory.derived_from, memory.evolution_stage, memory.trust), (vec![id(2), id(3)], 5, Trust::Model));
    assert_eq!(with_sources(strategy(1), &[]), Ok(strategy(1)));
}

#[test]
fn a_source_that_is_not_there_is_named_by_its_argument() {
    let field = |memory: Memory| with_sources(memory, &[]).unwrap_err().field;
    assert_eq!(
        field(Memory { parent_memory_id: Some(id(2)), derived_from: vec![id(2)], ..strategy(1) }),
        "parent_memory_id"
    );
    assert_eq!(field(Memory { derived_from: vec![id(2)], ..strategy(1) }), "derived_from");
}

proptest! {
    #[test]
    fn no_memory_is_before_its_sources_or_trusted_more(
        stages in prop::collection::vec((any::<u32>(), 0..4usize), 0..6),
    ) {
        let trust = [Trust::User, Trust::Agent, Trust::Tool, Trust::Model];
        let source = |(n, (stage, of)): (usize, &(u32, usize))| {
            Memory { evolution_stage: *stage, trust: trust[*of], ..strategy(n as u128 + 2) }
        };
        let found: Vec<Memory> = stages.iter().enumerate().map(source).collect();
        let derived_from = found.iter().rev().map(|source| source.id).collect();
        let memory = with_sources(Memory { derived_from, ..strategy(1) }, &found).unwrap();
        prop_assert_eq!(memory.derived_from.len(), found.len());
        for source in &found {
            prop_assert!(memory.evolution_stage >= source.next_stage() && memory.trust <= source.trust);
        }
    }
}
