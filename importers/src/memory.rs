//! A thing that another program remembered, as a memory or as a fact of a memory bank.

use jiff::Timestamp;
use reasoning_bank_domain::bank::ImportedFact;
use reasoning_bank_domain::evidence::confidence::prior;
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::memory::signature::mentioned;
use reasoning_bank_domain::memory::workspace::WorkspaceId;
use reasoning_bank_domain::memory::{
    CONTENT_MAX_CHARS, DESCRIPTION_MAX_CHARS, ErrorContext, LABEL_MAX_CHARS, LESSON_CONTENT_MAX_CHARS, Memory,
    MemoryOutcome, NewMemory, SourceType, Status, TAGS_MAX, TITLE_MAX_CHARS, Trust, spaced,
};
use reasoning_bank_domain::safety::secrets::{Removed, Scrub};
use reasoning_bank_domain::text::shortened;
use uuid::Uuid;

use crate::item::{ItemKind, SkipReason, SourceItem};
use crate::source::ImportSource;

/// The namespace of the ids of what is imported.
const NAMESPACE: Uuid = Uuid::from_u128(0x7d2f_31c6_5b0e_4c1a_9f43_0a6e_88d1_52b7);
/// The type of an error that a warning does not name.
const UNNAMED_ERROR: &str = "known pitfall";
const MARK_DIGITS: usize = 16;

/// Returns the id (UUIDv5) that a thing of a source has here, in every import.
pub fn origin_id(source: ImportSource, origin: &str) -> Uuid {
    Uuid::new_v5(&NAMESPACE, format!("{source}\0{origin}").as_bytes())
}

/// Returns the mark by which a fact of a source is known again in a memory bank.
pub fn origin_mark(source: ImportSource, origin: &str) -> String {
    origin_id(source, origin).simple().to_string()[..MARK_DIGITS].to_owned()
}

/// Makes a memory of a strategy or a warning. It is the word of a model, and begins with low confidence. Says what was
/// removed from its texts.
///
/// # Errors
/// It has no text, or is not valid as a memory.
pub fn to_memory(
    source: ImportSource,
    item: &SourceItem,
    workspace_id: &WorkspaceId,
    now: Timestamp,
) -> Result<(Memory, Removed), SkipReason> {
    let content = item.content.trim();
    let title = [&item.title, content].into_iter().find(|text| !text.trim().is_empty()).ok_or(SkipReason::Empty)?;
    let title = shortened(&spaced(first_sentence(title)), TITLE_MAX_CHARS);
    let content = if content.is_empty() { title.as_str() } else { content };
    let when =
        if item.when.trim().is_empty() { format!("When the work is about: {title}") } else { spaced(&item.when) };
    let is_warning = item.kind == ItemKind::Warning;
    let created_at = item.created_at.filter(|at| *at >= Timestamp::UNIX_EPOCH).map_or(now, |at| at.min(now));
    let mut memory = Memory {
        error_context: is_warning.then(|| error_of(&title, content)),
        pattern_tags: tags_of(source, item),
        status: if item.is_outdated { Status::Archived } else { Status::Active },
        updated_at: created_at,
        valid_from: None,
        ..Memory::new(NewMemory {
            id: MemoryId::from(origin_id(source, &item.origin)),
            description: shortened(&when, DESCRIPTION_MAX_CHARS),
            content: shortened(content, CONTENT_MAX_CHARS),
            title,
            outcome: if is_warning { MemoryOutcome::Failure } else { MemoryOutcome::Success },
            workspace_id: workspace_id.clone(),
            source_type: SourceType::Imported,
            trust: Trust::Model,
            prior: prior(SourceType::Imported, None),
            at: created_at,
        })
    };
    let removed = memory.scrub();
    memory.validate().map_err(|_| SkipReason::Invalid)?;
    Ok((memory, removed))
}

/// Makes a line of a memory bank of a fact. Says what was removed from its text.
///
/// # Errors
/// It has no text.
pub fn to_fact(source: ImportSource, item: &SourceItem) -> Result<(ImportedFact, Removed), SkipReason> {
    let mut text = fact_text(item);
    if text.is_empty() {
        return Err(SkipReason::Empty);
    }
    let removed = text.scrub();
    Ok((ImportedFact { mark: origin_mark(source, &item.origin), text }, removed))
}

/// Returns the title and the content of a fact as one line.
pub(crate) fn fact_text(item: &SourceItem) -> String {
    let (title, content) = (spaced(&item.title), spaced(&item.content));
    match (title.is_empty(), content.is_empty()) {
        (true, _) => content,
        (false, true) => title,
        // A title that only begins what follows says nothing of its own.
        (false, false) if content.starts_with(title.trim_end_matches('…')) => content,
        (false, false) => format!("{}: {content}", title.trim_end_matches(['.', ':'])),
    }
}

fn error_of(title: &str, content: &str) -> ErrorContext {
    let named = mentioned(&format!("{title}\n{content}"));
    let name = named.map(|signature| signature.error().to_owned()).filter(|name| !name.trim().is_empty());
    ErrorContext {
        error_type: shortened(name.as_deref().unwrap_or(UNNAMED_ERROR), LABEL_MAX_CHARS),
        failure_pattern: title.to_owned(),
        corrective_guidance: shortened(content, LESSON_CONTENT_MAX_CHARS),
        error_message: None,
        stack_trace: None,
        task_domain: None,
    }
}

/// Returns the tags of a memory, the name of its source first.
fn tags_of(source: ImportSource, item: &SourceItem) -> Vec<String> {
    let mut tags = vec![source.to_string()];
    for tag in item.tags.iter().map(|tag| shortened(&spaced(tag), LABEL_MAX_CHARS)) {
        if !tag.is_empty() && !tags.contains(&tag) && tags.len() < TAGS_MAX {
            tags.push(tag);
        }
    }
    tags
}

/// Returns the first line of a text, or its first sentence where the line has several.
pub(crate) fn first_sentence(text: &str) -> &str {
    let line = text.trim().lines().next().unwrap_or_default().trim_start_matches(['#', '-', '*', ' ']);
    let end = line.match_indices(". ").map(|(at, _)| at).find(|at| *at > 10).unwrap_or(line.len());
    line[..end].trim_end_matches('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(kind: ItemKind) -> SourceItem {
        SourceItem {
            title: "Postgres pool runs dry".into(),
            content: "The pool had 5 connections. Raise it to 20, or a TimeoutError comes under load.".into(),
            tags: vec!["db".into(), "db".into(), " ".into()],
            created_at: Some("2025-03-01T10:00:00Z".parse().unwrap()),
            ..SourceItem::new("42", kind)
        }
    }

    fn made(item: &SourceItem) -> Result<(Memory, Removed), SkipReason> {
        to_memory(ImportSource::ClaudeMem, item, &WorkspaceId::of_root("/a"), "2026-01-01T00:00:00Z".parse().unwrap())
    }

    #[test]
    fn a_memory_keeps_its_time_and_claims_nothing() {
        let (memory, _) = made(&item(ItemKind::Strategy)).unwrap();
        assert_eq!((memory.source_type, memory.trust, memory.prior), (SourceType::Imported, Trust::Model, 0.4));
        assert_eq!(memory.created_at, "2025-03-01T10:00:00Z".parse().unwrap());
        assert_eq!(memory.pattern_tags, ["claude-mem", "db"]);
        assert_eq!(memory.id.uuid().get_version_num(), 5);
        assert_eq!(memory.id, made(&item(ItemKind::Warning)).unwrap().0.id);
        let ahead =
            SourceItem { created_at: Some("2099-01-01T00:00:00Z".parse().unwrap()), ..item(ItemKind::Strategy) };
        assert_eq!(made(&ahead).unwrap().0.created_at, "2026-01-01T00:00:00Z".parse().unwrap());
        let outdated = SourceItem { is_outdated: true, ..item(ItemKind::Strategy) };
        assert_eq!(made(&outdated).unwrap().0.status, Status::Archived);
    }

    #[test]
    fn a_warning_names_the_error_that_its_text_names() {
        let error = made(&item(ItemKind::Warning)).unwrap().0.error_context.unwrap();
        assert!(error.error_type.to_lowercase().contains("timeout"), "{error:?}");
        assert_eq!(error.failure_pattern, "Postgres pool runs dry");
        assert!(error.corrective_guidance.contains("Raise it to 20"));
    }

    #[test]
    fn a_secret_is_removed_and_a_thing_without_text_is_skipped() {
        let secret = format!("ghp_{}", "a1B2".repeat(9));
        let told = SourceItem { content: format!("The token is {secret}"), ..item(ItemKind::Fact) };
        let (memory, removed) = made(&told).unwrap();
        assert!(removed.redactions > 0 && !memory.content.contains(&secret));
        let (fact, removed) = to_fact(ImportSource::Mem0, &told).unwrap();
        assert!(removed.redactions > 0 && !fact.text.contains(&secret));
        assert_eq!(made(&SourceItem::new("1", ItemKind::Strategy)), Err(SkipReason::Empty));
        assert_eq!(to_fact(ImportSource::Mem0, &SourceItem::new("1", ItemKind::Fact)), Err(SkipReason::Empty));
    }

    #[test]
    fn a_fact_is_one_line_that_says_nothing_twice() {
        let told = |title: &str, content: &str| {
            let item =
                SourceItem { title: title.into(), content: content.into(), ..SourceItem::new("1", ItemKind::Fact) };
            to_fact(ImportSource::Mem0, &item).unwrap().0.text
        };
        assert_eq!(told("Tabs.", "Uses tabs\n\nnot spaces"), "Tabs: Uses tabs not spaces");
        assert_eq!(told("Uses…", "Uses tabs"), "Uses tabs");
    }
}
