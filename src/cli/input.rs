//! The input of commands besides their arguments: a file or stdin, within bounds.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Write};
use std::marker::PhantomData;
use std::path::Path;

use reasoning_bank_domain::text::json;
use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::failure::CommandFailure;
use crate::mcp::read_arguments;

/// The bound is above the longest task or memory there may be, in whatever script and escaped as JSON.
const MAX_BYTES: u64 = 4 * 1024 * 1024;
/// The JSON values of a document: hundreds of times what a lesson has, and more than an episode may have.
const VALUES_MAX: usize = 20_000;
const CORRECT_JSON: &str = "correct the JSON at this line and column, or before it";

/// A value that is read from a JSON object alone. A struct takes an array as well, for its fields in their order.
#[derive(Debug)]
pub(super) struct FromObject<T>(pub(super) T);

struct ObjectVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("one JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for FromObject<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ObjectVisitor(PhantomData)).map(Self)
    }
}

/// Reads the text of a file. The file `-` is stdin.
pub(super) fn read(path: &Path) -> Result<String, CommandFailure> {
    if path.as_os_str() == "-" {
        return bounded(io::stdin().lock(), "stdin");
    }
    let name = path.display().to_string();
    match File::open(path) {
        Ok(file) => bounded(file, &name),
        Err(error) => Err(CommandFailure::unreadable(&name, error)),
    }
}

/// Reads a JSON document, which is one object. A problem names the field that it is about.
pub(super) fn document<T: DeserializeOwned>(text: &str) -> Result<T, CommandFailure> {
    if !json::has_at_most(text.as_bytes(), VALUES_MAX) {
        return Err(CommandFailure::usage(format!("the file: has more than {VALUES_MAX} JSON values")));
    }
    let mut json = serde_json::Deserializer::from_str(text);
    let FromObject(parsed) = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let path = error.path().to_string();
        let field = if matches!(path.as_str(), "." | "?") { "the file".to_owned() } else { path };
        let failure = CommandFailure::usage(format!("{field}: {}", error.inner()));
        if error.inner().is_syntax() || error.inner().is_eof() {
            return failure.hint(CORRECT_JSON);
        }
        if text.trim_start().starts_with('[') {
            return failure
                .hint("write one JSON object into the file; each object of an array needs a call of its own");
        }
        failure
    })?;
    json.end().map_err(|error| CommandFailure::usage(format!("the file: {error}")).hint(CORRECT_JSON))?;
    Ok(parsed)
}

/// Reads a JSON document by the schema of its type, as the arguments of a tool are read: at every depth, a field that the
/// schema does not know is refused.
pub(super) fn document_by_schema<T: DeserializeOwned + JsonSchema>(
    text: &str,
    judged_elsewhere: &[&str],
) -> Result<T, CommandFailure> {
    Ok(read_arguments(document(text)?, judged_elsewhere)?)
}

/// Reads a file of at most `max` bytes, whatever it holds.
pub(super) fn read_bytes(path: &Path, max: u64) -> Result<Vec<u8>, CommandFailure> {
    let name = path.display().to_string();
    let mut content = Vec::new();
    let read = File::open(path).and_then(|file| file.take(max + 1).read_to_end(&mut content));
    match read.map(|bytes| bytes as u64 > max) {
        Ok(false) => Ok(content),
        Ok(true) => Err(CommandFailure::usage(format!("{name} has more than {max} bytes"))),
        Err(error) => Err(CommandFailure::unreadable(&name, error)),
    }
}

/// Writes a file that was not there.
pub(super) fn write_new(path: &Path, content: &[u8]) -> Result<(), CommandFailure> {
    let written = File::create_new(path).and_then(|mut file| file.write_all(content));
    written.map_err(|error| CommandFailure::usage(format!("{} cannot be written", path.display())).caused_by(error))
}

fn bounded(source: impl Read, name: &str) -> Result<String, CommandFailure> {
    let mut text = String::new();
    let read = source.take(MAX_BYTES + 1).read_to_string(&mut text);
    // Some editors begin a file with a byte order mark, which is no part of its text.
    if text.starts_with('\u{feff}') {
        text.remove(0);
    }
    match read.map(|bytes| bytes as u64 > MAX_BYTES) {
        Ok(false) => Ok(text),
        Ok(true) => Err(CommandFailure::usage(format!("{name} has more than {MAX_BYTES} bytes"))),
        Err(error) => Err(CommandFailure::unreadable(name, error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_one_object() {
        #[derive(Debug, Deserialize)]
        struct TwoFields {
            first: String,
            second: Option<String>,
        }
        let read: TwoFields = document(r#"{"first": "a"}"#).unwrap();
        assert_eq!((read.first.as_str(), read.second), ("a", None));
        for array in [r#"["a", "b"]"#, r#" [{"first": "a"}]"#, "[]"] {
            let refused = document::<TwoFields>(array).unwrap_err();
            assert!(refused.message.starts_with("the file: invalid type: sequence, expected one JSON object"));
            assert!(refused.hint.unwrap().contains("one JSON object"));
        }
        let text = document::<TwoFields>("7").unwrap_err();
        assert!(text.message.contains("expected one JSON object") && text.hint.is_none(), "{}", text.message);
    }

    #[test]
    fn a_file_may_begin_with_a_byte_order_mark_and_a_mistake_in_it_has_a_hint() {
        let text = bounded("\u{feff}{\"a\": 1}".as_bytes(), "stdin").unwrap();
        assert_eq!(document::<serde_json::Map<String, serde_json::Value>>(&text).unwrap()["a"], 1);
        for wrong in ["{\"a\": 1,}", "{\"a\":", "", "{} {}"] {
            let refused = document::<serde_json::Map<String, serde_json::Value>>(wrong).unwrap_err();
            assert!(refused.hint.unwrap().starts_with("correct the JSON"), "{}", refused.message);
        }
    }

    #[test]
    fn what_is_too_long_or_no_text_is_refused() {
        assert_eq!(bounded(&b"text"[..], "stdin").unwrap(), "text");
        let long = bounded(io::repeat(b'x'), "stdin").unwrap_err();
        assert_eq!(long.message, "stdin has more than 4194304 bytes");
        assert!(bounded(&[0xff][..], "stdin").unwrap_err().message.starts_with("stdin cannot be read"));
    }
}
