//! Noise: what of an error message or a stack trace differs from run to run, such as addresses in memory and positions
//! in files.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

static NOISE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        // 0x7f3a9c001000
        r"\b0[xX][0-9a-fA-F]{6,16}\b",
        // main.rs:10:5, Main.java:42
        r"|(?P<file>\b[\w-]+\.[A-Za-z]{1,4}):\d+(?::\d+)?\b",
        // line 42, in f
        r"|(?P<line>\b[Ll]ine) \d+\b",
    ))
    .ok()
});

pub(super) fn without(text: &str) -> Cow<'_, str> {
    match &*NOISE {
        Some(noise) => noise.replace_all(text, "$file$line "),
        None => Cow::Borrowed(text),
    }
}
