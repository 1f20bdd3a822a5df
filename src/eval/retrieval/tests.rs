use super::*;

#[test]
fn the_description_is_the_first_sentence_within_its_bound() {
    for (text, sentence) in [
        ("Retry. Then wait.", "Retry."),
        ("version 1.2 is out! More", "version 1.2 is out!"),
        ("  no end\nsecond line.", "no end"),
        ("一文。二文。", "一文。"),
        ("", ""),
        ("...", "..."),
    ] {
        assert_eq!(first_sentence(text), sentence, "{text:?}");
    }
    assert_eq!(first_sentence(&"long ".repeat(1_000)).chars().count(), DESCRIPTION_MAX_CHARS);
}

#[test]
fn a_document_is_where_queries_look_for_it_and_somewhere_in_any_case() {
    let query = |workspace: Option<&str>| DatasetQuery {
        id: String::new(),
        text: String::new(),
        workspace: workspace.map(str::to_owned),
        gold: Default::default(),
        exclude: Vec::new(),
    };
    let places = |queries: &[Option<&str>], workspace: Option<&str>| {
        let queries: Vec<DatasetQuery> = queries.iter().copied().map(query).collect();
        let workspace = workspace.map(str::to_owned);
        let document = CorpusDocument { title: String::new(), text: String::new(), at: None, workspace };
        DocumentPlaces::of(&queries).of_document(&document).collect::<Vec<_>>()
    };
    assert_eq!(places(&[Some("w")], Some("w")), [DocumentPlace::Own]);
    assert_eq!(places(&[None], Some("w")), [DocumentPlace::All]);
    assert_eq!(places(&[Some("w"), None], Some("w")), [DocumentPlace::Own, DocumentPlace::All]);
    assert_eq!(places(&[], Some("w")), [DocumentPlace::Own]);
    for queries in [&[Some("w")][..], &[None], &[]] {
        assert_eq!(places(queries, None), [DocumentPlace::All]);
    }
}

#[test]
fn a_memory_is_known_by_the_number_of_its_document_in_both_places() {
    let ids: Vec<MemoryId> = [0, 1, u32::MAX]
        .into_iter()
        .flat_map(|n| [DocumentPlace::Own, DocumentPlace::All].map(|place| place.memory_id(n)))
        .collect();
    assert!(ids.is_sorted() && ids.windows(2).all(|pair| pair[0] != pair[1]));
    assert_eq!(ids.into_iter().map(DocumentPlace::number).collect::<Vec<_>>(), [0, 0, 1, 1, u32::MAX, u32::MAX]);
}
