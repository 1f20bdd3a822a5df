//! The reason why a provider did not answer as asked. Its class decides whether another try helps; its text is shown
//! without our key and in short.

use std::time::Duration;

use jiff::Timestamp;
use jiff::fmt::rfc2822;
use reasoning_bank_actors::ports::{FailedCall, ModelError, Usage};
use reasoning_bank_domain::safety::secrets::scrub;
use reqwest::header::{DATE, HeaderMap, HeaderValue, RETRY_AFTER};
use serde_json::Value;

use super::redaction::Redaction;

/// The longest reason that is shown.
const MAX_CHARS: usize = 500;
/// The longest reason that is looked through for the key.
const MAX_SAID_CHARS: usize = 16 * 1024;
/// A longer wait is not believed. It is beyond every deadline there is: a provider that wants a longer one is not asked
/// again either.
const LONGEST_WAIT: Duration = Duration::from_secs(30 * 86_400);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FailureClass {
    /// The failure passes with time: the provider is in trouble, or cannot be reached.
    Transient,
    /// The failure passes with time: too much was asked.
    RateLimited,
    /// The provider refuses the same request again.
    Refused,
    KeyRejected,
    /// The answer cannot be taken in.
    Unreadable,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct ProviderFailure {
    pub(super) class: FailureClass,
    /// The words of the provider, which may hold our key. Only [`ProviderFailure::shown`] shows them.
    pub(super) message: String,
    /// The advice says what can be done about it, where we know that better than the provider.
    pub(super) advice: Option<&'static str>,
    pub(super) retry_after: Option<Duration>,
    /// The status of the HTTP answer that was no success, or the one that an error inside an answer stands for.
    pub(super) status: Option<u16>,
    /// The parameter that the provider says is wrong.
    pub(super) parameter: Option<String>,
    /// The cost of the call, where it is known.
    pub(super) usage: Option<Box<Usage>>,
}

impl ProviderFailure {
    pub(super) fn new(class: FailureClass, message: impl AsRef<str>) -> Self {
        let message = message.as_ref().chars().take(MAX_SAID_CHARS).collect();
        Self { class, message, advice: None, retry_after: None, status: None, parameter: None, usage: None }
    }

    /// Adds the cost: an answer that is of no use is paid for like any other. A cost that was known before stays.
    pub(super) fn costing(self, usage: Usage) -> Self {
        Self { usage: self.usage.or_else(|| Some(Box::new(usage))), ..self }
    }

    /// Returns the reason in short, to look for words in.
    pub(super) fn said(&self) -> String {
        shortened(&self.message)
    }

    /// Returns the reason and the advice in one line. The key and whatever secrets the provider quotes go before the
    /// reason is cut short, because half of a secret is not found.
    pub(super) fn shown(&self, key: &Redaction) -> String {
        let reason = shortened(&scrub(&key.reason(&self.message)).text);
        match self.advice {
            Some(advice) => format!("{reason} ({advice})"),
            None => reason,
        }
    }

    /// Turns the failure into the error of the model port.
    pub(super) fn told(self, key: &Redaction) -> FailedCall {
        let message = self.shown(key);
        let retry_after = self.retry_after;
        let error = match self.class {
            FailureClass::Transient => ModelError::Transient { message, retry_after },
            FailureClass::RateLimited => ModelError::RateLimited { message, retry_after },
            FailureClass::Refused => ModelError::Refused(message),
            FailureClass::KeyRejected => ModelError::KeyRejected(message),
            FailureClass::Unreadable => ModelError::InvalidOutput(message),
        };
        FailedCall { error, usage: self.usage.map(|usage| *usage).unwrap_or_default() }
    }

    /// Reads an HTTP answer that is no success.
    pub(super) fn of_response(status: u16, headers: &HeaderMap, body: &[u8]) -> Self {
        let body: Value =
            serde_json::from_slice(body).unwrap_or_else(|_| Value::String(String::from_utf8_lossy(body).into_owned()));
        let body = match body {
            Value::Array(mut several) if !several.is_empty() => several.swap_remove(0),
            body => body,
        };
        let report = ProviderComplaint::of(body.get("error").unwrap_or(&body));
        let mut failure = report.failure(Some(status));
        failure.message = format!("HTTP {status}: {}", failure.message);
        failure.retry_after = wait_of(headers, Timestamp::now()).or(failure.retry_after);
        failure.status = Some(status);
        failure
    }

    /// Reads an error inside an answer whose HTTP status says that all is well.
    pub(super) fn inside(error: &Value) -> Self {
        let report = ProviderComplaint::of(error);
        let status = report.codes.iter().find_map(|code| code.parse().ok()).filter(|code| *code >= 300);
        let mut failure = report.failure(status);
        failure.status = status.or_else(|| (failure.class == FailureClass::Refused).then_some(400));
        failure
    }
}

/// An error in the words of a provider, read from whichever of the usual forms it has.
struct ProviderComplaint {
    /// The values of `code`, `type` and the like, with numbers as text.
    codes: Vec<String>,
    message: String,
    parameter: Option<String>,
    retry_after: Option<Duration>,
}

impl ProviderComplaint {
    fn of(error: &Value) -> Self {
        let metadata = &error["metadata"];
        let codes = [&error["code"], &error["type"], &error["error_type"], &metadata["error_type"]];
        let said = [error, &error["message"], &error["detail"], &error["reason"]].into_iter().find_map(Value::as_str);
        let mut message = said.map_or_else(|| spelled_out(error), str::to_owned);
        // A provider behind the provider: its own words tell more.
        let raw = &metadata["raw"];
        if !raw.is_null() {
            let name = metadata["provider_name"].as_str().unwrap_or("the provider behind it");
            message = format!("{message} ({name}: {})", raw.as_str().map_or_else(|| raw.to_string(), str::to_owned));
        }
        Self {
            codes: codes.into_iter().filter_map(word).collect(),
            message,
            parameter: error["param"].as_str().map(str::to_owned),
            retry_after: number(&metadata["retry_after_seconds"]).and_then(seconds),
        }
    }

    fn failure(self, status: Option<u16>) -> ProviderFailure {
        let class = classify(status, &self.codes);
        let is_unsaid = status == Some(402) && !self.message.to_lowercase().contains("credit");
        let advice = is_unsaid.then_some("the account has no credits");
        ProviderFailure {
            advice,
            retry_after: self.retry_after,
            parameter: self.parameter,
            ..ProviderFailure::new(class, self.message)
        }
    }
}

fn word(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.to_lowercase()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.trim().parse().ok())
}

fn spelled_out(error: &Value) -> String {
    match error {
        Value::Null => "no reason is given".to_owned(),
        other => other.to_string(),
    }
}

/// Codes that contain one of these stand for errors that the same request meets again.
const REFUSALS: [&str; 12] = [
    "invalid",
    "badrequest",
    "bad_request",
    "unprocessable",
    "content",
    "context",
    "payment",
    "credit",
    "quota",
    "not_found",
    "notfound",
    "permission",
];

fn classify(status: Option<u16>, codes: &[String]) -> FailureClass {
    let any = |words: &[&str]| codes.iter().any(|code| words.iter().any(|word| code.contains(word)));
    match status {
        // A quota that is used up for the month is told with the status of a rate limit.
        Some(429) if any(&["insufficient_quota"]) => FailureClass::Refused,
        Some(429) => FailureClass::RateLimited,
        Some(401) => FailureClass::KeyRejected,
        Some(408 | 500..) => FailureClass::Transient,
        Some(300..) => FailureClass::Refused,
        _ if any(&["rate_limit", "ratelimit"]) => FailureClass::RateLimited,
        _ if any(&["authentication", "api_key"]) => FailureClass::KeyRejected,
        _ if any(&["server", "overload", "unavailable", "timeout", "internal"]) => FailureClass::Transient,
        _ if any(&REFUSALS) => FailureClass::Refused,
        _ => FailureClass::Transient,
    }
}

/// Reads `retry-after-ms`, or `Retry-After` in seconds or as a date. A date is compared with the provider's own clock
/// where its answer shows that, because ours may be wrong.
fn wait_of(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let text = |value: &HeaderValue| value.to_str().ok().map(|text| text.trim().to_owned());
    let date = |text: String| rfc2822::parse(&text).ok().map(|date| date.timestamp());
    let milliseconds = headers.get("retry-after-ms").and_then(text).and_then(|text| text.parse::<f64>().ok());
    if let Some(wait) = milliseconds.and_then(|milliseconds| seconds(milliseconds / 1000.0)) {
        return Some(wait);
    }
    let after = headers.get(RETRY_AFTER).and_then(text)?;
    if let Ok(number) = after.parse() {
        return seconds(number);
    }
    let now = headers.get(DATE).and_then(text).and_then(date).unwrap_or(now);
    seconds(now.duration_until(date(after)?).as_secs_f64().max(0.0))
}

fn seconds(number: f64) -> Option<Duration> {
    (number >= 0.0).then(|| Duration::from_secs_f64(number.min(LONGEST_WAIT.as_secs_f64())))
}

fn shortened(message: &str) -> String {
    let words: Vec<&str> = message.split_whitespace().collect();
    let line = words.join(" ");
    if line.chars().count() <= MAX_CHARS {
        return line;
    }
    line.chars().take(MAX_CHARS - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests;
