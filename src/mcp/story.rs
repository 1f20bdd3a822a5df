//! One lesson's life, as clients of two projects of a team and of a stranger see it: learned from a failure, shown to the
//! next task, confirmed, forgotten over a year, derived from, shared. Over the real store and the real embedding model,
//! with a clock that the test turns.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use futures::FutureExt;
use jiff::Timestamp;
use reasoning_bank_actors::memories::WorkspaceRef;
use reasoning_bank_actors::ports::{Clock, Embedder, MemoryStore, StoreError};
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_actors::system::{Parts, System, SystemSettings};
use reasoning_bank_actors::testkit::Scripted;
use reasoning_bank_domain::prompt::Purpose;
use serde_json::{Value, json};

use super::consent::Destructive;
use super::server::{McpOptions, Server};
use super::test_client::{TestClient, options};
use super::tools::Toolset;
use crate::embed::LocalEmbedder;
use crate::store::{LanceStore, Options};

const DAY: i64 = 24 * 3600;
const TASK: &str = "Parse the amounts in a CSV export of bank transactions; amounts may use a decimal comma.";
const NEXT_TASK: &str = "Read the amounts column of a CSV file of invoices from several countries.";

struct Bank {
    _dir: tempfile::TempDir,
    system: System,
    model: Scripted,
    seconds: Arc<AtomicI64>,
}

impl Bank {
    async fn open() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let embedder: Arc<dyn Embedder> = Arc::new(LocalEmbedder::builtin());
        let store = LanceStore::open(dir.path(), embedder.fingerprint(), Options::default()).await.unwrap();
        let store: Arc<dyn MemoryStore> = Arc::new(store);
        let (model, seconds) = (Scripted::new(), Arc::new(AtomicI64::new(1_790_000_000)));
        let time = Arc::clone(&seconds);
        let parts = Parts {
            store: Arc::new(move || {
                let store = Arc::clone(&store);
                async move { Ok::<_, StoreError>(store) }.boxed()
            }),
            embedder,
            model: Arc::new(model.clone()),
            provider: "scripted".into(),
            settings: SystemSettings { promotes_by_itself: true, ..SystemSettings::default() },
            clock: Clock::new(move || Timestamp::from_second(time.load(Ordering::SeqCst)).unwrap()),
            background: None,
        };
        Self { _dir: dir, system: System::start(parts).await.unwrap(), model, seconds }
    }

    /// A client at work in this project.
    async fn client(&self, root: &str) -> TestClient {
        let options = McpOptions {
            workspace: Some(WorkspaceRef::Root(root.into())),
            toolsets: vec![Toolset::All],
            destructive: Destructive::Allow,
            captures: true,
            ..options()
        };
        let mut client = TestClient::connect(Server::new(self.system.handle(), options));
        client.initialize().await;
        client
    }

    async fn trust(&self, root: &str, team: &str) {
        let workspaces = self.system.handle().workspaces;
        let named = WorkspaceRef::Root(root.into());
        workspaces.trust(&named, Some(team.into()), None, Deadline::after(Duration::from_secs(20))).await.unwrap();
    }

    fn let_pass(&self, seconds: i64) {
        self.seconds.fetch_add(seconds, Ordering::SeqCst);
    }

    /// The last request of this purpose.
    fn asked(&self, purpose: Purpose) -> String {
        let requests = self.model.requests();
        requests.iter().rev().find(|request| request.purpose == purpose).unwrap().input.clone()
    }
}

async fn ok(client: &mut TestClient, tool: &str, arguments: Value) -> Value {
    let (answer, failed) = client.call(tool, arguments).await;
    assert!(!failed, "{tool}: {answer}");
    answer
}

async fn found(client: &mut TestClient) -> Vec<Value> {
    let query = json!({"query": "amounts in a CSV file with decimal comma", "n_results": 10});
    ok(client, "retrieve_memories", query).await["memories"].as_array().unwrap().clone()
}

fn place_of(id: &Value, memories: &[Value]) -> usize {
    memories.iter().position(|memory| memory["id"] == *id).unwrap_or_else(|| panic!("{id} is not in {memories:?}"))
}

fn number(memory: &Value, field: &str) -> f64 {
    memory[field].as_f64().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lesson_is_learned_from_a_failure_proves_itself_fades_and_is_shared_with_the_team_alone() {
    let bank = Bank::open().await;
    bank.model
        .answer(Purpose::Think, |_| Ok("float(row['amount'])".into()))
        .answer(Purpose::Evaluate, |_| Ok(json!({"score": 0.9, "feedback": "fine"}).to_string()))
        .reply(Purpose::Judge, json!({
            "verdict": "failure", "score": 0.2, "reasoning": "1.234,50 is read as 1.234",
            "learnings": [{
                "title": "A decimal comma read with a point-only parser loses digits",
                "description": "When amounts in CSV files come from several countries.",
                "content": "Decide on the decimal separator by column before parsing amounts, never by single values.",
                "pattern_tags": ["csv"], "domain_category": "data", "difficulty_level": null,
                "error_context": {
                    "error_type": "WrongAmountError",
                    "failure_pattern": "A parser that knows only the decimal point read 1.234,50 as 1.234.",
                    "corrective_guidance": "Detect the separator over the whole column, then normalise each amount.",
                },
            }],
        }).to_string())
        .answer(Purpose::Judge, |_| {
            Ok(json!({"verdict": "success", "score": 0.9, "reasoning": "it works", "learnings": []}).to_string())
        });
    bank.trust("/home/ann/shop", "payments").await;
    bank.trust("/home/bob/ledger", "payments").await;
    bank.trust("/home/eve/blog", "marketing").await;
    let mut ann = bank.client("/home/ann/shop").await;
    ok(&mut ann, "record_memory", json!({
        "title": "Amounts in a CSV file with decimal comma",
        "description": "Reading amounts in a CSV file with a decimal comma.",
        "content": "Replace the decimal comma of amounts in the CSV file by a point and drop the thousands separator.",
    }))
    .await;

    // A task fails.
    let failed = ok(&mut ann, "solve_coding_task", json!({"task": TASK, "matts_k": 1})).await;
    assert_eq!((&failed["outcome"], &failed["verdict_source"]), (&json!("failure"), &json!("judge")));
    let warning = failed["learnings"][0]["id"].clone();

    // The next solve is told.
    let solved = ok(&mut ann, "solve_coding_task", json!({"task": NEXT_TASK, "matts_k": 1})).await;
    let asked = bank.asked(Purpose::Think);
    for told in ["A decimal comma read with a point-only parser", "WrongAmountError", "Detect the separator over"] {
        assert!(asked.contains(told), "{told} is not in {asked}");
    }
    let used = solved["memories_used"].as_array().unwrap();
    assert!(used.iter().any(|memory| memory["id"] == warning && memory["warning"] == true), "{used:?}");

    // It helped in three tasks: its confidence rises, and so does its place.
    let before = found(&mut ann).await;
    for n in 1..=3 {
        let report = json!({"memory_ids": [warning], "helpful": true, "task": format!("read the amounts of shop {n}")});
        let moved = ok(&mut ann, "report_outcome", report).await["updated"][0].clone();
        assert!(number(&moved, "confidence_after") > number(&moved, "confidence_before"), "{moved}");
    }
    let after = found(&mut ann).await;
    assert!(place_of(&warning, &after) < place_of(&warning, &before), "{before:#?}\n{after:#?}");
    let of = |memories: &[Value]| memories[place_of(&warning, memories)].clone();
    assert!(number(&of(&after), "confidence") > number(&of(&before), "confidence"));
    assert!(number(&of(&after), "composite_score") > number(&of(&before), "composite_score"));

    // A year passes without any use: it fades, and a fresh lesson on the matter goes before it.
    bank.let_pass(365 * DAY);
    let rival = json!({
        "title": "Decimal comma in amounts of a CSV file",
        "description": "When amounts in a CSV file may have a decimal comma.",
        "content": "Parse amounts in the CSV file with the locale that the file names, decimal comma or not.",
    });
    ok(&mut ann, "record_memory", rival).await;
    let later = found(&mut ann).await;
    for score in ["confidence", "recency_score", "composite_score"] {
        assert!(number(&of(&later), score) < number(&of(&after), score), "{score}: {later:#?}");
    }
    assert!(place_of(&warning, &later) > place_of(&warning, &after), "{later:#?}");

    // A lesson is derived from it.
    let derived = ok(&mut ann, "record_memory", json!({
        "title": "Detect separators over a sample of a thousand rows",
        "description": "When files are too large to read a whole column first.",
        "content": "A thousand rows decide on the separator; read the others with it and stop at the first contradiction.",
        "parent_memory_id": warning,
    }))
    .await["id"]
        .clone();
    let tree = ok(&mut ann, "get_memory_genealogy", json!({"memory_id": derived})).await;
    assert_eq!((&tree["ancestors"][0]["id"], &tree["memory"]["evolution_stage"]), (&warning, &json!(2)), "{tree}");
    let edges = tree["edges"].as_array().unwrap();
    assert!(edges.contains(&json!({"from": warning, "to": derived, "kind": "parent"})), "{tree}");

    // Evidence of a second source makes it fit to be shared.
    let mut colleague = bank.client("/home/ann/shop").await;
    let tests = json!({"memory_ids": [warning], "helpful": true, "evidence": {"kind": "tests", "passed": true, "detail": "12 passed"}});
    let proved = ok(&mut colleague, "report_outcome", tests).await;
    assert!(number(&proved["updated"][0], "confidence_after") >= 0.9, "{proved}");
    let promoted = proved["promoted"][0].clone();
    assert_eq!((&promoted["promoted_from"], &promoted["scope"]), (&warning, &json!("team")), "{proved}");

    // The sibling project reads it, the other team does not.
    let mut bob = bank.client("/home/bob/ledger").await;
    let shared = found(&mut bob).await;
    assert_eq!((shared.len(), &shared[0]["id"], &shared[0]["scope"]), (1, &promoted["id"], &json!("team")));
    assert_eq!(shared[0]["parent_memory_id"], warning);
    let mut eve = bank.client("/home/eve/blog").await;
    assert_eq!(found(&mut eve).await, Vec::<Value>::new());
    let (refused, is_error) = eve.call("get_memory", json!({"memory_id": promoted["id"]})).await;
    assert!(is_error && refused["code"] == "not_found", "{refused}");

    for client in [ann, colleague, bob, eve] {
        client.close().await;
    }
    bank.system.stop(Duration::from_secs(5)).await;
}
