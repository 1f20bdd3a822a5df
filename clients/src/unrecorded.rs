//! Files that no receipt names. What is certainly ours is taken out of them, and what only has our name stays: an entry
//! that somebody wrote by hand may start anything.

use crate::agent_client::AgentClient;
use crate::document::ConfigFormat;
use crate::edit::{ConfigEditError, remove};
use crate::guidance::guidance;
use crate::server_entry::{ServerCommand, own_arguments};

/// A file that no receipt names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnrecordedFile {
    /// The text without what is certainly ours.
    pub rest: String,
    /// True where an entry has our name and starts something else, so that it stays.
    pub has_other_entry: bool,
}

impl UnrecordedFile {
    /// Looks for what is ours in a file of a client: the server, where its entry starts our binary, hooks that run it,
    /// and lines between our markers.
    ///
    /// # Errors
    /// The text is not of its format.
    pub fn of(client: AgentClient, format: ConfigFormat, text: &str) -> Result<Self, ConfigEditError> {
        if format == ConfigFormat::Markdown {
            return Ok(Self { rest: remove(format, text, None, &[guidance()])?, has_other_entry: false });
        }
        let any = ServerCommand::any();
        let without_hooks = remove(format, text, None, &any.hooks(client, ""))?;
        let without_server = remove(format, &without_hooks, None, &[any.change(client)])?;
        if without_server == without_hooks || own_arguments(client, format, text)?.is_some() {
            return Ok(Self { rest: without_server, has_other_entry: false });
        }
        Ok(Self { rest: without_hooks, has_other_entry: true })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::apply;

    fn written(client: AgentClient, program: &str, before: &str) -> String {
        let arguments = ["--llm", "none", "mcp"].map(str::to_owned).to_vec();
        let server = ServerCommand { program: program.to_owned(), arguments, variables: Vec::new() };
        let mut changes = server.hooks(client, "/data");
        changes.push(server.change(client));
        apply(format_of(client), before, &changes).unwrap()
    }

    fn format_of(client: AgentClient) -> ConfigFormat {
        match client {
            AgentClient::Codex => ConfigFormat::Toml,
            AgentClient::Goose => ConfigFormat::Yaml,
            _ => ConfigFormat::Json,
        }
    }

    fn of(client: AgentClient, text: &str) -> UnrecordedFile {
        UnrecordedFile::of(client, format_of(client), text).unwrap()
    }

    #[test]
    fn what_set_up_writes_is_known_in_the_file_of_every_client() {
        for client in AgentClient::ALL {
            let text = written(client, "/opt/bin/reasoning-bank", "");
            let found = of(client, &text);
            assert!(!found.rest.contains("reasoning-bank") && !found.has_other_entry, "{client}: {found:?}");
            assert_eq!(of(client, &found.rest), UnrecordedFile { rest: found.rest.clone(), has_other_entry: false });
        }
    }

    #[test]
    fn an_entry_of_our_name_that_starts_something_else_stays() {
        for client in AgentClient::ALL {
            let text = written(client, "/my/own/wrapper", "");
            let found = of(client, &text);
            assert!(found.has_other_entry && found.rest.contains("/my/own/wrapper"), "{client}: {found:?}");
        }
        for entry in [
            r#"{ "type": "http", "url": "https://bank.example.org/mcp" }"#,
            r#"{ "command": "/opt/bin/reasoning-bank", "args": ["serve"] }"#,
            r#"{ "command": "/opt/bin/reasoning-bank", "args": ["mcp"], "weight": null }"#,
            "null",
        ] {
            let text = format!(r#"{{ "mcpServers": {{ "reasoning-bank": {entry} }} }}"#);
            assert_eq!(of(AgentClient::Cursor, &text), UnrecordedFile { rest: text.clone(), has_other_entry: true });
        }
    }

    #[test]
    fn hooks_and_lines_of_ours_go_and_those_of_others_stay() {
        let mine = r#"{ "hooks": { "SessionStart": [{ "hooks": [{ "type": "command", "command": "mine" }] }] } }"#;
        let found = of(AgentClient::ClaudeCode, &written(AgentClient::ClaudeCode, "/opt/bin/reasoning-bank", mine));
        assert!(found.rest.contains("mine") && !found.rest.contains("reasoning-bank"), "{found:?}");
        let notes = apply(ConfigFormat::Markdown, "# Mine\n", &[guidance()]).unwrap();
        let found = UnrecordedFile::of(AgentClient::Codex, ConfigFormat::Markdown, &notes).unwrap();
        assert_eq!(found.rest, "# Mine\n");
    }

    #[test]
    fn the_program_of_a_block_is_known_with_quotes_and_without() {
        for program in ["/opt/bin/reasoning-bank", "\"/opt/bin/reasoning-bank\"", "'/opt/bin/reasoning-bank' # ours"] {
            let text = format!("extensions:\n  reasoning-bank:\n    cmd: {program}\n    args:\n      - mcp\n");
            let found = of(AgentClient::Goose, &text);
            assert!(!found.has_other_entry && !found.rest.contains("reasoning-bank"), "{program}: {found:?}");
        }
    }
}
