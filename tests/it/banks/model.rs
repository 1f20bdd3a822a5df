//! A model files updates; where it does not answer, or answers what is not possible, rules do.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;

use super::*;
use crate::llm_server::{LlmServer, Reply};

fn proposal(file: &str, content: &str) -> String {
    let metadata = json!({"section": "Decisions", "category": "decision", "tags": ["storage"], "importance": "high", "relations": []});
    let operation = json!({"target_file": file, "operation_type": "append", "content": content, "metadata": metadata});
    json!({"operations": [operation]}).to_string()
}

#[test]
fn a_model_files_an_update_and_what_it_answers_wrongly_rules_file_and_say_so() {
    let count = Arc::new(AtomicUsize::new(0));
    let server = LlmServer::new(Duration::ZERO, move |asked| match asked.purpose() {
        "bank" => match count.fetch_add(1, Ordering::SeqCst) {
            0 => Reply::Text(proposal("systemPatterns.md", "- The model chose SQLite here.")),
            1 => Reply::Text(proposal("../../etc/passwd.md", "- It leaves the bank.")),
            2 => Reply::Text("no JSON at all".into()),
            _ => Reply::error(500, "down"),
        },
        _ => Reply::error(400, "not asked for"),
    });
    let place = Place::new();
    let config = format!(
        "mcp.toolsets = ['banks']\nbanks.llm = true\nbackground.daily_token_cap = 10000000\n[llm]\nprovider = 'responses'\nbase_url = '{}'\nmodel = 'm'\nretry.max_retries = 0\n",
        server.base_url()
    );
    place.write("config/reasoning-bank/config.toml", &config);
    let mut process = McpProcess::initialized(&place, &[]);
    let coding = json!({"conversation_type": "coding"});
    process.call("activate", coding.clone());
    let said = |n: u32| format!("We decided to use engine number {n} because it needs no server.");
    let first = process.call("update", json!({"content": said(1)}));
    assert_eq!(first["applied"][0]["target_file"], "systemPatterns.md", "{first}");
    assert_eq!(first["previous_errors"], json!([]));
    let asked = server.asked_to("bank");
    assert!(asked[0].input().contains("Decisions") && asked[0].input().contains(&said(1)), "{}", asked[0].input());
    for n in 2..=4 {
        let updated = process.call("update", json!({"content": said(n)}));
        assert_eq!(updated["status"], "success", "{updated}");
        let told = updated["previous_errors"].to_string();
        assert!(told.contains("rules filed the text") && told.contains("warning"), "{n}: {told}");
    }
    let bank = text_of(&process.call("activate", coding));
    assert!(bank.contains("The model chose SQLite here."), "{bank}");
    for n in 2..=4 {
        assert_eq!(bank.matches(&said(n)).count(), 1, "{n}: {bank}");
    }
    assert!(!bank.contains("It leaves the bank"));
    process.kill();
}
