//! Agreement of a failure that was met with one that a warning tells of. Any program may end with a `KeyError` or with
//! `no such file or directory`, for reasons that have nothing in common. Such failures are the same only where what is
//! particular to one is told of the other as well: the key, the path, the module, or else the words of the message. People
//! name an error as they like (`cargo`, `Cannot find module`, `exit code 1`), so that where the names differ, more of what
//! was printed has to be told.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::Regex;

use super::message::SYSTEM;
use super::{Signature, error_message};

/// Errors of standard libraries and of widely used ones, which tell the kind of a failure and not its cause.
const OF_LIBRARIES: [&str; 46] = [
    "argumenterror",
    "arithmeticexception",
    "attributeerror",
    "calledprocesserror",
    "classcastexception",
    "classnotfoundexception",
    "connectionerror",
    "fileexistserror",
    "filenotfounderror",
    "filenotfoundexception",
    "httperror",
    "illegalargumentexception",
    "illegalstateexception",
    "importerror",
    "indexerror",
    "indexoutofboundsexception",
    "integrityerror",
    "ioerror",
    "ioexception",
    "jsondecodeerror",
    "keyerror",
    "lookuperror",
    "modulenotfounderror",
    "nameerror",
    "nomethoderror",
    "notimplementederror",
    "nullpointerexception",
    "operationalerror",
    "oserror",
    "permissionerror",
    "programmingerror",
    "rangeerror",
    "referenceerror",
    "sqlexception",
    "subprocesserror",
    "syntaxerror",
    "systemerror",
    "systemexit",
    "timeouterror",
    "timeoutexception",
    "typeerror",
    "unicodedecodeerror",
    "usageerror",
    "validationerror",
    "valueerror",
    "zerodivisionerror",
];
/// Names of types that stand in messages whatever failed.
const BUILT_IN: [&str; 20] = [
    "any",
    "bool",
    "boolean",
    "bytes",
    "dict",
    "float",
    "function",
    "int",
    "list",
    "module",
    "nonetype",
    "null",
    "number",
    "object",
    "str",
    "string",
    "tuple",
    "undefined",
    "unknown",
    "void",
];
/// Words that stand in messages whatever failed.
const FILLERS: [&str; 38] = [
    "an", "as", "at", "by", "if", "in", "is", "it", "no", "of", "on", "to", "and", "are", "bash", "but", "can",
    "cannot", "could", "does", "errno", "error", "failed", "for", "from", "got", "has", "have", "line", "not", "the",
    "zsh", "this", "was", "while", "with", "you", "your",
];
/// The share of the words of a message that is told of the same failure.
const SHARED_WORDS: f64 = 0.6;
/// A longer quotation is prose, whose words count.
const LITERAL_CHARS: usize = 80;

/// The phrases of systems and programs that tell the kind of a failure and not its cause, besides those of one word.
const GENERIC_PHRASES: [&str; 12] = [
    "build failed",
    "cannot find module",
    "cannot find name",
    "cmake error",
    "compilation failed",
    "connection timed out",
    "fatal error",
    "module not found",
    "php fatal error",
    "test failed",
    "tests failed",
    "unhandled rejection",
];
/// Of the messages of systems, this one tells the cause.
const NO_SPACE: &str = "no space left on device";
/// The lines of what was printed that are read: so many from its beginning, and so many from its end.
const FIRST_LINES: usize = 20;
const LAST_LINES: usize = 60;
const GIST_BYTES: usize = 1_000;
/// The bytes of a line that are read.
const LINE_BYTES: usize = 500;
/// So many words in a row, most of them no fillers, are told of nothing else.
const RUN_WORDS: usize = 4;
const RUN_TELLING_WORDS: usize = 3;
/// A shorter name stands in texts by chance.
const NAME_BYTES: usize = 4;
/// The share of the words of a line that is told besides one name in it.
const SHARED_BESIDE_NAME: f64 = 0.5;
/// So many words of a line, however long, are told of nothing else.
const MANY_WORDS: usize = 6;
/// The exit code of a process that the system killed, mostly for its memory.
const KILLED: &str = "exit code 137";
/// Words of the names of types that say nothing of the cause.
const OF_TYPES: [&str; 8] =
    ["exception", "failure", "failed", "invalid", "operation", "runtime", "timeout", "connection"];

static LITERALS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    // A quotation, or else what no word of prose looks like: a path, a file, a name with an underscore or with capitals in
    // it, a flag, a long number.
    Regex::new(concat!(
        r#"(?:^|\W)'([^']+)'|"([^"]+)"|`([^`']+)[`']|([\w.~@-]*[/\\][\w./\\~-]*\w|\w+[_.]\w[\w.]*)|\s(--?[a-z][\w-]+)"#,
        r"|\b([A-Za-z]?[a-z0-9]+(?:[A-Z][A-Za-z0-9]+)+|\w+(?:-\w+){2,}|0x[0-9a-fA-F]+|\d{4,})\b",
    ))
    .ok()
});

impl Signature {
    /// Tells whether failures of the signature have many causes: the error of a library, a code of a compiler, or words
    /// of a system. A type that a project made for one purpose tells the cause.
    pub fn has_many_causes(&self) -> bool {
        let error = self.error();
        let is_code = error.bytes().any(|byte| byte.is_ascii_digit()) || error.starts_with("err_");
        let is_errno = error.len() > 2 && error.starts_with('e') && !error.ends_with("error") && !error.contains('.');
        self.is_generic() || is_code || error.contains(' ') || OF_LIBRARIES.contains(&error) || is_errno
    }
}

/// What a warning tells of the failure that it warns of.
#[derive(Debug, Clone, Copy)]
pub struct ToldFailure<'a> {
    /// The name that somebody gave the error: a type, a code, a tool, a phrase.
    pub error_type: &'a str,
    /// All that the warning says, but for what to do instead.
    pub text: &'a str,
}

impl ToldFailure<'_> {
    /// Tells whether a program that printed this failed as the warning tells.
    pub fn is_of(&self, printed: &str) -> bool {
        let (met, own) = (Signature::of(printed, None), Signature::of(self.error_type, None));
        let lines = telling_lines(printed);
        let message = error_message(printed).unwrap_or_else(|| lines.first().copied().unwrap_or_default().to_owned());
        if own.matches(&met) {
            return self.is_of_kind(&met, &message, &lines);
        }
        let name = self.error_type.trim().to_lowercase();
        let is_name = name.len() > 2 && !own.is_generic();
        match lines.iter().find(|line| is_name && is_named(&name, &line.to_lowercase())) {
            Some(line) if self.names_cause() => !self.is_of_another(line, &own, &lines),
            Some(line) => self.is_of_kind(&own, line, &lines),
            None => self.tells_any(&lines, ""),
        }
    }

    /// Tells whether the name of the error is the cause, as opposed to the name of a kind of failures or of a tool.
    fn names_cause(&self) -> bool {
        let phrase = self.error_type.trim().to_lowercase();
        let is_phrase =
            phrase.contains(' ') && !GENERIC_PHRASES.contains(&phrase.as_str()) && !SYSTEM.contains(&phrase.as_str());
        let is_code = self.error_type.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
        let is_type = self.error_type.chars().any(char::is_uppercase) && !is_code;
        is_phrase || (is_type && !OF_LIBRARIES.contains(&Signature::of(&phrase, None).error()))
    }

    /// Tells whether a failure of a kind that the warning is about, too, is the one that is told. `message` says what failed.
    fn is_of_kind(&self, kind: &Signature, message: &str, lines: &[&str]) -> bool {
        if kind.error() == KILLED || (!kind.has_many_causes() && self.tells_type(kind)) {
            return !self.is_of_another(message, kind, lines);
        }
        let told = self.text.to_lowercase();
        let literals = literals(message, kind.error());
        if literals.iter().any(|literal| is_named(literal, &told)) {
            return true;
        }
        if !literals.is_empty() {
            // What a compiler or a library says of all failures of the kind is told of this one as well.
            return self.named(lines, kind.error()).len() >= 2;
        }
        let shared = SharedWords::of(message, &told, kind.error());
        shared.share() >= SHARED_WORDS || self.tells_any(lines, kind.error())
    }

    /// Tells whether the text has a word of the name of the type, as it has where the project made the type for this
    /// failure.
    fn tells_type(&self, kind: &Signature) -> bool {
        let own = format!("{}\n", self.error_type.to_lowercase());
        let text = self.text.to_lowercase().replace(own.trim(), " ");
        let mut told = words(&text);
        told.any(|word| {
            word.len() >= NAME_BYTES
                && !FILLERS.contains(&word)
                && !OF_TYPES.contains(&word)
                && kind.error().contains(word)
        })
    }

    /// Tells whether the message quotes what the warning does not name, while the warning names what was not printed.
    fn is_of_another(&self, message: &str, kind: &Signature, lines: &[&str]) -> bool {
        let told = self.text.to_lowercase();
        let mut quoted = literals(message, kind.error());
        let name = self.error_type.to_lowercase();
        quoted.retain(|literal| !name.contains(literal.as_str()));
        if quoted.is_empty() || quoted.iter().any(|literal| is_named(literal, &told)) {
            return false;
        }
        let printed = lines.join("\n").to_lowercase();
        let own = literals(self.text, kind.error());
        own.iter().any(|literal| !is_named(literal, &printed))
    }

    /// Tells whether so much of what was printed is told that hardly another failure is meant. The words of the name of the
    /// error count for nothing.
    fn tells_any(&self, lines: &[&str], kind: &str) -> bool {
        let told = self.text.to_lowercase();
        let told_words: Vec<&str> = words(&told).collect();
        let of_line = |line: &&str| {
            let shared = SharedWords::of(line, &told, kind);
            let literals = literals(line, kind);
            let names_one = self.named(&[*line], kind).len() == 1;
            (names_one && shared.count >= 1 && shared.share() >= SHARED_BESIDE_NAME)
                || (literals.is_empty() && shared.count >= 3 && shared.share() >= SHARED_WORDS)
                || shared.count >= MANY_WORDS
                || has_run(&without_literals(line), &told_words)
        };
        let named = self.named(lines, kind);
        let is_long = |name: &String| name.matches(['_', '-']).count() >= 2;
        named.len() >= 2 || named.iter().any(is_long) || lines.iter().any(of_line)
    }

    /// Returns what lines quote or name and the warning names as well, each path by its last part.
    fn named(&self, lines: &[&str], kind: &str) -> HashSet<String> {
        let told = self.text.to_lowercase();
        let literals = lines.iter().flat_map(|line| literals(line, kind));
        let named = literals.filter(|literal| literal.len() >= NAME_BYTES && is_named(literal, &told));
        named
            .map(|literal| literal.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or_default().to_owned())
            .collect()
    }
}

/// Returns what a program printed of its failure, to search by: the line that names the error and those that may say more,
/// at most 1,000 bytes of them.
pub fn failure_gist(printed: &str) -> String {
    let message = error_message(printed);
    let lines = telling_lines(printed);
    let others = lines.iter().copied().filter(|line| message.as_deref() != Some(*line));
    let all: Vec<&str> = message.as_deref().into_iter().chain(others).collect();
    let all = all.join("\n");
    all[..all.floor_char_boundary(GIST_BYTES)].to_owned()
}

/// Returns the lines that may say what failed: no frames of a stack, no positions alone, and no exit code that many
/// failures have.
fn telling_lines(printed: &str) -> Vec<&str> {
    let says = |line: &&str| {
        let is_frame = line.starts_with("at ") || line.starts_with("File \"") || line.starts_with("--> ");
        let is_command = ["> ", "$ ", "+ "].iter().any(|sign| line.starts_with(sign));
        let is_header = line.starts_with("Traceback (most recent call last)");
        let code = line.to_lowercase().strip_prefix("exit code ").map(str::to_owned);
        let is_code = code.is_some_and(|code| code.trim() != "137");
        let has_words = line.chars().filter(|c| c.is_alphanumeric()).count() > 2;
        has_words && !is_frame && !is_command && !is_header && !is_code
    };
    let lines: Vec<&str> = printed.lines().map(str::trim).filter(says).collect();
    let last = lines.len().saturating_sub(LAST_LINES).max(FIRST_LINES.min(lines.len()));
    let read = lines[..FIRST_LINES.min(lines.len())].iter().chain(&lines[last..]);
    read.map(|line| &line[..line.floor_char_boundary(LINE_BYTES)]).collect()
}

/// Returns a line in lowercase without what it quotes or names.
fn without_literals(line: &str) -> String {
    match &*LITERALS {
        Some(pattern) => pattern.replace_all(line, " ").to_lowercase(),
        None => line.to_lowercase(),
    }
}

/// How many of the telling words of a line a text has too.
struct SharedWords {
    count: usize,
    of: usize,
}

impl SharedWords {
    /// Counts the words. What is quoted is no word, and the words of `name`, the name of the error, say nothing.
    fn of(line: &str, told: &str, name: &str) -> Self {
        let line = without_literals(line);
        let told: HashSet<&str> = words(told).collect();
        let name: HashSet<&str> = words(name).collect();
        let own: HashSet<&str> = words(&line).filter(|word| !name.contains(word) && is_telling(word)).collect();
        Self { count: own.iter().filter(|word| told.contains(*word)).count(), of: own.len() }
    }

    /// Returns the share, in 0..=1.
    fn share(&self) -> f64 {
        self.count as f64 / self.of.max(1) as f64
    }
}

/// Tells whether a line and a text have so many words in a row in common that nothing else is meant.
fn has_run(line: &str, told: &[&str]) -> bool {
    let line: Vec<&str> = words(line).collect();
    let is_long = |run: &[&str]| {
        let telling: Vec<&str> = run.iter().copied().filter(|word| is_telling(word)).collect();
        let is_known = SYSTEM.iter().any(|phrase| *phrase != NO_SPACE && phrase.split(' ').eq(run.iter().copied()));
        telling.len() >= RUN_TELLING_WORDS && run.len() >= RUN_WORDS.min(telling.len() + 1) && !is_known
    };
    (0..line.len()).any(|start| {
        (0..told.len()).any(|at| {
            let same = line[start..].iter().zip(&told[at..]).take_while(|(own, other)| own == other).count();
            same >= RUN_TELLING_WORDS && is_long(&line[start..start + same])
        })
    })
}

fn is_telling(word: &str) -> bool {
    word.len() > 1 && !FILLERS.contains(&word) && !is_number(word)
}

/// Returns what a message quotes or names, in lowercase, without what says nothing about the cause, such as `kind`, the name
/// of the error.
fn literals(message: &str, kind: &str) -> Vec<String> {
    let Some(pattern) = &*LITERALS else { return Vec::new() };
    let found = pattern.captures_iter(message).filter_map(|found| found.iter().skip(1).flatten().next());
    let text = found.map(|literal| literal.as_str().trim().to_lowercase());
    let is_telling = |literal: &String| {
        let is_short = literal.chars().count() <= LITERAL_CHARS;
        let last = literal.split(['.', ':']).next_back().unwrap_or(literal);
        let is_type = last == kind || last.ends_with("error") || last.ends_with("exception");
        let is_short_number = is_number(literal) && (literal.len() < 4 || literal.contains('.'));
        let is_program = literal.contains("/bin/");
        is_short
            && !BUILT_IN.contains(&literal.as_str())
            && !FILLERS.contains(&literal.as_str())
            && !is_type
            && !is_program
            && !is_short_number
    };
    text.filter(is_telling).collect()
}

/// Tells whether a text names a literal as a whole: of a path the last part, its name without an ending, or the
/// directory will do.
fn is_named(literal: &str, text: &str) -> bool {
    let last = literal.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or(literal);
    let stem = last.rsplit_once('.').map(|(stem, _)| stem).filter(|stem| stem.contains(['_', '-']));
    let directory = literal.rsplit_once('/').map(|(directory, _)| directory);
    let directory = directory.filter(|directory| directory.trim_start_matches('/').matches('/').count() > 1);
    [Some(literal), Some(last), stem, directory].into_iter().flatten().any(|name| {
        text.match_indices(name).any(|(at, _)| {
            let is_word = |c: char| c.is_alphanumeric() || c == '_';
            let begins = name.starts_with(is_word);
            let ends = name.ends_with(is_word);
            let before = begins && text[..at].chars().next_back().is_some_and(is_word);
            let after = ends && text[at + name.len()..].chars().next().is_some_and(is_word);
            !before && !after
        })
    })
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

fn is_number(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn agree(printed: &str, told: &str) -> bool {
        let met = Signature::of(printed, None);
        ToldFailure { error_type: met.error(), text: told }.is_of(printed)
    }

    #[rstest]
    #[case("KeyError: 'user'", "the key user is missing where the session is new", true)]
    #[case("KeyError: 'price'", "KeyError: 'user'", false)]
    #[case("KeyError: 'user'", "the key users is missing", false)]
    #[case("ModuleNotFoundError: No module named 'yaml'", "yaml is in the group dev", true)]
    #[case("ModuleNotFoundError: No module named 'requests'", "yaml is in the group dev", false)]
    #[case("cat: /etc/app/nothing.conf: No such file or directory", "nothing.conf is made by make config", true)]
    #[case("cat: /nonexistent: No such file or directory", "nothing.conf is made by make config", false)]
    #[case("bash: line 1: frobnicate: command not found", "frobnicate is in tools/bin", true)]
    #[case("bash: line 1: pnpm: command not found", "frobnicate is in tools/bin", false)]
    #[case("/bin/bash: line 1: frobnicate: command not found", "frobnicate is in tools/bin", true)]
    #[case("/bin/bash: line 1: clang-tidy: command not found", "clang-tidy is in tools/bin", true)]
    #[case("/bin/bash: line 1: jq: command not found", "rg is in tools/bin", false)]
    #[case("/bin/bash: line 1: jq: command not found", "jq is in tools/bin", true)]
    #[case("cat: .env.local: No such file or directory", ".env.local is generated", true)]
    #[case("cat: keys/pub.asc: No such file or directory", "keys/pub.asc is generated", true)]
    #[case(
        "AttributeError: 'NoneType' object has no attribute 'get'",
        "find() gives None, which has no attribute get",
        true
    )]
    #[case("AttributeError: 'NoneType' object has no attribute 'lower'", "None has no attribute get", false)]
    #[case("ValueError: not enough values to unpack (expected 2, got 1)", "not enough values to unpack in a row", true)]
    #[case("ValueError: time data does not match format", "not enough values to unpack in a row", false)]
    #[case("TypeError: run() got an unexpected keyword argument 'check'", "run has no argument check before 3.5", true)]
    #[case("error[E0382]: borrow of moved value: `config`", "clone config before the thread takes it", true)]
    #[case("error[E0382]: borrow of moved value: `sender`", "clone config before the thread takes it", false)]
    #[case("RuntimeError: CUDA out of memory", "CUDA is out of memory with batch size 64", true)]
    #[case("RuntimeError: event loop is closed", "CUDA is out of memory with batch size 64", false)]
    #[case("psycopg2.OperationalError: server closed the connection unexpectedly", "database is locked", false)]
    #[case("Error", "Error", false)]
    #[case("AssertionError: 1 != 2", "AssertionError", false)]
    fn failures_of_many_causes_are_the_same_where_they_name_the_same(
        #[case] printed: &str,
        #[case] told: &str,
        #[case] same: bool,
    ) {
        assert_eq!(agree(printed, told), same);
    }

    #[test]
    fn a_type_made_for_one_purpose_decides_alone() {
        assert!(agree("shop.LockTimeoutError: 'schema' was not released", "the web server holds the lock"));
    }

    #[rstest]
    #[case("KeyError", true)]
    #[case("No such file or directory", true)]
    #[case("error[E0382]: x", true)]
    #[case("TS2345", true)]
    #[case("ENOENT", true)]
    #[case("LockTimeoutError", false)]
    #[case("shop.errors.EmptyBasketError", false)]
    fn libraries_compilers_and_systems_fail_for_many_causes(#[case] raw: &str, #[case] many: bool) {
        assert_eq!(Signature::of(raw, None).has_many_causes(), many);
    }
}
