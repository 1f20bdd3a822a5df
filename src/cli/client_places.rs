//! The places of the files of clients, for this user and the project in use.

use std::path::PathBuf;

use reasoning_bank_actors::workspaces::WorkspaceRef;
use reasoning_bank_clients::{CLINE_SERVERS, ClientPlaces};

use super::failure::CommandFailure;
use crate::settings::{Loaded, SettingSources};

pub(super) fn client_places(loaded: &Loaded, sources: &SettingSources) -> Result<ClientPlaces, CommandFailure> {
    let no_home = || CommandFailure::usage("there is no home directory").hint("set HOME");
    let home = sources.home.clone().ok_or_else(no_home)?;
    let config_home = sources.config_home.clone().ok_or_else(no_home)?;
    let application_settings =
        if cfg!(target_os = "macos") { home.join("Library/Application Support") } else { config_home.clone() };
    let directory = |name: &str| sources.variable(name).map(|path| sources.directory.join(path));
    let cline_data = directory("CLINE_DATA_DIR").or_else(|| Some(directory("CLINE_DIR")?.join("data")));
    let cline_servers =
        directory("CLINE_MCP_SETTINGS_PATH").or_else(|| Some(cline_data?.join("settings").join(CLINE_SERVERS)));
    let project = match &loaded.workspace {
        WorkspaceRef::Root(root) => PathBuf::from(root),
        _ => sources.directory.clone(),
    };
    Ok(ClientPlaces {
        claude_config_dir: directory("CLAUDE_CONFIG_DIR"),
        codex_home: directory("CODEX_HOME"),
        gemini_home: directory("GEMINI_CLI_HOME"),
        cline_servers,
        home,
        config_home,
        application_settings,
        project,
    })
}
