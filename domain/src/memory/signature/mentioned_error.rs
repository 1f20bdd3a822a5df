//! The error that a text is about, where it names one. A task is searched by it beside its words. Whether anybody met
//! the error is not asked, as a task is often to prevent it.

use super::Signature;
use super::error_name::first_error;

/// Returns the signature of the first error that the text names, without a domain.
pub fn mentioned(text: &str) -> Option<Signature> {
    first_error(text).map(|name| Signature::of(name, None))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("Fix the KeyError that the loader ends with, then the ValueError", Some("keyerror|"))]
    #[case(
        "Traceback (most recent call last):\n  File \"a.py\"\njson.decoder.JSONDecodeError: Extra data",
        Some("jsondecodeerror|")
    )]
    #[case("std::num::ParseIntError when the port is empty", Some("parseinterror|"))]
    #[case("cargo says error[E0502]: cannot borrow", Some("e0502|"))]
    #[case("open fails with ENOENT", Some("enoent|"))]
    #[case("the worker dies: Segmentation fault", Some("segmentation fault|"))]
    #[case("Write a parser with good error messages", None)]
    #[case("", None)]
    fn a_task_is_about_the_first_error_that_it_names(#[case] task: &str, #[case] signature: Option<&str>) {
        assert_eq!(mentioned(task).as_ref().map(Signature::as_str), signature);
    }
}
