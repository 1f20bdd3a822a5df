use rmcp::model::ServerResult;
use rstest::rstest;
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader, DuplexStream};
use tokio::task::JoinHandle;

use super::*;

const PING: &str = r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#;

/// A transport, the client's end of its streams, and its writing task.
struct Wire {
    transport: LineTransport<DuplexStream>,
    input: DuplexStream,
    output: BufReader<DuplexStream>,
    writing: JoinHandle<io::Result<()>>,
}

fn wire() -> Wire {
    let (input, read) = tokio::io::duplex(1 << 16);
    let (write, output) = tokio::io::duplex(1 << 16);
    let (transport, writing) = LineTransport::new(read, write, CancellationToken::new());
    Wire { transport, input, output: BufReader::new(output), writing: tokio::spawn(writing) }
}

impl Wire {
    async fn write(&mut self, text: impl AsRef<[u8]>) {
        self.input.write_all(text.as_ref()).await.unwrap();
        self.input.write_all(b"\n").await.unwrap();
    }

    async fn read(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).await.unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// The id of the next message that comes through.
    async fn next_id(&mut self) -> Option<RequestId> {
        match self.transport.receive().await? {
            ClientJsonRpcMessage::Request(request) => Some(request.id),
            other => panic!("a request, not {other:?}"),
        }
    }
}

#[rstest]
#[case::not_json("hello")]
#[case::incomplete(r#"{"jsonrpc":"2.0","id":1,"method":"#)]
#[case::two_on_one_line(r#"{"jsonrpc":"2.0","id":1,"method":"ping"} {}"#)]
#[case::not_utf8(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\xfe\"}")]
#[case::nul_bytes(b"\0\0\0")]
#[case::blank("  \t")]
#[case::nested_without_end("[".repeat(10_000))]
#[case::malformed_notification(r#"{"jsonrpc":"1.0","method":"notifications/cancelled"}"#)]
#[case::malformed_answer(r#"{"jsonrpc":"2.0","result":[],"error":{}}"#)]
#[tokio::test]
async fn a_line_that_cannot_be_answered_is_skipped(#[case] line: impl AsRef<[u8]>) {
    let mut wire = wire();
    wire.write(line).await;
    wire.write(PING).await;
    assert_eq!(wire.next_id().await, Some(RequestId::Number(7)));
    drop(wire.transport);
    let mut rest = String::new();
    wire.output.read_line(&mut rest).await.unwrap();
    assert_eq!(rest, "", "nothing is answered");
}

#[rstest]
#[case::batch(&format!("[{PING}]"), None)]
#[case::empty_batch("[]", None)]
#[case::a_number("5", None)]
#[case::an_empty_object("{}", None)]
#[case::without_a_method(r#"{"jsonrpc":"2.0","id":5}"#, Some(json!(5)))]
#[case::another_version(r#"{"jsonrpc":"1.0","id":"a","method":"ping"}"#, Some(json!("a")))]
#[case::a_fractional_id(r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, None)]
#[case::a_null_id(r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, None)]
#[tokio::test]
async fn json_that_is_no_message_is_refused_under_its_id(#[case] line: &str, #[case] id: Option<Value>) {
    let mut wire = wire();
    wire.write(line).await;
    wire.write(PING).await;
    assert_eq!(wire.next_id().await, Some(RequestId::Number(7)));
    let refusal = wire.read().await;
    assert_eq!(refusal["error"]["code"], -32600, "{refusal}");
    assert_eq!(refusal.get("id").cloned(), id, "{refusal}");
}

#[tokio::test]
async fn a_line_may_begin_with_a_byte_order_mark_and_end_with_crlf() {
    let mut wire = wire();
    wire.write(format!("\u{feff}{PING}\r")).await;
    assert_eq!(wire.next_id().await, Some(RequestId::Number(7)));
}

#[tokio::test]
async fn the_last_line_needs_no_line_end() {
    let mut wire = wire();
    wire.input.write_all(PING.as_bytes()).await.unwrap();
    wire.input.shutdown().await.unwrap();
    assert_eq!(wire.next_id().await, Some(RequestId::Number(7)));
    assert_eq!(wire.next_id().await, None);
    assert_eq!(wire.next_id().await, None, "the end stays the end");
}

#[tokio::test]
async fn an_oversized_line_is_skipped_and_the_next_one_read() {
    let Wire { mut transport, mut input, .. } = wire();
    let client = tokio::spawn(async move {
        let piece = vec![b'x'; 1 << 20];
        for _ in 0..9 {
            input.write_all(&piece).await.unwrap();
        }
        input.write_all(format!("\n{PING}\n").as_bytes()).await.unwrap();
        input
    });
    let message = transport.receive().await;
    assert!(matches!(message, Some(ClientJsonRpcMessage::Request(request)) if request.id == RequestId::Number(7)));
    drop(client.await.unwrap());
    assert!(transport.receive().await.is_none());
}

#[tokio::test]
async fn what_is_sent_is_written_before_the_writing_ends() {
    let mut wire = wire();
    let mut other = wire.transport.clone();
    for id in 0..3 {
        let answer = ServerJsonRpcMessage::response(ServerResult::empty(()), RequestId::Number(id));
        other.send(answer).await.unwrap();
    }
    drop((wire.transport, other));
    wire.writing.await.unwrap().unwrap();
    for id in 0..3 {
        let mut line = String::new();
        wire.output.read_line(&mut line).await.unwrap();
        assert_eq!(serde_json::from_str::<Value>(&line).unwrap(), json!({"jsonrpc": "2.0", "id": id, "result": {}}));
    }
}

#[tokio::test]
async fn a_client_that_no_longer_reads_ends_the_session() {
    let Wire { mut transport, input, output, writing } = wire();
    drop(output);
    let answer = ServerJsonRpcMessage::response(ServerResult::empty(()), RequestId::Number(1));
    transport.send(answer).await.unwrap();
    assert!(writing.await.unwrap().is_err());
    assert!(transport.receive().await.is_none(), "though its input is still open");
    drop(input);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_stalls_for_long_ends_the_session_though_the_end_of_its_input_is_behind_its_answers() {
    let Wire { mut transport, input, output, writing } = wire();
    let answer = || ServerJsonRpcMessage::response(ServerResult::empty(()), RequestId::Number(1));
    // The clock stands while anything can still be done: it runs out when every answer waits.
    while tokio::time::timeout(Duration::from_millis(1), transport.send(answer())).await.is_ok() {}
    drop(input);
    let received = tokio::time::timeout(WRITE_STALL * 2, transport.receive()).await;
    assert!(matches!(received, Ok(None)), "{received:?}");
    assert_eq!(writing.await.unwrap().unwrap_err().kind(), io::ErrorKind::TimedOut);
    drop(output);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_reads_slowly_is_written_to_for_as_long_as_it_takes() {
    let (_input, read) = tokio::io::duplex(1 << 16);
    let (write, mut output) = tokio::io::duplex(1);
    let (mut transport, writing) = LineTransport::new(read, write, CancellationToken::new());
    let writing = tokio::spawn(writing);
    transport.send(ServerJsonRpcMessage::response(ServerResult::empty(()), RequestId::Number(1))).await.unwrap();
    drop(transport);
    let (mut text, mut byte) = (Vec::new(), [0]);
    while output.read(&mut byte).await.unwrap() > 0 {
        text.extend(byte);
        tokio::time::advance(WRITE_STALL / 2).await;
    }
    assert_eq!(text.last(), Some(&b'\n'));
    writing.await.unwrap().unwrap();
}

#[test]
fn a_message_of_nothing_but_small_values_is_refused_under_its_id_before_it_is_built() {
    for values in ["0,".repeat(2 << 20), "{},".repeat(2 << 20), "{\"a\":0},".repeat(1 << 19)] {
        let call = |rest: &str| {
            format!("{{\"jsonrpc\":\"2.0\",\"method\":\"tools/call\",\"params\":{{\"a\":[{values}0]}}{rest}}}")
        };
        assert!(call("").len() <= MAX_LINE_BYTES);
        match understand(call(",\"id\":7").as_bytes()) {
            Incoming::Refused { id, problem } => {
                assert_eq!((id, problem), (Some(RequestId::Number(7)), TOO_MANY_VALUES));
                assert!(problem.contains(&MAX_VALUES.to_string()));
            }
            _ => panic!("it was taken"),
        }
        assert!(matches!(understand(call("").as_bytes()), Incoming::Nothing), "a notification");
        assert!(matches!(understand(format!("[{values}0]").as_bytes()), Incoming::Unreadable(_)));
    }
}
