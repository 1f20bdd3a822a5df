//! Checks the arguments of a tool call against the tool's own schema, which is the one place where bounds are written:
//! the arguments themselves are in the files of `tools/`. Every problem is an error that names the argument and what it
//! may be.

use reasoning_bank_actors::error::Error;
use reasoning_bank_domain::safety::secrets::scrub;
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::schema::of_arguments;

/// Nobody looks at more of an argument than this, whoever judges it: to look through a million tags takes seconds. No
/// schema allows as much.
const ITEMS_MOST: usize = 1_000;
const CHARS_MOST: usize = 1_000_000;
/// This much of a name or a word from a client is repeated to it.
const SHOWN_CHARS: usize = 60;

/// Reads the arguments of a call. `judged_elsewhere` are those whose presence and length somebody with a better answer
/// checks.
pub(super) fn extract<T: DeserializeOwned>(
    schema: &JsonObject,
    arguments: Option<JsonObject>,
    judged_elsewhere: &[&str],
) -> Result<T, Error> {
    let mut arguments = arguments.unwrap_or_default();
    drop_nulls(schema, &mut arguments);
    ArgumentCheck { judged_elsewhere }.fields(schema, "", &arguments)?;
    serde_path_to_error::deserialize(Value::Object(arguments))
        .map_err(|error| Error::invalid(error.path().to_string(), problem_of(error.inner())))
}

/// Says what is wrong with a value that its schema allows. Of those only times have a form of their own.
fn problem_of(error: &serde_json::Error) -> String {
    let problem = error.to_string();
    match problem.starts_with("failed to parse") {
        true => "must be a time in RFC 3339, such as 2026-01-31T12:00:00Z".to_owned(),
        false => shown(&problem),
    }
}

/// Reads arguments that no tool has, by the schema of their type. `judged_elsewhere` means what it does to [`extract`].
///
/// # Errors
/// The error names the argument and what it may be.
pub(crate) fn read_arguments<T: DeserializeOwned + JsonSchema>(
    arguments: JsonObject,
    judged_elsewhere: &[&str],
) -> Result<T, Error> {
    extract(&of_arguments::<T>(), Some(arguments), judged_elsewhere)
}

/// Drops nulls, which clients send for what they leave out. What a schema leaves open is data, and stays as it was sent.
fn drop_nulls(schema: &JsonObject, object: &mut JsonObject) {
    object.retain(|_, value| !value.is_null());
    let (known, each) = (schema.get("properties"), schema.get("additionalProperties"));
    for (name, value) in object.iter_mut() {
        if let Some(schema) = known.and_then(|known| known.get(name)).or(each) {
            drop_nulls_inside(schema, value);
        }
    }
}

fn drop_nulls_inside(schema: &Value, value: &mut Value) {
    let schema = branch_of(schema, value);
    match value {
        Value::Object(object) if !is_open(schema) => {
            if let Some(schema) = schema.as_object() {
                drop_nulls(schema, object);
            }
        }
        Value::Array(items) => {
            if let Some(schema) = schema.get("items") {
                items.iter_mut().for_each(|item| drop_nulls_inside(schema, item));
            }
        }
        _ => {}
    }
}

/// Says whether a schema leaves open what an object has.
fn is_open(schema: &Value) -> bool {
    let says = |keyword: &str| schema.get(keyword).is_some_and(|said| said.is_object() || said.is_array());
    !["properties", "additionalProperties", "oneOf", "anyOf", "allOf"].into_iter().any(says)
}

/// A check that knows as much of JSON Schema as the schemas of arguments use.
struct ArgumentCheck<'a> {
    judged_elsewhere: &'a [&'a str],
}

impl ArgumentCheck<'_> {
    fn fields(&self, schema: &JsonObject, path: &str, object: &JsonObject) -> Result<(), Error> {
        let inside = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        let Some(known) = schema.get("properties").and_then(Value::as_object) else {
            // The names of a map are free, and its values are not.
            let Some(each) = schema.get("additionalProperties").filter(|each| each.is_object()) else { return Ok(()) };
            return object.iter().try_for_each(|(name, value)| self.value(each, &inside(&shown(name)), value));
        };
        let unknown = object.keys().filter(|name| !known.contains_key(*name));
        let unknown: Vec<String> = unknown.take(5).map(|name| inside(&shown(name))).collect();
        if !unknown.is_empty() {
            let known: Vec<&str> = known.keys().map(String::as_str).collect();
            return Err(Error::invalid(unknown.join(", "), format!("unknown; known are {}", known.join(", "))));
        }
        for name in schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
            let name_inside = inside(name);
            if !object.contains_key(name) && !self.is_judged_elsewhere(&name_inside) {
                let expected = known.get(name).map(expected).unwrap_or_default();
                return Err(Error::invalid(name_inside, format!("is required: {expected}")));
            }
        }
        object.iter().try_for_each(|(name, value)| {
            known.get(name).map_or(Ok(()), |schema| self.value(schema, &inside(name), value))
        })
    }

    fn value(&self, schema: &Value, path: &str, value: &Value) -> Result<(), Error> {
        let refuse =
            |found: String| Err(Error::invalid(path.to_owned(), format!("must be {}; it {found}", expected(schema))));
        if let Some(forms) = forms(schema) {
            return Self::form(forms, path, value);
        }
        if let Some(branches) = branches(schema) {
            return match branches.iter().find(|one| value.is_object() && admits(one, value)) {
                // What is wrong inside of an object is told of the branch that is one.
                Some(of_objects) => self.value(of_objects, path, value),
                None if branches.iter().any(|one| self.value(one, path, value).is_ok()) => Ok(()),
                None => refuse(format!("is {}", found(value))),
            };
        }
        let bound = |keyword: &str| schema.get(keyword).and_then(Value::as_f64);
        let within = |number: f64, min: &str, max: &str| {
            bound(min).is_none_or(|min| number >= min) && bound(max).is_none_or(|max| number <= max)
        };
        // A bound of the argument's own is told already.
        let allowed = |own: &str, most: usize| match schema.get(own) {
            Some(_) => String::new(),
            None => format!("; at most {most} are allowed"),
        };
        let words = schema.get("enum").and_then(Value::as_array);
        let is_constant = schema.get("const").is_none_or(|word| word == value);
        if !admits(schema, value) || !is_constant || words.is_some_and(|words| !words.contains(value)) {
            return refuse(format!("is {}", found(value)));
        }
        match value {
            Value::Number(number) if !number.as_f64().is_some_and(|n| within(n, "minimum", "maximum")) => {
                refuse(format!("is {number}"))
            }
            Value::String(text) if schema.get("format").is_some_and(|format| format == "uuid") => {
                if text.parse::<uuid::Uuid>().is_ok() { Ok(()) } else { refuse(format!("is {}", found(value))) }
            }
            Value::String(text) if text.chars().count() > CHARS_MOST => {
                refuse(format!("has {} characters{}", text.chars().count(), allowed("maxLength", CHARS_MOST)))
            }
            Value::Array(items) if items.len() > ITEMS_MOST => {
                refuse(format!("has {} items{}", items.len(), allowed("maxItems", ITEMS_MOST)))
            }
            Value::String(text) if !self.is_judged_elsewhere(path) => {
                let chars = text.chars().count();
                if text.trim().is_empty() && bound("minLength").is_some_and(|min| min > 0.0) {
                    refuse("is empty or blank".into())
                } else if within(chars as f64, "minLength", "maxLength") {
                    Ok(())
                } else {
                    refuse(format!("has {chars} characters"))
                }
            }
            Value::Array(items) => {
                if !self.is_judged_elsewhere(path) && !within(items.len() as f64, "minItems", "maxItems") {
                    return refuse(format!("has {} items", items.len()));
                }
                let Some(schema) = schema.get("items") else { return Ok(()) };
                items.iter().enumerate().try_for_each(|(at, item)| self.value(schema, &format!("{path}[{at}]"), item))
            }
            Value::Object(object) => schema.as_object().map_or(Ok(()), |schema| self.fields(schema, path, object)),
            _ => Ok(()),
        }
    }

    /// Checks an object that has one of several forms, told by its field `type`.
    fn form(forms: &[Value], path: &str, value: &Value) -> Result<(), Error> {
        let words = || forms.iter().filter_map(type_of).map(|word| format!("{word:?}")).collect::<Vec<_>>().join(", ");
        let Some(object) = value.as_object() else {
            let problem = format!("must be an object whose type is one of {}; it is {}", words(), found(value));
            return Err(Error::invalid(path.to_owned(), problem));
        };
        let Some(word) = object.get("type") else {
            return Err(Error::invalid(format!("{path}.type"), format!("is required: one of {}", words())));
        };
        let form = forms.iter().find(|form| type_of(form).is_some_and(|of_form| word == of_form));
        match form.and_then(Value::as_object) {
            // Without its parts it cannot be read, so that nobody else could say that one is missing.
            Some(form) => ArgumentCheck { judged_elsewhere: &[] }.fields(form, path, object),
            None => {
                let problem = format!("must be one of {}; it is {}", words(), found(word));
                Err(Error::invalid(format!("{path}.type"), problem))
            }
        }
    }

    /// Says whether somebody else judges an argument, or what is inside of it.
    fn is_judged_elsewhere(&self, path: &str) -> bool {
        let argument = path.split(['.', '[']).next().unwrap_or(path);
        self.judged_elsewhere.contains(&argument)
    }
}

/// Says whether a value has the type that a schema names. The bounds of the schema are not looked at.
fn admits(schema: &Value, value: &Value) -> bool {
    match schema.get("type").and_then(Value::as_str) {
        Some("integer") => value.is_u64() || value.is_i64(),
        Some("number") => value.is_number(),
        Some("boolean") => value.is_boolean(),
        Some("string") => value.is_string(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        Some("null") => value.is_null(),
        _ => true,
    }
}

/// Returns the branch of a schema that a value takes, or the schema itself where it has no branch for the value.
fn branch_of<'a>(schema: &'a Value, value: &Value) -> &'a Value {
    let is_told = |word: &str| value.get("type").is_some_and(|told| told == word);
    let is_taken = |one: &&'a Value| admits(one, value) && type_of(one).is_none_or(is_told);
    branches(schema).and_then(|branches| branches.iter().find(is_taken)).unwrap_or(schema)
}

/// Returns the schemas of which a value has to fit one.
fn branches(schema: &Value) -> Option<&Vec<Value>> {
    ["oneOf", "anyOf"].into_iter().find_map(|keyword| schema.get(keyword)?.as_array())
}

/// Returns the forms of an object that its field `type` tells apart.
fn forms(schema: &Value) -> Option<&Vec<Value>> {
    let forms = schema.get("oneOf")?.as_array()?;
    forms.iter().all(|form| type_of(form).is_some()).then_some(forms)
}

/// Returns the word that tells one form of an object from the others.
fn type_of(form: &Value) -> Option<&str> {
    form.pointer("/properties/type/const")?.as_str()
}

/// Says in words what a value may be.
fn expected(schema: &Value) -> String {
    if forms(schema).is_some() {
        return "an object".into();
    }
    if let Some(branches) = branches(schema) {
        return branches.iter().map(expected).collect::<Vec<_>>().join(", or ");
    }
    if let Some(word) = schema.get("const") {
        return word.to_string();
    }
    let bounds = |min: &str, max: &str| match (schema.get(min), schema.get(max)) {
        (Some(min), Some(max)) => format!(" from {min} to {max}"),
        (Some(min), None) => format!(" of at least {min}"),
        (None, Some(max)) => format!(" of at most {max}"),
        (None, None) => String::new(),
    };
    let length = |min: &str, max: &str, unit: &str| match (schema.get(min), schema.get(max)) {
        (None, None) => String::new(),
        (min, Some(max)) => format!(" of {} to {max} {unit}", min.unwrap_or(&Value::from(0))),
        (Some(min), None) => format!(" of at least {min} {unit}"),
    };
    if let Some(words) = schema.get("enum").and_then(Value::as_array) {
        return format!("one of {}", words.iter().map(Value::to_string).collect::<Vec<_>>().join(", "));
    }
    match schema.get("type").and_then(Value::as_str) {
        Some("integer") => format!("an integer{}", bounds("minimum", "maximum")),
        Some("number") => format!("a number{}", bounds("minimum", "maximum")),
        Some("boolean") => "true or false".into(),
        Some("string") if schema.get("format").is_some_and(|format| format == "uuid") => "a UUID in a string".into(),
        Some("string") => format!("a string{}", length("minLength", "maxLength", "characters")),
        Some("array") => {
            let items = schema.get("items").map(|items| format!(", each {}", expected(items))).unwrap_or_default();
            format!("an array{}{items}", length("minItems", "maxItems", "items"))
        }
        None if schema.get("properties").is_none() => "any JSON but null".into(),
        _ => {
            let fields = schema.get("properties").and_then(Value::as_object);
            let names: Vec<&str> = fields.into_iter().flat_map(|fields| fields.keys().map(String::as_str)).collect();
            if names.is_empty() { "an object".into() } else { format!("an object of {}", names.join(", ")) }
        }
    }
}

fn found(value: &Value) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => format!("the string {:?}", shown(text)),
        Value::Array(_) => "an array".into(),
        Value::Object(_) => "an object".into(),
    }
}

/// Scrubs a text before it is cut, because half a secret is not seen as one.
fn shown(text: &str) -> String {
    let text = &*scrub(text).text;
    match text.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests;
