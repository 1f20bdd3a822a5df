//! The keys, the bounds of their values, and the bounds that hold between keys.

use std::net::SocketAddr;

use config::{Config, Value, ValueKind};
use jiff::SignedDuration;
use reasoning_bank_domain::learning::transcript::{MAX_ANSWER_CHARS, MAX_QUESTION_CHARS};
use reasoning_bank_domain::memory::workspace::NAME_MAX_CHARS;
use reasoning_bank_domain::solve::agent_loop::RunLimits;

use super::problem::SettingProblem;

pub(super) struct SettingKey {
    pub(super) name: &'static str,
    rule: ValueRule,
    /// A checkout is trusted with no more than this.
    pub(super) in_checkout: InCheckout,
}

/// The reach of the file at the workspace root over a key. Whoever writes a checkout is not the user, so nothing in it
/// may widen what the user's own configuration allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InCheckout {
    /// The key is an error there.
    Never,
    /// The key describes the project and allows nothing.
    Freely,
    /// The file may only set a number below the user's own.
    Lower,
    /// The file may only set a number above the user's own.
    Higher,
    /// The file may only set some of what the user's own list has.
    Fewer,
    /// The file may only set the value that the user agreed to with `workspace trust`.
    Agreed,
}

enum ValueRule {
    Flag,
    Whole(i64, i64),
    Number(f64, f64),
    Text,
    /// The value is text of one line that people read. Empty text counts as not said.
    Label,
    /// The value is a path. An empty path counts as not set.
    Directory,
    /// The value is text that must not be blank.
    Name,
    /// The value is an http or https URL without a user name or password. An empty one counts as not said.
    Url,
    /// The value is never shown, nor kept among the other values.
    Secret,
    OneOf(&'static [&'static str]),
    /// The value is a list of at least one of these.
    SomeOf(&'static [&'static str]),
    /// The value is a time from [`SHORTEST`] to [`LONGEST`], in hours and the like.
    Interval,
    /// The value is an IP address and a port.
    Address,
    /// The value is a list of host names, each with or without a port. It may be empty.
    Hosts,
}

use InCheckout::{Agreed, Fewer, Freely, Higher, Lower, Never};
use ValueRule::{
    Address, Directory, Flag, Hosts, Interval, Label, Name, Number, OneOf, Secret, SomeOf, Text, Url, Whole,
};

const fn key(name: &'static str, rule: ValueRule) -> SettingKey {
    SettingKey { name, rule, in_checkout: Never }
}

const fn shared(name: &'static str, rule: ValueRule, in_checkout: InCheckout) -> SettingKey {
    SettingKey { name, rule, in_checkout }
}

const SHORTEST: SignedDuration = SignedDuration::from_secs(1);
const LONGEST: SignedDuration = SignedDuration::from_hours(366 * 24);

/// This word stands for every toolset.
pub(super) const ALL_TOOLSETS: &str = "all";

/// The keys in the order of `config/default.toml`, which says what they mean.
pub(super) const KEYS: &[SettingKey] = &[
    key("data_dir", Directory),
    key("llm.provider", OneOf(&["openrouter", "responses", "chat", "simulated", "none"])),
    key("llm.base_url", Url),
    key("llm.api_key", Secret),
    key("llm.model", Name),
    key("llm.effort", OneOf(&["none", "minimal", "low", "medium", "high", "xhigh", "max"])),
    key("llm.max_output_tokens", Whole(1, 1_000_000)),
    key("llm.timeout_s", Whole(1, 3_600)),
    key("llm.requests_per_minute", Whole(0, 1_000_000)),
    key("llm.prompts_dir", Text),
    key("llm.models.evaluate", Text),
    key("llm.models.judge", Text),
    key("llm.models.extract", Text),
    key("llm.models.capture", Text),
    key("llm.retry.max_retries", Whole(0, 10)),
    key("llm.retry.base_delay_ms", Whole(1, 60_000)),
    key("llm.cache.max_entries", Whole(0, 100_000)),
    key("llm.cache.ttl_s", Whole(0, 2_592_000)),
    key("llm.simulated.latency_ms", Whole(0, 60_000)),
    key("llm.simulated.jitter", Number(0.0, 1.0)),
    key("llm.simulated.failure_rate", Number(0.0, 1.0)),
    key("llm.simulated.seed", Whole(0, i64::MAX)),
    key("agent.max_iterations", Whole(1, 10)),
    key("agent.success_threshold", Number(0.0, 1.0)),
    key("agent.prompt_token_budget", Whole(RunLimits::LEAST_PROMPT_TOKENS as i64, 2_000_000)),
    key("agent.total_token_budget", Whole(1, 100_000_000)),
    key("agent.deadline_s", Whole(1, 86_400)),
    key("agent.concurrency", Whole(1, 256)),
    key("matts.enabled", Flag),
    key("matts.k", Whole(1, 8)),
    key("matts.mode", OneOf(&["parallel", "sequential"])),
    key("matts.workers", Whole(1, 256)),
    key("judge.concurrency", Whole(1, 256)),
    shared("retrieval.n_results", Whole(1, 50), Lower),
    shared("retrieval.profile", OneOf(&["composite", "paper", "cascade", "episodic"]), Agreed),
    key("retrieval.half_life_days", Number(0.01, 36_500.0)),
    shared("retrieval.min_relevance", Number(0.0, 1.0), Higher),
    shared("retrieval.relevance_floor", Number(0.0, 1.0), Higher),
    key("retrieval.resident_mb", Whole(0, 1_000_000)),
    shared("retrieval.weights.similarity", Number(0.0, 1_000.0), Agreed),
    shared("retrieval.weights.recency", Number(0.0, 1_000.0), Agreed),
    shared("retrieval.weights.error_context", Number(0.0, 1_000.0), Agreed),
    key("embedding.model_dir", Text),
    key("embedding.threads", Whole(0, 64)),
    key("promotion.automatic", Flag),
    key("background.daily_token_cap", Whole(0, 1_000_000_000)),
    key("passive.enabled", Flag),
    key("passive.llm", Flag),
    key("passive.min_answer_length", Whole(1, MAX_ANSWER_CHARS as i64)),
    key("passive.min_question_length", Whole(1, MAX_QUESTION_CHARS as i64)),
    key("passive.require_code_blocks", Flag),
    key("passive.require_explanations", Flag),
    key("redaction.contacts", Flag),
    key("traces.files", Flag),
    key("traces.dir", Text),
    key("traces.retention_days", Whole(0, 36_500)),
    key("recall_log.enabled", Flag),
    key("hooks.server_idle_s", Whole(0, 86_400)),
    key("episodes.archive_after_days", Whole(0, 36_500)),
    key("episodes.retention_days", Whole(0, 36_500)),
    key("consolidation.schedule", OneOf(&["off", "daily", "weekly"])),
    key("patterns.trial", Flag),
    key("banks.llm", Flag),
    key("banks.llm_timeout_s", Whole(1, 600)),
    key("banks.sync_interval_s", Whole(1, 86_400)),
    key("banks.optimize_above_tokens", Whole(1_000, 1_000_000)),
    key("banks.optimize_every_days", Whole(0, 36_500)),
    key("banks.optimize_in_repo", Flag),
    key("banks.debug_memory_dump", Flag),
    key("backup.dir", Text),
    key("backup.every", Interval),
    key("backup.keep", Whole(1, 10_000)),
    key("workspace.identity", OneOf(&["git", "path"])),
    shared("workspace.name", Label, Freely),
    shared("workspace.team", Label, Agreed),
    shared("workspace.org", Label, Agreed),
    key("workspace.share", Flag),
    shared(
        "mcp.toolsets",
        SomeOf(&[
            "core",
            "learning",
            "workspace",
            "admin",
            "context",
            "episodes",
            "patterns",
            "working",
            "banks",
            ALL_TOOLSETS,
        ]),
        Fewer,
    ),
    key("mcp.destructive", OneOf(&["ask", "allow"])),
    key("http.listen", Address),
    key("http.allowed_hosts", Hosts),
    key("http.behind_proxy", Flag),
    key("http.insecure", Flag),
    key("http.requests_per_second", Whole(0, 100_000)),
    key("http.solves_per_token", Whole(1, 256)),
    key("http.model_tokens_per_day", Whole(0, 1_000_000_000_000)),
    key("http.metrics", OneOf(&["token", "open"])),
    key("log.level", OneOf(&["off", "error", "warn", "info", "debug", "trace"])),
    key("log.format", OneOf(&["text", "json"])),
    key("log.file", Text),
];

pub(super) fn find(name: &str) -> Option<&'static SettingKey> {
    KEYS.iter().find(|key| key.name == name)
}

impl SettingKey {
    pub(super) fn is_secret(&self) -> bool {
        matches!(self.rule, Secret)
    }

    pub(super) fn is_unset(&self, value: &ValueKind) -> bool {
        matches!((&self.rule, value), (Directory, ValueKind::String(path)) if path.is_empty())
    }

    /// Returns the value in the form that the settings take, or what is wrong with it.
    pub(super) fn accept(&self, value: &toml::Value) -> Result<ValueKind, String> {
        match (&self.rule, value) {
            (Flag, toml::Value::Boolean(flag)) => Ok(ValueKind::Boolean(*flag)),
            (Whole(min, max), toml::Value::Integer(number)) if (min..=max).contains(&number) => {
                Ok(ValueKind::I64(*number))
            }
            (Number(min, max), toml::Value::Float(number)) if (min..=max).contains(&number) => {
                Ok(ValueKind::Float(*number))
            }
            (Number(..), toml::Value::Integer(number)) => self.accept(&toml::Value::Float(*number as f64)),
            (Text | Directory, toml::Value::String(text)) => Ok(text.as_str().into()),
            (Label, toml::Value::String(text)) if is_label(text) => Ok(text.as_str().into()),
            (Name, toml::Value::String(text)) if !text.trim().is_empty() => Ok(text.trim().into()),
            (Url, toml::Value::String(text)) if text.trim().is_empty() || is_url(text) => Ok(text.trim().into()),
            (OneOf(words), toml::Value::String(word)) if words.contains(&word.as_str()) => Ok(word.as_str().into()),
            (SomeOf(words), toml::Value::Array(items)) if !items.is_empty() => {
                let words = items.iter().map(|item| item.as_str().filter(|word| words.contains(word)));
                let words: Option<Vec<&str>> = words.collect();
                words.map(ValueKind::from).ok_or_else(|| self.refusal(value))
            }
            (Interval, toml::Value::String(text)) if is_interval(text) => Ok(text.trim().into()),
            (Address, toml::Value::String(text)) if text.trim().parse::<SocketAddr>().is_ok() => Ok(text.trim().into()),
            (Hosts, toml::Value::Array(items)) => {
                let hosts: Option<Vec<&str>> =
                    items.iter().map(|item| item.as_str().filter(|host| is_host(host))).collect();
                hosts.map(ValueKind::from).ok_or_else(|| self.refusal(value))
            }
            _ => Err(self.refusal(value)),
        }
    }

    /// Does the same for the text of an environment variable or a flag.
    pub(super) fn accept_text(&self, text: &str) -> Result<ValueKind, String> {
        let typed = match self.rule {
            Flag => text.trim().parse().map(toml::Value::Boolean).ok(),
            Whole(..) => text.trim().parse().map(toml::Value::Integer).ok(),
            Number(..) => text.trim().parse().map(toml::Value::Float).ok(),
            Text | Label | Directory | Name | Url | Secret | Interval | Address => {
                Some(toml::Value::String(text.to_owned()))
            }
            OneOf(_) => Some(toml::Value::String(text.trim().to_lowercase())),
            SomeOf(_) | Hosts => {
                let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
                Some(toml::Value::Array(items.map(Into::into).collect()))
            }
        };
        let text = toml::Value::String(text.to_owned());
        typed.ok_or_else(|| self.refusal(&text)).and_then(|typed| self.accept(&typed).map_err(|_| self.refusal(&text)))
    }

    fn refusal(&self, value: &toml::Value) -> String {
        let wanted = match &self.rule {
            Flag => "true or false".to_owned(),
            Whole(min, i64::MAX) => format!("a whole number of at least {min}"),
            Whole(min, max) => format!("a whole number from {min} to {max}"),
            Number(min, max) => format!("a number from {min} to {max}"),
            Text => "text".to_owned(),
            Label => return format!("must be one line of at most {NAME_MAX_CHARS} characters"),
            Directory => "a path".to_owned(),
            Name => "text that is not blank".to_owned(),
            // The value that was given may hold a secret.
            Url => return "must be an http or https URL without a user name or password".to_owned(),
            Secret => return "must be text".to_owned(),
            OneOf(words) => format!("one of {}", words.join(", ")),
            SomeOf(words) => format!("a list of at least one of {}", words.join(", ")),
            Interval => "a time of at least a second and at most 366 days, such as 24h or 30m".to_owned(),
            Address => "an IP address and a port, such as 127.0.0.1:8787".to_owned(),
            Hosts => "a list of host names, such as bank.example.org".to_owned(),
        };
        format!("must be {wanted}, not {value}")
    }
}

fn is_interval(text: &str) -> bool {
    text.trim().parse::<SignedDuration>().is_ok_and(|time| (SHORTEST..=LONGEST).contains(&time))
}

fn is_label(text: &str) -> bool {
    text.chars().count() <= NAME_MAX_CHARS && !text.chars().any(char::is_control)
}

fn is_host(text: &str) -> bool {
    reqwest::Url::parse(&format!("http://{text}")).is_ok_and(|url| {
        url.host_str().is_some() && url.path() == "/" && url.query().is_none() && url.username().is_empty()
    })
}

fn is_url(text: &str) -> bool {
    reqwest::Url::parse(text.trim()).is_ok_and(|url| {
        matches!(url.scheme(), "http" | "https") && url.username().is_empty() && url.password().is_none()
    })
}

/// Checks the bounds between keys, over the values that win. A key whose value is wrong by itself is already reported.
pub(super) fn check_together(merged: &Config, problems: &mut Vec<SettingProblem>) {
    let wrong = |name: &str, problems: &[SettingProblem]| problems.iter().any(|problem| problem.key == name);
    for pool in ["matts.workers", "judge.concurrency"] {
        if wrong(pool, problems) || wrong("matts.k", problems) {
            continue;
        }
        if let (Some((size, size_from)), Some((k, k_from))) = (whole(merged, pool), whole(merged, "matts.k"))
            && size < k
        {
            let problem = format!("is {size}, below matts.k, which is {k} ({k_from}); it must be at least that");
            problems.push(SettingProblem::new(pool, problem, size_from));
        }
    }
    if at(&merged.cache, "data_dir").is_none() && !wrong("data_dir", problems) {
        let problem = "is not set, and there is no home directory to derive it from; give --data-dir";
        problems.push(SettingProblem::new("data_dir", problem, "XDG data directory"));
    }
    const WEIGHTS: &str = "retrieval.weights";
    let weights: Vec<&SettingKey> = KEYS.iter().filter(|key| key.name.starts_with(WEIGHTS)).collect();
    let values: Vec<(f64, &str)> = weights.iter().filter_map(|key| number(merged, key.name)).collect();
    let any_wrong = problems.iter().any(|problem| problem.key.starts_with(WEIGHTS));
    if !any_wrong && values.iter().map(|(weight, _)| weight).sum::<f64>() <= 0.0 {
        let mut layers: Vec<&str> = values.iter().map(|(_, layer)| *layer).collect();
        layers.dedup();
        problems.push(SettingProblem::new(WEIGHTS, "are all 0; their sum must be above 0", layers.join(", ")));
    }
}

fn whole<'a>(merged: &'a Config, name: &str) -> Option<(i64, &'a str)> {
    match at(&merged.cache, name)? {
        (ValueKind::I64(number), origin) => Some((*number, origin)),
        _ => None,
    }
}

fn number<'a>(merged: &'a Config, name: &str) -> Option<(f64, &'a str)> {
    match at(&merged.cache, name)? {
        (ValueKind::Float(number), origin) => Some((*number, origin)),
        _ => None,
    }
}

/// Finds the value of a key among the merged ones, and the layer it comes from.
pub(super) fn at<'a>(merged: &'a Value, name: &str) -> Option<(&'a ValueKind, &'a str)> {
    let value = name.split('.').try_fold(merged, |value, part| match &value.kind {
        ValueKind::Table(table) => table.get(part),
        _ => None,
    })?;
    Some((&value.kind, value.origin().unwrap_or_default()))
}
