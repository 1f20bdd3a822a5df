//! An answer has what is about the question, and nothing where nothing is.

use rstest::rstest;
use serde_json::{Value, json};

use crate::mcp_process::McpProcess;
use crate::support::Place;

/// Records strategies of a shop, and one warning of each error.
fn shop(process: &mut McpProcess) {
    let strategies = [
        (
            "Retry only idempotent calls",
            "Send an idempotency key with every charge, retry when the provider echoes it.",
        ),
        ("Pin the CI image", "Refer to images by digest, and raise the digest in a commit of its own."),
        ("Prices are integers", "All amounts are in cents; floats lost a cent in the VAT sum of an invoice."),
        ("Lock stock before the cart", "Lock rows by ascending product id, always stock first, against deadlocks."),
        ("Session cookie of the bank's page", "The cookie is SameSite=None and Secure, or customers are signed out."),
        ("Slow product search", "Add a trigram index; LIKE with a leading wildcard reads the whole table."),
    ];
    for (title, content) in strategies {
        let lesson =
            json!({"title": title, "description": format!("When you work on this: {title}"), "content": content});
        process.call("record_memory", lesson);
    }
    for error_type in ["AssertionError", "ConnectionPoolTimeout"] {
        process.call(
            "record_memory",
            json!({
                "title": format!("What {error_type} came from in the order importer"),
                "description": "When the importer of orders stops at night.",
                "content": "The nightly import ran twice; the second run has to wait.",
                "error_context": {
                    "error_type": error_type,
                    "failure_pattern": "two imports at once",
                    "corrective_guidance": "wait for the first one",
                },
            }),
        );
    }
}

fn found(answer: &Value) -> usize {
    answer["memories"].as_array().unwrap().len()
}

#[test]
fn a_question_about_something_else_is_answered_with_nothing_and_a_note() {
    let place = Place::new();
    let mut process = McpProcess::initialized(&place, &["--llm", "none"]);
    shop(&mut process);

    let own = process.call("retrieve_memories", json!({"query": "A customer was charged twice after a retry"}));
    assert_eq!(own["memories"][0]["title"], "Retry only idempotent calls", "{own}");
    assert!(found(&own) < 5, "only what is about it: {own}");
    let relevance = own["memories"][0]["relevance"].as_f64().unwrap();
    assert!((0.5..=1.0).contains(&relevance), "{own}");
    assert!(own["memories"][0]["why"]["relevance"]["cosine"].as_f64().unwrap() > 0.0, "{own}");

    let foreign = "Which wine goes with grilled trout?";
    let nothing = process.call("retrieve_memories", json!({"query": foreign}));
    assert_eq!(nothing["memories"], json!([]), "{nothing}");
    assert!(nothing["about"].as_str().unwrap().starts_with("nothing here is about this"), "{nothing}");
    let notes = nothing["notes"].as_array().unwrap();
    assert!(notes.iter().any(|note| note.as_str().unwrap().starts_with("nothing_relevant: ")), "{nothing}");

    for n in [1, 5, 8] {
        let nearest = process.call("retrieve_memories", json!({"query": foreign, "n_results": n, "min_relevance": 0}));
        assert_eq!(found(&nearest), n, "{nearest}");
    }
    let certain =
        process.call("retrieve_memories", json!({"query": "charged twice after a retry", "min_relevance": 1}));
    assert_eq!(certain["memories"], json!([]), "{certain}");
    assert!(process.end().status.success());

    let shown = place.run(&["memory", "search", foreign]).ok().stdout;
    assert_eq!(shown.matches("below the relevance that an answer needs").count(), 5, "{shown}");
}

#[rstest]
#[case::says_only_that_something_failed("AssertionError: 3 != 4", 0)]
#[case::names_what_failed("ConnectionPoolTimeout: gave up", 1)]
fn the_very_error_is_relevant_by_itself_where_it_says_something(
    #[case] error_signature: &str,
    #[case] expected: usize,
) {
    let place = Place::new();
    let mut process = McpProcess::initialized(&place, &["--llm", "none"]);
    shop(&mut process);
    let asked = json!({"query": "Which wine goes with grilled trout?", "error_signature": error_signature});
    let answer = process.call("retrieve_memories", asked);
    assert_eq!(found(&answer), expected, "{answer}");
    if expected > 0 {
        assert_eq!(
            (&answer["memories"][0]["relevance"], &answer["memories"][0]["why"]["very_error"]),
            (&json!(1.0), &json!(true))
        );
    }
}
