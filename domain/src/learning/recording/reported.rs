//! The lessons that come with a report: each is recorded as learned from the memories that the report is about. What a
//! failed check printed, where the report gives it as evidence, is kept with the warning that it belongs to.

use jiff::Timestamp;

use super::{RecordRefusal, RecordRequest};
use crate::evidence::feedback::Learning;
use crate::evidence::report::Report;
use crate::learning::lesson::PrintedError;
use crate::memory::ids::MemoryId;
use crate::memory::trace::{Outcome, Trace};
use crate::memory::{FieldProblem, Memory, MemoryInvalid, MemoryOutcome, Scope, SourceType, Trust};
use crate::safety::secrets::Scrub;

/// Makes memories of the lessons of a report. `trace` is its trace with what is reported.
///
/// # Errors
///
/// All that is wrong with any of them at once.
pub fn reported_lessons(
    report: &Report<'_>,
    trace: Option<&Trace>,
    now: Timestamp,
    id: impl Fn() -> MemoryId,
) -> Result<Vec<Memory>, RecordRefusal> {
    let (mut lessons, mut problems) = (Vec::<Memory>::new(), Vec::new());
    for (n, learning) in report.request.learnings.iter().enumerate() {
        let mut memory = request_of(learning, report, trace, now).into_memory(id(), report.workspace, now)?;
        report.memories.iter().for_each(|(source, _)| memory.derive_from(source));
        memory.trace_id = trace.map(|trace| trace.trace_id);
        memory.trace_outcome = trace.map(|trace| trace.outcome);
        memory.scrub();
        if let Err(invalid) = memory.validate() {
            let of_lesson = |FieldProblem { field, problem }| {
                let problem = format!("of learnings[{n}] {problem}");
                FieldProblem { field, problem }
            };
            problems.extend(invalid.problems.into_iter().map(of_lesson));
        }
        lessons.push(memory);
    }
    let printed = report.request.verdict.evidence.as_ref().map(PrintedError::of).unwrap_or_default();
    printed.write_on(lessons.iter_mut().filter_map(|memory| memory.error_context.as_mut()));
    if problems.is_empty() { Ok(lessons) } else { Err(MemoryInvalid { problems }.into()) }
}

fn request_of(learning: &Learning, report: &Report<'_>, trace: Option<&Trace>, now: Timestamp) -> RecordRequest {
    // An episode may be told long after it was.
    let episode = trace.filter(|trace| trace.episode.is_some() && trace.created_at < now);
    let parents: Vec<MemoryId> = report.memories.iter().map(|(memory, _)| memory.id).collect();
    RecordRequest {
        title: learning.title.clone(),
        description: learning.description.clone(),
        content: learning.content.clone(),
        // What is learned of a task that failed, and names no error, tells what did not work.
        outcome: trace.filter(|trace| trace.outcome == Outcome::Failure).map(|_| MemoryOutcome::Failure),
        error_context: learning.error_context.clone(),
        pattern_tags: Vec::new(),
        domain_category: None,
        difficulty_level: None,
        parent_memory_id: parents.first().copied(),
        derived_from: parents,
        scope: Scope::Project,
        task: trace.map(|trace| trace.task.clone()),
        workspace: report.request.workspace.clone(),
        source_type: SourceType::Explicit,
        trust: Trust::Agent,
        session: report.request.source().map(str::to_owned),
        supersedes: Vec::new(),
        valid_from: episode.map(|trace| trace.created_at.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::evidence::confidence::Evidence;
    use crate::evidence::feedback::FeedbackRequest;
    use crate::memory::ErrorContext;
    use crate::memory::observation::{EvidenceKind, Feedback, Observed};
    use crate::memory::samples::{self, days_ago, id, now, strategy};
    use crate::memory::workspace::{Workspace, WorkspaceRef};

    fn learning(title: &str, content: &str) -> Learning {
        Learning { title: title.into(), description: "when".into(), content: content.into(), error_context: None }
    }

    fn lessons(learnings: Vec<Learning>, trace: Option<&Trace>) -> Result<Vec<Memory>, RecordRefusal> {
        lessons_with(learnings, trace, Feedback::default())
    }

    fn lessons_with(
        learnings: Vec<Learning>,
        trace: Option<&Trace>,
        verdict: Feedback,
    ) -> Result<Vec<Memory>, RecordRefusal> {
        let request = FeedbackRequest {
            workspace: WorkspaceRef::Root("/home/ann/project".into()),
            memory_ids: vec![id(1), id(2)],
            trace_id: None,
            task: None,
            commit: None,
            verdict,
            learnings,
            session: Some("s".into()),
            counts_in: vec![],
            is_work: true,
        };
        let memories = vec![
            (strategy(1), Evidence::default()),
            (Memory { evolution_stage: 2, trust: Trust::Model, ..strategy(2) }, Evidence::default()),
        ];
        let workspace = Workspace::of_root("/home/ann/project", now());
        let report = Report::of(&request, &workspace, trace.cloned(), false, memories).unwrap();
        reported_lessons(&report, trace, now(), || Uuid::from_u128(9).into())
    }

    #[test]
    fn lessons_descend_from_the_memories_of_their_report() {
        let trace = Trace {
            task: "fix the pager".into(),
            outcome: Outcome::Failure,
            ..Trace::reported(samples::trace(1), strategy(1).workspace_id, "s", None, now())
        };
        let learned = lessons(vec![learning("Cap the pause", "at a minute")], Some(&trace)).unwrap();
        let [memory] = learned.as_slice() else { panic!("{learned:?}") };
        assert_eq!((memory.id, memory.parent_memory_id), (id(9), Some(id(1))));
        assert_eq!((&*memory.derived_from, memory.evolution_stage), (&[id(1), id(2)][..], 3));
        assert_eq!((memory.trust, memory.source_session.as_deref()), (Trust::Model, Some("s")));
        assert_eq!((&*memory.task, memory.trace_id), ("fix the pager", Some(trace.trace_id)));
        assert_eq!(memory.trace_outcome, Some(Outcome::Failure));
        assert_eq!(memory.outcome, MemoryOutcome::Failure, "it is no strategy");
        let solved = Trace { outcome: Outcome::Success, ..trace };
        for trace in [Some(&solved), None] {
            let learned = lessons(vec![learning("Cap the pause", "at a minute")], trace).unwrap();
            assert_eq!(learned[0].outcome, MemoryOutcome::Success);
        }
    }

    #[test]
    fn lessons_of_an_episode_were_said_when_it_was() {
        let before = days_ago(300.0);
        let trace = Trace::reported(samples::trace(1), strategy(1).workspace_id, "s", None, before);
        let said_at =
            |trace: &Trace| lessons(vec![learning("Cap it", "at a minute")], Some(trace)).unwrap()[0].said_at();
        assert_eq!(said_at(&trace), now());
        assert_eq!(said_at(&Trace { episode: Some(Box::default()), ..trace }), before);
    }

    #[test]
    fn what_a_failed_check_printed_is_kept_with_the_warning_of_its_error() {
        let warning = |error_type: &str| {
            let error = samples::warning(1).error_context.map(|error| ErrorContext {
                error_type: error_type.into(),
                error_message: None,
                stack_trace: None,
                ..error
            });
            Learning { error_context: error, ..learning(error_type, "content") }
        };
        let messages = |passed| {
            let detail = Some("exit code 1\n  File \"a.py\", line 3, in load\nValueError: bad literal".into());
            let evidence = Some(Observed { kind: EvidenceKind::ExitCode, passed, detail });
            let verdict = Feedback { evidence, ..Feedback::default() };
            let learned = lessons_with(vec![warning("KeyError"), warning("ValueError")], None, verdict).unwrap();
            let errors = learned.into_iter().filter_map(|memory| memory.error_context);
            errors.map(|error| (error.error_message, error.stack_trace)).collect::<Vec<_>>()
        };
        let printed = (Some("ValueError: bad literal".into()), Some("File \"a.py\", in load".into()));
        assert_eq!(messages(false), [(None, None), printed]);
        assert_eq!(messages(true), [(None, None), (None, None)]);
    }

    #[test]
    fn all_that_is_wrong_with_any_lesson_is_told_at_once() {
        let bad = vec![learning("Fine", "content"), learning(" ", "content"), learning("Title", "")];
        let RecordRefusal::Memory(invalid) = lessons(bad, None).unwrap_err() else { panic!("they are invalid") };
        let problems: Vec<_> = invalid.problems.iter().map(|bad| (bad.field, bad.problem.as_str())).collect();
        let expected =
            [("title", "of learnings[1] is missing or blank"), ("content", "of learnings[2] is missing or blank")];
        assert_eq!(problems, expected);
    }

    #[test]
    fn secrets_do_not_get_into_lessons() {
        let key = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
        let learned = lessons(vec![learning("Title", &format!("token {key}"))], None).unwrap();
        assert!(!learned[0].content.contains(&key), "{}", learned[0].content);
    }
}
