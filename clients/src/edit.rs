//! Changes of configuration files that leave everything else in them as it is: comments, order, spaces, line ends.

use similar::{ChangeTag, TextDiff};

use crate::document::{ConfigChange, ConfigFormat, ConfigValue};

mod json;
mod markdown;
#[cfg(test)]
mod tests;
mod toml;
mod yaml;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigEditError {
    #[error("it is no {format}: {reason}")]
    Syntax { format: &'static str, reason: String },
    #[error("{0} is not what it should be, a map")]
    NoMap(String),
    #[error("{0} is not what it should be, a list")]
    NoList(String),
    #[error("{0} is not there once, as it should be: one map has it twice, and the client reads only one of the two")]
    Twice(String),
    #[error("{0} is written in a form that is not edited here; write the block form")]
    Unsupported(String),
}

/// Returns the text with the changes. An empty text stands for a file that is new.
///
/// # Errors
/// The text is not of its format, has something else where a map has to be, or has a key twice that is to be changed.
pub fn apply(format: ConfigFormat, text: &str, changes: &[ConfigChange]) -> Result<String, ConfigEditError> {
    with_unix_lines(text, |text| match format {
        ConfigFormat::Json => json::apply(text, changes),
        ConfigFormat::Toml => toml::apply(text, changes),
        ConfigFormat::Yaml => yaml::apply(text, changes),
        ConfigFormat::Markdown => Ok(markdown::apply(text, changes)),
    })
}

/// Returns the text without what the changes put into it. With the `original`, what the changes replaced is put back,
/// and maps that they made go where they are empty.
///
/// # Errors
/// The text is not of its format.
pub fn remove(
    format: ConfigFormat,
    text: &str,
    original: Option<&str>,
    changes: &[ConfigChange],
) -> Result<String, ConfigEditError> {
    let original = original.map(unix_lines);
    with_unix_lines(text, |text| match format {
        ConfigFormat::Json => json::remove(text, original.as_deref(), changes),
        ConfigFormat::Toml => toml::remove(text, original.as_deref(), changes),
        ConfigFormat::Yaml => yaml::remove(text, original.as_deref(), changes),
        ConfigFormat::Markdown => Ok(markdown::remove(text)),
    })
}

/// Returns the programs that hooks of ours in a file of hooks run, each once.
///
/// # Errors
/// The text is no JSON.
pub fn hook_programs(text: &str) -> Result<Vec<String>, ConfigEditError> {
    json::hook_programs(&unix_lines(text))
}

/// Returns the entry of this name in a section. Of YAML it has the program and the lists alone. None where there is no
/// such entry, or it has something that we never write.
///
/// # Errors
/// The text is not of its format.
pub(crate) fn entry(
    format: ConfigFormat,
    text: &str,
    section: &[String],
    name: &str,
) -> Result<Option<ConfigValue>, ConfigEditError> {
    let text = unix_lines(text);
    match format {
        ConfigFormat::Json => json::entry(&text, section, name),
        ConfigFormat::Toml => toml::entry(&text, section, name),
        ConfigFormat::Yaml => yaml::entry_lists(&text, section, name),
        ConfigFormat::Markdown => Ok(None),
    }
}

const BYTE_ORDER_MARK: char = '\u{feff}';

/// Edits the text with the line ends of Unix, and gives it back with its own. Of a text that mixes them, each line that
/// stays keeps its own.
fn with_unix_lines(
    text: &str,
    edit: impl FnOnce(&str) -> Result<String, ConfigEditError>,
) -> Result<String, ConfigEditError> {
    let marked = text.strip_prefix(BYTE_ORDER_MARK);
    let body = marked.unwrap_or(text);
    let windows = body.matches("\r\n").count();
    let unix = body.replace("\r\n", "\n");
    let edited = match windows {
        0 => edit(body)?,
        _ if windows == body.matches('\n').count() => edit(&unix)?.replace('\n', "\r\n"),
        _ => with_own_ends(body, &unix, &edit(&unix)?),
    };
    Ok(if marked.is_some() { format!("{BYTE_ORDER_MARK}{edited}") } else { edited })
}

/// Gives each line of an edited text that stood before the end that it had. `unix` is the text with the ends of Unix.
fn with_own_ends(text: &str, unix: &str, edited: &str) -> String {
    let own: Vec<&str> = text.split_inclusive('\n').collect();
    let (before, after): (Vec<&str>, Vec<&str>) =
        (unix.split_inclusive('\n').collect(), edited.split_inclusive('\n').collect());
    let diff = TextDiff::from_slices(&before, &after);
    let lines = diff.iter_all_changes().filter_map(|change| match change.tag() {
        ChangeTag::Equal => change.old_index().map(|at| own[at]),
        ChangeTag::Insert => Some(change.value()),
        ChangeTag::Delete => None,
    });
    lines.collect()
}

fn unix_lines(text: &str) -> String {
    text.trim_start_matches(BYTE_ORDER_MARK).replace("\r\n", "\n")
}
