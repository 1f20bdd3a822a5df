//! The date of an entry. It has one: its own, or that of the heading above it, or the day on which it is filed.

use jiff::Timestamp;

use super::labels::without_told_label;
use super::neighbours::NeighbourForm;
use crate::bank::BankTextPiece;
use crate::bank::pieces::{date_of, undated};
use crate::learning::job::day_of;

/// Returns the words of an entry, behind its date and the headings that its place does not tell. A date that a piece
/// has at its beginning stays as it is written. `form` is that of the entries of the place, where those have dates.
pub(super) fn dated(
    piece: &BankTextPiece,
    text: &str,
    untold: &str,
    section: &str,
    form: Option<&NeighbourForm>,
    now: Timestamp,
) -> String {
    let (own, words) = parted(without_told_label(text, section));
    let words = without_told_label(words, section);
    let (told, headings) = parted(untold);
    match form {
        _ if !own.is_empty() => format!("{own}{headings}{words}"),
        None => format!("{untold}{words}"),
        Some(form) => {
            let above = || piece.headings.iter().rev().find_map(|heading| date_of(heading));
            let day = date_of(told).or_else(above).unwrap_or_else(|| day_of(now));
            format!("{}{headings}{words}", form.dated(day, now))
        }
    }
}

/// Parts a text from the date at its beginning, which may be empty. A text that is nothing but a date has none.
fn parted(text: &str) -> (&str, &str) {
    let words = undated(text);
    let has_date = date_of(text).is_some() && words.contains(char::is_alphanumeric);
    text.split_at(if has_date { text.len() - words.len() } else { 0 })
}
