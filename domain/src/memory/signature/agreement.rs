//! Agreement of two failures that share a signature. Any program may end with a `KeyError` or with
//! `no such file or directory`, for reasons that have nothing in common. Such failures are the same only where what is
//! particular to one is told of the other as well: the key, the path, the module, or else the words of the message.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::Regex;

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
const BUILT_IN: [&str; 14] = [
    "bool",
    "bytes",
    "dict",
    "float",
    "function",
    "int",
    "list",
    "module",
    "nonetype",
    "null",
    "object",
    "str",
    "tuple",
    "undefined",
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

static LITERALS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    // A quotation, or else what no word of prose looks like: a path, a file, a name with an underscore, a flag.
    Regex::new(r#"'([^']+)'|"([^"]+)"|`([^`']+)[`']|([\w.~-]*[/\\][\w./\\~-]*\w|\w+[_.]\w[\w.]*)|\s(--?[a-z][\w-]+)"#)
        .ok()
});

impl Signature {
    /// Tells whether failures of the signature have many causes: the error of a library, a code of a compiler, or words
    /// of a system. A type that a project made for one purpose tells the cause.
    pub fn has_many_causes(&self) -> bool {
        let error = self.error();
        let is_code = error.bytes().any(|byte| byte.is_ascii_digit()) || error.starts_with("err_");
        let is_of_system =
            error.len() > 2 && error.starts_with('e') && !error.ends_with("error") && !error.contains('.');
        self.is_generic() || is_code || error.contains(' ') || OF_LIBRARIES.contains(&error) || is_of_system
    }

    /// Tells whether `printed`, of which this is the signature, is the failure that `told` describes, whose signature
    /// is the same.
    pub fn is_same_failure(&self, printed: &str, told: &str) -> bool {
        if !self.has_many_causes() {
            return true;
        }
        let message = error_message(printed).unwrap_or_else(|| printed.lines().next().unwrap_or_default().to_owned());
        let told = told.to_lowercase();
        let told_words: HashSet<&str> = words(&told).collect();
        let literals = literals(&message);
        if !literals.is_empty() {
            return literals.iter().all(|literal| is_named(literal, &told));
        }
        // A quoted text that says nothing about the cause, such as the path of the shell, is no word either.
        let message = match &*LITERALS {
            Some(pattern) => pattern.replace_all(&message, " ").to_lowercase(),
            None => message.to_lowercase(),
        };
        let name: HashSet<&str> = words(self.error()).collect();
        let own: HashSet<&str> = words(&message)
            .filter(|word| word.len() > 1 && !name.contains(word) && !FILLERS.contains(word) && !is_number(word))
            .collect();
        if own.is_empty() {
            return !self.is_generic();
        }
        let shared = own.iter().filter(|word| told_words.contains(*word)).count();
        shared as f64 >= SHARED_WORDS * own.len() as f64
    }
}

/// Returns what a message quotes or names, in lowercase, without what says nothing about the cause.
fn literals(message: &str) -> Vec<String> {
    let Some(pattern) = &*LITERALS else { return Vec::new() };
    let found = pattern.captures_iter(message).filter_map(|found| found.iter().skip(1).flatten().next());
    let text = found.map(|literal| literal.as_str().trim().to_lowercase());
    let is_telling = |literal: &String| {
        let is_short = literal.chars().count() <= LITERAL_CHARS;
        let is_type = literal.split(['.', ':']).next_back().is_some_and(|last| last.ends_with("error"));
        let is_shell = ["/bin/sh", "/bin/bash", "/usr/bin/env"].contains(&literal.as_str());
        is_short && !BUILT_IN.contains(&literal.as_str()) && !is_type && !is_shell && !is_number(literal)
    };
    text.filter(is_telling).collect()
}

/// Tells whether a text names a literal, or the last part of a path, as a whole.
fn is_named(literal: &str, text: &str) -> bool {
    let last = literal.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or(literal);
    [literal, last].iter().any(|name| {
        text.match_indices(name).any(|(at, _)| {
            let is_word = |c: char| c.is_alphanumeric() || c == '_';
            let before = text[..at].chars().next_back().is_some_and(is_word);
            let after = text[at + name.len()..].chars().next().is_some_and(is_word);
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
        met.is_same_failure(printed, told)
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
