//! The ids that a call named and made, as they stand in its arguments and in its answer. Every tool has its line from
//! here, so that a new one needs no rule of its own.

use std::collections::{HashSet, VecDeque};

use serde_json::{Map, Value};
use uuid::Uuid;

/// The most ids that an entry has.
const MAX_IDS: usize = 64;

/// The ids of one call, each once.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct NamedIds {
    pub(crate) ids: Vec<String>,
    /// The number of those that there is no room for.
    pub(crate) left_out: u64,
}

impl NamedIds {
    /// Finds the ids in the fields of documents whose names say so, those of the outer fields first. An id is a UUID: a
    /// field may hold any text.
    pub(crate) fn of<'a>(documents: impl IntoIterator<Item = &'a Map<String, Value>>) -> Self {
        let (mut found, mut seen) = (Self::default(), HashSet::new());
        let mut waiting: VecDeque<&Map<String, Value>> = documents.into_iter().collect();
        while let Some(fields) = waiting.pop_front() {
            for (name, field) in fields {
                for value in field.as_array().map_or(std::slice::from_ref(field), Vec::as_slice) {
                    match value {
                        Value::String(text) if is_of_ids(name) => {
                            if let Ok(id) = Uuid::parse_str(text)
                                && seen.insert(id)
                            {
                                found.add(id);
                            }
                        }
                        Value::Object(inner) => waiting.push_back(inner),
                        _ => {}
                    }
                }
            }
        }
        found
    }

    fn add(&mut self, id: Uuid) {
        if self.ids.len() < MAX_IDS {
            self.ids.push(id.to_string());
        } else {
            self.left_out += 1;
        }
    }
}

fn is_of_ids(name: &str) -> bool {
    let is_of_memories = matches!(name, "id" | "ids" | "supersedes" | "derived_from" | "reinstated");
    is_of_memories || name.ends_with("_id") || name.ends_with("_ids")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn id(n: u128) -> String {
        Uuid::from_u128(n).to_string()
    }

    fn named(documents: &[Value]) -> NamedIds {
        NamedIds::of(documents.iter().filter_map(Value::as_object))
    }

    #[test]
    fn ids_are_in_fields_that_are_named_so_and_the_outer_ones_come_first() {
        let arguments = json!({"memory_ids": [id(1), id(2)], "content": id(9), "session_id": "a secret", "id": 7});
        let answer = json!({"changes": [{"id": id(4)}, {"id": id(2)}], "run_id": id(3)});
        let ids = [1, 2, 3, 4].map(id).to_vec();
        assert_eq!(named(&[arguments, answer]), NamedIds { ids, left_out: 0 });
        assert_eq!(named(&[json!([id(1)]), json!({})]), NamedIds::default());
    }

    #[test]
    fn an_entry_has_so_many_ids_and_the_number_of_the_others() {
        let many: Vec<String> = (0..MAX_IDS as u128 + 3).map(id).collect();
        let found = named(&[json!({"memory_ids": many})]);
        assert_eq!((found.ids, found.left_out), (many[..MAX_IDS].to_vec(), 3));
    }
}
