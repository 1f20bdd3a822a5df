//! The places for pieces: for each category the files and sections that are meant for it, by the names that banks of
//! several layouts have for them. The best one that exists is taken.

use super::likings::{Target, preference_targets};
use super::neighbours::{NeighbourForm, ReadSections};
use crate::bank::pieces::day_title;
use crate::bank::signs::heading_of;
use crate::bank::{BankCategory, BankDocument, BankPath, BankSection, BankTextPiece, PieceForm, RenamedHeadings};
use crate::memory::normalised;

/// The place for a piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BankPlace {
    pub file: BankPath,
    /// The title of the file where it is new.
    pub title: String,
    /// The section. None where the piece goes to the end of a file without sections.
    pub section: Option<String>,
    pub is_new_file: bool,
    pub is_new_section: bool,
    /// The file has dated entries, the newest first.
    pub is_dated: bool,
    /// The form of the entries that are there.
    pub form: NeighbourForm,
}

const FALLBACK_TITLE: &str = "Notes";
const DATED: [&str; 2] = ["progress", "activecontext"];
/// Files that list tasks.
const TASK_FILES: [&str; 2] = ["tasks", "todo"];
/// Entries about what lasts are not dated, whatever file they go to.
const HOLDS_ON: [BankCategory; 9] = [
    BankCategory::Architecture,
    BankCategory::Command,
    BankCategory::Constraint,
    BankCategory::Convention,
    BankCategory::Dependency,
    BankCategory::Fix,
    BankCategory::Link,
    BankCategory::Preference,
    BankCategory::Profile,
];
/// Files that take what belongs nowhere else.
const GENERAL: [&str; 6] = ["notes", "context", "memory", "readme", "index", "overview"];

/// Returns the places for a category, the best first.
fn targets(category: BankCategory, text: &str) -> &'static [Target] {
    match category {
        BankCategory::Goal => &[
            ("projectbrief", &["Goals", "Core goals", "Project goals", "Objectives", "Overview"]),
            ("context", &["Current work", "Goals", "Context"]),
        ],
        BankCategory::Requirement => &[
            ("projectbrief", &["Requirements", "Core requirements", "Key requirements", "Goals"]),
            ("context", &["Current work"]),
        ],
        BankCategory::Scope => &[
            ("projectbrief", &["Scope", "Project scope", "Out of scope", "Boundaries"]),
            ("context", &["Current work"]),
        ],
        BankCategory::Problem => &[
            (
                "productcontext",
                &[
                    "Problems it solves",
                    "Problem statement",
                    "Problems",
                    "Why this project exists",
                    "Purpose",
                    "Problem",
                ],
            ),
            ("context", &["Current work"]),
        ],
        BankCategory::User => &[
            ("productcontext", &["Users", "Target users", "Audience", "Personas", "User experience goals"]),
            ("context", &["Current work"]),
        ],
        BankCategory::Behaviour => &[
            (
                "productcontext",
                &["How it should work", "User experience goals", "User flows", "User experience", "Behaviour"],
            ),
            ("context", &["Current work"]),
        ],
        BankCategory::Focus => &[
            (
                "activecontext",
                &["Current focus", "Current work focus", "Focus", "Current work", "Current status", "Current task"],
            ),
            ("context", &["Current work"]),
            ("progress", &["Current status", "In progress"]),
        ],
        BankCategory::Next => &[
            ("activecontext", &["Next steps", "Next", "To do", "Todo", "Next tasks"]),
            ("progress", &["What's left to build", "What is left", "Next steps", "To do", "Remaining work"]),
            ("tasks", &["Next steps", "To do", "Todo", "Open", "Backlog", "Tasks"]),
            ("todo", &["Next steps", "To do", "Todo", "Open", "Backlog", "Tasks"]),
            ("context", &["Current work", "Next steps"]),
        ],
        BankCategory::Question => &[
            (
                "activecontext",
                &[
                    "Open questions",
                    "Questions",
                    "Active decisions and considerations",
                    "Active decisions",
                    "Considerations",
                ],
            ),
            ("context", &["Current work", "Open questions"]),
        ],
        BankCategory::Architecture => &[
            (
                "systempatterns",
                &[
                    "Architecture",
                    "System architecture",
                    "Component relationships",
                    "Components",
                    "Architecture overview",
                ],
            ),
            ("architecture", &["Architecture", "Overview", "Components"]),
            ("references", &["Notes"]),
        ],
        BankCategory::Decision => &[
            (
                "systempatterns",
                &["Decisions", "Key technical decisions", "Technical decisions", "Design decisions", "Key decisions"],
            ),
            ("decisions", &["Decisions", "Decision log", "Log"]),
            ("decisionlog", &["Decisions", "Decision"]),
            ("context", &["Decisions"]),
            ("architecture", &["Decisions"]),
        ],
        BankCategory::Convention => &[
            (
                "systempatterns",
                &[
                    "Conventions",
                    "Patterns and conventions",
                    "Design patterns in use",
                    "Design patterns",
                    "Patterns",
                    "Coding standards",
                ],
            ),
            ("conventions", &["Conventions", "Code style"]),
            ("styleguide", &["Conventions", "Code style"]),
            ("codingstandards", &["Conventions", "Code style"]),
            ("preferences", &["Code", "Coding style"]),
        ],
        BankCategory::Preference => preference_targets(text),
        BankCategory::Dependency => &[
            ("techcontext", &["Dependencies", "Technologies used", "Technologies", "Tech stack", "Stack"]),
            ("context", &["Environment", "Stack"]),
            ("dependencies", &["Dependencies"]),
            ("systempatterns", &["Dependencies"]),
        ],
        BankCategory::Command => &[
            (
                "techcontext",
                &[
                    "Commands",
                    "Development setup",
                    "Setup",
                    "Tool usage patterns",
                    "Development environment",
                    "Tooling",
                ],
            ),
            ("references", &["Commands"]),
            ("setup", &["Commands", "Setup"]),
            ("commands", &["Commands"]),
            ("systempatterns", &["Commands"]),
        ],
        BankCategory::Constraint => &[
            ("techcontext", &["Constraints", "Technical constraints", "Limitations", "Limits"]),
            ("context", &["Environment"]),
            ("systempatterns", &["Constraints"]),
        ],
        BankCategory::Link => &[
            ("techcontext", &["Links", "References", "Resources", "See also"]),
            ("references", &["Links", "References"]),
            ("links", &["Links"]),
            ("systempatterns", &["Links"]),
        ],
        BankCategory::Done => &[
            ("progress", &["Done", "What works", "Completed", "Completed work", "Recent changes", "Current status"]),
            ("activecontext", &["Recent changes"]),
            ("changelog", &["Unreleased", "Changelog"]),
            ("context", &["Current work"]),
        ],
        BankCategory::Blocked => &[
            ("progress", &["Blocked", "Blockers", "Current status", "Known issues"]),
            ("activecontext", &["Blockers", "Blocked"]),
            ("context", &["Current work"]),
        ],
        BankCategory::Issue => &[
            ("progress", &["Known issues", "Issues", "Bugs", "Open issues", "Known problems"]),
            ("issues", &["Known issues", "Issues", "Open"]),
            ("references", &["Errors and fixes"]),
        ],
        BankCategory::Fix => &[
            ("techcontext", &["Errors and fixes", "Troubleshooting", "Gotchas", "Known pitfalls", "Solutions"]),
            ("references", &["Errors and fixes", "Troubleshooting"]),
            ("troubleshooting", &["Errors and fixes", "Troubleshooting"]),
            ("systempatterns", &["Errors and fixes"]),
        ],
        BankCategory::Profile => &[
            ("context", &["About", "About me", "Profile"]),
            ("preferences", &["About"]),
            ("activecontext", &["Notes"]),
        ],
        BankCategory::Note => {
            &[("activecontext", &["Notes", "Learnings and project insights", "Learnings"]), ("references", &["Notes"])]
        }
    }
}

/// Returns the place for a piece in a bank. The documents are without the records of single decisions, to which nothing
/// is added.
pub(super) fn place_in(
    documents: &[(&BankPath, &BankDocument)],
    renamed: &RenamedHeadings,
    read: &ReadSections,
    category: BankCategory,
    piece: &BankTextPiece,
) -> BankPlace {
    let existing = |path: &BankPath, document: &BankDocument, section: &BankSection| {
        existing(path, section, read.form(path, document, section))
    };
    let place = under_its_heading(documents, renamed, category, piece)
        .map(|(path, document, section)| existing(path, document, section));
    if let Some(place) = place.filter(|_| !is_elsewhere(documents, category, piece)) {
        return place;
    }
    if let Some(place) = in_decision_log(documents, read, category) {
        return place;
    }
    let targets = targets(in_files_of(documents, category), &piece.text);
    let in_file = |(stem, names): &Target| {
        let (path, document) = documents.iter().find(|(path, _)| plain(path.stem()) == *stem)?;
        Some((*path, *document, *names))
    };
    let there: Vec<_> = targets.iter().filter_map(in_file).collect();
    // The section may have another of its names, or be in another file. A name that tells the category comes before one
    // under which much else stands, whatever the file.
    for (path, document, names) in &there {
        if let Some(section) = of_category(path, document, renamed, category, names) {
            return existing(path, document, section);
        }
    }
    for (path, document, names) in &there {
        if let Some(section) = named(path, document, renamed, names) {
            return existing(path, document, section);
        }
    }
    let names: Vec<&str> = targets.iter().flat_map(|(_, names)| names.iter().copied()).collect();
    for (path, document) in documents {
        if let Some(section) = named(path, document, renamed, &names) {
            return existing(path, document, section);
        }
    }
    let with_boxes = || {
        let is_of_tasks = |path: &BankPath| TASK_FILES.contains(&&*plain(path.stem()));
        let (path, document, _) = there.iter().find(|(path, ..)| is_of_tasks(path))?;
        Some(existing(path, document, read.most_boxes(path, document)?))
    };
    if let Some(place) = (category == BankCategory::Next).then(with_boxes).flatten() {
        return place;
    }
    let in_new_section = there.iter().find(|(path, ..)| TASK_FILES.contains(&&*plain(path.stem()))).or(there.first());
    if let Some((path, _, names)) = in_new_section {
        return new_section(path, names, category);
    }
    let general = |name: &&'static str| documents.iter().find(|(path, _)| plain(path.stem()) == **name);
    let of_name = names.iter().find_map(|name| documents.iter().find(|(path, _)| plain(path.stem()) == plain(name)));
    let is_for_it = |path: &BankPath| category == BankCategory::Decision || !path.is_of_decisions();
    let other = documents.iter().find(|(path, _)| is_for_it(path)).or(documents.first());
    match of_name.or_else(|| GENERAL.iter().find_map(general)).or(other) {
        Some((path, document)) if of_name.is_some() => at_end(path, document, category),
        Some((path, _)) => new_section(path, &names, category),
        None => BankPlace {
            file: BankPath::notes(),
            title: FALLBACK_TITLE.to_owned(),
            section: None,
            is_new_file: true,
            is_new_section: false,
            is_dated: false,
            form: NeighbourForm::default(),
        },
    }
}

/// Returns the place for a decision in the file that a bank has for decisions alone: below its title where it has no
/// other heading that tells them.
fn in_decision_log(
    documents: &[(&BankPath, &BankDocument)],
    read: &ReadSections,
    category: BankCategory,
) -> Option<BankPlace> {
    const LOGS: [&str; 2] = ["decisionlog", "decisions"];
    let is_log = |path: &BankPath| category == BankCategory::Decision && LOGS.contains(&&*plain(path.stem()));
    let (path, document) = documents.iter().find(|(path, _)| is_log(path))?;
    let tells = |section: &&BankSection| heading_of(section.title()) == Some(category);
    let mut below = document.sections().iter().filter(|section| section.level > 1);
    let section = below.find(tells).or_else(|| document.sections().iter().find(|section| section.level == 1))?;
    Some(existing(path, section, read.form(path, document, section)))
}

/// Returns the category whose places hold a piece in a bank. Where nothing but the file of preferences takes
/// conventions, they are what its user likes: about answers, about tools, or about code.
fn in_files_of(documents: &[(&BankPath, &BankDocument)], category: BankCategory) -> BankCategory {
    const PREFERENCES: &str = "preferences";
    let has = |stem: &str| documents.iter().any(|(path, _)| plain(path.stem()) == stem);
    let mut others = targets(category, "").iter().filter(|(stem, _)| *stem != PREFERENCES);
    let is_liked = category == BankCategory::Convention && has(PREFERENCES) && !others.any(|(stem, _)| has(stem));
    if is_liked { BankCategory::Preference } else { category }
}

/// Finds the section whose heading tells the category: one with a name that does, or any other heading that means it.
fn of_category<'a>(
    path: &BankPath,
    document: &'a BankDocument,
    renamed: &RenamedHeadings,
    category: BankCategory,
    names: &[&str],
) -> Option<&'a BankSection> {
    let telling: Vec<&str> = names.iter().copied().filter(|name| heading_of(name) == Some(category)).collect();
    let sections = || document.sections().iter().filter(|section| section.level > 1);
    // Under a heading such as `Naming` stands a part of the conventions alone.
    let is_part = |title: &str| plain(title) == "naming";
    let means_it = |section: &&BankSection| heading_of(section.title()) == Some(category) && !is_part(section.title());
    named(path, document, renamed, &telling).or_else(|| sections().find(means_it))
}

/// Says whether a piece under a heading of its text belongs to another section that the bank has: a report under a
/// heading of tasks, a question under one of reports or decisions, or what blocks the work under one that tells what it
/// is about.
fn is_elsewhere(documents: &[(&BankPath, &BankDocument)], category: BankCategory, piece: &BankTextPiece) -> bool {
    let heading = piece.headings.iter().rev().find_map(|heading| heading_of(heading));
    let is_other = match (heading, category) {
        (Some(BankCategory::Next), BankCategory::Done) => piece.form != PieceForm::TickedItem,
        (Some(BankCategory::Focus), BankCategory::Blocked) => true,
        (Some(BankCategory::Blocked), BankCategory::Done) => piece.form != PieceForm::TickedItem,
        (Some(BankCategory::Done | BankCategory::Decision), BankCategory::Question) => true,
        _ => false,
    };
    let mut sections = documents.iter().flat_map(|(_, document)| document.sections());
    is_other && sections.any(|section| section.level > 1 && heading_of(section.title()) == Some(category))
}

/// Returns the section with the heading that the piece had in its own text, where the bank has one such section.
fn under_its_heading<'a>(
    documents: &[(&'a BankPath, &'a BankDocument)],
    renamed: &RenamedHeadings,
    category: BankCategory,
    piece: &BankTextPiece,
) -> Option<(&'a BankPath, &'a BankDocument, &'a BankSection)> {
    const SAY_NOTHING: [&str; 3] = ["notes", "summary", "update"];
    let heading = normalised(piece.headings.iter().rev().find(|heading| !heading.ends_with(':'))?);
    if SAY_NOTHING.contains(&&*heading) {
        return None;
    }
    let is_meant = |title: &str| normalised(title) == heading;
    let sections: Vec<(&'a BankPath, &'a BankSection)> = documents
        .iter()
        .flat_map(|(path, document)| document.sections().iter().map(move |section| (*path, section)))
        .filter(|(_, section)| section.level > 1)
        .collect();
    let has_now = |(_, section): &&(&BankPath, &BankSection)| is_meant(section.title());
    let had = |(path, section): &&(&BankPath, &BankSection)| renamed.had(path, section.title(), is_meant);
    let now: Vec<&(&'a BankPath, &'a BankSection)> = sections.iter().filter(has_now).collect();
    let all = if now.is_empty() { sections.iter().filter(had).collect() } else { now };
    let found = match all[..] {
        [one] => Some(one),
        _ => below_named(&all, &piece.headings),
    };
    // The heading of a day tells nothing about what stands under it, unlike the one above it in the bank.
    let is_of_others = |section: &BankSection| {
        let above = || section.path.iter().rev().skip(1).find_map(|title| heading_of(title));
        day_title(section.title()).is_some() && above().is_some_and(|of| of != category)
    };
    found.filter(|(_, section)| !is_of_others(section)).and_then(|(path, section)| {
        let (_, document) = documents.iter().find(|(of, _)| of == path)?;
        Some((*path, *document, *section))
    })
}

/// Returns the one of several sections that stands below most of the headings. None where several do.
fn below_named<'s, 'a>(
    sections: &[&'s (&'a BankPath, &'a BankSection)],
    headings: &[String],
) -> Option<&'s (&'a BankPath, &'a BankSection)> {
    let headings: Vec<String> = headings.iter().map(|heading| normalised(heading)).collect();
    let above = |section: &BankSection| {
        let titles = section.path.iter().rev().skip(1);
        titles.filter(|title| headings.contains(&normalised(title))).count()
    };
    let most = sections.iter().map(|(_, section)| above(section)).max().filter(|most| *most > 0)?;
    let mut best = sections.iter().filter(|(_, section)| above(section) == most);
    best.next().copied().filter(|_| best.next().is_none())
}

/// Finds the section with one of the names, the best name first. A section that a person renamed has its former names,
/// too, where no other section has them.
fn named<'a>(
    path: &BankPath,
    document: &'a BankDocument,
    renamed: &RenamedHeadings,
    names: &[&str],
) -> Option<&'a BankSection> {
    let sections = || document.sections().iter().filter(|section| section.level > 1);
    names.iter().find_map(|name| {
        let is_meant = |title: &str| plain(title) == plain(name);
        let now = sections().find(|section| is_meant(section.title()));
        now.or_else(|| sections().find(|section| renamed.had(path, section.title(), is_meant)))
    })
}

fn existing(path: &BankPath, section: &BankSection, form: NeighbourForm) -> BankPlace {
    let is_dated = DATED.contains(&&*plain(path.stem()));
    let section = Some(section.name());
    BankPlace { section, is_new_section: false, is_dated, form, ..new_section(path, &[], BankCategory::Note) }
}

fn new_section(path: &BankPath, names: &[&str], category: BankCategory) -> BankPlace {
    BankPlace {
        file: path.clone(),
        title: FALLBACK_TITLE.to_owned(),
        section: Some(names.first().copied().unwrap_or(FALLBACK_TITLE).to_owned()),
        is_new_file: false,
        is_new_section: true,
        is_dated: DATED.contains(&&*plain(path.stem())) && !HOLDS_ON.contains(&category),
        form: NeighbourForm::default(),
    }
}

/// The file is about the category, so a piece goes to its end, or into a section where the file has several.
fn at_end(path: &BankPath, document: &BankDocument, category: BankCategory) -> BankPlace {
    let has_sections = document.sections().len() > 2;
    let place = new_section(path, &[], category);
    if has_sections { place } else { BankPlace { section: None, is_new_section: false, ..place } }
}

/// Returns the letters and digits of a name in lower case: `activeContext` and `active-context` are the same.
pub(super) fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
