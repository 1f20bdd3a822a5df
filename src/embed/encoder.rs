//! What a worker needs of a model. [`super::tract::TractEncoder`] and [`super::onnx_runtime::OrtEncoder`] are; tests
//! script another.

use std::ops::Range;

/// A part of a text that fits the model's window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece {
    /// Bytes of the text, on character boundaries, without white space at the ends; never empty.
    pub(crate) range: Range<usize>,
    /// Without the special tokens.
    pub(crate) tokens: usize,
}

pub(crate) trait Encoder: Send + 'static {
    /// All of `text` but white space, in order. Empty for a blank text.
    fn cut(&self, text: &str) -> Result<Vec<Piece>, String>;

    /// One L2-normalised vector for each text, in order. Texts are at most [`super::job::BATCH_TEXTS`] and fit the
    /// window; several have at most [`super::job::SHORT_TOKENS`] each.
    fn vectors(&mut self, texts: &[&str]) -> Result<Vec<Vec<f32>>, String>;

    /// The same, sooner where other threads are idle: somebody waits for an answer.
    fn vectors_of_query(&mut self, texts: &[&str]) -> Result<Vec<Vec<f32>>, String> {
        self.vectors(texts)
    }
}

impl Encoder for Box<dyn Encoder> {
    fn cut(&self, text: &str) -> Result<Vec<Piece>, String> {
        (**self).cut(text)
    }

    fn vectors(&mut self, texts: &[&str]) -> Result<Vec<Vec<f32>>, String> {
        (**self).vectors(texts)
    }

    fn vectors_of_query(&mut self, texts: &[&str]) -> Result<Vec<Vec<f32>>, String> {
        (**self).vectors_of_query(texts)
    }
}
