//! The name of an error in what a program printed when it failed: a type (`valueerror`), a code (`e0382`,
//! `err_module_not_found`) or, where there is neither, the words of the message without its literals (`index out of
//! bounds`). Positions, names of threads and what was quoted are no part of it.
//!
//! One of several lines decides. In a Python traceback it is the line behind the last frame, and in a chain of causes
//! (`Caused by`) the last cause, which is the root. Otherwise it is the last line that starts with a type or a code, or
//! else the first that says with a word like `panic:` or `error:` that something failed, or else the first.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

use super::error_name::first_error;
use super::informative_error::is_status;
use super::word_class::compiled;
use crate::safety::invisible::drop_invisible;

/// Returns what was printed without colours and other escape sequences, and with the colons of all scripts as `": "`.
pub(super) fn readable(printed: &str) -> Cow<'_, str> {
    let visible = drop_invisible(printed).text;
    if visible.contains('：') { Cow::Owned(visible.replace('：', ": ")) } else { visible }
}

/// Returns the name in lowercase, on one line, without `": "`. The name of a name is that name.
pub(super) fn name(raw: &str) -> String {
    let mut name = once(raw);
    loop {
        // Every turn takes something away, so the loop ends.
        let next = once(&name);
        if next.chars().count() >= name.chars().count() {
            return name;
        }
        name = next;
    }
}

fn once(raw: &str) -> String {
    let lines: Vec<&str> = raw.lines().filter(|line| !line.trim().is_empty()).collect();
    let Some(patterns) = &*PATTERNS else { return plain(lines.first().copied().unwrap_or_default()) };
    let name = match deciding(&lines, patterns) {
        Some((line, rest)) => patterns.named(line).unwrap_or_else(|| patterns.described(line, rest)),
        None => String::new(),
    };
    name.to_lowercase()
}

/// Finds the line of what was printed that names the error or says that something failed. For a panic, the line that
/// says what happened is added. None where no line does either.
pub fn error_message(printed: &str) -> Option<String> {
    DecidingLine::of(printed)?.message()
}

/// The line that decides what was printed is about.
pub(super) struct DecidingLine<'a> {
    patterns: &'static Patterns,
    lines: Vec<&'a str>,
    line: &'a str,
    next: Option<&'a str>,
}

impl<'a> DecidingLine<'a> {
    /// Finds the line. None where nothing was printed.
    pub(super) fn of(printed: &'a str) -> Option<Self> {
        let patterns = PATTERNS.as_ref()?;
        let lines: Vec<&str> = printed.lines().filter(|line| !line.trim().is_empty()).collect();
        let (line, next) = deciding(&lines, patterns)?;
        Some(Self { patterns, lines, line, next })
    }

    /// Returns the line as [`error_message`] does.
    pub(super) fn message(&self) -> Option<String> {
        let Self { patterns, line, next, .. } = self;
        if patterns.named(line).is_none() && !patterns.says_failure(line) {
            return self.lines.iter().find(|line| first_error(line).is_some()).map(|line| line.trim().to_owned());
        }
        let is_panic = patterns.panicked.is_match(patterns.bare(line));
        let said = next.filter(|_| is_panic).map(|next| format!("\n{}", next.trim())).unwrap_or_default();
        Some(format!("{}{said}", line.trim()))
    }

    /// Returns what the line says of the error, without what stands before the error. For a panic this is what happened.
    /// None where the line is nothing that a program prints.
    pub(super) fn statement(&self) -> Option<String> {
        let patterns = self.patterns;
        let line = patterns.bare(self.line);
        if let Some(happened) = patterns.happened(line, self.next) {
            return Some(happened.trim().to_owned());
        }
        let has_label = line.split_once(": ").is_some_and(|(label, _)| !label.contains(char::is_whitespace));
        let is_printed = has_label || line != self.line.trim() || patterns.named(line).is_some();
        let behind_shell = patterns.shell.find(line).map_or(line, |shell| &line[shell.end()..]);
        let said = without_process(behind_shell);
        (is_printed || patterns.says_failure(line) || is_status(&line.to_lowercase())).then(|| said.to_owned())
    }
}

/// Finds the line that names the error, and the line after it, where a panic says what happened. None where nothing was
/// printed.
fn deciding<'a>(lines: &[&'a str], patterns: &Patterns) -> Option<(&'a str, Option<&'a str>)> {
    let is_header = |line: &str| line.trim_start().starts_with("Traceback (most recent call last)");
    let traceback = || {
        let last = lines.iter().rposition(|line| is_header(line))?;
        (last + 1..lines.len()).find(|at| !lines[*at].starts_with(char::is_whitespace))
    };
    let is_frame = |line: &str| line.trim_start().starts_with("at ") || line.trim_start().starts_with("File \"");
    let cause = || lines.iter().rposition(|line| line.trim_start().strip_prefix("Caused by: ").is_some());
    let is_typed = |line: &str| !is_frame(line) && patterns.named(line).is_some();
    // The summary of a test runner repeats what it told before.
    let is_summary = |line: &str| line.trim_start().starts_with("FAILED ");
    let typed = || {
        let told = lines.iter().rposition(|line| is_typed(line) && !is_summary(line));
        told.or_else(|| lines.iter().rposition(|line| is_typed(line)))
    };
    let failed = || lines.iter().position(|line| patterns.says_failure(line));
    let at = traceback().filter(|at| !is_frame(lines[*at])).or_else(cause).or_else(typed).or_else(failed).unwrap_or(0);
    Some((lines.get(at)?, lines.get(at + 1).copied()))
}

/// Returns a type without its path, or a short name as people write one: `std::num::ParseIntError` becomes
/// `ParseIntError`; `off by one` stays.
fn plain(line: &str) -> String {
    // The type ends where the message begins: at ": " (a "::" inside a path is followed by no space).
    let head = line.split(": ").next().unwrap_or(line).trim().trim_end_matches(':').trim();
    if head.is_empty() || head.contains(char::is_whitespace) {
        return head.to_owned();
    }
    head.rsplit(['.', ':', '/', '\\']).find(|segment| !segment.is_empty()).unwrap_or(head).to_owned()
}

struct Patterns {
    /// The words before the error, which say nothing about it.
    before: Regex,
    shell: Regex,
    panicked: Regex,
    failure: Regex,
    position: Regex,
    /// The patterns that find a name. The first one that matches counts, and its first group is the name.
    named: Vec<Regex>,
    type_name: Regex,
    literals: Regex,
}

static PATTERNS: LazyLock<Option<Patterns>> = LazyLock::new(|| Patterns::new().ok());

/// The messages of operating systems and shells, whichever program passes them on.
pub(super) const SYSTEM: [&str; 14] = [
    "command not found",
    "no such file or directory",
    "permission denied",
    "operation not permitted",
    "connection refused",
    "connection reset by peer",
    "address already in use",
    "broken pipe",
    "is a directory",
    "not a directory",
    "file exists",
    "no space left on device",
    "segmentation fault",
    "not found",
];

impl Patterns {
    fn new() -> Result<Self, regex::Error> {
        let endings = "Error|Exception|Warning|Interrupt|Exit|Timeout|Iteration|Failure|Fault|Panic";
        let calls = r"listen|connect|bind|read|write|open|accept|send|getaddrinfo|spawn(?: \S+)?";
        let errno = "E(?:ACCES|ADDRINUSE|AGAIN|BADF|BUSY|CONNREFUSED|CONNRESET|EXIST|HOSTUNREACH|INVAL|ISDIR|MFILE|\
                     NOENT|NOSPC|NOTDIR|NOTEMPTY|NOTFOUND|PERM|PIPE|TIMEDOUT|XDEV)";
        let code = "[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+";
        let named = [
            r"^(?:error|warning)\[([A-Za-z]+\d+)\]".to_owned(),
            r"^(?:fatal )?(?:error|warning) ([A-Z]{1,6}\d{2,6})\b".to_owned(),
            r"^[A-Za-z_$][\w$.]* ?\[([A-Z][A-Z0-9_]{3,})\](?::|$)".to_owned(),
            r"^Error: (E[A-Z0-9]{3,15})(?:: |$)".to_owned(),
            format!(r"^Error: (?:{calls}) (E[A-Z]{{3,15}})\b"),
            format!(r"^({errno}): "),
            r"^code (E[A-Z0-9]{3,15})$".to_owned(),
            r"^code: '([A-Z][A-Z0-9_]{3,})'".to_owned(),
            format!(r"^({code})(?:: |:?\s*$)"),
            format!(
                r"^(?:[A-Za-z_$][\w$]*(?:\.|::|/|\\))*([A-Za-z_$][\w$]*(?:{endings})|Error|Exception)(?:: |:?\s*$)"
            ),
            r"\((?:[A-Z]\w*::)*([A-Z]\w*Error)\)$".to_owned(),
        ];
        Ok(Self {
            before: compiled(concat!(
                r#"^(?:E\s+|Exception in thread "[^"]*"\s+|Caused by:\s+|Uncaught\s+(?:\(in promise\)\s+)?|"#,
                r"Unhandled (?:exception|rejection)[.:]\s+|FAILED \S+ - |npm (?:ERR!|error) |g?make(?:\[\d+\])?: \*\*\* |",
                r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?[.,]?\d*(?:Z| ?[+-]\d\d:?\d\d)?\s+|",
                // The level of a log, with the name of a logger.
                r"\[(?:ERROR|FATAL|CRITICAL|SEVERE)\]\s+|",
                r"(?:ERROR|FATAL|CRITICAL|SEVERE)\s+(?:[a-z_][a-z0-9_]*(?:\.[a-z_][a-z0-9_]*)+:?\s+)?)"
            ))?,
            shell: compiled(concat!(
                r"^(?:(?:-|\S*/)?(?:ba|z|da|k|fi)?sh: (?:(?:(?:line|ligne|línea|Zeile|linha|riga) )?\d+: )?|",
                r"\S+: (?:line|ligne|línea|Zeile|linha|riga) \d+: )",
            ))?,
            panicked: compiled(r"^thread '[^']*'(?: \(\d+\))? panicked at\s*")?,
            failure: compiled(r"^(?:(?:PHP )?(?:[Ff]atal|FATAL)(?: error)?|error|ERROR|panic|runtime error):\s+")?,
            position: compiled(
                r"^\S*?[^\s:\d]\S*?(?::\d+(?::\d+)?|:\d+:in [`'][^']*'|\(\d+(?:,\d+)?\))(?:: | - |:?\s*$)",
            )?,
            named: named.iter().map(|pattern| compiled(pattern)).collect::<Result<_, _>>()?,
            type_name: compiled(&format!(r"^(?:\w+(?:\.|::))*(\w*(?:{endings}))\b"))?,
            literals: compiled(
                r#"(?x) ' [^']* ' | " [^"]* " | ` [^`']* [`'] | \[ [^\]]* \] | \( [^)]* \) | \{ .* | \b (?: 0x [0-9a-fA-F]+ | \d [\d.,]* ) \b "#,
            )?,
        })
    }

    /// Returns the line without what stands before the error.
    fn bare<'a>(&self, line: &'a str) -> &'a str {
        let mut rest = line.trim();
        loop {
            let behind = |pattern: &Regex| pattern.find(rest).map(|found| rest[found.end()..].trim_start());
            match behind(&self.before).or_else(|| behind(&self.position)).filter(|behind| !behind.is_empty()) {
                Some(behind) => rest = behind,
                None => return rest,
            }
        }
    }

    /// Returns the type or the code that the line starts with, or the type that it ends with in brackets. None where
    /// there is neither.
    fn named(&self, line: &str) -> Option<String> {
        let line = self.bare(line);
        let found = |pattern: &Regex| Some(pattern.captures(line)?.get(1)?.as_str().to_owned());
        self.named.iter().find_map(found)
    }

    fn says_failure(&self, line: &str) -> bool {
        let line = self.bare(line);
        [&self.panicked, &self.failure, &self.shell].iter().any(|pattern| pattern.is_match(line))
            || system(line).is_some()
    }

    /// Returns what happened, where the line tells of a panic. `next` is the line after it.
    fn happened<'a>(&self, line: &'a str, next: Option<&'a str>) -> Option<Cow<'a, str>> {
        let panicked = self.panicked.find(line)?;
        let own = self.position.replace(&line[panicked.end()..], "");
        if own.trim().is_empty() {
            return Some(Cow::Borrowed(next.unwrap_or_default()));
        }
        // Older versions say what happened first, and then where.
        let older = own.strip_prefix('\'').and_then(|own| own.rsplit_once("', ")).map(|(own, _)| own.to_owned());
        Some(older.map_or(own, Cow::Owned))
    }

    /// Returns what a line without a type says went wrong, in its own words. `next` is the line after it.
    fn described(&self, line: &str, next: Option<&str>) -> String {
        let line = self.bare(line);
        if let Some(panicked) = self.happened(line, next) {
            return self.message(panicked.trim(), "panic");
        }
        let mut rest = line;
        let mut word = None;
        while let Some(found) = self.failure.find(rest).or_else(|| self.shell.find(rest)) {
            word = word.or_else(|| rest[..found.end()].split([':', ' ']).next());
            rest = &rest[found.end()..];
        }
        match word {
            Some(word) => self.named(rest).unwrap_or_else(|| self.message(rest, word)),
            None => system(line).unwrap_or_else(|| plain(line)),
        }
    }

    /// Returns the type inside a message, or else what the system said in it, or else its words without literals. It is
    /// `word` where none are left.
    fn message(&self, said: &str, word: &str) -> String {
        let typed = |part: &str| Some(self.type_name.captures(part)?.get(1)?.as_str().to_owned());
        let words = || {
            let words = self.literals.replace_all(said, " ");
            let words = words.split(": ").next().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
            words.trim_matches(|c: char| !c.is_alphanumeric()).to_owned()
        };
        let name = said.split(": ").find_map(typed).or_else(|| system(said)).unwrap_or_else(words);
        if name.is_empty() { word.to_owned() } else { name }
    }
}

/// Returns what the system said, where a part of the line is just that.
fn system(line: &str) -> Option<String> {
    // A shell tells of a process that a signal ended with its number before and its command behind.
    let without_command = |part: &str| part.split_once(" (core dumped)").map_or(part, |(said, _)| said).to_owned();
    let said =
        |part: &str| without_command(without_process(part)).trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    line.split([':', ',']).map(said).find(|part| SYSTEM.contains(&&**part))
}

/// Returns what a shell tells of a process that a signal ended, without the number of the process.
fn without_process(line: &str) -> &str {
    match line.contains("(core dumped)") {
        true => line.trim_start().trim_start_matches(|c: char| c.is_ascii_digit()).trim_start(),
        false => line,
    }
}
