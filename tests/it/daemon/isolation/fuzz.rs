//! Tests with requests that no client would send, by the thousand: each begins as a call that fits a schema, and is
//! then changed in places that a seeded generator picks. Whatever comes, the daemon answers, without a fault of its
//! own, and nothing of the other team is shown or changed.

use proptest::prelude::RngExt;
use proptest::test_runner::{RngAlgorithm, TestRng};

use reqwest::Method;
use reqwest::header::{HeaderName, HeaderValue};
use serde_json::{Value, json};

use super::surface::{Answer, Call, Request, Surface, percent_encoded, slots};
use super::tenants::{CANARY, Tenants, UNANSWERED};

/// The number of requests that are sent, and of those that are sent at once.
const REQUESTS: usize = 10_000;
const AT_ONCE: usize = 8;

const HEADERS: [&str; 14] = [
    "x-workspace",
    "mcp-session-id",
    "mcp-protocol-version",
    "mcp-method",
    "mcp-name",
    "last-event-id",
    "content-type",
    "accept",
    "if-match",
    "if-none-match",
    "x-request-id",
    "x-forwarded-for",
    "origin",
    "idempotency-key",
];

const TEXTS: [&str; 22] = [
    "",
    " ",
    "\0",
    "null",
    "../..",
    "/etc/passwd",
    "%2e%2e%2f",
    "' OR 1=1 --",
    "\" or \"\"=\"",
    "{{7*7}}",
    "\u{202e}txt",
    "é",
    "\u{1f980}",
    "\u{fffd}",
    "-1",
    "1e309",
    "NaN",
    "*",
    "2026-07-28",
    "2025-11-25",
    "application/json",
    "text/event-stream",
];

struct Fuzz {
    random: TestRng,
    /// The words and ids of the other team, and some of this one.
    values: Vec<String>,
}

impl Fuzz {
    fn below(&mut self, bound: usize) -> usize {
        self.random.random_range(0..bound)
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn value_of_somebody(&mut self) -> String {
        let at = self.below(self.values.len());
        self.values[at].clone()
    }

    fn text(&mut self) -> String {
        match self.below(8) {
            0..3 => self.value_of_somebody(),
            3..6 => TEXTS[self.below(TEXTS.len())].to_owned(),
            6 => {
                let some = self.value_of_somebody();
                let cut = some.char_indices().nth(self.below(some.len())).map_or(0, |(at, _)| at);
                some[cut..].to_owned()
            }
            _ => "x".repeat(1 << self.below(15)),
        }
    }

    fn value(&mut self) -> Value {
        match self.below(10) {
            0 => Value::Null,
            1 => json!(self.one_in(2)),
            2 => json!(self.random.random::<u64>()),
            3 => json!(-(self.below(1 << 30) as i64)),
            4 => json!(f64::MAX),
            5 => json!([]),
            6 => json!({}),
            7 => (0..self.below(64)).fold(json!("deep"), |inner, _| json!([inner])),
            _ => json!(self.text()),
        }
    }

    /// Changes some part of a document.
    fn change(&mut self, document: &mut Value) {
        let deeper = !self.one_in(4);
        match document {
            Value::Object(fields) if !fields.is_empty() && deeper => {
                let name = fields.keys().nth(self.below(fields.len())).unwrap().clone();
                match self.below(8) {
                    0 => drop(fields.remove(&name)),
                    1 => drop(fields.insert(self.text(), self.value())),
                    _ => self.change(&mut fields[&name]),
                }
            }
            Value::Array(items) if !items.is_empty() && deeper => {
                let at = self.below(items.len());
                match self.below(6) {
                    0 => items.push(items[at].clone()),
                    _ => self.change(&mut items[at]),
                }
            }
            _ => *document = self.value(),
        }
    }

    fn request(&mut self, tenants: &Tenants, call: &Call) -> Request {
        let slots = slots(call);
        let mut request = match slots.is_empty() || self.one_in(3) {
            true => call.request(tenants),
            false => {
                let value = self.text().replace(|c: char| c.is_control() || !c.is_ascii(), "?");
                call.with(tenants, &slots[self.below(slots.len())], &value)
            }
        };
        if let Some(body) = &mut request.body {
            for _ in 0..self.below(3) {
                self.change(body);
            }
        }
        for _ in 0..self.below(3) {
            let name = HeaderName::from_static(HEADERS[self.below(HEADERS.len())]);
            match HeaderValue::from_bytes(self.text().as_bytes()) {
                Ok(value) if !self.one_in(3) => drop(request.headers.insert(name, value)),
                _ => drop(request.headers.remove(name)),
            }
        }
        if self.one_in(10) {
            let methods =
                [Method::GET, Method::PUT, Method::POST, Method::PATCH, Method::DELETE, Method::HEAD, Method::OPTIONS];
            request.method = methods[self.below(methods.len())].clone();
        }
        if self.one_in(10) {
            let more = percent_encoded(&self.text());
            let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
            request.path = match self.below(3) {
                0 => format!("{path}/{more}?{query}"),
                1 => format!("{path}?{query}&{more}={more}"),
                _ => path[..self.below(path.len()).max(1)].to_owned(),
            };
        }
        request
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_request_makes_the_daemon_fail_or_tell_of_another_team() {
    let tenants = Tenants::start().await;
    let surface = Surface::of(&tenants).await;
    let before = tenants.listing_of_the_other_team().await;
    let values: Vec<String> =
        [true, false].iter().flat_map(|is_id| tenants.foreign_values(*is_id, true)).cloned().collect();
    let values = values.into_iter().chain([tenants.own_id.clone(), tenants.session().to_owned(), "own-shop".into()]);
    let mut fuzz = Fuzz { random: TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]), values: values.collect() };
    let (mut sent, mut succeeded, mut unanswered) = (0, 0, 0);
    while sent < REQUESTS {
        let requests: Vec<Request> = (0..AT_ONCE)
            .map(|_| {
                let call = &surface.calls[fuzz.below(surface.calls.len())];
                fuzz.request(&tenants, call)
            })
            .collect();
        let answers = futures::future::join_all(requests.iter().map(|request| tenants.send(request))).await;
        for (request, Answer { status, text }) in requests.iter().zip(answers) {
            let Request { method, path, headers, body } = request;
            let said = || format!("{method} {path}\n{headers:?}\n{body:?}\n{status}: {text}");
            assert!(!status.is_server_error() || status == 503, "{}", said());
            assert!(!text.contains(CANARY), "{}", said());
            succeeded += usize::from(status.is_success());
            unanswered += usize::from(text == UNANSWERED);
        }
        sent += AT_ONCE;
    }
    assert!(succeeded > REQUESTS / 20, "{succeeded} of {sent} came through: the rest tests nothing behind the edge");
    assert!(unanswered <= REQUESTS / 1_000, "{unanswered}");
    assert_eq!(before, tenants.listing_of_the_other_team().await, "the other team has what it had");
    let log = tenants.log();
    assert!(!log.contains("panicked"), "{}", log.lines().filter(|line| line.contains("panic")).collect::<String>());
}
