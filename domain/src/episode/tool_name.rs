//! Names of tools: a shell call is the program and its subcommand (`cargo test`), a tool of an MCP server is
//! `server.tool`, and any other tool has its own name. So the same work has the same name, whichever client did it.

/// The tools that run a command line, in lowercase.
const SHELLS: [&str; 14] = [
    "bash",
    "shell",
    "sh",
    "zsh",
    "terminal",
    "exec",
    "exec_command",
    "execute_command",
    "local_shell",
    "powershell",
    "run_command",
    "run_shell_command",
    "run_terminal_cmd",
    "container.exec",
];

/// The programs whose first word that is no option says what they do.
const WITH_SUBCOMMANDS: [&str; 37] = [
    "apt",
    "apt-get",
    "aws",
    "az",
    "brew",
    "bundle",
    "bun",
    "cargo",
    "composer",
    "deno",
    "docker",
    "docker-compose",
    "dotnet",
    "gcloud",
    "gh",
    "git",
    "go",
    "gradle",
    "hatch",
    "helm",
    "kubectl",
    "mix",
    "mvn",
    "npm",
    "pdm",
    "pip",
    "pip3",
    "pipenv",
    "pnpm",
    "poetry",
    "rails",
    "systemctl",
    "terraform",
    "tox",
    "uv",
    "yarn",
    "swift",
];

/// The programs that run another program, with the number of words of their own that follow them.
const WRAPPERS: [(&str, usize); 12] = [
    ("sudo", 0),
    ("time", 0),
    ("env", 0),
    ("nohup", 0),
    ("nice", 0),
    ("exec", 0),
    ("command", 0),
    ("timeout", 1),
    ("npx", 0),
    ("bunx", 0),
    ("uvx", 0),
    ("xargs", 0),
];

/// The words that go on with what follows, as `run` in `npm run build` and `uv run pytest`.
const RUN: &str = "run";

/// Options of programs that take a word of their own, which is no subcommand.
const WITH_A_WORD: [&str; 6] = ["-C", "--manifest-path", "-n", "--namespace", "--prefix", "-f"];

/// The longest name, in characters.
const NAME_MAX_CHARS: usize = 80;

/// Returns the name under which a call of a tool is counted. `command` is the command line, where the tool runs one.
pub fn tool_name(tool: &str, command: Option<&str>) -> String {
    let tool = tool.trim();
    let name = match command.filter(|_| is_shell(tool)).and_then(of_command) {
        Some(name) => name,
        None => of_server(tool).unwrap_or_else(|| tool.to_owned()),
    };
    name.chars().take(NAME_MAX_CHARS).collect()
}

/// Tells whether a tool runs a command line.
pub fn is_shell(tool: &str) -> bool {
    SHELLS.contains(&tool.trim().to_lowercase().as_str())
}

/// Tells whether the program of this name only changes the directory or sets something.
pub(crate) fn is_preparation(name: &str) -> bool {
    matches!(name, "cd" | "set" | "export" | "source" | "." | "true" | "pushd")
}

/// Reads the name of a tool of an MCP server, as clients write it: `mcp__github__create_issue`.
fn of_server(tool: &str) -> Option<String> {
    let (server, name) = tool.strip_prefix("mcp__")?.split_once("__")?;
    (!server.is_empty() && !name.is_empty()).then(|| format!("{server}.{name}"))
}

/// Reads the program and its subcommand from a command line. The first of several commands that does more than to
/// change the directory or to set something counts.
fn of_command(line: &str) -> Option<String> {
    let commands = line.split(['\n', ';', '|', '&']).map(str::trim).filter(|command| !command.is_empty());
    let mut names = commands.filter_map(|command| of_words(&command.split_whitespace().collect::<Vec<_>>()));
    let first = names.next()?;
    if !is_preparation(&first) {
        return Some(first);
    }
    Some(names.find(|name| !is_preparation(name)).unwrap_or(first))
}

fn of_words(words: &[&str]) -> Option<String> {
    let mut words = words.iter().copied().skip_while(|word| is_assignment(word)).peekable();
    loop {
        let program = match basename(words.next()?) {
            "gradlew" => "gradle",
            "mvnw" => "mvn",
            program => program,
        };
        if let Some((_, own)) = WRAPPERS.iter().find(|(name, _)| *name == program) {
            let mut own = *own;
            while let Some(word) = words.peek() {
                if word.starts_with('-') || is_assignment(word) {
                    words.next();
                } else if own > 0 {
                    own -= 1;
                    words.next();
                } else {
                    break;
                }
            }
            continue;
        }
        if matches!(program, "python" | "python3") && words.peek() == Some(&"-m") {
            return words.nth(1).map(|module| module.split('.').next().unwrap_or(module).to_owned());
        }
        if !WITH_SUBCOMMANDS.contains(&program) {
            return Some(program.to_owned());
        }
        let mut named = program.to_owned();
        while let Some(word) = words.next() {
            if WITH_A_WORD.contains(&word) {
                words.next();
            } else if word.starts_with(['-', '+']) {
            } else if runs_another(program, word) {
                return of_words(&words.collect::<Vec<_>>()).or(Some(named));
            } else if is_subcommand(word) {
                named = format!("{program} {word}");
                if word == RUN && matches!(program, "npm" | "pnpm" | "yarn" | "bun") {
                    let script = words.find(|word| is_subcommand(word));
                    named = script.map_or(named, |script| format!("{program} {script}"));
                }
                break;
            } else {
                break;
            }
        }
        return Some(named);
    }
}

/// Tells whether a subcommand runs the program that follows it.
fn runs_another(program: &str, subcommand: &str) -> bool {
    match subcommand {
        RUN => matches!(program, "hatch" | "pdm" | "pipenv" | "poetry" | "uv"),
        "exec" => program == "bundle",
        _ => false,
    }
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=')
        .is_some_and(|(name, _)| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'))
}

fn is_subcommand(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic())
        && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_:".contains(c))
}

fn basename(program: &str) -> &str {
    let program = program.trim_matches(['"', '\'', '(', ')']);
    program.rsplit('/').next().unwrap_or(program)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("Bash", "cargo test --workspace", "cargo test")]
    #[case("bash", "cd /work && RUST_LOG=debug cargo +nightly test -p x", "cargo test")]
    #[case("shell", "timeout 60 cargo --locked clippy", "cargo clippy")]
    #[case("exec_command", "sudo -E apt-get install -y jq", "apt-get install")]
    #[case("Bash", "git -C /repo log --oneline | head -5", "git log")]
    #[case("Bash", "python3 -m pytest -q tests", "pytest")]
    #[case("Bash", "uv run pytest -q", "pytest")]
    #[case("Bash", "poetry run pytest -q", "pytest")]
    #[case("Bash", "bundle exec rspec", "rspec")]
    #[case("Bash", "./gradlew test", "gradle test")]
    #[case("Bash", "npm run build", "npm build")]
    #[case("Bash", "npx eslint src", "eslint")]
    #[case("Bash", "./scripts/check.sh --all", "check.sh")]
    #[case("Bash", "/usr/bin/grep -rn x .", "grep")]
    #[case("Bash", "kubectl -n shop get pods", "kubectl get")]
    #[case("Bash", "cd /tmp", "cd")]
    #[case("Bash", "", "Bash")]
    fn a_shell_call_is_its_program_and_subcommand(#[case] tool: &str, #[case] command: &str, #[case] name: &str) {
        assert_eq!(tool_name(tool, Some(command)), name);
    }

    #[rstest]
    #[case("mcp__github__create_issue", "github.create_issue")]
    #[case("mcp__claude_ai__search__web", "claude_ai.search__web")]
    #[case("mcp__", "mcp__")]
    #[case("Edit", "Edit")]
    fn other_tools_keep_their_names(#[case] tool: &str, #[case] name: &str) {
        assert_eq!(tool_name(tool, Some("cargo test")), name);
        assert_eq!(tool_name(tool, None), name);
    }

    proptest::proptest! {
        #[test]
        fn a_name_is_bounded_and_never_empty_for_a_tool(tool in "[a-zA-Z_]{1,12}", command in ".{0,200}") {
            let name = tool_name(&tool, Some(&command));
            proptest::prop_assert!(!name.is_empty() && name.chars().count() <= NAME_MAX_CHARS, "{name:?}");
        }
    }
}
