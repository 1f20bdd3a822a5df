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
        ("# A\n\ntext\n\n\n", "# A\n\ntext\n\n- new\n\n\n"),
        ("# A\r\n\r\n- one", "# A\r\n\r\n- one\r\n- new"),
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
