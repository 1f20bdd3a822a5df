//! A provider that says secrets in all its answers, and quotes the key when it fails.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use wiremock::matchers::{method, path};
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate};

use super::{KEY, OTHER_KEY};

/// Answers as a model of OpenRouter would, with secrets in everything it says; now and then it fails, and quotes the
/// request and its key.
struct Leaky {
    secrets: String,
    calls: AtomicUsize,
}

impl Leaky {
    fn lesson(&self, title: &str) -> Value {
        json!({
            "title": title,
            "description": "When a client has to log in.",
            "content": format!("Read the credentials at run time. Never:\n{}", &self.secrets[..self.secrets.floor_char_boundary(1_500)]),
            "pattern_tags": ["token=9aB8cD7eF6gH5iJ4"],
            "domain_category": "auth",
            "difficulty_level": "moderate",
            "error_context": null,
        })
    }
}

/// The one lesson that is kept: those with a secret are not, replaced or not.
fn clean() -> Value {
    json!({
        "title": "Read credentials at run time", "description": "When a client has to log in.",
        "content": "Take them from the environment and keep them out of code and logs.", "pattern_tags": [],
        "domain_category": "auth", "difficulty_level": "moderate", "error_context": null,
    })
}

impl Respond for Leaky {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        let asked: Value = serde_json::from_slice(&request.body).unwrap();
        if call % 5 == 3 {
            let authorization = request.headers.get("authorization").unwrap().to_str().unwrap();
            let message = format!("cannot serve {authorization} nor {OTHER_KEY}\n{}", self.secrets);
            return ResponseTemplate::new(503).set_body_json(json!({"error": {"code": 503, "message": message}}));
        }
        let secrets = &self.secrets;
        let said = match asked["metadata"]["purpose"].as_str().unwrap() {
            "think" | "refine" => format!("fn login() {{}} // attempt {call}\n{secrets}"),
            "evaluate" => json!({"score": 0.9, "feedback": secrets}).to_string(),
            "judge" => json!({
                "verdict": "success", "score": 0.9, "reasoning": secrets, "learnings": [self.lesson("Log in at run time"), clean()],
            })
            .to_string(),
            "distill" => json!({"learnings": [self.lesson("Fetch credentials late"), clean()]}).to_string(),
            _ => json!({
                "best_index": 1, "analysis": secrets,
                "learnings": [
                    self.lesson("Fetch credentials late"), self.lesson(&"password=hunter2hunter ".repeat(4)), clean(),
                ],
            })
            .to_string(),
        };
        let message = json!({"type": "message", "content": [{"type": "output_text", "text": said}]});
        let usage = json!({"input_tokens": 10, "output_tokens": 10});
        ResponseTemplate::new(200).set_body_json(json!({"status": "completed", "output": [message], "usage": usage}))
    }
}

pub(super) struct Provider {
    runtime: tokio::runtime::Runtime,
    server: MockServer,
}

impl Provider {
    pub(super) fn start(secrets: String) -> Self {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let server = runtime.block_on(async {
            let server = MockServer::start().await;
            let leaky = Leaky { secrets, calls: AtomicUsize::new(0) };
            Mock::given(method("POST")).and(path("/responses")).respond_with(leaky).mount(&server).await;
            let account = json!({"data": {"label": KEY, "limit": null}});
            let account = ResponseTemplate::new(200).set_body_json(account);
            Mock::given(method("GET")).and(path("/key")).respond_with(account).mount(&server).await;
            server
        });
        Self { runtime, server }
    }

    pub(super) fn uri(&self) -> String {
        self.server.uri()
    }

    pub(super) fn requests(&self) -> Vec<Request> {
        self.runtime.block_on(self.server.received_requests()).unwrap()
    }
}
