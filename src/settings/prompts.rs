//! The directory of the user's own prompts. `domain::prompt` decides what may stand in them.

use std::fs;
use std::path::Path;

use reasoning_bank_domain::prompt::{PROMPT_MAX_CHARS, Prompts};

use super::problem::SettingProblem;

pub(super) const KEY: &str = "llm.prompts_dir";
/// The folder of the prompts for memory banks.
const BANKS: &str = "banks";
/// A character has at most four bytes.
const MAX_BYTES: u64 = 4 * PROMPT_MAX_CHARS as u64;

/// Reads the built-in prompts, with those of a directory in their place. `layer` names the directory.
pub(super) fn read(dir: &Path, layer: &str) -> Result<Prompts, Vec<SettingProblem>> {
    let problem =
        |path: &Path, problem: String| SettingProblem::new(KEY, format!("{} {problem}", path.display()), layer);
    let unreadable = |error: std::io::Error| vec![problem(dir, format!("cannot be read: {error}"))];
    let (mut prompts, mut problems) = (Prompts::default(), Vec::new());
    let mut paths = Vec::new();
    for entry in fs::read_dir(dir).map_err(unreadable)? {
        paths.push(entry.map_err(unreadable)?.path());
    }
    if let Some(banks) = paths.iter().position(|path| path.is_dir() && path.ends_with(BANKS)) {
        for entry in fs::read_dir(paths.swap_remove(banks)).map_err(unreadable)? {
            paths.push(entry.map_err(unreadable)?.path());
        }
    }
    paths.sort();
    for path in paths {
        let name = path.strip_prefix(dir).unwrap_or(&path).to_string_lossy().replace('\\', "/");
        let replaced = text_of(&path).and_then(|text| prompts.replace(&name, &text));
        problems.extend(replaced.err().map(|refused| problem(&path, refused)));
    }
    if problems.is_empty() { Ok(prompts) } else { Err(problems) }
}

fn text_of(path: &Path) -> Result<String, String> {
    let unreadable = |error: std::io::Error| format!("cannot be read: {error}");
    let metadata = fs::metadata(path).map_err(unreadable)?;
    if !metadata.is_file() {
        return Err("is no file; the directory holds prompts alone".to_owned());
    }
    if metadata.len() > MAX_BYTES {
        return Err(format!("has more than {PROMPT_MAX_CHARS} characters; shorten it"));
    }
    fs::read_to_string(path).map_err(unreadable)
}
