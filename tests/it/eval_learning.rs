//! Tests of `eval learning` through the real binary: on the scenarios of the repository, and on scenarios that are
//! known to be met or not.

use serde_json::{Value, json};

use crate::support::{Place, Ran, test_data};

fn evaluate(place: &Place, scenarios: &str, more: &[&str]) -> Ran {
    let path = place.write("scenarios.toml", scenarios);
    place.run(&[&["eval", "learning", "--scenarios", path.to_str().unwrap()][..], more].concat())
}

/// The findings that are missed and wrong here are known, and stand in the snapshot.
#[test]
fn what_is_learned_from_the_scenarios_is_known() {
    let place = Place::new();
    let ran = place.run(&["eval", "learning", "--scenarios", &test_data("learning")]).ok();
    assert!(!ran.stderr.contains("ERROR"), "{}", ran.stderr);
    insta::assert_snapshot!("eval_learning", ran.stdout);
    assert!(!place.path("data").exists(), "the bank of the user was touched");
}

/// The scripted judge calls a failed solve a success: its lesson is planted as one that must not be there.
#[test]
fn a_planted_wrong_lesson_is_told_as_wrong_and_fails_nothing() {
    let place = Place::new();
    let scenario = r#"
        [[scenario]]
        name = "a wrong lesson"

        [[scenario.step]]
        solve.k = 1
        solve.task = "Sort a list of names by surname."
        solve.attempts = [{ answer = "names.sort()", score = 0.9, feedback = "sorted" }]
        solve.passes = true
        solve.judged = [
          { as = "wrong", title = "Sort names as they are written", content = "The first name decides the order." },
        ]
        expect.outcome = "success"
        expect.not_there = [{ kind = "strategy", holds = ["first name"] }]

        [[scenario.step]]
        retrieve.query = "sort names by surname"
        expect.first = "wrong"
        expect.there = [{ kind = "warning" }]
    "#;
    let report = evaluate(&place, scenario, &["--json"]).ok().json();
    let scenario = &report["scenarios"][0];
    let counts = ["must_be", "right", "missed", "must_not_be", "wrong"].map(|name| report["total"][name].clone());
    assert_eq!(counts, [3, 2, 1, 1, 1].map(Value::from), "{report}");
    assert_eq!((&scenario["topic"], &scenario["name"]), (&json!("scenarios"), &json!("a wrong lesson")));
    let findings = scenario["findings"].as_array().unwrap();
    let told: Vec<_> = findings.iter().map(|found| (found["step"].as_u64(), found["kind"].as_str())).collect();
    assert_eq!(told, [(Some(1), Some("wrong")), (Some(2), Some("missed"))], "{report}");
    assert_eq!(findings[0]["seen"], "\"Sort names as they are written\"");
}

#[test]
fn scenarios_that_cannot_be_played_are_named_with_what_is_wrong() {
    let place = Place::new();
    for (scenario, problem) in [
        ("[[scenario]]\nname = 'x'\nstep = []\n", "scenarios.toml: \"x\": nothing is expected in it"),
        ("[[scenario]]\nname = 'x'\nsteps = []\n", "unknown field `steps`"),
        ("[[scenario]]\nname = 'x'\n[[scenario.step]]\nexpect.there = [{ kind = 'rule' }]\n", "unknown variant `rule`"),
    ] {
        let refused = evaluate(&place, scenario, &["--json"]).exits(2).json();
        let message = refused["error"]["message"].as_str().unwrap();
        assert!(message.contains(problem), "{message}");
    }
    let nowhere = place.path("nowhere");
    place.run(&["eval", "learning", "--scenarios", nowhere.to_str().unwrap()]).exits(2);
}
