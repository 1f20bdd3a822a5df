use rstest::rstest;
use serde_json::json;

use super::*;
use crate::mcp::test_client::taken;

#[rstest]
#[case::null_in_a_list(
    json!({"learnings": [{"title": "t", "description": "d", "content": "c", "error_context": null}]})
)]
fn good_arguments_are_taken(#[case] arguments: Value) {
    assert_eq!(taken::<Arguments>(&TOOL, arguments), Ok(()));
}
