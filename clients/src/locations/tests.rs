use super::*;

fn places() -> ClientPlaces {
    ClientPlaces {
        home: PathBuf::from("/home/ana"),
        config_home: PathBuf::from("/home/ana/.config"),
        application_settings: PathBuf::from("/home/ana/.config"),
        claude_config_dir: None,
        codex_home: None,
        project: PathBuf::from("/work/shop"),
    }
}

#[test]
fn a_client_has_a_file_for_its_hooks_or_the_reason_why_not() {
    for client in AgentClient::ALL {
        let of_user = places().hooks_file(client, SetupScope::User);
        assert_eq!(of_user.is_ok(), !client.hook_events().is_empty(), "{client}");
    }
    let reason = |client, scope| places().hooks_file(client, scope).unwrap_err().to_string();
    assert_eq!(reason(AgentClient::Zed, SetupScope::User), "Zed has no hooks that are supported");
    assert_eq!(reason(AgentClient::Zed, SetupScope::Project), "Zed has no hooks that are supported");
    assert_eq!(
        reason(AgentClient::Codex, SetupScope::Project),
        "Codex gets hooks in the files of the user alone, not in those of a project"
    );
}
