//! Stack traces as they are kept. What changes from run to run is out, so that two of the same failure read the same
//! and the names that matter fit. Their secrets are removed before that, as a cut might leave half of one.

use std::sync::LazyLock;

use regex::Regex;

use super::STACK_TRACE_MAX_CHARS;

const CUT: &str = "\n…\n";

/// Returns the stack with types, symbols, files and messages, without addresses and line numbers. A long one keeps its
/// head and its tail, half each, as errors stand at either end. It has at most [`STACK_TRACE_MAX_CHARS`] characters,
/// with the mark between them.
pub fn normalised_stack(stack: &str) -> String {
    let mut text = stack.trim().to_owned();
    if let Some(patterns) = &*PATTERNS {
        for (pattern, replacement) in patterns {
            text = pattern.replace_all(&text, *replacement).into_owned();
        }
    }
    let chars: Vec<char> = text.chars().collect();
    if chars.len() <= STACK_TRACE_MAX_CHARS {
        return text;
    }
    let part = (STACK_TRACE_MAX_CHARS - CUT.chars().count()) / 2;
    let (head, tail) = (chars[..part].iter(), chars[chars.len() - part..].iter());
    head.copied().chain(CUT.chars()).chain(tail.copied()).collect()
}

static PATTERNS: LazyLock<Option<Vec<(Regex, &str)>>> = LazyLock::new(|| {
    let table = [
        // Arguments that are nothing but addresses: `main.f(0xc000012345, 0x3)`.
        (r"\((?:\s*0x[0-9a-fA-F]+\??,?|\s*\.\.\.)+\s*\)", "()"),
        (r"(?:\s+at|\s*\+)?\s*\b0x[0-9a-fA-F]+\b", ""),
        // `File "a.py", line 3` and `a.cs:line 3`
        (r"[,:]\s?line \d+\b", ""),
        // `a.rs:3:5`, `loader:3:5`, `A.java:3`, `a.ts(3,5)`
        (r"([^\s\d:]):\d+:\d+\b", "$1"),
        (r"(\.[A-Za-z]\w{0,9}):\d+\b", "$1"),
        (r"(\.[A-Za-z]\w{0,9})\(\d+(?:,\s?\d+)?\)", "$1"),
    ];
    table.into_iter().map(|(pattern, to)| Some((Regex::new(pattern).ok()?, to))).collect()
});

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(
        "  File \"/app/a.py\", line 31, in load\n    return self.read(path)\nValueError: x",
        "File \"/app/a.py\", in load\n    return self.read(path)\nValueError: x"
    )]
    #[case(
        "\tat com.acme.Bank.pay(Bank.java:42)\nCaused by: java.io.IOException: no",
        "at com.acme.Bank.pay(Bank.java)\nCaused by: java.io.IOException: no"
    )]
    #[case(
        "    at Object.<anonymous> (/app/index.js:3:9)\n    at node:internal/main/run_main_module:23:47",
        "at Object.<anonymous> (/app/index.js)\n    at node:internal/main/run_main_module"
    )]
    #[case("main.f(0xc000012345, 0x3)\n\t/tmp/x.go:8 +0x1d", "main.f()\n\t/tmp/x.go")]
    #[case("#0 0x00007f3a in foo::bar () at a.c:3\n<Foo object at 0x7f3a>", "#0 in foo::bar () at a.c\n<Foo object>")]
    #[case(
        "   0: core::panicking::panic_fmt\n             at ./src/a.rs:75:14",
        "0: core::panicking::panic_fmt\n             at ./src/a.rs"
    )]
    #[case("   at A.B(C c) in /a/b.cs:line 5", "at A.B(C c) in /a/b.cs")]
    #[case("src/a.ts(3,5)\nat 12:30:01 port 8080", "src/a.ts\nat 12:30:01 port 8080")]
    fn what_changes_from_run_to_run_is_out(#[case] stack: &str, #[case] kept: &str) {
        assert_eq!(normalised_stack(stack), kept);
    }

    #[test]
    fn of_a_long_one_head_and_tail_are_kept() {
        let frames: String = (0..2_000).map(|n| format!("  at é.f{n}(a.rs:{n}:5)\n")).collect();
        let kept = normalised_stack(&format!("FirstError: a\n{frames}LastError: z"));
        assert!(kept.starts_with("FirstError: a\n  at é.f0(a.rs)") && kept.ends_with("LastError: z"));
        assert!(kept.contains(CUT) && kept.chars().count() <= STACK_TRACE_MAX_CHARS);
    }

    proptest! {
        #[test]
        fn it_is_never_too_long_and_its_words_stay(words in prop::collection::vec("[a-z]{1,8}", 0..900), n in 0u32..999) {
            let stack: String = words.iter().map(|word| format!("{word}.rs:{n} +0x{n:x}\n")).collect();
            let kept = normalised_stack(&stack);
            prop_assert!(kept.chars().count() <= STACK_TRACE_MAX_CHARS);
            let all_there = words.iter().all(|word| kept.contains(&format!("{word}.rs")));
            prop_assert!(kept.contains(CUT) || all_there);
            prop_assert_eq!(normalised_stack(&kept), kept);
        }
    }
}
