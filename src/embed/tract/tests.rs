use tokenizers::PostProcessorWrapper;

use super::super::model::builtin;
use super::*;

#[test]
fn a_text_without_tokens_has_a_vector_alone_and_in_a_batch() {
    let mut tokenizer = Tokenizer::from_bytes(&builtin::model().tokenizer).unwrap();
    tokenizer.with_post_processor(None::<PostProcessorWrapper>);
    let tokenizer = tokenizer.to_string(false).unwrap().into_bytes();
    let model = Model { tokenizer: tokenizer.into(), ..builtin::model() };
    let mut encoder = TractEncoder::new(&Arc::new(TractModel::load(&model, 1, true).unwrap())).unwrap();
    for texts in [&[""][..], &["", "retry"]] {
        assert_eq!(encoder.ids(texts[0]).unwrap(), [0]);
        let vectors = encoder.vectors(texts).unwrap();
        let lengths: Vec<f32> = vectors.iter().map(|vector| vector.iter().map(|x| x * x).sum::<f32>().sqrt()).collect();
        assert_eq!(lengths.len(), texts.len());
        assert!(lengths.iter().all(|length| (length - 1.0).abs() < 1e-4), "{lengths:?}");
    }
}

#[test]
fn a_query_has_the_vector_that_it_has_as_a_document() {
    let model = Arc::new(TractModel::load(&builtin::model(), 2, false).unwrap());
    let mut encoder = TractEncoder::new(&model).unwrap();
    let text = "the tests of the parser fail after the tokenizer was changed to keep white space";
    assert_eq!([encoder.vector_of_query(text).unwrap()], *encoder.vectors(&[text]).unwrap());
}

#[test]
fn queries_at_the_same_time_have_the_vectors_that_they_have_alone() {
    let model = Arc::new(TractModel::load(&builtin::model(), 2, false).unwrap());
    let texts = ["retry with backoff", "the build of the parser fails when white space is kept at the end of a line"];
    let model = &model;
    std::thread::scope(|scope| {
        for text in texts.into_iter().cycle().take(4) {
            scope.spawn(move || {
                let mut encoder = TractEncoder::new(model).unwrap();
                let alone = encoder.vectors(&[text]).unwrap();
                for _ in 0..30 {
                    assert_eq!([encoder.vector_of_query(text).unwrap()], *alone);
                }
            });
        }
    });
}

#[test]
fn the_threads_that_stay_awake_for_a_query_end_with_it_even_where_it_panics() {
    let pool = ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    assert_eq!(awake(&pool, || rayon::join(|| 1, || 2)), (1, 2));
    let panicking = || awake(&pool, || -> u32 { panic!("no part") });
    assert!(catch_unwind(AssertUnwindSafe(panicking)).is_err());
    assert_eq!(awake(&pool, rayon::current_num_threads), 3);
}
