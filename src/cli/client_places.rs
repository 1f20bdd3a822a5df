//! The places of the files of clients, for this user and the project in use.

use std::path::PathBuf;

use reasoning_bank_actors::workspaces::WorkspaceRef;
use reasoning_bank_clients::ClientPlaces;

use super::failure::CommandFailure;
use crate::settings::{Loaded, SettingSources};

pub(super) fn client_places(loaded: &Loaded, sources: &SettingSources) -> Result<ClientPlaces, CommandFailure> {
    let no_home = || CommandFailure::usage("there is no home directory").hint("set HOME");
    let home = sources.home.clone().ok_or_else(no_home)?;
    let config_home = sources.config_home.clone().ok_or_else(no_home)?;
    let application_settings =
        if cfg!(target_os = "macos") { home.join("Library/Application Support") } else { config_home.clone() };
    let directory = |name: &str| sources.variable(name).map(|path| sources.directory.join(path));
    let project = match &loaded.workspace {
        WorkspaceRef::Root(root) => PathBuf::from(root),
        _ => sources.directory.clone(),
    };
    Ok(ClientPlaces {
        claude_config_dir: directory("CLAUDE_CONFIG_DIR"),
        codex_home: directory("CODEX_HOME"),
        home,
        config_home,
        application_settings,
        project,
    })
}
