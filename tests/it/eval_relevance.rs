//! Tests of `eval relevance` through the real binary, on two sets of this repository.

use crate::support::{Place, test_data};

fn set(name: &str) -> String {
    test_data(&format!("retrieval/{name}"))
}

#[test]
fn sets_are_asked_what_they_can_answer_and_what_they_cannot() {
    let place = Place::new();
    let sets = [set("chat-turns"), set("work-lessons")];
    let asked = ["eval", "relevance", &sets[0], &sets[1], "--sizes", "3,30", "--questions", "10", "--fit"];
    let report = place.run(&[&["--json"][..], &asked].concat()).ok().json();
    let rows = report["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 4, "{report}");
    for row in rows {
        let of = |name: &str| row[name].as_f64().unwrap();
        assert_eq!((of("questions"), of("memories")), (10.0, of("size")), "{row}");
        assert!(of("auc_foreign") >= 0.9 && of("empty_answerable") <= 0.3 && of("empty_foreign") >= 0.5, "{row}");
    }
    assert_eq!(report["fitted"]["left_out"].as_array().unwrap().len(), 4, "{report}");
    let source = report["fitted"]["source"].as_str().unwrap();
    assert!(["HYBRID", "KEYWORD", "VECTOR"].iter().all(|mode| source.contains(&format!("pub const {mode}: Self"))));
    assert!(!place.path("data").exists(), "the bank of the user was touched");

    let text = place.run(&["eval", "relevance", &sets[0], &sets[1], "--sizes", "3", "--questions", "10"]).ok().stdout;
    assert!(text.contains("Calibration error over all sets") && text.contains("work-lessons"), "{text}");
}

#[test]
fn one_set_alone_has_no_foreign_questions_and_is_refused() {
    let refused = Place::new().run(&["eval", "relevance", &set("chat-turns")]).exits(2);
    assert!(refused.stderr.contains("DIRECTORY"), "{}", refused.stderr);
}
