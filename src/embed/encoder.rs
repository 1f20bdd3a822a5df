//! The encoder trait: what a worker needs of a model. [`super::tract::TractEncoder`] and
//! [`super::onnx_runtime::OrtEncoder`] implement it; tests script another.

use std::borrow::Cow;
use std::ops::Range;

/// A part of a text that fits the model's window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TextPiece {
    /// The bytes of the text, on character boundaries and without white space at the ends. The range is never empty.
    pub(crate) range: Range<usize>,
    /// The count leaves out the special tokens.
    pub(crate) tokens: usize,
}

pub(crate) trait Encoder: Send + 'static {
    /// Cuts all of `text` but white space into pieces, in order. A blank text has none.
    fn cut(&self, text: &str) -> Result<Vec<TextPiece>, String>;

    /// Returns the part of a query that is embedded, which is all of a short one.
    fn condensed<'t>(&self, query: &'t str) -> Result<Cow<'t, str>, String>;

    /// Makes one L2-normalised vector for each text, in order. There are at most [`super::job::BATCH_TEXTS`] texts, and
    /// each fits the window; several have at most [`super::job::SHORT_TOKENS`] each.
    fn vectors(&mut self, texts: &[&str]) -> Result<Vec<Vec<f32>>, String>;

    /// Makes the vector of a query, sooner where other threads are idle, because somebody waits for an answer.
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

/// Returns the only vector.
pub(crate) fn one(vectors: Vec<Vec<f32>>) -> Result<Vec<f32>, String> {
    <[Vec<f32>; 1]>::try_from(vectors)
        .map(|[vector]| vector)
        .map_err(|vectors| format!("the model made {} vectors of one text", vectors.len()))
}
