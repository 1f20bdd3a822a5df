//! A sentence-transformer in ONNX form, run by fastembed: mean pooling, L2-normalised.

use fastembed::{
    InitOptionsUserDefined, Pooling, QuantizationMode, TextEmbedding, TokenizerFiles, UserDefinedEmbeddingModel,
};

use super::chunking;
use super::encoder::{Encoder, Piece};
use super::tract;

/// Bytes of the files of a model directory.
pub(crate) struct ModelFiles {
    pub(crate) model: &'static [u8],
    pub(crate) tokenizer: &'static [u8],
    pub(crate) config: &'static [u8],
    pub(crate) special_tokens_map: &'static [u8],
    pub(crate) tokenizer_config: &'static [u8],
}

pub(crate) struct OnnxEncoder {
    model: TextEmbedding,
}

impl OnnxEncoder {
    pub(crate) fn load(files: &ModelFiles) -> Result<Self, String> {
        tract::install();
        let tokenizer_files = TokenizerFiles {
            tokenizer_file: files.tokenizer.to_vec(),
            config_file: files.config.to_vec(),
            special_tokens_map_file: files.special_tokens_map.to_vec(),
            tokenizer_config_file: files.tokenizer_config.to_vec(),
        };
        let model = UserDefinedEmbeddingModel::new(files.model.to_vec(), tokenizer_files)
            .with_pooling(Pooling::Mean)
            .with_quantization(QuantizationMode::None);
        let options = InitOptionsUserDefined::new().with_max_length(chunking::WINDOW_TOKENS);
        let mut model = TextEmbedding::try_new_from_user_defined(model, options).map_err(|error| error.to_string())?;
        // Pieces fit the window already; the same tokenizer counts what does not.
        model.tokenizer.with_truncation(None).map_err(|error| error.to_string())?;
        Ok(Self { model })
    }
}

impl Encoder for OnnxEncoder {
    fn cut(&self, text: &str) -> Result<Vec<Piece>, String> {
        chunking::cut(&self.model.tokenizer, text)
    }

    fn vectors(&mut self, texts: &[&str]) -> Result<Vec<Vec<f32>>, String> {
        self.model.embed(texts, Some(texts.len().max(1))).map_err(|error| error.to_string())
    }
}
