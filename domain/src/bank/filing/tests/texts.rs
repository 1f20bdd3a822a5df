//! Texts as teams write them, filed one after the other: reports, questions, headings of several forms, and logs.

use std::collections::BTreeMap;

use super::*;

#[derive(Deserialize)]
struct FiledTexts {
    id: String,
    sort: String,
    texts: Vec<String>,
    #[serde(default)]
    bank: BTreeMap<BankPath, String>,
    /// The words that a section or a file has then, and those that it has not.
    #[serde(default, rename = "in")]
    wanted: Vec<(String, String)>,
    #[serde(default)]
    not_in: Vec<(String, String)>,
    /// The number of pieces that the texts are filed as.
    pieces: Option<usize>,
}

/// Says whether a section or a file of a bank has words.
fn has(bank: &BankFiles, place: &str, words: &str) -> bool {
    bank.iter().any(|(path, text)| {
        let document = BankDocument::parse(text.as_str()).unwrap();
        let bodies = document.sections().iter().filter(|section| section.title() == place);
        let in_section = bodies.map(|section| document.body(section)).any(|body| body.contains(words));
        in_section || (path.as_str() == place && text.contains(words))
    })
}

fn is_right(case: &FiledTexts) -> bool {
    let mut bank: BankFiles = case.bank.clone().into_iter().collect();
    if bank.is_empty() {
        bank = template(BankKind::Code);
    }
    let mut pieces = 0;
    for text in &case.texts {
        let operations = by_rules(text, &bank).unwrap();
        let is_piece = |operation: &&BankOperation| {
            matches!(operation.operation_type, BankOperationType::Append | BankOperationType::PrependEntry)
        };
        pieces += operations.iter().filter(is_piece).count();
        let change = apply(&bank, &operations, now()).unwrap();
        bank.extend(change.changed);
    }
    case.wanted.iter().all(|(place, words)| has(&bank, place, words))
        && !case.not_in.iter().any(|(place, words)| has(&bank, place, words))
        && case.pieces.is_none_or(|wanted| wanted == pieces)
}

#[test]
#[expect(clippy::print_stdout, reason = "the numbers stand in docs/BANKS.md")]
fn texts_of_teams_are_filed_as_they_are_meant() {
    for (table, wanted) in [("texts", 90), ("texts_heldout", 80)] {
        let path = format!("{}/../tests/data/banks/{table}.jsonl", env!("CARGO_MANIFEST_DIR"));
        let text = fs::read_to_string(path).unwrap();
        let cases: Vec<FiledTexts> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let wrong: Vec<&FiledTexts> = cases.iter().filter(|case| !is_right(case)).collect();
        println!("{table}: {} of {} are right", cases.len() - wrong.len(), cases.len());
        if !table.ends_with("heldout") || std::env::var_os("SHOW_HELD_OUT").is_some() {
            wrong.iter().for_each(|case| println!("  {} {}: {:?}", case.id, case.sort, case.texts));
        }
        assert!(100 * (cases.len() - wrong.len()) >= wanted * cases.len(), "{table}: {} are wrong", wrong.len());
    }
}
