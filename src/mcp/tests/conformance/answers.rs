//! The answers that the suite's server gives without asking back.

use std::collections::HashMap;

use rmcp::model::{ContentBlock, InputRequest, JsonObject, PromptMessage, ResourceContents};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// The resource with an id in its name.
const TEMPLATE: &str = "test://template/{id}/data";

/// Reads the list of the tools, prompts, resources or templates.
pub(super) fn defined<T: DeserializeOwned>() -> T {
    serde_json::from_str(include_str!("definitions.json")).unwrap()
}

/// The answers by name. Each `{name}` in them stands for an argument.
#[derive(Debug, Deserialize)]
pub(super) struct Answers {
    tools: HashMap<String, Value>,
    prompts: HashMap<String, Value>,
    resources: HashMap<String, Value>,
    /// The questions of tools that ask the client while their call runs, as the revisions with a handshake have it.
    questions: HashMap<String, Value>,
}

impl Answers {
    pub(super) fn read() -> Self {
        serde_json::from_str(include_str!("answers.json")).unwrap()
    }

    pub(super) fn tool(&self, name: &str) -> Option<Vec<ContentBlock>> {
        Some(filled(self.tools.get(name)?, &JsonObject::new()))
    }

    pub(super) fn question(&self, tool: &str, arguments: &JsonObject) -> Option<InputRequest> {
        Some(filled(self.questions.get(tool)?, arguments))
    }

    pub(super) fn prompt(&self, name: &str, arguments: &JsonObject) -> Option<Vec<PromptMessage>> {
        Some(filled(self.prompts.get(name)?, arguments))
    }

    pub(super) fn resource(&self, uri: &str) -> Option<Vec<ResourceContents>> {
        let (before, after) = TEMPLATE.split_once("{id}").unwrap();
        let id = uri.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
        let arguments = id.map(|id| JsonObject::from_iter([("id".to_owned(), json!(id))])).unwrap_or_default();
        let contents = self.resources.get(if id.is_some() { TEMPLATE } else { uri })?;
        Some(filled(contents, &arguments))
    }
}

/// Puts arguments that are texts where their names are, and reads what comes out.
fn filled<T: DeserializeOwned>(template: &Value, arguments: &JsonObject) -> T {
    fn fill(value: &mut Value, arguments: &JsonObject) {
        match value {
            Value::String(text) => {
                let texts = arguments.iter().filter_map(|(name, argument)| Some((name, argument.as_str()?)));
                texts.for_each(|(name, argument)| *text = text.replace(&format!("{{{name}}}"), argument));
            }
            Value::Array(items) => items.iter_mut().for_each(|item| fill(item, arguments)),
            Value::Object(fields) => fields.values_mut().for_each(|field| fill(field, arguments)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    let mut filled = template.clone();
    fill(&mut filled, arguments);
    serde_json::from_value(filled).unwrap()
}
