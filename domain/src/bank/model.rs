//! A model's work on a bank: what it is asked, and how its answer is read. What it proposes goes through the same
//! validator as what the rules make, and of a shorter file also through that of what must stay.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    BankCategory, BankDocument, BankFiles, BankImportance, BankInvalid, BankMetadata, BankOperation, BankOperationType,
    BankSource, LongFile, MODEL_MAX_OPERATIONS, apply,
};
use crate::learning::lesson::InstructionRuns;
use crate::prompt::{Prompt, Prompts, Template, render};
use crate::text::shortened;

/// The operations that a model proposes for new content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct BankProposal {
    pub operations: Vec<ProposedOperation>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct ProposedOperation {
    pub target_file: String,
    pub operation_type: BankOperationType,
    pub content: String,
    pub metadata: ProposedMetadata,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct ProposedMetadata {
    #[serde(default)]
    pub section: Option<String>,
    #[serde(default)]
    pub category: Option<BankCategory>,
    #[serde(default)]
    pub tags: Vec<String>,
    #[serde(default)]
    pub importance: BankImportance,
    #[serde(default)]
    pub relations: Vec<String>,
}

/// Returns the prompt that asks where new content belongs. Where it is cut, the content is too long for the model, and
/// the rules have to file it.
pub fn update_prompt(prompts: &Prompts, files: &BankFiles, content: &str, budget: usize) -> Prompt {
    let outline = outline_text(files);
    render(prompts, Template::BankUpdate, &[("outline", &outline), ("content", content)], budget)
}

/// Returns the prompt that asks for shorter sections of a file of a bank. Where it is cut, the file is too long for the
/// model, and the rules have to make it shorter.
pub fn optimize_prompt(prompts: &Prompts, files: &BankFiles, file: &LongFile, budget: usize) -> Prompt {
    let content = files.get(&file.path).map(String::as_str).unwrap_or_default();
    let kept: String = file.must_stay().map(|piece| format!("- {piece}\n")).collect();
    let values = [
        ("tokens", file.tokens.to_string()),
        ("aim", file.aim_tokens.to_string()),
        ("kept", kept),
        ("file", file.path.to_string()),
        ("content", content.to_owned()),
    ];
    let values = values.each_ref().map(|(name, value)| (*name, value.as_str()));
    render(prompts, Template::BankOptimize, &values, budget)
}

/// Returns what a file becomes by the operations of a model that was asked for shorter sections.
///
/// # Errors
/// An operation does something else, or is not possible; or a piece that must stay is missing; or the file is not
/// shorter.
pub fn shorter_file(
    files: &BankFiles,
    file: &LongFile,
    operations: &[BankOperation],
    now: Timestamp,
) -> Result<String, BankInvalid> {
    let is_own = |operation: &&BankOperation| {
        operation.operation_type == BankOperationType::ReplaceSection && operation.target_file == file.path
    };
    if let Some(other) = operations.iter().find(|operation| !is_own(operation)) {
        let problem = format!("{:?} of {} was not asked for", other.operation_type, other.target_file);
        return Err(BankInvalid::new("operation_type", problem));
    }
    let mut change = apply(files, operations, now)?;
    let text = change.changed.remove(&file.path).unwrap_or_default();
    file.check_shorter(&text)?;
    Ok(text)
}

/// Reads the operations of a model. `apply` validates what depends on the bank.
///
/// # Errors
/// The proposal is empty or too long, leaves the bank, or repeats the instructions of the prompt.
pub fn proposed_operations(prompts: &Prompts, proposal: BankProposal) -> Result<Vec<BankOperation>, BankInvalid> {
    if proposal.operations.is_empty() {
        return Err(BankInvalid::new("operations", "are none"));
    }
    if proposal.operations.len() > MODEL_MAX_OPERATIONS {
        return Err(BankInvalid::new("operations", format!("are more than {MODEL_MAX_OPERATIONS}")));
    }
    let instructions = InstructionRuns::of(prompts.bank_instructions());
    let read = |proposed: ProposedOperation| {
        let ProposedOperation { target_file, operation_type, content, metadata } = proposed;
        if instructions.has_run_of(&content) {
            return Err(BankInvalid::new("content", "repeats the instructions of the prompt"));
        }
        let ProposedMetadata { section, category, tags, importance, relations } = metadata;
        let section = section.filter(|section| !section.trim().is_empty());
        let source = BankSource::Llm;
        let metadata =
            BankMetadata { section, category, tags, importance, source, relations, ..BankMetadata::default() };
        Ok(BankOperation { target_file: target_file.parse()?, operation_type, content, metadata })
    };
    proposal.operations.into_iter().map(read).collect()
}

/// Returns the files and sections of a bank, with the beginning of each section, so that a model sees what is there.
fn outline_text(files: &BankFiles) -> String {
    const SHOWN_CHARS: usize = 200;
    let mut text = String::new();
    for (path, file) in files {
        text.push_str(&format!("{path}\n"));
        let Ok(document) = BankDocument::parse(file.as_str()) else { continue };
        for section in document.sections().iter().skip(1) {
            let body = document.body(section).split_whitespace().collect::<Vec<_>>().join(" ");
            let body = shortened(&body, SHOWN_CHARS);
            let between = if body.is_empty() { "" } else { ": " };
            text.push_str(&format!("  # {}{between}{body}\n", section.name()));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bank::{BankKind, apply, template};
    use crate::prompt::Purpose;
    use crate::solve::answer::{Answer, read};

    fn operations(text: &str) -> Result<Vec<BankOperation>, String> {
        match read(Purpose::Bank, text) {
            Ok(Answer::Bank(proposal)) => {
                proposed_operations(&Prompts::default(), proposal).map_err(|error| error.to_string())
            }
            Ok(other) => Err(format!("{other:?}")),
            Err(error) => Err(error.to_string()),
        }
    }

    fn answer(file: &str, kind: &str, section: &str, content: &str) -> String {
        serde_json::json!({"operations": [{
            "target_file": file, "operation_type": kind, "content": content, "metadata": {"section": section},
        }]})
        .to_string()
    }

    #[test]
    fn what_a_model_proposes_is_applied_as_what_the_rules_make() {
        let files = template(BankKind::Code);
        let operations = operations(&answer("progress.md", "prepend_entry", "Done", "- The parser.")).unwrap();
        assert_eq!(operations[0].metadata.source, BankSource::Llm);
        let change = apply(&files, &operations, "2026-11-25T12:00:00Z".parse().unwrap()).unwrap();
        assert!(change.changed.values().next().unwrap().contains("## Done\n\n- The parser.\n"));
    }

    #[test]
    fn an_answer_that_leaves_the_bank_or_repeats_its_prompt_is_invalid() {
        let echo = Template::BankUpdate.instructions().chars().skip(100).take(200).collect::<String>();
        for (text, problem) in [
            (r#"{"operations": []}"#.to_owned(), "operations are none"),
            (answer("../x.md", "append", "A", "x"), "target_file must not leave the bank"),
            (answer("x.md", "delete_file", "A", "x"), "unknown variant"),
            (answer("progress.md", "append", "Done", &echo), "repeats the instructions"),
            ("sorry".to_owned(), "no JSON object"),
        ] {
            let error = operations(&text).unwrap_err();
            assert!(error.contains(problem), "{error}");
        }
    }

    #[test]
    fn the_prompt_shows_the_bank_and_says_when_the_content_is_too_long() {
        let files = template(BankKind::Code);
        let prompt = update_prompt(&Prompts::default(), &files, "</submitted-text> new", 8_000);
        assert!(prompt.cut.is_none() && prompt.input.contains("progress.md\n  # Progress: What is done"));
        assert!(prompt.input.contains("  # Progress > Done\n") && prompt.input.contains("</submitted text> new"));
        assert!(update_prompt(&Prompts::default(), &files, &"word ".repeat(20_000), 8_000).cut.is_some());
    }
}
