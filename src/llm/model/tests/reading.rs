//! Tests of what goes to an endpoint, and of what its answers are read as.

use proptest::prelude::*;
use reasoning_bank_actors::ports::Usage;
use reasoning_bank_domain::solve::answer::FinishReason;
use rstest::rstest;
use serde_json::json;

use super::*;

type Read = fn(&Value, EndpointQuestion<'_>) -> Result<EndpointAnswer, ProviderFailure>;

/// Returns the text of the answer, or the class and reason of the failure.
fn read(read: Read, body: &Value) -> Result<(String, FinishReason), ModelError> {
    let completion = completion(Purpose::Think);
    let answer =
        read(body, question(&completion, false)).map_err(|failure| failure.told(&Redaction::of(None)).error)?;
    Ok((answer.text, answer.ended))
}

#[test]
fn requests_of_the_responses_api() {
    let (think, judge) = (completion(Purpose::Think), completion(Purpose::Evaluate));
    insta::assert_json_snapshot!("responses_draft", responses::request(question(&think, false)));
    insta::assert_json_snapshot!("openrouter_structured", responses::request(question(&judge, true)));
}

#[test]
fn requests_of_the_chat_completions_api() {
    let (think, judge) = (completion(Purpose::Think), completion(Purpose::Evaluate));
    insta::assert_json_snapshot!("chat_draft", chat::request(question(&think, false)));
    insta::assert_json_snapshot!("chat_structured", chat::request(question(&judge, false)));
}

#[rstest]
#[case::parts(json!({"status": "completed", "output": [
    {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]},
    {"type": "something_new", "content": [{"type": "output_text", "text": "not this"}]},
    message(json!([{"type": "output_text", "text": "let x "}, {"type": "mystery"}, {"type": "output_text", "text": "= 1;"}]))],
    "brand_new_field": {}}), "let x = 1;", FinishReason::Whole)]
#[case::convenience(json!({"output": [], "output_text": "short cut"}), "short cut", FinishReason::Whole)]
#[case::unknown_status(json!({"status": "shiny", "output": [message(json!("text"))]}), "text", FinishReason::Whole)]
#[case::null_error(json!({"error": null, "output": [message(json!([{"type": "text", "text": "a"}]))]}), "a", FinishReason::Whole)]
#[case::cut_off(json!({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"},
    "output": [message(json!([{"type": "output_text", "text": "half"}]))]}), "half", FinishReason::AtLimit)]
#[case::filtered(json!({"status": "incomplete", "incomplete_details": {"reason": "content_filter"},
    "output": [message(json!([{"type": "output_text", "text": "half"}]))]}), "half", FinishReason::Filtered)]
#[case::eaten_by_reasoning(json!({"status": "incomplete", "output": [{"type": "reasoning"}]}), "", FinishReason::AtLimit)]
#[case::thinking_aloud(json!({"output": [message(json!("<think>hm</think>\n\ndone"))]}), "done", FinishReason::Whole)]
#[case::the_end_of_a_tag(json!({"output": [message(json!("a\n</think>\n\nb"))]}), "b", FinishReason::Whole)]
fn answers_of_the_responses_api(#[case] body: Value, #[case] text: &str, #[case] ended: FinishReason) {
    assert_eq!(read(responses::read, &body), Ok((text.to_owned(), ended)));
}

#[rstest]
#[case::text(json!({"choices": [{"message": {"content": "done"}, "finish_reason": "stop"}]}), "done", FinishReason::Whole)]
#[case::parts(json!({"choices": [{"message": {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}}]}),
    "ab", FinishReason::Whole)]
#[case::reasoning(json!({"choices": [{"message": {"content": "done", "reasoning_content": "hm"}}]}), "done", FinishReason::Whole)]
#[case::thinking_aloud(json!({"choices": [{"message": {"content": "<think>\nhm\n</think>\ndone"}}]}), "done", FinishReason::Whole)]
#[case::thinking_opened_by_the_template(chat_text("hm\n</think>\n\ndone"), "done", FinishReason::Whole)]
#[case::the_end_of_a_tag_within_a_line(
    chat_text("split at </think>\n\nand b"),
    "split at </think>\n\nand b",
    FinishReason::Whole
)]
#[case::thinking_without_an_empty_line(chat_text("a\n</think>\nb"), "b", FinishReason::Whole)]
#[case::the_end_of_a_tag_in_code(
    chat_text("```\na\n</think>\n\nb\n```"),
    "```\na\n</think>\n\nb\n```",
    FinishReason::Whole
)]
#[case::the_end_of_a_tag_in_json(
    chat_text(r#"{"a": "b\n</think>\n\nc"}"#),
    r#"{"a": "b\n</think>\n\nc"}"#,
    FinishReason::Whole
)]
#[case::nothing_but_a_thought(chat_text("a\n</think>\n\n"), "", FinishReason::Whole)]
#[case::thinking_without_end(json!({"choices": [{"message": {"content": "<think>hm"}, "finish_reason": "length"}]}), "", FinishReason::AtLimit)]
#[case::a_tag_in_code(json!({"choices": [{"message": {"content": "strip(\"<think>x</think>\")"}}]}),
    "strip(\"<think>x</think>\")", FinishReason::Whole)]
#[case::length(json!({"choices": [{"message": {"content": "half"}, "finish_reason": "length"}]}), "half", FinishReason::AtLimit)]
#[case::filter(json!({"choices": [{"message": {"content": null}, "finish_reason": "content_filter"}]}), "", FinishReason::Filtered)]
fn answers_of_the_chat_completions_api(#[case] body: Value, #[case] text: &str, #[case] ended: FinishReason) {
    assert_eq!(read(chat::read, &body), Ok((text.to_owned(), ended)));
}

fn chat_text(text: &str) -> Value {
    json!({"choices": [{"message": {"content": text}}]})
}

fn transient(message: &str) -> ModelError {
    ModelError::Transient { message: message.to_owned(), retry_after: None }
}

#[rstest]
#[case(responses::read as Read, json!({"output": [message(json!([{"type": "refusal", "refusal": "I will not"}]))]}),
    ModelError::Refused("I will not".into()))]
#[case(chat::read, json!({"choices": [{"message": {"content": null, "refusal": "I will not"}}]}),
    ModelError::Refused("I will not".into()))]
#[case(responses::read, json!({"status": "failed", "error": {"code": "server_error", "message": "broke"}}), transient("broke"))]
#[case(responses::read, json!({"status": "failed", "error": {"code": "invalid_prompt", "message": "bad"}}),
    ModelError::Refused("bad".into()))]
#[case(responses::read, json!({"status": "cancelled"}), transient("the answer is cancelled, without a reason"))]
#[case(responses::read, json!({"status": "in_progress", "output": []}), transient("the answer is in_progress"))]
#[case(responses::read, json!({}), transient("the answer holds no output"))]
#[case(chat::read, json!({"choices": []}), transient("the answer holds no message"))]
#[case(chat::read, json!({"error": {"code": 502, "message": "upstream"}}), transient("upstream"))]
#[case(chat::read, json!({"choices": [{"error": {"code": 502, "message": "upstream"}, "finish_reason": "error"}]}),
    transient("upstream"))]
#[case(chat::read, json!({"choices": [{"message": {"content": "half"}, "finish_reason": "error"}]}),
    transient("the answer broke off with an error, without a reason"))]
fn what_is_no_answer_is_an_error_of_its_class(#[case] of: Read, #[case] body: Value, #[case] error: ModelError) {
    assert_eq!(read(of, &body), Err(error));
}

#[rstest]
#[case(json!({"input_tokens": 5, "output_tokens": 7, "output_tokens_details": {"reasoning_tokens": 3}, "cost": 0.25}),
    Usage { input_tokens: 5, output_tokens: 7, reasoning_tokens: 3, cost_usd: Some(0.25) })]
#[case(json!({"prompt_tokens": 5.0, "completion_tokens": 7, "completion_tokens_details": {"reasoning_tokens": 3}}),
    Usage { input_tokens: 5, output_tokens: 7, reasoning_tokens: 3, cost_usd: None })]
// o200k: 4 tokens each for "You solve tasks." and "Sort a list.", 3 for the answer.
#[case(json!(null), Usage { input_tokens: 8, output_tokens: 3, ..Usage::default() })]
#[case(json!({"input_tokens": 1e30, "output_tokens": u64::MAX, "cost": 1e300}),
    Usage { input_tokens: 4_294_967_295, output_tokens: 4_294_967_295, reasoning_tokens: 0, cost_usd: Some(4_294_967_295.0) })]
#[case(json!({"input_tokens": 0, "output_tokens": "seven", "cost": "free"}),
    Usage { input_tokens: 8, output_tokens: 3, ..Usage::default() })]
fn usage_is_read_under_either_naming_and_estimated_where_it_is_not_said(#[case] usage: Value, #[case] expected: Usage) {
    let completion = completion(Purpose::Think);
    let body = json!({"output_text": "one two three", "output": [], "usage": usage});
    assert_eq!(responses::read(&body, question(&completion, false)).unwrap().usage, expected);
    let body = json!({"choices": [{"message": {"content": "one two three"}}], "usage": usage});
    assert_eq!(chat::read(&body, question(&completion, false)).unwrap().usage, expected);
}

/// Makes JSON of the names and words that answers are made of, in places where they do not belong.
fn any_json() -> impl Strategy<Value = Value> {
    const WORDS: &[&str] =
        &["message", "output_text", "failed", "incomplete", "<think>", "</think>", "stop", "length", "429", "text", ""];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        prop::sample::select(WORDS).prop_map(Value::from),
        "\\PC{0,20}".prop_map(Value::from),
    ];
    const NAMES: &[&str] = &[
        "output",
        "output_text",
        "type",
        "content",
        "text",
        "refusal",
        "status",
        "error",
        "code",
        "message",
        "metadata",
        "raw",
        "choices",
        "finish_reason",
        "usage",
        "input_tokens",
        "completion_tokens",
        "output_tokens_details",
        "reasoning_tokens",
        "cost",
        "retry_after_seconds",
        "param",
    ];
    leaf.prop_recursive(6, 96, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(prop::sample::select(NAMES), inner, 0..6)
                .prop_map(|fields| fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()),
        ]
    })
}

proptest! {
    #[test]
    fn no_json_panics_a_reader(body in any_json()) {
        let _ = read(responses::read, &body);
        let _ = read(chat::read, &body);
        let _ = ProviderFailure::inside(&body);
        let text = body.to_string();
        let _ = ProviderFailure::of_response(429, &reqwest::header::HeaderMap::new(), text.as_bytes());
    }
}
