//! Tests of short runs of `eval load` and `eval kills` through the real binary, which do not depend on the speed of the
//! machine.

use serde_json::Value;

use crate::support::Place;

fn value(report: &Value, name: &str) -> f64 {
    let figures = report["figures"].as_array().unwrap_or_else(|| panic!("{report}"));
    let figure = figures.iter().find(|figure| figure["name"] == name);
    figure.and_then(|figure| figure["value"].as_f64()).unwrap_or_else(|| panic!("{name} of {report}"))
}

#[test]
fn a_short_load_is_answered_whole_and_what_was_recorded_is_stored_with_vectors() {
    let place = Place::new();
    let load = ["--json", "eval", "load", "--clients", "20", "--seconds", "6", "--memories", "200"];
    let ran = place.run(&load);
    let report = ran.json();
    let is_met = report["figures"].as_array().unwrap().iter().all(|figure| figure["met"] != false);
    assert_eq!(ran.code, Some(i32::from(!is_met)), "{report}");
    for none in ["failed_calls", "missing", "doubled", "without_vectors", "stop_exit_code"] {
        assert_eq!(value(&report, none), 0.0, "{none} of {report}");
    }
    let (calls, recorded) = (value(&report, "calls"), value(&report, "recorded"));
    assert!(calls > 20.0 && recorded > 0.0 && recorded < calls, "{report}");
    let (new, hybrid) = (value(&report, "new_queries_percent"), value(&report, "hybrid_percent"));
    assert!(0.0 < new && new < 100.0 && 0.0 < hybrid && hybrid <= 100.0, "{report}");
    assert!(value(&report, "retrieve_p50_ms") <= value(&report, "retrieve_p99_ms"), "{report}");
    assert!(value(&report, "memory_first_mb") > 10.0 && value(&report, "daemon_cores") > 0.0, "{report}");
    assert!(!place.path("data").exists(), "the bank of the user was touched");
}

#[test]
fn a_daemon_that_is_killed_again_and_again_loses_and_doubles_nothing() {
    let place = Place::new();
    let report = place.run(&["--json", "eval", "kills", "--rounds", "10", "--clients", "4"]).ok().json();
    for none in ["lost", "doubled", "carried_out_again", "torn", "refused"] {
        assert_eq!(value(&report, none), 0.0, "{none} of {report}");
    }
    assert_eq!(value(&report, "kills"), 10.0);
    assert!(value(&report, "acknowledged") > 10.0, "{report}");
    assert!(value(&report, "sent_again") > 0.0, "no write was open when the daemon was killed: {report}");
}
