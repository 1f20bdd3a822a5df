//! A bank that became long is made shorter, and files that cannot be written wait.

use serde_json::json;

use super::*;

#[test]
fn a_long_bank_is_made_shorter_and_its_history_brings_it_back() {
    let place = place_with_banks("");
    let mut process = McpProcess::initialized(&place, &[]);
    let coding = json!({"conversation_type": "coding"});
    process.call("activate", coding.clone());
    process.call("update", json!({"content": "We decided to use SQLite because it needs no server."}));
    let file = place.path("data/banks/code").read_dir().unwrap().next().unwrap().unwrap().path().join("progress.md");
    let mine = "I looked into the importer myself today, and what I found is worth more than a line. It reads everything twice.";
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("{text}\n{mine}\n")).unwrap();
    let mut told = String::new();
    for day in 1..=12 {
        let talk: String = (1..=40)
            .map(|n| {
                format!("- Discussed variant {n} of day {day} of the importer with the team, and left it for later.\n")
            })
            .collect();
        let updated = process.call("update", json!({"content": format!("## Discussion of day {day}\n\n{talk}")}));
        assert_eq!(updated["status"], "success", "{updated}");
        told.push_str(&updated["previous_errors"].to_string());
    }
    assert!(told.contains("the bank was made shorter, from ") && told.contains("bank restore 2"), "{told}");
    assert!(std::fs::read_to_string(&file).unwrap().contains(mine), "what a person wrote stays");
    let activated = process.call("activate", coding.clone());
    assert_eq!(activated["cache"]["optimized"], true, "{}", activated["cache"]);
    let tokens = activated["cache"]["tokens"].as_u64().unwrap();
    assert!((2_000..=9_000).contains(&tokens), "{tokens}");
    process.kill();
    let shown = place.document(&["bank", "show"]);
    assert!(shown["files"].to_string().contains("use SQLite because"), "a decision stays");
    let history = place.document(&["bank", "history"]);
    let versions = history["versions"].as_array().unwrap();
    assert!(!versions.is_empty(), "{history}");
    place.run(&["bank", "restore", versions[0]["version"].as_str().unwrap()]).ok();
    let after = place.document(&["bank", "history"]);
    assert_eq!(after["versions"].as_array().unwrap().len(), versions.len() + 1, "what was restored over is kept, too");
    let restored = place.document(&["bank", "show"]);
    assert!(restored["tokens"].as_u64().unwrap() > shown["tokens"].as_u64().unwrap(), "{}", restored["tokens"]);
}

#[test]
fn a_bank_that_is_short_enough_is_made_no_shorter_a_second_time() {
    let place = place_with_banks("");
    let what = "The change touches the importer, the queue and two more places. Measured on the data of the largest \
                customer it takes a third of the time that it took, and the retries are bounded.";
    let entries: String = (1..=160).map(|n| format!("- 2026-01-{:02}: Part {n}. {what}\n", 1 + n % 28)).collect();
    place.write("project/memory-bank/progress.md", &format!("# Progress\n\n## Done\n\n{entries}"));
    place.run(&["bank", "adopt", "memory-bank"]).ok();
    let optimize = || place.document(&["bank", "optimize"])["done"].as_str().unwrap().to_owned();
    let first = optimize();
    assert!(first.contains(" tokens before, "), "{first}");
    let short = read_all(&place.path("project/memory-bank"));
    let second = optimize();
    assert!(second.starts_with("nothing was made shorter: the bank has "), "{second}");
    assert_eq!(read_all(&place.path("project/memory-bank")), short);
    let history = place.document(&["bank", "history"]);
    assert_eq!(history["versions"].as_array().unwrap().len(), 1, "{history}");
}

#[test]
fn a_command_makes_a_long_bank_shorter_but_not_in_a_checkout() {
    let place = place_with_banks("");
    let entry = |n: u32| format!("- Finished part {n} of the importer, which reads the queue of ships by now.\n");
    let long: String = (1..=700).map(entry).collect();
    let content = place.write("content.md", &long);
    let update = ["bank", "update", "--from", content.to_str().unwrap()];
    let told = place.document(&update)["previous_errors"].to_string();
    assert!(told.contains("the bank was made shorter, from "), "{told}");
    let tokens = place.document(&["bank", "show"])["tokens"].as_u64().unwrap();
    assert!((4_000..=8_000).contains(&tokens), "{tokens}");

    place.write("project/notes/progress.md", "# Progress\n\n## Done\n");
    place.run(&["bank", "adopt", "notes"]).ok();
    let told = place.document(&update)["previous_errors"].to_string();
    assert!(told.contains("is not made shorter by itself in a checkout: run `bank optimize`"), "{told}");
    assert!(place.document(&["bank", "show"])["tokens"].as_u64() > Some(8_000));
}

#[test]
fn a_file_that_cannot_be_written_is_reported_and_written_when_it_can_be() {
    let place = place_with_banks("banks.sync_interval_s = 1\n");
    let mut process = McpProcess::initialized(&place, &[]);
    let chat = json!({"conversation_type": "chat"});
    process.call("activate", chat.clone());
    // Whoever runs the tests may be the superuser, whom no permission stops. A link in the place of the file does.
    let file = place.path("data/banks/global/default/preferences.md");
    let aside = place.path("aside.md");
    std::fs::rename(&file, &aside).unwrap();
    std::os::unix::fs::symlink(&aside, &file).unwrap();
    let said = "I prefer tabs over spaces.";
    let large = format!("{said}\n\n{}", "A filler sentence for the size. ".repeat(700));
    let updated = process.call("update", json!({"content": large}));
    assert_eq!(updated["status"], "success", "{updated}");
    let told = updated["previous_errors"].to_string();
    assert!(told.contains("preferences.md") && told.contains("error"), "{told}");
    assert!(!std::fs::read_to_string(&aside).unwrap().contains(said), "nothing is written through a link");
    std::fs::rename(&aside, &file).unwrap();
    let written = || std::fs::read_to_string(&file).is_ok_and(|text| text.contains(said));
    let until = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while !written() && std::time::Instant::now() < until {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert!(written());
    let healed = process.call("activate", chat);
    let told = healed["previous_errors"].as_array().unwrap();
    assert_eq!(told.last().unwrap()["severity"], "info", "{told:?}");
    assert!(text_of(&healed).contains(said));
    process.kill();
}

#[test]
fn syncing_names_the_file_that_cannot_be_written_and_what_to_do() {
    let place = place_with_banks("");
    place.run(&["bank", "activate", "chat"]).ok();
    let file = place.path("data/banks/global/default/preferences.md");
    let theirs = b"# Preferences\n\n## Code\n\n- caf\xe9\n";
    std::fs::write(&file, theirs).unwrap();
    place.run(&["bank", "update", "I prefer tabs over spaces.", "--bank", "global:default"]).ok();
    let told = place.run(&["bank", "sync", "--bank", "global:default"]).exits(1).stderr;
    for part in ["preferences.md", "is not in UTF-8", "put a readable and writable file in UTF-8 into the place"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert!(!told.contains("cannot be opened") && !told.contains("--data-dir"), "{told}");
    assert_eq!(std::fs::read(&file).unwrap(), theirs);
    std::fs::write(&file, "# Preferences\n\n## Code\n\n- café\n").unwrap();
    place.run(&["bank", "sync", "--bank", "global:default"]).ok();
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("- café") && text.contains("tabs over spaces"), "{text}");
}

#[test]
fn sections_of_the_bank_are_knowledge_for_a_task() {
    let place = place_with_banks("");
    let mut process = McpProcess::initialized(&place, &[]);
    process.call("activate", json!({"conversation_type": "coding"}));
    process.call("update", json!({"content": "We decided to keep the orders in SQLite because it needs no server."}));
    let context = process.call("get_context_for_task", json!({"task": "Move the orders out of SQLite"}));
    assert!(context["bank_sections"][0]["shown"] == true, "{context}");
    assert!(context["rendered"].as_str().unwrap().contains("orders in SQLite"), "{context}");
    process.kill();
}
