//! A person's day with a bank in a repository.

use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;

use super::*;

fn git(place: &Place, arguments: &[&str]) -> String {
    let identity = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "init.defaultBranch=main"];
    let run = Command::new("git").args(identity).args(arguments).current_dir(place.path("project")).output().unwrap();
    assert!(run.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&run.stderr));
    String::from_utf8(run.stdout).unwrap()
}

#[test]
fn a_folder_of_a_repository_is_adopted_and_its_diff_has_nothing_but_what_was_said() {
    let place = place_with_banks("");
    let file = "project/memory-bank/systemPatterns.md";
    let text = "# System patterns\r\n\r\nHow we build.\r\n\r\n## Architecture\r\n\r\n* One binary.\r\n\r\n## Decisions\r\n\r\n* 2026-01-02: Rust, for its types.\r\n";
    place.write(file, text);
    place.write(
        "project/memory-bank/progress.md",
        "# Progress\n\n## Done\n\n- The parser.\n\n## Blocked\n\n## Known issues\n",
    );
    git(&place, &["init", "-q"]);
    git(&place, &["add", "."]);
    git(&place, &["commit", "-qm", "Begin"]);
    let adopted = place.document(&["bank", "adopt", "memory-bank"]);
    assert_eq!(adopted["in_checkout"], true, "{adopted}");
    assert_eq!(git(&place, &["status", "--porcelain"]), "", "adopting writes nothing");

    let mut process = McpProcess::initialized(&place, &[]);
    let activated = process.call("activate", json!({"conversation_type": "coding"}));
    assert_eq!(activated["bank_info"]["trust"], "tool", "{activated}");
    let said = "We decided to use SQLite because it needs no server.";
    process.call("update", json!({"content": said}));
    let diff = git(&place, &["diff", "--numstat"]);
    assert_eq!(diff.lines().count(), 1, "one file changed, at once: {diff}");
    assert!(
        diff.contains("memory-bank/") && diff.split_whitespace().nth(1) == Some("0"),
        "no line is taken away: {diff}"
    );
    let mine = "project/memory-bank/progress.md";
    let edited = std::fs::read_to_string(place.path(mine))
        .unwrap()
        .replace("- The parser.\n", "- The parser.\n- My own line.\n");
    place.write(mine, &edited);
    process.call("update", json!({"content": "- Blocked: the certificate of the test server ran out."}));
    let after = std::fs::read_to_string(place.path(mine)).unwrap();
    assert!(after.contains("- My own line.\n"), "{after}");
    let all = read_all(&place.path("project/memory-bank"));
    assert!(all.contains(said) && all.contains("certificate of the test server"), "{all}");
    let patterns = std::fs::read_to_string(place.path(file)).unwrap();
    assert_eq!(patterns.matches('\n').count(), patterns.matches("\r\n").count(), "line ends are kept: {patterns:?}");

    // A change of branch meets nothing that waits.
    git(&place, &["commit", "-qam", "What was said"]);
    git(&place, &["checkout", "-q", "HEAD~1"]);
    let earlier = process.call("activate", json!({"conversation_type": "coding"}));
    assert!(!text_of(&earlier).contains(said), "{earlier}");
    process.end();
    assert_eq!(git(&place, &["status", "--porcelain"]), "", "nothing was written that nobody asked for");
    let root = place.path("project");
    place.run(&["workspace", "delete", root.to_str().unwrap(), "--yes"]).ok();
    assert!(place.path(file).exists(), "an adopted folder is never removed");
}

#[test]
fn a_bank_is_made_in_the_repository_and_a_version_is_brought_back() {
    let place = place_with_banks("");
    let outside = place.run(&["bank", "init", "--in-repo"]).exits(2).stderr;
    assert!(outside.contains("lies in no Git repository") && !place.path("project/memory-bank").exists(), "{outside}");
    git(&place, &["init", "-q"]);
    let made = place.document(&["bank", "init", "--in-repo"]);
    assert!(made["in_checkout"] == true && place.path("project/memory-bank/progress.md").exists(), "{made}");
    assert_eq!(place.document(&["bank", "history"])["versions"], json!([]));
    place.document(&["bank", "update", "We decided to use SQLite because it needs no server."]);
    assert!(read_all(&place.path("project/memory-bank")).contains("SQLite"));
    assert!(!read_all(&place.path("data/banks")).contains("SQLite"));
    place.run(&["bank", "adopt", "/etc"]).exits(2);
    place.run(&["bank", "adopt", "nowhere"]).exits(2);
    place.run(&["bank", "sync"]).ok();
    place.run(&["bank", "restore", "2026-01-01T00:00:00Z"]).exits(1);
}

#[test]
fn an_editor_that_empties_a_file_before_it_writes_it_loses_no_line() {
    let place = place_with_banks("");
    git(&place, &["init", "-q"]);
    place.document(&["bank", "init", "--in-repo"]);
    let mut process = McpProcess::initialized(&place, &[]);
    process.call("activate", json!({"conversation_type": "coding"}));
    let file = place.path("project/memory-bank/activeContext.md");
    let written = std::thread::spawn(move || {
        let lines = (0..40).map(|n| format!("- My line number {n} of the day."));
        let mut longest = Duration::ZERO;
        for line in lines.clone() {
            let text = format!("{}\n{line}\n", std::fs::read_to_string(&file).unwrap().trim_end());
            let read = Instant::now();
            let mut opened = std::fs::File::create(&file).unwrap();
            std::thread::sleep(Duration::from_millis(20));
            std::io::Write::write_all(&mut opened, text.as_bytes()).unwrap();
            longest = longest.max(read.elapsed());
            std::thread::sleep(Duration::from_millis(80));
        }
        (lines.collect::<Vec<_>>(), longest)
    });
    let mut n = 0;
    while !written.is_finished() {
        let updated = process.call("update", json!({"content": format!("- [ ] Next: try variant number {n}.")}));
        assert_eq!(updated["status"], "success", "{updated}");
        n += 1;
    }
    let (lines, longest) = written.join().unwrap();
    process.call("update", json!({"content": "- [ ] Next: write the last test."}));
    process.end();
    let all = read_all(&place.path("project/memory-bank"));
    for line in &lines {
        let count = all.matches(line.as_str()).count();
        assert_eq!(count, 1, "{line} among {n} updates; the longest save took {longest:?}\n{all}");
    }
    assert!(n > 5, "{n} updates met the editor");
}

#[test]
fn an_update_of_a_file_that_cannot_be_written_says_so_and_is_kept() {
    let place = place_with_banks("");
    git(&place, &["init", "-q"]);
    place.document(&["bank", "init", "--in-repo"]);
    let file = place.path("project/memory-bank/progress.md");
    let text = std::fs::read(&file).unwrap();
    std::fs::write(&file, b"\xff\xfe no text").unwrap();
    let told = place.run(&["bank", "update", "Finished the search page."]).ok().stdout;
    assert!(told.contains("progress.md, Progress > Done\n") && told.contains("error: progress.md: "), "{told}");
    assert!(told.contains("what was acknowledged is kept, and writing is tried again"), "{told}");
    std::fs::write(&file, text).unwrap();
    place.document(&["bank", "sync"]);
    assert!(std::fs::read_to_string(&file).unwrap().contains("Finished the search page."));
}

#[test]
fn an_update_with_nothing_to_file_says_so() {
    let place = place_with_banks("");
    let told = place.run(&["bank", "update", "ok, thanks"]).ok().stdout;
    assert!(told.contains("info: there is nothing to file in this text\n"), "{told}");
    assert!(!told.contains("says it already"), "{told}");
    place.run(&["bank", "update", "Finished the search page."]).ok();
    let told = place.run(&["bank", "update", "Finished the search page."]).ok().stdout;
    assert!(told.starts_with("nothing was added: the bank says it already"), "{told}");
}

#[test]
fn a_bank_is_moved_into_the_repository_while_a_server_works_with_it() {
    let place = place_with_banks("");
    git(&place, &["init", "-q"]);
    let mut process = McpProcess::initialized(&place, &[]);
    process.call("activate", json!({"conversation_type": "coding"}));
    let (before, after) =
        ("We decided to use SQLite because it needs no server.", "We decided to use Rust for its types.");
    process.call("update", json!({"content": before}));
    let moved = place.document(&["bank", "init", "--in-repo"]);
    assert_eq!(moved["notices"], json!([]), "nothing is left behind");
    process.call("update", json!({"content": after}));
    let all = read_all(&place.path("project/memory-bank"));
    assert!(all.contains(before) && all.contains(after), "{all}");
    process.end();
}

#[test]
fn adopting_says_what_stays_and_what_is_filed_waits_for_a_folder_that_is_not_there() {
    let place = place_with_banks("");
    git(&place, &["init", "-q"]);
    place.document(&["bank", "update", "We decided to use SQLite because it needs no server."]);
    place.write("project/notes/own.md", "# Own\n");
    place.write("project/notes/other.md", "# Other\n\n- A line of a person.\n");
    let adopted = place.document(&["bank", "adopt", "notes"]);
    let notices = adopted["notices"].to_string();
    assert!(
        notices.contains("what the bank had before stays in ") && notices.contains("/data/banks/code/"),
        "{notices}"
    );
    std::fs::remove_dir_all(place.path("project/notes")).unwrap();
    let updated = place.document(&["bank", "update", "We decided to use Rust for its types."]);
    assert_eq!(updated["status"], "success", "{updated}");
    assert!(updated["previous_errors"].to_string().contains("waits for the folder"), "{updated}");
    assert!(!place.path("project/notes").exists(), "an update makes no folder in a checkout");
    let waiting = place.run(&["bank", "sync"]).exits(1).stderr;
    assert!(waiting.contains("`mkdir notes`"), "{waiting}");
    std::fs::create_dir(place.path("project/notes")).unwrap();
    place.run(&["bank", "sync"]).ok();
    let files: Vec<_> = std::fs::read_dir(place.path("project/notes")).unwrap().flatten().collect();
    assert_eq!(files.len(), 2, "the files that were there are back, and no file of the template is made");
    let all = read_all(&place.path("project/notes"));
    assert!(all.contains("A line of a person.") && all.contains("Rust for its types"), "{all}");
    place.write("project/.git/notes/x.md", "x");
    place.run(&["bank", "adopt", ".git/notes"]).exits(2);
}

#[test]
fn what_a_person_changes_again_and_again_beside_updates_is_doubled_nowhere() {
    let place = place_with_banks("");
    let mut process = McpProcess::initialized(&place, &[]);
    let plan = json!({"conversation_type": "planning", "project_name": "ship"});
    process.call("activate", plan.clone());
    let file = place.path("data/banks/project/ship/progress.md");
    let edit = |from: &str, to: &str| {
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(text.contains(from), "{from}: {text}");
        std::fs::write(&file, text.replacen(from, to, 1)).unwrap();
    };
    process.call("update", json!({"content": "Finished the zebra."}));
    edit("## Done\n", "## Done\n\n- my own entry\n");
    process.call("activate", plan.clone());
    process.end();
    let mut process = McpProcess::initialized(&place, &[]);
    process.call("activate", plan.clone());
    process.call("update", json!({"content": "Finished the yak."}));
    edit("- my own entry\n", "- my own entry\n- and one more\n");
    process.call("activate", plan.clone());
    // The yak is in no file yet when the person writes beside the zebra.
    edit("Finished the zebra.\n", "Finished the zebra.\n- my note under it\n");
    process.call("activate", plan);
    process.end();
    let text = std::fs::read_to_string(&file).unwrap();
    for said in ["the zebra", "the yak", "- my own entry\n", "- and one more\n", "- my note under it\n", "### Added"] {
        assert_eq!(text.matches(said).count(), 1, "{said}: {text}");
    }
}

#[test]
fn what_a_person_wrote_stays_as_lines_however_often_the_bank_is_made_shorter() {
    let place = place_with_banks("");
    place.document(&["bank", "update", "We decided to use SQLite because it needs no server."]);
    let file = place.path("data/banks/code").read_dir().unwrap().next().unwrap().unwrap().path().join("progress.md");
    let entry = |n: u32| {
        format!(
            "- 2025-01-02: My own entry number {n}z. It took a day, and the notes of it are long enough to be shortened.\n"
        )
    };
    let mine: String = (0..500).map(entry).collect();
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("## Done\n", &format!("## Done\n\n{mine}"))).unwrap();
    for times in 1..=2 {
        let errors = |n: u32| {
            format!(
                "- The error E{times}{n:03} in the importer was caused by a stale lock; removing the lock fixed it.\n"
            )
        };
        let told: String = (0..60).map(errors).collect();
        place.document(&["bank", "update", &format!("- [ ] Look at the importer for the {times}. time\n{told}")]);
        let text = std::fs::read_to_string(&file).unwrap();
        assert_eq!((0..500).filter(|n| text.contains(&format!("entry number {n}z"))).count(), 500, "{times}");
    }
    let history = place.document(&["bank", "history"]);
    assert!(!history["versions"].as_array().unwrap().is_empty(), "the bank was made shorter");
}

#[test]
fn adopting_another_folder_tells_of_it_and_of_what_stays_in_the_former_one() {
    let place = place_with_banks("");
    place.write("project/old/todo.md", "# To do\n\n- Paint the hull.\n");
    std::fs::write(place.path("project/old/latin.md"), b"caf\xe9\n").unwrap();
    let first = place.document(&["bank", "adopt", "old"])["notices"].to_string();
    assert!(first.contains("left alone: latin.md is not in UTF-8"), "{first}");
    place.write("project/new/own.md", "# Own\n");
    let second = place.document(&["bank", "adopt", "new"]);
    let notices = second["notices"].as_array().unwrap();
    assert_eq!(notices.len(), 1, "{second}");
    let told = notices[0].as_str().unwrap();
    assert!(told.contains("/project/old, with 1 file, and is no longer a part of it"), "{told}");
    let again = place.document(&["bank", "adopt", "new"]);
    assert_eq!(again["notices"], json!([]), "{again}");
}

#[test]
fn a_list_tells_of_banks_in_other_checkouts() {
    let place = place_with_banks("");
    place.write("other/notes/todo.md", "# To do\n\n- Paint the hull.\n");
    let other = place.path("other");
    let notes = other.join("notes");
    place.run(&["bank", "adopt", notes.to_str().unwrap(), "--workspace", other.to_str().unwrap()]).ok();
    let listed = || place.document(&["bank", "list"])["banks"][0].clone();
    let there = listed();
    assert_eq!((&there["files"], &there["in_checkout"]), (&json!(1), &json!(true)), "{there}");
    assert!(there["directory"].as_str().unwrap().ends_with("other/notes"), "{there}");
    std::fs::rename(&other, place.path("moved")).unwrap();
    let gone = listed()["problem"].to_string();
    assert!(gone.contains("lies in notes of the checkout ") && gone.contains("which is not there any more"), "{gone}");
}

#[test]
fn what_is_filed_follows_a_heading_that_a_person_renamed() {
    let place = place_with_banks("");
    place.write(
        "project/memory-bank/systemPatterns.md",
        "# System patterns\n\n## Decisions\n\n- Rust, for its types.\n",
    );
    git(&place, &["init", "-q"]);
    place.document(&["bank", "adopt", "memory-bank"]);
    let renamed = "# System patterns\n\n## What we chose\n\n- Rust, for its types.\n";
    place.write("project/memory-bank/systemPatterns.md", renamed);
    let said = "We decided to use SQLite because it needs no server.";
    for said in [said, "We decided to use Axum because it is small."] {
        let updated = place.document(&["bank", "update", said]);
        assert_eq!(updated["applied"][0]["section"], "System patterns > What we chose", "{updated}");
    }
    let text = std::fs::read_to_string(place.path("project/memory-bank/systemPatterns.md")).unwrap();
    assert!(text.starts_with(renamed) && text.contains(said) && !text.contains("## Decisions"), "{text}");
}
