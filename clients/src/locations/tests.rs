use super::*;

fn places() -> ClientPlaces {
    ClientPlaces {
        home: PathBuf::from("/home/ana"),
        config_home: PathBuf::from("/home/ana/.config"),
        application_settings: PathBuf::from("/home/ana/.config"),
        claude_config_dir: None,
        codex_home: None,
        gemini_home: None,
        cline_servers: None,
        project: PathBuf::from("/work/shop"),
    }
}

#[test]
fn a_client_has_a_file_for_its_hooks_or_the_reason_why_not() {
    for client in AgentClient::ALL {
        let of_user = places().hooks_file(client, SetupScope::User);
        assert_eq!(of_user.is_ok(), client.has_hooks(), "{client}");
    }
    let reason = |client, scope| places().hooks_file(client, scope).unwrap_err().to_string();
    assert_eq!(reason(AgentClient::Zed, SetupScope::User), "Zed has no hooks that are supported");
    assert_eq!(reason(AgentClient::Zed, SetupScope::Project), "Zed has no hooks that are supported");
    assert_eq!(
        reason(AgentClient::Codex, SetupScope::Project),
        "Codex gets hooks in the files of the user alone, not in those of a project"
    );
}

#[test]
fn instructions_of_the_user_lie_in_no_project() {
    for client in AgentClient::ALL {
        match places().instructions_file(client, SetupScope::User, |_| true) {
            Ok(file) => assert!(file.path.starts_with("/home/ana"), "{client}: {}", file.path.display()),
            Err(reason) => assert!(reason.to_string().contains(client.title()), "{client}: {reason}"),
        }
        let of_project = places().instructions_file(client, SetupScope::Project, |_| true).unwrap();
        assert!(of_project.path.starts_with("/work/shop"), "{client}");
    }
}

#[test]
fn claude_code_goes_on_to_read_the_instructions_that_a_project_has_for_all_agents() {
    let file = |there: &[&str]| {
        let exists = |path: &Path| there.iter().any(|name| path.ends_with(name));
        places().instructions_file(AgentClient::ClaudeCode, SetupScope::Project, exists).unwrap().path
    };
    assert_eq!(file(&["AGENTS.md"]), Path::new("/work/shop/AGENTS.md"));
    for of_claude in ["CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md"] {
        assert_eq!(file(&["AGENTS.md", of_claude]), Path::new("/work/shop/CLAUDE.md"), "{of_claude}");
    }
    assert_eq!(file(&[]), Path::new("/work/shop/CLAUDE.md"));
}

#[test]
fn gemini_cli_and_cline_are_written_where_their_variables_lead() {
    let server = |places: &ClientPlaces, client| places.server_file(client, SetupScope::User, |_| false).unwrap().path;
    assert_eq!(server(&places(), AgentClient::GeminiCli), Path::new("/home/ana/.gemini/settings.json"));
    let in_data = "/home/ana/.cline/data/settings/cline_mcp_settings.json";
    assert_eq!(server(&places(), AgentClient::Cline), Path::new(in_data));
    let moved = ClientPlaces {
        gemini_home: Some(PathBuf::from("/g")),
        cline_servers: Some(PathBuf::from("/c/servers.json")),
        ..places()
    };
    assert_eq!(server(&moved, AgentClient::Cline), Path::new("/c/servers.json"));
    let of_gemini = [
        server(&moved, AgentClient::GeminiCli),
        moved.hooks_file(AgentClient::GeminiCli, SetupScope::User).unwrap().path,
        moved.instructions_file(AgentClient::GeminiCli, SetupScope::User, |_| false).unwrap().path,
    ];
    assert!(of_gemini.iter().all(|path| path.starts_with("/g/.gemini")), "{of_gemini:?}");
}
