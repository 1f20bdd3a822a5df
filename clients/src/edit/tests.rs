use super::*;
use crate::agent_client::AgentClient;
use crate::server_entry::{ServerCommand, server_arguments};

fn change(client: AgentClient) -> [ConfigChange; 1] {
    let arguments = ["--llm", "none", "mcp"].map(str::to_owned).to_vec();
    [ServerCommand { program: "/bin/reasoning-bank".to_owned(), arguments, variables: Vec::new() }.change(client)]
}

#[test]
fn a_new_file_has_the_entry_alone() {
    let json = apply(ConfigFormat::Json, "", &change(AgentClient::ClaudeCode)).unwrap();
    assert_eq!(
        json,
        r#"{
  "mcpServers": {
    "reasoning-bank": {
      "type": "stdio",
      "command": "/bin/reasoning-bank",
      "args": ["--llm", "none", "mcp"]
    }
  }
}
"#
    );
    let toml = apply(ConfigFormat::Toml, "", &change(AgentClient::Codex)).unwrap();
    assert_eq!(
        toml,
        "[mcp_servers.reasoning-bank]\ncommand = \"/bin/reasoning-bank\"\nargs = [\"--llm\", \"none\", \"mcp\"]\n"
    );
    let yaml = apply(ConfigFormat::Yaml, "", &change(AgentClient::Goose)).unwrap();
    assert_eq!(
        yaml,
        "extensions:\n  reasoning-bank:\n    enabled: true\n    type: \"stdio\"\n    name: \"reasoning-bank\"\n    cmd: \
         \"/bin/reasoning-bank\"\n    args: [\"--llm\", \"none\", \"mcp\"]\n    env_keys: []\n    timeout: 300\n"
    );
}

#[test]
fn comments_order_and_other_servers_stay() {
    let before = "{\n    // mine\n    \"z\": 1, // last\n    \"mcpServers\": {\n        \"a\": {\"command\": \"x\"} // why\n    }\n}\n";
    let after = apply(ConfigFormat::Json, before, &change(AgentClient::Cursor)).unwrap();
    assert_eq!(
        after,
        "{\n    // mine\n    \"z\": 1, // last\n    \"mcpServers\": {\n        \"a\": {\"command\": \"x\"}, // why\n        \
         \"reasoning-bank\": {\n            \"command\": \"/bin/reasoning-bank\",\n            \"args\": [\"--llm\", \
         \"none\", \"mcp\"]\n        }\n    }\n}\n"
    );
    assert_eq!(remove(ConfigFormat::Json, &after, Some(before), &change(AgentClient::Cursor)).unwrap(), before);
}

#[test]
fn what_the_owner_added_since_stays_and_what_he_had_under_our_name_comes_back() {
    let before = "{\"mcpServers\": {\"reasoning-bank\": {\"command\": \"old\"}}}";
    let after = apply(ConfigFormat::Json, before, &change(AgentClient::Cursor)).unwrap();
    let since = after.replacen('{', "{\"added\": true,", 1);
    let taken = remove(ConfigFormat::Json, &since, Some(before), &change(AgentClient::Cursor)).unwrap();
    assert!(taken.contains("\"added\": true") && taken.contains("\"old\""), "{taken}");
    assert!(!taken.contains("/bin/reasoning-bank"), "{taken}");
}

#[test]
fn an_entry_of_the_owner_with_what_we_never_write_comes_back_with_its_comments() {
    let own = "{\"command\": \"old\", \"timeout\": 1.5, \"note\": null, /* mine */ \"weight\": -3}";
    let before = format!("{{\"mcpServers\": {{\"reasoning-bank\": {own}}}}}");
    let after = apply(ConfigFormat::Json, &before, &change(AgentClient::Cursor)).unwrap();
    let since = after.replacen('{', "{\"added\": true, ", 1);
    let taken = remove(ConfigFormat::Json, &since, Some(&before), &change(AgentClient::Cursor)).unwrap();
    assert_eq!(taken, before.replacen('{', "{\"added\": true, ", 1));
}

#[test]
fn a_section_that_is_no_map_and_a_file_that_is_no_map_are_refused() {
    for text in ["{\"mcpServers\": []}", "[]", "\"text\"", "{\"mcpServers\": {}", "{} {}"] {
        assert!(apply(ConfigFormat::Json, text, &change(AgentClient::Cursor)).is_err(), "{text}");
    }
    for text in ["mcp_servers = 1", "a = ", "[mcp_servers", "[[mcp_servers]]"] {
        assert!(apply(ConfigFormat::Toml, text, &change(AgentClient::Codex)).is_err(), "{text}");
    }
    for text in ["extensions: [a]\n", "{extensions: {}}\n", "extensions: &x\n  a: 1\n", "extensions:\nextensions:\n"] {
        assert!(apply(ConfigFormat::Yaml, text, &change(AgentClient::Goose)).is_err(), "{text}");
    }
}

#[test]
fn a_key_that_is_there_twice_is_refused() {
    for (text, key) in [
        ("{\"mcpServers\": {}, \"mcpServers\": {\"a\": {\"command\": \"x\"}}}", "mcpServers"),
        ("{\"mcpServers\": {}, \"mcp\\u0053ervers\": {}}", "mcpServers"),
        ("{\"mcpServers\": {\"reasoning-bank\": {}, \"reasoning-bank\": {}}}", "reasoning-bank"),
    ] {
        let refused = apply(ConfigFormat::Json, text, &change(AgentClient::Cursor));
        assert_eq!(refused, Err(ConfigEditError::Twice(key.to_owned())), "{text}");
    }
    let hooks = "{\"hooks\": {\"Stop\": [], \"Stop\": []}}";
    let hook = [ConfigChange::element(&["hooks", "Stop"], ConfigValue::map([]))];
    assert_eq!(apply(ConfigFormat::Json, hooks, &hook), Err(ConfigEditError::Twice("Stop".to_owned())));
    let elsewhere = "{\"a\": 1, \"a\": 2, \"mcpServers\": {\"b\": {}, \"b\": {}}}";
    assert!(apply(ConfigFormat::Json, elsewhere, &change(AgentClient::Cursor)).is_ok());
}

fn moved(client: AgentClient) -> [ConfigChange; 1] {
    let arguments = ["--llm", "none", "mcp"].map(str::to_owned).to_vec();
    [ServerCommand { program: "/new/reasoning-bank".to_owned(), arguments, variables: Vec::new() }.change(client)]
}

#[test]
fn keys_that_the_user_added_to_the_entry_stay() {
    let toml = apply(ConfigFormat::Toml, "", &change(AgentClient::Codex)).unwrap() + "enabled = false # for now\n";
    assert_eq!(apply(ConfigFormat::Toml, &toml, &change(AgentClient::Codex)).unwrap(), toml);
    let after = apply(ConfigFormat::Toml, &toml, &moved(AgentClient::Codex)).unwrap();
    assert_eq!(after, toml.replace("/bin/", "/new/"));
    let json = apply(ConfigFormat::Json, "", &change(AgentClient::ClaudeCode)).unwrap();
    let json = json.replace("      \"type\"", "      \"timeout\": 5,\n      \"type\"");
    assert_eq!(apply(ConfigFormat::Json, &json, &change(AgentClient::ClaudeCode)).unwrap(), json);
    let after = apply(ConfigFormat::Json, &json, &moved(AgentClient::ClaudeCode)).unwrap();
    assert_eq!(after, json.replace("/bin/", "/new/"));
    let remote = r#"{"mcpServers": {"reasoning-bank": {"type": "http", "url": "https://bank.example.org/mcp"}}}"#;
    let replaced = apply(ConfigFormat::Json, remote, &change(AgentClient::ClaudeCode)).unwrap();
    assert!(!replaced.contains("url") && replaced.contains("/bin/reasoning-bank"), "{replaced}");
}

#[test]
fn lists_of_yaml_are_read_with_their_quotes_and_without_their_comments() {
    let arguments = |list: &str| {
        let text =
            format!("extensions:\n  reasoning-bank:\n    cmd: '/my bin/reasoning-bank' # own\n    args: {list}\n");
        server_arguments(AgentClient::Goose, ConfigFormat::Yaml, &text).unwrap().unwrap()
    };
    for list in [
        "['--data-dir', '/data, main', mcp]",
        "[\"--data-dir\", \"/data, main\", \"mcp\",] # of mine, [too]",
        "\n      # of mine: these\n      - --data-dir # the bank\n      - '/data, main' # there\n      - mcp",
    ] {
        assert_eq!(arguments(list), ["--data-dir", "/data, main", "mcp"], "{list}");
    }
    assert_eq!(arguments(r#"["a \"b\" \\c", 'it''s # one']"#), [r#"a "b" \c"#, "it's # one"]);
    assert_eq!(arguments("[]"), [""; 0]);
    assert_eq!(arguments("[a,"), [""; 0]);
    assert_eq!(arguments("none # [a]"), [""; 0]);
    let goose = "extensions:\n  reasoning-bank:\n    cmd: x\n    env_keys:\n      - TEAM_TOKEN # mine\n";
    let written = apply(ConfigFormat::Yaml, goose, &change(AgentClient::Goose)).unwrap();
    assert!(written.contains("    env_keys: [\"TEAM_TOKEN\"]\n"), "{written}");
}

#[test]
fn a_server_that_the_user_changed_stays_so_when_it_is_written_again() {
    let variables = |client: AgentClient| {
        let arguments = ["--llm", "none", "mcp"].map(str::to_owned).to_vec();
        let variables = vec!["OPENROUTER_API_KEY".to_owned()];
        [ServerCommand { program: "/bin/reasoning-bank".to_owned(), arguments, variables }.change(client)]
    };
    let goose = "extensions:\n  reasoning-bank:\n    enabled: false # for now\n    cmd: \"/bin/reasoning-bank\" # pinned\n    args:\n    \
                 - mcp\n    # more\n    - -v\n    env_keys:\n      - GITHUB_TOKEN\n    timeout: 60\n    description: mine\n...\n";
    let again = apply(ConfigFormat::Yaml, goose, &change(AgentClient::Goose)).unwrap();
    for kept in [
        "enabled: false # for now\n",
        "# pinned\n",
        "env_keys: [\"GITHUB_TOKEN\"]\n",
        "timeout: 60\n",
        "description: mine\n",
        "\n...\n",
    ] {
        assert!(again.contains(kept), "{kept:?} of {again}");
    }
    assert!(again.contains("    args: [\"--llm\", \"none\", \"mcp\"]\n    env_keys"), "{again}");
    assert_eq!(apply(ConfigFormat::Yaml, &again, &change(AgentClient::Goose)).unwrap(), again);
    let ended = apply(ConfigFormat::Yaml, "---\nmodel: x\n...\n", &change(AgentClient::Goose)).unwrap();
    assert!(ended.starts_with("---\nmodel: x\nextensions:\n") && ended.ends_with("timeout: 300\n...\n"), "{ended}");

    let opencode = apply(ConfigFormat::Json, "", &change(AgentClient::Opencode)).unwrap();
    let off = opencode.replace("\"enabled\": true", "\"enabled\": false");
    assert_eq!(apply(ConfigFormat::Json, &off, &change(AgentClient::Opencode)).unwrap(), off);

    let gemini = apply(ConfigFormat::Json, "", &variables(AgentClient::GeminiCli)).unwrap();
    let mine = apply(ConfigFormat::Json, "", &change(AgentClient::GeminiCli)).unwrap();
    let mine =
        mine.replace("\"command\"", "\"timeout\": 9, // ms\n      \"env\": {\"MINE\": \"1\"},\n      \"command\"");
    let again = apply(ConfigFormat::Json, &mine, &variables(AgentClient::GeminiCli)).unwrap();
    assert!(gemini.contains("$OPENROUTER_API_KEY") && again.contains("$OPENROUTER_API_KEY"), "{again}");
    assert!(again.contains("\"timeout\": 9, // ms") && again.contains("\"MINE\": \"1\""), "{again}");

    let codex = apply(ConfigFormat::Toml, "", &change(AgentClient::Codex)).unwrap() + "tool_timeout_sec = 600 # long\n";
    let again = apply(ConfigFormat::Toml, &codex, &variables(AgentClient::Codex)).unwrap();
    assert_eq!(again, format!("{codex}env_vars = [\"OPENROUTER_API_KEY\"]\n"));
    let mine = codex.replace("tool_timeout_sec", "env_vars = [\"HTTPS_PROXY\"]\ntool_timeout_sec");
    let again = apply(ConfigFormat::Toml, &mine, &variables(AgentClient::Codex)).unwrap();
    assert!(again.contains("env_vars = [\"HTTPS_PROXY\", \"OPENROUTER_API_KEY\"]"), "{again}");
    let elsewhere = r#"{"mcpServers": {"reasoning-bank": {"url": "https://bank.example.org/mcp", "command": "old"}}}"#;
    let replaced = apply(ConfigFormat::Json, elsewhere, &change(AgentClient::ClaudeCode)).unwrap();
    assert!(!replaced.contains("url"), "{replaced}");
}

#[test]
fn comments_in_yaml_stay_beside_what_is_written() {
    let change = change(AgentClient::Goose);
    let empty = "extensions: {}  # none yet\nmodel: x\n";
    let written = apply(ConfigFormat::Yaml, empty, &change).unwrap();
    assert!(written.starts_with("extensions:   # none yet\n  reasoning-bank:\n"), "{written}");
    assert_eq!(remove(ConfigFormat::Yaml, &written, Some(empty), &change).unwrap(), empty);
    let own =
        "extensions:\n  reasoning-bank:\n    enabled: true\n\n    # the old one\n    cmd: old\n  other:\n    cmd: x\n";
    let written = apply(ConfigFormat::Yaml, own, &change).unwrap();
    assert!(!written.contains("cmd: old") && written.ends_with("  other:\n    cmd: x\n"), "{written}");
}

#[test]
fn a_marker_without_its_end_is_text_of_the_user() {
    let change = [crate::guidance::guidance()];
    let once = apply(ConfigFormat::Markdown, "", &change).unwrap();
    let broken = once.replace("<!-- reasoning-bank: end -->\n", "My own text.\n");
    let twice = apply(ConfigFormat::Markdown, &broken, &change).unwrap();
    assert!(twice.starts_with(&broken));
    assert_eq!(apply(ConfigFormat::Markdown, &twice, &change).unwrap(), twice);
    assert_eq!(remove(ConfigFormat::Markdown, &twice, None, &change).unwrap(), broken);
}

fn hooks(client: AgentClient) -> Vec<ConfigChange> {
    let program = "/bin/reasoning-bank".to_owned();
    ServerCommand { program, arguments: Vec::new(), variables: Vec::new() }.hook_changes(client, "/a b/data")
}

#[test]
fn a_hook_that_the_user_put_into_the_group_of_ours_stays() {
    let written = apply(ConfigFormat::Json, "", &hooks(AgentClient::ClaudeCode)).unwrap();
    let with_own = written.replacen(
        "\"hooks\": [",
        "\"hooks\": [{\"type\": \"command\", \"command\": \"/mine\", \"x\": null}, ",
        1,
    );
    assert_ne!(with_own, written);
    let old = with_own.replace("/bin/reasoning-bank", "/old/reasoning-bank");
    let after = apply(ConfigFormat::Json, &old, &hooks(AgentClient::ClaudeCode)).unwrap();
    assert!(after.contains("\"/mine\"") && !after.contains("/old/"), "{after}");
    assert_eq!(apply(ConfigFormat::Json, &after, &hooks(AgentClient::ClaudeCode)).unwrap(), after);
    let rest = remove(ConfigFormat::Json, &after, Some(""), &hooks(AgentClient::ClaudeCode)).unwrap();
    assert!(rest.contains("\"/mine\"") && !rest.contains("reasoning-bank"), "{rest}");
}

#[test]
fn a_hook_that_is_one_line_for_a_shell_is_found_again() {
    for client in [AgentClient::Codex, AgentClient::GeminiCli] {
        let written = apply(ConfigFormat::Json, "{}", &hooks(client)).unwrap();
        assert!(written.contains("\"/bin/reasoning-bank --data-dir '/a b/data' hook "), "{written}");
        assert_eq!(apply(ConfigFormat::Json, &written, &hooks(client)).unwrap(), written);
        assert_eq!(hook_programs(&written).unwrap(), ["/bin/reasoning-bank"]);
        let rest = remove(ConfigFormat::Json, &written, Some("{}"), &hooks(client)).unwrap();
        assert!(!rest.contains("hook"), "{rest}");
    }
}

#[test]
fn the_arguments_of_the_server_are_read_back_from_every_form() {
    for (client, format) in [
        (AgentClient::ClaudeCode, ConfigFormat::Json),
        (AgentClient::Opencode, ConfigFormat::Json),
        (AgentClient::Codex, ConfigFormat::Toml),
        (AgentClient::Goose, ConfigFormat::Yaml),
    ] {
        let written = apply(format, "", &change(client)).unwrap();
        let read = server_arguments(client, format, &written).unwrap().unwrap();
        assert!(read.ends_with(&["--llm", "none", "mcp"].map(str::to_owned)), "{client}: {read:?}");
        assert_eq!(server_arguments(client, format, ""), Ok(None), "{client}");
    }
    let by_goose =
        "extensions:\n  reasoning-bank:\n    args:\n    - --llm\n    - 'none'\n    - mcp\n    env_keys: []\n";
    let read = server_arguments(AgentClient::Goose, ConfigFormat::Yaml, by_goose).unwrap().unwrap();
    assert_eq!(read, ["--llm", "none", "mcp"]);
}

#[test]
fn the_version_of_a_file_of_hooks_goes_with_the_last_of_them() {
    let written = apply(ConfigFormat::Json, "", &hooks(AgentClient::Cursor)).unwrap();
    let backwards: Vec<ConfigChange> = hooks(AgentClient::Cursor).into_iter().rev().collect();
    let spaced = written.replace("\"version\": 1", "\"version\":  1");
    let rest = remove(ConfigFormat::Json, &spaced, Some(""), &backwards).unwrap();
    assert_eq!(rest.split_whitespace().collect::<String>(), "{}");
    let with_own =
        written.replacen("\"sessionStart\"", "\"stop\": [{ \"command\": \"mine\" }],\n    \"sessionStart\"", 1);
    let rest = remove(ConfigFormat::Json, &with_own, Some(""), &backwards).unwrap();
    assert!(rest.contains("\"version\": 1") && rest.contains("\"mine\"") && !rest.contains("reasoning-bank"), "{rest}");
}

#[test]
fn comments_and_mixed_line_ends_of_toml_stay() {
    let own =
        "model = \"o\"\r\n# all\n[mcp_servers.reasoning-bank]\r\n# which\r\ncommand = \"/mine\" # c1\r\nargs = []\r\n";
    let after = apply(ConfigFormat::Toml, own, &change(AgentClient::Codex)).unwrap();
    let expected = own.replace("\"/mine\"", "\"/bin/reasoning-bank\"");
    // The lines that are changed are of Unix.
    let expected = expected.replace(" # c1\r\n", " # c1\n").replace("[]\r\n", "[\"--llm\", \"none\", \"mcp\"]\n");
    assert_eq!(after, expected);
}

#[test]
fn a_list_of_plain_words_in_yaml_is_read() {
    let own = "extensions:\n  reasoning-bank:\n    cmd: old\n    env_keys: [A, 'B'] # mine\n";
    let after = apply(ConfigFormat::Yaml, own, &change(AgentClient::Goose)).unwrap();
    assert!(after.contains("env_keys: [\"A\", \"B\"]\n"), "{after}");
}
