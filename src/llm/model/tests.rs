use std::time::Duration;

use proptest::prelude::*;
use reasoning_bank_actors::ports::Usage;
use reasoning_bank_domain::answer::Ended;
use reasoning_bank_domain::ids::TaskId;
use reqwest::Url;
use rstest::rstest;
use serde_json::json;
use wiremock::matchers::{header, method, path};
use wiremock::{Mock, MockServer, Request, ResponseTemplate};

use super::super::client::Connection;
use super::super::parameters::Parameters;
use super::super::redaction::Redaction;
use super::*;

fn completion(purpose: Purpose) -> Completion {
    Completion {
        purpose,
        task_id: TaskId::from(uuid::Uuid::nil()),
        attempt: Some(2),
        instructions: "You solve tasks.".into(),
        input: "Sort a list.".into(),
        max_output_tokens: 100,
    }
}

fn question(completion: &Completion, openrouter: bool) -> Question<'_> {
    let without = Parameters::default();
    Question { completion, model: "a/model", effort: "medium", openrouter, without }
}

type Read = fn(&Value, Question<'_>) -> Result<Answer, Failure>;

/// What the answer says, or the class and reason of the failure.
fn read(read: Read, body: &Value) -> Result<(String, Ended), ModelError> {
    let completion = completion(Purpose::Think);
    let answer = read(body, question(&completion, false)).map_err(|failure| failure.told(&Redaction::of(None)))?;
    Ok((answer.text, answer.ended))
}

fn message(content: Value) -> Value {
    json!({"type": "message", "role": "assistant", "content": content})
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
    "brand_new_field": {}}), "let x = 1;", Ended::Whole)]
#[case::convenience(json!({"output": [], "output_text": "short cut"}), "short cut", Ended::Whole)]
#[case::unknown_status(json!({"status": "shiny", "output": [message(json!("text"))]}), "text", Ended::Whole)]
#[case::null_error(json!({"error": null, "output": [message(json!([{"type": "text", "text": "a"}]))]}), "a", Ended::Whole)]
#[case::cut_off(json!({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"},
    "output": [message(json!([{"type": "output_text", "text": "half"}]))]}), "half", Ended::AtLimit)]
#[case::filtered(json!({"status": "incomplete", "incomplete_details": {"reason": "content_filter"},
    "output": [message(json!([{"type": "output_text", "text": "half"}]))]}), "half", Ended::Filtered)]
#[case::eaten_by_reasoning(json!({"status": "incomplete", "output": [{"type": "reasoning"}]}), "", Ended::AtLimit)]
#[case::thinking_aloud(json!({"output": [message(json!("<think>hm</think>\n\ndone"))]}), "done", Ended::Whole)]
#[case::the_end_of_a_tag(json!({"output": [message(json!("a\n</think>\n\nb"))]}), "b", Ended::Whole)]
fn answers_of_the_responses_api(#[case] body: Value, #[case] text: &str, #[case] ended: Ended) {
    assert_eq!(read(responses::read, &body), Ok((text.to_owned(), ended)));
}

#[rstest]
#[case::text(json!({"choices": [{"message": {"content": "done"}, "finish_reason": "stop"}]}), "done", Ended::Whole)]
#[case::parts(json!({"choices": [{"message": {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}}]}),
    "ab", Ended::Whole)]
#[case::reasoning(json!({"choices": [{"message": {"content": "done", "reasoning_content": "hm"}}]}), "done", Ended::Whole)]
#[case::thinking_aloud(json!({"choices": [{"message": {"content": "<think>\nhm\n</think>\ndone"}}]}), "done", Ended::Whole)]
#[case::thinking_opened_by_the_template(chat_text("hm\n</think>\n\ndone"), "done", Ended::Whole)]
#[case::the_end_of_a_tag_within_a_line(
    chat_text("split at </think>\n\nand b"),
    "split at </think>\n\nand b",
    Ended::Whole
)]
#[case::thinking_without_an_empty_line(chat_text("a\n</think>\nb"), "b", Ended::Whole)]
#[case::the_end_of_a_tag_in_code(chat_text("```\na\n</think>\n\nb\n```"), "```\na\n</think>\n\nb\n```", Ended::Whole)]
#[case::the_end_of_a_tag_in_json(
    chat_text(r#"{"a": "b\n</think>\n\nc"}"#),
    r#"{"a": "b\n</think>\n\nc"}"#,
    Ended::Whole
)]
#[case::nothing_but_a_thought(chat_text("a\n</think>\n\n"), "", Ended::Whole)]
#[case::thinking_without_end(json!({"choices": [{"message": {"content": "<think>hm"}, "finish_reason": "length"}]}), "", Ended::AtLimit)]
#[case::a_tag_in_code(json!({"choices": [{"message": {"content": "strip(\"<think>x</think>\")"}}]}),
    "strip(\"<think>x</think>\")", Ended::Whole)]
#[case::length(json!({"choices": [{"message": {"content": "half"}, "finish_reason": "length"}]}), "half", Ended::AtLimit)]
#[case::filter(json!({"choices": [{"message": {"content": null}, "finish_reason": "content_filter"}]}), "", Ended::Filtered)]
fn answers_of_the_chat_completions_api(#[case] body: Value, #[case] text: &str, #[case] ended: Ended) {
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

/// JSON made of the names and words that answers are made of, in places where they do not belong.
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
        let _ = Failure::inside(&body);
        let text = body.to_string();
        let _ = Failure::of_response(429, &reqwest::header::HeaderMap::new(), text.as_bytes());
    }
}

fn model(server: &MockServer, api: Api) -> HttpModel {
    let base_url = Url::parse(&format!("{}/v1/", server.uri())).unwrap();
    let connection = Connection { base_url, key: Some("sk-test-key".into()), attributed: api == Api::Openrouter };
    let models = Models { judge: "cheap/judge".into(), ..Models::all("a/model") };
    HttpModel::new(Client::new(connection).unwrap(), api, models, "medium")
}

async fn ask(model: &HttpModel, purpose: Purpose) -> Result<CompletionReply, ModelError> {
    let deadline = Deadline::after(Duration::from_secs(20));
    model.complete(completion(purpose), deadline, CancellationToken::new()).await
}

fn answer(api: Api, text: &str) -> Value {
    match api {
        Api::Chat => json!({"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}),
        Api::Openrouter | Api::Responses => json!({"status": "completed", "output": [message(json!(text))]}),
    }
}

fn refusal(status: u16, message: &str, parameter: Option<&str>) -> ResponseTemplate {
    ResponseTemplate::new(status).set_body_json(json!({"error": {"message": message, "param": parameter}}))
}

#[rstest]
#[case(Api::Openrouter, "/v1/responses")]
#[case(Api::Responses, "/v1/responses")]
#[case(Api::Chat, "/v1/chat/completions")]
#[tokio::test]
async fn a_call_goes_to_the_path_of_the_api_with_the_key_and_the_model_of_its_purpose(
    #[case] api: Api,
    #[case] expected: &str,
) {
    let server = MockServer::start().await;
    Mock::given(method("POST"))
        .and(path(expected))
        .and(header("authorization", "Bearer sk-test-key"))
        .and(header("accept", "application/json"))
        .respond_with(move |request: &Request| {
            let body: Value = request.body_json().unwrap();
            assert_eq!(request.headers.contains_key("x-openrouter-title"), api == Api::Openrouter);
            ResponseTemplate::new(200).set_body_json(answer(api, body["model"].as_str().unwrap()))
        })
        .mount(&server)
        .await;
    let model = model(&server, api);
    assert_eq!(ask(&model, Purpose::Think).await.unwrap().text, "a/model");
    assert_eq!(ask(&model, Purpose::Judge).await.unwrap().text, "cheap/judge");
    assert_eq!(model.model_for(Purpose::Judge), "cheap/judge");
}

/// Refuses every parameter that not every endpoint takes, one after another.
fn picky(request: &Request) -> ResponseTemplate {
    let body: Value = request.body_json().unwrap();
    if body.get("temperature").is_some() {
        return refusal(400, "Unsupported parameter: not supported with this model.", Some("temperature"));
    }
    if body.get("reasoning_effort").is_some() {
        return refusal(400, "\"a\" does not support thinking", None);
    }
    if body.get("metadata").is_some() {
        return ResponseTemplate::new(422)
            .set_body_json(json!({"detail": [{"type": "extra_forbidden", "loc": ["body", "metadata"]}]}));
    }
    if body.get("response_format").is_some() {
        return refusal(400, "Invalid parameter: 'response_format' of type 'json_schema' is not supported", None);
    }
    if body.get("max_tokens").is_some() {
        let message = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.";
        return refusal(400, message, Some("max_tokens"));
    }
    assert_eq!(body["max_completion_tokens"], 100);
    ResponseTemplate::new(200).set_body_json(answer(Api::Chat, "done"))
}

#[tokio::test]
async fn a_parameter_that_is_refused_is_left_out_from_then_on() {
    let server = MockServer::start().await;
    Mock::given(method("POST")).respond_with(picky).mount(&server).await;
    let model = model(&server, Api::Chat);
    assert_eq!(ask(&model, Purpose::Evaluate).await.unwrap().text, "done");
    assert_eq!(server.received_requests().await.unwrap().len(), 6);
    assert_eq!(ask(&model, Purpose::Evaluate).await.unwrap().text, "done");
    assert_eq!(server.received_requests().await.unwrap().len(), 7);
}

#[tokio::test]
async fn what_one_model_refuses_another_one_is_still_asked_with() {
    let server = MockServer::start().await;
    Mock::given(method("POST"))
        .respond_with(|request: &Request| {
            let body: Value = request.body_json().unwrap();
            let is_sent = body.get("temperature").is_some();
            match body["model"].as_str() {
                Some("cheap/judge") if is_sent => refusal(400, "no temperature", None),
                Some("cheap/judge") => ResponseTemplate::new(200).set_body_json(answer(Api::Chat, "without")),
                _ if is_sent => ResponseTemplate::new(200).set_body_json(answer(Api::Chat, "with")),
                _ => refusal(400, "a temperature is needed", None),
            }
        })
        .mount(&server)
        .await;
    let model = model(&server, Api::Chat);
    for _ in 0..2 {
        assert_eq!(ask(&model, Purpose::Judge).await.unwrap().text, "without");
        assert_eq!(ask(&model, Purpose::Think).await.unwrap().text, "with");
    }
    assert_eq!(server.received_requests().await.unwrap().len(), 5);
}

/// Refuses schemas, as an error inside an answer where `inside` is true, and answers in the right form only if it is told
/// in words what that is.
fn without_schemas(request: &Request, api: Api, inside: bool) -> ResponseTemplate {
    let body: Value = request.body_json().unwrap();
    if body.get("response_format").or(body.get("text")).is_some() {
        let message = "This response_format (text.format) type is unavailable now";
        return match inside {
            true => ResponseTemplate::new(200).set_body_json(
                json!({"error": {"message": message, "type": "invalid_request_error", "code": "invalid_request_error"}}),
            ),
            false => refusal(400, message, None),
        };
    }
    let instructions = body["instructions"].as_str().or(body["messages"][0]["content"].as_str()).unwrap();
    assert!(instructions.starts_with("You solve tasks.\n\nAnswer with one JSON object and nothing else"));
    let is_told = ["\"score\"", "\"feedback\""].iter().all(|field| instructions.contains(field));
    let text = if is_told { r#"{"score": 0.5, "feedback": "so so"}"# } else { "It is quite good." };
    ResponseTemplate::new(200).set_body_json(answer(api, text))
}

#[rstest]
#[tokio::test]
async fn the_form_of_an_answer_is_said_in_words_where_schemas_are_refused(
    #[values(Api::Openrouter, Api::Responses, Api::Chat)] api: Api,
    #[values(true, false)] inside: bool,
) {
    let server = MockServer::start().await;
    Mock::given(method("POST"))
        .respond_with(move |request: &Request| without_schemas(request, api, inside))
        .mount(&server)
        .await;
    let model = model(&server, api);
    for _ in 0..2 {
        assert_eq!(ask(&model, Purpose::Evaluate).await.unwrap().text, r#"{"score": 0.5, "feedback": "so so"}"#);
    }
    assert_eq!(server.received_requests().await.unwrap().len(), 3);
}

#[test]
fn no_effort_is_said_as_well() {
    let think = completion(Purpose::Think);
    let question = Question { effort: "none", ..question(&think, false) };
    assert_eq!(serde_json::to_value(responses::request(question)).unwrap()["reasoning"], json!({"effort": "none"}));
    assert_eq!(serde_json::to_value(chat::request(question)).unwrap()["reasoning_effort"], "none");
}

#[tokio::test]
async fn a_request_that_is_refused_for_itself_is_not_repeated() {
    let server = MockServer::start().await;
    Mock::given(method("POST")).respond_with(refusal(400, "the prompt is too long", None)).mount(&server).await;
    let error = ask(&model(&server, Api::Responses), Purpose::Think).await.unwrap_err();
    assert_eq!(error, ModelError::Refused("HTTP 400: the prompt is too long".into()));
    assert_eq!(server.received_requests().await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_parameter_that_a_refusal_only_mentions_is_left_out_once_and_sent_again_by_the_next_call() {
    let server = MockServer::start().await;
    let message = "temperature is fine, your key sk-test-key is quoted and the prompt is too long";
    Mock::given(method("POST"))
        .respond_with(move |request: &Request| {
            let body: Value = request.body_json().unwrap();
            let named = body.get("temperature").is_some();
            refusal(400, if named { message } else { "the prompt is too long" }, None)
        })
        .mount(&server)
        .await;
    let model = model(&server, Api::Responses);
    assert_eq!(ask(&model, Purpose::Think).await, Err(ModelError::Refused("HTTP 400: the prompt is too long".into())));
    // The temperature was not what it was about, so it is sent again.
    assert!(ask(&model, Purpose::Think).await.is_err());
    assert_eq!(server.received_requests().await.unwrap().len(), 4);
}

#[tokio::test]
async fn openrouter_is_asked_for_any_provider_where_none_knows_every_parameter() {
    let server = MockServer::start().await;
    Mock::given(method("POST"))
        .respond_with(|request: &Request| {
            let body: Value = request.body_json().unwrap();
            match body.get("provider") {
                Some(_) => refusal(404, "No endpoints found that can handle the requested parameters.", None),
                None => {
                    assert_eq!(body["text"]["format"]["type"], "json_schema");
                    // Whoever answers may not know schemas.
                    assert!(body["instructions"].as_str().unwrap().contains("JSON schema"));
                    ResponseTemplate::new(200).set_body_json(answer(Api::Openrouter, "done"))
                }
            }
        })
        .mount(&server)
        .await;
    let model = model(&server, Api::Openrouter);
    assert_eq!(ask(&model, Purpose::Evaluate).await.unwrap().text, "done");
}

#[tokio::test]
async fn an_endpoint_without_the_responses_api_is_told_with_the_way_out() {
    let server = MockServer::start().await;
    let ModelError::Refused(message) = ask(&model(&server, Api::Responses), Purpose::Think).await.unwrap_err() else {
        panic!("another class");
    };
    assert!(message.starts_with("HTTP 404") && message.contains("`--llm chat`"), "{message}");
    Mock::given(method("POST")).respond_with(refusal(404, "model 'x' not found", None)).mount(&server).await;
    let error = ask(&model(&server, Api::Responses), Purpose::Think).await.unwrap_err();
    assert_eq!(error, ModelError::Refused("HTTP 404: model 'x' not found".into()));
}

#[tokio::test]
async fn a_rejected_key_is_told_without_the_key() {
    let server = MockServer::start().await;
    Mock::given(method("POST"))
        .respond_with(refusal(401, "Incorrect API key provided: sk-test-key.", None))
        .mount(&server)
        .await;
    let error = ask(&model(&server, Api::Openrouter), Purpose::Think).await.unwrap_err();
    assert_eq!(error, ModelError::KeyRejected("HTTP 401: Incorrect API key provided: [key].".into()));
}

/// Answers once with this head and what begins a body, then ends the connection.
async fn broken_off(head: &'static str) -> Url {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut request = Vec::new();
        while !request.ends_with(b"}") {
            stream.read_buf(&mut request).await.unwrap();
        }
        stream.write_all(format!("{head}\r\ncontent-length: 100\r\n\r\n{{").as_bytes()).await.unwrap();
    });
    Url::parse(&format!("http://{address}/v1")).unwrap()
}

#[rstest]
#[case("HTTP/1.1 401 X", |error: ModelError| matches!(error, ModelError::KeyRejected(_)))]
#[case("HTTP/1.1 400 X", |error: ModelError| matches!(error, ModelError::Refused(_)))]
#[case("HTTP/1.1 200 X", |error: ModelError| matches!(error, ModelError::Transient { .. }))]
#[tokio::test]
async fn a_status_counts_although_the_reason_breaks_off(
    #[case] head: &'static str,
    #[case] is: fn(ModelError) -> bool,
) {
    let connection = Connection { base_url: broken_off(head).await, key: None, attributed: false };
    let model = HttpModel::new(Client::new(connection).unwrap(), Api::Chat, Models::all("m"), "none");
    assert!(is(ask(&model, Purpose::Think).await.unwrap_err()));
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let (server, other) = (MockServer::start().await, MockServer::start().await);
    let elsewhere = ResponseTemplate::new(307).insert_header("location", format!("{}/v1/responses", other.uri()));
    Mock::given(method("POST")).respond_with(elsewhere).mount(&server).await;
    let error = ask(&model(&server, Api::Responses), Purpose::Think).await.unwrap_err();
    assert!(matches!(error, ModelError::Refused(_)), "{error}");
    assert!(other.received_requests().await.unwrap().is_empty());
}

#[tokio::test]
async fn an_answer_that_is_too_large_is_not_taken_in_and_one_that_is_no_json_may_be_tried_again() {
    let server = MockServer::start().await;
    let huge = ResponseTemplate::new(200).set_body_string("x".repeat(9 << 20));
    Mock::given(method("POST")).respond_with(huge).up_to_n_times(1).mount(&server).await;
    Mock::given(method("POST")).respond_with(ResponseTemplate::new(200).set_body_string("<html>")).mount(&server).await;
    let model = model(&server, Api::Chat);
    assert!(matches!(ask(&model, Purpose::Think).await, Err(ModelError::InvalidOutput(m)) if m.contains("8 MiB")));
    assert!(
        matches!(ask(&model, Purpose::Think).await, Err(ModelError::Transient { message, .. }) if message.contains("no JSON"))
    );
}

#[tokio::test]
async fn a_server_that_is_not_there_may_be_tried_again() {
    let server = MockServer::start().await;
    let model = model(&server, Api::Chat);
    // The port of `discard`, which nobody serves.
    let base_url = Url::parse("http://127.0.0.1:9/v1").unwrap();
    let client = Client::new(Connection { base_url, key: None, attributed: false }).unwrap();
    let nobody = HttpModel::new(client, Api::Chat, Models::all("m"), "none");
    let error = ask(&nobody, Purpose::Think).await.unwrap_err();
    assert!(
        matches!(&error, ModelError::Transient { message, .. } if message.starts_with("127.0.0.1 gave no answer")),
        "{error}"
    );
    let cancelled = CancellationToken::new();
    cancelled.cancel();
    let late = Deadline::after(Duration::ZERO);
    assert_eq!(
        model.complete(completion(Purpose::Think), late, CancellationToken::new()).await,
        Err(ModelError::TimedOut)
    );
    let soon = Deadline::after(Duration::from_secs(20));
    assert_eq!(model.complete(completion(Purpose::Think), soon, cancelled).await, Err(ModelError::Cancelled));
}

#[test]
fn a_thought_before_json_is_cut_off_wherever_it_ends_and_json_is_left_alone() {
    let json = r#"{"score": 0.8, "feedback": "ok"}"#;
    for thought in ["{hm}</think>", "hm\n</think>\n\n", "```\nhm </think>"] {
        assert_eq!(super::super::wire::without_thinking(&format!("{thought}{json}"), true), json);
    }
    let quoting = r#"{"score": 0.8, "feedback": "mind the </think> {tag}"}"#;
    assert_eq!(super::super::wire::without_thinking(quoting, true), quoting);
}
