//! What a worker needs of a model. [`super::tract::TractEncoder`] and [`super::onnx_runtime::OrtEncoder`] are; tests
//! script another.

use std::borrow::Cow;
use std::ops::Range;

/// A part of a text that fits the model's window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TextPiece {
    /// Bytes of the text, on character boundaries, without white space at the ends; never empty.
    pub(crate) range: Range<usize>,
    /// Without the special tokens.
    pub(crate) tokens: usize,
}

pub(crate) trait Encoder: Send + 'static {
    /// All of `text` but white space, in order. Empty for a blank text.
    fn cut(&self, text: &str) -> Result<Vec<TextPiece>, String>;

    /// What of a query is embedded: all of a short one.
    fn condensed<'t>(&self, query: &'t str) -> Result<Cow<'t, str>, String>;

    /// One L2-normalised vector for each text, in order. Texts are at most [`super::job::BATCH_TEXTS`] and fit the
    /// window; several have at most [`super::job::SHORT_TOKENS`] each.
    fn vectors(&mut self, texts: &[&str]) -> Result<Vec<Vec<f32>>, String>;

    /// The vector of a query, sooner where other threads are idle: somebody waits for an answer.
    fn vector_of_query(&mut self, text: &str) -> Result<Vec<f32>, String> {
        one(self.vectors(&[text])?)
    }
}

impl Encoder for Box<dyn Encoder> {
    fn cut(&self, text: &str) -> Result<Vec<TextPiece>, String> {
        (**self).cut(text)
    }

    fn condensed<'t>(&self, query: &'t str) -> Result<Cow<'t, str>, String> {
        (**self).condensed(query)
    }

    fn vectors(&mut self, texts: &[&str]) -> Result<Vec<Vec<f32>>, String> {
        (**self).vectors(texts)
    }

    fn vector_of_query(&mut self, text: &str) -> Result<Vec<f32>, String> {
        (**self).vector_of_query(text)
    }
}

/// The only vector.
pub(crate) fn one(vectors: Vec<Vec<f32>>) -> Result<Vec<f32>, String> {
    <[Vec<f32>; 1]>::try_from(vectors)
        .map(|[vector]| vector)
        .map_err(|vectors| format!("the model made {} vectors of one text", vectors.len()))
}
