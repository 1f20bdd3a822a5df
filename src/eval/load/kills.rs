//! Kills a daemon under load, again and again, and holds what it acknowledged against what is stored. A client whose
//! write had no answer does not know whether it was carried out. It sends the same write again, with the same key,
//! until it is answered: then it must be stored once.

use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use axum::http::StatusCode;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::client::{HttpClient, Unanswered};
use super::daemon::DaemonProcess;
use super::failed;
use super::report::{Bar, BarsReport, Figure};
use super::stored::{StoredLesson, stored};
use super::traffic::{LoadLesson, drawn, key, new_query};
use crate::eval::EvalError;

const MEMORIES: &str = "/api/v1/memories";
const SEARCH: &str = "/api/v1/memories/search";
/// The number of lessons that each client has numbers for.
const LESSONS_OF_A_CLIENT: u64 = 1_000_000;
/// The most writes that a daemon acknowledges before it is killed, and the milliseconds that it has after the last of
/// them.
const MOST_ANSWERS: u64 = 20;
const MOST_MS: u64 = 30;
/// A daemon that does not acknowledge them by then is killed too.
const LONGEST_ROUND: Duration = Duration::from_secs(10);
/// One of this many rounds ends while the daemon starts, and so repairs what the last one left.
const EARLY: u64 = 5;
const EARLY_MS: u64 = 60;
/// The last daemon answers every write that is open within this time.
const LAST_ANSWERS: Duration = Duration::from_secs(60);
/// A daemon that has too much to do is asked again after this time.
const AGAIN_AFTER: Duration = Duration::from_millis(20);

/// The answers that a client was given, and what became of its writes that had no answer.
#[derive(Default)]
struct Told {
    /// The ids that were acknowledged, by the numbers of the lessons. None where the daemon said that the write was
    /// done and its answer lost.
    acknowledged: BTreeMap<u64, Option<String>>,
    /// The writes that were sent again because they had no answer.
    sent_again: u64,
    /// The writes that found their own lesson stored already, and so were carried out a second time.
    carried_out_again: u64,
    refused: Vec<String>,
}

/// Kills a daemon on the data directory `rounds` times, while a client for each token records and asks without a pause.
/// `done` is told the rounds.
pub(crate) async fn measure(
    rounds: u32,
    data_dir: &Path,
    tokens: &[String],
    done: impl Fn(u64),
) -> Result<BarsReport, EvalError> {
    let (addresses, seen) = watch::channel(None);
    let (acknowledged, mut counted) = watch::channel(0);
    let mut clients = JoinSet::new();
    for (number, token) in (1..).zip(tokens) {
        clients.spawn(DrillClient::new(number, token.clone(), acknowledged.clone()).work(seen.clone()));
    }
    drop((seen, acknowledged));
    for round in 0..u64::from(rounds) {
        let daemon = DaemonProcess::start(data_dir).await?;
        addresses.send_replace(Some(daemon.address));
        if round % EARLY == EARLY - 1 {
            sleep(Duration::from_millis(drawn(("early", round), EARLY_MS))).await;
        } else {
            let enough = *counted.borrow() + 1 + drawn(("answers", round), MOST_ANSWERS);
            let _ = timeout(LONGEST_ROUND, counted.wait_for(|count| *count >= enough)).await;
            sleep(Duration::from_millis(drawn(("more", round), MOST_MS))).await;
        }
        daemon.kill().await?;
        done(round + 1);
    }
    // The last daemon answers every write that is open, and ends in order.
    let last = DaemonProcess::start(data_dir).await?;
    addresses.send_replace(Some(last.address));
    drop(addresses);
    let told = timeout(LAST_ANSWERS, clients.join_all()).await.map_err(|error| failed("the last answers")(&error))?;
    last.terminate().await?;
    let stored = stored(data_dir).await?;
    let about = format!(
        "{} clients, each with its own token, recorded and asked without a pause while the daemon was killed {rounds} times \
         (SIGKILL) and started again",
        tokens.len()
    );
    Ok(report(about, rounds, &told, &stored))
}

/// A client of the drill.
struct DrillClient {
    number: u64,
    token: String,
    /// The lesson that is recorded next, or again.
    lesson: u64,
    /// The lesson was sent and had no answer.
    is_open: bool,
    told: Told,
    /// The number of writes that were acknowledged, to all clients together.
    acknowledged: watch::Sender<u64>,
}

impl DrillClient {
    fn new(number: u64, token: String, acknowledged: watch::Sender<u64>) -> Self {
        let lesson = number * LESSONS_OF_A_CLIENT;
        Self { number, token, lesson, is_open: false, told: Told::default(), acknowledged }
    }

    /// Records lessons and asks, one after the other, at the address that is valid. It ends when there will be no
    /// further address and its last write is answered.
    async fn work(mut self, mut addresses: watch::Receiver<Option<SocketAddr>>) -> Told {
        loop {
            let address = *addresses.borrow_and_update();
            if !self.is_open && addresses.has_changed().is_err() {
                return self.told;
            }
            if let Some(address) = address {
                self.use_daemon(address, &addresses).await;
            }
            // Without an answer the daemon is gone, and another one comes, unless this is the last.
            if addresses.changed().await.is_err() {
                sleep(AGAIN_AFTER).await;
            }
        }
    }

    /// Records and asks until there is no answer, or until this is the last daemon and no write is open.
    async fn use_daemon(&mut self, address: SocketAddr, addresses: &watch::Receiver<Option<SocketAddr>>) {
        let mut http = HttpClient::new(address, &self.token, key(self.number));
        while self.record(&mut http).await.is_ok() && addresses.has_changed().is_ok() {
            let query = json!({"query": new_query(self.number, self.lesson)});
            if http.post(SEARCH, &[], &query).await.is_err() {
                return;
            }
        }
    }

    /// Records the next lesson, or the one that is open.
    async fn record(&mut self, http: &mut HttpClient) -> Result<(), Unanswered> {
        let (lesson, arguments) = (self.lesson, LoadLesson::of(self.lesson).arguments());
        let idempotency_key = format!("lesson-{lesson}");
        let headers = [("idempotency-key", idempotency_key.as_str())];
        self.told.sent_again += u64::from(self.is_open);
        self.is_open = true;
        let (status, document) = loop {
            let answer = http.post(MEMORIES, &headers, &arguments).await?;
            let document: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
            if document["error"]["retryable"] != true {
                break (answer.status, document);
            }
            sleep(AGAIN_AFTER).await;
        };
        self.told.carried_out_again += u64::from(document["status"] == "reinforced");
        let id = match document["id"].as_str() {
            Some(id) if status.is_success() => Some(Some(id.to_owned())),
            _ if status == StatusCode::CONFLICT => Some(None),
            _ => None,
        };
        match id {
            Some(id) => {
                self.told.acknowledged.insert(lesson, id);
                self.acknowledged.send_modify(|count| *count += 1);
            }
            None => self.told.refused.push(format!("{status}: {document}")),
        }
        (self.lesson, self.is_open) = (lesson + 1, false);
        Ok(())
    }
}

fn report(about: String, rounds: u32, told: &[Told], stored: &[StoredLesson]) -> BarsReport {
    let mut by_number: HashMap<u64, Vec<&StoredLesson>> = HashMap::new();
    let mut torn = 0;
    for stored in stored {
        match LoadLesson::number(&stored.lesson.title).filter(|number| LoadLesson::of(*number) == stored.lesson) {
            Some(number) => by_number.entry(number).or_default().push(stored),
            None => torn += 1,
        }
    }
    let acknowledged: Vec<(u64, Option<&str>)> =
        told.iter().flat_map(|told| &told.acknowledged).map(|(number, id)| (*number, id.as_deref())).collect();
    let is_there = |number: u64, id: Option<&str>| {
        by_number.get(&number).is_some_and(|all| all.iter().any(|one| id.is_none_or(|id| one.id == id)))
    };
    let lost = acknowledged.iter().filter(|(number, id)| !is_there(*number, *id)).count();
    let doubled = by_number.values().filter(|all| all.len() > 1).count();
    let refused: Vec<String> = told.iter().flat_map(|told| &told.refused).cloned().collect();
    let carried_out_again: u64 = told.iter().map(|told| told.carried_out_again).sum();
    let sent_again: u64 = told.iter().map(|told| told.sent_again).sum();
    let none = Bar::AtMost(0.0);
    let figures = vec![
        Figure::new("kills", "kills of the daemon", f64::from(rounds), ""),
        Figure::new("acknowledged", "lessons that were acknowledged", acknowledged.len() as f64, ""),
        Figure::new("sent_again", "writes sent again, as they had no answer", sent_again as f64, ""),
        Figure::new("lost", "lessons that were acknowledged and are not stored", lost as f64, "").held_to(none),
        Figure::new("doubled", "lessons that are stored twice", doubled as f64, "").held_to(none),
        Figure::new("carried_out_again", "writes that were carried out a second time", carried_out_again as f64, "")
            .held_to(none),
        Figure::new("torn", "lessons that are stored with other words", f64::from(torn), "").held_to(none),
        Figure::new("refused", "writes that were refused", refused.len() as f64, "").held_to(none),
    ];
    BarsReport::new(about, figures, refused.into_iter().take(5).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_doubled_and_torn_lessons_are_counted() {
        let stored = |id: &str, lesson| StoredLesson { id: id.into(), lesson, has_vectors: true };
        let torn = LoadLesson { content: "half of".into(), ..LoadLesson::of(4) };
        let bank = [
            stored("a", LoadLesson::of(1)),
            stored("b", LoadLesson::of(2)),
            stored("c", LoadLesson::of(2)),
            stored("d", torn),
            stored("e", LoadLesson::of(5)),
        ];
        let acknowledged = [(1, Some("a")), (2, None), (3, Some("x")), (5, Some("another")), (6, None)];
        let acknowledged = acknowledged.map(|(number, id)| (number, id.map(str::to_owned))).into();
        let told = Told { acknowledged, sent_again: 2, carried_out_again: 3, refused: vec!["500".into()] };
        let report = report(String::new(), 7, &[told], &bank);
        let value = |name: &str| report.figures.iter().find(|figure| figure.name == name).unwrap().value.unwrap();
        assert_eq!((value("acknowledged"), value("lost"), value("doubled"), value("torn")), (5.0, 3.0, 1.0, 1.0));
        assert_eq!((value("kills"), value("sent_again"), value("refused")), (7.0, 2.0, 1.0));
        assert_eq!(value("carried_out_again"), 3.0);
        assert!(!report.is_met());
    }
}
