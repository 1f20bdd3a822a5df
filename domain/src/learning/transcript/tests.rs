use proptest::prelude::*;
use rstest::rstest;

use super::*;

macro_rules! fixture {
    ($name:literal) => {
        include_bytes!(concat!("../../../../tests/data/transcripts/", $name)).as_slice()
    };
}

fn exchanges(text: &str) -> Vec<(String, String)> {
    let read = read(text.as_bytes()).unwrap().exchanges.into_iter();
    read.map(|exchange| (exchange.question, exchange.answer)).collect()
}

fn pair(question: &str, answer: &str) -> (String, String) {
    (question.into(), answer.into())
}

#[rstest]
#[case::messages(fixture!("messages.jsonl"), Format::Messages, 2, None)]
#[case::claude_code(fixture!("claude_code.jsonl"), Format::ClaudeCode, 2, Some("7c1f9a52-30a8-4d0e-9b1e-2f6f0b7f5a11"))]
#[case::codex(fixture!("codex.jsonl"), Format::Codex, 2, Some("019bfe10-aaaa-7000-8000-000000000001"))]
#[case::codex_old(fixture!("codex_old.jsonl"), Format::Codex, 1, Some("0198e5c2-bbbb-7000-8000-000000000002"))]
#[case::gemini_cli(fixture!("gemini_cli.jsonl"), Format::GeminiCli, 2, Some("2c9941b8-8acf-4240-b436-60ff66c05de3"))]
#[case::chat(fixture!("chat.md"), Format::Chat, 2, None)]
#[case::notes(fixture!("notes.md"), Format::Notes, 2, None)]
fn every_format_is_known_by_its_content(
    #[case] bytes: &[u8],
    #[case] format: Format,
    #[case] count: usize,
    #[case] session: Option<&str>,
) {
    let read = read(bytes).unwrap();
    assert_eq!((read.format, read.exchanges.len()), (format, count), "{:#?}", read.exchanges);
    for exchange in &read.exchanges {
        assert_eq!(exchange.session.as_deref(), session);
        let text = format!("{exchange:?}");
        for left_out in
            ["SECRETTHOUGHT", "TOOLRESULT", "SIDECHAIN", "environment_context", "system-reminder", "AGENTS.md"]
        {
            assert!(!text.contains(left_out), "{left_out}: {text}");
        }
    }
}

#[test]
fn an_exchange_has_the_time_of_what_was_said_last_in_answer() {
    let said = |role: &str, at: &str| format!(r#"{{"role": "{role}", "content": "{at} words", "timestamp": "{at}"}}"#);
    let [asked, begun, done] = [0, 5, 9].map(|minute| format!("2026-01-05T10:0{minute}:00Z"));
    let lines = [said("user", &asked), said("assistant", &begun), said("assistant", &done)];
    let undated = r#"{"role": "user", "content": "q"}"#.to_owned() + "\n" + r#"{"role": "assistant", "content": "a"}"#;
    let at = |text: &str| read(text.as_bytes()).unwrap().exchanges[0].at;
    assert_eq!(at(&lines.join("\n")), Some(done.parse().unwrap()));
    assert_eq!(at(&undated), None);
}

#[test]
fn a_message_of_gemini_cli_that_is_written_again_is_said_once_and_has_its_calls_once() {
    let read = read(fixture!("gemini_cli.jsonl")).unwrap();
    assert_eq!(read.exchanges[0].answer.matches("I'll run the export first.").count(), 1, "{:#?}", read.exchanges);
    assert!(read.exchanges[0].answer.ends_with("old sessions were written without it."));
    let [request] = read.requests.as_slice() else { panic!("{:#?}", read.requests) };
    let calls: Vec<_> = request.calls.iter().map(|call| (call.input.as_str(), call.succeeded)).collect();
    assert_eq!(calls, [("python3 export.py", Some(false)), ("python3 export.py --since 1", Some(true))]);
    let output = request.calls[0].output.as_deref().unwrap();
    assert!(output.starts_with("Output: TOOLRESULT") && !output.contains("met before"), "{output}");
}

#[test]
fn nothing_is_left_of_what_a_user_of_gemini_cli_took_back() {
    let header = r#"{"sessionId":"s","projectHash":"p","startTime":"2026-01-05T10:00:00Z"}"#.to_owned();
    let said = |id: &str, kind: &str, text: &str| {
        format!(r#"{{"id":"{id}","timestamp":"2026-01-05T10:00:00Z","type":"{kind}","content":"{text}"}}"#)
    };
    let asked = |n: u32| {
        [
            said(&format!("u{n}"), "user", &format!("question {n}")),
            said(&format!("g{n}"), "gemini", &format!("answer {n}")),
        ]
    };
    let rewound = |id: &str| format!(r#"{{"$rewindTo":"{id}"}}"#);
    let questions = |lines: Vec<String>| -> Vec<String> {
        let read = read(lines.join("\n").as_bytes()).unwrap();
        assert!(read.exchanges.iter().all(|exchange| exchange.session.as_deref() == Some("s")));
        read.exchanges.into_iter().map(|exchange| exchange.question).collect()
    };
    let told = |ends: &[String]| [&[header.clone()][..], &asked(1), &asked(2), &asked(3), ends].concat();
    let all = ["question 1", "question 2", "question 3"];
    assert_eq!(questions(told(&[])), all);
    assert_eq!(questions(told(&[rewound("u2")])), all[..1]);
    let again = [rewound("u3"), rewound("u2"), said("u3", "user", "question 3"), said("g3", "gemini", "answer 3")];
    assert_eq!(questions(told(&again)), [all[0], all[2]]);
    let forgotten = [&[rewound("unknown")][..], &asked(4)].concat();
    assert_eq!(questions(told(&forgotten)), ["question 4"]);
}

#[test]
fn an_answer_is_all_that_is_said_until_the_next_question() {
    let read = read(fixture!("claude_code.jsonl")).unwrap();
    let [export, tests] = read.exchanges.as_slice() else { panic!("{:#?}", read.exchanges) };
    assert!(export.question.starts_with("The nightly export of the shop fails"));
    assert!(export.answer.starts_with("I'll look at the export job first.\n\nThe export builds the whole result"));
    assert!(export.answer.ends_with("don't commit in the loop."), "a command without words ends it: {}", export.answer);
    assert_eq!(tests.question, "please run the whole test suite once more");
}

#[test]
fn broken_lines_are_counted_and_named_and_the_others_are_read() {
    let read = read(fixture!("messages.jsonl")).unwrap();
    assert_eq!(read.unreadable, Unreadable { lines: 1, first: vec![4] });
    let text = "oops\n{\"role\":\"user\",\"content\":\"question\"}\n\n\"text\"\n{\"role\":\"assistant\",\"content\":\"answer\"}\n";
    let read = super::read(text.as_bytes()).unwrap();
    assert_eq!((read.exchanges.len(), read.unreadable), (1, Unreadable { lines: 2, first: vec![1, 4] }));
}

#[rstest]
#[case("", TranscriptError::Empty)]
#[case(" \n\t ", TranscriptError::Empty)]
#[case("{broken\n{too", TranscriptError::NoMessages { lines: 2, first: 1 })]
#[case("{\"a\":1}", TranscriptError::Unrecognised)]
#[case("just a text\nof two lines", TranscriptError::Unrecognised)]
#[case("a\0b", TranscriptError::NotText)]
fn a_file_with_nothing_readable_is_refused(#[case] text: &str, #[case] error: TranscriptError) {
    assert_eq!(read(text.as_bytes()), Err(error));
}

#[rstest]
#[case::list(r#"[{"role":"human","content":"q"},{"role":"model","content":{"text":"a"}}]"#)]
#[case::object(
    "{\n \"messages\": [\n {\"role\": \"user\", \"content\": \"q\"},\n {\"role\": \"ai\", \"content\": [\"a\"]}\n ]\n}"
)]
#[case::calls(r#"{"messages":[{"role":"user","content":"q"},{"role":"tool","content":"r"},{"role":"assistant","content":null},{"role":"assistant","content":"a"}]}"#)]
#[case::marked("\u{feff}{\"role\":\"user\",\"content\":\"q\"}\r\n{\"role\":\"assistant\",\"content\":\"a\"}\r\n")]
fn messages_come_in_several_forms(#[case] text: &str) {
    let read = read(text.as_bytes()).unwrap();
    assert_eq!(read.unreadable.lines, 0);
    assert_eq!(exchanges(text), [pair("q", "a")]);
}

#[test]
fn conversations_in_one_file_do_not_answer_each_other() {
    let line = |q: &str| {
        format!(
            r#"{{"session_id":"{q}","messages":[{{"role":"user","content":"{q}"}},{{"role":"assistant","content":"a"}}]}}"#
        )
    };
    let text = format!("{}\n{{\"messages\":[{{\"role\":\"user\",\"content\":\"open\"}}]}}\n{}", line("x"), line("y"));
    let read = read(text.as_bytes()).unwrap();
    let found: Vec<_> = read.exchanges.iter().map(|e| (e.question.as_str(), e.session.as_deref())).collect();
    assert_eq!(found, [("x", Some("x")), ("y", Some("y"))]);
}

#[rstest]
#[case("**User:** q\n\n**Assistant:** a", &[("q", "a")])]
#[case("Human: q\nmore\n\nAssistant: a\n\nHuman: q2\nAssistant: a2", &[("q\nmore", "a"), ("q2", "a2")])]
#[case("Q: q\nA: a\n\nSystem: be brief\n\nA: b", &[("q", "a\n\nb")])]
#[case("### You said:\nq\n### ChatGPT said:\na\nUser: no speaker", &[("q", "a\nUser: no speaker")])]
#[case("## 👤 User\nq\n## 🤖 Assistant\na\n~~~\n## User\n~~~", &[("q", "a\n~~~\n## User\n~~~")])]
#[case("Nutzer: q\nAssistent: a\nNutzer: q2\nAssistent: a2", &[("q", "a"), ("q2", "a2")])]
#[case("Usuario: q\nAsistente: a", &[("q", "a")])]
#[case("Utente: q\nAssistente: a", &[("q", "a")])]
#[case("**Gebruiker:** q\n**Assistent:** a", &[("q", "a")])]
#[case("Utilisateur : q\nAssistant : a", &[("q", "a")])]
#[case("ユーザー：q\nアシスタント：a", &[("q", "a")])]
fn speakers_are_named_in_many_ways(#[case] text: &str, #[case] expected: &[(&str, &str)]) {
    let expected: Vec<_> = expected.iter().map(|(question, answer)| pair(question, answer)).collect();
    assert_eq!(read(text.as_bytes()).unwrap().format, Format::Chat);
    assert_eq!(exchanges(text), expected);
}

#[test]
fn a_note_is_a_heading_with_its_path_and_what_stands_below_it() {
    let text = "Title\n=====\n\nintro\n\n## Locks\n\n### Rows\n\nbody\n```\n# no heading\n```\n\n## Empty\n";
    assert_eq!(read(text.as_bytes()).unwrap().format, Format::Notes);
    assert_eq!(exchanges(text), [pair("Title", "intro"), pair("Title > Locks > Rows", "body\n```\n# no heading\n```")]);
}

#[test]
fn what_codex_tells_its_screen_counts_where_there_is_nothing_else() {
    let event = |kind: &str, text: &str| {
        format!(r#"{{"timestamp":"t","type":"event_msg","payload":{{"type":"{kind}","message":"{text}"}}}}"#)
    };
    let text = [event("user_message", "q"), event("token_count", "x"), event("agent_message", "a")].join("\n");
    assert_eq!(exchanges(&text), [pair("q", "a")]);
}

#[test]
fn words_behind_a_command_are_a_question() {
    let user = |text: &str| format!(r#"{{"type":"user","message":{{"role":"user","content":"{text}"}}}}"#);
    let text = [
        user("<command-name>/fix</command-name><command-args>the login bug</command-args>"),
        r#"{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"a"}]}}"#.into(),
    ];
    assert_eq!(exchanges(&text.join("\n")), [pair("the login bug", "a")]);
}

#[test]
fn long_answers_are_read_in_parts_and_what_is_cut_is_counted() {
    let one = |q: &str, a: &str| {
        format!("{{\"role\":\"user\",\"content\":\"{q}\"}}\n{{\"role\":\"assistant\",\"content\":\"{a}\"}}\n")
    };
    let long = read(one(&"q".repeat(MAX_QUESTION_CHARS + 9), &"ä".repeat(MAX_ANSWER_CHARS + 9)).as_bytes()).unwrap();
    assert_eq!(long.exchanges[0].question.chars().count(), MAX_QUESTION_CHARS);
    let answers: Vec<usize> = long.exchanges.iter().map(|exchange| exchange.answer.chars().count()).collect();
    assert_eq!((answers, long.cut_characters), (vec![MAX_ANSWER_CHARS, 9], 9));
    let notes = format!("# Build\n{}\n", "The linker is lld.\n".repeat(MAX_ANSWER_CHARS / 10));
    let parts = read(notes.as_bytes()).unwrap().exchanges;
    let lines: usize = parts.iter().map(|part| part.answer.matches("The linker is lld.").count()).sum();
    assert_eq!((parts.len(), lines), (2, MAX_ANSWER_CHARS / 10));
    assert!(parts.iter().all(|part| part.question == "Build"));
    let many = read(one("q", "a").repeat(MAX_EXCHANGES + 3).as_bytes()).unwrap();
    assert_eq!((many.exchanges.len(), many.left_out), (MAX_EXCHANGES, 3));
}

fn line() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        "\"role\":",
        "\"user\"",
        "\"assistant\"",
        "\"content\":",
        ",",
        ":",
        "\"type\":",
        "\"message\":",
        "\"payload\":",
        "<system-reminder>",
        "</",
        "<command-name>",
        "# ",
        "## User",
        "**Assistant:**",
        "```",
        "---",
        "===",
        "\n",
        "\u{feff}",
        "ä",
        " ",
        "text",
        "null",
        "\\",
        "\"",
        "1",
    ]);
    prop::collection::vec(words, 0..60).prop_map(|words| words.concat())
}

proptest! {
    #[test]
    fn reading_never_panics_and_keeps_its_bounds(text in line(), bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for bytes in [text.as_bytes(), bytes.as_slice()] {
            if let Ok(read) = read(bytes) {
                for exchange in read.exchanges {
                    prop_assert!(!exchange.question.trim().is_empty() && !exchange.answer.trim().is_empty());
                }
            }
        }
    }

    #[test]
    fn what_is_said_is_found_again(said in prop::collection::vec(("[a-z]{1,9}", "[a-z]{1,9}"), 1..9)) {
        let line = |role: &str, text: &str| serde_json::json!({"role": role, "content": text}).to_string();
        let lines: Vec<String> = said.iter().flat_map(|(q, a)| [line("user", q), line("assistant", a)]).collect();
        prop_assert_eq!(exchanges(&lines.join("\n")), said);
    }
}

#[test]
fn a_file_of_nothing_but_small_values_is_refused_before_it_is_parsed() {
    for text in ["0,".repeat(2 << 20), "{},".repeat(2 << 20), "[".repeat(4 << 20)] {
        assert_eq!(read(format!("[{text}0]").as_bytes()), Err(TranscriptError::TooManyValues));
        assert_eq!(read(format!("{{\"a\":[{text}0]}}\n").as_bytes()), Err(TranscriptError::TooManyValues));
    }
    let many =
        "{\"role\":\"user\",\"content\":\"How?\"}\n{\"role\":\"assistant\",\"content\":\"So.\"}\n".repeat(50_000);
    assert!(read(many.as_bytes()).is_ok());
}

#[test]
fn a_conversation_is_written_as_messages_from_its_end_on() {
    let said = [("How?", "So."), ("And \"then\"?", "Again,\nso.")];
    let line = |role: &str, text: &str| serde_json::json!({"role": role, "content": text}).to_string();
    let lines: Vec<String> = said.iter().flat_map(|(q, a)| [line("user", q), line("assistant", a)]).collect();
    let read = read(lines.join("\n").as_bytes()).unwrap();
    let said = said.map(|(question, answer)| (question.to_owned(), answer.to_owned()));
    assert_eq!(exchanges(&read.messages(10_000)), said);
    assert_eq!(exchanges(&read.messages(100)), said[1..]);
    assert_eq!(read.messages(10), "");
}
