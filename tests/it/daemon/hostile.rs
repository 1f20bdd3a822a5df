//! Tests of requests that are made to confuse, to smuggle, or to keep the daemon busy. They are written to the
//! connection as they are, because no client library sends them.

use std::time::Duration;

use futures::future::join_all;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::*;

/// A number of bytes that is more than a message may have.
const TOO_LARGE: usize = 9 << 20;

struct Target {
    place: Place,
    daemon: Daemon,
    token: String,
}

impl Target {
    fn new() -> Self {
        let place = Place::new();
        let rights = ["ana", "--key", "shop", "--permissions", "read,write,admin"];
        let token = token(&place, &rights);
        let daemon = Daemon::start_logged(&place, &["--llm", "none"]);
        Self { place, daemon, token }
    }

    fn address(&self) -> &str {
        self.daemon.url.strip_prefix("http://").unwrap().strip_suffix("/mcp").unwrap()
    }

    fn head(&self, method: &str, path: &str, more: &str) -> String {
        let (host, token) = (self.address(), &self.token);
        format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n{more}\r\n")
    }

    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address()).await.unwrap()
    }

    /// Sends bytes, and reads until the daemon closes the connection or says nothing for a second.
    async fn said_to(&self, bytes: &[u8]) -> String {
        let mut stream = self.connect().await;
        // A refusal may come before all was sent.
        let _ = stream.write_all(bytes).await;
        let mut said = Vec::new();
        let mut part = [0; 4096];
        while let Ok(Ok(n @ 1..)) = tokio::time::timeout(Duration::from_secs(1), stream.read(&mut part)).await {
            said.extend_from_slice(&part[..n]);
        }
        String::from_utf8_lossy(&said).into_owned()
    }

    async fn record(&self) -> String {
        self.daemon.session(Some(&self.token)).await.record("what must stay").await
    }

    async fn is_there(&self, id: &str) -> bool {
        let read = self.daemon.get(&format!("/api/v1/memories/{id}")).bearer_auth(&self.token);
        read.send().await.unwrap().status() == StatusCode::OK
    }

    /// Asserts that the daemon goes on, and that nothing in it went wrong.
    async fn is_well(&self) {
        self.daemon.session(Some(&self.token)).await;
        let log = std::fs::read_to_string(self.place.path("log")).unwrap();
        assert!(!log.contains("panicked"), "{log}");
    }
}

fn statuses(said: &str) -> Vec<&str> {
    let lines = said.match_indices("HTTP/1.1 ").map(|(at, _)| &said[at + 9..]);
    lines.map(|line| line.split(' ').next().unwrap()).collect()
}

#[tokio::test]
async fn a_foreign_host_or_origin_reaches_no_path() {
    let target = Target::new();
    let (token, own) = (&target.token, target.address());
    let hosts = [
        "evil.example",
        "localhost.evil.example",
        "evil.example:80@localhost",
        "localhost@evil.example",
        "127.0.0.1.evil",
        "[::1",
        "localhost:99999",
        "localhost:",
        " ",
        "127.1",
        "0",
        "2130706433",
        "localhost,evil.example",
        "xn--lcalhost-5va",
    ];
    let origins =
        ["https://evil.example", "null", "http://localhost.evil.example", "file://", "http://127.0.0.1@evil.example"];
    for path in ["/mcp", "/api/v1/memories", "/api/v1/openapi.json", "/api/v1/solve", "/metrics"] {
        for host in hosts {
            let said = target.said_to(format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n\r\n").as_bytes()).await;
            assert!(matches!(*statuses(&said), ["403"] | ["400"]), "{path} {host:?}: {said}");
        }
        for origin in origins {
            let said = target
                .said_to(target.head("GET", path, &format!("Connection: close\r\nOrigin: {origin}\r\n")).as_bytes())
                .await;
            assert_eq!(statuses(&said), ["403"], "{path} {origin:?}: {said}");
        }
        let twice = target.head("GET", path, &format!("Connection: close\r\nHost: {own}\r\n"));
        assert!(matches!(*statuses(&target.said_to(twice.as_bytes()).await), ["403"] | ["400"]), "{path}");
        for host in ["evil.example", own] {
            let absolute = format!(
                "GET http://evil.example{path} HTTP/1.1\r\nConnection: close\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n\r\n"
            );
            assert_eq!(statuses(&target.said_to(absolute.as_bytes()).await), ["403"], "{path} {host}");
        }
    }
    target.is_well().await;
}

#[tokio::test]
async fn no_path_leads_anywhere_but_to_a_route() {
    let target = Target::new();
    let long = format!("/api/v1/memories/{}", "a".repeat(60_000));
    let endless = format!("/api/v1/memories?after={}", "a".repeat(100_000));
    let paths = [
        "/api/v1/../../tokens.json",
        "/api/v1/%2e%2e/%2e%2e/tokens.json",
        "//api/v1/memories",
        "/api/v1//memories",
        "/api/v1/memories/",
        "/API/V1/MEMORIES",
        "/mcp/",
        "/mcp/../metrics",
        "/api/v1/memories/%00",
        "/api/v1/memories/%ff",
        "/api/v1/memories/..%2f..%2fetc%2fpasswd",
        "/api/v1/workspaces/%2fetc",
        "/.well-known/oauth-authorization-server/mcp",
        "/api/v1/memories;x=1",
        "/%",
        "/%zz",
        "*",
        &long,
        &endless,
    ];
    for path in paths {
        for method in ["GET", "DELETE"] {
            let said = target.said_to(target.head(method, path, "Connection: close\r\n").as_bytes()).await;
            let statuses = statuses(&said);
            assert!(statuses.len() == 1 && statuses[0].starts_with('4'), "{method} {path:.60}: {said:.300}");
        }
    }
    for request in
        ["GET / HTTP/0.9\r\n\r\n", "GET /\r\n\r\n", "\0\0\0\0", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "{}\r\n\r\n"]
    {
        let said = target.said_to(request.as_bytes()).await;
        assert!(statuses(&said).iter().all(|status| status.starts_with('4')), "{request:?}: {said}");
    }
    target.is_well().await;
}

#[tokio::test]
async fn a_head_has_at_most_64_kib_and_the_id_of_a_request_is_one_word() {
    let target = Target::new();
    for (bytes, wanted) in [(63 << 10, "200"), (66 << 10, "431"), (100 << 10, "431")] {
        let more = format!("Connection: close\r\nX-Long: {}\r\n", "a".repeat(bytes));
        let said = target.said_to(target.head("GET", "/api/v1/memories", &more).as_bytes()).await;
        assert_eq!(statuses(&said), [wanted], "{bytes}: {said:.300}");
    }
    for (id, is_kept) in [("one-word", true), ("two words", false), ("größe", false)] {
        let more = format!("Connection: close\r\nX-Request-Id: {id}\r\n");
        let said = target.said_to(target.head("GET", "/api/v1/memories", &more).as_bytes()).await;
        assert_eq!(said.contains(&format!("x-request-id: {id}\r\n")), is_kept, "{said:.500}");
        assert!(said.contains("x-request-id: "), "{said:.500}");
    }
    target.is_well().await;
}

#[tokio::test]
async fn no_request_is_smuggled_in_another_one() {
    let target = Target::new();
    let id = target.record().await;
    let hidden = target.head("DELETE", &format!("/api/v1/memories/{id}"), "");
    let length = hidden.len();
    let chunk = format!("{length:x}\r\n{hidden}\r\n0\r\n\r\n");
    let search = |more: &str| {
        target.head("POST", "/api/v1/memories/search", &format!("Content-Type: application/json\r\n{more}"))
    };
    // A text that a proxy before the daemon may take for the end of the request, and the daemon for its middle, or the
    // reverse, is refused.
    let refused = [
        ("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n".to_string(), format!("0\r\n\r\n{hidden}")),
        (format!("Transfer-Encoding: chunked\r\nContent-Length: {length}\r\n"), format!("0\r\n\r\n{hidden}")),
        (format!("Content-Length: {length}\r\nContent-Length: 0\r\n"), hidden.clone()),
        (format!("Content-Length: 0, {length}\r\n"), hidden.clone()),
        (format!("Content-Length: +{length}\r\n"), hidden.clone()),
        ("Content-Length: -1\r\n".to_string(), hidden.clone()),
        (format!("Content-Length : {length}\r\n"), hidden.clone()),
        ("Transfer-Encoding: xchunked\r\n".to_owned(), chunk.clone()),
        ("Transfer-Encoding: chunked, identity\r\n".to_owned(), chunk.clone()),
        ("Transfer-Encoding : chunked\r\n".to_owned(), chunk.clone()),
        ("Transfer-Encoding:\u{b}chunked\r\n".to_owned(), chunk.clone()),
        ("X: y\r\n Transfer-Encoding: chunked\r\n".to_owned(), chunk.clone()),
        ("Transfer-Encoding: chunked\r\n".to_owned(), format!("ffffffffffffffff1\r\n{hidden}")),
        ("Transfer-Encoding: chunked\r\n".to_owned(), format!("-1\r\n{hidden}")),
        ("Transfer-Encoding: chunked\r\n".to_owned(), format!("0x5\r\n{hidden}")),
    ];
    for (headers, body) in refused {
        let said = target.said_to(format!("{}{body}", search(&headers)).as_bytes()).await;
        assert!(target.is_there(&id).await, "{headers:?} let a request through: {said}");
        let first = statuses(&said).first().copied().unwrap_or("none").to_owned();
        assert!(matches!(&*first, "none" | "400" | "408" | "415" | "422" | "501"), "{headers:?}: {said}");
    }
    // A body is a body, whatever stands in it, and whatever the method.
    for method in ["GET", "POST", "DELETE"] {
        for headers in [format!("Content-Length: {length}\r\n"), "Transfer-Encoding: chunked\r\n".to_owned()] {
            let body = if headers.starts_with('C') { &hidden } else { &chunk };
            let whole = format!("{}{body}", target.head(method, "/api/v1/nothing-here", &headers));
            let said = target.said_to(whole.as_bytes()).await;
            assert_eq!(statuses(&said), ["404"], "{method} {headers:?}: {said}");
            assert!(target.is_there(&id).await, "{method} {headers:?}");
        }
    }
    target.is_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_is_too_large_is_refused_in_words_every_time() {
    let target = Target::new();
    let (token, own) = (&*target.token, target.address());
    let cases = [
        ("/api/v1/memories/search", token, own, "413"),
        ("/mcp", token, own, "413"),
        ("/api/v1/memories/search", "rb_wrong", own, "401"),
        ("/mcp", "rb_wrong", own, "401"),
        ("/mcp", token, "evil.example", "403"),
        ("/nothing", token, own, "404"),
    ];
    let body = "x".repeat(TOO_LARGE);
    for round in 0..20 {
        for (path, token, host, wanted) in cases {
            let mut sent = format!("POST {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n");
            sent += "Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n";
            sent += &match round % 2 {
                0 => format!("Content-Length: {TOO_LARGE}\r\n\r\n{body}"),
                _ => format!("Transfer-Encoding: chunked\r\n\r\n{TOO_LARGE:x}\r\n{body}\r\n0\r\n\r\n"),
            };
            // A client that sends all of it before it reads is answered as well.
            let mut stream = target.connect().await;
            let case = format!("{path} {wanted}, round {round}");
            stream.write_all(sent.as_bytes()).await.unwrap_or_else(|error| panic!("{case}: {error}"));
            let mut said = String::new();
            while !said.contains("\"code\"") {
                let mut part = [0; 4096];
                let read = tokio::time::timeout(TIMEOUT, stream.read(&mut part)).await.unwrap();
                let read = read.unwrap_or_else(|error| panic!("{case}: {error} after {said:?}"));
                assert!(read > 0, "{case}: the answer ends with {said:?}");
                said += std::str::from_utf8(&part[..read]).unwrap();
            }
            assert_eq!(statuses(&said), [wanted], "{case}: {said}");
        }
    }
    target.is_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn refusals_of_the_protocol_are_documents_with_a_hint() {
    let target = Target::new();
    let cases =
        [("application/json", "application/json", 406), ("application/json, text/event-stream", "text/plain", 415)];
    let torn = target.daemon.http.post(&target.daemon.url).bearer_auth(&target.token);
    let torn = torn.header("accept", "application/json, text/event-stream").header("content-type", "application/json");
    assert_eq!(torn.body("{").send().await.unwrap().status(), 400);
    for (accept, kind, wanted) in cases {
        let request = target.daemon.http.post(&target.daemon.url).bearer_auth(&target.token);
        let answer = request.header("accept", accept).header("content-type", kind).body("{}").send().await.unwrap();
        assert_eq!(answer.status(), wanted);
        assert_eq!(answer.headers()["content-type"], "application/json");
        let document: Value = answer.json().await.unwrap();
        let error = &document["error"];
        assert_eq!(error["code"], "invalid_argument", "{document}");
        assert!(error["hint"].as_str().is_some_and(|hint| hint.starts_with("send ")), "{document}");
    }
    let torn = target.daemon.post(&json!(null)).body("{").bearer_auth(&target.token).send().await.unwrap();
    assert!(torn.status().is_client_error());
    let document: Value = torn.json().await.unwrap();
    assert!(document["error"].is_object(), "{document}");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_not_let_in_and_what_is_not_there_are_told_with_a_hint() {
    let target = Target::new();
    let daemon = &target.daemon;
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let nobody = daemon.post(&message).send().await.unwrap();
    assert_eq!(nobody.headers()["www-authenticate"], "Bearer", "it names no metadata");
    let no_session = daemon.post(&message).bearer_auth(&target.token).header("mcp-session-id", "none").send();
    let nothing = daemon.get("/nothing").send();
    for (answer, status, code, hint) in [
        (nobody, 401, "unauthenticated", "token create"),
        (no_session.await.unwrap(), 404, "not_found", "initialize"),
        (nothing.await.unwrap(), 404, "not_found", "/mcp"),
    ] {
        assert_eq!(answer.status(), status);
        let document: Value = answer.json().await.unwrap();
        let error = &document["error"];
        assert_eq!(error["code"], code, "{document}");
        assert!(error["message"].is_string() && error["hint"].as_str().unwrap().contains(hint), "{document}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_slow_keeps_no_place_and_nobody_waiting() {
    let target = Target::new();
    let body = |length: usize| format!("Content-Type: application/json\r\nContent-Length: {length}\r\n");
    // A head that does not end, a body that does not come, and a large one that stops in its middle.
    let no_end = || target.head("POST", "/mcp", "").trim_end().to_owned();
    let no_body = || target.head("POST", "/api/v1/memories", &body(100));
    let half = || target.head("POST", "/api/v1/memories", &body(1 << 20)) + &"x".repeat(70 << 10);
    let heads: Vec<String> = (0..60)
        .map(|n| {
            if n < 3 {
                half()
            } else if n < 30 {
                no_body()
            } else {
                no_end()
            }
        })
        .collect();
    let began = Instant::now();
    let slow = join_all(heads.iter().map(async |head| {
        let mut stream = target.connect().await;
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut said = Vec::new();
        let _ = tokio::time::timeout(TIMEOUT, stream.read_to_end(&mut said)).await.expect("the daemon closes it");
        (began.elapsed(), String::from_utf8_lossy(&said).into_owned())
    }));
    // Somebody who asks for much and reads nothing of it.
    let deaf = async {
        let mut stream = target.connect().await;
        let asks = target.head("GET", "/api/v1/openapi.json", "").repeat(2_000);
        let written = tokio::time::timeout(TIMEOUT, stream.write_all(asks.as_bytes())).await;
        // Either the daemon closed the connection while it was written to, or it does so now.
        if !matches!(written, Ok(Err(_))) {
            tokio::time::sleep(Duration::from_secs(35)).await;
        }
        let mut said = Vec::new();
        let ended = tokio::time::timeout(TIMEOUT, stream.read_to_end(&mut said)).await;
        assert!(ended.is_ok(), "the daemon closes a connection that nobody reads from");
        let answered = statuses(&String::from_utf8_lossy(&said)).len();
        assert!(answered < 2_000, "{answered} answers were kept for somebody who did not read");
    };
    let others = async {
        for _ in 0..20 {
            let began = Instant::now();
            target.daemon.session(Some(&target.token)).await;
            assert!(began.elapsed() < Duration::from_secs(5), "others are answered meanwhile: {:?}", began.elapsed());
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    let (slow, (), ()) = tokio::join!(slow, deaf, others);
    for (n, (took, said)) in slow.into_iter().enumerate() {
        assert!(took < Duration::from_secs(45), "{took:?}");
        assert_eq!(statuses(&said), if n < 30 { vec!["408"] } else { vec![] }, "{said}");
    }
    target.is_well().await;
}
