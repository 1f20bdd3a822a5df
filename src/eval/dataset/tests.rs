use super::*;

fn file(place: &tempfile::TempDir, lines: &[&str]) -> PathBuf {
    let path = place.path().join("set.jsonl");
    std::fs::write(&path, lines.join("\n")).unwrap();
    path
}

fn said<T>(result: Result<T, EvalError>) -> String {
    match result {
        Err(error) => error.to_string().split_once("set.jsonl").unwrap().1.to_owned(),
        Ok(_) => "nothing".into(),
    }
}

#[test]
fn every_line_of_a_corpus_is_kept_as_it_is() {
    let place = tempfile::tempdir().unwrap();
    let long = format!(r#"{{"id":"long","title":"{}","text":"{}"}}"#, "t".repeat(500), "x ".repeat(150_000));
    let lines = [
        r#"{"id":"a","title":"","text":"same","ts":"2023-05-08T13:56:00","workspace":"w"}"#,
        r#"{"id":"b","text":"same","workspace":"w","more":[1]}"#,
        r#"{"id":"c","title":"only","text":"","ts":"2023-05-08T15:56:00+02:00"}"#,
        &long,
    ];
    let corpus = Corpus::open(&file(&place, &lines)).unwrap();
    assert_eq!((corpus.len(), corpus.workspaces()), (4, 1));
    assert_eq!((corpus.id(2), corpus.number("c"), corpus.number("d")), ("c", Some(2), None));
    assert_eq!((corpus.workspace(1), corpus.workspace(2)), (Some("w"), None));
    let mut documents = Vec::new();
    corpus
        .each(|number, document| {
            assert_eq!(number as usize, documents.len());
            documents.push(document);
            Ok(())
        })
        .unwrap();
    assert_eq!(documents[0].at, documents[2].at);
    assert_eq!((documents[1].title.as_str(), documents[1].text.as_str()), ("", "same"));
    assert_eq!(documents[3].text.len(), 300_000);
}

#[test]
fn bad_lines_of_a_corpus_are_named_with_file_line_and_field() {
    let place = tempfile::tempdir().unwrap();
    let lines = [
        r#"{"id":"a","text":"x"}"#,
        r#"{"id":"a","text":"y"}"#,
        r#"{"id":"b"}"#,
        r#"{"id":7,"text":"x"}"#,
        r#"{"id":"c","text":"x","ts":"soon"}"#,
        "nothing",
    ];
    insta::assert_snapshot!(said(Corpus::open(&file(&place, &lines))));
    assert!(said(Corpus::open(&place.path().join("no/set.jsonl"))).contains("No such file"));
}

#[test]
fn gold_is_a_list_or_an_object_of_relevances_or_absent() {
    let place = tempfile::tempdir().unwrap();
    let lines = [
        r#"{"id":"1","text":"q","gold":["a","b"],"kind":"temporal"}"#,
        r#"{"id":"2","text":"q","gold":{"a":2,"b":0},"exclude":["c"],"workspace":"w"}"#,
        r#"{"id":"3","text":"q"}"#,
    ];
    let queries = queries(&file(&place, &lines)).unwrap();
    let gold: Vec<Gold> = queries.iter().map(|query| query.gold.clone()).collect();
    assert_eq!(gold[0], Gold::new([("a".into(), 1.0), ("b".into(), 1.0)]));
    assert_eq!(gold[1], Gold::new([("a".into(), 2.0)]));
    assert!(gold[2].is_empty());
    assert_eq!((queries[1].exclude.as_slice(), queries[1].workspace.as_deref()), (&["c".to_owned()][..], Some("w")));
}

#[test]
fn bad_lines_of_queries_are_named_with_file_line_and_field() {
    let place = tempfile::tempdir().unwrap();
    let lines = [
        r#"{"id":"1","text":" "}"#,
        r#"{"id":"2","text":"q","gold":"a"}"#,
        r#"{"id":"3","text":"q","gold":[1]}"#,
        r#"{"id":"4","text":"q","gold":{"a":-1}}"#,
        r#"{"id":"5","text":"q","exclude":"a"}"#,
        r#"{"id":"6","text":"q"}"#,
        r#"{"id":"6","text":"q"}"#,
    ];
    insta::assert_snapshot!(said(queries(&file(&place, &lines))));
}
