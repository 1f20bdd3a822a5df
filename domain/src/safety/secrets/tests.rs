use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;
use crate::memory::ErrorContext;

const CORPUS: &str = include_str!("corpus.txt");

/// Returns the number, kind (none for what is no secret) and text of each line, with the secret between « and ».
fn corpus() -> impl Iterator<Item = (usize, Option<&'static str>, String)> {
    CORPUS.lines().enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with('#')).map(|(index, line)| {
        let (kind, text) = line.split_once(" | ").expect("kind | text");
        let text = text.replace('·', "").replace("\\\\", "\u{0}").replace("\\n", "\n").replace("\\r", "\r");
        (index + 1, Some(kind).filter(|kind| *kind != "-"), text.replace('\u{0}', "\\"))
    })
}

#[test]
fn the_corpus_is_of_many_kinds_and_has_many_lookalikes() {
    let kinds: BTreeSet<&str> = corpus().filter_map(|(_, kind, _)| kind).collect();
    let secrets = corpus().filter(|(_, kind, _)| kind.is_some()).count();
    let lookalikes = corpus().count() - secrets;
    assert!(kinds.len() >= 40 && secrets >= 140 && lookalikes >= 140, "{secrets} of {kinds:?}, {lookalikes}");
    for kind in rules::kinds() {
        assert!(kinds.contains(kind), "no line of the corpus has {kind}");
    }
}

fn without_marks(text: &str) -> String {
    text.replace(['«', '»'], "")
}

#[test]
fn what_a_pattern_matches_has_its_letters() {
    let texts: Vec<String> = corpus().map(|(_, _, text)| without_marks(&text)).collect();
    let of_rules = rules::all().map(|rule| rule.pattern);
    let others = assignment::patterns().chain(pem::patterns()).chain([cookie::pattern()]);
    for (n, pattern) in of_rules.chain(others).enumerate() {
        let missed = texts.iter().find(|text| pattern.matches_without_its_letters(text));
        assert_eq!((n, missed), (n, None));
    }
}

#[test]
fn every_line_of_the_corpus_is_scrubbed_as_it_says() {
    let mut wrong = Vec::new();
    for (line, kind, text) in corpus() {
        let expected = match kind {
            Some(kind) => {
                let (before, rest) = text.split_once('«').unwrap();
                let (_, after) = rest.split_once('»').unwrap();
                format!("{before}[REDACTED:{kind}]{after}")
            }
            None => text.clone(),
        };
        let input = without_marks(&text);
        let scrubbed = scrub(&input);
        if scrubbed.text != expected || scrubbed.redactions != u32::from(kind.is_some()) {
            wrong.push(format!("line {line}: {input:?}\n  expected {expected:?}\n  got      {:?}", scrubbed.text));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_line_is_scrubbed_alike_in_the_middle_of_other_text() {
    for (line, kind, text) in corpus() {
        let input = format!("An agent wrote:\n{}\nand went on.", without_marks(&text));
        let secret = text.split_once('«').and_then(|(_, rest)| rest.split_once('»')).map(|(secret, _)| secret);
        let scrubbed = scrub(&input);
        assert_eq!(scrubbed.redactions, u32::from(kind.is_some()), "line {line}: {}", scrubbed.text);
        assert!(secret.is_none_or(|secret| !scrubbed.text.contains(secret)), "line {line}: {}", scrubbed.text);
        assert!(scrubbed.text.ends_with("\nand went on."), "line {line}: {}", scrubbed.text);
    }
}

#[test]
fn every_secret_is_found_where_a_text_is_a_field_of_a_log_line() {
    let mut wrong = Vec::new();
    for (line, kind, text) in corpus().filter(|(_, kind, _)| kind.is_some()) {
        let (_, rest) = text.split_once('«').unwrap();
        let (secret, _) = rest.split_once('»').unwrap();
        let text = without_marks(&text);
        let quoted = format!("{text:?}");
        let lines = [
            format!("INFO said text={text}\n"),
            format!("INFO said text={quoted}\n"),
            format!("INFO around{{text={quoted}}}: place: in a span\n"),
            quoted,
        ];
        for input in lines {
            let scrubbed = scrub(&input);
            if scrubbed.text.contains(secret) {
                wrong.push(format!("line {line} ({kind:?}): {}", scrubbed.text));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_secret_is_found_where_a_text_stands_in_json() {
    let mut wrong = Vec::new();
    for (line, kind, text) in corpus().filter(|(_, kind, _)| kind.is_some()) {
        let (_, rest) = text.split_once('«').unwrap();
        let (secret, _) = rest.split_once('»').unwrap();
        let escaped = |text: &str| serde_json::to_string(text).unwrap().trim_matches('"').to_owned();
        for before in ["", "wrote:\n", "wrote:\t", "wrote: "] {
            let input =
                format!("{{\"content\": \"{}\"}}", escaped(&format!("{before}{}\nand went on.", without_marks(&text))));
            let scrubbed = scrub(&input);
            if scrubbed.text.contains(&escaped(secret)) {
                wrong.push(format!("line {line} ({kind:?}): {}", scrubbed.text));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_value_in_json_ends_at_the_line_break_that_is_written_in_it() {
    let text = serde_json::to_string("DB_PASSWORD=s3cr3t_p4ss\n\nDB_PASS='S3cret!pass'\napiKey: 'k3y-92Fh-77Qz-01Lm',")
        .unwrap();
    let found = scrub(&text);
    assert_eq!(found.redactions, 3, "{}", found.text);
}

#[test]
fn the_whole_corpus_in_one_text_has_all_its_secrets_counted() {
    let text: String = corpus().map(|(_, _, text)| without_marks(&text) + "\n\n").collect();
    let secrets = corpus().filter(|(_, kind, _)| kind.is_some()).count();
    let scrubbed = scrub(&text);
    assert_eq!(scrubbed.redactions as usize, secrets);
    assert!(scrubbed.kinds.contains("github") && scrubbed.kinds.contains("private-block"));
}

#[test]
fn no_secret_is_left_where_the_lines_of_the_corpus_stand_one_below_the_other() {
    let planted = || corpus().filter(|(_, kind, _)| kind.is_some()).map(|(_, _, text)| text);
    let text: String = planted().map(|text| without_marks(&text) + "\n").collect();
    let scrubbed = scrub(&text);
    let secret = |text: &str| text.split_once('«').unwrap().1.split_once('»').unwrap().0.to_owned();
    for secret in planted().map(|text| secret(&text)) {
        let at = scrubbed.text.find(&secret);
        let around =
            at.map(|at| &scrubbed.text[scrubbed.text.floor_char_boundary(at.saturating_sub(200))..at + secret.len()]);
        assert_eq!(around, None, "{secret}");
    }
}

#[test]
fn a_text_without_secrets_is_not_copied() {
    assert!(matches!(scrub("Prefer an exclusive upper bound.").text, Cow::Borrowed(_)));
}

#[test]
fn every_text_of_a_memory_is_scrubbed_and_counted() {
    let mut error = ErrorContext {
        error_type: "AuthError".into(),
        failure_pattern: "password = \"hunter2\" in the log".into(),
        corrective_guidance: "fetch it at run time".into(),
        error_message: Some("401 for Bearer 7f3kQ9zLm2Xv8TnR5bWc1Hs".into()),
        stack_trace: None,
        task_domain: None,
    };
    assert_eq!(error.scrub().redactions, 2);
    assert_eq!(error.failure_pattern, "password = \"[REDACTED:assigned]\" in the log");
    assert_eq!(error.error_message.as_deref(), Some("401 for Bearer [REDACTED:bearer]"));
    assert!(error.scrub().is_nothing());
}

#[test]
fn json_is_scrubbed_string_by_string_and_stays_json() {
    let mut document = serde_json::json!({"score": 1, "learnings": [{"content": "{\"password\": \"hunter2\"}"}]});
    assert_eq!(document.scrub(), Removed { redactions: 1, dropped_characters: 0 });
    let expected = "{\"password\": \"[REDACTED:assigned]\"}";
    assert_eq!(document, serde_json::json!({"score": 1, "learnings": [{"content": expected}]}));
}

/// The time is generous, for unoptimised and perhaps instrumented code on a busy machine. Quadratic code would take an
/// hour.
const TIMEOUT: Duration = Duration::from_secs(120);

#[test]
fn a_megabyte_of_anything_takes_time_in_proportion() {
    let repeated = [
        "a",
        "password=",
        "password: x = ",
        "token=\"",
        "--token ",
        "sk-",
        "eyJaaaaaaaaa.",
        "a://b:",
        "a://b:c@",
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        "ABCDEFGHIJKLMNOPQRSTUVWX\n",
        "é",
        "password=a1B2c3D4e5F6 ",
    ];
    for unit in repeated {
        let text = unit.repeat(1_000_000 / unit.len());
        let started = Instant::now();
        let scrubbed = scrub(&text);
        assert!(started.elapsed() < TIMEOUT, "{unit:?} took {:?}", started.elapsed());
        assert_eq!(scrub(&scrubbed.text).redactions, 0, "{unit:?}");
    }
}

fn fragment() -> impl Strategy<Value = String> {
    let pieces: Vec<String> = corpus().map(|(_, _, text)| without_marks(&text)).collect();
    let glue = [
        " ",
        "\n",
        "=",
        ": ",
        "\"",
        "'",
        "\\",
        "@",
        "://",
        ".",
        "-",
        "_",
        "/",
        "[",
        "]",
        "é",
        "password",
        "token=",
        "Bearer ",
        "sk-",
        "--token ",
        "[REDACTED:jwt]",
        "[REDACTED:",
        "a1B2",
        "get_x(",
        " is ",
        "&str = ",
        "-----BEGIN PRIVATE KEY-----",
    ];
    prop_oneof![
        2 => prop::sample::select(pieces),
        5 => prop::sample::select(glue.map(str::to_owned).to_vec()),
        1 => "[a-zA-Z0-9+/_=-]{1,40}",
        1 => "[ -~]{0,20}",
        1 => "\\PC{0,5}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn scrubbing_again_finds_nothing(fragments in prop::collection::vec(fragment(), 1..12)) {
        let text = fragments.concat();
        let once = scrub(&text);
        let twice = scrub(&once.text);
        prop_assert_eq!(&twice.text, &once.text);
        prop_assert_eq!(twice.redactions, 0);
    }

    #[test]
    fn what_is_counted_is_what_was_marked(fragments in prop::collection::vec("[a-zA-Z0-9 =:\"\n-]{0,30}|password: |hunter2", 1..8)) {
        let text = fragments.concat();
        let scrubbed = scrub(&text);
        prop_assert_eq!(scrubbed.text.matches(MARKER).count(), scrubbed.redactions as usize);
        prop_assert_eq!(scrubbed.redactions == 0, scrubbed.kinds.is_empty());
    }
}
