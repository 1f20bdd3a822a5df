//! Tests of `eval speed` through the real binary, on banks so small that its answers can be known: no index is
//! approximate.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::support::{Place, Ran};

fn number(value: &Value, path: &str) -> f64 {
    value.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("{path} of {value}"))
}

#[test]
fn a_small_bank_is_filled_asked_and_kept_in_shape() {
    let place = Place::new();
    let report = place.run(&["eval", "speed", "--rows", "200,100", "--json"]).ok().json();

    let banks = report["banks"].as_array().unwrap();
    assert_eq!(banks.iter().map(|bank| bank["rows"].as_u64().unwrap()).collect::<Vec<_>>(), [100, 200]);
    for bank in banks {
        let rows = number(bank, "/rows");
        // Vectors in memory have eight bits a number, which may turn round the tenth and the eleventh.
        assert!(number(bank, "/recall_at_10") > 0.98, "{bank}");
        assert_eq!(number(bank, "/recall_at_10_from_tables"), 1.0, "{bank}");
        let stored = number(bank, "/filled/per_second") * number(bank, "/filled/seconds");
        assert!((stored - rows).abs() < 1e-6 * rows, "{bank}");
        // A vector alone is four bytes a dimension.
        assert!(number(bank, "/disk_bytes") > rows * 384.0 * 4.0, "{bank}");
        assert_eq!(number(bank, "/served/upkeep/fresh_rows"), rows);
        for times in [
            "/served/query_ms/without_embedding",
            "/served/query_ms/with_embedding",
            "/served/query_ms/embedding",
            "/served/parts_ms/candidates",
            "/served/parts_ms/vector_list",
            "/served/parts_ms/text_list",
            "/served/parts_ms/bodies",
            "/served/upkeep/commit_ms",
            "/from_tables/query_ms",
        ] {
            let at = |percentile: &str| number(bank, &format!("{times}/{percentile}"));
            assert!(0.0 < at("p50") && at("p50") <= at("p95") && at("p95") <= at("p99"), "{times} of {bank}");
        }
        let (open, first) = (number(bank, "/served/open_ms"), number(bank, "/served/first_answer_ms"));
        assert!(0.0 < open && open < first, "{bank}");
        assert!(number(bank, "/served/resident_bytes") > 0.0, "{bank}");
        let query = number(bank, "/served/query_ms/with_embedding/p50");
        assert!(number(bank, "/served/query_ms/embedding/p50") <= query, "{bank}");
        assert!(number(bank, "/ratios/p99_to_p50") >= 1.0, "{bank}");
        if cfg!(target_os = "linux") {
            let (now, peak) = (number(bank, "/served/rss_bytes"), number(bank, "/served/rss_peak_bytes"));
            assert!(10e6 < now && now <= peak, "{bank}");
        }
    }
    let (stored, embedded) =
        (number(&report, "/texts/stored_per_second"), number(&report, "/texts/embedded_per_second"));
    assert!((number(&report, "/texts/stored_to_embedded") - stored / embedded).abs() < 1e-6, "{report}");
    assert_eq!(report["growth"][0]["from_rows"], 100);
    assert_eq!(report["growth"][0]["to_rows"], 200);
    assert!(!place.path("data").exists(), "the bank of the user was touched");
}

#[test]
fn a_small_bank_of_episodes_is_filled_asked_and_consolidated() {
    let place = Place::new();
    let report = place.run(&["eval", "speed", "--episodes", "100", "--patterns", "20", "--json"]).ok().json();
    let bank = &report["banks"][0];
    assert_eq!((&bank["episodes"], &bank["memories"], &bank["patterns"]), (&100.into(), &100.into(), &20.into()));
    let body = number(bank, "/filled/body_bytes");
    assert!((2_000.0..8_000.0).contains(&body), "{bank}");
    // Three vectors of one byte a dimension.
    assert!(number(bank, "/filled/vector_disk_bytes") > 3.0 * 384.0, "{bank}");
    assert!(number(bank, "/filled/disk_bytes") > 500.0, "{bank}");
    for times in [
        "/banks/0/without/memory_query_ms",
        "/banks/0/served/by_id_ms",
        "/banks/0/served/by_attributes_ms",
        "/banks/0/served/semantic_ms",
        "/banks/0/served/patterns_ms",
        "/banks/0/served/context_ms",
        "/banks/0/served/embedding_ms",
        "/banks/0/served/memory_query_ms",
        "/banks/0/served/record_ms",
        "/banks/0/from_tables/by_attributes_ms",
        "/banks/0/from_tables/semantic_ms",
        "/banks/0/consolidated/at_rest/semantic_ms",
        "/working/operation_ms",
        "/working/synced_ms",
    ] {
        let at = |percentile: &str| number(&report, &format!("{times}/{percentile}"));
        assert!(0.0 < at("p50") && at("p50") <= at("p95") && at("p95") <= at("p99"), "{times} of {report}");
    }
    let embedding = number(bank, "/served/embedding_ms/p50");
    assert!(number(bank, "/served/context_ms/p50") > embedding, "a context is embedded: {bank}");
    assert!(number(bank, "/consolidated/looked_at") >= 90.0, "{bank}");
    // So few episodes tell nothing that has to change.
    assert!(number(bank, "/consolidated/changes") >= 0.0 && number(bank, "/consolidated/seconds") > 0.0, "{bank}");
    assert!(!place.path("data").exists(), "the bank of the user was touched");
}

#[test]
fn where_it_is_asked_to_end_nothing_of_it_is_left() {
    let place = Place::new();
    let temporary = place.path("temporary");
    std::fs::create_dir(&temporary).unwrap();
    let entries = |directory: &Path| std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let mut command = place.command(&["eval", "speed", "--rows", "100000"]);
    command.env("TMPDIR", &temporary).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = command.spawn().unwrap();
    // A part is at work when its bank is there.
    while !entries(&temporary).any(|bank| bank.join("lance").exists()) {
        assert!(process.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::sleep(Duration::from_millis(20));
    }
    let sent = Command::new("kill").args(["-s", "TERM", &process.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let ended = Ran::of(process.wait_with_output().unwrap()).exits(1);
    assert!(ended.stderr.contains("ended by SIGTERM"), "{ended:?}");
    assert_eq!(entries(&temporary).count(), 0, "{ended:?}");
}

#[test]
fn sizes_out_of_range_are_refused() {
    Place::new().run(&["eval", "speed", "--rows", "99"]).exits(2);
    Place::new().run(&["eval", "speed", "--episodes", "99"]).exits(2);
    Place::new().run(&["eval", "speed", "--rows", "100", "--episodes", "100"]).exits(2);
}
