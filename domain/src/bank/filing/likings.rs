//! The places for what a user likes: how answers are, which tools, and how code is.

/// A file with the names of the section in it, the best first. The first one is created where none is there.
pub(super) type Target = (&'static str, &'static [&'static str]);

/// Returns the places for a preference by what it is about.
pub(super) fn preference_targets(text: &str) -> &'static [Target] {
    let text = text.to_lowercase();
    let says =
        |words: &[&str]| words.iter().any(|word| text.split(|c: char| !c.is_alphanumeric()).any(|part| part == *word));
    let about_answers = [
        "answer",
        "answers",
        "reply",
        "replies",
        "explanation",
        "explanations",
        "explain",
        "respond",
        "response",
        "responses",
        "tone",
        "emoji",
        "emojis",
        "english",
        "german",
        "french",
        "spanish",
        "brief",
        "concise",
        "summary",
        "summaries",
        "introduction",
        "bullet",
        "bullets",
        "apologies",
        "apologise",
        "apologize",
        "ask",
        "asked",
        "questions",
        "feedback",
        "pleasantries",
        "sugarcoating",
        "wording",
        "sentences",
        "short",
    ];
    let about_tools = [
        "editor",
        "ide",
        "terminal",
        "shell",
        "vim",
        "neovim",
        "emacs",
        "tmux",
        "zsh",
        "fish",
        "bash",
        "pnpm",
        "npm",
        "yarn",
        "bun",
        "docker",
        "podman",
        "keyboard",
        "browser",
        "firefox",
        "chrome",
        "linux",
        "macos",
        "windows",
        "vs",
        "vscode",
        "intellij",
        "jetbrains",
        "git",
        "make",
        "just",
        "theme",
        "tool",
        "tools",
        "cli",
        "poetry",
        "uv",
        "pip",
        "wsl",
        "fedora",
        "ubuntu",
    ];
    if says(&about_answers) {
        &[
            ("preferences", &["Communication", "Answers"]),
            ("systempatterns", &["Conventions", "Patterns and conventions"]),
            ("activecontext", &["Important patterns and preferences", "Notes"]),
        ]
    } else if says(&about_tools) {
        &[
            ("preferences", &["Tools", "Tooling"]),
            ("systempatterns", &["Conventions", "Patterns and conventions"]),
            ("activecontext", &["Important patterns and preferences", "Notes"]),
        ]
    } else {
        &[
            ("preferences", &["Code", "Coding style"]),
            ("systempatterns", &["Conventions", "Patterns and conventions", "Design patterns in use"]),
            ("activecontext", &["Important patterns and preferences", "Notes"]),
        ]
    }
}
