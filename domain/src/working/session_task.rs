//! The running task of a session: the last request of its transcript as working memory, so that an agent whose
//! conversation was replaced by a summary finds its plan and its results again.

use std::collections::HashSet;

use serde_json::Value;

use super::{
    EntryKind, ExecutionState, Operation, PlannedSubtask, SetValue, TaskContext, TaskSnapshot, ValueScope,
    WorkingMemory, WorkingValueKind,
};
use crate::learning::episodes::{kept_results, request_id};
use crate::learning::transcript::UserRequest;
use crate::memory::ids::WorkingId;
use crate::memory::workspace::WorkspaceId;

/// The key under which a task that was read from a transcript has its session.
const SESSION_KEY: &str = "session of the transcript";
const PHASE: &str = "execution";

/// The work on the last request of a session, as its transcript tells it.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionTask {
    id: WorkingId,
    session: String,
    task: TaskContext,
    state: ExecutionState,
    /// The results of calls, each under a name of its own.
    results: Vec<(String, String)>,
}

impl SessionTask {
    /// Reads the task of a request. `session` names the client and its session. The task has the id of the episode that
    /// the request becomes, so that there is one episode whoever ends first.
    pub fn of(request: &UserRequest, workspace_id: &WorkspaceId, session: &str) -> Self {
        let plan = request.plan.steps.iter().map(|step| PlannedSubtask {
            id: step.id.clone(),
            title: step.title.clone(),
            depends_on: Vec::new(),
        });
        Self {
            id: request_id(request, workspace_id).uuid().into(),
            session: session.to_owned(),
            task: TaskContext { description: request.question.clone(), plan: plan.collect(), ..TaskContext::default() },
            state: ExecutionState {
                phase: PHASE.to_owned(),
                current: request.plan.current.clone(),
                completed: request.plan.done.clone(),
                failed: Vec::new(),
            },
            results: kept_results(request),
        }
    }

    pub fn id(&self) -> WorkingId {
        self.id
    }

    /// Returns the operations that bring a working memory up to date, and a snapshot at their end. None where it says
    /// all of this. Where an agent has changed the task or how far it is since, its word stays.
    pub fn operations(&self, memory: &WorkingMemory) -> Vec<Operation> {
        let mut operations = Vec::new();
        let is_own =
            |last: &TaskSnapshot| (&last.state.task, &last.state.execution) == (memory.task(), memory.execution());
        let may_tell = memory.snapshots.back().is_none_or(is_own);
        if may_tell && *memory.task() != self.task {
            operations.push(Operation::LoadTask(self.task.clone()));
        }
        if session_of(memory).is_none() {
            operations.push(Operation::Set(SetValue {
                key: SESSION_KEY.to_owned(),
                scope: ValueScope::Global,
                kind: WorkingValueKind::Metadata,
                value: Value::from(self.session.as_str()),
            }));
        }
        if may_tell && *memory.execution() != self.state {
            operations.push(Operation::PushState { state: Some(self.state.clone()), note: None });
        }
        let named = |kind: &EntryKind| match kind {
            EntryKind::Result { subtask } => Some(subtask.clone()),
            _ => None,
        };
        let known: HashSet<String> = memory.entries().iter().filter_map(|entry| named(&entry.kind)).collect();
        let new = self.results.iter().filter(|(name, _)| !known.contains(name));
        operations.extend(new.map(|(name, text)| Operation::AddIntermediate {
            subtask: name.clone(),
            output: Value::from(text.as_str()),
        }));
        if !operations.is_empty() {
            operations.push(Operation::Snapshot);
        }
        operations
    }
}

/// Returns the session of a task that was read from a transcript. None of a task that an agent opened.
pub fn session_of(memory: &WorkingMemory) -> Option<&str> {
    memory.value(ValueScope::Global, SESSION_KEY).map(|entry| &*entry.text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learning::episodes::episode_of;
    use crate::learning::transcript::{RequestPlan, ToolCall};
    use crate::memory::samples::{now, strategy};
    use crate::memory::trace::{PlanStep, TraceSource};

    fn call(tool: &str, input: &str, output: Option<&str>, succeeded: bool) -> ToolCall {
        let output = output.map(str::to_owned);
        ToolCall {
            tool: tool.to_owned(),
            input: input.to_owned(),
            output,
            succeeded: Some(succeeded),
            ..ToolCall::default()
        }
    }

    fn request() -> UserRequest {
        let step = |id: &str, title: &str| PlanStep { id: id.to_owned(), title: title.to_owned(), depends_on: vec![] };
        UserRequest {
            question: "Fix the date parser".to_owned(),
            session: Some("s1".to_owned()),
            plan: RequestPlan {
                steps: vec![step("1", "Reproduce it"), step("2", "Mend it")],
                current: Some("2".to_owned()),
                done: vec!["1".to_owned()],
            },
            calls: vec![
                call("Bash", "cat src/dates.rs", Some("fn parse()"), true),
                call("Bash", "cat missing.rs", Some("No such file"), false),
                call("Bash", "cargo test -p dates", Some("1 failed: day is out of range"), false),
                call("Edit", "src/dates.rs", None, true),
                call("TaskUpdate", "{}", Some("Updated task #1 status"), true),
            ],
            ..UserRequest::default()
        }
    }

    fn brought(memory: &mut WorkingMemory, request: &UserRequest) -> usize {
        let operations = SessionTask::of(request, &strategy(1).workspace_id, "claude-code s1").operations(memory);
        for operation in &operations {
            memory.apply(operation, now()).unwrap();
        }
        operations.len()
    }

    #[test]
    fn the_last_request_of_a_session_is_its_working_memory() {
        let mut memory = WorkingMemory::new("", now());
        assert_eq!(session_of(&memory), None);
        brought(&mut memory, &request());
        assert_eq!(session_of(&memory), Some("claude-code s1"));
        let shown = memory.context(1_000).text;
        for told in ["Fix the date parser", "Mend it", "cargo test -p dates", "day is out of range", "No such file"] {
            assert!(shown.contains(told), "{told}: {shown}");
        }
        assert!(!shown.contains("fn parse()"), "what was only read can be read again");
        assert!(!shown.contains("Updated task"), "the plan says it");
        assert_eq!(memory.execution().completed, ["1"]);
        assert_eq!(memory.snapshots().count(), 1);
    }

    #[test]
    fn what_is_told_again_changes_nothing_and_what_is_new_is_added() {
        let (mut memory, mut request) = (WorkingMemory::new("", now()), request());
        brought(&mut memory, &request);
        assert_eq!(brought(&mut memory, &request), 0);
        let entries = memory.entries().len();
        request.calls[3].output = Some("done".to_owned());
        request.plan.done.push("2".to_owned());
        brought(&mut memory, &request);
        assert_eq!(memory.entries().len(), entries + 1);
        assert_eq!((memory.execution().completed.len(), memory.snapshots().count()), (2, 2));
    }

    #[test]
    fn what_an_agent_says_of_its_task_stays() {
        let (mut memory, mut request) = (WorkingMemory::new("", now()), request());
        brought(&mut memory, &request);
        let told = ExecutionState { phase: "review".to_owned(), ..memory.execution().clone() };
        memory.apply(&Operation::PushState { state: Some(told), note: None }, now()).unwrap();
        request.calls[3].output = Some("done".to_owned());
        let entries = memory.entries().len();
        brought(&mut memory, &request);
        assert_eq!((memory.execution().phase.as_str(), memory.entries().len()), ("review", entries + 1));
    }

    #[test]
    fn the_task_has_the_id_of_the_episode_of_its_request() {
        let (request, workspace) = (request(), strategy(1).workspace_id);
        let task = SessionTask::of(&request, &workspace, "claude-code s1");
        let episode = episode_of(&request, TraceSource::Transcript, &workspace, None, now());
        assert_eq!(task.id().uuid(), episode.trace_id.uuid());
    }
}
