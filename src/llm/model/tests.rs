use std::time::Duration;

use reasoning_bank_domain::memory::ids::TaskId;
use reasoning_bank_domain::memory::workspace::WorkspaceId;
use reqwest::Url;
use rstest::rstest;
use serde_json::json;
use wiremock::matchers::{header, method, path};
use wiremock::{Mock, MockServer, Request, ResponseTemplate};

use super::super::client::Connection;
use super::super::parameters::Parameters;
use super::super::redaction::Redaction;
use super::*;

mod reading;

fn completion(purpose: Purpose) -> Completion {
    Completion {
        purpose,
        workspace_id: WorkspaceId::of_root("/project"),
        task_id: TaskId::from(uuid::Uuid::nil()),
        attempt: Some(2),
        instructions: "You solve tasks.".into(),
        input: "Sort a list.".into(),
        max_output_tokens: 100,
    }
}

fn question(completion: &Completion, openrouter: bool) -> EndpointQuestion<'_> {
    let without = Parameters::default();
    EndpointQuestion { completion, model: "a/model", effort: "medium", openrouter, without }
}

fn message(content: Value) -> Value {
    json!({"type": "message", "role": "assistant", "content": content})
}

fn model(server: &MockServer, api: Api) -> HttpModel {
    let base_url = Url::parse(&format!("{}/v1/", server.uri())).unwrap();
    let connection = Connection { base_url, key: Some("sk-test-key".into()), attributed: api == Api::Openrouter };
    let models = Models { judge: "cheap/judge".into(), ..Models::all("a/model") };
    HttpModel::new(Client::new(connection).unwrap(), api, models, "medium")
}

async fn ask(model: &HttpModel, purpose: Purpose) -> Result<CompletionReply, ModelError> {
    let deadline = Deadline::after(Duration::from_secs(20));
    let answer = model.complete(completion(purpose), deadline, CancellationToken::new()).await;
    answer.map_err(|failed| failed.error)
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

/// Refuses schemas, as an error inside an answer where `inside` is true, and answers in the right form only if it is
/// told in words what that is.
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
    let question = EndpointQuestion { effort: "none", ..question(&think, false) };
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
                    // The endpoint that answers may not know schemas.
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
        Err(ModelError::TimedOut.into())
    );
    let soon = Deadline::after(Duration::from_secs(20));
    assert_eq!(model.complete(completion(Purpose::Think), soon, cancelled).await, Err(ModelError::Cancelled.into()));
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

#[rstest]
#[case::a_refusal(json!({"output": [message(json!([{"type": "refusal", "refusal": "I will not"}]))]}), 5)]
#[case::an_error(json!({"status": "failed", "error": {"code": "server_error", "message": "broke"}}), 5)]
#[case::too_many_values(json!({"output_text": "[".repeat(60_000), "output": []}), 5)]
#[case::an_error_that_says_no_cost(json!({"error": {"code": "server_error", "message": "broke"}}), 0)]
#[tokio::test]
async fn what_a_call_without_an_answer_cost_is_told(#[case] mut body: Value, #[case] input_tokens: u64) {
    if input_tokens > 0 {
        body["usage"] = json!({"input_tokens": input_tokens, "output_tokens": 7, "cost": 0.25});
    }
    let server = MockServer::start().await;
    Mock::given(method("POST")).respond_with(ResponseTemplate::new(200).set_body_json(&body)).mount(&server).await;
    let deadline = Deadline::after(Duration::from_secs(20));
    let request = completion(Purpose::Judge);
    let failed =
        model(&server, Api::Responses).complete(request, deadline, CancellationToken::new()).await.unwrap_err();
    let cost_usd = (input_tokens > 0).then_some(0.25);
    assert_eq!((failed.usage.input_tokens, failed.usage.cost_usd), (input_tokens, cost_usd), "{failed}");
}

#[test]
fn a_refusal_without_counts_is_estimated() {
    let completion = completion(Purpose::Think);
    let body = json!({"choices": [{"message": {"content": null, "refusal": "one two three"}}]});
    let failed = chat::read(&body, question(&completion, false)).unwrap_err().told(&Redaction::of(None));
    assert_eq!((failed.usage.input_tokens, failed.usage.output_tokens), (8, 3));
}
