//! A language model at the other end of HTTP, which says what the test tells it to: it speaks the Responses and the
//! Chat Completions API, breaks answers off where it is told to, and notices when a client hangs up.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::sync::watch;

/// The longest that a test waits for anything. It is far above what anything takes.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A request as it arrived.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    /// The path: `/v1/responses`, `/v1/chat/completions` or `/v1/key`.
    pub(crate) path: String,
    /// The request from its first line to the empty line, in lower case.
    pub(crate) head: String,
    pub(crate) body: Value,
    pub(crate) at: Instant,
    /// The number of questions of the same purpose that came before.
    pub(crate) earlier: usize,
}

impl Asked {
    pub(crate) fn purpose(&self) -> &str {
        self.body["metadata"]["purpose"].as_str().unwrap_or_default()
    }

    /// Returns the number of the attempt, in 1..=k, or 0 where there is none.
    pub(crate) fn attempt(&self) -> u32 {
        self.body["metadata"]["attempt"].as_str().and_then(|attempt| attempt.parse().ok()).unwrap_or(0)
    }

    pub(crate) fn input(&self) -> &str {
        self.body["input"].as_str().or_else(|| self.body["messages"][1]["content"].as_str()).unwrap_or_default()
    }

    /// An answer was refused, and the model is asked again.
    pub(crate) fn is_repair(&self) -> bool {
        self.input().contains("Your answer was refused")
    }
}

/// The answer of the model.
#[derive(Debug, Clone)]
pub(crate) enum Reply {
    Text(String),
    /// A text, with the number of tokens that it has cost.
    Costly(String, u64),
    /// A body with status 200, whatever it says.
    Body(Value),
    Status(u16, Vec<(&'static str, &'static str)>, Value),
    /// The first half of a good answer, then the end of the connection.
    Truncated,
    /// The end of the connection instead of an answer.
    Closed,
    /// A good answer of which a byte comes now and then.
    Trickling,
    /// It answers nothing until the client hangs up.
    Never,
}

impl Reply {
    pub(crate) fn error(status: u16, message: &str) -> Self {
        Self::Status(status, Vec::new(), json!({"error": {"code": status, "message": message}}))
    }
}

type Script = dyn Fn(&Asked) -> Reply + Send + Sync;

struct Shared {
    script: Box<Script>,
    latency: Duration,
    asked: Mutex<Vec<Asked>>,
    /// The numbers of requests so far, and of clients that hung up while they waited for an answer.
    seen: watch::Sender<(usize, usize)>,
}

pub(crate) struct LlmServer {
    runtime: Option<Runtime>,
    address: SocketAddr,
    shared: Arc<Shared>,
}

impl LlmServer {
    /// A model that solves everything at the first try.
    pub(crate) fn good() -> Self {
        Self::new(Duration::ZERO, good)
    }

    /// A model that never answers the first question for the lessons of a session, and gives one lesson to the next.
    pub(crate) fn never_distilling_at_first() -> Self {
        Self::new(Duration::ZERO, |asked| match (asked.purpose(), asked.earlier) {
            ("distill", 0) => Reply::Never,
            _ => Reply::Text(
                json!({"learnings": [{
                    "title": "Keep a build directory for each branch",
                    "description": "When branches are switched often.",
                    "content": "Fingerprints follow modification times, which a checkout renews.", "pattern_tags": [],
                    "domain_category": "tooling", "difficulty_level": null, "error_context": null,
                }]})
                .to_string(),
            ),
        })
    }

    /// Starts a server that waits for `latency` before every answer.
    pub(crate) fn new(latency: Duration, script: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let script = Box::new(script);
        let shared = Arc::new(Shared { script, latency, asked: Mutex::default(), seen: watch::Sender::default() });
        let served = Arc::clone(&shared);
        runtime.spawn(async move {
            let listener = TcpListener::from_std(listener).unwrap();
            while let Ok((stream, _)) = listener.accept().await {
                let shared = Arc::clone(&served);
                // A client that ends a connection ends its task.
                tokio::spawn(async move { drop(serve(stream, &shared).await) });
            }
        });
        Self { runtime: Some(runtime), address, shared }
    }

    pub(crate) fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Every request so far.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.shared.asked.lock().unwrap().clone()
    }

    /// Returns the requests of one purpose.
    pub(crate) fn asked_to(&self, purpose: &str) -> Vec<Asked> {
        self.asked().into_iter().filter(|asked| asked.purpose() == purpose).collect()
    }

    /// Waits until `count` requests have come.
    pub(crate) fn wait_for_requests(&self, count: usize) {
        self.wait(|(requests, _)| *requests >= count);
    }

    /// Waits until `count` clients have hung up before they had an answer.
    pub(crate) fn wait_for_hang_ups(&self, count: usize) {
        self.wait(|(_, hung_up)| *hung_up >= count);
    }

    fn wait(&self, until: impl FnMut(&(usize, usize)) -> bool) {
        let mut seen = self.shared.seen.subscribe();
        let waited = self
            .runtime
            .as_ref()
            .unwrap()
            .block_on(async { tokio::time::timeout(TIMEOUT, seen.wait_for(until)).await.is_ok() });
        assert!(waited, "after {TIMEOUT:?}: {:?}", *self.shared.seen.borrow());
    }
}

impl Drop for LlmServer {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

async fn serve(stream: TcpStream, shared: &Shared) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    while let Some(asked) = read(&mut stream, shared).await? {
        let reply = (shared.script)(&asked);
        // Nothing comes before the answer but the end of the connection.
        let hung_up = async { !matches!(stream.fill_buf().await, Ok(bytes) if !bytes.is_empty()) };
        let waited = match reply {
            Reply::Never => hung_up.await,
            _ => tokio::time::timeout(shared.latency, hung_up).await.unwrap_or(false),
        };
        if waited {
            shared.seen.send_modify(|(_, hung_up)| *hung_up += 1);
            return Ok(());
        }
        let good = |text: &str, tokens| answer(&asked.path, text, tokens).to_string();
        let (status, headers, body) = match &reply {
            Reply::Text(text) => (200, vec![], good(text, 10)),
            Reply::Costly(text, tokens) => (200, vec![], good(text, *tokens)),
            Reply::Body(body) => (200, vec![], body.to_string()),
            Reply::Status(status, headers, body) => (*status, headers.clone(), body.to_string()),
            Reply::Truncated | Reply::Trickling => (200, vec![], good("never seen", 10)),
            Reply::Closed | Reply::Never => return Ok(()),
        };
        let headers: String = headers.into_iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let length = body.len();
        let head = format!(
            "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n{headers}\r\n"
        );
        match reply {
            Reply::Truncated => return stream.write_all(format!("{head}{}", &body[..length / 2]).as_bytes()).await,
            Reply::Trickling => {
                stream.write_all(head.as_bytes()).await?;
                for byte in body.bytes() {
                    tokio::time::sleep(Duration::from_millis(200)).await;
                    stream.write_all(&[byte]).await?;
                }
            }
            _ => stream.write_all(format!("{head}{body}").as_bytes()).await?,
        }
    }
    Ok(())
}

/// The next request of a connection; none at its end.
async fn read(stream: &mut BufReader<TcpStream>, shared: &Shared) -> std::io::Result<Option<Asked>> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if stream.read_line(&mut head).await? == 0 {
            return Ok(None);
        }
    }
    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
    let head = head.to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
    let mut body = vec![0; length.and_then(|length| length.trim().parse().ok()).unwrap_or(0)];
    stream.read_exact(&mut body).await?;
    let body = serde_json::from_slice(&body).unwrap_or_default();
    let mut asked = Asked { path, head, body, at: Instant::now(), earlier: 0 };
    let mut all = shared.asked.lock().unwrap();
    asked.earlier = all.iter().filter(|earlier| earlier.purpose() == asked.purpose()).count();
    all.push(asked.clone());
    drop(all);
    shared.seen.send_modify(|(requests, _)| *requests += 1);
    Ok(Some(asked))
}

/// Makes an answer in the form of the API that is asked.
fn answer(path: &str, text: &str, tokens: u64) -> Value {
    if path.ends_with("/chat/completions") {
        let message = json!({"role": "assistant", "content": text});
        let usage = json!({"prompt_tokens": tokens, "completion_tokens": tokens, "total_tokens": tokens * 2});
        return json!({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": usage});
    }
    let part = json!({"type": "output_text", "text": text, "annotations": []});
    let message = json!({"type": "message", "role": "assistant", "content": [part]});
    let usage = json!({"input_tokens": tokens, "output_tokens": tokens, "total_tokens": tokens * 2, "cost": 0.001});
    json!({"object": "response", "status": "completed", "output": [{"type": "reasoning"}, message], "usage": usage})
}

/// An evaluation with this score.
pub(crate) fn scored(score: f64) -> Reply {
    Reply::Text(json!({"score": score, "feedback": "as scored"}).to_string())
}

/// Returns the answer to any question of a model that solves everything at the first try.
pub(crate) fn good(asked: &Asked) -> Reply {
    let lesson = json!({
        "title": "Bisect with a half-open range", "description": "When searching sorted data.",
        "content": "Keep the upper bound exclusive and stop when the bounds meet.", "pattern_tags": ["search"],
        "domain_category": "algorithms", "difficulty_level": "simple", "error_context": null,
    });
    let text = match asked.purpose() {
        "think" => format!("draft {} of {}", asked.attempt(), asked.input()),
        "refine" => format!("refinement {}", asked.earlier + 1),
        "evaluate" => return scored(0.9),
        "judge" => {
            json!({"verdict": "success", "score": 0.9, "reasoning": "it works", "learnings": [lesson]}).to_string()
        }
        "contrast" => json!({"best_index": 1, "analysis": "alike", "learnings": [lesson]}).to_string(),
        "extract" => json!({"learnings": []}).to_string(),
        _ if asked.path.ends_with("/key") => return Reply::Body(json!({"data": {"label": "test"}})),
        other => return Reply::error(400, &format!("unknown purpose {other:?}")),
    };
    Reply::Text(text)
}
