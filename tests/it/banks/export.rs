//! A bank that goes to another machine, and one that is learned from.

use super::*;

#[test]
fn an_export_takes_the_banks_along_and_a_backup_of_ones_own_brings_them_back() {
    let (old, new) = (place_with_banks(""), place_with_banks(""));
    old.document(&["bank", "update", "I prefer tabs over spaces.", "--bank", "global:default"]);
    old.document(&["bank", "activate", "project", "--project-name", "ships"]);
    old.document(&["bank", "update", "We decided to keep the hulls in Postgres.", "--bank", "project:ships"]);
    let export = new.path("export.jsonl");
    std::fs::write(&export, old.run(&["memory", "export", "--all"]).ok().stdout).unwrap();
    let import = |more: &[&str]| {
        let arguments = [&["memory", "import", export.to_str().unwrap(), "--yes"], more].concat();
        new.document(&arguments)
    };

    let doubted = import(&[]);
    assert_eq!(doubted["imported"].get("bank_files"), None, "{doubted}");
    assert_eq!(doubted["left_out"]["bank_files"], 9, "{doubted}");
    assert!(doubted["notes"].to_string().contains("memory banks were not taken: 9 files"), "{doubted}");

    new.document(&["bank", "update", "The user works with Rust.", "--bank", "global:default"]);
    let taken = import(&["--trusted-backup"]);
    let sum = taken["imported"]["bank_files"].as_u64().unwrap() + taken["skipped"].as_u64().unwrap();
    assert!(sum == 9 && taken["imported"]["bank_files"].as_u64() >= Some(7), "one bank is new: {taken}");
    for (bank, text) in [("global:default", "tabs over spaces"), ("project:ships", "hulls in Postgres")] {
        let shown = new.document(&["bank", "show", "--bank", bank]);
        assert!(shown.to_string().contains(text), "{shown}");
    }
    let history = new.document(&["bank", "history", "--bank", "global:default"]);
    assert_eq!(history["versions"][0]["reason"], "before an import", "{history}");
    let again = import(&["--trusted-backup"]);
    assert_eq!((again["imported"].get("bank_files"), &again["skipped"]), (None, &json!(9)), "{again}");
}

#[test]
fn a_bank_of_a_checkout_comes_back_with_its_own_files_alone() {
    let (old, new) = (place_with_banks(""), place_with_banks(""));
    old.write("project/notes/todo.md", "# To do\n\n- Paint the hull.\n");
    old.run(&["bank", "adopt", "notes"]).ok();
    let export = new.path("export.jsonl");
    std::fs::write(&export, old.run(&["memory", "export", "--all"]).ok().stdout).unwrap();
    let taken = new.document(&["memory", "import", export.to_str().unwrap(), "--yes", "--trusted-backup"]);
    assert_eq!((&taken["imported"]["bank_files"], &taken["skipped"]), (&json!(1), &json!(0)), "{taken}");
    let listed = new.document(&["bank", "list"]);
    assert_eq!((listed["banks"].as_array().unwrap().len(), &listed["banks"][0]["files"]), (1, &json!(1)), "{listed}");
    assert!(read_all(&new.path("data/banks")).contains("Paint the hull."), "it lies in the data directory");
}

#[test]
fn a_secret_in_a_bank_of_an_export_is_removed_and_counted() {
    let place = place_with_banks("");
    let key = concat!("sk-or-v1-", "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef");
    let line = json!({"kind": "bank_file", "bank": "global:default", "path": "keys.md", "text": format!("- {key}\n")});
    let export = place.write("export.jsonl", &line.to_string());
    let imported = place.document(&["memory", "import", "--trusted-backup", export.to_str().unwrap(), "--yes"]);
    assert_eq!((&imported["imported"]["bank_files"], &imported["redactions"]), (&json!(1), &json!(1)), "{imported}");
    assert!(!read_all(&place.path("data")).contains(key));
}

#[test]
fn what_a_bank_says_is_learned_like_notes() {
    let place = place_with_banks("");
    let file = place.path("notes.md");
    let lesson = "# Retries\n\nThe import failed with a 429, because all workers tried again at once. Retries now wait \
                  with exponential backoff and jitter, which fixed it: no request was refused for a week.\n";
    std::fs::write(&file, lesson).unwrap();
    let of_file = place.document(&["learn", file.to_str().unwrap()]);
    let other = place_with_banks("");
    let dir = other.path("data/banks/project/ships");
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::write(dir.join("retries.md"), lesson).unwrap();
    other.document(&["bank", "activate", "project", "--project-name", "ships"]);
    let of_bank = other.document(&["learn", "--bank", "project:ships"]);
    assert_eq!(of_bank["files"][0]["file"], "project:ships/retries.md", "{of_bank}");
    assert_eq!(of_bank["total"], of_file["total"], "{of_bank} {of_file}");
    place.run(&["learn", "--bank", "project:none"]).exits(1);
    place.run(&["learn"]).exits(2);
}
