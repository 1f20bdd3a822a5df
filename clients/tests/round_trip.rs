//! A set-up and what takes it back, on configuration files as people write them.

#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use reasoning_bank_clients::{
    AgentClient, ConfigChange, ConfigFormat, FileRecord, ServerCommand, apply, fingerprint, guidance, remove,
};

fn server() -> ServerCommand {
    ServerCommand {
        program: "/home/ana b/.local/bin/reasoning-bank".to_owned(),
        arguments: ["--llm", "none", "mcp"].map(str::to_owned).to_vec(),
        variables: vec!["REASONING_BANK_TOKEN".to_owned()],
    }
}

/// A client for each form of an entry, with the section that its entry is in.
const JSON_CLIENTS: [(AgentClient, &str); 4] = [
    (AgentClient::ClaudeCode, "mcpServers"),
    (AgentClient::Vscode, "servers"),
    (AgentClient::Opencode, "mcp"),
    (AgentClient::Zed, "context_servers"),
];

fn space() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        Just(" ".to_owned()),
        Just("\n".to_owned()),
        Just("\n    ".to_owned()),
        Just(" // a, note {\n".to_owned()),
        Just("/* : */".to_owned()),
        Just("\n\n\t".to_owned()),
    ]
}

fn json_value() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("true".to_owned()),
        Just("null".to_owned()),
        Just("-1.5e3".to_owned()),
        Just(r#""a \"quoted\" // text \u00e9""#.to_owned()),
        Just("{}".to_owned()),
        Just("[]".to_owned()),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        (prop::collection::vec((space(), inner, space()), 1..3), any::<bool>()).prop_map(|(values, is_map)| {
            let values = values.iter().enumerate().map(|(at, (before, value, after))| {
                if is_map { format!("{before}\"k{at}\":{value}{after}") } else { format!("{before}{value}{after}") }
            });
            let values = values.collect::<Vec<_>>().join(",");
            if is_map { format!("{{{values}}}") } else { format!("[{values}]") }
        })
    })
}

/// An object with other keys, with or without the section of the servers, and with other servers in it.
fn json_file(section: &'static str) -> impl Strategy<Value = String> {
    let entry = || (space(), json_value(), space());
    let servers = prop::option::of((prop::collection::vec(entry(), 0..3), space(), any::<bool>()));
    let entries = prop::collection::vec(entry(), 0..3);
    (servers, entries, space(), space(), any::<bool>(), any::<bool>(), any::<bool>()).prop_map(
        move |(servers, entries, before, after, comma, windows, marked)| {
            let list = |entries: &[(String, String, String)], prefix: &str| -> Vec<String> {
                let one = |(at, (before, value, after)): (usize, &(String, String, String))| {
                    format!("{before}\"{prefix}{at}\" :{after}{value}{after}")
                };
                entries.iter().enumerate().map(one).collect()
            };
            let mut parts = list(&entries, "other");
            if let Some((servers, space, comma)) = servers {
                let comma = if comma && !servers.is_empty() { "," } else { "" };
                parts.insert(
                    parts.len() / 2,
                    format!("{space}\"{section}\": {{{}{comma}{space}}}", list(&servers, "server").join(",")),
                );
            }
            let comma = if comma && !parts.is_empty() { "," } else { "" };
            let text = format!("{before}{{{}{comma}{after}}}{before}", parts.join(","));
            let text = if windows { text.replace('\n', "\r\n") } else { text };
            if marked { format!("\u{feff}{text}") } else { text }
        },
    )
}

fn toml_file() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("# a note\n"),
        Just("\n"),
        Just("[mcp_servers.other]\ncommand = \"x\"   # why\nargs = [\n  \"a\", # first\n  \"b\",\n]\n"),
        Just("[mcp_servers.other.env]\nKEY = 'v'\n"),
        Just("[profiles.fast]\nmodel=\"m\"\n"),
        Just("[[rules]]\nname = \"r\"\n"),
        Just("[history]\npersistence   =    \"none\"\n"),
    ];
    (prop::collection::vec(piece, 0..6), any::<bool>(), any::<bool>()).prop_map(|(pieces, windows, end)| {
        let mut seen = Vec::new();
        let mut text = String::from("model = \"o\" # top\n");
        for piece in pieces {
            let is_table = piece.starts_with('[') && !piece.starts_with("[[");
            if !is_table || !seen.contains(&piece) {
                text.push_str(piece);
                seen.push(piece);
            }
        }
        if !end {
            text.truncate(text.trim_end().len());
        }
        if windows { text.replace('\n', "\r\n") } else { text }
    })
}

fn yaml_file() -> impl Strategy<Value = String> {
    let entry = prop_oneof![
        Just("developer:\n  enabled: true\n  # inner\n  type: builtin\n"),
        Just("# above the next\nother:\n  args:\n  - a\n  - 'b: c'\n\n  cmd: x\n"),
        Just("\nflow: {enabled: true, type: builtin}\n"),
    ];
    let section = prop_oneof![
        Just(None),
        Just(Some((String::new(), 0))),
        (prop::collection::vec(entry, 1..3), prop_oneof![Just(2), Just(4)])
            .prop_map(|(entries, indent)| Some((entries.concat(), indent))),
    ];
    (section, any::<bool>(), any::<bool>(), any::<bool>()).prop_map(|(section, first, windows, end)| {
        let mut text = String::from("# of the user\nGOOSE_MODEL: m # why\n");
        if let Some((entries, indent)) = section {
            let line = if entries.is_empty() { "extensions: {}\n" } else { "extensions:   # servers\n" };
            let mut seen = Vec::new();
            let mut block = line.to_owned();
            let mut skipping = false;
            for line in entries.split_inclusive('\n') {
                if !line.starts_with([' ', '#', '\n']) {
                    skipping = seen.contains(&line);
                    seen.push(line);
                }
                if !skipping {
                    let indent = if line == "\n" { "" } else { &"    "[..indent] };
                    block.push_str(&format!("{indent}{line}"));
                }
            }
            text = if first { format!("{block}{text}") } else { format!("{text}{block}") };
        }
        if !end {
            text.truncate(text.trim_end().len());
        }
        if windows { text.replace('\n', "\r\n") } else { text }
    })
}

fn markdown_file() -> impl Strategy<Value = String> {
    prop::collection::vec(
        prop_oneof![Just("# Rules\n"), Just("\n"), Just("- a `b`\n"), Just("\r\n"), Just("end")],
        0..5,
    )
    .prop_map(|lines| lines.concat())
}

/// A second set-up changes nothing, what takes it back gives the same bytes where nothing else changed the file, and
/// what takes out the entries alone leaves nothing of them.
fn check(format: ConfigFormat, text: &str, change: ConfigChange, mark: &str) {
    check_all(format, text, vec![change], mark);
}

fn check_all(format: ConfigFormat, text: &str, changes: Vec<ConfigChange>, mark: &str) {
    let once = apply(format, text, &changes).unwrap();
    assert!(once.contains(mark), "{once}");
    assert_eq!(apply(format, &once, &changes).as_deref(), Ok(&*once), "twice is once");

    let record = FileRecord {
        path: "file".into(),
        format,
        clients: Vec::new(),
        backup: Some("backup".to_owned()),
        written: fingerprint(&once),
        directories: Vec::new(),
    };
    let original = record.original(&changes, Some(text), Some(&once)).unwrap();
    assert_eq!(original.as_deref(), Some(text), "untouched since");

    let taken = remove(format, &once, Some(text), &changes).unwrap();
    assert!(!taken.contains(mark), "{taken}");
    assert_eq!(essence(&taken), essence(text), "all else, and every comment, is left");
}

/// The text without what an edit may lay out anew around it: spaces, and commas before an end.
fn essence(text: &str) -> String {
    text.chars().filter(|character| !character.is_whitespace() && *character != ',').collect()
}

proptest! {
    #[test]
    fn json_with_comments(
        (client, text) in prop::sample::select(&JSON_CLIENTS[..])
            .prop_flat_map(|(client, section)| (Just(client), json_file(section)))
    ) {
        check(ConfigFormat::Json, &text, server().change(client), "reasoning-bank");
    }

    #[test]
    fn hooks_among_others(text in json_file("hooks"), others in prop::sample::select(vec![
        "", "\"hooks\": {\"SessionStart\": [ {\"hooks\": [{\"type\": \"command\", \"command\": \"x\"}]} /* why */ ]},",
        "\"hooks\": {\"PostToolUseFailure\": [], // none\n \"Stop\": [1]},",
    ])) {
        prop_assume!(others.is_empty() || !(text.contains("\"hooks\"") || text.contains("note {")));
        let has_entries = text.contains(':');
        let text = text.replacen('{', &format!("{{{others}"), 1);
        prop_assume!(has_entries || others.is_empty());
        check_all(ConfigFormat::Json, &text, server().hook_changes(AgentClient::ClaudeCode, "/data"), "reasoning-bank");
    }

    #[test]
    fn toml_with_comments(text in toml_file()) {
        check(ConfigFormat::Toml, &text, server().change(AgentClient::Codex), "reasoning-bank");
    }

    #[test]
    fn yaml_with_comments(text in yaml_file()) {
        check(ConfigFormat::Yaml, &text, server().change(AgentClient::Goose), "reasoning-bank");
    }

    #[test]
    fn instructions(text in markdown_file()) {
        check(ConfigFormat::Markdown, &text, guidance(), "reasoning-bank");
    }

    #[test]
    fn a_file_that_is_broken_is_an_error_and_never_a_panic(text in "[\\[\\]{}:,\"'#a-z \\n\\r\\t-]{0,40}") {
        for (format, client) in [
            (ConfigFormat::Json, AgentClient::ClaudeCode),
            (ConfigFormat::Toml, AgentClient::Codex),
            (ConfigFormat::Yaml, AgentClient::Goose),
        ] {
            let changes = [server().change(client)];
            if let Ok(once) = apply(format, &text, &changes) {
                prop_assert_eq!(apply(format, &once, &changes).unwrap(), &*once);
                prop_assert!(!remove(format, &once, Some(&text), &changes).unwrap().contains("/home/ana b"));
            }
        }
    }
}
