//! Filing by rules: a text is split into pieces, each piece is classified by its signs, and goes to the file and
//! section for its category. `places` has the files and sections for each category. Nothing is cut off.

mod dating;
mod headings;
mod labels;
mod likings;
mod neighbours;
mod places;
mod ticking;

use jiff::Timestamp;

use self::dating::dated;
use self::headings::TextHeadings;
use self::labels::{labelled, speaker_and_words};
use self::neighbours::ReadSections;
use self::places::{BankPlace, place_in};
use self::ticking::finished_tasks;
use super::apply::NAME_MAX_CHARS as RELATION_MAX_CHARS;
use super::open_item::OpenItems;
use super::pieces::{BankTextPiece, PieceForm, day_title, has_steps, tag_in, text_pieces, undated};
use super::signs;
use super::{
    BankCategory, BankDocument, BankFiles, BankImportance, BankInvalid, BankMetadata, BankOperation, BankOperationType,
    BankPath, BankSource, RenamedHeadings, SECTION_SEPARATOR,
};
use crate::memory::normalised;
use crate::retrieval::standalone::only_carries_on;

/// The weights of a label in a piece, and of a heading above it.
const LABEL_WEIGHT: u32 = 9;
const HEADING_WEIGHT: u32 = 7;
/// The weight of a heading such as `Notes`, under which anything may stand.
const NOTES_WEIGHT: u32 = 4;
/// Faint signs decide only where nothing else does, so that many of them weigh no more than this together.
const FAINT_WEIGHT: u32 = 3;
const FAINT_TOGETHER: u32 = 4;
/// An update ticks at most this many tasks. The file is read for each of them.
const TICKS_MAX: usize = 100;
/// The longest label above a list, in words. A longer one is a sentence, and stays with its items.
const LABEL_MAX_WORDS: usize = 4;

/// Makes operations of a text by rules. A section under a heading that a person renamed is taken for what it was. There
/// are none where the text has nothing to file.
///
/// # Errors
/// The text is longer than a file of a bank may be.
pub fn file_by_rules(
    text: &str,
    bank: &BankFiles,
    renamed: &RenamedHeadings,
    now: Timestamp,
) -> Result<Vec<BankOperation>, BankInvalid> {
    let document = BankDocument::parse(text).map_err(|error| BankInvalid::new("content", error.problem))?;
    let text = &without_front_matter(&document);
    let documents: Vec<(&BankPath, BankDocument)> =
        bank.iter().filter_map(|(path, text)| Some((path, BankDocument::parse(text.as_str()).ok()?))).collect();
    let (mut operations, mut ticked, read) = (Vec::new(), 0, ReadSections::default());
    let pieces = without_nods(introduced(labelled(text_pieces(text))));
    let mut headings = TextHeadings::of(&pieces, &documents);
    let open_items: Vec<(&BankPath, OpenItems<'_>)> =
        documents.iter().map(|(path, document)| (*path, OpenItems::of(document))).collect();
    let places: Vec<(&BankPath, &BankDocument)> = documents
        .iter()
        .map(|(path, document)| (*path, document))
        .filter(|(path, _)| !path.is_record_of_decision())
        .collect();
    for piece in pieces {
        let mut category = classify(&piece);
        if (category == BankCategory::Done && ticked < TICKS_MAX) || may_be_report(category) {
            let mut finished = finished_tasks(&piece, &open_items);
            if category != BankCategory::Done {
                finished.retain(|task| task.is_repeated);
            }
            if !finished.is_empty() {
                category = BankCategory::Done;
            }
            finished.truncate(TICKS_MAX - ticked);
            ticked += finished.len();
            operations.extend(finished.into_iter().map(|task| completed(task.file.clone(), task.report)));
        }
        let place = place_in(&places, renamed, &read, category, &piece);
        let relations = relations_of(&piece.text, &documents);
        let untold = headings.untold(&piece, &place);
        operations.extend(operations_of(&piece, &untold, category, place, relations, now));
    }
    Ok(without_repeated_sections(operations))
}

/// Returns a text whose front matter is a part of it like any other. Only a file has properties; what stands there in
/// the text of an update has to be filed.
fn without_front_matter(document: &BankDocument) -> String {
    let front = document.front_matter();
    let inner: Vec<&str> = front.lines().filter(|line| !matches!(line.trim_end(), "---" | "...")).collect();
    format!("{}\n\n{}", inner.join("\n"), &document.text()[front.len()..])
}

/// Says whether a piece that has no heading is a decision.
pub(super) fn is_decision(form: PieceForm, text: &str) -> bool {
    let piece = || BankTextPiece { headings: Vec::new(), form, text: text.to_owned() };
    signs::may_be_decision(text) && classify(&piece()) == BankCategory::Decision
}

/// Returns the category of a piece of text. Where it tells nothing, what a person says in it may: `Mara: finished it`.
pub fn classify(piece: &BankTextPiece) -> BankCategory {
    let found = classify_whole(piece);
    let said = || speaker_and_words(&piece.text).map(|(_, words)| words.to_owned());
    let may_be_said = found == BankCategory::Note && !signs::is_answer(&piece.text);
    let said = may_be_said.then(said).flatten();
    said.map_or(found, |text| classify_whole(&BankTextPiece { text, ..piece.clone() }))
}

fn classify_whole(piece: &BankTextPiece) -> BankCategory {
    let text = undated(&piece.text);
    let mut weights: Vec<(BankCategory, u32)> = signs::signs_of(&text);
    let rows = table_rows(&text);
    weights.retain(|(category, _)| !is_state(*category) || rows.iter().all(|row| has_signs_of(row, *category)));
    weights.extend(signs::is_answer(&text).then_some((BankCategory::Note, LABEL_WEIGHT)));
    weights.extend(signs::label_of(&text).map(|category| (category, LABEL_WEIGHT)));
    weights.extend(piece.headings.iter().rev().find_map(|heading| heading_weight(heading)));
    match piece.form {
        PieceForm::Item | PieceForm::Paragraph if signs::begins_ticked(&text) => {
            weights.push((BankCategory::Done, 3 * LABEL_WEIGHT));
        }
        PieceForm::OpenItem => weights.push((BankCategory::Next, 3 * LABEL_WEIGHT)),
        PieceForm::TickedItem => weights.push((BankCategory::Done, 3 * LABEL_WEIGHT)),
        PieceForm::Code => weights.push((BankCategory::Command, 1)),
        PieceForm::Item | PieceForm::Paragraph => {}
    }
    // What a step is about is not done by that.
    let has_no_report = piece.form == PieceForm::Paragraph && has_steps(&text);
    if has_no_report || is_asked(piece, &text) {
        weights.retain(|(category, _)| !matches!(category, BankCategory::Done | BankCategory::Decision));
    }
    let total = |category: BankCategory| -> u32 {
        let of_category = || weights.iter().filter(|(of, _)| *of == category).map(|(_, weight)| *weight);
        let faint: u32 = of_category().filter(|weight| *weight <= FAINT_WEIGHT).sum();
        of_category().filter(|weight| *weight > FAINT_WEIGHT).sum::<u32>() + faint.min(FAINT_TOGETHER)
    };
    // The first of equal ones is the one that says most of what the piece is for.
    let mut best = (BankCategory::Note, total(BankCategory::Note).max(1));
    for category in ORDER {
        let weight = total(category);
        if weight > best.1 {
            best = (category, weight);
        }
    }
    under_heading(best.0, piece, &text)
}

/// Returns the category of a piece under a heading that tells what state its items are in, whatever they name: a
/// version under `Completed` is done. Found is what the signs say.
fn under_heading(found: BankCategory, piece: &BankTextPiece, text: &str) -> BankCategory {
    use BankCategory::{Blocked, Decision, Done, Fix, Issue, Next, Question};
    // A file or a part of one may have these names, and anything may stand there.
    const LOOSE: [&str; 5] = ["progress", "plan", "recent", "later", "changelog"];
    let is_told = (is_state(found) || found == Decision) && signs::label_of(text) == Some(found);
    let nearest = piece.headings.iter().rev().find_map(|title| Some((title, heading_weight(title)?.0)));
    let Some((title, named)) = nearest.filter(|_| !has_box(piece, text) && !is_told && !is_asked(piece, text)) else {
        return found;
    };
    let may_be = match named {
        Done => matches!(found, Next | Blocked | Question | Decision),
        Next => matches!(found, Done | Blocked | Question),
        Issue => matches!(found, Done | Blocked | Next | Question | Fix),
        Blocked => found == Done && signs::is_unblocked(text),
        Decision | Question => false,
        _ => true,
    };
    if may_be || LOOSE.contains(&normalised(title).as_str()) { found } else { named }
}

/// Says whether a category tells how work stands.
fn is_state(category: BankCategory) -> bool {
    use BankCategory::{Blocked, Done, Next, Question};
    matches!(category, Blocked | Done | Next | Question)
}

/// Returns the rows of a table behind the names of its columns. Each of them has its own state. There are none where the
/// text is no table.
fn table_rows(text: &str) -> Vec<&str> {
    let is_table = text.trim_start().starts_with('|');
    text.lines().skip(2).filter(|line| is_table && line.trim_start().starts_with('|')).collect()
}

fn has_signs_of(row: &str, category: BankCategory) -> bool {
    signs::signs_of(row).iter().any(|(of, _)| *of == category)
}

/// Says whether a piece that tells of what lasts, such as a version, may report a task all the same.
fn may_be_report(category: BankCategory) -> bool {
    use BankCategory::{Architecture, Command, Constraint, Dependency, Fix, Issue, Note};
    matches!(category, Architecture | Command | Constraint | Dependency | Fix | Issue | Note)
}

/// Says whether a piece is a question. One with a box is a task, whatever its words.
fn is_asked(piece: &BankTextPiece, text: &str) -> bool {
    !has_box(piece, text) && signs::is_question(text)
}

fn has_box(piece: &BankTextPiece, text: &str) -> bool {
    matches!(piece.form, PieceForm::OpenItem | PieceForm::TickedItem) || signs::begins_ticked(text)
}

/// Returns the category that a heading names, with its weight for what stands under it.
fn heading_weight(title: &str) -> Option<(BankCategory, u32)> {
    let is_of_notes = || matches!(normalised(title.trim_end_matches(':')).as_str(), "note" | "notes");
    let named = signs::heading_of(title).map(|category| (category, HEADING_WEIGHT));
    named.or_else(|| is_of_notes().then_some((BankCategory::Note, NOTES_WEIGHT)))
}

/// The categories in the order in which they win where they weigh the same.
const ORDER: [BankCategory; 22] = [
    BankCategory::Question,
    BankCategory::Scope,
    BankCategory::Decision,
    BankCategory::Blocked,
    BankCategory::Fix,
    BankCategory::Goal,
    BankCategory::Preference,
    BankCategory::Problem,
    BankCategory::User,
    BankCategory::Focus,
    BankCategory::Next,
    BankCategory::Command,
    BankCategory::Issue,
    BankCategory::Dependency,
    BankCategory::Done,
    BankCategory::Constraint,
    BankCategory::Requirement,
    BankCategory::Behaviour,
    BankCategory::Convention,
    BankCategory::Link,
    BankCategory::Architecture,
    BankCategory::Profile,
];

/// Puts the sentence that introduces a list to its first item where it is more than a label, so that it is not lost.
fn introduced(pieces: Vec<BankTextPiece>) -> Vec<BankTextPiece> {
    let mut all: Vec<BankTextPiece> = Vec::with_capacity(pieces.len());
    let mut last: Option<String> = None;
    for piece in pieces {
        let introduction = piece.headings.last().filter(|heading| heading.ends_with(':')).cloned();
        let is_label =
            |text: &str| text.split_whitespace().count() <= LABEL_MAX_WORDS || signs::heading_of(text).is_some();
        match (&introduction, all.last_mut()) {
            (Some(text), _) if is_label(text) => all.push(piece),
            // The items of one sentence stay together.
            (Some(text), Some(open)) if last.as_ref() == Some(text) => {
                open.text.push_str(&format!("\n{}", nested(&piece)));
            }
            (Some(text), _) => {
                let text = format!("{text}\n{}", nested(&piece));
                let headings = piece.headings[..piece.headings.len() - 1].to_vec();
                all.push(BankTextPiece { headings, form: PieceForm::Paragraph, text });
            }
            (None, _) => all.push(piece),
        }
        last = introduction;
    }
    all
}

/// Leaves out paragraphs such as `ok, thanks`, which tell nothing, unless a heading says what they answer. A list of
/// nothing else is left out as well, and so is what says that there is nothing, such as `Blockers: none`.
fn without_nods(mut pieces: Vec<BankTextPiece>) -> Vec<BankTextPiece> {
    pieces.retain(|piece| !signs::says_none(&piece.text, piece.headings.last().map(String::as_str)));
    let is_nod = |piece: &BankTextPiece| piece.headings.is_empty() && only_carries_on(&piece.text);
    let are_all = pieces.iter().all(is_nod);
    pieces.retain(|piece| !is_nod(piece) || (piece.form != PieceForm::Paragraph && !are_all));
    pieces
}

fn nested(piece: &BankTextPiece) -> String {
    super::apply::item(piece.form, &piece.text)
}

fn completed(target_file: BankPath, content: String) -> BankOperation {
    let metadata =
        BankMetadata { category: Some(BankCategory::Done), source: BankSource::Rules, ..BankMetadata::default() };
    let operation_type = BankOperationType::CompleteItem;
    BankOperation { target_file, operation_type, content, metadata }
}

/// Makes the operations that put a piece to its place. A file or a section that is missing is created first.
fn operations_of(
    piece: &BankTextPiece,
    untold: &str,
    category: BankCategory,
    place: BankPlace,
    relations: Vec<String>,
    now: Timestamp,
) -> Vec<BankOperation> {
    let BankPlace { file, title, section, is_new_file, is_new_section, is_dated, form } = place;
    let tags = tags_of(&piece.text);
    let is_important = tags.iter().any(|tag| tag == "keep") || signs_importance(&piece.text);
    let importance = if is_important { BankImportance::High } else { BankImportance::Normal };
    let metadata = BankMetadata {
        section: section.clone(),
        category: Some(category),
        tags,
        importance,
        source: BankSource::Rules,
        timestamp: Some(now),
        relations,
        ..BankMetadata::default()
    };
    let operation = |operation_type: BankOperationType, content: String| BankOperation {
        target_file: file.clone(),
        operation_type,
        content,
        metadata: metadata.clone(),
    };
    let mut operations = Vec::new();
    if is_new_file {
        operations.push(operation(BankOperationType::CreateFile, format!("# {title}")));
    }
    if is_new_section {
        operations.push(operation(BankOperationType::CreateSection, String::new()));
    }
    let title = section.as_deref().and_then(|path| path.rsplit(SECTION_SEPARATOR).next()).unwrap_or(file.stem());
    let kind = if is_dated { BankOperationType::PrependEntry } else { BankOperationType::Append };
    // The heading of a day dates the entries below it.
    let has_dates = form.has_dates() || (is_dated && day_title(title).is_none());
    let form = Some(&form).filter(|_| has_dates);
    let entry = |text: &str| dated(piece, text, untold, title, form, now);
    operations.push(operation(kind, written(piece, untold, category, entry)));
    operations
}

/// Returns a piece as an entry of a bank: a list item with the words that `entry` makes of its text. Code and tables
/// stay as they are, behind the headings that their place does not tell.
fn written(piece: &BankTextPiece, untold: &str, category: BankCategory, entry: impl Fn(&str) -> String) -> String {
    let (form, text) = (piece.form, self_contained(&piece.text));
    let is_raw = form == PieceForm::Code || text.trim_start().starts_with('|');
    match untold.trim_end() {
        "" if is_raw => return text,
        untold if is_raw => return format!("{untold}\n\n{text}"),
        _ => {}
    }
    let form = match (form, category) {
        (PieceForm::OpenItem | PieceForm::TickedItem, _) => form,
        // What is quoted below a list of tasks is none.
        (_, BankCategory::Next) if !text.starts_with('>') => PieceForm::OpenItem,
        _ => PieceForm::Item,
    };
    let text = entry(&text);
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default();
    let rest: Vec<&str> = lines.collect();
    let is_indented = rest.iter().all(|line| line.trim().is_empty() || line.starts_with("  "));
    let rest = rest.iter().map(|line| match line {
        line if line.trim().is_empty() => "\n".to_owned(),
        line if is_indented => format!("\n{line}"),
        line => format!("\n  {line}"),
    });
    super::apply::item(form, &format!("{first}{}", rest.collect::<String>()))
}

/// Returns a text after which the rest of a file is read as before: code is closed, and so is HTML.
fn self_contained(text: &str) -> String {
    const AFTER: &str = "\n\n# after\n";
    let is_whole = |text: &str| {
        BankDocument::parse(format!("- {}{AFTER}", text.replace('\n', "\n  ")))
            .is_ok_and(|read| read.sections().len() == 2)
            && BankDocument::parse(format!("{text}{AFTER}")).is_ok_and(|read| read.sections().len() == 2)
    };
    if is_whole(text) {
        return text.to_owned();
    }
    let fence = text.lines().map(str::trim_start).find(|line| line.starts_with("```") || line.starts_with("~~~"));
    let mark: String =
        fence.map(|line| line.chars().take_while(|c| matches!(c, '`' | '~')).collect()).unwrap_or_default();
    let closed = format!("{text}\n{mark}");
    if !mark.is_empty() && is_whole(&closed) {
        return closed;
    }
    text.replace('<', "&lt;")
}

/// Returns the sections that a text names by their headings, as file#section, and the files that it names. A heading
/// such as `Next steps`, or one of a single word, says nothing: many texts have its words.
fn relations_of(text: &str, documents: &[(&BankPath, BankDocument)]) -> Vec<String> {
    const MAX: usize = 10;
    let text = text.to_lowercase();
    let names = |name: &str| has_words(&text, &name.to_lowercase());
    let tells = |title: &str| title.split_whitespace().count() > 1 && signs::heading_of(title).is_none();
    let sections = documents.iter().flat_map(|(path, document)| {
        let named = document.sections().iter().filter(|section| tells(section.title()) && names(section.title()));
        named.map(move |section| format!("{path}#{}", section.title()))
    });
    let files = documents.iter().filter(|(path, _)| names(path.as_str())).map(|(path, _)| path.to_string());
    sections.chain(files).filter(|name| name.chars().count() <= RELATION_MAX_CHARS).take(MAX).collect()
}

/// Says whether a text has these words, as opposed to parts of longer ones.
fn has_words(text: &str, words: &str) -> bool {
    let is_inside = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    text.match_indices(words).any(|(at, found)| {
        !is_inside(text[..at].chars().next_back()) && !is_inside(text[at + found.len()..].chars().next())
    })
}

/// Returns the words of a text that begin with `#`, such as `#keep`.
fn tags_of(text: &str) -> Vec<String> {
    const MAX: usize = 10;
    let tag = |word: &str| {
        let name = tag_in(word)?.trim_end_matches(|c: char| !c.is_alphanumeric());
        let is_tag = name.starts_with(char::is_alphabetic) && name.chars().count() <= 40;
        (is_tag && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_'))).then(|| name.to_lowercase())
    };
    let mut tags: Vec<String> = text.split_whitespace().filter_map(tag).take(MAX).collect();
    tags.sort();
    tags.dedup();
    tags
}

fn signs_importance(text: &str) -> bool {
    let text = text.to_lowercase();
    ["important", "critical", "never forget", "must not forget", "do not forget"].iter().any(|sign| text.contains(sign))
}

/// Leaves out operations that create what an earlier one creates.
fn without_repeated_sections(operations: Vec<BankOperation>) -> Vec<BankOperation> {
    let mut all: Vec<BankOperation> = Vec::with_capacity(operations.len());
    for operation in operations {
        let creates = matches!(
            operation.operation_type,
            BankOperationType::CreateFile | BankOperationType::CreateSection | BankOperationType::CompleteItem
        );
        let same = |other: &BankOperation| {
            other.operation_type == operation.operation_type
                && other.target_file == operation.target_file
                && (operation.operation_type == BankOperationType::CreateFile
                    || (other.metadata.section == operation.metadata.section && operation.content == other.content))
        };
        if !(creates && all.iter().any(same)) {
            all.push(operation);
        }
    }
    all
}

#[cfg(test)]
mod tests;
