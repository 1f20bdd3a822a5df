//! The outputs of a model's graph in ONNX form. [`super::tract`] and [`super::onnx_runtime`] run the graph.

use tract_onnx::prelude::{Framework, onnx};

/// The output that holds the vector of a text as all modules of the model make it.
pub(crate) const SENTENCE: &str = "sentence_embedding";

/// Reads whether the graph has the output [`SENTENCE`].
pub(crate) fn gives_sentences(bytes: &[u8]) -> Result<bool, String> {
    let read = onnx().proto_model_for_read(&mut &*bytes).map_err(|error| format!("{error:#}"))?;
    Ok(read.graph.is_some_and(|graph| graph.output.iter().any(|output| output.name == SENTENCE)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embed::model::builtin;

    #[test]
    fn the_graph_is_asked_for_its_outputs() {
        assert_eq!(gives_sentences(builtin::ONNX), Ok(false));
        assert!(gives_sentences(b"no graph").is_err());
    }
}
