//! The problems of the settings. Each names the key, what is wrong, and the layer it stands in.

use std::fmt;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingProblem {
    /// The field holds the key, or the file when it could not be read as a whole.
    pub key: String,
    pub problem: String,
    /// The layer is a file, an environment variable or a flag.
    pub layer: String,
}

impl SettingProblem {
    pub(super) fn new(key: impl Into<String>, problem: impl fmt::Display, layer: impl Into<String>) -> Self {
        Self { key: key.into(), problem: problem.to_string(), layer: layer.into() }
    }

    /// Wraps an error that the checks should have caught.
    pub(super) fn internal(error: config::ConfigError) -> Self {
        Self::new("configuration", error, "all layers")
    }
}

impl fmt::Display for SettingProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} ({})", self.key, self.problem, self.layer)
    }
}

/// All problems at once. There is at least one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct SettingsError {
    pub problems: Vec<SettingProblem>,
}

impl SettingsError {
    pub(super) fn one(problem: SettingProblem) -> Self {
        Self { problems: vec![problem] }
    }
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.problems.as_slice() {
            [one] => write!(f, "configuration: {one}"),
            many => {
                write!(f, "configuration: {} problems", many.len())?;
                many.iter().try_for_each(|problem| write!(f, "\n  {problem}"))
            }
        }
    }
}
