//! The JSON Schemas of arguments and answers. Those in the list of tools are kept small, because every client sends the
//! whole list to its model. Those of answers to scripts are whole.

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

/// Who reads the schema of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SchemaReader {
    /// A model, for which each word costs.
    Model,
    /// A program, which holds answers against it.
    Program,
}

/// Marks a field of an answer that the list of tools does not name, because every client pays for it. An answer has it
/// rarely.
const FOR_PROGRAMS: &str = "x-program";

/// Makes the schema of a tool's answer.
pub(crate) fn of_answer<T: JsonSchema>(reader: SchemaReader) -> JsonObject {
    match reader {
        SchemaReader::Model => names_and_types::<T>(),
        SchemaReader::Program => whole::<T>(),
    }
}

/// Makes the schema of the answer of a tool that says of recalled texts, beside them, what they are (`about`). That is
/// for the reader of an answer, so the list of tools does not name it.
pub(crate) fn of_quoting_answer<T: JsonSchema>(reader: SchemaReader) -> JsonObject {
    let mut schema = of_answer::<T>(reader);
    if reader == SchemaReader::Program {
        let fields = schema.entry("properties").or_insert_with(|| json!({}));
        fields["about"] = json!({"type": "string", "description": "What the recalled texts are to their reader."});
    }
    schema
}

/// Removes names from what is required anywhere in a schema: an answer may leave these fields out.
pub(crate) fn make_optional(schema: &mut Value, is_optional: &impl Fn(&str) -> bool) {
    match schema {
        Value::Object(keywords) => {
            if let Some(Value::Array(required)) = keywords.get_mut("required") {
                required.retain(|name| !name.as_str().is_some_and(is_optional));
            }
            keywords.values_mut().for_each(|part| make_optional(part, is_optional));
        }
        Value::Array(items) => items.iter_mut().for_each(|part| make_optional(part, is_optional)),
        _ => {}
    }
}

/// Makes a schema with all that is known of an answer.
fn whole<T: JsonSchema>() -> JsonObject {
    let settings =
        SchemaSettings::draft2020_12().for_serialize().with_transform(RecursiveTransform(|schema: &mut Schema| {
            schema.remove(FOR_PROGRAMS);
            flatten_choices(schema);
            if schema.get("format").is_some_and(|format| format != "uuid" && format != "date-time") {
                schema.remove("format");
            }
            schema.remove("title");
        }));
    generate::<T>(settings)
}

/// Makes a schema of names and types, without prose, with nothing required. A compact answer leaves fields out, and some
/// clients hold even the error document of a failed call against this schema.
fn names_and_types<T: JsonSchema>() -> JsonObject {
    let settings =
        SchemaSettings::draft2020_12().for_serialize().with_transform(RecursiveTransform(|schema: &mut Schema| {
            if let Some(Value::Object(fields)) = schema.get_mut("properties") {
                fields.retain(|_, field| field.get(FOR_PROGRAMS).is_none());
            }
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

    /// A thing with a field that costs models too much.
    #[derive(serde::Serialize, serde::Deserialize, JsonSchema)]
    struct RareThing {
        #[serde(flatten)]
        thing: Thing,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        #[schemars(extend("x-program" = true))]
        relatives: Vec<Thing>,
    }

    #[test]
    fn a_field_that_is_rare_is_named_to_programs_alone() {
        let [model, program] = [SchemaReader::Model, SchemaReader::Program].map(of_answer::<RareThing>);
        assert_eq!(model, of_answer::<Thing>(SchemaReader::Model));
        assert_eq!(program["properties"]["relatives"]["type"], "array");
        assert!(!json!(program).to_string().contains(FOR_PROGRAMS));
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
            Value::Object(of_answer::<Thing>(SchemaReader::Model)),
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

    #[derive(serde::Serialize, serde::Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    enum Reach {
        All,
        Only(Vec<String>),
    }

    #[test]
    fn answers_to_programs_tell_the_branches_of_a_choice_apart_and_what_is_always_there() {
        let schema = Value::Object(of_quoting_answer::<Thing>(SchemaReader::Program));
        assert_eq!(
            (&schema["required"], &schema["properties"]["about"]["type"]),
            (&json!(["count", "colour", "title"]), &json!("string"))
        );
        let mut reach = Value::Object(of_answer::<Reach>(SchemaReader::Program));
        assert!(reach["oneOf"].as_array().unwrap().iter().all(|branch| branch["type"].is_string()), "{reach}");
        make_optional(&mut reach, &|name| name == "only");
        assert!(!reach.to_string().contains(r#""required":["only"]"#), "{reach}");
    }
}
