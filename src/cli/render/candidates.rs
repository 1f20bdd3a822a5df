//! The candidates of an answer as a table: a row for each, with numbers that multiply out to its score, and the rule
//! that cut it.

use std::fmt::Write;

use reasoning_bank_domain::retrieval::ranking::Cut;
use reasoning_bank_domain::retrieval::responses::{CandidateView, Explained};
use reasoning_bank_domain::retrieval::score::{ListPart, Why};

use super::memory::retrieved;
use super::style::{bold, dim};
use super::{clean_line, counted};

pub(in crate::cli) fn explained(explained: &Explained) -> String {
    let Explained { retrieved: answer, domain, candidates } = explained;
    let mut out = retrieved(answer, true);
    let domain = domain.as_deref().map(|domain| format!("; domain {}", clean_line(domain))).unwrap_or_default();
    let _ = writeln!(out, "\n{} by score{domain}", counted(candidates.len(), "candidate", "candidates"));
    if let Some(first) = candidates.first() {
        out.push_str(&table(headings(&first.why, candidates), candidates.iter().map(row).collect()));
    }
    out
}

/// Writes the headings. Weights and shares are the same in every row, so they stand here.
fn headings(why: &Why, candidates: &[CandidateView]) -> Vec<String> {
    let mut headings = vec!["place".to_owned(), "score".to_owned()];
    headings.extend(why.factors.iter().map(|factor| format!("×{}", short(&factor.name))));
    headings.extend(why.components.iter().map(|part| format!("{}·{}", part.weight, short(&part.name))));
    for name in LISTS {
        let share = candidates.iter().find_map(|candidate| Some(list(&candidate.why, name)?.share));
        headings.push(share.map_or_else(|| name.to_owned(), |share| format!("{share:.2}·{name}")));
    }
    headings.push("memory".to_owned());
    headings
}

const LISTS: [&str; 2] = ["vector", "text"];

fn list<'a>(why: &'a Why, name: &str) -> Option<&'a ListPart> {
    why.lists.iter().find(|list| list.name == name)
}

fn short(name: &str) -> &str {
    name.split('_').next().unwrap_or(name)
}

fn row(candidate: &CandidateView) -> Vec<String> {
    let CandidateView { id, title, rank, cut, spared, composite_score, why, .. } = candidate;
    let mut row = vec![rank.map_or_else(|| "-".to_owned(), |rank| rank.to_string()), format!("{composite_score:.3}")];
    row.extend(why.factors.iter().map(|factor| format!("{:.3}", factor.value)));
    row.extend(why.components.iter().map(|part| format!("{:.3}", part.value)));
    for (name, score) in LISTS.into_iter().zip([why.cosine, why.text_score]) {
        let cell = list(why, name).map(|list| (list, score.unwrap_or_default()));
        row.push(cell.map_or_else(|| "-".to_owned(), |(list, score)| listed(list, score)));
    }
    let title = title.as_deref().map(clean_line).unwrap_or_default();
    let cut = cut.map(words).or_else(|| spared.map(|rule| format!("an answer leaves it out: {}", words(rule))));
    let cut = cut.map(|words| format!("  ({words})")).unwrap_or_default();
    row.push(format!("{}  {}{cut}", dim(id), if rank.is_some() { bold(title) } else { title }));
    row
}

/// Writes the rank of a candidate in a list, its own score, and where that lies between the ends of the list.
fn listed(list: &ListPart, score: f64) -> String {
    format!("{}. {score:.3} {:.3}", list.rank, list.relative)
}

/// Says why a candidate is not in the answer.
fn words(cut: Cut) -> String {
    match cut {
        Cut::Duplicate { of } => format!("says the same as {of}"),
        Cut::BelowConfidence { least } => format!("confidence below {least}"),
        Cut::BelowRelevance { least } => format!("relevance below {least}"),
        Cut::FarBelowBest { best } => format!("far less relevant than the best, which has {best:.2}"),
        Cut::NotOfBestTrace { best } => format!("not of the trace of {best}"),
        Cut::BeyondN { n } => format!("beyond the first {n}"),
        Cut::OverTokens { max } => format!("over {max} tokens"),
        Cut::Gone => "gone since it was found".into(),
    }
}

/// Makes columns as wide as their widest cell, with numbers to the right. The last one goes to the end of the line.
fn table(headings: Vec<String>, rows: Vec<Vec<String>>) -> String {
    let lines: Vec<Vec<String>> = std::iter::once(headings).chain(rows).collect();
    let columns = lines.first().map_or(0, Vec::len).saturating_sub(1);
    let width = |column: usize| lines.iter().filter_map(|line| line.get(column)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or_default()).collect();
    let mut out = String::new();
    for line in &lines {
        for (cell, width) in line.iter().zip(&widths) {
            let _ = write!(out, "{cell:>width$}  ");
        }
        let _ = writeln!(out, "{}", line.last().map_or("", String::as_str));
    }
    out
}
