use rstest::rstest;
use serde_json::json;

use super::*;

fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
    pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
}

fn of_status(status: u16) -> ProviderFailure {
    ProviderFailure::of_response(status, &HeaderMap::new(), br#"{"error": {"message": "no"}}"#)
}

#[rstest]
#[case(&[408, 500, 502, 503, 504, 524, 529], FailureClass::Transient)]
#[case(&[429], FailureClass::RateLimited)]
#[case(&[307, 400, 402, 403, 404, 413, 422], FailureClass::Refused)]
#[case(&[401], FailureClass::KeyRejected)]
fn the_class_follows_from_the_status(#[case] statuses: &[u16], #[case] class: FailureClass) {
    for status in statuses {
        assert_eq!(of_status(*status).class, class, "{status}");
    }
}

#[rstest]
#[case(json!({"code": 429, "message": "slow down"}), FailureClass::RateLimited)]
#[case(json!({"code": "429"}), FailureClass::RateLimited)]
#[case(json!({"code": 502, "message": "upstream"}), FailureClass::Transient)]
#[case(json!({"code": 529}), FailureClass::Transient)]
#[case(json!({"code": 401}), FailureClass::KeyRejected)]
#[case(json!({"code": "rate_limit_exceeded"}), FailureClass::RateLimited)]
#[case(json!({"code": "server_error", "message": "try again"}), FailureClass::Transient)]
#[case(json!({"code": null, "type": "overloaded_error"}), FailureClass::Transient)]
#[case(json!({"code": "invalid_prompt", "message": "no"}), FailureClass::Refused)]
#[case(json!({"code": 0, "metadata": {"error_type": "context_length_exceeded"}}), FailureClass::Refused)]
#[case(json!({"code": "invalid_api_key"}), FailureClass::KeyRejected)]
#[case(json!({"message": "something"}), FailureClass::Transient)]
#[case(json!({"message": "no", "type": "BadRequestError"}), FailureClass::Refused)]
#[case(json!({"message": "no", "type": "NotFoundError"}), FailureClass::Refused)]
#[case(json!({"message": "no", "type": "RateLimitError"}), FailureClass::RateLimited)]
#[case(json!({"message": "no", "type": "InternalServerError"}), FailureClass::Transient)]
#[case(json!("just text"), FailureClass::Transient)]
fn an_error_inside_an_answer_is_read_by_its_code_in_any_form(#[case] error: Value, #[case] class: FailureClass) {
    assert_eq!(ProviderFailure::inside(&error).class, class);
}

#[rstest]
#[case(br#"{"error": {"code": 404, "message": "no such model"}}"#, "HTTP 404: no such model")]
#[case(br#"{"error": "model 'x' not found"}"#, "HTTP 404: model 'x' not found")]
#[case(br#"{"object": "error", "message": "gone", "code": 404}"#, "HTTP 404: gone")]
#[case(br#"{"detail": "Not Found"}"#, "HTTP 404: Not Found")]
#[case(br#"[{"error": {"code": 404, "message": "no such model"}}]"#, "HTTP 404: no such model")]
#[case(b"[]", "HTTP 404: []")]
#[case(br#"{"detail": [{"loc": ["body"]}]}"#, r#"HTTP 404: {"detail":[{"loc":["body"]}]}"#)]
#[case(b"<html>\n  nope", "HTTP 404: <html> nope")]
#[case(b"", "HTTP 404:")]
#[case(
    br#"{"error": {"message": "Provider returned error", "metadata": {"provider_name": "Acme", "raw": "too hot"}}}"#,
    "HTTP 404: Provider returned error (Acme: too hot)"
)]
fn the_reason_is_found_in_whatever_form_it_is_given(#[case] body: &[u8], #[case] message: &str) {
    assert_eq!(ProviderFailure::of_response(404, &HeaderMap::new(), body).shown(&Redaction::of(None)), message);
}

#[test]
fn a_reason_is_short_and_an_account_without_credits_is_told_as_such() {
    let long = format!(r#"{{"error": {{"message": "{}"}}}}"#, "ä".repeat(2_000));
    let failure = ProviderFailure::of_response(400, &HeaderMap::new(), long.as_bytes());
    assert_eq!(failure.shown(&Redaction::of(None)).chars().count(), MAX_CHARS);
    assert!(of_status(402).shown(&Redaction::of(None)).contains("credits"));
    let quota = br#"{"error": {"message": "You exceeded your quota", "code": "insufficient_quota"}}"#;
    assert_eq!(ProviderFailure::of_response(429, &HeaderMap::new(), quota).class, FailureClass::Refused);
}

#[rstest]
#[case(&[("retry-after", "7")], Some(7_000))]
#[case(&[("retry-after", " 0.5 ")], Some(500))]
#[case(&[("retry-after", "7"), ("retry-after-ms", "250")], Some(250))]
#[case(&[("retry-after", "Fri, 20 Nov 2026 12:00:30 GMT")], Some(30_000))]
#[case(&[("retry-after", "Fri, 20 Nov 2020 12:00:00 GMT")], Some(0))]
#[case(&[("retry-after", "7"), ("retry-after-ms", "soon")], Some(7_000))]
#[case(&[("retry-after", "7"), ("retry-after-ms", "-1")], Some(7_000))]
#[case(&[("retry-after", "7200")], Some(7_200_000))]
#[case(&[("retry-after", "1e300")], Some(30 * 86_400_000))]
#[case(&[("retry-after", "inf")], Some(30 * 86_400_000))]
#[case(&[("retry-after", "Sun, 31 Oct 9999 00:00:00 GMT")], Some(30 * 86_400_000))]
#[case(&[("retry-after", "Fri, 20 Nov 2026 12:00:30 GMT"), ("date", "Fri, 20 Nov 2026 12:00:10 GMT")], Some(20_000))]
#[case(&[("retry-after", "Fri, 20 Nov 2026 11:00:30 GMT"), ("date", "Fri, 20 Nov 2026 11:00:00 GMT")], Some(30_000))]
#[case(&[("retry-after", "Fri, 20 Nov 2026 12:00:30 GMT"), ("date", "today")], Some(30_000))]
#[case(&[("retry-after", "7"), ("date", "Fri, 20 Nov 2020 12:00:00 GMT")], Some(7_000))]
#[case(&[("retry-after", "NaN")], None)]
#[case(&[("retry-after", "-5")], None)]
#[case(&[("retry-after", "soon")], None)]
#[case(&[], None)]
fn how_long_to_wait_is_read_in_seconds_milliseconds_or_as_a_date(
    #[case] given: &[(&'static str, &str)],
    #[case] milliseconds: Option<u64>,
) {
    let now = "2026-11-20T12:00:00Z".parse().unwrap();
    assert_eq!(wait_of(&headers(given), now), milliseconds.map(Duration::from_millis));
}

#[test]
fn the_key_is_taken_out_before_the_reason_is_cut_short() {
    let key = "sk-or-v1-0a1b2c3d4e5f60718293a4b5c6d7e8f9";
    let redaction = Redaction::of(Some(key.into()));
    // The key is found wherever the cut falls in it, also where a byte of the body is no text.
    for filler in MAX_CHARS - 60..MAX_CHARS {
        let body = [&b"\xff "[..], "x".repeat(filler).as_bytes(), b" ", key.as_bytes(), b" y"].concat();
        let shown = ProviderFailure::of_response(400, &HeaderMap::new(), &body).shown(&redaction);
        assert!(shown.chars().count() <= MAX_CHARS, "{shown}");
        assert!(!key.as_bytes().windows(8).any(|piece| shown.contains(std::str::from_utf8(piece).unwrap())), "{shown}");
    }
}

#[test]
fn the_body_says_how_long_to_wait_where_no_header_does() {
    let body = br#"{"error": {"code": 429, "message": "no", "metadata": {"retry_after_seconds": 3}}}"#;
    assert_eq!(ProviderFailure::of_response(429, &HeaderMap::new(), body).retry_after, Some(Duration::from_secs(3)));
    let text = br#"{"error": {"code": 429, "message": "no", "metadata": {"retry_after_seconds": " 3 "}}}"#;
    assert_eq!(ProviderFailure::of_response(429, &HeaderMap::new(), text).retry_after, Some(Duration::from_secs(3)));
    let header = headers(&[("retry-after", "1")]);
    assert_eq!(ProviderFailure::of_response(429, &header, body).retry_after, Some(Duration::from_secs(1)));
}
