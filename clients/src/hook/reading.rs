//! Commands that only read: an error that one prints is one that somebody wrote down.

/// The programs that print what is there already, or do nothing of their own.
const READERS: [&str; 17] = [
    "awk", "bat", "cat", "cd", "cut", "echo", "find", "grep", "head", "less", "ls", "nl", "rg", "sed", "sort", "tail",
    "wc",
];
const GIT_READERS: [&str; 5] = ["blame", "diff", "grep", "log", "show"];

/// Says whether a command line does no more than print what is there already, such as `cat notes.md | head`.
pub(super) fn only_reads(line: &str) -> bool {
    commands(line).is_some_and(|commands| !commands.is_empty() && commands.iter().all(|words| reads(words)))
}

fn reads(words: &[String]) -> bool {
    let mut words = words.iter().map(String::as_str).skip_while(|word| is_assignment(word));
    match words.next() {
        Some("git") => loop {
            match words.next() {
                Some("-C") => {
                    words.next();
                }
                Some("--no-pager" | "-P") => {}
                verb => return verb.is_some_and(|verb| GIT_READERS.contains(&verb)),
            }
        },
        Some("find") => {
            !words.any(|word| word == "-delete" || ["-exec", "-ok"].iter().any(|action| word.starts_with(action)))
        }
        Some("awk") => !words.any(|word| word.contains("system(")),
        Some(program) => READERS.contains(&program),
        None => true,
    }
}

/// Says whether a word sets a variable: `NAME=value`.
fn is_assignment(word: &str) -> bool {
    let is_name = |name: &str| {
        !name.starts_with(|first: char| first.is_ascii_digit())
            && name.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
    };
    word.split_once('=').is_some_and(|(name, _)| !name.is_empty() && is_name(name))
}

/// Splits a line into its commands, and each into its words, as a shell does. None where a command is run within a word,
/// or a quote stays open.
fn commands(line: &str) -> Option<Vec<Vec<String>>> {
    let mut commands = vec![Vec::new()];
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut before = ' ';
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        let next = characters.peek().copied();
        match (quote, character) {
            (Some(open), _) if open == character => quote = None,
            (Some('\''), _) => word.get_or_insert_default().push(character),
            (_, '`') => return None,
            (_, '$') | (None, '<' | '>') if next == Some('(') => return None,
            (_, '\\') => word.get_or_insert_default().extend(characters.next().filter(|next| *next != '\n')),
            (Some(_), _) => word.get_or_insert_default().push(character),
            (None, '"' | '\'') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (None, '#') if word.is_none() => while characters.next_if(|next| *next != '\n').is_some() {},
            // `2>&1` and `&>` name where something is printed.
            (None, '&') if before == '>' || next == Some('>') => word.get_or_insert_default().push(character),
            (None, '|' | '&' | ';' | '\n') => {
                commands.last_mut()?.extend(word.take());
                commands.push(Vec::new());
            }
            (None, _) if character.is_whitespace() => commands.last_mut()?.extend(word.take()),
            (None, _) => word.get_or_insert_default().push(character),
        }
        before = character;
    }
    commands.last_mut()?.extend(word);
    commands.retain(|words| !words.is_empty());
    quote.is_none().then_some(commands)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_commands_that_print_what_is_there_only_reads() {
        for line in [
            "cat notes.md",
            "cd docs && sed -n 1,40p log.txt | head -5",
            "git log -3",
            "git --no-pager -C 'a sub' log",
            r#"grep -E "KeyError|LockTimeoutError" log"#,
            "sed -n '1,5p;9p' log # what's in it",
            "cat notes.md 2>&1",
            "rg x 2>&1 | head",
            "LC_ALL=C A= grep x log",
            r"grep '$(make)' a\ file",
            "find . -name '*.log'",
            "awk -F'|' '{print $1}' log",
        ] {
            assert!(only_reads(line), "{line}");
        }
    }

    #[test]
    fn a_line_with_a_command_that_runs_something_does_more() {
        for line in [
            "",
            "make",
            "cat input | python3 load.py",
            "cd app; cargo test 2>&1 | tail -5",
            "git push",
            "git -C log push",
            "catalog",
            "find . -name a -exec make {} +",
            "find . -delete",
            "echo $(make)",
            "echo \"$(make)\"",
            "echo `make`",
            "cat <(make)",
            "awk 'BEGIN{system(\"make\")}'",
            "CC=gcc make",
            "cat log & make",
            "echo 'a\nmake",
        ] {
            assert!(!only_reads(line), "{line}");
        }
    }
}
