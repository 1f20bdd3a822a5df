//! The other end of a connection, which keeps to no protocol: it records what it is sent and answers with bytes.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use serde_json::Value;

/// A request as it arrived.
#[derive(Debug, Clone)]
pub(super) struct Request {
    /// The request from its first line to the empty line.
    pub(super) head: String,
    pub(super) body: Value,
}

impl Request {
    pub(super) fn path(&self) -> &str {
        self.head.split(' ').nth(1).unwrap_or_default()
    }

    pub(super) fn purpose(&self) -> &str {
        self.body["metadata"]["purpose"].as_str().unwrap_or_default()
    }
}

/// The reply that is sent back.
#[derive(Debug, Clone)]
pub(super) enum Reply {
    /// These bytes, then the end of the connection.
    Bytes(Vec<u8>),
    /// The first, then the second again and again, until the client hangs up.
    Endless(Vec<u8>, Vec<u8>),
    /// These bytes, then nothing, until the client hangs up.
    Silent(Vec<u8>),
}

type Script = dyn Fn(&Request) -> Reply + Send + Sync;

pub(super) struct Peer {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<Request>>>,
    is_over: Arc<AtomicBool>,
    accepting: Option<JoinHandle<()>>,
}

impl Peer {
    pub(super) fn new(script: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (seen, is_over) = (Arc::<Mutex<Vec<Request>>>::default(), Arc::<AtomicBool>::default());
        let script: Arc<Script> = Arc::new(script);
        let (all, over) = (Arc::clone(&seen), Arc::clone(&is_over));
        let accepting = std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if over.load(Ordering::Relaxed) {
                    return;
                }
                let (all, script) = (Arc::clone(&all), Arc::clone(&script));
                // A client that hangs up ends its thread.
                std::thread::spawn(move || drop(serve(stream, &all, &*script)));
            }
        });
        Self { address, seen, is_over, accepting: Some(accepting) }
    }

    pub(super) fn port(&self) -> u16 {
        self.address.port()
    }

    /// Returns its `http://` address on this machine.
    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(super) fn seen(&self) -> Vec<Request> {
        self.seen.lock().unwrap().clone()
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        // Wakes the thread that accepts.
        let _ = TcpStream::connect(self.address);
        if let Some(accepting) = self.accepting.take() {
            let _ = accepting.join();
        }
    }
}

fn serve(stream: TcpStream, seen: &Mutex<Vec<Request>>, script: &Script) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if stream.read_until(b'\n', &mut head)? == 0 {
            return Ok(());
        }
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let lower = head.to_lowercase();
    let length = lower.lines().find_map(|line| line.strip_prefix("content-length:"));
    let mut body = vec![0; length.and_then(|length| length.trim().parse().ok()).unwrap_or(0)];
    stream.read_exact(&mut body)?;
    let request = Request { head, body: serde_json::from_slice(&body).unwrap_or_default() };
    seen.lock().unwrap().push(request.clone());
    let out = stream.get_mut();
    match script(&request) {
        Reply::Bytes(bytes) => out.write_all(&bytes),
        Reply::Endless(bytes, again) => {
            out.write_all(&bytes)?;
            loop {
                out.write_all(&again)?;
            }
        }
        Reply::Silent(bytes) => {
            out.write_all(&bytes)?;
            stream.read_to_end(&mut Vec::new()).map(drop)
        }
    }
}
