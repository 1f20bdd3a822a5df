//! Tests of `eval retrieval` through the real binary: on a set so small that its numbers are known beforehand, and on
//! three of real text, which are found no worse than they were (docs/RETRIEVAL.md).

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::{Place, Ran, test_data};

/// Returns a corpus in which `b` and `d` have the same words and `e` has none.
fn corpus() -> String {
    lines(&[
        json!({"id": "a", "title": "Fruit", "text": "Bananas are yellow. They are fruit.", "workspace": "w1"}),
        json!({"id": "b", "title": "", "text": "A binary search halves a sorted list.", "ts": "2023-05-08T13:56:00",
            "workspace": "w1"}),
        json!({"id": "c", "text": "Retry a flaky network call with backoff.", "workspace": "w2"}),
        json!({"id": "d", "title": "", "text": "A binary search halves a sorted list.", "ts": "2023-05-08T13:56:00"}),
        json!({"id": "e", "title": "", "text": ""}),
        json!({"id": "long", "title": "t".repeat(500), "text": "Numbers of lotteries. ".repeat(10_000)}),
    ])
}

fn lines(values: &[Value]) -> String {
    values.iter().map(|value| format!("{value}\n")).collect()
}

fn evaluate(place: &Place, corpus: &str, queries: &str, more: &[&str]) -> Ran {
    let (corpus, queries) = (place.write("corpus.jsonl", corpus), place.write("queries.jsonl", queries));
    let files = ["--corpus", corpus.to_str().unwrap(), "--queries", queries.to_str().unwrap()];
    place.run(&[&["eval", "retrieval"][..], &files, more].concat())
}

#[test]
fn a_tiny_set_has_the_numbers_that_it_must_have() {
    let place = Place::new();
    let queries = lines(&[
        json!({"id": "all", "text": "fruit of yellow colour", "gold": ["a"]}),
        json!({"id": "elsewhere", "text": "retry the flaky network with backoff", "workspace": "w1", "gold": ["c"]}),
        json!({"id": "twins", "text": "binary search in a sorted list", "gold": {"b": 2, "d": 1, "a": 0}}),
        json!({"id": "excluded", "text": "binary search in a sorted list", "gold": ["d"], "exclude": ["b", "?"]}),
        json!({"id": "own", "text": "binary search in a sorted list", "workspace": "w1", "gold": ["b"]}),
        json!({"id": "unknown", "text": "lottery", "gold": ["long", "nowhere"]}),
        json!({"id": "unjudged", "text": "network"}),
    ]);
    let run = place.path("run.jsonl");
    let report = evaluate(&place, &corpus(), &queries, &["--json", "--k", "1,2", "--out", run.to_str().unwrap()]);
    let report = report.ok().json();

    let run: Vec<Value> =
        std::fs::read_to_string(run).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let hits = |n: usize| -> Vec<&str> {
        run[n]["hits"].as_array().unwrap().iter().map(|hit| hit.as_str().unwrap()).collect()
    };
    assert_eq!(
        run.iter().map(|line| line["id"].as_str().unwrap()).collect::<Vec<_>>(),
        ["all", "elsewhere", "twins", "excluded", "own", "unknown", "unjudged"]
    );
    assert!(run.iter().all(|line| line["ms"].as_f64().unwrap() > 0.0));
    assert_eq!(hits(0)[0], "a");
    assert_eq!(hits(1).iter().copied().collect::<BTreeSet<_>>(), BTreeSet::from(["a", "b"]));
    assert_eq!(hits(2)[..2], ["b", "d"]);
    assert_eq!(hits(3)[0], "d");
    assert!(!hits(3).contains(&"b"));
    assert_eq!(hits(4).iter().copied().collect::<BTreeSet<_>>(), BTreeSet::from(["a", "b"]));
    assert_eq!(hits(5)[0], "long");
    assert_eq!(hits(6)[0], "c");

    // The search for one of the six that are judged finds nothing, twins has half at 1, unknown has half of what it
    // should.
    let expected = |name: &str, sum: f64| {
        let mean = report["metrics"][name].as_f64().unwrap();
        assert!((mean - sum / 6.0).abs() < 1e-9, "{name}: {mean}");
    };
    expected("recall@1", 1.0 + 0.0 + 0.5 + 1.0 + 1.0 + 0.5);
    expected("recall@2", 1.0 + 0.0 + 1.0 + 1.0 + 1.0 + 0.5);
    expected("MRR@10", 5.0);
    expected("nDCG@10", 4.0 + 1.0 / (1.0 + 1.0 / 3f64.log2()));
    // Either list has both twins, in the order of the corpus; words alone find no network in w1, vectors something.
    for list in ["keyword", "vector"] {
        let of = |name: &str| report["by_list"][list][name].as_f64().unwrap() * 6.0;
        assert!((of("recall@2") - 4.5).abs() < 1e-9 && of("MRR@10") == 5.0, "{list}: {report}");
    }
    assert_eq!(report["corpus"], json!({"lines": 6, "workspaces": 2}));
    let counts = json!({"lines": 7, "scored": 6, "by_words_alone": 0, "gold_not_in_corpus": 1});
    assert_eq!(report["queries"], counts);
    for kind in ["with_embedding", "without_embedding"] {
        let ms = |percentile: &str| report["latency_ms"][kind][percentile].as_f64().unwrap();
        assert!(0.0 < ms("p50") && ms("p50") <= ms("p95") && ms("p95") <= ms("p99"), "{report}");
    }
    assert!(report["ingest"]["per_second"].as_f64().unwrap() > 0.0);
    assert!(!place.path("data").exists(), "the bank of the user was touched");
}

/// Each a little below what was measured: vectors differ in their last digits from one processor to another.
#[test]
fn small_sets_of_real_text_are_found_as_well_as_they_were() {
    let place = Place::new();
    for (name, least) in [("rust-errors", 0.88), ("rust-functions", 0.80), ("readme-sections", 0.79)] {
        let file = |part: &str| test_data(&format!("retrieval/{name}/{part}"));
        let (corpus, queries) = (file("corpus.jsonl"), file("queries.jsonl"));
        let asked = ["--json", "eval", "retrieval", "--corpus", &corpus, "--queries", &queries];
        let found = place.run(&asked).ok().json()["metrics"]["nDCG@10"].as_f64().unwrap();
        assert!(found >= least, "{name}: {found}");
    }
}

#[test]
fn people_are_shown_a_table() {
    let place = Place::new();
    let text = evaluate(&place, &corpus(), &lines(&[json!({"id": "q", "text": "fruit"})]), &[]).ok().stdout;
    for part in [
        "6 documents in 2 workspaces, 1 query, 0 of them scored",
        "recall@5         none           none",
        "p95",
        "documents a second",
    ] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn bad_lines_are_named_with_file_line_and_field() {
    let place = Place::new();
    let good = json!({"id": "q", "text": "fruit"}).to_string();
    let refused = evaluate(&place, &corpus(), &format!("{good}\n{{\"id\":7}}\n"), &["--json"]).exits(2).json();
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(message.contains("queries.jsonl") && message.contains("line 2, id: invalid type"), "{message}");
    let refused = evaluate(&place, "{\"id\":\"a\"}\n", &good, &["--json"]).exits(2).json();
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(message.contains("corpus.jsonl") && message.contains("line 1: missing field `text`"), "{message}");
    evaluate(&place, "", &good, &[]).exits(2);
    evaluate(&place, &corpus(), &good, &["--k", "0"]).exits(2);
}
