//! A sentence-transformer on ONNX Runtime, by way of fastembed. It works only where [`super::runtime`] has loaded the
//! library.

use std::borrow::Cow;

use fastembed::{
    InitOptionsUserDefined, OutputKey, Pooling, QuantizationMode, TextEmbedding, TokenizerFiles,
    UserDefinedEmbeddingModel,
};
use serde_json::json;
use tokenizers::Tokenizer;

use super::encoder::{Encoder, TextPiece};
use super::model::{self, Model};
use super::{chunking, condense, graph};

pub(crate) struct OrtEncoder {
    model: TextEmbedding,
    /// This tokenizer, unlike that of the model, does not truncate.
    tokenizer: Tokenizer,
    room: usize,
}

impl OrtEncoder {
    /// Loads the model. `threads` work on each text.
    pub(crate) fn load(model: &Model, threads: usize) -> Result<Self, String> {
        let file = |value: serde_json::Value| value.to_string().into_bytes();
        let tokenizer_files = TokenizerFiles {
            tokenizer_file: model.tokenizer.to_vec(),
            config_file: file(json!({"pad_token_id": model.pad.id})),
            // Special tokens are in tokenizer.json.
            special_tokens_map_file: file(json!({})),
            tokenizer_config_file: file(json!({"model_max_length": model.window, "pad_token": model.pad.token})),
        };
        let pooling = match model.pooling {
            model::Pooling::Mean => Pooling::Mean,
            model::Pooling::First => Pooling::Cls,
        };
        let mut user_defined = UserDefinedEmbeddingModel::new(model.onnx.to_vec(), tokenizer_files)
            .with_pooling(pooling)
            .with_quantization(QuantizationMode::None);
        // Left to itself, fastembed prefers the vectors of tokens.
        user_defined.output_key = graph::gives_sentences(&model.onnx)?.then_some(OutputKey::ByName(graph::SENTENCE));
        let options = InitOptionsUserDefined::new().with_max_length(model.window).with_intra_threads(threads);
        let loaded = TextEmbedding::try_new_from_user_defined(user_defined, options);
        let loaded = loaded.map_err(|error| error.to_string())?;
        Ok(Self { model: loaded, tokenizer: chunking::tokenizer(&model.tokenizer)?, room: model.room })
    }
}

impl Encoder for OrtEncoder {
    fn cut(&self, text: &str) -> Result<Vec<TextPiece>, String> {
        chunking::cut(&self.tokenizer, text, self.room)
    }

    fn condensed<'t>(&self, query: &'t str) -> Result<Cow<'t, str>, String> {
        condense::condensed(&self.tokenizer, query, self.room)
    }

    fn vectors(&mut self, texts: &[&str]) -> Result<Vec<Vec<f32>>, String> {
        self.model.embed(texts, Some(texts.len().max(1))).map_err(|error| error.to_string())
    }
}
