use serde_json::json;

use super::*;
use crate::tokens::NewToken;

fn problem(arguments: Value) -> String {
    let Value::Object(arguments) = arguments else { panic!("no object: {arguments}") };
    read_arguments::<NewToken>(arguments, &[]).unwrap_err().to_string()
}

#[test]
fn a_value_of_another_type_is_named_with_what_it_may_be() {
    let with = |field: &str, value: Value| {
        let mut new = json!({"name": "ci", "workspaces": "all"});
        new[field] = value;
        problem(new)
    };
    assert!(with("name", json!(7)).starts_with("name: must be a string; it is 7"));
    assert!(with("expires_days", json!("ten")).starts_with("expires_days: must be an integer from 1 to "));
    assert!(with("permissions", json!("read")).starts_with("permissions: must be an array, each one of"));
    assert!(with("permissions", json!(["read", "fly"])).starts_with("permissions[1]: must be one of"));
    let workspaces = with("workspaces", json!(["shop"]));
    assert_eq!(workspaces, "workspaces: must be \"all\", or an object of only; it is an array");
    let only = with("workspaces", json!({"only": "shop"}));
    assert!(only.starts_with("workspaces.only: must be an array"), "{only}");
    assert!(with("colour", json!("red")).starts_with("colour: unknown; known are "));
    assert!(problem(json!({"name": "ci"})).starts_with("workspaces: is required: \"all\", or an object of only"));
}

#[test]
fn null_says_as_much_as_nothing() {
    let new = json!({"name": "ci", "workspaces": "all", "team": null});
    let Value::Object(new) = new else { panic!() };
    assert_eq!(read_arguments::<NewToken>(new, &[]).unwrap().team, None);
}

#[derive(Debug, PartialEq, serde::Deserialize, JsonSchema)]
struct OpenArguments {
    note: Option<String>,
    /// Any JSON.
    output: Value,
    parts: Vec<OpenPart>,
    whole: serde_json::Map<String, Value>,
    form: Option<OpenForm>,
}

#[derive(Debug, PartialEq, serde::Deserialize, JsonSchema)]
struct OpenPart {
    name: Option<String>,
    value: Value,
}

#[derive(Debug, PartialEq, serde::Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
enum OpenForm {
    Empty { name: Option<String> },
    Full { value: Value },
}

#[test]
fn null_inside_of_any_json_stays_where_it_is() {
    let data = json!({"proxy": null, "list": [1, null, {"a": null}]});
    let sent = json!({
        "note": null,
        "output": data,
        "parts": [{"name": null, "value": data}, {"value": [null, {"b": null}]}],
        "whole": data,
        "form": {"type": "full", "value": data},
    });
    let Value::Object(sent) = sent else { panic!() };
    let read: OpenArguments = read_arguments(sent, &[]).unwrap();
    assert_eq!((read.note, &read.output, Value::Object(read.whole)), (None, &data, data.clone()));
    let part = |value| OpenPart { name: None, value };
    assert_eq!(read.parts, [part(data.clone()), part(json!([null, {"b": null}]))]);
    assert_eq!(read.form, Some(OpenForm::Full { value: data }));
}
