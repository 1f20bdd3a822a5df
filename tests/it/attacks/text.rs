//! Attacks by a text. It may not carry a secret, or characters that nobody sees, through the bank.

use reasoning_bank::embed::LocalEmbedder;
use reasoning_bank_actors::ports::{Embedder, MemoryStore, Record};
use reasoning_bank_domain::memory::workspace::Workspace;
use reasoning_bank_store::{LanceStore, Options};
use serde_json::{Value, json};

use crate::mcp_process::McpProcess;
use crate::secrets::corpus::{Planted, corpus};
use crate::store_fixtures::{memory, now, record, soon};
use crate::support::{Place, Ran};

/// Returns how many inputs this family goes through.
pub(super) fn inputs() -> usize {
    corpus().len() * (1 + DISGUISES.len()) + INVISIBLE.len() + ROOTS.len()
}

/// The ways to hide a secret from a rule, each with the texts that stand before it, in it and behind it.
const DISGUISES: [[&str; 3]; 3] =
    [["", "\u{200b}", ""], ["\u{1b}[31m", "", "\u{1b}[0m"], ["\u{202e}", "\u{e0041}\u{fe0f}", "\u{202c}\u{ad}"]];

/// Each holds characters that nobody sees, beside words that stay.
const INVISIBLE: [&str; 20] = [
    "zero\u{200b}width\u{2060} no\u{feff}break",
    "soft\u{ad}hyphen",
    "over\u{202e}ride\u{202c} \u{202a}embedded\u{202b}",
    "\u{2066}isolated\u{2067}\u{2068}text\u{2069}",
    "tags\u{e0001}\u{e0069}\u{e0067}\u{e006e}\u{e006f}\u{e0072}\u{e0065}\u{e007f}",
    "flag 🏴\u{e006f}\u{e0062}\u{e0065}\u{e0079}\u{e0021}\u{e007f}",
    "variants 😀\u{fe0f}\u{e0101}\u{e0102}\u{e0103}",
    "variants of a letter a\u{fe00}b\u{fe0f}",
    "joined\u{200d}letters and\u{200c}not",
    "marks\u{200e}of\u{200f}direction\u{61c}",
    "colours \u{1b}[31mred\u{1b}[0m",
    "title \u{1b}]0;owned\u{7}",
    "link \u{1b}]8;;http://evil.example\u{1b}\\here\u{1b}]8;;\u{1b}\\",
    "c1 \u{9b}2J\u{85}next\u{90}x\u{9c}",
    "controls \u{0}\u{1}\u{8}\u{b}\u{c}\u{7f}",
    "overwritten\rline",
    "fillers \u{3164}\u{115f}\u{1160}\u{ffa0}",
    "mathematics \u{2061}\u{2062}\u{2063}\u{2064}",
    "annotation \u{fff9}a\u{fffa}b\u{fffb} object \u{fffc}",
    "no characters \u{fdd0}\u{ffff}\u{1fffe}",
];

/// The directories with a secret in their path.
const ROOTS: [(&str, &str); 2] =
    [("token=9aB8cD7eF6gH5iJ4", "9aB8cD7eF6gH5iJ4"), ("ghp_16C7e42F292c6912E7710c838347Ae178B4a", "16C7e42F292c6912")];

/// Tells whether a reader sees nothing of it; line ends and tabs are seen. What a script or an emoji needs is not among
/// the texts of these tests.
fn is_unseen(c: char) -> bool {
    let seen_control = matches!(c, '\n' | '\t');
    (c.is_control() && !seen_control)
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' | '\u{feff}')
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
        || matches!(c, '\u{fe00}'..='\u{fe0e}' | '\u{fff9}'..='\u{fffc}' | '\u{fdd0}'..='\u{fdef}')
        || matches!(c, '\u{e0000}'..='\u{e0fff}')
        || u32::from(c) & 0xfffe == 0xfffe
}

#[track_caller]
fn assert_nothing_unseen(what: &str, text: &str) {
    let at = text.find(is_unseen);
    let around = at.map(|at| &text[text.floor_char_boundary(at.saturating_sub(40))..text.ceil_char_boundary(at + 40)]);
    assert!(at.is_none(), "{what} has an invisible character: {around:?}");
}

/// Asserts the same of the strings in a document, because JSON may write characters as escapes.
#[track_caller]
fn assert_no_string_unseen(what: &str, document: &Value) {
    match document {
        Value::String(text) => assert_nothing_unseen(what, text),
        Value::Array(items) => items.iter().for_each(|item| assert_no_string_unseen(what, item)),
        Value::Object(fields) => fields.values().for_each(|field| assert_no_string_unseen(what, field)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn disguised(planted: &Planted, [before, within, behind]: [&str; 3]) -> String {
    let middle = planted.secret.ceil_char_boundary(planted.secret.len() / 2);
    let (start, end) = planted.secret.split_at(middle);
    planted.text.replace(&planted.secret, &format!("{before}{start}{within}{end}{behind}"))
}

/// Cuts texts into parts that are quick to embed.
fn parts(texts: Vec<String>) -> Vec<String> {
    texts.chunks(60).map(|part| part.join("\n\n")).collect()
}

fn lesson(n: usize, content: &str) -> Value {
    json!({"title": format!("Hostile text {n}"), "description": "What a transcript may hold.", "content": content})
}

/// Runs every command that shows memories.
fn shown(place: &Place) -> Vec<(String, Ran)> {
    let commands: [&[&str]; 6] = [
        &["memory", "list", "--limit", "200"],
        &["--json", "memory", "list", "--limit", "200"],
        &["memory", "search", "hostile text of a transcript", "--n", "50"],
        &["--json", "memory", "search", "hostile text of a transcript", "--n", "50"],
        &["memory", "export", "--all"],
        &["--json", "memory", "export", "--all"],
    ];
    commands.iter().map(|arguments| (format!("{arguments:?}"), place.run(arguments).ok())).collect()
}

#[test]
fn no_secret_and_no_invisible_character_comes_out_of_a_text_that_is_recorded() {
    let corpus = corpus();
    assert!(inputs() >= 150, "{}", inputs());
    let plain = corpus.iter().map(|planted| planted.text.clone());
    let hidden = DISGUISES.iter().flat_map(|disguise| corpus.iter().map(|planted| disguised(planted, *disguise)));
    let texts = plain.chain(hidden).collect();
    let place = Place::new();
    let mut process = McpProcess::initialized(&place, &["--llm", "none"]);
    let mut said = Vec::new();
    let (mut dropped, mut created) = (0, 0);
    let invisible = INVISIBLE.map(str::to_owned).to_vec();
    for (n, content) in parts(texts).into_iter().chain(parts(invisible)).enumerate() {
        let answer = process.call("record_memory", lesson(n, &content));
        dropped += answer["dropped_characters"].as_u64().unwrap_or(0);
        // Texts that differ in what nobody sees may say the same, and confirm each other then.
        created += usize::from(answer["status"] == "created");
        said.push(("record_memory".to_owned(), answer.to_string()));
    }
    assert!(dropped as usize > corpus.len() * DISGUISES.len(), "{dropped}");
    let found = process.call(
        "retrieve_memories",
        json!({"query": "hostile text of a transcript", "n_results": 50, "min_relevance": 0, "max_tokens": 200_000, "detail": "full"}),
    );
    assert_eq!(found["memories"].as_array().unwrap().len(), created, "{found}");
    assert_no_string_unseen("retrieve_memories", &found);
    said.push(("retrieve_memories".to_owned(), found.to_string()));
    assert_eq!(process.call("get_statistics", json!({}))["memories"]["total"], created);
    assert!(process.end().status.success());

    for (name, ran) in shown(&place) {
        assert_nothing_unseen(&name, &ran.stdout);
        said.push((name, ran.stdout));
    }
    for Planted { text, secret } in &corpus {
        let escaped = serde_json::to_string(secret).unwrap();
        for form in [secret.as_str(), escaped.trim_matches('"')] {
            for (name, output) in &said {
                assert!(!output.contains(form), "{name} has the secret of {text:?}");
            }
        }
    }
}

/// The memory is written into the tables as an earlier version, or another program, did it.
#[tokio::test]
async fn what_was_stored_with_invisible_characters_is_shown_without() {
    let place = Place::new();
    let root = place.path("project").display().to_string();
    let workspace = Workspace::of_root(&root, now());
    let embedder = LocalEmbedder::builtin();
    let store = LanceStore::open(&place.path("data"), embedder.fingerprint(), Options::default()).await.unwrap();
    let content = INVISIBLE.join("\n");
    let stored = memory(&workspace.id, "Hostile \u{200b}title \u{1b}[31mred", &content);
    store.commit(vec![Record::Workspace(workspace), record(&stored, None)], soon()).await.unwrap();
    drop(store);

    for (name, ran) in shown(&place) {
        assert_nothing_unseen(&name, &ran.stdout);
        assert!(ran.stdout.contains("Hostile"), "{name}: {}", ran.stdout);
    }
    let exported = place.run(&["memory", "export"]).ok();
    let line: Value = serde_json::from_str(exported.stdout.lines().next().unwrap()).unwrap();
    assert_eq!(line["content"], content.as_str(), "an export says what is stored");
    let shown = place.run(&["memory", "get", &stored.id.to_string()]).ok();
    assert!(shown.stdout.contains("\\u{200b}") && shown.stdout.contains("\\u{1b}"), "{}", shown.stdout);
    assert_nothing_unseen("memory get", &shown.stdout);

    let mut process = McpProcess::initialized(&place, &["--llm", "none"]);
    let found = process.call("retrieve_memories", json!({"query": "hostile title", "detail": "full"}));
    assert_eq!(found["memories"].as_array().unwrap().len(), 1, "{found}");
    assert_no_string_unseen("retrieve_memories", &found);
    assert_eq!(found["memories"][0]["title"], "Hostile title red");
}

#[test]
fn what_was_dropped_is_said_by_every_way_in() {
    let place = Place::new();
    let hidden = "Keep the\u{200b} old value until the new one is checked.";
    let record = ["memory", "record", "--title", "Hidden", "--description", hidden, "--content", hidden];
    let recorded = place.run(&record).ok();
    assert!(recorded.stdout.contains("2 invisible characters were dropped before it was stored"), "{recorded:?}");
    let exported = place.run(&["memory", "export"]).ok().stdout;
    let file = place.write("hidden.jsonl", &exported.replace("Keep the", "Keep\u{202e} the"));
    let other = Place::new();
    let imported = other.run(&["--json", "memory", "import", "--yes", file.to_str().unwrap()]).ok().json();
    assert_eq!(imported["dropped_characters"], 2, "{imported}");
    assert_nothing_unseen("the import", &other.run(&["memory", "export", "--all"]).ok().stdout);
}

#[test]
fn a_secret_in_the_path_of_a_project_is_shown_nowhere_and_the_project_is_still_found() {
    for (name, secret) in ROOTS {
        let place = Place::new();
        let root = place.path(name);
        std::fs::create_dir(&root).unwrap();
        let run = |arguments: &[&str]| {
            let mut command = place.command(arguments);
            Ran::of(command.current_dir(&root).output().unwrap())
        };
        let record = ["memory", "record", "--title", "A", "--description", "B", "--content", "C is what it says."];
        run(&record).ok();
        let again = run(&["--json", "memory", "search", "C is what it says"]).ok().json();
        assert_eq!(again["memories"].as_array().unwrap().len(), 1, "{again}");
        let (shown, listed): ([&[&str]; 2], [&[&str]; 3]) = (
            [&["workspace", "show"], &["--json", "workspace", "show"]],
            [&["workspace", "list"], &["--json", "workspace", "list"], &["memory", "export", "--all"]],
        );
        let others: [&[&str]; 6] = [
            &["config", "show"],
            &["--json", "config", "show"],
            &["doctor"],
            &["workspace", "switch", "."],
            &["workspace", "delete", "."],
            &["--json", "workspace", "move", "nowhere", "."],
        ];
        for arguments in shown.into_iter().chain(listed).chain(others) {
            let ran = run(arguments);
            for output in [&ran.stdout, &ran.stderr] {
                assert!(!output.contains(secret), "{arguments:?}: {output}");
            }
        }
        let mut command = place.command(&["--llm", "none", "mcp"]);
        command.current_dir(&root).env("REASONING_BANK__MCP__TOOLSETS", "all");
        let mut process = McpProcess::spawn(command);
        process.initialize();
        let listed = process.call("list_workspaces", json!({}));
        assert_eq!(listed["workspaces"].as_array().unwrap().len(), 1, "{listed}");
        let found = process.call("retrieve_memories", json!({"query": "C is what it says"}));
        assert_eq!(found["memories"].as_array().unwrap().len(), 1, "{found}");
        let ended = process.end();
        for output in [&listed.to_string(), &found.to_string(), &ended.stderr] {
            assert!(!output.contains(secret), "{output}");
        }
    }
}
