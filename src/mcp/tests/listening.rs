//! The end of a server while a client of the revision without a handshake listens for news. No tool of the product has
//! news, so the handler is one of the test.

use std::sync::Arc;
use std::time::{Duration, Instant};

use reasoning_bank_actors::system::System;
use reasoning_bank_actors::testkit::memory_store::MemStore;
use reasoning_bank_actors::testkit::{Scripted, parts};
use rmcp::ServerHandler;
use rmcp::model::{ServerCapabilities, ServerConfig, SubscriptionFilter};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

use crate::http::{ApiRoutes, Daemon};
use crate::mcp::http_route;
use crate::metrics::ServerMetrics;
use crate::settings::{DEFAULTS, HttpSection};

/// A server whose tools change now and then.
#[derive(Clone)]
struct ChangingServer;

impl ServerHandler for ChangingServer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().enable_tool_list_changed().build())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.supported_by(&self.get_info().capabilities))
    }
}

/// The request of a client that listens.
fn listening(host: &str) -> String {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({"_meta": meta, "notifications": {"toolsListChanged": true}});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": params}).to_string();
    format!(
        "POST /mcp HTTP/1.1\r\nHost: {host}\r\nAccept: application/json, text/event-stream\r\n\
         Content-Type: application/json\r\nMcp-Protocol-Version: 2026-07-28\r\nMcp-Method: subscriptions/listen\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

#[tokio::test]
async fn a_client_that_listens_does_not_keep_the_server_from_its_end() {
    let dir = tempfile::tempdir().unwrap();
    let defaults: toml::Table = DEFAULTS.parse().unwrap();
    let defaults: HttpSection = defaults["http"].clone().try_into().unwrap();
    let options = HttpSection { listen: "127.0.0.1:0".parse().unwrap(), ..defaults };
    let system = System::start(parts(Arc::new(MemStore::new()), Scripted::new())).await.unwrap();
    let daemon = Daemon::bind(&options, dir.path()).await.unwrap();
    let (address, end) = (daemon.address(), CancellationToken::new());
    let metrics = Arc::<ServerMetrics>::default();
    let served =
        daemon.serve_route(system.handle(), http_route(ChangingServer), ApiRoutes::default(), metrics, end.clone());
    let client = async {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(listening(&address.to_string()).as_bytes()).await.unwrap();
        let mut read = Vec::new();
        while !String::from_utf8_lossy(&read).contains("jsonrpc") {
            assert_ne!(stream.read_buf(&mut read).await.unwrap(), 0, "{}", String::from_utf8_lossy(&read));
        }
        let text = String::from_utf8_lossy(&read).to_string();
        assert!(text.starts_with("HTTP/1.1 200") && text.contains("text/event-stream"), "{text}");
        let begun = Instant::now();
        end.cancel();
        // The stream ends as a whole one.
        stream.read_to_end(&mut read).await.unwrap();
        assert!(read.ends_with(b"0\r\n\r\n"), "{}", String::from_utf8_lossy(&read));
        begun
    };
    let ((), begun) = tokio::join!(served, client);
    assert!(begun.elapsed() < Duration::from_secs(3), "nothing else is open: {:?}", begun.elapsed());
    system.stop(Duration::ZERO).await;
}
