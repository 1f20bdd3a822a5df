//! Values of a configuration file, whatever its format, and what is changed in one.

use serde::{Deserialize, Serialize};

/// The name of the server in every client, and of the binary.
pub const SERVER_NAME: &str = "reasoning-bank";

/// A value in the order in which it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfigValue {
    Text(String),
    Flag(bool),
    /// A count, such as seconds.
    Number(u32),
    List(Vec<ConfigValue>),
    Map(Vec<(String, ConfigValue)>),
}

impl ConfigValue {
    pub(crate) fn map<const N: usize>(entries: [(&str, Self); N]) -> Self {
        Self::Map(entries.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }

    pub(crate) fn texts(texts: &[String]) -> Self {
        Self::List(texts.iter().map(|text| Self::Text(text.clone())).collect())
    }

    /// Says whether both say the same; the order of the entries of a map says nothing.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Map(own), Self::Map(others)) => {
                own.len() == others.len()
                    && own.iter().all(|(name, value)| {
                        others.iter().any(|(theirs, other)| theirs == name && value.is_same(other))
                    })
            }
            (Self::List(own), Self::List(others)) => {
                own.len() == others.len() && own.iter().zip(others).all(|(value, other)| value.is_same(other))
            }
            _ => self == other,
        }
    }
}

impl ConfigValue {
    /// Says whether a hook of ours is in the value: a command of the name of our binary, with the argument `hook`.
    pub(crate) fn runs_our_hook(&self) -> bool {
        match self {
            Self::Map(entries) => {
                let entry = |name: &str| entries.iter().find(|(own, _)| own == name).map(|(_, value)| value);
                let is_our_binary = matches!(entry("command"), Some(Self::Text(path))
                    if path.rsplit(['/', '\\']).next().is_some_and(|file| file.starts_with(SERVER_NAME)));
                let is_hook = matches!(entry("args"), Some(Self::List(values)) if values.contains(&"hook".into()));
                is_our_binary && is_hook || entries.iter().any(|(_, value)| value.runs_our_hook())
            }
            Self::List(values) => values.iter().any(Self::runs_our_hook),
            _ => false,
        }
    }
}

impl From<&str> for ConfigValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ConfigFormat {
    /// JSON, in which comments and trailing commas may stand.
    Json,
    Toml,
    Yaml,
    Markdown,
}

/// One change of a file. Made a second time it changes nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfigChange {
    /// The map at `section` has `value` under `name`. Maps that are not there are made.
    Entry { section: Vec<String>, name: String, value: ConfigValue },
    /// The list at `section` has `value`, in the place of other elements of ours. Maps and the list are made where they are
    /// not there. JSON alone has such lists.
    Element { section: Vec<String>, value: ConfigValue },
    /// The text has these lines between markers, at its end where they are new.
    Lines(String),
}

impl ConfigChange {
    pub(crate) fn entry(section: &[&str], name: &str, value: ConfigValue) -> Self {
        let section = section.iter().map(|&part| part.to_owned()).collect();
        Self::Entry { section, name: name.to_owned(), value }
    }

    pub(crate) fn element(section: &[&str], value: ConfigValue) -> Self {
        Self::Element { section: section.iter().map(|&part| part.to_owned()).collect(), value }
    }
}
