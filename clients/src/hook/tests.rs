use super::*;

fn read_of(client: AgentClient, document: &Value) -> Option<HookEvent> {
    HookCall::read(client, &document.to_string(), |text| text.contains("Error")).map(|call| call.event)
}

fn read(document: Value) -> Option<HookEvent> {
    read_of(AgentClient::ClaudeCode, &document)
}

fn failed(error: &str) -> Option<HookEvent> {
    Some(HookEvent::ToolFailed { error: error.to_owned(), command: None })
}

#[test]
fn a_failure_says_what_was_printed_and_not_how_the_command_ended() {
    let event = |error: &str| json!({ "hook_event_name": "PostToolUseFailure", "tool_name": "Bash", "error": error });
    assert_eq!(read(event("Exit code 1\nKeyError: 'user'\n")), failed("KeyError: 'user'"));
    assert_eq!(read(event("File does not exist.")), failed("File does not exist."));
    assert_eq!(read(event("Exit code 1")), None);
    assert_eq!(read(event("Exit code of the tool\nx")), failed("Exit code of the tool\nx"));
}

#[test]
fn an_interrupt_another_event_and_what_is_no_event_say_nothing() {
    let interrupted = json!({ "hook_event_name": "PostToolUseFailure", "error": "x", "is_interrupt": true });
    assert_eq!(read(interrupted), None);
    assert_eq!(read(json!({ "hook_event_name": "Stop" })), None);
    assert_eq!(read(json!({ "hook_event_name": "UserPromptSubmit" })), None);
    assert_eq!(read(json!({})), None);
    assert_eq!(HookCall::read(AgentClient::ClaudeCode, "{ \"hook_event_name\": ", |_| false), None);
    assert_eq!(read_of(AgentClient::Zed, &json!({ "hook_event_name": "SessionStart" })), None);
}

#[test]
fn an_event_names_its_session_and_its_directory() {
    let event = json!({
        "hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": "/w/shop", "prompt": " Add the tax ",
    });
    let call = HookCall::read(AgentClient::ClaudeCode, &event.to_string(), |_| false).unwrap();
    assert_eq!((&*call.session, call.directory), ("s", Some(PathBuf::from("/w/shop"))));
    assert_eq!(call.event, HookEvent::PromptSubmitted { prompt: "Add the tax".to_owned() });
}

#[test]
fn codex_says_in_the_response_that_a_command_failed() {
    let event = |response: Value| {
        read_of(AgentClient::Codex, &json!({ "hook_event_name": "PostToolUse", "tool_response": response }))
    };
    let of_command = |response: Value| {
        let input = json!({ "command": "make" });
        let event = json!({ "hook_event_name": "PostToolUse", "tool_input": input, "tool_response": response });
        read_of(AgentClient::Codex, &event)
    };
    let printed = |code: i32| format!("Exit code: {code}\nWall time: 0.1 seconds\nOutput:\nKeyError: 'user'\n");
    assert_eq!(event(json!(printed(1))), failed("KeyError: 'user'"));
    assert_eq!(event(json!(printed(0))), None);
    assert_eq!(
        event(json!({ "output": "KeyError: 'user'", "metadata": { "exit_code": 2 } })),
        failed("KeyError: 'user'")
    );
    assert_eq!(of_command(json!("Traceback\nKeyError: 'user'\n")), failed("Traceback\nKeyError: 'user'"));
    assert_eq!(of_command(json!("3 passed")), None);
    assert_eq!(event(json!("Traceback\nKeyError: 'user'\n")), None, "a tool that runs no command");
    assert_eq!(event(json!("Exit code: 1 is what it printed")), None);
    assert_eq!(event(Value::Null), None);
}

#[test]
fn gemini_cli_says_below_the_output_that_a_command_failed() {
    let of = |content: &str| {
        let input = json!({ "command": "make" });
        let response = json!({ "llmContent": content, "returnDisplay": "" });
        let event = json!({ "hook_event_name": "AfterTool", "tool_input": input, "tool_response": response });
        read_of(AgentClient::GeminiCli, &event)
    };
    let failed =
        |error: &str| Some(HookEvent::ToolFailed { error: error.to_owned(), command: Some("make".to_owned()) });
    let succeeded = Some(HookEvent::ToolSucceeded { command: "make".to_owned() });
    assert_eq!(
        of(
            "<untrusted_context>\nOutput: Traceback\nKeyError: 'user'\nExit Code: 1\nProcess Group PGID: 7\n</untrusted_context>"
        ),
        failed("Traceback\nKeyError: 'user'")
    );
    assert_eq!(of("Output: killed it\nSignal: 9\nProcess Group PGID: 7"), failed("killed it"));
    assert_eq!(of("Output: (empty)\nError: spawn ENOENT"), failed("(empty)\nError: spawn ENOENT"));
    assert_eq!(of("Output: 3 passed\nProcess Group PGID: 7"), succeeded);
    assert_eq!(of("Output: Exit Code: 1 is what it printed\nall is well"), succeeded);
    assert_eq!(of("Command moved to background (PID: 7). Output hidden."), None);
    let compressing = json!({ "hook_event_name": "PreCompress", "trigger": "auto" });
    assert_eq!(read_of(AgentClient::GeminiCli, &compressing), Some(HookEvent::Compacting { transcript: None }));
}

#[test]
fn cursor_names_the_session_and_the_directory_in_its_own_way_and_is_answered_in_it() {
    let event = json!({
        "hook_event_name": "sessionStart", "conversation_id": "c", "workspace_roots": ["/w/shop", "/w/other"],
    });
    let call = HookCall::read(AgentClient::Cursor, &event.to_string(), |_| false).unwrap();
    assert_eq!((&*call.session, call.directory.clone()), ("c", Some(PathBuf::from("/w/shop"))));
    assert_eq!(call.event, HookEvent::SessionStarted);
    assert_eq!(call.answer("known"), json!({ "additional_context": "known" }));
    let compacting = json!({ "hook_event_name": "preCompact", "trigger": "auto" });
    assert_eq!(read_of(AgentClient::Cursor, &compacting), Some(HookEvent::Compacting { transcript: None }));
}

#[test]
fn cursor_says_in_a_text_that_is_json_how_a_command_ended() {
    let of = |result: Value| {
        let event = json!({
            "hook_event_name": "postToolUse", "conversation_id": "c", "cwd": "", "workspace_roots": ["/w/shop"],
            "tool_name": "Shell", "tool_input": { "command": "make", "cwd": "" }, "tool_output": result.to_string(),
        });
        HookCall::read(AgentClient::Cursor, &event.to_string(), |_| true)
    };
    let failed =
        |error: &str| Some(HookEvent::ToolFailed { error: error.to_owned(), command: Some("make".to_owned()) });
    let call = of(json!({ "output": "Traceback\nKeyError: 'user'\n", "exitCode": 1 })).unwrap();
    assert_eq!(call.directory, Some(PathBuf::from("/w/shop")), "an empty directory names none");
    assert_eq!(call.answer("known"), json!({ "additional_context": "known" }));
    assert_eq!(Some(call.event), failed("Traceback\nKeyError: 'user'"));
    let event = |result: Value| of(result).map(|call| call.event);
    assert_eq!(
        event(json!({ "exitCode": 2, "stdout": "1 of 3", "stderr": "KeyError: 'user'" })),
        failed("1 of 3\nKeyError: 'user'")
    );
    assert_eq!(
        event(json!({ "exitCode": 0, "stdout": "3 passed" })),
        Some(HookEvent::ToolSucceeded { command: "make".to_owned() })
    );
    assert_eq!(event(json!({ "output": "KeyError: 'user'" })), None, "no exit code is told");
    assert_eq!(event(json!({ "exitCode": 1 })), None, "nothing was printed");
}

#[test]
fn the_end_of_a_session_names_its_transcript() {
    let event = |path: &str| json!({ "hook_event_name": "SessionEnd", "transcript_path": path, "reason": "exit" });
    for client in [AgentClient::ClaudeCode, AgentClient::GeminiCli] {
        let ended = Some(HookEvent::SessionEnded { transcript: PathBuf::from("/h/session.jsonl") });
        assert_eq!(read_of(client, &event("/h/session.jsonl")), ended, "{client}");
        assert_eq!(read_of(client, &event("")), None, "{client} has no file");
    }
    assert_eq!(read_of(AgentClient::Codex, &event("/h/session.jsonl")), None);
}

#[test]
fn what_an_event_leaves_on_the_disk_is_told_by_its_name() {
    let leaving = |client: AgentClient| -> Vec<&str> {
        let moments = client.hook_moments().iter();
        moments
            .filter(|(name, _)| client.hook_moment(name).is_some_and(HookMoment::leaves))
            .map(|(name, _)| *name)
            .collect()
    };
    assert_eq!(leaving(AgentClient::ClaudeCode), ["PreCompact", "SessionEnd"]);
    assert_eq!(leaving(AgentClient::Codex), ["PreCompact"]);
    assert_eq!(leaving(AgentClient::GeminiCli), ["PreCompress", "SessionEnd"]);
    assert_eq!(leaving(AgentClient::Cursor), ["preCompact"]);
    assert_eq!(AgentClient::Cursor.hook_moment("SessionEnd"), None);
}

#[test]
fn hooks_of_commands_alone_are_run_for_commands_alone() {
    let server =
        ServerCommand { program: "/bin/reasoning-bank".to_owned(), arguments: Vec::new(), variables: Vec::new() };
    let written = |client: AgentClient| {
        let changes = server.hooks(client, "/data");
        changes.into_iter().map(|change| format!("{change:?}")).collect::<Vec<_>>()
    };
    for (client, event, shell) in [
        (AgentClient::ClaudeCode, "PostToolUse", "Bash"),
        (AgentClient::GeminiCli, "AfterTool", "run_shell_command"),
        (AgentClient::Cursor, "postToolUse", "Shell"),
    ] {
        let with_matcher: Vec<String> = written(client).into_iter().filter(|hook| hook.contains("matcher")).collect();
        let [hook] = &with_matcher[..] else { panic!("{with_matcher:?}") };
        assert!(hook.contains(shell) && hook.contains(&format!("[\"hooks\", \"{event}\"]")), "{hook}");
    }
}

#[test]
fn a_command_is_named_when_it_fails_and_when_it_succeeds() {
    let input = json!({ "command": "make", "description": "Build" });
    let event = json!({ "hook_event_name": "PostToolUseFailure", "tool_input": input, "error": "KeyError: 'user'" });
    let command = Some("make".to_owned());
    assert_eq!(read(event), Some(HookEvent::ToolFailed { error: "KeyError: 'user'".to_owned(), command }));
    let succeeded = Some(HookEvent::ToolSucceeded { command: "make".to_owned() });
    let event =
        |response: Value| json!({ "hook_event_name": "PostToolUse", "tool_input": input, "tool_response": response });
    assert_eq!(read(event(json!({ "stdout": "" }))), succeeded);
    assert_eq!(read(json!({ "hook_event_name": "PostToolUse", "tool_input": { "file_path": "x" } })), None);
    let of_codex = |response: Value| read_of(AgentClient::Codex, &event(response));
    assert_eq!(of_codex(json!("Exit code: 0\nOutput:\nfine")), succeeded);
    assert_eq!(of_codex(json!("fine")), None, "nothing says that it succeeded");
    assert_eq!(
        read(json!({ "hook_event_name": "PreCompact", "trigger": "auto" })),
        Some(HookEvent::Compacting { transcript: None })
    );
}

#[test]
fn of_a_long_error_both_ends_are_kept() {
    let error = format!("first{}last", "é".repeat(1_000_000));
    let event = json!({ "hook_event_name": "PostToolUseFailure", "error": error });
    let Some(HookEvent::ToolFailed { error, .. }) = read(event) else { panic!("it failed") };
    assert!(error.starts_with("first") && error.ends_with("last"));
    assert_eq!(error.chars().count(), TEXT_CHARS + 1);
}

#[test]
fn what_codex_only_reads_is_no_failure() {
    let of = |command: &str| {
        let input = json!({ "command": command });
        let event =
            json!({ "hook_event_name": "PostToolUse", "tool_input": input, "tool_response": "KeyError: 'user'" });
        read_of(AgentClient::Codex, &event)
    };
    for reads in ["cat notes.md", "rg KeyError src", "cd docs && sed -n 1,40p log.txt | head -5", "git log -3"] {
        assert_eq!(of(reads), None, "{reads}");
    }
    for runs in ["make", "cat input | python3 load.py", "cd app; cargo test 2>&1 | tail -5", "git push", "catalog"] {
        assert_eq!(of(runs), failed("KeyError: 'user'"), "{runs}");
    }
}
