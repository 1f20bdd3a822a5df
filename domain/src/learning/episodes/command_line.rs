//! Command lines: the commands that one is made of, and what its end tells of each of them. A line that passed proves
//! the commands that `&&` joins to its last one. Of those before a `;` or beside a `||` it tells nothing. A line that
//! failed tells that one of these commands did, and often what was printed tells which.

/// The end of a command, as far as the end of its line tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Passed,
    Failed,
    /// This command failed, or another one of the line that may have failed did.
    MayHaveFailed,
    Unknown,
}

impl Fate {
    /// Returns the fate of what is one command by itself.
    pub(super) fn of(succeeded: Option<bool>) -> Self {
        match succeeded {
            Some(true) => Self::Passed,
            Some(false) => Self::Failed,
            None => Self::Unknown,
        }
    }

    pub(super) fn is_blamed(self) -> bool {
        matches!(self, Self::Failed | Self::MayHaveFailed)
    }
}

/// The words that begin a compound of the shell. A line with one of them is not taken apart.
const KEYWORDS: [&str; 17] = [
    "for", "while", "until", "if", "case", "select", "function", "do", "then", "else", "elif", "fi", "done", "esac",
    "{", "}", "[[",
];
/// The programs that end a script.
const ENDING: [&str; 3] = ["exit", "false", "return"];

/// The sign between a command and the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Joint {
    And,
    Or,
    /// The command before decides nothing.
    Then,
}

/// Takes a line apart: its commands that may have run, each with its fate. `output` is what was printed. A command with
/// what its output is piped into is one.
pub(super) fn commands<'a>(line: &'a str, succeeded: Option<bool>, output: &str) -> Vec<(&'a str, Fate)> {
    let whole = || vec![(line, Fate::of(succeeded))];
    let Some(joined) = joined(line).filter(|joined| !joined.is_empty()) else { return whole() };
    // All that decides stands in the list that runs last.
    let last_list = joined.iter().rposition(|(joint, _)| *joint == Joint::Then).unwrap_or_default();
    let (before, deciding) = joined.split_at(last_list);
    let mut found: Vec<(&str, Fate)> = before.iter().map(|(_, command)| (*command, Fate::Unknown)).collect();
    // The command behind a `||` may not have run.
    let proven = deciding.iter().rposition(|(joint, _)| *joint == Joint::Or).map_or(0, |or| or + 1);
    let told = (succeeded == Some(false)).then(|| told(deciding, output)).flatten();
    for (n, (_, command)) in deciding.iter().enumerate() {
        let fate = match (succeeded, told) {
            (None, _) => Fate::Unknown,
            (Some(true), _) if n < proven => Fate::Unknown,
            (Some(true), _) => Fate::Passed,
            (Some(false), _) if deciding.len() == 1 => Fate::Failed,
            (Some(false), None) => Fate::MayHaveFailed,
            (Some(false), Some(failed)) if n > failed => break,
            (Some(false), Some(failed)) if n == failed => Fate::Failed,
            (Some(false), Some(_)) if n < proven => Fate::Unknown,
            (Some(false), Some(_)) => Fate::Passed,
        };
        found.push((command, fate));
    }
    found
}

/// Finds which of the commands failed by what was printed: its last line is the complaint of one of them, or a runner of
/// scripts named the one that it began last.
fn told(commands: &[(Joint, &str)], output: &str) -> Option<usize> {
    let is_code = |line: &&str| line.to_lowercase().starts_with("exit code");
    let lines: Vec<&str> = output.lines().map(str::trim).filter(|line| !line.is_empty() && !is_code(line)).collect();
    let complaint = lines.last().map(|last| last.split(": ").map(str::trim).collect::<Vec<_>>()).unwrap_or_default();
    let complains = |command: &str| {
        let program = command.split_whitespace().next().and_then(|word| word.rsplit('/').next()).unwrap_or_default();
        // A shell names itself and the line before the program.
        complaint.len() > 1 && complaint.iter().take(3).any(|said| *said == program)
    };
    let begun = lines.iter().rev().find_map(|line| line.strip_prefix("> ").filter(|line| line.contains('@')));
    let script = begun.and_then(|line| line.split_whitespace().last());
    let is_script = |command: &str| script.is_some_and(|script| command.split_whitespace().any(|word| word == script));
    let only = |holds: &dyn Fn(&str) -> bool| {
        let mut which = commands.iter().enumerate().filter(|(_, (_, command))| holds(command)).map(|(n, _)| n);
        which.next().filter(|_| which.next().is_none())
    };
    only(&complains).or_else(|| only(&is_script))
}

/// Returns the commands of a line, each with the sign before it. None where the line has a compound of the shell, or
/// quotes that do not end.
fn joined(line: &str) -> Option<Vec<(Joint, &str)>> {
    let mut found: Vec<(Joint, &str)> = Vec::new();
    let mut ends_at_failure = false;
    for (joint, command) in split(line)? {
        let mut words = command.split_whitespace();
        let (program, argument) = (words.next().unwrap_or_default(), words.next());
        if KEYWORDS.contains(&program) {
            return None;
        }
        // Behind a `||` it keeps the line from passing, and so the one before decides.
        if joint == Joint::Or && ENDING.contains(&program) && argument != Some("0") {
            continue;
        }
        let joint = if joint == Joint::Then && ends_at_failure { Joint::And } else { joint };
        let sets = program == "set" && argument.is_some_and(|flags| flags.starts_with('-') && flags.contains('e'));
        ends_at_failure |= sets;
        found.push((joint, command));
    }
    Some(found)
}

fn split(line: &str) -> Option<Vec<(Joint, &str)>> {
    let signs = line.as_bytes();
    let (mut found, mut joint, mut start, mut at) = (Vec::new(), Joint::Then, 0, 0);
    let (mut quote, mut depth, mut documents) = (None, 0_usize, Vec::new());
    while at < signs.len() {
        let (sign, next) = (signs[at], signs.get(at + 1).copied());
        let before = at.checked_sub(1).map(|before| signs[before]);
        let mut end = None;
        let mut width = 1;
        match (quote, sign) {
            (Some(b'\''), b'\\') => {}
            (_, b'\\') => width = 2,
            (Some(open), _) if open == sign => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'' | b'`') => quote = Some(sign),
            (None, b'(') => depth += 1,
            (None, b')') => depth = depth.saturating_sub(1),
            (None, b'#') if before.is_none_or(|before| before.is_ascii_whitespace()) => {
                width = line[at..].find('\n').unwrap_or(signs.len() - at);
            }
            (None, b'<') if next == Some(b'<') => {
                documents.extend(document(&line[at + 2..]));
                width = line[at..].bytes().take_while(|sign| *sign == b'<').count();
            }
            (None, _) if depth > 0 => {}
            (None, b'&') if next == Some(b'&') => end = Some((Joint::And, 2)),
            (None, b'|') if next == Some(b'|') => end = Some((Joint::Or, 2)),
            // Behind one of these, or before a `>`, it belongs to a redirection.
            (None, b'&') if !matches!(before, Some(b'>' | b'<' | b'|')) && next != Some(b'>') => {
                end = Some((Joint::Then, 1));
            }
            (None, b';') => end = Some((Joint::Then, 1)),
            (None, b'\n') => end = Some((Joint::Then, 1 + documents_end(&line[at + 1..], &mut documents))),
            _ => {}
        }
        if let Some((sign, over)) = end {
            push(&mut found, &mut joint, &line[start..at], sign);
            width = over;
            start = (at + width).min(signs.len());
        }
        at += width;
    }
    push(&mut found, &mut joint, line.get(start..).unwrap_or_default(), Joint::Then);
    (quote.is_none() && depth == 0).then_some(found)
}

/// Adds a command, where there is one. The end of a line behind `&&` joins nothing by itself.
fn push<'a>(found: &mut Vec<(Joint, &'a str)>, joint: &mut Joint, command: &'a str, behind: Joint) {
    let command = command.trim();
    if command.is_empty() || command.starts_with('#') {
        if behind != Joint::Then {
            *joint = behind;
        }
        return;
    }
    found.push((*joint, command));
    *joint = behind;
}

/// Returns the word that ends the text behind `<<`. None where that is a text by itself.
fn document(behind: &str) -> Option<String> {
    let word = behind.strip_prefix('-').unwrap_or(behind).trim_start_matches(' ');
    let word: String =
        word.trim_start_matches(['\'', '"', '\\']).chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    (!word.is_empty() && !behind.starts_with('<')).then_some(word)
}

/// Returns the length of the texts that begin here, each up to the line with its word.
fn documents_end(text: &str, documents: &mut Vec<String>) -> usize {
    let mut length = 0;
    for word in documents.drain(..) {
        for line in text[length..].split_inclusive('\n') {
            length += line.len();
            if line.trim() == word {
                break;
            }
        }
    }
    length
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// The fates as signs: passed, failed, may have failed, unknown.
    fn told_of(line: &str, succeeded: bool, output: &str) -> Vec<String> {
        let sign = |fate| match fate {
            Fate::Passed => '+',
            Fate::Failed => '-',
            Fate::MayHaveFailed => '~',
            Fate::Unknown => '?',
        };
        commands(line, Some(succeeded), output).iter().map(|(line, fate)| format!("{}{line}", sign(*fate))).collect()
    }

    #[rstest]
    #[case("pytest -q", &["+pytest -q"])]
    #[case("sed -i s/a/b/ x && pytest -q", &["+sed -i s/a/b/ x", "+pytest -q"])]
    #[case("npm run lint &&\n npm run build", &["+npm run lint", "+npm run build"])]
    #[case("pytest -q; echo done", &["?pytest -q", "+echo done"])]
    #[case("pytest -q || true", &["?pytest -q", "?true"])]
    #[case("pytest -q || exit 1", &["+pytest -q"])]
    #[case("a || b && c", &["?a", "?b", "+c"])]
    #[case("set -euo pipefail\npytest -q\nmypy .", &["+set -euo pipefail", "+pytest -q", "+mypy ."])]
    #[case("pytest -q 2>&1 | tail -5 && mypy &>log", &["+pytest -q 2>&1 | tail -5", "+mypy &>log"])]
    #[case("npm start & npm test", &["?npm start", "+npm test"])]
    #[case("echo 'a && b; c' && x", &["+echo 'a && b; c'", "+x"])]
    #[case("(cd a && pytest) && mypy", &["+(cd a && pytest)", "+mypy"])]
    #[case("cat > a <<'EOF'\nit's; a && b\nEOF\npytest", &["?cat > a <<'EOF'", "+pytest"])]
    #[case("# don't\npytest # now; here\nmypy", &["?pytest # now; here", "+mypy"])]
    #[case("for x in a; do pytest $x; done", &["+for x in a; do pytest $x; done"])]
    fn a_line_that_passed_proves_what_is_joined_to_its_end(#[case] line: &str, #[case] expected: &[&str]) {
        assert_eq!(told_of(line, true, ""), expected);
    }

    #[rstest]
    #[case("pytest -q", "", &["-pytest -q"])]
    #[case("npm ci && npm test", "1 failed", &["~npm ci", "~npm test"])]
    #[case("mypy .; pytest -q", "1 failed", &["?mypy .", "-pytest -q"])]
    #[case("pytest -q || exit 2", "1 failed", &["-pytest -q"])]
    #[case("sed -i s/a/b/ x && pytest", "sed: can't read x: No such file\nExit code 2", &["-sed -i s/a/b/ x"])]
    #[case("tsc && ruff check .", "bash: line 1: ruff: command not found", &["+tsc", "-ruff check ."])]
    #[case("npm run lint && npm run build", "> a@1.0.0 lint\n> eslint .\n\n> a@1.0.0 build\n> vite build\nno", &["+npm run lint", "-npm run build"])]
    #[case("npm run lint && npm run build", "> a@1.0.0 lint\n> eslint .\nno", &["-npm run lint"])]
    fn a_line_that_failed_says_that_one_of_them_did(
        #[case] line: &str,
        #[case] output: &str,
        #[case] expected: &[&str],
    ) {
        assert_eq!(told_of(line, false, output), expected);
    }

    proptest::proptest! {
        #[test]
        fn any_line_is_taken_apart(line in "([a-z é'\"`()#<&|;\n\\\\]|<<EOF\n){0,60}") {
            for succeeded in [Some(true), Some(false), None] {
                proptest::prop_assert!(commands(&line, succeeded, "x: y").iter().all(|(part, _)| line.contains(part)));
            }
        }
    }
}
