//! Episodes out of transcripts, by rules: one for each request of a user for which something was done. The plan comes
//! from todo lists, the entries from calls of tools, and the outcome from tests and other checks that ran. A failure is
//! resolved by the next success of the same tool on the same thing.

mod calls;
mod checks;
mod command_line;
mod failed;

use std::collections::{BTreeSet, HashSet};

use jiff::Timestamp;

use self::calls::NamedCall;
use self::checks::verdict;
use self::failed::failures;
use super::transcript::{ToolCall, UserRequest};
use crate::episode::complexity;
use crate::memory::MemoryOutcome;
use crate::memory::ids::{TraceId, derived};
use crate::memory::trace::{
    EpisodeMetadata, EpisodeParts, Execution, Outcome, OutcomeParts, Reflection, ResourceUsage, TaskParts, Trace,
    TraceSource, VerdictSource,
};
use crate::memory::workspace::WorkspaceId;
use crate::safety::secrets::Scrub;

/// The longest name of a result.
const RESULT_NAME_CHARS: usize = 100;

/// Makes the episode of a request. The same request of the same session always has the same id. `owner` is the source
/// of evidence, where it is not the session itself.
pub fn episode_of(
    request: &UserRequest,
    source: TraceSource,
    workspace_id: &WorkspaceId,
    owner: Option<&str>,
    now: Timestamp,
) -> Trace {
    let calls = named_calls(request);
    let check = verdict(&calls);
    let passed = check.map(|(_, passed)| passed);
    let mut tools: Vec<String> = Vec::new();
    for call in &calls {
        if !tools.contains(&call.name) {
            tools.push(call.name.clone());
        }
    }
    let made = request.began.filter(|began| *began <= now).unwrap_or(now);
    let seconds = request.began.zip(request.ended).map(|(began, ended)| ended.duration_since(began).as_secs_f64());
    let parts = EpisodeParts {
        session_id: request.session.clone(),
        task: TaskParts {
            complexity: Some(complexity(&request.question, 0, request.plan.steps.len())),
            ..TaskParts::default()
        },
        execution: Execution {
            plan: request.plan.steps.clone(),
            trace: calls.iter().map(NamedCall::entry).collect(),
            duration_s: seconds.map(|seconds| seconds.max(0.0)),
            resource_usage: ResourceUsage { tool_calls: Some(calls.len() as u64), ..ResourceUsage::default() },
            ..Execution::default()
        },
        outcome: OutcomeParts {
            primary_output: Some(request.answer.clone()).filter(|answer| !answer.is_empty()),
            ..OutcomeParts::default()
        },
        reflection: Reflection { failures_analyzed: failures(&calls), ..Reflection::default() },
        metadata: EpisodeMetadata { tools_used: tools, ..EpisodeMetadata::default() },
        artefacts: Vec::new(),
        consolidated: None,
    };
    let id = request_id(request, workspace_id);
    let evidence = check.map(|(name, passed)| format!("{name} {}", if passed { "passed" } else { "failed" }));
    let mut trace = Trace {
        source,
        task: request.question.clone(),
        outcome: match passed {
            Some(true) => Outcome::Success,
            Some(false) => Outcome::Failure,
            None => Outcome::Partial,
        },
        verdict_source: if passed.is_some() { VerdictSource::Evidence } else { VerdictSource::None },
        evidence,
        episode: Some(Box::new(parts)),
        ..Trace::reported(id, workspace_id.clone(), "", None, made)
    };
    trace.metadata.source_session = owner.map(str::to_owned).or_else(|| request.session.clone());
    trace.scrub();
    trace
}

fn named_calls(request: &UserRequest) -> Vec<NamedCall<'_>> {
    request.calls.iter().map(NamedCall::of).collect()
}

/// Tells whether something was changed for a request, and a check failed to the end. A request that only looks into a
/// failure changes nothing.
pub(crate) fn checks_failed(request: &UserRequest) -> bool {
    let calls = named_calls(request);
    let has_changed = calls.iter().any(NamedCall::changes_the_work);
    has_changed && matches!(verdict(&calls), Some((_, false)))
}

/// Returns the outcome of a session by the checks that ran in it. One without a check may have gone either way.
pub fn session_outcome(requests: &[UserRequest]) -> MemoryOutcome {
    let passed = |request: &UserRequest| verdict(&named_calls(request)).map(|(_, passed)| passed);
    let all: BTreeSet<bool> = requests.iter().filter_map(passed).collect();
    match (all.contains(&true), all.contains(&false)) {
        (true, false) => MemoryOutcome::Success,
        (false, true) => MemoryOutcome::Failure,
        _ => MemoryOutcome::Mixed,
    }
}

/// Returns the results of the calls of a request, each under a name of its own. What was only read is left out: it can
/// be read again.
pub(crate) fn kept_results(request: &UserRequest) -> Vec<(String, String)> {
    let result = |(n, call): (usize, &ToolCall)| {
        let named = NamedCall::of(call);
        let is_kept = named.changes() || call.succeeded == Some(false);
        let output = call.output.as_deref().filter(|_| is_kept)?;
        let about = call.target.as_deref().filter(|_| !named.is_command()).unwrap_or(&call.input);
        let name = format!("{}. {}", n + 1, named.name).chars().take(RESULT_NAME_CHARS).collect();
        Some((name, format!("{about}\n{output}")))
    };
    request.calls.iter().enumerate().filter_map(result).collect()
}

/// Returns the id of the episode of a request.
pub(crate) fn request_id(request: &UserRequest, workspace_id: &WorkspaceId) -> TraceId {
    let began = request.began.map(|began| began.to_string()).unwrap_or_default();
    let session = request.session.as_deref().unwrap_or_default();
    let of: [&[u8]; 5] = [
        b"episode",
        workspace_id.as_str().as_bytes(),
        session.as_bytes(),
        began.as_bytes(),
        request.question.as_bytes(),
    ];
    derived(&of).into()
}

/// Returns the next revision of a stored episode, where the same request is told with more work than there was: its
/// transcript went on since it was learned. A verdict that was reported meanwhile stays, and so does an outcome that
/// was told for the session, where no check decides another one.
pub fn grown(stored: &Trace, told: &Trace) -> Option<Trace> {
    if stored.trace_id != told.trace_id || amount(told) <= amount(stored) {
        return None;
    }
    let is_undecided = |trace: &Trace| trace.verdict_source == VerdictSource::None;
    let tells_no_outcome = is_undecided(stored) && is_undecided(told) && told.outcome == Outcome::Partial;
    let verdict = if stored.evidence_reported || tells_no_outcome { stored } else { told };
    Some(Trace {
        revision: stored.revision.saturating_add(1),
        outcome: verdict.outcome,
        verdict_source: verdict.verdict_source,
        evidence: verdict.evidence.clone(),
        episode: told.episode.clone(),
        ..stored.clone()
    })
}

/// Returns those of the stored episodes that a transcript tells, in its order, of which it may tell more than is
/// stored: the last one of each session, because the requests before it were over when it began.
pub fn may_have_grown(known: &[Trace]) -> Vec<&Trace> {
    let mut seen = HashSet::new();
    known.iter().rev().filter(|episode| seen.insert(episode.session())).collect()
}

/// Returns the amount of work that is told: the number of calls, of results, and the seconds until the last of them.
fn amount(trace: &Trace) -> (usize, usize, Option<f64>) {
    let Some(parts) = trace.episode.as_deref() else { return (0, 0, None) };
    let calls = &parts.execution.trace;
    (calls.len(), calls.iter().filter(|call| call.output.is_some()).count(), parts.execution.duration_s)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learning::transcript;
    use crate::memory::samples::{now, strategy};

    fn episodes(lines: &[&str]) -> Vec<Trace> {
        let read = transcript::read(lines.join("\n").as_bytes()).unwrap();
        let workspace = strategy(1).workspace_id;
        let of = |request| episode_of(request, TraceSource::Transcript, &workspace, None, now());
        read.requests.iter().map(of).collect()
    }

    fn claude(second: u32, role: &str, content: &str) -> String {
        format!(
            r#"{{"type":"{role}","sessionId":"s1","uuid":"{second}","timestamp":"2026-11-20T10:00:{second:02}Z","message":{{"role":"{role}","content":{content}}}}}"#
        )
    }

    fn call(second: u32, id: &str, tool: &str, input: &str) -> String {
        claude(second, "assistant", &format!(r#"[{{"type":"tool_use","id":"{id}","name":"{tool}","input":{input}}}]"#))
    }

    fn result(second: u32, id: &str, output: &str, failed: bool) -> String {
        let content =
            format!(r#"[{{"type":"tool_result","tool_use_id":"{id}","content":"{output}","is_error":{failed}}}]"#);
        claude(second, "user", &content)
    }

    fn session() -> Vec<String> {
        vec![
            claude(1, "user", r#""Fix the date parser""#),
            call(2, "t", "TodoWrite", r#"{"todos":[{"content":"Reproduce it"},{"content":"Mend it"}]}"#),
            result(3, "t", "ok", false),
            call(4, "a", "Bash", r#"{"command":"cd /w && cargo test -p dates"}"#),
            result(5, "a", "thread 'x' panicked\\nValueError: day is out of range", true),
            call(6, "b", "Edit", r#"{"file_path":"src/dates.rs","old_string":"a","new_string":"b"}"#),
            result(7, "b", "done", false),
            call(8, "c", "Bash", r#"{"command":"cd /w && cargo test -p dates"}"#),
            result(9, "c", "14 passed", false),
            claude(10, "assistant", r#"[{"type":"text","text":"The day is clamped now."}]"#),
            claude(11, "user", r#""Thanks. What does clamp mean?""#),
            claude(12, "assistant", r#"[{"type":"text","text":"To keep within bounds."}]"#),
        ]
    }

    #[test]
    fn a_request_becomes_an_episode_with_its_plan_calls_failure_and_outcome() {
        let lines = session();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let found = episodes(&lines);
        let [trace] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((trace.task.as_str(), trace.outcome), ("Fix the date parser", Outcome::Success));
        assert_eq!(
            (trace.verdict_source, trace.evidence.as_deref()),
            (VerdictSource::Evidence, Some("cargo test passed"))
        );
        assert_eq!((trace.session(), trace.task_type().as_str()), (Some("s1"), "debugging"));
        assert_eq!(trace.primary_output(), Some("The day is clamped now."));
        let parts = trace.episode.as_deref().unwrap();
        assert_eq!(parts.metadata.tools_used, ["TodoWrite", "cargo test", "Edit"]);
        let titles: Vec<&str> = parts.execution.plan.iter().map(|step| step.title.as_str()).collect();
        assert_eq!((titles, parts.execution.duration_s), (vec!["Reproduce it", "Mend it"], Some(9.0)));
        let [failure] = parts.reflection.failures_analyzed.as_slice() else { panic!("{parts:?}") };
        assert_eq!(failure.resolution.as_deref(), Some("Edit src/dates.rs; then cargo test succeeded"));
        assert_eq!(failure.signature, "valueerror|");
        assert_eq!(episodes(&lines), found, "the same request has the same id");
    }

    #[test]
    fn a_check_that_passes_among_other_commands_ends_its_failure() {
        let mut lines = session();
        lines[7] = call(8, "c", "Bash", r#"{"command":"sed -i s/a/b/ src/dates.rs && cargo test -p dates"}"#);
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let trace = episodes(&lines).remove(0);
        assert_eq!((trace.outcome, trace.evidence.as_deref()), (Outcome::Success, Some("cargo test passed")));
        let resolution = trace.failures()[0].resolution.clone();
        let told = "Edit src/dates.rs, `sed -i s/a/b/ src/dates.rs && cargo test -p dates`; then cargo test succeeded";
        assert_eq!(resolution.as_deref(), Some(told));
    }

    #[test]
    fn the_outcome_of_a_session_is_that_of_its_checks() {
        let lines = session();
        let requests = |lines: &[String]| transcript::read(lines.join("\n").as_bytes()).unwrap().requests;
        let (passed, failed) = (requests(&lines), requests(&lines[..5]));
        assert_eq!(session_outcome(&passed), MemoryOutcome::Success);
        assert_eq!(session_outcome(&failed), MemoryOutcome::Failure);
        assert_eq!(session_outcome(&[passed, failed].concat()), MemoryOutcome::Mixed);
        assert_eq!(session_outcome(&[]), MemoryOutcome::Mixed);
    }

    #[test]
    fn a_check_that_failed_last_is_a_failure_and_no_check_is_partial() {
        let lines = session();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        assert_eq!(episodes(&lines[..5])[0].outcome, Outcome::Failure);
        let unchecked = [lines[0], lines[5], lines[6]];
        let found = episodes(&unchecked);
        assert_eq!((found[0].outcome, found[0].verdict_source), (Outcome::Partial, VerdictSource::None));
    }

    /// The run of `cargo test` that failed, and one after it, whose result has no mark.
    fn run_again(printed: &str) -> Trace {
        let mut lines = session();
        lines[8] = result(9, "c", printed, false).replace(r#","is_error":false"#, "");
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        episodes(&lines).remove(0)
    }

    #[test]
    fn a_result_without_a_mark_did_not_fail() {
        let trace = run_again("test result: ok. 2 passed; 0 failed");
        assert_eq!((trace.outcome, trace.evidence.as_deref()), (Outcome::Success, Some("cargo test passed")));
        let resolution = trace.failures()[0].resolution.clone();
        assert_eq!(resolution.as_deref(), Some("Edit src/dates.rs; then cargo test succeeded"));
        let trace = run_again("Exit code 101\\ntest result: FAILED. 1 passed; 1 failed");
        assert_eq!((trace.outcome, trace.evidence.as_deref()), (Outcome::Failure, Some("cargo test failed")));
    }

    #[test]
    fn what_a_file_says_of_exit_codes_is_no_failure() {
        let read = result(3, "r", "# fails with exit code 3 when the disk is full", false);
        let lines = [
            claude(1, "user", r#""Look at the script""#),
            call(2, "r", "Read", r#"{"file_path":"deploy.sh"}"#),
            read.replace(r#","is_error":false"#, ""),
        ];
        let trace = episodes(&lines.iter().map(String::as_str).collect::<Vec<_>>()).remove(0);
        assert_eq!(trace.failures(), []);
    }

    #[test]
    fn a_check_that_ran_again_with_an_unknown_end_leaves_no_older_one_as_the_last_word() {
        let trace = run_again("running 2 tests\\nerror: test failed, to rerun pass `--lib`");
        assert_eq!((trace.outcome, trace.verdict_source), (Outcome::Partial, VerdictSource::None));
        assert_eq!(trace.failures()[0].resolution, None);
    }

    #[test]
    fn the_changes_before_the_success_resolved_a_failure_and_not_what_was_read() {
        let read = |n: u32, file: &str| {
            let (id, second) = (format!("r{n}"), 20 + 2 * n);
            let input = format!(r#"{{"file_path":"{file}"}}"#);
            [call(second, &id, "Read", &input), result(second + 1, &id, "text", false)]
        };
        let mut lines = session();
        let reads = ["src/a.rs", "src/b.rs", "src/c.rs", "src/d.rs", "src/e.rs", "src/f.rs"];
        let reads: Vec<String> = reads.iter().enumerate().flat_map(|(n, file)| read(n as u32, file)).collect();
        lines.splice(5..5, reads);
        let install = [call(40, "i", "Bash", r#"{"command":"cargo add jiff"}"#), result(41, "i", "ok", false)];
        lines.splice(19..19, install);
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let trace = episodes(&lines).remove(0);
        let resolution = trace.failures()[0].resolution.clone();
        assert_eq!(resolution.as_deref(), Some("Edit src/dates.rs, `cargo add jiff`; then cargo test succeeded"));
    }

    #[test]
    fn a_command_on_another_thing_resolves_nothing() {
        let shell = |n: u32, line: &str, failed: bool| {
            let (id, input) = (n.to_string(), format!(r#"{{"command":"{line}"}}"#));
            [call(n, &id, "Bash", &input), result(n + 1, &id, "KeyError: 'x'", failed)]
        };
        let of = |commands: [[String; 2]; 2]| {
            let asked = claude(1, "user", r#""Look at the settings""#);
            let lines: Vec<String> = std::iter::once(asked).chain(commands.into_iter().flatten()).collect();
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            episodes(&lines).remove(0).failures()[0].resolution.clone()
        };
        assert_eq!(of([shell(2, "cat missing.toml", true), shell(4, "cat other.toml", false)]), None);
        assert_eq!(of([shell(2, "cargo test -p a", true), shell(4, "cargo test -p b", false)]), None);
        let worked = of([shell(2, "npm install", true), shell(4, "npm install --legacy-peer-deps", false)]);
        assert_eq!(worked.as_deref(), Some("`npm install --legacy-peer-deps`; then npm install succeeded"));
        assert_eq!(of([shell(2, "cargo test", true), shell(4, "cargo test -p a", false)]), None);
        assert_eq!(of([shell(2, "git push upstream", true), shell(4, "git push origin", false)]), None);
        let told = of([shell(2, "git push", true), shell(4, "git push -u origin pager", false)]);
        assert_eq!(told.as_deref(), Some("`git push -u origin pager`; then git push succeeded"));
    }

    #[test]
    fn a_request_that_went_on_is_the_next_revision_of_its_episode() {
        let lines = session();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let (half, whole) = (episodes(&lines[..5]).remove(0), episodes(&lines).remove(0));
        let next = grown(&half, &whole).unwrap();
        assert_eq!((half.outcome, next.outcome, next.revision), (Outcome::Failure, Outcome::Success, 1));
        assert!(next.follows(&half) && next.episode == whole.episode && next.evidence == whole.evidence);
        assert_eq!((grown(&whole, &whole), grown(&whole, &half)), (None, None));
        let other = Trace { trace_id: crate::memory::samples::trace(9), ..whole.clone() };
        assert_eq!(grown(&half, &other), None);
        let corrected = Trace { outcome: Outcome::Partial, evidence_reported: true, ..half };
        assert_eq!(grown(&corrected, &whole).unwrap().outcome, Outcome::Partial, "somebody reported it");
    }

    #[test]
    fn an_outcome_that_was_told_stays_where_no_check_decides_another_one() {
        let lines = session();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let half = episodes(&[lines[0], lines[5]]).remove(0);
        let whole = episodes(&[lines[0], lines[5], lines[6]]).remove(0);
        let told = Trace { outcome: Outcome::Success, ..half.clone() };
        let next = grown(&told, &whole).unwrap();
        assert_eq!((next.outcome, next.verdict_source), (Outcome::Success, VerdictSource::None));
        let failed = Trace { outcome: Outcome::Failure, ..whole };
        assert_eq!(grown(&told, &failed).unwrap().outcome, Outcome::Failure, "another one is told");
        let checked = episodes(&[lines[0], lines[5], lines[6], lines[3], lines[4]]).remove(0);
        assert_eq!(grown(&told, &checked).unwrap().outcome, Outcome::Failure, "a check decides");
    }

    #[test]
    fn the_last_episode_of_each_session_may_have_grown() {
        let lines = session();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let one = episodes(&lines).remove(0);
        let in_session = |n: u128, session: &str| {
            let mut trace = Trace { trace_id: crate::memory::samples::trace(n), ..one.clone() };
            trace.episode.as_mut().unwrap().session_id = Some(session.to_owned());
            trace
        };
        let known = [in_session(1, "a"), in_session(2, "b"), in_session(3, "a"), in_session(4, "a")];
        assert_eq!(may_have_grown(&known), [&known[3], &known[1]]);
        assert_eq!(may_have_grown(&[]), Vec::<&Trace>::new());
    }

    #[test]
    fn the_calls_of_codex_and_of_plain_messages_are_read() {
        let codex = [
            r#"{"timestamp":"2026-11-20T10:00:00Z","type":"session_meta","payload":{"id":"c1"}}"#,
            r#"{"timestamp":"2026-11-20T10:00:01Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Run the tests"}]}}"#,
            r#"{"timestamp":"2026-11-20T10:00:02Z","type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{\"command\":[\"bash\",\"-lc\",\"pytest -q\"]}","call_id":"1"}}"#,
            r#"{"timestamp":"2026-11-20T10:00:03Z","type":"response_item","payload":{"type":"function_call_output","call_id":"1","output":"{\"output\":\"KeyError: 'x'\",\"metadata\":{\"exit_code\":1}}"}}"#,
        ];
        let found = episodes(&codex);
        assert_eq!((found[0].outcome, found[0].session()), (Outcome::Failure, Some("c1")));
        assert_eq!(found[0].episode.as_ref().unwrap().metadata.tools_used, ["pytest"]);
        let plain = [
            r#"{"role":"user","content":"Look around"}"#,
            r#"{"role":"assistant","content":"ok","tool_calls":[{"id":"1","type":"function","function":{"name":"mcp__files__list","arguments":"{\"path\":\"/w\"}"}}]}"#,
        ];
        let found = episodes(&plain);
        assert_eq!(found[0].episode.as_ref().unwrap().metadata.tools_used, ["files.list"]);
    }

    #[test]
    fn what_only_was_said_is_no_episode() {
        assert_eq!(
            episodes(&[r#"{"role":"user","content":"Why?"}"#, r#"{"role":"assistant","content":"Because."}"#]),
            []
        );
    }
}
