use super::*;
use proptest::prelude::*;

const BASE: &str = "---\nx: 1\n---\n# P\n\nIntro.\n\n## A\n\n- one\n- two\n\n## B\n\ntext\n";

fn merged(theirs: &str, ours: &str) -> (String, Vec<String>) {
    let merge = merge(BASE, theirs, ours, "2026-11-25").unwrap();
    (merge.text, merge.conflicts)
}

#[test]
fn what_both_wrote_again_goes_under_the_heading_of_the_first_time() {
    let theirs = BASE.replace("- two", "- two, mine");
    let ours = BASE.replace("- one\n", "- zebra\n- one\n");
    let first = merged(&theirs, &ours).0;
    assert!(first.contains("- two, mine\n\n### 2026-11-25\n\n- zebra\n\n## B"), "{first}");
    // The bank adds an entry, and the person changes the section once more.
    let (theirs, ours) = (first.replace("mine", "my own"), first.replace("- one\n", "- yak\n- one\n"));
    let second = merge(&first, &theirs, &ours, "2026-11-25").unwrap().text;
    assert!(second.contains("- two, my own\n\n### 2026-11-25\n\n- zebra\n- yak\n\n## B"), "{second}");
    // The person does not have the heading yet.
    let later = merge(BASE, &theirs.replace("### 2026-11-25\n\n- zebra\n\n", ""), &second, "2026-11-25").unwrap().text;
    assert_eq!((later.matches("### 2026-11-25").count(), later.matches("yak").count()), (1, 1), "{later}");
    // The person writes under that heading before the entry is in the file.
    let third = theirs.replace("- zebra\n", "- zebra\n- mine too\n");
    let third = merge(&theirs, &third, &second, "2026-11-25").unwrap().text;
    assert!(third.contains("### 2026-11-25\n\n- zebra\n- mine too\n- yak\n\n## B"), "{third}");
    assert_eq!((third.matches("zebra").count(), third.matches("2026-11-25").count()), (1, 1));
}

#[test]
fn an_addition_that_the_person_wrote_as_well_is_not_doubled() {
    // The bank put two lines of the person under its own heading, because they came late.
    let ours = BASE.replace("- two\n", "- two\n\n### 2026-11-25\n\n- three\n- four\n");
    let theirs = BASE.replace("- two\n", "- two\n- three\n");
    let both = merged(&theirs, &ours).0;
    assert!(both.contains("- two\n- three\n\n### 2026-11-25\n\n- four\n\n## B"), "{both}");
    let theirs = BASE.replace("- two\n", "- two\n- four\n- three\n");
    assert_eq!(merged(&theirs, &ours).0, theirs, "the heading goes with its last line");
}

proptest! {
    /// A person adds lines to the file that is on the disk, or to the one that lost its place, while the bank
    /// writes again and again. Each line is in the file once at the end.
    #[test]
    fn lines_that_come_while_the_bank_writes_are_there_once(steps in proptest::collection::vec(0..5_u8, 1..40)) {
        let (mut base, mut disk, mut ours) = (BASE.to_owned(), BASE.to_owned(), BASE.to_owned());
        let mut lines = Vec::new();
        for step in steps {
            let line = format!("line {}\n", lines.len());
            let with_line = format!("{}\n- {line}", disk.trim_end());
            match step {
                0 => (disk, _) = (with_line, lines.push(line)),
                1 => ours = ours.replacen("- one\n", &format!("- entry {}\n- one\n", ours.len()), 1),
                2 => {
                    ours = merge(&base, &disk, &ours, "2026-11-25").unwrap().text;
                    base.clone_from(&disk);
                }
                _ => {
                    let displaced = if step == 3 { (with_line, lines.push(line)).0 } else { disk };
                    let merge = merge(&base, &displaced, &ours, "2026-11-25").unwrap();
                    (base, disk, ours) = (ours.clone(), ours, merge.text);
                }
            }
        }
        let end = merge(&base, &disk, &ours, "2026-11-25").unwrap().text;
        for line in lines {
            prop_assert_eq!(end.matches(&line).count(), 1, "{}: {}", line, end);
        }
    }
}

#[test]
fn mixed_line_ends_of_a_person_stay() {
    let base = "# P\r\n\r\n## A\r\n\r\n- a\r\n- b\n- c\n\r\n## B\r\n\r\nnone\n";
    let theirs = base.replace("none", "some");
    let ours = base.replace("- c\n", "- c\n- new\n");
    let text = merge(base, &theirs, &ours, "2026-11-25").unwrap().text;
    assert!(text.ends_with("## B\r\n\r\nsome\n"), "{text:?}");
    let swapped = merge(base, &base.replace("- a", "- A"), &base.replace("none\n", "none\n\nnew\n"), "x").unwrap().text;
    assert!(swapped.contains("- A\r\n- b\n- c\n\r\n"), "{swapped:?}");
}

#[test]
fn changes_of_different_sections_come_together() {
    let theirs = BASE.replace("Intro.", "A new intro.").replace("## B", "## C\n\nmine\n\n## B");
    let ours = BASE.replace("- two\n", "- two\n- three\n") + "\n## D\n\nours\n";
    let (text, conflicts) = merged(&theirs, &ours);
    assert_eq!(text.trim_end(), (theirs.replace("- two\n", "- two\n- three\n") + "\n## D\n\nours").trim_end());
    assert!(conflicts.is_empty());
}

#[test]
fn what_both_changed_is_the_persons_with_ours_after_it() {
    let (theirs, ours) = (BASE.replace("- one", "- ONE"), BASE.replace("- two\n", "- two\n- three\n"));
    let (text, conflicts) = merged(&theirs, &ours);
    assert_eq!(text, theirs.replace("- two\n", "- two\n\n### 2026-11-25\n\n- three\n"));
    assert_eq!(conflicts, ["P > A"]);
    let windows = merge(BASE, &theirs.replace('\n', "\r\n"), &ours, "2026-11-25").unwrap().text;
    assert_eq!(windows, text.replace('\n', "\r\n"));
}

#[test]
fn headings_that_a_person_renamed_or_removed_are_followed() {
    let ours = BASE.replace("- two\n", "- two\n- three\n");
    let renamed = BASE.replace("## A", "## List");
    assert_eq!(merged(&renamed, &ours), (renamed.replace("- two\n", "- two\n- three\n"), Vec::new()));
    let removed = BASE.replace("## A\n\n- one\n- two\n\n", "");
    let (text, conflicts) = merged(&removed, &ours);
    assert!(text.contains("## A\n\n- three\n") && !text.contains("- one"), "{text}");
    assert_eq!(conflicts, ["P > A"]);
    let untouched = BASE.replace("text", "ours");
    assert!(!merged(&removed, &untouched).0.contains("## A"));
}

#[test]
fn the_heading_of_an_addition_goes_when_a_person_has_removed_all_of_it() {
    let at: Timestamp = "2026-11-25T12:00:00Z".parse().unwrap();
    let heading = addition_heading(at);
    let text = format!("# P\n\n## A\n\n- one\n\n### {heading}\n\n## B\n\ntext\n\n### {heading}\n");
    assert_eq!(without_empty_additions(&text).unwrap(), "# P\n\n## A\n\n- one\n\n## B\n\ntext\n");
    let full = text.replace(&format!("{heading}\n"), &format!("{heading}\n\n- two\n"));
    assert_eq!(without_empty_additions(&full), None);
    assert_eq!(without_empty_additions(&text.replace(&heading, "Added later")), None, "it is somebody else's");
}

#[test]
fn a_file_ends_as_the_person_ends_it() {
    let ours = format!("{BASE}\n## D\n\n- ours\n");
    let of = |theirs: &str| merged(theirs, &ours).0;
    assert!(of(&BASE.replace("text", "mine")).ends_with("- ours\n"), "{:?}", of(&BASE.replace("text", "mine")));
    let removed = BASE.replace("\n## B\n\ntext\n", "");
    let ours = BASE.replace("text\n", "text\n- more\n");
    let (text, _) = merged(&removed, &ours);
    assert!(text.ends_with("- more\n") && !text.ends_with("\n\n"), "{text:?}");
    let with_blank = format!("{}\n", BASE.replace("Intro", "An intro"));
    assert!(merged(&with_blank, &BASE.replace("- one\n", "- one\n- yak\n")).0.ends_with("text\n\n"));
}

#[test]
fn a_file_whose_line_ends_alone_changed_takes_ours() {
    let ours = BASE.replace("- two\n", "- two\n- three\n");
    let text = merge(BASE, &BASE.replace('\n', "\r\n"), &ours, "x").unwrap();
    assert_eq!((text.text, text.conflicts.len()), (ours.replace('\n', "\r\n"), 0));
}

fn file() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        "#{1,3} [AB]\n\n",
        "- [a-d]{1,2}\n",
        "[a-d]{1,2}\n",
        Just("\n".to_owned()),
        Just("```\n- x\n```\n".to_owned()),
        "[a-d]{1,2}\n===\n",
    ];
    prop::collection::vec(line, 0..14).prop_map(|lines| lines.concat())
}

/// A version of a file with some of its lines changed, removed, or new.
fn edited(text: &str, edits: &[(usize, u8, String)]) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for (at, kind, new) in edits {
        let at = at % (lines.len() + 1);
        match kind % 3 {
            0 => lines.insert(at, new.clone()),
            1 if at < lines.len() => lines[at] = new.clone(),
            _ if at < lines.len() => drop(lines.remove(at)),
            _ => {}
        }
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]
    #[test]
    fn nothing_that_a_person_wrote_is_lost_and_nothing_that_the_bank_added(
        base in file(),
        theirs in prop::collection::vec((0usize..20, any::<u8>(), "(- |## |)p[a-z]{3}"), 0..5),
        ours in prop::collection::vec((0usize..20, any::<u8>(), "(- |)o[a-z]{3}"), 0..5),
    ) {
        let (theirs, ours) = (edited(&base, &theirs), edited(&base, &ours));
        let merge = merge(&base, &theirs, &ours, "dated").unwrap();
        let lines: Vec<&str> = merge.text.lines().collect();
        for line in theirs.lines().filter(|line| line.contains('p')) {
            prop_assert!(lines.contains(&line), "{line:?} of theirs {theirs:?} is not in {:?}", merge.text);
        }
        for line in ours.lines().filter(|line| line.contains('o')) {
            prop_assert!(merge.text.contains(line), "{line:?} of ours {ours:?} is not in {:?}", merge.text);
        }
    }

    #[test]
    fn a_side_that_changed_nothing_leaves_the_other(base in file(), other in file()) {
        prop_assert_eq!(&merge(&base, &base, &other, "x").unwrap().text, &other);
        prop_assert_eq!(&merge(&base, &other, &base, "x").unwrap().text, &other);
        prop_assert_eq!(&merge(&base, &other, &other, "x").unwrap().text, &other);
    }
}
