//! The JSON Schemas of arguments and answers. They are kept small, because every client sends the whole list of tools
//! to its model.

use rmcp::model::JsonObject;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde_json::{Value, json};

/// Makes the schema of a tool's arguments. Optional arguments are absent rather than null, though null is taken too.
pub(crate) fn of_arguments<T: JsonSchema>() -> JsonObject {
    let settings = SchemaSettings::draft2020_12().with_transform(RecursiveTransform(|schema: &mut Schema| {
        drop_null(schema);
        flatten_choices(schema);
        if schema.get("format").is_some_and(|format| format != "uuid") {
            schema.remove("format");
        }
        schema.remove("title");
    }));
    generate::<T>(settings)
}

/// Makes the schema of a tool's answer: names and types, without prose, with nothing required. A compact answer leaves
/// fields out, and some clients hold even the error document of a failed call against this schema.
pub(crate) fn of_answer<T: JsonSchema>() -> JsonObject {
    let settings =
        SchemaSettings::draft2020_12().for_serialize().with_transform(RecursiveTransform(|schema: &mut Schema| {
            flatten_choices(schema);
            drop_null_of_absent(schema);
            split_types(schema);
            for keyword in ["required", "description", "format", "title", "default", "minimum", "maximum", "pattern"] {
                schema.remove(keyword);
            }
        }));
    let mut schema = generate::<T>(settings);
    schema.values_mut().for_each(drop_implied_type);
    schema
}

/// Drops the type of what has properties below the top: nobody needs to be told that it is an object.
fn drop_implied_type(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            if fields.get("properties").is_some_and(Value::is_object) && fields.get("type") == Some(&json!("object")) {
                fields.remove("type");
            }
            fields.values_mut().for_each(drop_implied_type);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_implied_type),
        _ => {}
    }
}

fn generate<T: JsonSchema>(settings: SchemaSettings) -> JsonObject {
    let mut settings = settings;
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    schema.remove("description");
    schema.as_object().cloned().unwrap_or_default()
}

/// Turns an enum whose variants are documented, which comes as a list of constants, into a list of words.
fn flatten_choices(schema: &mut Schema) {
    let Some(Value::Array(choices)) = schema.get("oneOf") else { return };
    let mut words = Vec::new();
    for choice in choices {
        match (choice.get("const"), choice.get("enum")) {
            (Some(word), _) => words.push(word.clone()),
            (None, Some(Value::Array(several))) => words.extend(several.iter().cloned()),
            _ => return,
        }
    }
    schema.remove("oneOf");
    schema.insert("type".into(), json!("string"));
    schema.insert("enum".into(), Value::Array(words));
}

/// Drops null from what is not required: it is left out when there is none.
fn drop_null_of_absent(schema: &mut Schema) {
    let required = schema.get("required").cloned().unwrap_or_default();
    let Some(Value::Object(fields)) = schema.get_mut("properties") else { return };
    for (name, field) in fields {
        let is_required = required.as_array().is_some_and(|names| names.iter().any(|required| required == name));
        if !is_required && let Ok(field) = <&mut Schema>::try_from(field) {
            drop_null(field);
        }
    }
}

/// Splits lists of types into branches of one type, because not every client that reads schemas knows such lists.
fn split_types(schema: &mut Schema) {
    let Some(Value::Array(types)) = schema.get("type") else { return };
    let branches: Vec<Value> = types.iter().map(|kind| json!({"type": kind})).collect();
    schema.remove("type");
    schema.insert("anyOf".into(), Value::Array(branches));
}

fn drop_null(schema: &mut Schema) {
    let null = json!("null");
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|kind| *kind != null);
        if let [only] = types.as_slice() {
            let only = only.clone();
            schema.insert("type".into(), only);
        }
    }
    if let Some(Value::Array(words)) = schema.get_mut("enum") {
        words.retain(|word| !word.is_null());
    }
    if schema.get("default").is_some_and(|default| default.is_null() || *default == json!([])) {
        schema.remove("default");
    }
    if let Some(Value::Array(choices)) = schema.get_mut("anyOf") {
        choices.retain(|choice| choice.get("type") != Some(&null));
        if choices.len() == 1
            && let Some(Value::Object(only)) = choices.pop()
        {
            schema.remove("anyOf");
            let object = schema.ensure_object();
            for (keyword, value) in only {
                object.entry(keyword).or_insert(value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Serialize, serde::Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    enum Colour {
        /// Like blood.
        Red,
        Green,
    }

    /// Prose about the type.
    #[derive(serde::Serialize, serde::Deserialize, JsonSchema)]
    struct Thing {
        /// How many.
        #[schemars(range(min = 1, max = 3))]
        count: Option<u32>,
        #[serde(default)]
        colour: Option<Colour>,
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<uuid::Uuid>,
        title: String,
    }

    #[test]
    fn arguments_keep_prose_and_bounds_and_lose_null() {
        assert_eq!(
            Value::Object(of_arguments::<Thing>()),
            json!({
                "type": "object",
                "properties": {
                    "count": {"type": "integer", "minimum": 1, "maximum": 3, "description": "How many."},
                    "colour": {"type": "string", "enum": ["green", "red"]},
                    "id": {"type": "string", "format": "uuid"},
                    "title": {"type": "string"},
                },
                "required": ["title"],
            })
        );
    }

    #[test]
    fn answers_keep_types_alone() {
        assert_eq!(
            Value::Object(of_answer::<Thing>()),
            json!({
                "type": "object",
                "properties": {
                    "count": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
                    "colour": {"anyOf": [{"type": "string", "enum": ["green", "red"]}, {"type": "null"}]},
                    "id": {"type": "string"},
                    "title": {"type": "string"},
                },
            })
        );
    }
}
