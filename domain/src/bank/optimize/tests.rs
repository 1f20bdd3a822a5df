use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::*;
use crate::bank::pieces::{block_spans, words_of};
use crate::bank::reading::{decisions_in, open_in, stays};
use crate::bank::{BankDocument, BankInvalid, BankKind, BankSection, check_bounds, new_pieces, template};
use crate::text::shortened;

fn now() -> Timestamp {
    "2026-11-25T12:00:00Z".parse().unwrap()
}

static NOT_RENAMED: LazyLock<RenamedHeadings> = LazyLock::new(RenamedHeadings::default);

fn facts(metadata: &dyn Fn(&str) -> Option<BankMetadata>) -> BankFacts<'_> {
    BankFacts {
        metadata,
        may_shorten: None,
        renamed: &NOT_RENAMED,
        reading: &|text| Arc::new(BankFileReading::of(text)),
    }
}

fn optimized(files: &BankFiles) -> OptimizedBank {
    optimize(files, OPTIMIZE_ABOVE_TOKENS, facts(&|_| None), now())
}

fn with(files: &mut BankFiles, file: &str, heading: &str, entries: impl Iterator<Item = String>) {
    let path: BankPath = file.parse().unwrap();
    let document = BankDocument::parse(files[&path].as_str()).unwrap();
    let entries = entries.collect::<Vec<_>>().join("\n");
    let changed = document.append(document.find(heading).unwrap(), &entries).unwrap();
    files.insert(path, changed.into_text());
}

#[test]
fn a_bank_that_was_made_shorter_is_made_no_shorter_again() {
    let short = optimized(&large());
    let again = collapse_old(&short.files, facts(&|_| None), now());
    assert_eq!((again.tokens_before, again.tokens), (short.tokens, short.tokens));
    assert!(again.files == short.files, "old entries are lines already");
    // A smaller bound lets more entries leave, and the line of a section counts all of them.
    let entries = |files: &BankFiles| {
        let lines = files.values().flat_map(|text| text.lines());
        lines.filter_map(|line| count_in_history(line.strip_prefix("- ")?)).collect::<Vec<_>>()
    };
    let shorter = optimize(&short.files, 6_000, facts(&|_| None), now());
    let (before, after) = (entries(&short.files), entries(&shorter.files));
    assert!(after.iter().sum::<usize>() > before.iter().sum::<usize>(), "{before:?} {after:?}");
    for text in shorter.files.values() {
        let document = BankDocument::parse(text.as_str()).unwrap();
        for section in document.sections() {
            let of_section = BankFiles::from([(BankPath::notes(), document.body(section).to_owned())]);
            assert!(entries(&of_section).len() <= 1, "{}", document.body(section));
        }
    }
}

/// A bank of some 30,000 tokens, as months of work leave it.
fn large() -> BankFiles {
    let mut files = template(BankKind::Code);
    let long = "The change touches the importer, the queue and the two places that read its state; measured on the large customer's data it takes a third of the time, and the retries are bounded now.";
    let day = |n: usize| format!("2026-{:02}-{:02}", 3 + n / 28 % 9, 1 + n % 28);
    with(
        &mut files,
        "progress.md",
        "Done",
        (0..200).map(|n| format!("- {}: Finished part {n} of the importer. {long}", day(n))),
    );
    with(
        &mut files,
        "activeContext.md",
        "Current focus",
        (0..80).map(|n| format!("- {}: Looking at question {n} of the queue. {long}", day(3 * n))),
    );
    with(
        &mut files,
        "activeContext.md",
        "Next steps",
        (0..25).map(|n| {
            format!(
                "- [ ] {}: Write the test number {n} of the wire format\n- [x] {}: Measure run {n}. {long}",
                day(n),
                day(n)
            )
        }),
    );
    with(&mut files, "systemPatterns.md", "Decisions", (0..20).map(|n| format!("- We decided to keep store number {n} in one file, because a second one would have to be locked as well.")));
    with(
        &mut files,
        "systemPatterns.md",
        "Architecture",
        (0..60).map(|n| format!("- Service {n} reads from the queue and writes to the index. {long}")),
    );
    with(
        &mut files,
        "techContext.md",
        "Errors and fixes",
        (0..120).map(|n| format!("- Error E{n:04} was caused by a stale lock; removing it fixed it. {long}")),
    );
    with(
        &mut files,
        "techContext.md",
        "Constraints",
        (0..12).map(|n| format!("- #keep The vendor allows {n} calls a minute. {long}")),
    );
    with(&mut files, "progress.md", "Known issues", std::iter::once("- Export of 10,000 rows times out.\n\n### History of the importer\n\nThe first importer read whole files. It was replaced.".to_owned()));
    files
}

/// Checks that a bank which somebody made shorter keeps every decision, open item and tagged line.
///
/// # Errors
/// One is missing; the error quotes it.
fn check_kept(before: &BankFiles, after: &BankFiles) -> Result<(), BankInvalid> {
    let of_bank = |files: &BankFiles| -> Vec<String> {
        let texts = files.values().filter_map(|text| BankDocument::parse(text.as_str()).ok());
        texts.flat_map(|document| must_stay(&document)).collect()
    };
    let all: String = after.values().map(|text| format!("{}\n", words_of(text))).collect();
    match of_bank(before).into_iter().find(|piece| !all.contains(&words_of(piece))) {
        Some(missing) => {
            Err(BankInvalid::new("content", format!("lacks {:?}, which must stay", shortened(&missing, 80))))
        }
        None => Ok(()),
    }
}

/// Returns the pieces of a document that must stay: decisions, open items, and tagged lines.
fn must_stay(document: &BankDocument) -> Vec<String> {
    let of_section = |section: &BankSection| {
        let blocks = block_spans(document.body(section));
        let (has_decisions, is_listed) = (decisions_in(section), open_in(section));
        let kept =
            blocks.into_iter().filter(|block| stays(has_decisions, is_listed, block.form, &block.text).is_some());
        kept.map(|block| block.text).collect::<Vec<_>>()
    };
    document.sections().iter().flat_map(of_section).collect()
}

#[test]
#[expect(clippy::print_stdout, reason = "the numbers stand in docs/BANKS.md")]
fn a_bank_of_thirty_thousand_tokens_keeps_every_decision_open_item_and_tagged_line() {
    let files = large();
    check_bounds(&files).unwrap();
    let short = optimized(&files);
    println!("{} tokens became {}", short.tokens_before, short.tokens);
    assert!((28_000..45_000).contains(&short.tokens_before), "{}", short.tokens_before);
    assert!((OPTIMIZED_MIN_TOKENS..=OPTIMIZE_ABOVE_TOKENS).contains(&short.tokens), "{}", short.tokens);
    check_kept(&files, &short.files).unwrap();
    let all: String = short.files.values().cloned().collect();
    for (path, text) in &files {
        let stays = |line: &&str| line.contains("[ ]") || line.contains("We decided") || line.contains("#keep");
        for line in text.lines().filter(stays) {
            assert!(all.contains(line), "{path}: {line}");
        }
    }
    assert!(all.contains("### History of the importer (historical)\n"));
    let headings = |files: &BankFiles| {
        files.values().map(|text| BankDocument::parse(text.as_str()).unwrap().sections().len()).collect::<Vec<_>>()
    };
    assert_eq!(headings(&files), headings(&short.files));
    let again = optimized(&short.files);
    assert_eq!(again.files, short.files);
}

#[test]
fn entries_older_than_thirty_days_go_first() {
    let mut files = template(BankKind::Code);
    let text =
        "Something was done here. And much more is said of it, in words that nobody needs after a month has passed by.";
    with(
        &mut files,
        "progress.md",
        "Done",
        (0..150)
            .map(|n| format!("- 2026-{:02}-{:02}: Entry {n}. {text} {text}", if n < 20 { 11 } else { 8 }, 1 + n % 24)),
    );
    let short = optimized(&files);
    let progress = &short.files[&"progress.md".parse().unwrap()];
    assert!(
        progress.contains(&format!("Entry 3. {text} {text}\n")) && !progress.contains(&format!("Entry 120. {text}")),
        "{progress}"
    );
    assert!(progress.contains("- 2026-08-01: Entry 120. Something was done here.\n"), "{progress}");
    assert!(short.tokens <= OPTIMIZE_ABOVE_TOKENS);
}

#[test]
fn a_small_bank_is_left_alone_and_a_piece_of_importance_stays() {
    let files = template(BankKind::Code);
    assert_eq!(optimized(&files).files, files);
    let large = large();
    let path: BankPath = "progress.md".parse().unwrap();
    let line = large[&path].lines().find(|line| line.contains("Finished part 7 ")).unwrap();
    let critical = new_pieces("", line);
    let high = |piece: &str| {
        let of_piece = BankMetadata { importance: BankImportance::High, ..BankMetadata::default() };
        critical.contains(piece).then_some(of_piece)
    };
    let short = optimize(&large, OPTIMIZE_ABOVE_TOKENS, facts(&high), now());
    assert!(short.files[&path].contains(line), "what is critical stays");
    assert!(short.tokens <= OPTIMIZE_ABOVE_TOKENS, "and holds nothing else of its section: {}", short.tokens);
    assert!(!optimized(&large).files[&path].contains(line));
}

#[test]
fn what_was_not_filed_stays_unless_it_is_an_old_entry() {
    let mut files = template(BankKind::Code);
    let long = "It reads from the queue and writes to the index, and nobody else may touch either of the two.";
    let mine = |n| format!("- My own note {n} on the service. {long}");
    with(&mut files, "systemPatterns.md", "Architecture", (0..100).map(mine));
    with(
        &mut files,
        "progress.md",
        "Done",
        (0..100).map(|n| format!("- 2026-03-01: I finished part {n} of the importer, at last. {long}")),
    );
    let path: BankPath = "systemPatterns.md".parse().unwrap();
    let before = files[&path].clone();
    with(&mut files, "systemPatterns.md", "Architecture", (0..200).map(|n| format!("- Filed note {n}. {long}")));
    let filed = new_pieces(&before, &files[&path]);
    assert_eq!(filed.len(), 200);
    let facts = BankFacts {
        metadata: &|_| None,
        may_shorten: Some(&|hash| filed.contains(hash)),
        renamed: &NOT_RENAMED,
        reading: &|text| Arc::new(BankFileReading::of(text)),
    };
    let short = optimize(&files, OPTIMIZE_ABOVE_TOKENS, facts, now());
    assert!(short.tokens < OPTIMIZE_ABOVE_TOKENS, "{}", short.tokens);
    assert!((0..100).all(|n| short.files[&path].contains(&mine(n))), "{}", short.files[&path]);
    assert!(!short.files[&path].contains("Filed note 7. It"));
    let progress = &short.files[&"progress.md".parse().unwrap()];
    assert!(
        progress.contains("- 2026-03-01: I finished part 7 of the importer, at last.\n"),
        "an old entry is a line: {progress}"
    );
}

#[test]
fn a_model_that_drops_a_decision_is_refused() {
    let files = large();
    let without = |what: &str| -> BankFiles {
        files
            .iter()
            .map(|(path, text)| {
                let lines: Vec<&str> = text.lines().filter(|line| !line.contains(what)).collect();
                (path.clone(), lines.join("\n"))
            })
            .collect()
    };
    assert!(check_kept(&files, &files).is_ok());
    assert!(check_kept(&files, &without("store number 7 ")).unwrap_err().to_string().contains("store number 7"));
    assert!(
        check_kept(&files, &without("test number 3 ")).is_err()
            && check_kept(&files, &without("allows 4 calls")).is_err()
    );
    assert!(check_kept(&files, &without("Finished part")).is_ok());
}

#[test]
fn the_view_fits_its_tokens_and_says_what_it_leaves_out() {
    let files = large();
    let all = view(&files, 100_000, facts(&|_| None), now());
    assert!(!all.optimized && !all.truncated && all.content == files);
    let view = |max| view(&files, max, facts(&|_| None), now());
    let shorter = view(8_000);
    assert!(shorter.optimized && !shorter.truncated && shorter.tokens <= 8_000 && shorter.content.len() == 6);
    for max in [1_500, 500] {
        let small = view(max);
        assert!(small.truncated && small.tokens <= max && small.outline.len() == 6, "{}", small.tokens);
        assert!(small.content.contains_key(&"activeContext.md".parse().unwrap()) || max > 500);
    }
    assert!(shorter.outline.iter().any(|of| of.file.as_str() == "progress.md" && of.sections.len() == 5));
}

#[test]
fn a_view_says_that_what_it_leaves_out_is_in_the_files() {
    let left = "- 7 older entries are in the history of the bank.\n";
    let entry = |n: u32| format!("- Finished part {n} of the importer, which reads the queue of ships by now.\n");
    let entries: String = (1..=600).map(entry).collect();
    let code = "```\nmake all\nmake test\nmake install\n```\n";
    let text = format!("# Progress\n\n## Done\n\n{entries}{left}\n## Commands\n\n{code}");
    let files = BankFiles::from([("progress.md".parse().unwrap(), text)]);
    let shown = view(&files, 2_000, facts(&|_| None), now());
    let text = shown.content.values().next().unwrap();
    assert!(
        text.contains(" older entries are not shown; activate {\"files\": [\"progress.md\"]} shows them.\n"),
        "{text}"
    );
    assert!(text.contains(left) && text.matches("history of the bank").count() == 1, "{text}");
    assert!(optimize(&files, 2_000, facts(&|_| None), now()).files != shown.content, "files name their history");
}

#[test]
fn what_was_imported_is_neither_counted_nor_shortened_and_is_shown_last() {
    let path: BankPath = "imported/mem0.md".parse().unwrap();
    let mut files = template(BankKind::Code);
    let own = files.clone();
    files.insert(path.clone(), format!("# Imported from mem0\n\n{}", "- A fact of some length.\n".repeat(2_000)));
    assert_eq!(optimized(&files).files, files);
    let shown = view(&files, OPTIMIZE_ABOVE_TOKENS, facts(&|_| None), now());
    assert!(shown.truncated && shown.outline.len() == own.len() + 1);
    assert!(shown.tokens <= OPTIMIZE_ABOVE_TOKENS && own.iter().all(|(path, text)| shown.content[path] == *text));
    let part = &shown.content[&path];
    assert!(part.ends_with("length.\n") && files[&path].starts_with(part.as_str()), "the rest is cut at a line");
    let mut files = large();
    files.insert(path.clone(), "# Imported from mem0\n\n- A fact.\n".to_owned());
    let shorter = optimized(&files);
    assert!(shorter.tokens < shorter.tokens_before && shorter.files[&path] == files[&path]);
}

#[test]
fn a_model_is_asked_about_the_longest_file_first_and_about_none_where_the_bank_is_short() {
    let files = large();
    let metadata = |_: &str| None;
    let next =
        |asked: &BTreeSet<BankPath>| next_long_file(&files, asked, OPTIMIZE_ABOVE_TOKENS, facts(&metadata), now());
    let mut asked = BTreeSet::new();
    let mut lengths = Vec::new();
    while let Some(file) = next(&asked) {
        lengths.push(file.tokens);
        assert!(file.aim_tokens < file.tokens && file.least_tokens <= file.aim_tokens, "{file:?}");
        assert!(asked.insert(file.path), "a file is asked about once");
    }
    assert!(lengths.len() >= 3 && lengths.is_sorted_by(|one, other| one >= other), "{lengths:?}");
    let short = template(BankKind::Code);
    assert_eq!(next_long_file(&short, &BTreeSet::new(), OPTIMIZE_ABOVE_TOKENS, facts(&metadata), now()), None);
}

#[test]
fn a_shorter_file_has_every_piece_that_must_stay() {
    let mut files = BankFiles::new();
    let entry = |n: usize| format!("- Looked at part {n} of the importer, and found nothing that is new.\n");
    let entries: String = (0..900).map(entry).collect();
    let mine = "I wrote this line myself.";
    let text = format!(
        "# Context\n\nWhat the work is about.\n\n## Notes\n\n- [ ] Write the test\n- #keep Call Ana\n\n{mine}\n\n{entries}"
    );
    let path: BankPath = "context.md".parse().unwrap();
    files.insert(path.clone(), text.clone());
    let filed = new_pieces("", &format!("{entries}\n- [ ] Write the test\n- #keep Call Ana\n"));
    let facts = BankFacts {
        metadata: &|_| None,
        may_shorten: Some(&|hash| filed.contains(hash)),
        renamed: &NOT_RENAMED,
        reading: &|text| Arc::new(BankFileReading::of(text)),
    };
    let file = next_long_file(&files, &BTreeSet::new(), OPTIMIZE_ABOVE_TOKENS, facts, now()).unwrap();
    let stays = file.must_stay().collect::<Vec<_>>();
    assert_eq!(stays, ["What the work is about.", "Write the test", "#keep Call Ana", mine]);
    let few: String = (0..400).map(entry).collect();
    let short = |kept: &str| format!("# Context\n\nWhat the work is about.\n\n## Notes\n\n{kept}\n{few}");
    let all = format!("- [ ] Write the test\n- #keep Call Ana\n\n{mine}\n");
    assert_eq!(file.check_shorter(&short(&all)), Ok(()));
    for (kept, problem) in [
        (all.replace("[ ]", "[x]"), "lacks \"Write the test\""),
        (all.replace("Ana", "Anna"), "lacks \"#keep Call Ana\""),
        (all.replace(mine, ""), "lacks \"I wrote this line myself.\""),
        (format!("{all}{entries}{entries}"), "is not shorter"),
    ] {
        let error = file.check_shorter(&short(&kept)).unwrap_err().to_string();
        assert!(error.starts_with("context.md ") && error.contains(problem), "{error}");
    }
    let error = file.check_shorter(&short(&all).replace(&few, "")).unwrap_err().to_string();
    assert!(error.contains("is too short"), "{error}");
}

#[test]
fn the_line_of_a_piece_stays_whose_it_was() {
    let mine =
        "- 2025-03-01: I looked into the importer, which reads the queue twice and the index once. It took a day.\n";
    let theirs =
        "- 2025-03-02: The exporter was rewritten to read the index once and the queue not at all. It took two.\n";
    let text = format!("# Progress\n\n## Done\n\n{mine}{theirs}");
    let filed = new_pieces("", theirs);
    let reading = BankFileReading::of(&text);
    let own = reading.lines_of(|piece| !filed.contains(piece));
    let lines: Vec<String> = reading.sections()[1].blocks.iter().map(|block| block.line.clone()).collect();
    assert_eq!((new_pieces("", &lines[0]), new_pieces("", &lines[1]).is_disjoint(&own)), (own.clone(), true));
    assert!(lines[0].len() < mine.len(), "{lines:?}");
}

#[test]
fn decisions_stay_under_a_heading_that_a_person_gave_them() {
    let reasons = "The change touches many places, and each of them was looked at twice before. ".repeat(4);
    let decisions: String = (0..150).map(|n| format!("- Rule {n}: one binary. {reasons}\n")).collect();
    let before = format!("# System patterns\n\n## Decisions\n\n{decisions}");
    let after = before.replace("## Decisions", "## Why we did it");
    let path: BankPath = "systemPatterns.md".parse().unwrap();
    let mut renamed = RenamedHeadings::default();
    renamed.follow(&path, &before, &after);
    let files = BankFiles::from([(path, after)]);
    let short =
        |renamed| optimize(&files, OPTIMIZE_ABOVE_TOKENS, BankFacts { renamed, ..facts(&|_| None) }, now()).files;
    assert_eq!(short(&renamed), files);
    assert_ne!(short(&NOT_RENAMED), files);
}

#[test]
fn entries_under_the_heading_of_an_old_day_become_a_line_each() {
    let entry =
        |n| format!("- Entry {n} is about the importer, which reads all the files of the folder. It took a day.\n");
    let entries: String = (0..80).map(entry).collect();
    let text = format!("# Progress\n\n## Done\n\n### 2026-11-20\n\n{entries}\n### 2025-01-05\n\n{entries}");
    let path: BankPath = "progress.md".parse().unwrap();
    let files = BankFiles::from([(path.clone(), format!("{text}\n### 2025-01-04\n\n{entries}{entries}"))]);
    let short = collapse_old(&files, facts(&|_| None), now()).files.remove(&path).unwrap();
    let of_day = |day: &str| short.split("### ").find(|part| part.starts_with(day)).unwrap().matches("It took").count();
    assert_eq!((of_day("2026-11-20"), of_day("2025-01-04")), (80, 0));
}

#[rstest::rstest]
#[case("Previous decisions", true)]
#[case("Login (deprecated)", true)]
#[case("Decision history", true)]
#[case("Previous work", true)]
#[case("Session history", true)]
#[case("Archive 2024", true)]
#[case("History of the importer", true)]
#[case("Order history page", false)]
#[case("Previous-page button", false)]
#[case("Archive of orders", false)]
#[case("Decisions", false)]
fn a_heading_of_earlier_times_is_marked_and_the_name_of_a_feature_is_not(#[case] title: &str, #[case] is_marked: bool) {
    let text = format!("# Patterns\n\n## {title}\n\n- one\n");
    let reading = BankFileReading::of(&text);
    assert_eq!(reading.sections()[1].historical_at.is_some(), is_marked);
}

#[test]
fn a_table_that_becomes_a_line_names_its_columns() {
    let text = "# Tech\n\n## Variables\n\n| Name | Meaning |\n|---|---|\n| PORT | where it listens |\n";
    let reading = BankFileReading::of(text);
    let block = &reading.sections()[1].blocks[0];
    assert_eq!(block.line, "- A table (Name, Meaning) that is in the history of the bank.\n");
    assert_eq!(block.shown_line.as_deref(), Some("- A table (Name, Meaning) that is not shown.\n"));
}

mod kept;
mod long;
mod shown;
