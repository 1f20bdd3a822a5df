use std::borrow::Cow;
use std::sync::mpsc::{Sender, channel};

use rstest::rstest;
use serde_json::json;

use super::super::chunking;
use super::super::encoder::one;
use super::super::model::builtin;
use super::*;

#[rstest]
#[case::none(json!(null), "", "")]
#[case::written_though_there_are_none(json!({"prompts": {"query": "", "document": ""}}), "", "")]
#[case::of_queries_alone(json!({"prompts": {"query": "Find: "}, "default_prompt_name": null}), "Find: ", "")]
#[case::of_both(json!({"prompts": {"query": "query: ", "passage": "passage: "}}), "query: ", "passage: ")]
#[case::the_usual_name_first(json!({"prompts": {"corpus": "c", "document": "d"}}), "", "d")]
#[case::a_default(json!({"prompts": {"sts": "Same: ", "query": "q"}, "default_prompt_name": "sts"}), "q", "Same: ")]
fn prompts_are_those_that_the_model_was_published_with(
    #[case] config: Value,
    #[case] query: &str,
    #[case] document: &str,
) {
    let prompts = TextPrompts::of(&config);
    assert_eq!((&*prompts.query, &*prompts.document), (query, document));
    assert_eq!(prompts.is_empty(), query.is_empty() && document.is_empty());
}

#[test]
fn the_room_is_that_of_the_longer_prompt() {
    let tokenizer = chunking::tokenizer(&builtin::model().tokenizer).unwrap();
    let tokens = |config| TextPrompts::of(&config).tokens(&tokenizer).unwrap();
    assert_eq!(tokens(json!(null)), 0);
    assert_eq!(tokens(json!({"prompts": {"query": "find this: ", "document": "text: "}})), 3);
}

/// Tells what it is given.
struct Told(Sender<(&'static str, Vec<String>)>);

impl Told {
    fn tell(&self, whom: &'static str, texts: &[&str]) -> Result<Vec<Vec<f32>>, String> {
        self.0.send((whom, texts.iter().map(|text| (*text).to_owned()).collect())).unwrap();
        Ok(vec![vec![1.0]; texts.len()])
    }
}

impl Encoder for Told {
    fn cut(&self, text: &str) -> Result<Vec<TextPiece>, String> {
        Ok(vec![TextPiece { range: 0..text.len(), tokens: 1 }])
    }

    fn condensed<'t>(&self, query: &'t str) -> Result<Cow<'t, str>, String> {
        Ok(query.into())
    }

    fn vectors(&mut self, texts: &[&str]) -> Result<Vec<Vec<f32>>, String> {
        self.tell("documents", texts)
    }

    fn vector_of_query(&mut self, text: &str) -> Result<Vec<f32>, String> {
        one(self.tell("query", &[text])?)
    }
}

#[test]
fn a_query_has_another_prompt_than_a_document_and_what_is_stored_of_a_document_has_none() {
    let (tell, told) = channel();
    let prompts = TextPrompts { query: "query: ".into(), document: "passage: ".into() };
    let mut encoder = Prompted { encoder: Box::new(Told(tell)), prompts };
    assert_eq!(encoder.cut("a text").unwrap(), [TextPiece { range: 0..6, tokens: 1 }]);
    assert_eq!(encoder.vectors(&["a text", "another"]).unwrap().len(), 2);
    assert_eq!(told.recv().unwrap(), ("documents", vec!["passage: a text".into(), "passage: another".into()]));
    encoder.vector_of_query("a question").unwrap();
    assert_eq!(told.recv().unwrap(), ("query", vec!["query: a question".into()]));
}
