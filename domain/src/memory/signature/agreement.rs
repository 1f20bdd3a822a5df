//! Agreement of a failure that was met with one that a warning tells of. Any program may end with a `KeyError` or with
//! `no such file or directory`, for reasons that have nothing in common. Such failures are the same only where what is
//! particular to one is told of the other as well: the key, the path, the module, or else the words of the message.
//! People name an error as they like (`cargo`, `Cannot find module`, `exit code 1`), so that where the names differ,
//! more of what was printed has to be told.

use std::collections::HashSet;

use super::Signature;
use super::message::SYSTEM;
use super::printed_failure::{PrintedFailure, PrintedLine};
use super::telling_words::{is_named, is_telling, last_name, literals, words};

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
/// The share of the words of a message that is told of the same failure.
const SHARED_WORDS: f64 = 0.6;
/// The phrases of systems and programs that tell the kind of a failure and not its cause, besides those of one word.
const GENERIC_PHRASES: [&str; 7] = [
    "cannot find module",
    "cannot find name",
    "cmake error",
    "connection timed out",
    "module not found",
    "php fatal error",
    "unhandled rejection",
];
/// This message of systems tells the cause, as opposed to the others.
const NO_SPACE: &str = "no space left on device";
/// The number of words in a row that are told of nothing else, and how many of them are no fillers.
const RUN_WORDS: usize = 4;
const RUN_TELLING_WORDS: usize = 3;
/// A shorter name stands in texts by chance.
const NAME_BYTES: usize = 4;
/// The share of the words of a line that is told besides one name in it.
const SHARED_BESIDE_NAME: f64 = 0.5;
/// The number of words of a line, however long, that are told of nothing else.
const MANY_WORDS: usize = 6;
/// The number of telling words of a line that says what is wrong with one thing.
const SHORT_WORDS: usize = 5;
/// The exit code of a process that the system killed, mostly for its memory.
const KILLED: &str = "exit code 137";
/// Words of phrases that say which kind of work failed, and not why.
const KINDS_OF_WORK: [&str; 24] = [
    "build",
    "code",
    "command",
    "compilation",
    "compile",
    "deploy",
    "deployment",
    "error",
    "errors",
    "exit",
    "fail",
    "failed",
    "failure",
    "fatal",
    "job",
    "lint",
    "process",
    "run",
    "runtime",
    "script",
    "step",
    "task",
    "test",
    "tests",
];
/// Words of the names of types that say nothing of the cause.
const OF_TYPES: [&str; 8] =
    ["exception", "failure", "failed", "invalid", "operation", "runtime", "timeout", "connection"];

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

/// The failure that a warning tells of.
#[derive(Debug)]
pub struct ToldFailure {
    /// The name that somebody gave the error, in lowercase: a type, a code, a tool, a phrase.
    name: String,
    signature: Signature,
    /// The name is the cause, as opposed to a kind of failures or a tool.
    names_cause: bool,
    /// All that the warning says of the failure, in lowercase.
    text: String,
    literals: Vec<String>,
}

impl ToldFailure {
    /// Reads a warning. `text` is all that it says of the failure: its name, its pattern and its message.
    pub fn of(error_type: &str, text: &str) -> Self {
        let name = error_type.trim().to_lowercase();
        let says_what = words(&name).any(|word| is_telling(word) && !KINDS_OF_WORK.contains(&word));
        let is_known = GENERIC_PHRASES.contains(&name.as_str()) || SYSTEM.contains(&name.as_str()) && name != NO_SPACE;
        let is_phrase = name.contains(' ') && says_what && !is_known;
        // A capital within a word is of a type; a tool has one at its beginning alone.
        let has_inner_capital =
            error_type.as_bytes().windows(2).any(|of| of[0].is_ascii_lowercase() && of[1].is_ascii_uppercase());
        let signature = Signature::of(error_type, None);
        let is_type = has_inner_capital && !OF_LIBRARIES.contains(&signature.error());
        Self { names_cause: is_phrase || is_type, signature, name, text: text.to_lowercase(), literals: literals(text) }
    }

    /// Tells whether a program failed as the warning tells.
    pub fn is_of(&self, printed: &PrintedFailure) -> bool {
        let told = ToldWords::of(&self.text);
        if self.names_another(&printed.message, &told) {
            return false;
        }
        if self.signature.matches(&printed.signature) {
            // A phrase that is printed as it is named is the cause by itself.
            let is_phrase = self.names_cause && self.name.contains(' ');
            if is_phrase && is_named(&self.name, &printed.message.text) {
                return !self.is_of_another(&printed.message, &printed.signature, printed);
            }
            return self.is_of_kind(&printed.signature, &printed.message, printed, &told);
        }
        let is_name = self.name.len() > 2 && !self.signature.is_generic();
        match printed.lines.iter().find(|line| is_name && is_named(&self.name, &line.text)) {
            Some(line) if self.names_cause => !self.is_of_another(line, &self.signature, printed),
            Some(line) => self.is_of_kind(&self.signature, line, printed, &told),
            // What the warning quotes with the type of the error is printed with it.
            None => !self.quotes_type() && self.tells_any(&printed.lines, "", &told),
        }
    }

    /// Tells whether a failure of a kind that the warning is about, too, is the one that is told. `message` says what
    /// failed.
    fn is_of_kind(
        &self,
        kind: &Signature,
        message: &PrintedLine,
        printed: &PrintedFailure,
        told: &ToldWords<'_>,
    ) -> bool {
        if kind.error() == KILLED || (!kind.has_many_causes() && self.tells_type(kind)) {
            return !self.is_of_another(message, kind, printed);
        }
        let mut literals = telling_literals(message, kind.error()).peekable();
        if literals.peek().is_some() {
            // A compiler or a library says the same words of all failures of a kind. The warning has them as well, so
            // that shared words prove nothing, and something that was quoted or named has to be in it.
            return literals.any(|literal| is_named(literal, &self.text))
                || self.named(&printed.lines, kind.error()).len() >= 2
                || self.is_of_all_of(kind) && told.share_of(message, kind.error()).share() >= SHARED_WORDS;
        }
        told.share_of(message, kind.error()).share() >= SHARED_WORDS
            || self.tells_any(&printed.lines, kind.error(), told)
    }

    /// Tells whether the warning has another name where a short line ends with one: `no such table: users` and `no such
    /// table: orders`.
    fn names_another(&self, line: &PrintedLine, told: &ToldWords<'_>) -> bool {
        let [.., first, second, name] = &*line.words else { return false };
        let telling: Vec<&String> = line.words.iter().filter(|word| is_telling(word)).collect();
        let is_short = telling.len() <= SHORT_WORDS && telling.last() == Some(&name);
        if !is_short || !is_telling(second) || told.all.contains(name.as_str()) {
            return false;
        }
        let mut others: Vec<&str> = Vec::new();
        for line in self.text.lines() {
            let words: Vec<&str> = words(line).collect();
            let behind = words.array_windows().filter(|[one, other, _]| one == first && other == second);
            others.extend(behind.map(|[.., next]| *next));
        }
        let is_another = |other: &&str| is_telling(other) && telling.iter().all(|own| own != other);
        !others.is_empty() && others.iter().all(is_another)
    }

    /// Tells whether the warning repeats the type of the error in what it says of the failure.
    fn quotes_type(&self) -> bool {
        self.names_cause && !self.name.contains(' ') && self.text.matches(&self.name).nth(1).is_some()
    }

    /// Tells whether the warning is about all failures of a kind: it names nothing that one of them has, but for a
    /// letter in the place of a name.
    fn is_of_all_of(&self, kind: &Signature) -> bool {
        self.literals.iter().all(|own| own.chars().nth(1).is_none() || last_name(own) == kind.error())
    }

    /// Tells whether the text has a word of the name of the type, as it has where the project made the type for this
    /// failure.
    fn tells_type(&self, kind: &Signature) -> bool {
        let text = self.text.replace(&self.name, " ");
        let mut words = words(&text).filter(|word| word.len() >= NAME_BYTES && is_telling(word));
        words.any(|word| !OF_TYPES.contains(&word) && kind.error().contains(word))
    }

    /// Tells whether the message quotes what the warning does not name, while the warning names what was not printed.
    fn is_of_another(&self, message: &PrintedLine, kind: &Signature, printed: &PrintedFailure) -> bool {
        let quoted = || telling_literals(message, kind.error()).filter(|literal| !self.name.contains(literal.as_str()));
        let names_other = quoted().next().is_some() && !quoted().any(|literal| is_named(literal, &self.text));
        let was_printed = |literal: &String| printed.lines.iter().any(|line| is_named(literal, &line.text));
        names_other && self.literals.iter().any(|own| last_name(own) != kind.error() && !was_printed(own))
    }

    /// Tells whether so much of what was printed is told that hardly another failure is meant. The words of `kind`, the
    /// name of the error, count for nothing.
    fn tells_any(&self, lines: &[PrintedLine], kind: &str, told: &ToldWords<'_>) -> bool {
        let named = self.named(lines, kind);
        let is_long = |name: &&str| name.matches(['_', '-']).count() >= 2;
        let tells = |line: &PrintedLine| {
            let shared = told.share_of(line, kind);
            let names_one = self.named(std::slice::from_ref(line), kind).len() == 1;
            let quotes_nothing = telling_literals(line, kind).next().is_none();
            (names_one && shared.count >= 1 && shared.share() >= SHARED_BESIDE_NAME)
                || (quotes_nothing && shared.count >= 3 && shared.share() >= SHARED_WORDS)
                || shared.count >= MANY_WORDS
                || told.has_run_of(line)
        };
        named.len() >= 2 || named.iter().any(is_long) || lines.iter().any(tells)
    }

    /// Returns what lines quote or name and the warning names as well, each path by its last part.
    fn named<'a>(&self, lines: &'a [PrintedLine], kind: &str) -> HashSet<&'a str> {
        let literals = lines.iter().flat_map(|line| telling_literals(line, kind));
        let named = literals.filter(|literal| literal.len() >= NAME_BYTES && is_named(literal, &self.text));
        named.filter_map(|literal| literal.rsplit(['/', '\\']).find(|part| !part.is_empty())).collect()
    }
}

/// Returns what a line quotes or names, but for the name of the error.
fn telling_literals<'a>(line: &'a PrintedLine, kind: &str) -> impl Iterator<Item = &'a String> {
    line.literals.iter().filter(move |literal| last_name(literal) != kind)
}

/// The words of a text, and the words that it has in a row.
struct ToldWords<'a> {
    all: HashSet<&'a str>,
    in_a_row: HashSet<[&'a str; RUN_WORDS]>,
}

/// The number of telling words of a line that a text has too, and the number of all of them.
struct SharedWords {
    count: usize,
    of: usize,
}

impl SharedWords {
    /// Returns the share, in 0..=1.
    fn share(&self) -> f64 {
        self.count as f64 / self.of.max(1) as f64
    }
}

impl<'a> ToldWords<'a> {
    fn of(text: &'a str) -> Self {
        let words: Vec<&str> = words(text).collect();
        Self { all: words.iter().copied().collect(), in_a_row: words.array_windows().copied().collect() }
    }

    /// Counts the words of a line that the text has too. The words of `name`, the name of the error, say nothing.
    fn share_of(&self, line: &PrintedLine, name: &str) -> SharedWords {
        let is_own = |word: &&str| is_telling(word) && !words(name).any(|own| own == *word);
        let own: HashSet<&str> = line.words.iter().map(String::as_str).filter(is_own).collect();
        SharedWords { count: own.iter().filter(|word| self.all.contains(*word)).count(), of: own.len() }
    }

    /// Tells whether a line has so many words in a row in common with the text that nothing else is meant.
    fn has_run_of(&self, line: &PrintedLine) -> bool {
        line.words.array_windows::<RUN_WORDS>().any(|run| {
            let run = run.each_ref().map(String::as_str);
            let telling = run.iter().filter(|word| is_telling(word)).count();
            let is_of_system = SYSTEM.iter().any(|phrase| *phrase != NO_SPACE && run.join(" ").contains(phrase));
            telling >= RUN_TELLING_WORDS && self.in_a_row.contains(&run) && !is_of_system
        })
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn agree(printed: &str, told: &str) -> bool {
        let met = Signature::of(printed, None);
        ToldFailure::of(met.error(), told).is_of(&PrintedFailure::of(printed))
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
    #[case("cat: données/été.csv: No such file or directory", "données/été.csv is generated", true)]
    #[case(
        "cat: données/été.csv: No such file or directory",
        "cat: données/août.csv: No such file or directory",
        false
    )]
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
    #[case("OperationalError: no such table: orders", "OperationalError: no such table: users", false)]
    #[case("OperationalError: no such table: orders", "no such table: orders", true)]
    #[case("Error", "Error", false)]
    #[case("AssertionError: 1 != 2", "AssertionError", false)]
    fn failures_of_many_causes_are_the_same_where_they_name_the_same(
        #[case] printed: &str,
        #[case] told: &str,
        #[case] same: bool,
    ) {
        assert_eq!(agree(printed, told), same);
    }

    #[rstest]
    #[case("build failure", "[INFO] BUILD FAILURE\n[INFO] Total time: 3 s", "the module core lacks its parent", false)]
    #[case("Docker", "ERROR: docker daemon is not running", "the image has no space for layers", false)]
    #[case("Permission denied (publickey)", "git@host: Permission denied (publickey).", "the key is in no agent", true)]
    #[case(
        "No space left on device",
        "ERROR: write /var/lib/docker/tmp: no space left on device",
        "the runner is full",
        true
    )]
    #[case(
        "No space left on device",
        "OSError: [Errno 28] No space left on device: '/tmp/x'",
        "the runner is full",
        true
    )]
    #[case("No space left on device", "copy_file_range: no space left on device", "the runner is full", true)]
    #[case("No space left on device", "write /boot/x: no space left on device", "/var/lib/docker is full", false)]
    #[case("No such file or directory", "cat: /a/b: No such file or directory", "the runner is empty", false)]
    #[case("connection pool exhausted", "error: connection pool exhausted", "the workers keep them", true)]
    fn a_phrase_that_says_what_failed_decides_and_the_name_of_a_tool_does_not(
        #[case] named: &str,
        #[case] printed: &str,
        #[case] told: &str,
        #[case] same: bool,
    ) {
        assert_eq!(ToldFailure::of(named, told).is_of(&PrintedFailure::of(printed)), same);
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
