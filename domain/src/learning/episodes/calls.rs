//! The calls of a transcript as they are compared: their names, what a command is about, and whether it changes
//! something.

use super::command_line::{Fate, commands};
use crate::episode::{is_preparation, is_shell, tool_name};
use crate::learning::transcript::{ToolCall, keeps_plan};
use crate::memory::trace::TraceEntry;

/// Options that choose a part of the work. Others say how it is done.
const CHOOSING: [&str; 21] = [
    "-C",
    "-E",
    "-e",
    "-k",
    "-m",
    "-p",
    "-run",
    "-t",
    "--bin",
    "--doc",
    "--example",
    "--exclude",
    "--features",
    "--filter",
    "--ignore",
    "--lib",
    "--manifest-path",
    "--package",
    "--prefix",
    "--test",
    "--testNamePattern",
];
/// Words that choose everything there is.
const EVERYTHING: [&str; 5] = [".", "..", "...", "--workspace", "run"];

/// Parts of the names of tools that change something.
const CHANGING: [&str; 10] =
    ["edit", "write", "patch", "replace", "create", "insert", "update", "delete", "remove", "rename"];
/// The programs that only read, wait or print.
const READERS: [&str; 43] = [
    "[", "awk", "cat", "cd", "cut", "date", "df", "diff", "du", "echo", "env", "exit", "false", "fd", "file", "find",
    "grep", "head", "jq", "less", "ls", "man", "more", "nl", "printenv", "printf", "ps", "pwd", "rg", "sed", "sleep",
    "sort", "stat", "tail", "test", "tree", "true", "type", "uniq", "wait", "wc", "which", "whoami",
];
/// The subcommands that only read.
const READING: [&str; 18] = [
    "blame", "describe", "diff", "freeze", "grep", "help", "images", "inspect", "list", "log", "logs", "ls",
    "ls-files", "metadata", "ps", "show", "status", "tree",
];

/// A call with the name of its tool.
pub(super) struct NamedCall<'a> {
    pub(super) name: String,
    pub(super) call: &'a ToolCall,
    /// The commands of its line that may have run, or the one thing that a tool does.
    pub(super) steps: Vec<CallStep<'a>>,
}

/// One thing that a call did.
pub(super) struct CallStep<'a> {
    pub(super) name: String,
    pub(super) fate: Fate,
    /// The command, or the arguments of the tool.
    input: &'a str,
    target: Option<&'a str>,
    /// The words of the command, without the program and redirections. None where it is none.
    words: Option<Vec<String>>,
}

impl<'a> NamedCall<'a> {
    pub(super) fn of(call: &'a ToolCall) -> Self {
        let name = tool_name(&call.tool, Some(&call.input));
        let step = |input: &'a str, fate| {
            let name = tool_name(&call.tool, Some(input));
            let words = is_shell(&call.tool).then(|| words(&name, input));
            CallStep { name, fate, input, target: call.target.as_deref(), words }
        };
        let mut steps: Vec<CallStep<'_>> = match is_shell(&call.tool) {
            true => commands(&call.input, call.succeeded, call.output.as_deref().unwrap_or_default())
                .into_iter()
                .map(|(line, fate)| step(line, fate))
                .collect(),
            false => vec![step(&call.input, Fate::of(call.succeeded))],
        };
        // What only prepares says nothing of the work.
        if steps.iter().any(|step| !is_preparation(&step.name)) {
            steps.retain(|step| !is_preparation(&step.name));
        }
        if let [only] = steps.as_mut_slice()
            && only.fate == Fate::MayHaveFailed
        {
            only.fate = Fate::Failed;
        }
        Self { name, call, steps }
    }

    pub(super) fn entry(&self) -> TraceEntry {
        let present = |text: &str| Some(text.to_owned()).filter(|text| !text.trim().is_empty());
        TraceEntry {
            action: "call".to_owned(),
            at: self.call.at,
            tool: present(&self.name),
            target: self.call.target.clone(),
            input: present(&self.call.input),
            output: self.call.output.as_deref().and_then(present),
            succeeded: self.call.succeeded,
            score: None,
        }
    }

    /// Returns what surely passed.
    pub(super) fn passed(&self) -> impl Iterator<Item = &CallStep<'a>> {
        self.steps.iter().filter(|step| step.fate == Fate::Passed)
    }

    /// Tells whether this runs a command line.
    pub(super) fn is_command(&self) -> bool {
        self.steps.iter().any(CallStep::is_command)
    }

    /// Tells whether this does again all that another call did.
    pub(super) fn repeats(&self, other: &Self) -> bool {
        other.steps.iter().all(|of| self.steps.iter().any(|step| step.repeats(of)))
    }

    /// Tells whether two calls run the same command, however its output is cut.
    pub(super) fn is_same_command(&self, other: &Self) -> bool {
        let are_same = || match (self.steps.as_slice(), other.steps.as_slice()) {
            ([own], [other]) => own.words.is_some() && own.words == other.words,
            _ => false,
        };
        self.call.input == other.call.input || are_same()
    }

    /// Tells whether this may have changed something.
    pub(super) fn changes(&self) -> bool {
        self.steps.iter().any(CallStep::changes)
    }
}

impl CallStep<'_> {
    /// Tells whether this does again all that another step did: the same tool on the same thing, or a command that
    /// includes the other one.
    pub(super) fn repeats(&self, other: &Self) -> bool {
        self.name == other.name && self.covers(other)
    }

    /// Tells whether this is about all that another step is about.
    pub(super) fn covers(&self, other: &Self) -> bool {
        let (Some(_), Some(_)) = (&self.words, &other.words) else { return self.target == other.target };
        let (own, others) = (self.chosen(), other.chosen());
        // What a makefile does without a target does not include its targets.
        if self.name == "make" {
            return own == others;
        }
        let is_part = |word: &&str| {
            let lies_in = |of: &&str| word.strip_prefix(of).is_some_and(|rest| rest.starts_with(['/', ':']));
            own.iter().any(|of| of == word || lies_in(of))
        };
        let narrows = |word: &&str| word.starts_with('-') && !others.contains(word);
        own.is_empty() || !others.is_empty() && others.iter().all(is_part) && !own.iter().any(narrows)
    }

    /// Returns the words that choose what a command is about.
    pub(super) fn chosen(&self) -> Vec<&str> {
        let words = self.words.iter().flatten().map(|word| {
            let word = if word.starts_with('-') { word.split('=').next().unwrap_or(word) } else { word };
            word.strip_prefix("./").unwrap_or(word).trim_end_matches('/')
        });
        let chooses = |word: &&str| match word.starts_with('-') {
            true => CHOOSING.contains(word),
            false => word.parse::<f64>().is_err() && !word.is_empty(),
        };
        words.filter(|word| chooses(word) && !EVERYTHING.contains(word)).collect()
    }

    pub(super) fn is_command(&self) -> bool {
        self.words.is_some()
    }

    /// Tells whether this may have changed something.
    pub(super) fn changes(&self) -> bool {
        let Some(words) = &self.words else {
            let name = self.name.to_lowercase();
            return !keeps_plan(&name) && self.input != "view" && CHANGING.iter().any(|part| name.contains(part));
        };
        let (program, subcommand) = self.name.split_once(' ').unwrap_or((&self.name, ""));
        let is_reader = READERS.contains(&program) || READING.contains(&subcommand) || self.name == "kubectl get";
        let edits = program == "sed" && words.iter().any(|word| word.starts_with("-i") || word == "--in-place");
        !is_reader || edits || writes_file(self.input)
    }
}

/// Returns the words of the command that has this name, after the program and its subcommand.
fn words(name: &str, line: &str) -> Vec<String> {
    let is_named = |command: &&str| tool_name("bash", Some(command)) == name;
    let command = line.split(['\n', ';', '|', '&']).find(is_named).unwrap_or(line);
    let mut own = name.split(' ').peekable();
    let mut words = Vec::new();
    for word in command.split_whitespace().map(|word| word.trim_matches(['"', '\''])) {
        if own.next_if(|own| word.rsplit('/').next() == Some(own)).is_none()
            && own.peek().is_none()
            && !word.contains(['>', '<'])
        {
            words.push(word.to_owned());
        }
    }
    match own.peek() {
        // The name is no word of the command, such as that of a module in a package.
        Some(_) => command.split_whitespace().map(str::to_owned).collect(),
        None => words,
    }
}

/// Tells whether the output of a command line goes into a file.
fn writes_file(line: &str) -> bool {
    let mut words = line.split_whitespace().peekable();
    while let Some(word) = words.next() {
        let file = word.strip_prefix("1>").or_else(|| word.strip_prefix('>'));
        let file = file.map(|file| file.trim_start_matches('>')).map(|file| match file.is_empty() {
            true => words.peek().copied().unwrap_or_default(),
            false => file,
        });
        if word == "tee" || file.is_some_and(|file| !file.starts_with("/dev/") && !file.starts_with('&')) {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn shell(line: &str) -> ToolCall {
        ToolCall { tool: "Bash".into(), input: line.into(), ..ToolCall::default() }
    }

    #[rstest]
    #[case("cargo test", "cd /w && cargo test -p dates 2>&1 | tail -5", true)]
    #[case("cargo test --workspace", "cargo test -p dates", true)]
    #[case("cargo test -p a", "cargo test", false)]
    #[case("cargo test -p a", "cargo test -p b", false)]
    #[case("cargo test -p a -p b", "cargo test -p a", true)]
    #[case("cargo test -q -p a", "cargo test -p a -- --nocapture", true)]
    #[case("pytest tests", "python -m pytest tests/test_a.py::test_x", true)]
    #[case("pytest -k x tests", "pytest tests", false)]
    #[case("npm install --legacy-peer-deps", "npm install", true)]
    #[case("cat other.toml", "cat missing.toml", false)]
    #[case("make clean", "make", false)]
    #[case("make", "make test", false)]
    #[case("make -j 8 test", "make test", true)]
    #[case("cargo check", "cargo test", false)]
    fn a_command_repeats_what_it_includes(#[case] later: &str, #[case] earlier: &str, #[case] repeats: bool) {
        let (later, earlier) = (shell(later), shell(earlier));
        assert_eq!(NamedCall::of(&later).repeats(&NamedCall::of(&earlier)), repeats);
    }

    #[rstest]
    #[case("cat a.rs | grep -n '=>' | head", false)]
    #[case("cat > a.rs <<'EOF'", true)]
    #[case("git diff 2>/dev/null >/dev/null", false)]
    #[case("git checkout main", true)]
    #[case("sed -n 1,5p a.rs", false)]
    #[case("sed -i s/a/b/ a.rs", true)]
    #[case("pip install wheel", true)]
    fn a_reading_command_changes_nothing(#[case] line: &str, #[case] changes: bool) {
        assert_eq!(NamedCall::of(&shell(line)).changes(), changes);
    }

    #[rstest]
    #[case("Read", false)]
    #[case("Edit", true)]
    #[case("TodoWrite", false)]
    #[case("mcp__files__write_file", true)]
    #[case("WebFetch", false)]
    fn a_tool_that_edits_changes_something(#[case] tool: &str, #[case] changes: bool) {
        let call = ToolCall { tool: tool.into(), ..ToolCall::default() };
        assert_eq!(NamedCall::of(&call).changes(), changes);
    }
}
