//! Values of a configuration file, whatever its format, and what is changed in one.

use serde::{Deserialize, Serialize};

/// The name of the server in every client, and of the binary.
pub const SERVER_NAME: &str = "reasoning-bank";

/// The keys that name the program of a server.
const PROGRAM_KEYS: [&str; 2] = ["command", "cmd"];
/// The keys that name a server elsewhere. Our entries have none of them.
const ADDRESS_KEYS: [&str; 4] = ["url", "httpUrl", "serverUrl", "uri"];
/// The keys of lists of variables that the server gets.
const VARIABLE_KEYS: [&str; 2] = ["env_keys", "env_vars"];

/// Says whether a key names the program of a server.
pub(crate) fn names_program(key: &str) -> bool {
    PROGRAM_KEYS.contains(&key)
}

/// Says whether a program is our binary, by its name.
pub(crate) fn is_our_program(program: &str) -> bool {
    program.rsplit(['/', '\\']).next().is_some_and(|file| file.starts_with(SERVER_NAME))
}

/// Says whether an entry starts a program and no more, by the keys that it has. Its other keys are the user's then.
pub(crate) fn starts_program(has: impl Fn(&str) -> bool) -> bool {
    PROGRAM_KEYS.iter().any(|key| has(key)) && !ADDRESS_KEYS.iter().any(|key| has(key))
}

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
    /// Returns the value of a key whose value is `own` now. A list of variables keeps those that the user has in it.
    pub(crate) fn united(&self, key: &str, own: Option<&Self>) -> Self {
        match (self, own) {
            (Self::List(values), Some(Self::List(own))) if VARIABLE_KEYS.contains(&key) => {
                let added = values.iter().filter(|value| !own.contains(value));
                Self::List(own.iter().chain(added).cloned().collect())
            }
            _ => self.clone(),
        }
    }

    /// Says whether a value stays as it is where it was written before: the user may turn the server off, or change its
    /// time limit. Texts and lists say which program is started, and are set.
    pub(crate) fn is_the_users(&self) -> bool {
        matches!(self, Self::Flag(_) | Self::Number(_))
    }

    pub(crate) fn map<'a>(entries: impl IntoIterator<Item = (&'a str, Self)>) -> Self {
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
    /// Says whether the value is a hook of ours: a command of the name of our binary, with the argument `hook`. A
    /// client that has no list of arguments has both in one line.
    pub(crate) fn is_our_hook(&self) -> bool {
        self.hook_program().is_some()
    }

    /// Returns the program that a hook of ours runs; none where the value is no hook of ours.
    pub(crate) fn hook_program(&self) -> Option<&str> {
        let Self::Map(entries) = self else { return None };
        let entry = |name: &str| entries.iter().find(|(own, _)| own == name).map(|(_, value)| value);
        let (program, is_hook) = match (entry("command"), entry("args")) {
            (Some(Self::Text(path)), Some(Self::List(arguments))) => {
                (path.as_str(), arguments.contains(&"hook".into()))
            }
            (Some(Self::Text(line)), None) => {
                let (program, _) = line.split_once(" hook ")?;
                (program.split(" --").next().unwrap_or(program).trim_matches(['"', '\'']), true)
            }
            _ => return None,
        };
        (is_hook && is_our_program(program)).then_some(program)
    }

    /// Returns our hook in the value: the value itself, or one of the hooks of a group.
    pub(crate) fn own_hook(&self) -> Option<&Self> {
        if self.is_our_hook() {
            return Some(self);
        }
        let Self::Map(entries) = self else { return None };
        let lists =
            entries.iter().filter_map(|(_, value)| if let Self::List(values) = value { Some(values) } else { None });
        lists.flatten().find(|value| value.is_our_hook())
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
    /// The list at `section` has `value`, in the place of other elements of ours. Maps and the list are made where they
    /// are not there. JSON alone has such lists.
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
