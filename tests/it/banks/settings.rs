//! What settings and arguments change of a bank: a dump, prompts of the user's own, the files that are asked for.

use std::time::Duration;

use serde_json::json;

use super::*;
use crate::llm_server::{LlmServer, Reply};

const SAID: &str = "We decided to use SQLite because it needs no server.";

#[test]
fn what_is_in_memory_is_dumped_where_the_setting_says_so() {
    for (setting, dumps) in [("banks.debug_memory_dump = true\n", true), ("", false)] {
        let place = place_with_banks(setting);
        let mut process = McpProcess::initialized(&place, &[]);
        process.call("activate", json!({"conversation_type": "coding"}));
        process.call("update", json!({"content": SAID}));
        process.end();
        let records = place.path("data/bank-records/code");
        let bank = records.read_dir().unwrap().next().unwrap().unwrap().path();
        let dump = bank.join("cache_memory_dump.json");
        assert_eq!(dump.exists(), dumps, "{}", dump.display());
        if dumps {
            let dump: Value = serde_json::from_slice(&std::fs::read(dump).unwrap()).unwrap();
            assert!(dump["files"]["systemPatterns.md"].as_str().unwrap().contains(SAID), "{dump}");
            assert!(dump["tokens"]["systemPatterns.md"].as_u64() > Some(0), "{dump}");
        }
    }
}

#[test]
fn files_that_are_asked_for_come_alone_and_one_that_is_not_there_is_named() {
    let place = place_with_banks("");
    let mut process = McpProcess::initialized(&place, &[]);
    let coding = |files: Value| json!({"conversation_type": "coding", "files": files});
    process.call("activate", coding(json!([])));
    let one = process.call("activate", coding(json!(["progress.md"])));
    let names: Vec<&String> = one["content"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["progress.md"], "{one}");
    let missing = process.call_failing("activate", coding(json!(["progress.md", "plans.md"])));
    assert!(missing["message"].as_str().unwrap().contains("plans.md"), "{missing}");
}

#[test]
fn prompts_of_the_user_take_the_place_of_those_built_in() {
    let server = LlmServer::new(Duration::ZERO, |_| Reply::error(500, "down"));
    let place = Place::new();
    let built_in = include_str!("../../../config/prompts/banks/update.md");
    let own = built_in.replacen("You file what was said", "OUR WORDS: you file what was said", 1);
    place.write("prompts/banks/update.md", &own);
    place.write("prompts/banks/instructions.md", "OUR RULES for the bank.");
    let config = format!(
        "mcp.toolsets = ['banks']\nbanks.llm = true\nbackground.daily_token_cap = 10000000\n[llm]\nprovider = 'responses'\nbase_url = '{}'\nmodel = 'm'\nprompts_dir = '{}'\nretry.max_retries = 0\n",
        server.base_url(),
        place.path("prompts").display()
    );
    place.write("config/reasoning-bank/config.toml", &config);
    let mut process = McpProcess::initialized(&place, &[]);
    let activated = process.call("activate", json!({"conversation_type": "coding"}));
    assert!(activated["custom_instructions"].as_str().unwrap().contains("OUR RULES"), "{activated}");
    process.call("update", json!({"content": SAID}));
    let asked = server.asked_to("bank");
    assert!(asked[0].body["instructions"].as_str().unwrap().contains("OUR WORDS"), "{}", asked[0].body);
}

#[test]
fn a_long_file_that_is_asked_for_comes_part_by_part() {
    let place = place_with_banks("");
    let lines: String = (1..=4_000).map(|n| format!("- Line {n} of the notes.\n")).collect();
    place.write("project/notes/long.md", &format!("# Long\n\n{lines}"));
    place.run(&["bank", "adopt", "notes"]).ok();
    let mut process = McpProcess::initialized(&place, &[]);
    let ask = json!({"conversation_type": "code", "files": ["long.md"], "max_tokens": 2_000});
    let first = process.call("activate", ask.clone());
    assert_eq!(first["truncated"], true, "{}", first["bank_info"]);
    assert!(text_of(&first).len() < 20_000, "{}", text_of(&first).len());
    let outline = first["outline"].as_str().unwrap();
    assert!(outline.contains("activate {\"files\": [\"long.md\"], \"offset\": "), "{outline}");
    let end = place.document(&["bank", "activate", "code", "--file", "long.md", "--offset", "95000"]);
    assert!(text_of(&end).contains("- Line 4000 of the notes.") && end["truncated"] == false, "{end}");
    process.end();
}
