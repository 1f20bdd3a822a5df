//! The text of a diagnosis: a line for each check, with what to do below it.

use std::fmt::Write;

use super::{clean, style};
use crate::cli::doctor::{Diagnosis, Grade};

pub(in crate::cli) fn diagnosis(diagnosis: &Diagnosis) -> String {
    let mut out = String::new();
    for check in &diagnosis.checks {
        let status = match check.status {
            Grade::Ok => style::good("ok  "),
            Grade::Warn => style::doubtful("warn"),
            Grade::Fail => style::bad("fail"),
        };
        let _ = writeln!(out, "{status}  {:<13}  {}", check.name, clean(&check.detail));
        if let Some(hint) = &check.hint {
            let _ = writeln!(out, "{:21}hint: {}", "", clean(hint));
        }
    }
    out
}
