//! Checks of the fields of something that is given. Each check says it in words that follow the name of the field:
//! "title is missing or blank".

use std::fmt::Display;
use std::ops::RangeInclusive;

/// The longest label: a tag, a domain, a difficulty, or the type of an error.
pub const LABEL_MAX_CHARS: usize = 120;

/// A field, and what is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldProblem {
    pub field: &'static str,
    pub problem: String,
}

impl FieldProblem {
    pub fn new(field: &'static str, problem: impl Into<String>) -> Self {
        Self { field, problem: problem.into() }
    }
}

/// Refuses a text that is missing or blank, or has more than `max` characters.
pub fn check_text(field: &'static str, text: &str, max: usize) -> Result<(), FieldProblem> {
    if text.trim().is_empty() {
        return Err(FieldProblem::new(field, "is missing or blank"));
    }
    check_length(field, text, max)
}

/// Refuses a text with more than `max` characters.
pub fn check_length(field: &'static str, text: &str, max: usize) -> Result<(), FieldProblem> {
    check_count(field, text.chars().count(), "characters", max)
}

/// Refuses a field that has more than `max` of what `unit` names, in the plural.
pub fn check_count(field: &'static str, count: usize, unit: &str, max: usize) -> Result<(), FieldProblem> {
    if count <= max {
        return Ok(());
    }
    Err(FieldProblem::new(field, format!("has {count} {unit}; at most {max} are allowed")))
}

/// Refuses a number that does not lie in the range.
pub fn check_range<T: PartialOrd + Display>(
    field: &'static str,
    number: T,
    range: RangeInclusive<T>,
) -> Result<(), FieldProblem> {
    if range.contains(&number) {
        return Ok(());
    }
    let (least, most) = range.into_inner();
    Err(FieldProblem::new(field, format!("is {number}; it lies in {least}..={most}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(checked: Result<(), FieldProblem>) -> Option<String> {
        checked.err().map(|FieldProblem { field, problem }| format!("{field} {problem}"))
    }

    #[test]
    fn a_bound_itself_is_allowed_and_what_is_beyond_is_told_with_it() {
        assert_eq!(problem(check_text("title", "äö", 2)), None);
        assert_eq!(problem(check_text("title", "äöü", 2)).unwrap(), "title has 3 characters; at most 2 are allowed");
        assert_eq!(problem(check_text("title", " \n", 2)).unwrap(), "title is missing or blank");
        assert_eq!(problem(check_length("title", "", 2)), None);
        assert_eq!(problem(check_count("tags", 4, "tags", 3)).unwrap(), "tags has 4 tags; at most 3 are allowed");
        assert_eq!((problem(check_range("k", 1, 1..=8)), problem(check_range("k", 8, 1..=8))), (None, None));
        assert_eq!(problem(check_range("k", 9, 1..=8)).unwrap(), "k is 9; it lies in 1..=8");
    }
}
