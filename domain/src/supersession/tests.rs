use jiff::Timestamp;
use rstest::rstest;

use super::*;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn is_update(older: &str, newer: &str) -> bool {
    let (older, newer) = (Statement::of("", older), Statement::of("", newer));
    updates(Dated { statement: &newer, at: at(2) }, Dated { statement: &older, at: at(1) }).is_some()
}

#[rstest]
#[case::value("The API listens on port 8080.", "The port for the API is 9090.")]
#[case::tool("CI runs on Jenkins.", "We moved from Jenkins to GitHub Actions.")]
fn a_changed_value_is_an_update(#[case] older: &str, #[case] newer: &str) {
    assert!(is_update(older, newer));
}

#[rstest]
#[case::environment("The API listens on port 8080.", "In staging the API listens on port 8081.")]
#[case::other_service("The API listens on port 8080.", "The worker listens on port 8081.")]
fn an_exception_is_no_update(#[case] older: &str, #[case] newer: &str) {
    assert!(!is_update(older, newer));
    assert!(!is_update(newer, older));
}
