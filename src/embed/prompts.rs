//! The prompts that some models were trained to see before a text: one before a query, another before a document.

use serde_json::Value;
use tokenizers::Tokenizer;

use std::borrow::Cow;

use super::encoder::{Encoder, TextPiece};

/// The names under which sentence-transformers looks for the prompt of a document. The first that is there counts.
const DOCUMENT: [&str; 3] = ["document", "passage", "corpus"];
const QUERY: [&str; 1] = ["query"];

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct TextPrompts {
    query: String,
    document: String,
}

impl TextPrompts {
    /// Reads the prompts of a `config_sentence_transformers.json`. A kind of text without a prompt gets the one that is
    /// named as the default, if any.
    pub(crate) fn of(config: &Value) -> Self {
        let prompt = |name: &str| config["prompts"][name].as_str();
        let default = || config["default_prompt_name"].as_str().and_then(prompt);
        let first = |names: &[&str]| names.iter().copied().find_map(prompt).or_else(default).unwrap_or_default();
        Self { query: first(&QUERY).to_owned(), document: first(&DOCUMENT).to_owned() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.query.is_empty() && self.document.is_empty()
    }

    /// Counts the tokens of the longer prompt.
    pub(crate) fn tokens(&self, tokenizer: &Tokenizer) -> Result<usize, String> {
        let tokens = |prompt: &str| tokenizer.encode(prompt, false).map(|encoding| encoding.len());
        let (query, document) = (tokens(&self.query), tokens(&self.document));
        query.and_then(|query| Ok(query.max(document?))).map_err(|error| error.to_string())
    }

    /// Describes the prompts for the hash of a model.
    pub(crate) fn describe(&self) -> String {
        if self.is_empty() { String::new() } else { format!(" prompts={:?} {:?}", self.query, self.document) }
    }
}

/// An encoder that puts the prompts before the texts. The encoder inside must leave room for them where it cuts.
pub(crate) struct Prompted {
    pub(crate) encoder: Box<dyn Encoder>,
    pub(crate) prompts: TextPrompts,
}

impl Encoder for Prompted {
    fn cut(&self, text: &str) -> Result<Vec<TextPiece>, String> {
        self.encoder.cut(text)
    }

    fn condensed<'t>(&self, query: &'t str) -> Result<Cow<'t, str>, String> {
        self.encoder.condensed(query)
    }

    fn vectors(&mut self, texts: &[&str]) -> Result<Vec<Vec<f32>>, String> {
        with(&self.prompts.document, texts, |texts| self.encoder.vectors(texts))
    }

    fn vector_of_query(&mut self, text: &str) -> Result<Vec<f32>, String> {
        self.encoder.vector_of_query(&format!("{}{text}", self.prompts.query))
    }
}

fn with<T>(prompt: &str, texts: &[&str], run: impl FnOnce(&[&str]) -> T) -> T {
    if prompt.is_empty() {
        return run(texts);
    }
    let prompted: Vec<String> = texts.iter().map(|text| format!("{prompt}{text}")).collect();
    run(&prompted.iter().map(String::as_str).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests;
