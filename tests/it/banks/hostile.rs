//! Tests of directories and texts that mean harm.

use std::os::unix::fs::symlink;

use serde_json::json;

use super::*;

#[test]
fn what_is_no_file_of_a_bank_is_named_and_left_as_it_is() {
    let place = place_with_banks("");
    let dir = place.path("data/banks/global/default");
    std::fs::create_dir_all(&dir).unwrap();
    let secret = place.write("secret.md", "a secret of somebody else");
    symlink(&secret, dir.join("link.md")).unwrap();
    symlink(place.path(""), dir.join("folder")).unwrap();
    std::fs::write(dir.join("bytes.md"), [b'#', b' ', 0xff, 0xfe]).unwrap();
    std::fs::write(dir.join("line.md"), vec![b'x'; 10 << 20]).unwrap();
    std::fs::write(
        dir.join("nested.md"),
        (0..1_000).map(|n| format!("{}- x\n", "  ".repeat(n % 100))).collect::<String>() + &"- ".repeat(1_000) + "x\n",
    )
    .unwrap();
    std::fs::write(dir.join("bomb.md"), format!("---\n{}\n---\n# Bomb\n", "a: &a [*a, *a]\n".repeat(2_000))).unwrap();
    std::fs::write(dir.join("context.md"), "# Context\n\nThe user works with Rust.\n").unwrap();
    let before = read_all(&dir);
    let mut process = McpProcess::initialized(&place, &[]);
    let activated = process.call("activate", json!({"conversation_type": "chat", "max_tokens": 100_000}));
    assert_eq!(activated["bank_info"]["files"], json!(["bomb.md", "context.md", "nested.md"]), "{activated}");
    assert!(!text_of(&activated).contains("a secret of somebody else"));
    let told = activated["previous_errors"].to_string();
    for name in ["link.md", "folder", "bytes.md", "line.md"] {
        assert!(told.contains(name), "{name}: {told}");
    }
    let again = process.call("activate", json!({"conversation_type": "chat"}));
    assert_eq!(again["previous_errors"], json!([]), "each is told once a session");
    assert_eq!(read_all(&dir), before, "nothing was written");
    let updated = process.call("update", json!({"content": "I prefer tabs over spaces."}));
    assert_eq!(updated["status"], "success", "{updated}");
    process.end();
    assert_eq!(std::fs::read(dir.join("line.md")).unwrap().len(), 10 << 20);
    assert_eq!(std::fs::read_to_string(&secret).unwrap(), "a secret of somebody else");
    assert!(read_all(&dir).contains("I prefer tabs over spaces."));
}

#[test]
fn ten_thousand_files_are_bounded_and_secrets_are_not_stored() {
    let place = place_with_banks("");
    let dir = place.path("data/banks/global/default");
    std::fs::create_dir_all(&dir).unwrap();
    (0..10_000).for_each(|n| std::fs::write(dir.join(format!("{n:05}.md")), "# One of many\n").unwrap());
    let mut process = McpProcess::initialized(&place, &[]);
    let activated = process.call("activate", json!({"conversation_type": "chat"}));
    assert_eq!(activated["bank_info"]["files"].as_array().unwrap().len(), 200);
    assert!(activated["previous_errors"].to_string().contains("more"), "{}", activated["previous_errors"]);
    let key = concat!("sk-or-v1-", "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef");
    let updated = process.call("update", json!({"content": format!("The key of the provider is {key} for now.")}));
    assert_eq!(updated["status"], "success", "{updated}");
    process.end();
    assert!(!read_all(&place.path("data")).contains(key));
    assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 10_000);
}

#[test]
fn a_file_that_becomes_unreadable_keeps_every_byte_while_updates_wait() {
    let place = place_with_banks("");
    let mut process = McpProcess::initialized(&place, &[]);
    process.call("activate", json!({"conversation_type": "chat"}));
    let file = place.path("data/banks/global/default/preferences.md");
    let text = std::fs::read(&file).unwrap();
    let latin: Vec<u8> = text.iter().copied().chain(*b"caf\xe9\n").collect();
    std::fs::write(&file, &latin).unwrap();
    let updated = process.call("update", json!({"content": "I prefer tabs over spaces."}));
    assert_eq!(updated["status"], "success", "{updated}");
    place.run(&["bank", "sync", "--bank", "global:default"]).exits(1);
    assert_eq!(std::fs::read(&file).unwrap(), latin);
    let told = process.call("activate", json!({"conversation_type": "chat"}));
    assert!(told["previous_errors"].to_string().contains("is not in UTF-8"), "{told}");
    std::fs::write(&file, text).unwrap();
    process.end();
    assert!(std::fs::read_to_string(&file).unwrap().contains("I prefer tabs over spaces."));
}

#[test]
fn a_damaged_bank_is_named_and_a_mistyped_one_is_not_made() {
    let place = place_with_banks("");
    place.document(&["bank", "activate", "chat"]);
    place.document(&["bank", "activate", "project", "--project-name", "ships"]);
    std::fs::write(place.path("data/bank-records/project/ships/base.zst"), "damaged").unwrap();
    let listed = place.document(&["bank", "list"]);
    assert_eq!(listed["banks"].as_array().unwrap().len(), 2, "{listed}");
    assert!(listed["banks"][1]["problem"].is_string() && listed["banks"][0]["problem"].is_null(), "{listed}");
    for command in ["show", "sync", "optimize", "history"] {
        place.run(&["bank", command, "--bank", "project:shpis"]).exits(1);
    }
    let mut process = McpProcess::initialized(&place, &[]);
    let refused = process.call_failing("update", json!({"content": "I prefer tabs.", "bank": "project:shpis"}));
    assert_eq!(refused["code"], "not_found", "{refused}");
    process.end();
    assert_eq!(place.document(&["bank", "list"])["banks"].as_array().unwrap().len(), 2);
}
