use std::fs::OpenOptions;
use std::sync::{Arc, Mutex};

use tracing_subscriber::fmt::layer;
use tracing_subscriber::prelude::*;

use super::*;

/// The texts that were written, one for each call.
#[derive(Clone, Default)]
struct Writes(Arc<Mutex<Vec<String>>>);

impl Write for Writes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().push(String::from_utf8(bytes.to_vec()).unwrap());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns what `log` writes as text, and as JSON.
fn logged(log: impl Fn()) -> [Vec<String>; 2] {
    [false, true].map(|json| {
        let writes = Writes::default();
        let made = writes.clone();
        let layer = layer().with_ansi(false).with_writer(RedactingLines::to(move || made.clone(), json));
        let layer = if json { layer.json().boxed() } else { layer.boxed() };
        tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), &log);
        let writes = writes.0.lock().unwrap();
        writes.clone()
    })
}

/// The secrets of the corpus with the text around them.
fn secrets() -> Vec<(String, String)> {
    let corpus = include_str!("../../../domain/src/safety/secrets/corpus.txt");
    let lines = corpus.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(" | "));
    let texts = lines.map(|(_, text)| {
        let text = text.replace('·', "").replace("\\\\", "\0").replace("\\n", "\n").replace("\\r", "\r");
        text.replace('\0', "\\")
    });
    texts
        .filter_map(|text| {
            let (_, rest) = text.split_once('«')?;
            let (secret, _) = rest.split_once('»')?;
            Some((text.replace(['«', '»'], ""), secret.to_owned()))
        })
        .collect()
}

#[test]
fn no_secret_of_the_corpus_is_in_a_line_and_json_stays_json() {
    let secrets = secrets();
    assert!(secrets.len() > 60, "{}", secrets.len());
    for (text, secret) in secrets {
        let escaped = serde_json::to_string(&secret).unwrap();
        let escaped = escaped.trim_matches('"');
        let lines = logged(|| {
            tracing::info!("{text}");
            tracing::info!(%text, "as a field");
            tracing::info!(?text, "quoted");
            let _inside = tracing::info_span!("around", text).entered();
            tracing::info!("in a span");
        });
        for line in lines.iter().flatten() {
            assert!(!line.contains(&secret) && !line.contains(escaped), "{secret:?} in {line}");
        }
        for line in &lines[1] {
            assert!(serde_json::from_str::<Value>(line).unwrap()["fields"]["message"].is_string(), "{line}");
        }
    }
}

#[test]
fn a_line_without_secrets_is_written_as_it_is_with_one_call() {
    let [text, json] = logged(|| tracing::warn!(tokens = 12, "the token is invalid"));
    assert!(text[0].ends_with("the token is invalid tokens=12\n"), "{text:?}");
    assert!(json[0].ends_with("}\n"), "{json:?}");
    assert_eq!((text.len(), json.len()), (1, 1));
}

#[test]
fn a_line_that_is_too_long_is_left_out_and_said_to_be() {
    let [text, json] = logged(|| tracing::info!("password=hunter2 {}", "x".repeat(MAX_LINE)));
    assert!(text[0].starts_with("WARN a line of the log was left out bytes=65"), "{text:?}");
    let left_out: Value = serde_json::from_str(&json[0]).unwrap();
    assert!(left_out["fields"]["bytes"].as_u64().unwrap() > MAX_LINE as u64, "{left_out}");
}

#[test]
fn what_nobody_sees_is_written_out_and_colours_stay() {
    let line = "\u{1b}[32m INFO\u{1b}[0m a\u{200b}b \u{1b}]0;title\u{7} \u{9b}31m \u{202e}end\n";
    let expected = "\u{1b}[32m INFO\u{1b}[0m a\\u{200b}b \\u{1b}]0;title\\u{7} \\u{9b}31m \\u{202e}end\n";
    assert_eq!(clean(line, false), expected);
    assert_eq!(clean("{\"message\":\"a\u{200b}\u{9b}31mb\"}\n", true), "{\"message\":\"ab\"}\n");
}

#[test]
fn json_is_scrubbed_string_by_string() {
    let line = r#"{"fields":{"message":"password = \"hunter2\""},"number":1}"#;
    let cleaned: Value = serde_json::from_str(&clean(line, true)).unwrap();
    assert_eq!(cleaned, json!({"fields": {"message": "password = \"[REDACTED:assigned]\""}, "number": 1}));
}

#[test]
fn lines_of_several_writers_do_not_mix() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log");
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let path = &path;
            scope.spawn(move || {
                let lines = RedactingLines::to(OpenOptions::new().append(true).create(true).open(path).unwrap(), false);
                for _ in 0..200 {
                    let line = format!("{}\n", writer.to_string().repeat(5_000));
                    lines.make_writer().write_all(line.as_bytes()).unwrap();
                }
            });
        }
    });
    let text = std::fs::read_to_string(path).unwrap();
    assert_eq!(text.lines().count(), 800);
    for line in text.lines() {
        assert!(line.len() == 5_000 && line.bytes().all(|byte| byte == line.as_bytes()[0]), "a mixed line");
    }
}
