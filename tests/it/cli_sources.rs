//! Tests of `import` through the real binary, from files that other programs wrote.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::support::{Place, test_data};

/// A secret of a form that is known, made here so that no file holds it.
fn secret() -> String {
    format!("ghp_{}", "a1B2".repeat(9))
}

fn copy(from: &Path, to: &Path) {
    if from.is_dir() {
        fs::create_dir_all(to).unwrap();
        for entry in fs::read_dir(from).unwrap() {
            let entry = entry.unwrap();
            copy(&entry.path(), &to.join(entry.file_name()));
        }
    } else {
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(from, to).unwrap();
    }
}

fn fixture(name: &str) -> PathBuf {
    test_data(&format!("import/{name}")).into()
}

/// Makes the database that a fixture is the dump of.
fn database(place: &Place, at: &str, dump: &str, more: &str) -> PathBuf {
    let path = place.write(at, "");
    let database = Connection::open(&path).unwrap();
    database.execute_batch(&fs::read_to_string(fixture(dump)).unwrap()).unwrap();
    database.execute_batch(&more.replace("SECRET", &secret())).unwrap();
    path
}

fn append(path: &Path, text: &str) {
    let before = fs::read_to_string(path).unwrap();
    fs::write(path, format!("{}\n{}", before.trim_end(), text.replace("SECRET", &secret()))).unwrap();
}

/// A home in which a source has its memories, with a secret in one, and a query whose answer it has.
struct Lived {
    source: &'static str,
    place: Place,
    path: Option<PathBuf>,
    /// The new strategies, warnings and facts.
    counts: [u64; 3],
    query: &'static str,
    found: &'static str,
}

fn sources() -> Vec<Lived> {
    let of = |source, counts, query, found, make: &dyn Fn(&Place) -> Option<PathBuf>| {
        let place = Place::new();
        let path = make(&place);
        Lived { source, place, path, counts, query, found }
    };
    vec![
        of("claude-mem", [4, 2, 2], "foreign keys in sqlite are not enforced", "FOREIGN KEY", &|place| {
            let more = "INSERT INTO observations (memory_session_id, project, type, title, narrative, created_at, \
                created_at_epoch) VALUES ('m-1', 'shop', 'bugfix', 'Push with the right token', 'The token SECRET works', \
                '2025-11-05T09:00:00.000Z', 1762333200000);";
            database(place, "home/.claude-mem/claude-mem.db", "claude-mem.sql", more);
            None
        }),
        of("claude-code", [1, 2, 2], "mock the database in integration tests", "Don't mock", &|place| {
            copy(&fixture("claude-code"), &place.path("home/.claude"));
            let leak = "---\ntype: feedback\n---\nDon't print the token SECRET\n".replace("SECRET", &secret());
            place.write("home/.claude/projects/-home-dana-shop/memory/feedback_token.md", &leak);
            None
        }),
        of("codex", [4, 1, 1], "relation orders does not exist", "after a branch switch", &|place| {
            copy(&fixture("codex"), &place.path("home/.codex"));
            let skill = "---\nname: Log in\ndescription: When the registry asks\n---\nUse SECRET\n"
                .replace("SECRET", &secret());
            place.write("home/.codex/memories/skills/login/SKILL.md", &skill);
            None
        }),
        of("mcp-memory-service", [6, 1, 1], "database is locked", "database is locked", &|place| {
            let more = "INSERT INTO memories (content_hash, content, tags, memory_type, created_at) VALUES ('0f', \
                'Log in with SECRET', 'ops', 'workflow', 1741000000.5);";
            let at = "home/.local/share/mcp-memory/sqlite_vec.db";
            database(place, at, "mcp-memory-service.sql", more);
            None
        }),
        of("server-memory", [0, 3, 7], "migration LockTimeout two pods", "LockTimeout", &|place| {
            let path = place.path("memory.jsonl");
            copy(&fixture("server-memory.jsonl"), &path);
            let observations = "[\"Never share SECRET\"]";
            let entity =
                format!(r#"{{"type":"entity","name":"registry","entityType":"host","observations":{observations}}}"#);
            append(&path, &entity);
            Some(path)
        }),
        of("mem0", [0, 2, 1], "restart the queue worker", "queue worker", &|place| {
            let more = "INSERT INTO history VALUES ('x', 'y', NULL, 'Never use SECRET', 'ADD', '2025-03-06T10:00:00+00:00', \
                NULL, 0, NULL, NULL);";
            database(place, "home/.mem0/history.db", "mem0.sql", more);
            None
        }),
        of("basic-memory", [3, 1, 2], "grind coffee beans", "Grind", &|place| {
            let notes = place.path("home/basic-memory");
            copy(&fixture("basic-memory"), &notes);
            append(&notes.join("tea.md"), "- [tip] Order with SECRET\n");
            None
        }),
    ]
}

fn counts(report: &Value) -> [u64; 3] {
    ["strategies", "warnings", "facts"].map(|kind| report[kind]["new"].as_u64().unwrap())
}

/// Every file below a folder, with its bytes.
fn bytes_below(folder: &Path, found: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { bytes_below(&path, found) } else { found.push((path.clone(), fs::read(&path).unwrap())) }
    }
}

fn all_bytes(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    bytes_below(folder, &mut found);
    found.sort();
    found
}

#[test]
fn each_source_is_shown_imported_once_and_found_without_its_secrets() {
    for Lived { source, place, path, counts: expected, query, found } in sources() {
        let path = path.as_deref().map(|path| path.to_str().unwrap().to_owned());
        let import = |more: &[&str]| {
            let arguments: Vec<&str> = ["import", source, "--all-projects"]
                .into_iter()
                .chain(path.as_deref())
                .chain(more.iter().copied())
                .collect();
            place.document(&arguments)
        };
        let home = all_bytes(&place.path("home"));
        let preview = import(&["--dry-run"]);
        assert_eq!(counts(&preview), expected, "{source}: {preview:#}");
        assert!(preview["redactions"].as_u64().unwrap() > 0, "{source}: {preview:#}");
        assert_eq!(import(&["--dry-run"]), preview, "{source}");

        let done = import(&["--yes"]);
        assert_eq!(counts(&done), expected, "{source}");
        let [strategies, warnings, facts] = expected;
        assert_eq!(done["added"], json!({ "memories": strategies + warnings, "facts": facts }), "{source}");

        let again = import(&["--yes"]);
        assert_eq!(counts(&again), [0; 3], "{source}: {again:#}");
        assert_eq!(again["added"], json!({ "memories": 0, "facts": 0 }), "{source}");
        assert_eq!(again["facts"]["known"], facts, "{source}");

        let answer = place.document(&["memory", "search", query]);
        let titles: Vec<&str> =
            answer["memories"].as_array().unwrap().iter().map(|memory| memory["title"].as_str().unwrap()).collect();
        assert!(titles.iter().any(|title| title.contains(found)), "{source}: {titles:?}");

        let leaked =
            |(_, bytes): &(PathBuf, Vec<u8>)| bytes.windows(secret().len()).any(|part| part == secret().as_bytes());
        assert!(!all_bytes(&place.path("data")).iter().any(leaked), "{source} leaks a secret");
        assert_eq!(all_bytes(&place.path("home")), home, "{source} was written to");
    }
}

#[test]
fn times_trust_and_what_was_superseded_are_kept_and_facts_are_in_the_bank() {
    let place = Place::new();
    database(&place, "home/.local/share/mcp-memory/sqlite_vec.db", "mcp-memory-service.sql", "");
    place.document(&["import", "mcp-memory-service", "--all-projects", "--yes"]);
    let exported = place.run(&["memory", "export", "--all"]).ok().stdout;
    let memories: Vec<Value> = exported.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |part: &str| {
        memories.iter().find(|memory| memory["content"].as_str().is_some_and(|text| text.contains(part))).unwrap()
    };
    let locked = of("database is locked");
    assert_eq!((&locked["created_at"], &locked["trust"]), (&json!("2025-03-03T11:06:40.25Z"), &json!("model")));
    assert_eq!((&locked["source_type"], &locked["prior"]), (&json!("imported"), &json!(0.4)));
    assert!(locked["error_context"].is_object());
    assert_eq!((&of("8080")["status"], &of("8443")["status"]), (&json!("archived"), &json!("active")));
    let bank = place.run(&["bank", "show"]).ok().stdout;
    assert!(bank.contains("The office is closed on Fridays") && !bank.contains("deleted later"), "{bank}");
    let found = place.document(&["memory", "search", "office closed on Fridays"]);
    assert!(!found["memories"].to_string().contains("Fridays"), "a fact is no advice: {found}");
}

#[test]
fn a_project_whose_directory_is_here_has_its_memories_in_its_own_workspace() {
    let place = Place::new();
    let shop = place.path("shop");
    fs::create_dir_all(&shop).unwrap();
    copy(&fixture("codex"), &place.path("home/.codex"));
    let handbook = place.path("home/.codex/memories/MEMORY.md");
    let text = fs::read_to_string(&handbook).unwrap();
    fs::write(&handbook, text.replace("/home/dana/shop", shop.to_str().unwrap())).unwrap();
    let done = place.document(&["import", "codex", "--yes"]);
    let shares: Vec<&Value> = done["workspaces"].as_array().unwrap().iter().map(|share| &share["place"]).collect();
    assert!(shares.contains(&&json!(shop)), "{done:#}");
    let found = place.document(&["memory", "search", "make test-orders", "--workspace", shop.to_str().unwrap()]);
    assert!(found["memories"].to_string().contains("right order"), "{found:#}");
    let here = place.document(&["memory", "search", "make test-orders"]);
    assert!(!here["memories"].to_string().contains("right order"), "{here:#}");

    let other = Place::new();
    copy(&fixture("codex"), &other.path("home/.codex"));
    let preview = other.document(&["import", "codex", "--dry-run"]);
    assert!(preview["notes"].to_string().contains("/home/dana/shop are left out"), "{preview:#}");
    assert!(preview["skipped"]["of projects that no directory here is known for"].as_u64().unwrap() > 0, "{preview:#}");
    let preview = other.document(&["import", "codex", "--all-projects", "--dry-run"]);
    assert!(preview["notes"].to_string().contains("/home/dana/shop go to the workspace in use"), "{preview:#}");
}

#[test]
fn a_database_with_a_log_is_read_while_its_program_writes() {
    let place = Place::new();
    let path = database(&place, "home/.claude-mem/claude-mem.db", "claude-mem.sql", "");
    let open = Connection::open(&path).unwrap();
    open.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; INSERT INTO observations (memory_session_id, project, \
         type, title, created_at, created_at_epoch) VALUES ('m-1', 'shop', 'decision', 'Only in the log', \
         '2025-11-05T09:00:00.000Z', 1762333200000);",
    )
    .unwrap();
    let preview = place.document(&["import", "claude-mem", "--all-projects", "--dry-run"]);
    assert_eq!(counts(&preview), [4, 2, 2], "{preview:#}");
    // The log goes when its program closes the database.
    drop(open);
    let since = place.document(&["import", "claude-mem", "--all-projects", "--dry-run", "--since", "2025-11-05"]);
    assert_eq!(counts(&since), [1, 0, 0], "{since:#}");
    assert_eq!(since["skipped"]["older than --since"], 7);
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "a file was made beside the database");
}

#[test]
fn what_is_missing_or_damaged_is_told_with_what_to_do() {
    let place = Place::new();
    let refused = |arguments: &[&str]| {
        let ran = place.run(arguments).exits(2);
        assert!(ran.stderr.contains("hint:"), "{}", ran.stderr);
        ran.stderr
    };
    let missing = refused(&["import", "claude-mem"]);
    assert!(
        missing.contains("no memories of claude-mem are found") && missing.contains(".claude-mem/claude-mem.db"),
        "{missing}"
    );
    assert!(refused(&["import", "server-memory"]).contains("MEMORY_FILE_PATH"));
    assert!(refused(&["import", "mem0", "nowhere.db"]).contains("there is nothing"));
    place.write("project/damaged.db", "SQLite format 3\0 and then nothing of use");
    assert!(refused(&["import", "claude-mem", "damaged.db"]).contains("damaged.db"));
    place.write("project/text.db", "no database at all, and long enough for a header");
    assert!(refused(&["import", "mem0", "text.db"]).contains("no SQLite database"));
    database(&place, "project/other.db", "mem0.sql", "");
    assert!(refused(&["import", "claude-mem", "other.db"]).contains("without the table observations"));
    place.write("project/wrong.jsonl", "{\"hello\": 1}\n");
    assert!(refused(&["import", "server-memory", "wrong.jsonl"]).contains("none of its lines"));
    assert!(refused(&["import", "jsonl", "wrong.jsonl"]).contains("line 1"));
    let folder = place.path("project/empty");
    fs::create_dir(&folder).unwrap();
    let empty = refused(&["import", "claude-mem", "empty"]);
    assert!(empty.contains(&format!("there is no file at {}", folder.join("claude-mem.db").display())), "{empty}");
    assert!(refused(&["import", "jsonl", "empty"]).contains("it is a folder, and not a file"));
    place.write("project/mixed.jsonl", "{\"type\":\"entity\",\"name\":\"a\"}\n{\"hello\": 1}\n");
    let mixed = place.run(&["import", "server-memory", "mixed.jsonl", "--dry-run"]).ok().stdout;
    let named = format!("not readable: {}, line 2: missing field `type`", place.path("project/mixed.jsonl").display());
    assert!(mixed.contains("1 skipped: not readable") && mixed.contains(&named), "{mixed}");
    let unknown = place.run(&["import", "notepad"]).exits(2).stderr;
    assert!(unknown.contains("claude-mem, claude-code"), "{unknown}");
    database(&place, "home/.mem0/history.db", "mem0.sql", "");
    assert!(refused(&["import", "mem0"]).contains("--yes agrees"));
    assert_eq!(place.run(&["memory", "export", "--all"]).ok().stdout, "");
}

#[test]
fn an_export_of_this_program_is_a_source_as_well() {
    let old = Place::new();
    old.run(&["memory", "record", "--title", "Pin it", "--description", "When it moves", "--content", "Pin it"]).ok();
    let exported = old.run(&["memory", "export", "--all"]).ok().stdout;
    let new = Place::new();
    let file = new.write("bank.jsonl", &exported);
    let import = ["import", "jsonl", file.to_str().unwrap(), "--yes"];
    assert_eq!(counts(&new.document(&[&import[..], &["--dry-run"]].concat())), [1, 0, 0]);
    assert_eq!(new.document(&import)["added"]["memories"], 1);
    assert_eq!(new.document(&import)["added"]["memories"], 0);
}

#[test]
fn a_fact_that_is_too_long_for_one_line_is_taken_in_parts() {
    let place = Place::new();
    let text =
        |name: &str| format!("{} Its backup is called {name}.", "The worker host is called badger.".repeat(3_000));
    let all = json!({ "results": [
        { "id": "1", "memory": text("marmot"), "metadata": { "type": "environmental" } },
        { "id": "2", "memory": text("otter"), "metadata": { "type": "environmental" } },
    ] });
    let path = place.write("home/all.json", &all.to_string());
    let import = |more: &str| place.document(&["import", "mem0", path.to_str().unwrap(), more]);
    let shown = import("--dry-run");
    let parts = shown["facts"]["new"].as_u64().unwrap();
    let told = format!("2 things are longer than a memory or a fact may be, and are taken in {parts} parts");
    assert!(parts > 100 && shown["notes"].to_string().contains(&told), "{shown}");
    assert!(import("--yes")["notes"].to_string().contains(&told));
    let exported = place.run(&["memory", "export"]).ok().stdout;
    assert!(exported.contains(" marmot.") && exported.contains(" otter."));
    assert_eq!(import("--yes")["facts"]["new"], json!(0));
}

#[test]
fn a_folder_of_claude_code_whose_sessions_are_gone_stays_out_of_other_projects() {
    let place = Place::new();
    let folder = |directory: &Path| {
        let as_folder = |character: char| if character.is_ascii_alphanumeric() { character } else { '-' };
        directory.to_str().unwrap().chars().map(as_folder).collect::<String>()
    };
    let keep = |of: &str, rule: &str| {
        let text = format!("---\ntype: feedback\n---\n{rule}\n");
        place.write(&format!("home/.claude/projects/{of}/memory/feedback_a.md"), &text);
    };
    keep(&folder(&place.path("project")), "Never deploy on Fridays.");
    keep("-home-u-acme-secret", "Never name the buyer.");
    let preview = place.document(&["import", "claude-code", "--dry-run"]);
    assert_eq!(counts(&preview), [0, 1, 0], "{preview:#}");
    assert!(preview["notes"].to_string().contains("-home-u-acme-secret are left out"), "{preview:#}");
    place.document(&["import", "claude-code", "--yes"]);
    let listed = place.document(&["memory", "list"]).to_string();
    assert!(listed.contains("Fridays") && !listed.contains("buyer"), "{listed}");
    let named = place.path("home/.claude/projects/-home-u-acme-secret");
    let preview = place.document(&["import", "claude-code", named.to_str().unwrap(), "--dry-run"]);
    assert_eq!(counts(&preview), [0, 1, 0], "{preview:#}");
}

#[test]
fn that_the_history_of_mem0_knows_no_projects_is_told_before_it_is_imported() {
    let place = Place::new();
    database(&place, "home/.mem0/history.db", "mem0.sql", "");
    let preview = place.document(&["import", "mem0", "--dry-run"]);
    assert!(preview["notes"].to_string().contains("names neither users nor projects"), "{preview:#}");
}
