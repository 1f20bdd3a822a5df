use super::*;

fn edited(text: &str, change: impl Fn(&BankDocument) -> Result<BankDocument, BankInvalid>) -> String {
    change(&BankDocument::parse(text).unwrap()).unwrap().into_text()
}

#[test]
fn an_entry_is_put_where_a_careful_writer_would_put_it() {
    let cases = [
        ("# A\n", "# A\n\n- new\n"),
        ("# A", "# A\n\n- new"),
        ("# A\n\n## B\n", "# A\n\n- new\n\n## B\n"),
        ("# A\n## B\n", "# A\n\n- new\n\n## B\n"),
        ("# A\n\n- one\n\n## B\n", "# A\n\n- one\n- new\n\n## B\n"),
        ("# A\n- one\n## B\n", "# A\n- one\n- new\n\n## B\n"),
        ("# A\n\n* one\n\n* two\n\n\n## B\n", "# A\n\n* one\n\n* two\n\n* new\n\n\n## B\n"),
        ("# A\n\n1. one\n2. two\n   more\n", "# A\n\n1. one\n2. two\n   more\n3. new\n"),
        ("# A\n\n- one  \n\n## B\n", "# A\n\n- one  \n- new\n\n## B\n"),
        ("# A\n\n- one\t\t", "# A\n\n- one\t\t\n- new"),
        ("# A\n\ntext\n\n\n", "# A\n\ntext\n\n- new\n\n\n"),
        ("# A\r\n\r\n- one", "# A\r\n\r\n- one\r\n- new"),
        ("# A\n\n- one\r\n\n## B\n", "# A\n\n- one\r\n- new\n\n## B\n"),
    ];
    for (before, after) in cases {
        assert_eq!(edited(before, |document| document.append(1, "- new")), after, "{before:?}");
    }
    assert_eq!(edited("", |document| document.append(0, "text")), "text\n");
    assert_eq!(edited("a\n", |document| document.append(0, "text")), "a\n\ntext\n");
    assert_eq!(edited("---\nx: 1\n---\n", |document| document.append(0, "text")), "---\nx: 1\n---\n\ntext\n");
}

#[test]
fn the_newest_entry_comes_after_the_introduction() {
    let prepended = |text: &str, content: &str| edited(text, |document| document.prepend(1, content));
    assert_eq!(prepended("# A\n\nIntro.\n\n- old\n", "- new"), "# A\n\nIntro.\n\n- new\n- old\n");
    assert_eq!(prepended("# A\n\n```\n- code\n```\n\n* old", "- new"), "# A\n\n```\n- code\n```\n\n* new\n* old");
    for before in ["<!--\n- old entry\n-->\n\n", "````\n```\n- code\n````\n\n", "Above.\n\n* * *\n\n"] {
        let text = format!("# A\n\n{before}- old\n");
        assert_eq!(prepended(&text, "- new"), format!("# A\n\n{before}- new\n- old\n"));
    }
    assert_eq!(prepended("# A\n\n1. old\n", "- new"), "# A\n\n1. old\n2. new\n");
    assert_eq!(prepended("# A\n\n1. old\n", "- one\n- two"), "# A\n\n1. old\n2. one\n3. two\n");
    assert_eq!(prepended("# A\n\n3. old\n", "- [ ] new\n  more"), "# A\n\n3. old\n4. [ ] new\n   more\n");
    assert_eq!(prepended("# A\n\n1. [ ] old\n", "- [ ] new"), "# A\n\n1. [ ] old\n2. [ ] new\n");
    assert_eq!(prepended("# A\n\n* old\n", "- one\n- two"), "# A\n\n* one\n* two\n* old\n");
    assert_eq!(prepended("# A\n\nold\n", "new\n"), "# A\n\nnew\n\nold\n");
    assert_eq!(prepended("# A\n\n## B\n", "- new"), "# A\n\n- new\n\n## B\n");
}

#[test]
fn a_section_is_replaced_and_a_new_one_added_without_touching_others() {
    let text = "# A\n\n## B\n\nold\n\n### C\n\nstays\n\n## D\nlast";
    assert_eq!(
        edited(text, |document| document.replace_body(2, "new\n")),
        "# A\n\n## B\n\nnew\n\n### C\n\nstays\n\n## D\nlast"
    );
    assert_eq!(
        edited(text, |document| document.with_section(Some(2), "E", "e")),
        text.replace("stays\n", "stays\n\n### E\n\ne\n")
    );
    assert_eq!(edited(text, |document| document.with_section(None, "E", "e\n")), format!("{text}\n\n## E\n\ne"));
    assert_eq!(edited("# A\n", |document| document.with_section(None, "E", "")), "# A\n\n## E\n");
    assert_eq!(edited("", |document| document.with_section(None, "E", "e")), "## E\n\ne\n");
    let underlined = "Plan\n====\n\nDone\n----\n\n- a\n";
    let added = edited(underlined, |document| document.with_section(None, "Known issues", "- b"));
    assert_eq!(added, format!("{underlined}\nKnown issues\n------------\n\n- b\n"), "as the file has its headings");
    let document = BankDocument::parse(added).unwrap();
    assert!(document.find("Known issues").is_ok());
}

#[test]
fn what_would_swallow_other_sections_is_refused() {
    let document = BankDocument::parse("# A\n\n## B\n\ntext\n").unwrap();
    for content in ["```\nopen", "<!-- open", "x\n# C", "~~~~\n~~~"] {
        assert!(document.append(1, content).unwrap_err().to_string().contains("other sections"), "{content}");
    }
    assert!(document.append(2, "```\ncode\n```").is_ok());
    assert!(document.append(7, "x").is_err());
}

/// The markdown files of this repository.
fn repository_files() -> Vec<String> {
    let mut folders = vec![std::path::PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))];
    let mut texts = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            if path.is_dir() && !name.starts_with('.') && name != "target" {
                folders.push(path);
            } else if name.ends_with(".md") {
                texts.push(std::fs::read_to_string(path).unwrap());
            }
        }
    }
    texts
}

/// Files with all that markdown allows around sections, in many combinations.
fn made_files() -> Vec<String> {
    let heads = ["", "\u{feff}", "---\ntitle: x\ntags: [a]\n---\n", "---\n# not a heading\n...\n\n"];
    let titles = ["# A `b` *c*", "A\n===", "# A ##", "# A {#id}\n\nText [link][l].\n\n[l]: https://x.y"];
    let bodies = [
        "- one\n- two\n  ```\n  # code\n  ```\n",
        "> # quoted\n> - x\n\n~~~sh\n# comment\n## two\n~~~\n",
        "| a | b |\n|---|---|\n| # | x |\n\n<div>\n# html\n</div>\n",
        "1. one\n\n2. two\n\n<!--\n## hidden\n-->\n",
    ];
    let mut files = Vec::new();
    for (at, head) in heads.iter().enumerate() {
        for title in titles {
            for (number, body) in bodies.iter().enumerate() {
                let text = format!("{head}{title}\n\n{body}\n## B\n{}\nSub\n---\n\n{body}", bodies[(at + number) % 4]);
                let text = if number % 2 == 0 { text } else { text.trim_end().to_owned() };
                files.push(if at % 2 == 0 { text } else { text.replace('\n', "\r\n") });
            }
        }
    }
    files
}

#[test]
fn a_change_of_one_section_leaves_every_other_byte_of_a_hundred_files() {
    let files: Vec<String> = repository_files().into_iter().chain(made_files()).collect();
    assert!(files.len() >= 100, "{}", files.len());
    let mut changes = 0;
    for text in &files {
        let document = BankDocument::parse(text.as_str()).unwrap();
        for index in 0..document.sections().len() {
            let section = &document.sections()[index];
            let range = section.body_range();
            let (before, after) = (&text[..range.start], &text[range.end..]);
            for changed in [
                document.append(index, "- new"),
                document.prepend(index, "- new"),
                document.replace_body(index, "New."),
            ] {
                let changed =
                    changed.unwrap_or_else(|error| panic!("{error} for {:?} of {text:?}", section.path)).into_text();
                assert!(changed.starts_with(before) && changed.ends_with(after) && changed.len() != text.len());
                changes += 1;
            }
            let appended = document.append(index, "- new").unwrap().into_text();
            let at = before.len() + document.body(section).trim_end().len();
            let start = at.max(document.front_matter().len());
            assert!(appended.starts_with(&text[..start]) && appended.ends_with(&text[start..]), "{:?}", section.path);
        }
    }
    assert!(changes > 1_000);
}

#[test]
fn nothing_is_put_into_code_or_a_comment_that_is_never_closed() {
    let cases = [
        ("# A\n\n- one\n\n```sh\nmake\n", "# A\n\n- one\n- new\n\n```sh\nmake\n"),
        ("# A\n\n```sh\nmake\n", "# A\n\n- new\n\n```sh\nmake\n"),
        ("# A\n\ntext\n\n<!-- later\nmore\n", "# A\n\ntext\n\n- new\n\n<!-- later\nmore\n"),
        ("# A\n\nUse `<!--` here.\n\n- a\n", "# A\n\nUse `<!--` here.\n\n- a\n- new\n"),
        ("# A\n\n```sh\nmake\n```\n", "# A\n\n```sh\nmake\n```\n\n- new\n"),
    ];
    for (before, after) in cases {
        assert_eq!(edited(before, |document| document.append(1, "- new")), after, "{before:?}");
    }
}

#[test]
fn open_items_have_any_marker_and_are_not_code() {
    let text = "# A\n\n- [ ] one\n1. [ ] two\n   * [ ] three\n- [x] four\n\n````\n- [ ] code\n```\n- [ ] code\n````\n+ [ ] five\n";
    let document = BankDocument::parse(text).unwrap();
    let items = document.open_items();
    assert_eq!(items.iter().map(|task| task.item.text).collect::<Vec<_>>(), ["one", "two", "three", "five"]);
    let is_in_box = |place| matches!(place, TaskPlace::Box(at) if text[at - 1..].starts_with("[ ] "));
    assert!(items.iter().all(|task| is_in_box(task.item.place)));
}

#[test]
fn an_item_without_a_box_is_open_under_a_heading_of_tasks_until_it_is_done() {
    let list = "1. one\n2. two  \n   goes on\n   - nested\n3. three (done 2026-11-01)\n\n* * *\n";
    let text = format!("# Plan\n\n## Next steps\n\n{list}\n## Architecture\n\n- four\n\n## Ideas\n\n- five\n");
    let document = BankDocument::parse(text.as_str()).unwrap();
    let items = document.open_items();
    assert_eq!(items.iter().map(|task| task.item.text).collect::<Vec<_>>(), ["one", "two"]);
    let done = document.finished(&items[1].item, "2026-11-25").unwrap();
    assert_eq!(done.text(), text.replace("   goes on\n", "   goes on (done 2026-11-25)\n"));
    assert_eq!(done.open_items().len(), 1);
}
