//! Sameness of two failures of one signature that programs printed. They are the same where their messages say the same
//! words and name the same things. Positions, directories, addresses and most numbers differ between two runs of one
//! program, and do not count.

use std::collections::BTreeSet;

use super::Signature;
use super::informative_error::is_status;
use super::telling_words::{is_telling, last_name, literals, words};

/// The words before a number that says what failed.
const BEFORE_CODES: [&str; 7] = ["code", "status", "errno", "signal", "exit", "error", "http"];
/// A number that stands among the first parts of a message is a code, as in `curl: (60) SSL certificate problem`.
const CODE_PARTS: usize = 2;
/// The number of telling words from which one message may say more than the other.
const LONG_WORDS: usize = 3;

/// The parts of a message beyond the name of its error, in lowercase.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct MessageParts {
    words: BTreeSet<String>,
    /// The things that it quotes or names, each path by its last part, and its codes.
    names: BTreeSet<String>,
}

impl MessageParts {
    /// Reads what a program printed of an error. The line behind a message belongs to it where the message is the name
    /// of the error alone, and all lines do where it ends with the status of a process.
    pub(super) fn of_printed(statement: &str, signature: &Signature, lines: &[&str]) -> Self {
        let kind = signature.error();
        let lowercase = statement.to_lowercase();
        if is_status(&lowercase) {
            return Self::of(&lines.join("\n"), kind);
        }
        let said = Self::of(statement, kind);
        if !said.is_empty() {
            return said;
        }
        let at = lines.iter().position(|line| line.contains(&*lowercase));
        let next = at.and_then(|at| lines.get(at + 1));
        next.map_or(said, |next| Self::of(next, kind))
    }

    fn of(text: &str, kind: &str) -> Self {
        let quoted: BTreeSet<String> = literals(text).iter().map(|literal| short(literal).to_owned()).collect();
        let is_kind = |word: &str| last_name(word) == kind || words(kind).any(|own| own == word);
        let mut said = Self { words: BTreeSet::new(), names: BTreeSet::new() };
        let mut before = String::new();
        for (at, part) in parts(text).into_iter().filter(|part| !is_kind(part)).enumerate() {
            let name = short(&part);
            let is_number = name.bytes().all(|byte| byte.is_ascii_digit() || b".,:-".contains(&byte));
            if is_number {
                if at < CODE_PARTS || BEFORE_CODES.contains(&&*before) {
                    said.names.insert(name.to_owned());
                }
            } else if is_address(name) {
                // Another run has another one.
            } else if quoted.contains(name) || name != part {
                said.names.insert(name.to_owned());
            } else if is_telling(name) {
                said.words.insert(name.to_owned());
            }
            before = part;
        }
        said
    }

    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty() && self.names.is_empty()
    }

    /// Tells whether both name the same, and one has all words of the other.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let (few, many) = if self.words.len() <= other.words.len() { (self, other) } else { (other, self) };
        let is_long = few.words.len() >= LONG_WORDS || !few.names.is_empty();
        self.names == other.names && (few.words == many.words || is_long && few.words.is_subset(&many.words))
    }
}

/// Returns the words of a text in lowercase, with paths and names whole.
fn parts(text: &str) -> Vec<String> {
    let is_inside = |c: char| c.is_alphanumeric() || "_./\\-@~$".contains(c);
    let trimmed = |part: &str| part.trim_matches(|c: char| !c.is_alphanumeric() && c != '_').to_lowercase();
    text.split(|c: char| !is_inside(c)).map(trimmed).filter(|part| !part.is_empty()).collect()
}

/// Returns the last part of a path, or the text.
fn short(text: &str) -> &str {
    text.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next().unwrap_or(text)
}

/// Tells whether a text is an address or an id that a machine made.
fn is_address(text: &str) -> bool {
    let digits = text.trim_start_matches("0x");
    let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    let has_digit = digits.bytes().any(|byte| byte.is_ascii_digit());
    is_hex && has_digit && (digits.len() < text.len() || digits.len() >= 8)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::super::PrintedFailure;
    use super::*;

    fn are_same(a: &str, b: &str) -> bool {
        let [a, b] = [a, b].map(PrintedFailure::of);
        a.signature.matches(&b.signature) && a.says_the_same(&b)
    }

    const TRACE: &str = "Traceback (most recent call last):\n  File \"imp.py\", line 3, in <module>\n";

    #[rstest]
    #[case("./main.go:10:2: undefined: cobra", "cmd/root.go:5:1: undefined: cobra")]
    #[case(
        "a.c:12:10: fatal error: linux/module.h: No such file or directory",
        "src/net.c:1:10: fatal error: linux/module.h: No such file or directory"
    )]
    #[case(
        "ImportError: cannot import name 'Mapping' from 'collections' (/usr/lib/python3.10/collections/__init__.py)",
        "ImportError: cannot import name 'Mapping' from 'collections' (/opt/python3.12/collections/__init__.py)"
    )]
    #[case(
        "src/a.ts(3,20): error TS2307: Cannot find module './util' or its types.",
        "src/b/c.ts(9,1): error TS2307: Cannot find module './util' or its types."
    )]
    #[case(
        "Main.java:5: error: cannot find symbol\n  symbol:   class ArrayList\n  location: class Main",
        "src/Foo.java:99: error: cannot find symbol\n  symbol:   class ArrayList\n  location: class Foo"
    )]
    #[case(
        "sqlite3.IntegrityError: UNIQUE constraint failed: users.email",
        "IntegrityError: UNIQUE constraint failed: users.email"
    )]
    #[case(
        "make: *** No rule to make target 'foo.o', needed by 'all'.  Stop.",
        "make[2]: *** No rule to make target 'foo.o', needed by 'all'.  Stop."
    )]
    #[case(
        "/usr/bin/ld: cannot find -lssl: No such file or directory",
        "/usr/bin/ld: cannot find -lssl: No such file or directory"
    )]
    #[case(
        "ENOENT: no such file or directory, open '/app/.env'",
        "Error: ENOENT: no such file or directory, open '/srv/.env'"
    )]
    #[case(
        "Error: listen EADDRINUSE: address already in use :::3000",
        "node:events:491\n      throw er; // Unhandled 'error' event\n      ^\n\nError: listen EADDRINUSE: address already in use :::8080\n    at Server.setupListenHandle"
    )]
    #[case(
        "app.rb:3:in `x': undefined method `name' for nil:NilClass (NoMethodError)",
        "undefined method `name' for nil:NilClass (NoMethodError)"
    )]
    #[case(
        "thread 'main' panicked at 'index out of bounds: the len is 3 but the index is 5', src/a.rs:3:4",
        "thread 'main' panicked at src/b.rs:9:1:\nindex out of bounds: the len is 10 but the index is 12"
    )]
    #[case("Error: Process completed with exit code 137.", "Error: Process completed with exit code 137.")]
    #[case("\u{1b}[31mKeyError: 'uid'\u{1b}[0m", "KeyError: 'uid'")]
    #[case("错误：无法连接到数据库，连接超时", "错误：无法连接到数据库，连接超时")]
    #[case(
        "FAILED tests/test_a.py::test_x - AttributeError: 'User' object has no attribute 'id'",
        "E       AttributeError: 'User' object has no attribute 'id'"
    )]
    #[case("2026-11-28 10:00:00,123 ERROR api.views KeyError: 'uid'", "[ERROR] KeyError: 'uid'")]
    #[case(
        "npm error code ERESOLVE\nnpm error ERESOLVE unable to resolve dependency tree",
        "npm ERR! code ERESOLVE\nnpm ERR! ERESOLVE unable to resolve dependency tree"
    )]
    #[case("./deploy.sh: line 12: rsync: command not found", "bash: rsync: command not found")]
    #[case(
        "./run.sh: line 3: 12345 Segmentation fault (core dumped) ./server",
        "bash: line 9: 777 Segmentation fault (core dumped) ./server"
    )]
    fn the_same_failure_is_known_wherever_it_is_printed(#[case] a: &str, #[case] b: &str) {
        let of = |text| (Signature::of(text, None), PrintedFailure::of(text).said);
        assert!(are_same(a, b) && are_same(b, a), "{:?}\n{:?}", of(a), of(b));
    }

    #[rstest]
    #[case("sqlite3.OperationalError: no such table: users", "sqlite3.OperationalError: no such table: orders")]
    #[case(
        "a.c:12:10: fatal error: linux/module.h: No such file or directory",
        "a.c:12:10: fatal error: zlib.h: No such file or directory"
    )]
    #[case("./main.go:10:2: undefined: cobra", "./main.go:10:2: undefined: viper")]
    #[case(
        "src/a.ts(3,20): error TS2307: Cannot find module './util' or its types.",
        "src/a.ts(3,20): error TS2307: Cannot find module 'react' or its types."
    )]
    #[case(
        "a.cs(10,7): error CS0246: The type or namespace name 'Newtonsoft' could not be found",
        "a.cs(10,7): error CS0246: The type or namespace name 'Serilog' could not be found"
    )]
    #[case(
        "a.cpp:7:5: error: 'vector' is not a member of 'std'",
        "a.cpp:7:5: error: 'optional' is not a member of 'std'"
    )]
    #[case(
        "ImportError: cannot import name 'Mapping' from 'collections'",
        "ImportError: cannot import name 'escape' from 'jinja2'"
    )]
    #[case("E: Unable to locate package foo-dev", "E: Unable to locate package libssl1.0")]
    #[case(
        "ActiveRecord::RecordNotFound: Couldn't find User with 'id'=5",
        "ActiveRecord::RecordNotFound: Couldn't find Order with 'id'=5"
    )]
    #[case(
        "undefined method `name' for nil:NilClass (NoMethodError)",
        "undefined method `each' for nil:NilClass (NoMethodError)"
    )]
    #[case(
        "PHP Fatal error:  Uncaught Error: Call to undefined function mb_strlen() in /var/www/a.php:3",
        "PHP Fatal error:  Uncaught Error: Call to undefined function curl_init() in /var/www/a.php:3"
    )]
    #[case(
        "requests.exceptions.HTTPError: 404 Client Error: Not Found for url: https://api.x.com/v1",
        "requests.exceptions.HTTPError: 500 Server Error: Internal Server Error for url: https://api.x.com/v1"
    )]
    #[case(
        "requests.exceptions.HTTPError: 404 Client Error: Not Found for url: https://api.x.com/v1",
        "requests.exceptions.HTTPError: 401 Client Error: Unauthorized for url: https://api.x.com/v1"
    )]
    #[case("Error: Process completed with exit code 137.", "Error: Process completed with exit code 1.")]
    #[case(
        "curl: (60) SSL certificate problem: unable to get local issuer certificate",
        "curl: (60) SSL certificate problem: certificate has expired"
    )]
    #[case(
        "Main.java:5: error: cannot find symbol\n  symbol:   class ArrayList\n  location: class Main",
        "Main.java:5: error: cannot find symbol\n  symbol:   variable logger\n  location: class Main"
    )]
    #[case("AssertionError: assert 3 == 4", "AssertionError: assert 'a' == 'b'")]
    #[case("KeyError: 'uid'", "KeyError: 'id'")]
    #[case("Error: Cannot find module 'express'", "Error: Cannot find module 'lodash'")]
    #[case(
        "make: *** No rule to make target 'foo.o', needed by 'all'.  Stop.",
        "make: *** No rule to make target 'install'.  Stop."
    )]
    #[case("bash: rsync: command not found", "bash: aws: command not found")]
    #[case(
        "ls: impossible d'accéder à 'foo': Aucun fichier ou dossier de ce type",
        "ls: impossible d'accéder à 'bar': Aucun fichier ou dossier de ce type"
    )]
    fn another_failure_of_the_kind_is_another_one(#[case] a: &str, #[case] b: &str) {
        let of = |text| (Signature::of(text, None), PrintedFailure::of(text).said);
        assert!(!are_same(a, b) && !are_same(b, a), "{:?}\n{:?}", of(a), of(b));
        let traced = |text: &str| format!("{TRACE}{text}\n");
        assert!(!a.contains("Error: ") || !are_same(&traced(a), &traced(b)));
    }

    #[test]
    fn what_a_person_tells_of_a_failure_was_not_printed() {
        for told in ["the key users is missing", "KeyError", "it does not build"] {
            assert!(!PrintedFailure::of(told).has_message(), "{told}");
        }
        assert!(PrintedFailure::of("KeyError: 'uid'").has_message());
    }
}
