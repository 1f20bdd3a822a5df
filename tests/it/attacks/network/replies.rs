//! The answers of a hostile provider: the key in every form that somebody may quote it in, answers that do not end, and
//! HTTP that is none.

use serde_json::{Value, json};

use super::KEY;
use super::peer::Reply;

/// One thing that a provider sends.
#[derive(Debug, Clone)]
pub(super) struct Input {
    pub(super) name: &'static str,
    pub(super) reply: Reply,
    /// The bytes in which the key is quoted.
    pub(super) form: Vec<u8>,
}

pub(super) fn http(status: u16, headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-length: {}\r\n{headers}\r\n", body.len());
    [head.as_bytes(), body].concat()
}

pub(super) fn json_reply(status: u16, body: &Value) -> Reply {
    Reply::Bytes(http(status, "content-type: application/json\r\n", body.to_string().as_bytes()))
}

/// Makes an answer in the form of the Responses API.
pub(super) fn answer(text: &str) -> Value {
    let part = json!({"type": "output_text", "text": text});
    let message = json!({"type": "message", "role": "assistant", "content": [part]});
    json!({"status": "completed", "output": [message], "usage": {"input_tokens": 10, "output_tokens": 10}})
}

/// Makes an answer in the form of the Chat Completions API.
pub(super) fn chat_answer(text: &str) -> Value {
    json!({"choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]})
}

fn each(text: &str, form: impl Fn(u8) -> String) -> Vec<u8> {
    text.bytes().map(form).collect::<String>().into_bytes()
}

fn base64(text: &str) -> Vec<u8> {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |bytes: &[u8]| {
        let bits = bytes.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - bytes.len()));
        let digit = |at: usize| if at > bytes.len() { b'=' } else { DIGITS[(bits >> (18 - 6 * at) & 63) as usize] };
        [digit(0), digit(1), digit(2), digit(3)]
    };
    text.as_bytes().chunks(3).flat_map(group).collect()
}

/// The key, and pieces of it, as a body may hold them.
fn forms() -> Vec<(&'static str, Vec<u8>)> {
    let (first, last) = KEY.split_at(30);
    let joined = |between: &[u8]| [first.as_bytes(), between, last.as_bytes()].concat();
    vec![
        ("whole", KEY.into()),
        ("upper", KEY.to_uppercase().into()),
        ("first part", KEY[..21].into()),
        ("last part", KEY[52..].into()),
        ("middle", KEY[30..45].into()),
        ("eight characters", KEY[40..48].into()),
        ("masked", format!("{}****{}", &KEY[..20], &KEY[60..]).into()),
        ("many times", [KEY, " "].concat().repeat(2_000).into()),
        ("after a byte that is no text", [b"\xff\xfe", KEY.as_bytes()].concat()),
        ("around a byte that is no text", joined(b"\xff")),
        ("around latin-1", joined(b"\xe4")),
        ("around a zero width space", joined("\u{200b}".as_bytes())),
        ("around a line break", joined(b"\r\n ")),
        ("wide, little end first", each(KEY, |byte| format!("{}\0", char::from(byte)))),
        ("wide, big end first", each(KEY, |byte| format!("\0{}", char::from(byte)))),
        ("spaced", each(KEY, |byte| format!("{} ", char::from(byte)))),
        ("percent", each(KEY, |byte| format!("%{byte:02X}"))),
        ("percent twice", each(KEY, |byte| format!("%25{byte:02x}"))),
        ("percent for some", KEY.replace('-', "%2D").into()),
        ("escapes of JSON", each(KEY, |byte| format!("\\u{byte:04x}"))),
        ("escapes of C", each(KEY, |byte| format!("\\x{byte:02x}"))),
        ("backslashes", KEY.replace('-', "\\-").into()),
        ("entities", each(KEY, |byte| format!("&#{byte};"))),
        ("entities in hexadecimal", each(KEY, |byte| format!("&#x{byte:x};"))),
        ("hexadecimal", each(KEY, |byte| format!("{byte:02x}"))),
        ("base64", base64(KEY)),
        ("base64 of a header", base64(&format!("Bearer {KEY}"))),
        ("base64 of a user", base64(&format!("user:{KEY}"))),
        ("base64 of a part", base64(&KEY[11..50])),
    ]
}

const STATUSES: [u16; 7] = [400, 401, 403, 404, 422, 429, 500];

/// A body that quotes text, and whether what it quotes is to be text of JSON.
fn bodies(quote: &str) -> [(&'static str, Vec<u8>); 11] {
    let raw = json!({"error": {"message": quote}}).to_string();
    let document = |value: Value| value.to_string().into_bytes();
    [
        ("a message", document(json!({"error": {"message": quote}}))),
        ("an error that is text", document(json!({"error": quote}))),
        ("a detail", document(json!({"detail": [{"loc": ["header"], "input": quote}]}))),
        ("a code", document(json!({"error": {"code": quote, "message": quote, "param": quote}}))),
        ("a name", document(json!({"error": {quote: 1}}))),
        ("a list", document(json!([{"error": {"message": quote}}]))),
        (
            "behind the provider",
            document(json!({"error": {"message": "no", "metadata": {"provider_name": quote, "raw": raw}}})),
        ),
        ("an unknown form", document(json!({"a": {"b": [quote, {"c": quote}]}}))),
        ("HTML", format!("<html><body><p>{quote}</p></body></html>").into_bytes()),
        ("JSON that breaks off", document(json!({"error": {"message": quote}})).split_last().unwrap().1.to_vec()),
        ("far into the reason", format!("{{\"error\":{{\"message\":\"{}{quote}\"}}}}", "x ".repeat(200)).into_bytes()),
    ]
}

/// Returns refusals that quote the key.
pub(super) fn quotes() -> Vec<Input> {
    let mut inputs = Vec::new();
    let mut add = |name, form: &[u8], headers: &str, body: &[u8]| {
        let status = STATUSES[inputs.len() % STATUSES.len()];
        inputs.push(Input { name, reply: Reply::Bytes(http(status, headers, body)), form: form.to_vec() });
    };
    for (name, form) in forms() {
        add(name, &form, "", &[b"bad key: ", &*form, b" is no good"].concat());
        // The cut after 500 characters falls into the form.
        add(name, &form, "", &["y".repeat(480).as_bytes(), b" ", &form].concat());
    }
    for (name, body) in bodies(KEY).into_iter().chain(bodies(&KEY[..25])) {
        add(name, KEY.as_bytes(), "content-type: text/plain\r\n", &body);
    }
    // The same cut, wherever in the key, although the body is no UTF-8.
    for filler in [425, 440, 455, 470, 478, 482, 486] {
        add(
            "across the cut",
            KEY.as_bytes(),
            "",
            &[b"\xff", "z".repeat(filler).as_bytes(), b" ", KEY.as_bytes()].concat(),
        );
    }
    for quote in ["https://llm.example/v1?api_key=", "Authorization: Bearer ", "curl -u user:"] {
        add(quote, KEY.as_bytes(), "", format!("{quote}{KEY}").as_bytes());
    }
    for header in ["retry-after", "www-authenticate", "location", "x-request-id", "date", "content-encoding"] {
        add("a header", KEY.as_bytes(), &format!("{header}: {KEY}\r\n"), b"no");
    }
    let inside = json!({"status": "failed", "error": {"code": "server_error", "message": format!("bad key {KEY}")}});
    inputs.push(Input { name: "inside an answer", reply: json_reply(200, &inside), form: KEY.into() });
    let refusal = json!({"type": "message", "content": [{"type": "refusal", "refusal": format!("no {}", &KEY[..30])}]});
    let refused = json!({"status": "completed", "output": [refusal]});
    inputs.push(Input { name: "a refusal of the model", reply: json_reply(200, &refused), form: KEY.into() });
    let line = format!("HTTP/1.1 400 bad key {KEY}\r\ncontent-length: 2\r\n\r\nno").into_bytes();
    inputs.push(Input { name: "the line of the status", reply: Reply::Bytes(line), form: KEY.into() });
    let broken = format!("HTTP/1.1 400 X\r\nbad {KEY} header\r\n\r\n").into_bytes();
    inputs.push(Input { name: "a header that is none", reply: Reply::Bytes(broken), form: KEY.into() });
    inputs
}

/// Answers that quote the key, as a draft. A piece of less than sixteen characters may be a word of an answer.
pub(super) fn answers() -> Vec<Input> {
    let is_long = |name: &str| !["eight characters", "middle", "masked"].contains(&name);
    let texts = forms().into_iter().filter(|(name, _)| is_long(name));
    let quoted = texts.filter_map(|(name, form)| Some((name, String::from_utf8(form).ok()?)));
    let input = |(name, form): (_, String)| {
        let reply = json_reply(200, &answer(&format!("fn main() {{}} // {form}")));
        Input { name, reply, form: form.into_bytes() }
    };
    quoted.map(input).collect()
}

const CHUNKED: &str = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";

fn chunk(bytes: &[u8]) -> Vec<u8> {
    [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat()
}

fn with_usage(usage: &str) -> Vec<u8> {
    let body = answer("A draft.").to_string().replace(r#"{"input_tokens":10,"output_tokens":10}"#, usage);
    assert!(body.contains(usage), "{body}");
    http(200, "", body.as_bytes())
}

/// Returns replies with broken HTTP, with broken JSON, and with more of either than anybody needs.
pub(super) fn faults() -> Vec<Input> {
    let bytes = |name, bytes: Vec<u8>| (name, Reply::Bytes(bytes));
    let raw = |name, text: &str| (name, Reply::Bytes(text.as_bytes().to_vec()));
    let ok = |name, body: &[u8]| (name, Reply::Bytes(http(200, "content-type: application/json\r\n", body)));
    let silent = |name, bytes| (name, Reply::Silent(bytes));
    let endless = |name, head: &str, again: Vec<u8>| (name, Reply::Endless(head.into(), again));
    let small = |value: &str| {
        [b"[".as_slice(), format!("{value},").repeat(8 * 1024 * 1024 / (value.len() + 1) - 2).as_bytes(), b"0]"]
            .concat()
    };
    let inner = answer(&String::from_utf8(small(r#"{"":0}"#)).unwrap()).to_string();
    let all = vec![
        endless("a body without end", "HTTP/1.1 200 OK\r\n\r\n", vec![b' '; 65_536]),
        endless("chunks without end", CHUNKED, chunk(&[b'['; 4_096])),
        endless("chunks of one byte without end", CHUNKED, chunk(b" ")),
        endless("trailers without end", &format!("{CHUNKED}0\r\n"), b"x: y\r\n".to_vec()),
        endless("an extension of a chunk without end", &format!("{CHUNKED}1;"), vec![b'x'; 4_096]),
        endless("headers without end", "HTTP/1.1 200 OK\r\n", b"x-filler: xxxxxxxxxxxxxxxxxxxxxxxx\r\n".to_vec()),
        endless("a header without end", "HTTP/1.1 200 OK\r\nx: ", vec![b'x'; 4_096]),
        endless("a status line without end", "HTTP/1.1 200 ", vec![b'x'; 4_096]),
        silent("ten thousand interim answers", b"HTTP/1.1 100 Continue\r\n\r\n".repeat(10_000)),
        silent("ten thousand hints", b"HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n".repeat(10_000)),
        ("nothing at all", Reply::Silent(Vec::new())),
        ("a head and nothing else", Reply::Silent(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{".to_vec())),
        ("half a head", Reply::Silent(b"HTTP/1.1 200 OK\r\ncontent-".to_vec())),
        raw("the end of the connection", ""),
        raw("no HTTP", "220 smtp ready\r\n"),
        raw("an old HTTP", "<html>hello</html>"),
        raw("another version", "HTTP/9.9 200 OK\r\n\r\n{}"),
        raw("a status of one digit", "HTTP/1.1 2 OK\r\n\r\n{}"),
        raw("a status of 999", "HTTP/1.1 999 X\r\ncontent-length: 2\r\n\r\n{}"),
        raw("another protocol", "HTTP/1.1 101 Switching Protocols\r\nupgrade: h2c\r\nconnection: upgrade\r\n\r\n"),
        raw("no content", "HTTP/1.1 204 No Content\r\n\r\n"),
        raw("a length below zero", "HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n{}"),
        raw("a length that is no number", "HTTP/1.1 200 OK\r\ncontent-length: ten\r\n\r\n{}"),
        raw("a length beyond counting", "HTTP/1.1 200 OK\r\ncontent-length: 99999999999999999999\r\n\r\n{}"),
        raw("a length of an exabyte", "HTTP/1.1 200 OK\r\ncontent-length: 1152921504606846976\r\n\r\n{}"),
        raw("two lengths", "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{} "),
        raw("a length and chunks", &format!("{}0\r\n\r\n", CHUNKED.replace("OK\r\n", "OK\r\ncontent-length: 9\r\n"))),
        raw("more promised than sent", "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{}"),
        raw("a chunk that is no number", &format!("{CHUNKED}zz\r\n{{}}\r\n0\r\n\r\n")),
        raw("a chunk beyond counting", &format!("{CHUNKED}fffffffffffffffff\r\n{{}}")),
        raw("a chunk of everything", &format!("{CHUNKED}7fffffffffffffff\r\n{{}}")),
        raw("a chunk below zero", &format!("{CHUNKED}-1\r\n{{}}")),
        raw("an unknown encoding", "HTTP/1.1 200 OK\r\ntransfer-encoding: rot13\r\n\r\n{}"),
        bytes(
            "what calls itself gzip",
            http(200, "content-encoding: gzip\r\n", b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03"),
        ),
        bytes("HTML", http(200, "content-type: text/html\r\n", b"<html><h1>Welcome to the hotel</h1></html>")),
        ok("nothing", b""),
        ok("null", b"null"),
        ok("a number", b"1e999"),
        ok("text", b"\"well\""),
        ok("a byte that is no text", b"{\"output\": \"\xff\"}"),
        ok("two documents", b"{}{}"),
        ok("deep lists", &b"[".repeat(1_000_000)),
        ok("deep objects", "{\"error\":".repeat(500_000).as_bytes()),
        ok("numbers by the million", &small("0")),
        ok("lists by the million", &small("[]")),
        ok("objects by the million", &small(r#"{"":0}"#)),
        ok("objects by the million in a draft", inner.as_bytes()),
        ok("a draft of seven megabytes", answer(&"word ".repeat(1_400_000)).to_string().as_bytes()),
        bytes(
            "tokens beyond counting",
            with_usage(r#"{"input_tokens":1e30,"output_tokens":99999999999999999999,"cost":1e308}"#),
        ),
        bytes("tokens below zero", with_usage(r#"{"input_tokens":-5,"output_tokens":-1e300,"cost":-1}"#)),
        bytes("tokens that are text", with_usage(r#"{"input_tokens":"many","output_tokens":[1],"cost":"free"}"#)),
        bytes(
            "every count at its limit",
            with_usage(r#"{"input_tokens":18446744073709551615,"output_tokens":18446744073709551615}"#),
        ),
    ];
    all.into_iter().map(|(name, reply)| Input { name, reply, form: Vec::new() }).collect()
}

/// Returns refusals that go on after their status has said enough.
pub(super) fn refusals_without_end() -> Vec<Input> {
    let all = [
        ("401 and a body without end", Reply::Endless("HTTP/1.1 401 X\r\n\r\n".into(), KEY.as_bytes().to_vec())),
        (
            "401 and silence",
            Reply::Silent(format!("HTTP/1.1 401 X\r\ncontent-length: 9999\r\n\r\nbad {KEY}").into_bytes()),
        ),
        ("404 and a body without end", Reply::Endless("HTTP/1.1 404 X\r\n\r\n".into(), vec![b'{'; 65_536])),
        ("404 and values without end", Reply::Endless("HTTP/1.1 404 X\r\n\r\n[".into(), b"{\"\":0},".to_vec())),
    ];
    all.into_iter().map(|(name, reply)| Input { name, reply, form: KEY.into() }).collect()
}

/// Returns what a provider may say about waiting, and the milliseconds that a client is told.
pub(super) fn retry_afters() -> Vec<(Input, Option<u64>)> {
    const MONTH: u64 = 30 * 86_400_000;
    let now = "date: Fri, 20 Nov 2026 12:00:00 GMT\r\n";
    let cases: Vec<(&str, String, Option<u64>)> = vec![
        ("seconds", "retry-after: 7\r\n".into(), Some(7_000)),
        ("milliseconds", "retry-after-ms: 250\r\n".into(), Some(250)),
        ("a part of a millisecond", "retry-after-ms: 0.25\r\n".into(), Some(1)),
        ("more than the deadline", "retry-after: 86400\r\n".into(), Some(86_400_000)),
        ("for ever", "retry-after: 1e300\r\n".into(), Some(MONTH)),
        ("infinity", "retry-after: inf\r\n".into(), Some(MONTH)),
        ("zero", "retry-after: 0\r\n".into(), None),
        ("below zero", "retry-after: -7\r\n".into(), None),
        ("no number", "retry-after: NaN\r\n".into(), None),
        ("a word", "retry-after: soon\r\n".into(), None),
        ("nothing", "retry-after: \r\n".into(), None),
        ("no header", String::new(), None),
        ("a date", format!("{now}retry-after: Fri, 20 Nov 2026 12:00:30 GMT\r\n"), Some(30_000)),
        ("a date of the past", format!("{now}retry-after: Fri, 20 Nov 1970 12:00:30 GMT\r\n"), None),
        ("a date that is none", format!("{now}retry-after: Fri, 99 Nov 2026 99:00:30 GMT\r\n"), None),
        ("the last date", format!("{now}retry-after: Sun, 31 Oct 9999 00:00:00 GMT\r\n"), Some(MONTH)),
    ];
    let input = |(name, headers, told): (&'static str, String, _)| {
        let body = json!({"error": {"code": 429, "message": "slow down"}}).to_string();
        (Input { name, reply: Reply::Bytes(http(429, &headers, body.as_bytes())), form: Vec::new() }, told)
    };
    cases.into_iter().map(input).collect()
}
