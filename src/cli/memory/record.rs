//! The way from the arguments of `memory record`, flags or a file, to the request. The memory itself says what is
//! missing in it, all of it at once.

use reasoning_bank_actors::memories::RecordRequest;
use reasoning_bank_actors::workspaces::WorkspaceRef;
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::memory::{ErrorContext, MemoryOutcome, Scope, SourceType, Trust};
use serde::Deserialize;

use crate::cli::args::{ErrorArgs, LessonArgs};
use crate::cli::failure::CommandFailure;
use crate::cli::input::{self, FromObject};

/// The arguments of the MCP tool `record_memory`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct LessonFile {
    title: String,
    description: String,
    content: String,
    outcome: Option<MemoryOutcome>,
    error_context: Option<FromObject<ErrorFile>>,
    pattern_tags: Vec<String>,
    domain_category: Option<String>,
    difficulty_level: Option<String>,
    parent_memory_id: Option<MemoryId>,
    derived_from: Vec<MemoryId>,
    scope: Scope,
    task: Option<String>,
    supersedes: Vec<MemoryId>,
    valid_from: Option<String>,
    /// The workspace is a path or an id. `--workspace` wins over it.
    pub(super) workspace: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ErrorFile {
    error_type: String,
    failure_pattern: String,
    corrective_guidance: String,
    error_message: Option<String>,
    stack_trace: Option<String>,
    task_domain: Option<String>,
}

impl LessonFile {
    pub(super) fn parse(text: &str) -> Result<Self, CommandFailure> {
        input::document(text)
    }

    pub(super) fn of_flags(lesson: LessonArgs, error: ErrorArgs) -> Self {
        let ErrorArgs { error_type, failure_pattern, corrective_guidance } = error;
        let any = [&error_type, &failure_pattern, &corrective_guidance].into_iter().any(Option::is_some);
        let error_context = any.then(|| {
            FromObject(ErrorFile {
                error_type: error_type.unwrap_or_default(),
                failure_pattern: failure_pattern.unwrap_or_default(),
                corrective_guidance: corrective_guidance.unwrap_or_default(),
                ..ErrorFile::default()
            })
        });
        Self {
            title: lesson.title.unwrap_or_default(),
            description: lesson.description.unwrap_or_default(),
            content: lesson.content.unwrap_or_default(),
            outcome: lesson.outcome.map(Into::into),
            error_context,
            pattern_tags: lesson.tags,
            domain_category: lesson.domain,
            difficulty_level: lesson.difficulty,
            parent_memory_id: lesson.parent,
            derived_from: lesson.derived_from,
            scope: lesson.scope.into(),
            task: lesson.task,
            supersedes: lesson.supersedes,
            valid_from: lesson.valid_from,
            workspace: None,
        }
    }

    /// Makes the request, in which the user is the one who speaks.
    pub(super) fn into_request(self, workspace: WorkspaceRef) -> RecordRequest {
        RecordRequest {
            title: self.title,
            description: self.description,
            content: self.content,
            outcome: self.outcome,
            error_context: self.error_context.map(|FromObject(error)| ErrorContext {
                error_type: error.error_type,
                failure_pattern: error.failure_pattern,
                corrective_guidance: error.corrective_guidance,
                error_message: error.error_message,
                stack_trace: error.stack_trace,
                task_domain: error.task_domain,
            }),
            pattern_tags: self.pattern_tags,
            domain_category: self.domain_category,
            difficulty_level: self.difficulty_level,
            parent_memory_id: self.parent_memory_id,
            derived_from: self.derived_from,
            scope: self.scope,
            task: self.task,
            workspace,
            source_type: SourceType::Explicit,
            trust: Trust::User,
            session: None,
            supersedes: self.supersedes,
            valid_from: self.valid_from,
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::args::{Cli, Command, MemoryCommand};

    fn of_line(line: &[&str]) -> RecordRequest {
        let cli = Cli::try_parse_from(["x", "memory", "record"].iter().chain(line)).unwrap();
        let Command::Memory(MemoryCommand::Record(args)) = cli.command else { panic!("another command") };
        LessonFile::of_flags(args.lesson, args.error).into_request(WorkspaceRef::Root("/p".into()))
    }

    fn of_file(text: &str) -> RecordRequest {
        LessonFile::parse(text).unwrap().into_request(WorkspaceRef::Root("/p".into()))
    }

    #[test]
    fn flags_and_file_make_the_same_request() {
        let flags = of_line(&[
            "--title",
            "t",
            "--description",
            "d",
            "--content",
            "c",
            "--error-type",
            "E",
            "--failure-pattern",
            "f",
            "--corrective-guidance",
            "g",
            "--tag",
            "a",
            "--tag",
            "b",
            "--domain",
            "rust",
            "--difficulty",
            "easy",
            "--parent",
            "00000000-0000-0000-0000-000000000001",
            "--outcome",
            "mixed",
            "--task",
            "the task",
        ]);
        let file = of_file(
            r#"{"title":"t","description":"d","content":"c",
                "error_context":{"error_type":"E","failure_pattern":"f","corrective_guidance":"g"},
                "pattern_tags":["a","b"],"domain_category":"rust","difficulty_level":"easy",
                "parent_memory_id":"00000000-0000-0000-0000-000000000001","outcome":"mixed","task":"the task"}"#,
        );
        assert_eq!(flags, file);
        assert_eq!(flags.trust, Trust::User);
    }

    #[test]
    fn what_is_missing_is_left_for_the_memory_to_tell() {
        assert_eq!(of_file("{}"), of_line(&[]));
        assert_eq!(of_file("{}").title, "");
        assert_eq!(of_line(&["--error-type", "E"]).error_context.unwrap().failure_pattern, "");
    }

    #[test]
    fn a_file_that_cannot_be_read_names_the_field() {
        let message = |text: &str| LessonFile::parse(text).unwrap_err().message;
        assert!(message(r#"{"error_context":{"error_type":7}}"#).starts_with("error_context.error_type: invalid type"));
        assert!(message(r#"{"titel":"t"}"#).contains("unknown field `titel`"));
        let array = message(r#"{"error_context":["E","f","g"]}"#);
        assert!(array.starts_with("error_context: invalid type: sequence, expected one JSON object"), "{array}");
        assert!(message("{").starts_with("the file: EOF"));
        assert!(message("{} {}").starts_with("the file: trailing characters"));
    }
}
