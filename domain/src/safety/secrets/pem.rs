//! Private keys in PEM armour, whole or cut off at either end, as tools that shorten output leave them, and private
//! keys of PuTTY.

use std::ops::Range;
use std::sync::LazyLock;

use super::lazy_pattern::LazyPattern;

/// The dashes of the armour: five, or four and a space as SSH2 has them.
macro_rules! dashes {
    () => {
        "(?:-----|---- )"
    };
}

/// Every key says that it is private.
const LETTERS: [&str; 1] = ["private"];

macro_rules! label {
    () => {
        "[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?(?:-----| ----)"
    };
}

static BEGIN: LazyLock<LazyPattern> =
    LazyLock::new(|| LazyPattern::new(concat!("(?i-u)", dashes!(), "BEGIN ", label!()), LETTERS));
static END: LazyLock<LazyPattern> =
    LazyLock::new(|| LazyPattern::new(concat!("(?i-u)", dashes!(), "END ", label!()), LETTERS));
/// The body of a key whose end is missing: headers, then lines of base64, the last of them perhaps shorter.
static BODY: LazyLock<LazyPattern> = LazyLock::new(|| {
    LazyPattern::new(
        concat!(
            r#"\A(?:(?:\s|\\[nrt]|["'+,])*"#,
            r"(?:(?:Proc-Type|DEK-Info|Version|Comment|Hash):[^\n\\]*|=?[A-Za-z0-9+/]{20,}={0,2}))*",
            r#"(?:(?:\s|\\[nrt]|["'+,])*[A-Za-z0-9+/]+={0,2}[ \t\r]*(?:\n|\z))?"#,
        ),
        [],
    )
});
/// A key whose beginning is missing.
static TAIL: LazyLock<LazyPattern> = LazyLock::new(|| {
    LazyPattern::new(
        concat!(
            r#"(?:[A-Za-z0-9+/]{20,}={0,2}(?:\s|\\[nrt]|["'+,])+)+(?:[A-Za-z0-9+/=]{1,80}(?:\s|\\[nrt]|["'+,])+)?"#,
            "(?i-u:",
            dashes!(),
            "END ",
            label!(),
            ")",
        ),
        LETTERS,
    )
});

/// The private lines of a key of PuTTY, with the code that authenticates them.
static PUTTY: LazyLock<LazyPattern> = LazyLock::new(|| {
    LazyPattern::new(
        concat!(
            r#"(?i-u)Private-Lines:[ \t]{0,4}[0-9]{1,4}(?:"#,
            r#"(?:(?:\s|\\[nrt]){1,4}[A-Za-z0-9+/]{4,}={0,2}){1,64}?(?:\s|\\[nrt]){1,4}Private-(?:MAC|Hash):[ \t]{0,4}[0-9a-f]{16,}"#,
            r#"|(?:(?:\s|\\[nrt]){1,4}[A-Za-z0-9+/]{4,}={0,2}){1,64})"#,
        ),
        LETTERS,
    )
});

/// The longest block, in bytes. An end that is farther away belongs to no beginning before it.
const MAX_BLOCK_BYTES: usize = 64 * 1024;

#[cfg(test)]
pub(super) fn patterns() -> [&'static LazyPattern; 4] {
    [&BEGIN, &END, &TAIL, &PUTTY]
}

pub(super) fn find(text: &str) -> Vec<Range<usize>> {
    let begins = spans(&BEGIN, text);
    let mut blocks: Vec<Range<usize>> = Vec::new();
    for (index, begin) in begins.iter().enumerate() {
        // The block reaches to the next beginning at most, so each part of the text is looked at once.
        let until = begins.get(index + 1).map_or(text.len(), |next| next.start);
        let rest = &text[begin.end..until];
        let end = first(&END, rest).filter(|end| end.start <= MAX_BLOCK_BYTES).or_else(|| first(&BODY, rest));
        let block = rest[..end.map_or(0, |end| end.end)].trim_end();
        blocks.push(begin.start..begin.end + block.len());
    }
    if first(&END, text).is_some() {
        let inside = |tail: &Range<usize>| {
            let next = blocks.partition_point(|block| block.end <= tail.start);
            blocks.get(next).is_some_and(|block| block.start < tail.end)
        };
        let tails: Vec<_> = spans(&TAIL, text).into_iter().filter(|tail| !inside(tail)).collect();
        blocks.extend(tails);
        blocks.sort_by_key(|block| block.start);
    }
    blocks.extend(spans(&PUTTY, text));
    blocks
}

fn spans(pattern: &LazyPattern, text: &str) -> Vec<Range<usize>> {
    let regex = pattern.for_text(text);
    regex.into_iter().flat_map(|regex| regex.find_iter(text)).map(|found| found.range()).collect()
}

fn first(pattern: &LazyPattern, text: &str) -> Option<Range<usize>> {
    pattern.for_text(text)?.find(text).map(|found| found.range())
}
