//! Tests of the plugins in `integrations/`: their servers start as a client starts them.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::mcp_process::McpProcess;
use crate::support::Place;

#[test]
fn the_server_of_each_plugin_starts_without_a_key() {
    for plugin in ["claude-code", "codex"] {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("integrations").join(plugin).join(".mcp.json");
        let document: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
        let server = &document["mcpServers"]["reasoning-bank"];
        assert_eq!(server["command"], "reasoning-bank");
        let arguments: Vec<&str> =
            server["args"].as_array().unwrap().iter().map(|argument| argument.as_str().unwrap()).collect();
        let place = Place::with_instant_model();
        let mut started = McpProcess::spawn(place.command(&arguments));
        started.initialize();
        started.end();
    }
}
