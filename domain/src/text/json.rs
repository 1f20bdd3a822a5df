//! The number of values that a JSON text has, told before it is parsed. A parsed value takes some hundred bytes, and a
//! text may hold a value for every two of its bytes.

/// Tells whether a JSON text has at most `max` values, including nested ones. The answer for what is no JSON means
/// nothing, as the parser refuses it.
pub fn has_at_most(text: &[u8], max: usize) -> bool {
    let mut values = 1;
    let mut rest = text;
    while let Some((byte, behind)) = rest.split_first() {
        rest = behind;
        match byte {
            // A container may be empty. Where it is not, its first value is counted with it.
            b'{' | b'[' | b',' => values += 1,
            b'"' => rest = behind_string(rest),
            _ => {}
        }
        if values > max {
            return false;
        }
    }
    true
}

/// Returns the text behind the quote that ends the string in which `text` begins.
fn behind_string(text: &[u8]) -> &[u8] {
    let mut rest = text;
    while let Some(at) = rest.iter().position(|byte| matches!(byte, b'"' | b'\\')) {
        let is_end = rest[at] == b'"';
        rest = rest.get(at + if is_end { 1 } else { 2 }..).unwrap_or_default();
        if is_end {
            return rest;
        }
    }
    &[]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn values(value: &Value) -> usize {
        1 + match value {
            Value::Array(items) => items.iter().map(values).sum(),
            Value::Object(fields) => fields.values().map(values).sum(),
            _ => 0,
        }
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "[a-z\"\\\\,\\[{:é]{0,12}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 60, 8, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
                prop::collection::btree_map("[a-z\"\\\\,{]{0,6}", inner, 0..8)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn never_fewer_than_there_are_and_at_most_one_more_a_container(value in any_json()) {
            let (text, there) = (value.to_string(), values(&value));
            prop_assert!(!has_at_most(text.as_bytes(), there.saturating_sub(1)));
            prop_assert!(has_at_most(text.as_bytes(), 2 * there));
        }
    }

    #[test]
    fn what_stands_in_strings_is_not_counted() {
        let text = json!([",,,[[[{{{\\\",", "\\"]).to_string();
        assert!(has_at_most(text.as_bytes(), 3) && !has_at_most(text.as_bytes(), 2));
        assert!(has_at_most(b"\"no end", 1) && has_at_most(b"\"\\", 1) && has_at_most(b"", 1));
    }

    #[test]
    fn a_text_of_many_values_is_refused_long_before_its_end() {
        let text = "[0,".repeat(8 << 20);
        assert!(!has_at_most(text.as_bytes(), 20_000));
    }
}
