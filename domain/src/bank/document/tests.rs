use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;

fn paths(text: &str) -> Vec<String> {
    BankDocument::parse(text).unwrap().sections().iter().skip(1).map(BankSection::name).collect()
}

#[test]
fn headings_of_every_form_begin_sections_and_those_elsewhere_do_not() {
    let text = "\u{feff}---\ntitle: # no\n---\nIntro\n\nSetext *one*\n============\n\n```md\n# in code\n```\n\n## `Two` ##\n\n> # quoted\n\n- # in a list\n\n<!--\n# in a comment\n-->\n\n    # indented\n\nSub\nline\n---\n\n### Three\n## Four";
    assert_eq!(
        paths(text),
        [
            "Setext one",
            "Setext one > Two",
            "Setext one > Sub line",
            "Setext one > Sub line > Three",
            "Setext one > Four"
        ]
    );
    let document = BankDocument::parse(text).unwrap();
    assert_eq!(document.front_matter(), "\u{feff}---\ntitle: # no\n---\n");
    let four = &document.sections()[5];
    assert_eq!((document.heading(four), document.body(four)), ("## Four", ""));
    assert_eq!(document.heading(&document.sections()[3]), "Sub\nline\n---\n");
}

#[test]
fn line_ends_of_other_systems_stay() {
    let document = BankDocument::parse("# A\r\n\r\ntext\r\n\r\n## B\r\n").unwrap();
    assert_eq!((document.line_end(), document.heading(&document.sections()[1])), ("\r\n", "# A\r\n"));
    assert_eq!(document.body(&document.sections()[1]), "\r\ntext\r\n\r\n");
    assert_eq!(BankDocument::parse("a\nb\r\nc\n").unwrap().line_end(), "\n");
}

#[test]
fn a_section_is_found_by_the_end_of_its_path() {
    let document = BankDocument::parse("# P\n## A\n### Notes\n## B\n### Notes\n## A > B\n").unwrap();
    assert_eq!(document.find("b"), Ok(4));
    assert_eq!(document.find("A>notes"), Ok(3));
    assert_eq!(document.find("P > A"), Ok(2));
    assert_eq!(document.find("A > B"), Ok(6));
    assert!(document.find("Notes").unwrap_err().to_string().contains("several times"));
    assert!(document.find("C").unwrap_err().to_string().contains("P > B > Notes"));
    assert!(document.find("").is_err());
}

#[test]
fn hostile_texts_are_read_in_time_or_refused() {
    let nested: String = (0..1_000).map(|depth| format!("{}- x\n", "  ".repeat(depth))).collect();
    let most = BANK_FILE_MAX_BYTES;
    let hostile = [
        nested[..most.min(nested.len())].to_owned(),
        "> ".repeat(most / 2),
        "- ".repeat(most / 2),
        format!("{}\n{}", "> ".repeat(1_000), "a\n".repeat(most / 2 - 1_001)),
        "[".repeat(most),
        "*a_ ".repeat(most / 4),
        "`".repeat(most),
        "<!-- ".repeat(most / 5),
        "# x\n".repeat(most / 4),
        "a\n=\n".repeat(most / 4),
        format!("---\na: &a [{}]\n---\n", "*a,".repeat(most / 3 - 10)),
        "---\n".repeat(most / 4),
        "| a ".repeat(most / 4),
        "\\".repeat(most),
    ];
    for text in hostile {
        let begun = Instant::now();
        let document = BankDocument::parse(text.as_str()).unwrap();
        assert_eq!(document.text(), text);
        assert!(begun.elapsed() < Duration::from_secs(2), "{:?} for {:?}", begun.elapsed(), &text[..40]);
    }
    assert!(BankDocument::parse("x".repeat(10 << 20)).unwrap_err().to_string().contains("256 KiB"));
}

proptest! {
    #[test]
    fn the_sections_cover_the_text(text in "(\u{feff})?(---\n)?((#{1,3} )?[a`>=~-]{0,4}\r?[\n\r]{0,2}|  - |\\PC){0,40}") {
        let document = BankDocument::parse(text.as_str()).unwrap();
        let all: String = document.sections().iter().map(|section| document.section_text(section)).collect();
        prop_assert_eq!(all, text);
    }
}
