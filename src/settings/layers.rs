//! The layers that settings come from. Each is a list of keys and values with the place they stand in. A layer reports
//! its problems and keeps what is right, so that all problems of all layers are told at once.

use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};

use config::{ConfigError, Map, Source, Value, ValueKind};
use reasoning_bank_store::files::open_regular;

use super::api_key::{ApiKey, SECRET_VARIABLES};
use super::keys::{self, InCheckout, SettingKey};
use super::problem::SettingProblem;

/// The name of the file at the workspace root.
pub(super) const WORKSPACE_FILE: &str = ".reasoning-bank.toml";
pub(super) const BUILT_IN: &str = "built-in";

const ENVIRONMENT_PREFIX: &str = "REASONING_BANK__";

/// Everything that the layers are read from.
#[derive(Debug, Clone, Default)]
pub struct SettingSources {
    pub environment: Vec<(OsString, OsString)>,
    /// The path of the current directory is absolute.
    pub directory: PathBuf,
    pub home: Option<PathBuf>,
    /// The value of `$XDG_CONFIG_HOME`.
    pub config_home: Option<PathBuf>,
    /// The value of `$XDG_DATA_HOME`.
    pub data_home: Option<PathBuf>,
    pub flags: Flags,
}

/// The global flags that are settings.
#[derive(Debug, Clone, Default)]
pub struct Flags {
    pub config: Option<PathBuf>,
    pub data_dir: Option<PathBuf>,
    /// The workspace is a path, or the 16 hex digits of an id.
    pub workspace: Option<String>,
    pub llm: Option<String>,
    /// The address that a server listens on.
    pub listen: Option<String>,
    pub verbose: u8,
    pub quiet: bool,
}

impl SettingSources {
    /// Takes the sources of this process.
    ///
    /// # Errors
    /// The current directory is gone or not readable.
    pub fn of_process(flags: Flags) -> std::io::Result<Self> {
        use etcetera::BaseStrategy;
        let base = etcetera::choose_base_strategy().ok();
        Ok(Self {
            environment: std::env::vars_os().collect(),
            directory: std::env::current_dir()?,
            home: base.as_ref().map(|base| base.home_dir().to_owned()),
            config_home: base.as_ref().map(BaseStrategy::config_dir),
            data_home: base.as_ref().map(BaseStrategy::data_dir),
            flags,
        })
    }

    /// Finds an environment variable. An empty one counts as not set.
    pub fn variable(&self, name: &str) -> Option<&OsString> {
        let found = self.environment.iter().find(|(own, _)| own == name);
        found.map(|(_, value)| value).filter(|value| !value.is_empty())
    }
}

/// The keys and values of one place in the form that the settings take, each with its origin.
#[derive(Debug, Clone, Default)]
pub(super) struct Layer {
    values: Vec<(&'static str, Value)>,
    api_key: Option<ApiKey>,
}

impl Layer {
    fn set(
        &mut self,
        key: &'static SettingKey,
        value: Result<ValueKind, String>,
        origin: &str,
        problems: &mut Vec<SettingProblem>,
    ) {
        match value {
            Ok(kind) if key.is_unset(&kind) => {}
            Ok(kind) => self.values.push((key.name, Value::new(Some(&origin.to_owned()), kind))),
            Err(problem) => problems.push(SettingProblem::new(key.name, problem, origin)),
        }
    }

    pub(super) fn api_key(&self) -> Option<&ApiKey> {
        self.api_key.as_ref()
    }

    /// Takes a text out of the layer.
    pub(super) fn take(&mut self, name: &str) -> Option<String> {
        let text = self.text(name).map(str::to_owned);
        self.values.retain(|(own, _)| *own != name);
        text
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        match self.value(name)? {
            ValueKind::String(text) => Some(text.as_str()),
            _ => None,
        }
    }

    pub(super) fn value(&self, name: &str) -> Option<&ValueKind> {
        self.values.iter().rev().find(|(own, _)| *own == name).map(|(_, value)| &value.kind)
    }

    /// Puts what `decide` makes of a value in its place. A value that `decide` answers nothing for is dropped.
    pub(super) fn filter_map(&mut self, mut decide: impl FnMut(&'static str, &ValueKind) -> Option<ValueKind>) {
        self.values.retain_mut(|(name, value)| match decide(name, &value.kind) {
            Some(kind) => {
                value.kind = kind;
                true
            }
            None => false,
        });
    }
}

impl Source for Layer {
    fn clone_into_box(&self) -> Box<dyn Source + Send + Sync> {
        Box::new(self.clone())
    }

    fn collect(&self) -> Result<Map<String, Value>, ConfigError> {
        Ok(self.values.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect())
    }
}

pub(super) fn built_in(problems: &mut Vec<SettingProblem>) -> Layer {
    from_toml(super::DEFAULTS, BUILT_IN, |_| true, problems)
}

/// Names the data directory where nobody else does.
pub(super) fn data_home(sources: &SettingSources, problems: &mut Vec<SettingProblem>) -> Layer {
    let mut layer = Layer::default();
    if let (Some(home), Some(key)) = (&sources.data_home, keys::find("data_dir")) {
        let path = home.join("reasoning-bank");
        let text = path.to_str().map(ValueKind::from).ok_or_else(|| NOT_UTF8.to_owned());
        layer.set(key, text, "XDG data directory", problems);
    }
    layer
}

pub(super) fn user_file(sources: &SettingSources, problems: &mut Vec<SettingProblem>) -> Layer {
    match &sources.config_home {
        Some(home) => from_file(&home.join("reasoning-bank").join("config.toml"), false, |_| true, problems),
        None => Layer::default(),
    }
}

pub(super) fn workspace_file(path: &Path, problems: &mut Vec<SettingProblem>) -> Layer {
    from_file(path, false, |key| key.in_checkout != InCheckout::Never, problems)
}

/// Reads the file that `--config` names.
pub(super) fn config_flag(sources: &SettingSources, problems: &mut Vec<SettingProblem>) -> Layer {
    match &sources.flags.config {
        Some(path) => from_file(&sources.directory.join(path), true, |_| true, problems),
        None => Layer::default(),
    }
}

/// Reads the variables that the systems before this one have used.
pub(super) fn seed_environment(sources: &SettingSources, problems: &mut Vec<SettingProblem>) -> Layer {
    const TRACES: &str = "REASONING_BANK_TRACES";
    const NAMES: [(&str, &str); 4] = [
        ("REASONING_BANK_DATA", "data_dir"),
        (TRACES, "traces.dir"),
        ("DEFAULT_MODEL", "llm.model"),
        ("DEFAULT_REASONING_EFFORT", "llm.effort"),
    ];
    let mut layer = Layer::default();
    for (name, key) in NAMES {
        if let (Some(value), Some(key)) = (sources.variable(name), keys::find(key)) {
            from_variable(&mut layer, name, key, value, problems);
        }
    }
    if let (Some(_), Some(key)) = (sources.variable(TRACES), keys::find("traces.files")) {
        layer.set(key, Ok(ValueKind::Boolean(true)), &variable_origin(TRACES), problems);
    }
    layer
}

/// Reads the variables `REASONING_BANK__SECTION__KEY`.
pub(super) fn environment(sources: &SettingSources, problems: &mut Vec<SettingProblem>) -> Layer {
    let mut layer = Layer::default();
    let mut own: Vec<(&str, &OsString)> = sources
        .environment
        .iter()
        .filter(|(_, value)| !value.is_empty())
        .filter_map(|(name, value)| Some((name.to_str()?, value)))
        .filter(|(name, _)| name.starts_with(ENVIRONMENT_PREFIX))
        .collect();
    own.sort();
    for (name, value) in own {
        let key = name[ENVIRONMENT_PREFIX.len()..].to_lowercase().replace("__", ".");
        // The provider, which other layers may name, decides which variables hold the key.
        if matches!(key.as_str(), "llm.api_key" | "llm.api_key_file") {
            if !SECRET_VARIABLES.contains(&name) {
                let problem = format!("is read from {} alone, in capitals", name.to_uppercase());
                problems.push(SettingProblem::new(key, problem, variable_origin(name)));
            }
            continue;
        }
        match keys::find(&key) {
            Some(key) => from_variable(&mut layer, name, key, value, problems),
            None => problems.push(unknown(&key, &variable_origin(name))),
        }
    }
    layer
}

pub(super) fn flags(sources: &SettingSources, problems: &mut Vec<SettingProblem>) -> Layer {
    let flags = &sources.flags;
    let mut layer = Layer::default();
    let mut set = |name: &str, flag: &str, text: Result<String, String>| {
        if let Some(key) = keys::find(name) {
            layer.set(key, text.and_then(|text| key.accept_text(&text)), &format!("flag {flag}"), problems);
        }
    };
    if let Some(path) = &flags.data_dir {
        let text = path.to_str().map(str::to_owned).ok_or_else(|| NOT_UTF8.to_owned());
        set("data_dir", "--data-dir", text);
    }
    if let Some(provider) = &flags.llm {
        set("llm.provider", "--llm", Ok(provider.clone()));
    }
    if let Some(address) = &flags.listen {
        set("http.listen", "--listen", Ok(address.clone()));
    }
    match (flags.verbose, flags.quiet) {
        (0, false) => {}
        (0, true) => set("log.level", "-q", Ok("error".to_owned())),
        (1, _) => set("log.level", "-v", Ok("debug".to_owned())),
        _ => set("log.level", "-vv", Ok("trace".to_owned())),
    }
    layer
}

const NOT_UTF8: &str = "is not UTF-8";

fn variable_origin(name: &str) -> String {
    format!("environment variable {name}")
}

fn unknown(key: &str, layer: &str) -> SettingProblem {
    SettingProblem::new(key, "is no setting of this version", layer)
}

fn from_variable(
    layer: &mut Layer,
    name: &str,
    key: &'static SettingKey,
    value: &OsString,
    problems: &mut Vec<SettingProblem>,
) {
    let value = value.to_str().ok_or_else(|| NOT_UTF8.to_owned()).and_then(|text| key.accept_text(text));
    layer.set(key, value, &variable_origin(name), problems);
}

fn from_file(
    path: &Path,
    must_exist: bool,
    allowed: impl Fn(&SettingKey) -> bool,
    problems: &mut Vec<SettingProblem>,
) -> Layer {
    let origin = path.display().to_string();
    match read(path) {
        Ok(text) => from_toml(&text, &origin, allowed, problems),
        Err(error) if !must_exist && error.kind() == std::io::ErrorKind::NotFound => Layer::default(),
        Err(error) => {
            problems.push(SettingProblem::new("file", format!("cannot be read: {error}"), origin));
            Layer::default()
        }
    }
}

pub(super) fn read(path: &Path) -> std::io::Result<String> {
    const MAX_BYTES: u64 = 1024 * 1024;
    let file = open_regular(path)?;
    if file.metadata()?.len() > MAX_BYTES {
        return Err(std::io::Error::other(format!("it has more than {MAX_BYTES} bytes")));
    }
    let mut text = String::new();
    file.take(MAX_BYTES).read_to_string(&mut text)?;
    Ok(text)
}

fn from_toml(
    text: &str,
    origin: &str,
    allowed: impl Fn(&SettingKey) -> bool,
    problems: &mut Vec<SettingProblem>,
) -> Layer {
    let mut layer = Layer::default();
    let table = match text.parse::<toml::Table>() {
        Ok(table) => table,
        Err(error) => {
            // Its Display shows the line, which may hold a secret.
            let line = error.span().map_or(1, |span| text[..span.start.min(text.len())].matches('\n').count() + 1);
            let problem = format!("is not TOML: line {line}: {}", error.message());
            problems.push(SettingProblem::new("file", problem, origin));
            return layer;
        }
    };
    let mut leaves = Vec::new();
    flatten("", table, &mut leaves);
    for (name, value) in leaves {
        match keys::find(&name) {
            None => problems.push(unknown(&name, origin)),
            Some(key) if !allowed(key) => {
                let may: Vec<&str> = keys::KEYS.iter().filter(|key| allowed(key)).map(|key| key.name).collect();
                let problem = format!("may not be set by a workspace's file, only {} may", may.join(", "));
                problems.push(SettingProblem::new(name, problem, origin));
            }
            Some(key) if key.is_secret() => match ApiKey::of_toml(&value, origin) {
                Ok(api_key) => layer.api_key = api_key,
                Err(problem) => problems.push(problem),
            },
            Some(key) => layer.set(key, key.accept(&value), origin, problems),
        }
    }
    layer
}

fn flatten(prefix: &str, table: toml::Table, leaves: &mut Vec<(String, toml::Value)>) {
    for (name, value) in table {
        let name = if prefix.is_empty() { name } else { format!("{prefix}.{name}") };
        match value {
            toml::Value::Table(table) if keys::find(&name).is_none() => flatten(&name, table, leaves),
            value => leaves.push((name, value)),
        }
    }
}
