//! The life of one lesson, as clients of two projects of a team and of a stranger see it: it is learned from a failure,
//! shown to the next task, confirmed, forgotten over a year, derived from, and shared.

use std::sync::Arc;
use std::time::Duration;

use jiff::SignedDuration;
use reasoning_bank_actors::ports::Embedder;
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_actors::system::{System, SystemParts, SystemSettings};
use reasoning_bank_actors::testkit::{ManualClock, Scripted, parts};
use reasoning_bank_actors::workspaces::WorkspaceRef;
use reasoning_bank_domain::prompt::Purpose;
use serde_json::{Value, json};

use crate::embed::LocalEmbedder;
use crate::mcp::McpOptions;
use crate::mcp::server::Server;
use crate::mcp::test_client::{TestClient, options};
use crate::settings::{Destructive, Toolset};
use reasoning_bank_store::{LanceStore, Options};

const A_YEAR: SignedDuration = SignedDuration::from_hours(365 * 24);
const TASK: &str = "Parse the amounts in a CSV export of bank transactions; amounts may use a decimal comma.";
const NEXT_TASK: &str = "Read the amounts column of a CSV file of invoices from several countries.";
/// The project of Ann. Her team has the ledger too, the blog is another team's.
const SHOP: &str = "/home/ann/shop";
const LEDGER: &str = "/home/bob/ledger";
const BLOG: &str = "/home/eve/blog";

struct Bank {
    _dir: tempfile::TempDir,
    system: System,
    model: Scripted,
    clock: ManualClock,
}

impl Bank {
    async fn open() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let embedder: Arc<dyn Embedder> = Arc::new(LocalEmbedder::builtin());
        let store = LanceStore::open(dir.path(), embedder.fingerprint(), Options::default()).await.unwrap();
        let (model, clock) = (Scripted::new(), ManualClock::default());
        let parts = SystemParts {
            embedder,
            settings: SystemSettings { promotes_by_itself: true, ..SystemSettings::default() },
            clock: clock.clock(),
            ..parts(Arc::new(store), model.clone())
        };
        Self { _dir: dir, system: System::start(parts).await.unwrap(), model, clock }
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
        let mut client = TestClient::connect(Server::stdio(self.system.handle(), options));
        client.initialize().await;
        client
    }

    async fn share_the_team(&self, root: &str, team: &str) {
        let workspaces = self.system.handle().workspaces;
        let named = WorkspaceRef::Root(root.into());
        workspaces.trust(&named, Some(team.into()), None, Deadline::after(Duration::from_secs(20))).await.unwrap();
    }

    /// The model's first solution fails with a lesson to learn; the ones after it are good.
    fn let_the_model_fail_once(&self) {
        let failed = json!({
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
        });
        self.model
            .answer(Purpose::Think, |_| Ok("float(row['amount'])".into()))
            .answer(Purpose::Evaluate, |_| Ok(json!({"score": 0.9, "feedback": "fine"}).to_string()))
            .reply(Purpose::Judge, failed.to_string())
            .answer(Purpose::Judge, |_| {
                Ok(json!({"verdict": "success", "score": 0.9, "reasoning": "it works", "learnings": []}).to_string())
            });
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
    bank.let_the_model_fail_once();
    for (root, team) in [(SHOP, "payments"), (LEDGER, "payments"), (BLOG, "marketing")] {
        bank.share_the_team(root, team).await;
    }
    let mut ann = bank.client(SHOP).await;
    record_a_strategy(&mut ann).await;

    let warning = fail_a_task_and_learn_a_warning(&mut ann).await;
    the_next_solve_is_told(&bank, &mut ann, &warning).await;
    let proven = three_tasks_that_it_helped_in_raise_it(&mut ann, &warning).await;
    bank.clock.advance(A_YEAR);
    it_fades_behind_a_fresh_lesson(&mut ann, &warning, &proven).await;
    a_lesson_that_is_derived_from_it_names_it(&mut ann, &warning).await;

    let mut colleague = bank.client(SHOP).await;
    let promoted = evidence_of_a_second_source_promotes_it(&mut colleague, &warning).await;
    let mut bob = bank.client(LEDGER).await;
    the_sibling_project_finds_the_promoted_copy_alone(&mut bob, &promoted, &warning).await;
    let mut eve = bank.client(BLOG).await;
    the_other_team_sees_nothing(&mut eve, &promoted).await;

    for client in [ann, colleague, bob, eve] {
        client.close().await;
    }
    bank.system.stop(Duration::from_secs(5)).await;
}

async fn record_a_strategy(client: &mut TestClient) {
    ok(client, "record_memory", json!({
        "title": "Amounts in a CSV file with decimal comma",
        "description": "Reading amounts in a CSV file with a decimal comma.",
        "content": "Replace the decimal comma of amounts in the CSV file by a point and drop the thousands separator.",
    }))
    .await;
}

/// Returns the id of the warning.
async fn fail_a_task_and_learn_a_warning(client: &mut TestClient) -> Value {
    let failed = ok(client, "solve_coding_task", json!({"task": TASK, "matts_k": 1})).await;
    assert_eq!((&failed["outcome"], &failed["verdict_source"]), (&json!("failure"), &json!("judge")));
    failed["learnings"][0]["id"].clone()
}

async fn the_next_solve_is_told(bank: &Bank, client: &mut TestClient, warning: &Value) {
    let solved = ok(client, "solve_coding_task", json!({"task": NEXT_TASK, "matts_k": 1})).await;
    let asked = bank.asked(Purpose::Think);
    for told in ["A decimal comma read with a point-only parser", "WrongAmountError", "Detect the separator over"] {
        assert!(asked.contains(told), "{told} is not in {asked}");
    }
    let used = solved["memories_used"].as_array().unwrap();
    assert!(used.iter().any(|memory| memory["id"] == *warning && memory["warning"] == true), "{used:?}");
}

/// The confidence of the warning rises with each report, and so does its place. Returns what is found in the end.
async fn three_tasks_that_it_helped_in_raise_it(client: &mut TestClient, warning: &Value) -> Vec<Value> {
    let before = found(client).await;
    for n in 1..=3 {
        let report = json!({"memory_ids": [warning], "helpful": true, "task": format!("read the amounts of shop {n}")});
        let moved = ok(client, "report_outcome", report).await["updated"][0].clone();
        assert!(number(&moved, "confidence_after") > number(&moved, "confidence_before"), "{moved}");
    }
    let after = found(client).await;
    let (was, is) = (place_of(warning, &before), place_of(warning, &after));
    assert!(is < was, "{before:#?}\n{after:#?}");
    for score in ["confidence", "composite_score"] {
        assert!(number(&after[is], score) > number(&before[was], score), "{score}: {after:#?}");
    }
    after
}

/// The warning fades when nobody has used it for a year.
async fn it_fades_behind_a_fresh_lesson(client: &mut TestClient, warning: &Value, proven: &[Value]) {
    let rival = json!({
        "title": "Decimal comma in amounts of a CSV file",
        "description": "When amounts in a CSV file may have a decimal comma.",
        "content": "Parse amounts in the CSV file with the locale that the file names, decimal comma or not.",
    });
    ok(client, "record_memory", rival).await;
    let later = found(client).await;
    let (was, is) = (place_of(warning, proven), place_of(warning, &later));
    for score in ["confidence", "recency_score", "composite_score"] {
        assert!(number(&later[is], score) < number(&proven[was], score), "{score}: {later:#?}");
    }
    assert!(is > was, "{later:#?}");
}

async fn a_lesson_that_is_derived_from_it_names_it(client: &mut TestClient, warning: &Value) {
    let derived = json!({
        "title": "Detect separators over a sample of a thousand rows",
        "description": "When files are too large to read a whole column first.",
        "content": "A thousand rows decide on the separator; read the others with it and stop at the first contradiction.",
        "parent_memory_id": warning,
    });
    let derived = ok(client, "record_memory", derived).await["id"].clone();
    let tree = ok(client, "get_memory_genealogy", json!({"memory_id": derived})).await;
    assert_eq!((&tree["ancestors"][0]["id"], &tree["memory"]["evolution_stage"]), (warning, &json!(2)), "{tree}");
    let edges = tree["edges"].as_array().unwrap();
    assert!(edges.contains(&json!({"from": warning, "to": derived, "kind": "parent"})), "{tree}");
}

/// Returns the id of the copy that the team reads.
async fn evidence_of_a_second_source_promotes_it(client: &mut TestClient, warning: &Value) -> Value {
    let tests = json!({"kind": "tests", "passed": true, "detail": "12 passed"});
    let report = json!({"memory_ids": [warning], "helpful": true, "evidence": tests});
    let proved = ok(client, "report_outcome", report).await;
    assert!(number(&proved["updated"][0], "confidence_after") >= 0.9, "{proved}");
    let promoted = &proved["promoted"][0];
    assert_eq!((&promoted["promoted_from"], &promoted["scope"]), (warning, &json!("team")), "{proved}");
    promoted["id"].clone()
}

async fn the_sibling_project_finds_the_promoted_copy_alone(client: &mut TestClient, promoted: &Value, warning: &Value) {
    let shared = found(client).await;
    assert_eq!((shared.len(), &shared[0]["id"], &shared[0]["scope"]), (1, promoted, &json!("team")));
    assert_eq!(shared[0]["parent_memory_id"], *warning);
}

async fn the_other_team_sees_nothing(client: &mut TestClient, promoted: &Value) {
    assert_eq!(found(client).await, Vec::<Value>::new());
    let (refused, is_error) = client.call("get_memory", json!({"memory_id": promoted})).await;
    assert!(is_error && refused["code"] == "not_found", "{refused}");
}
