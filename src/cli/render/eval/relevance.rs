//! The tables of how well relevance tells what a bank can answer.

use std::fmt::Write;

use crate::cli::render::style::bold;
use crate::eval::relevance::report::{RelevanceReport, RelevanceRow};

pub(in crate::cli) fn eval_relevance(report: &RelevanceReport) -> String {
    let mut out = format!("{}, an answer needs a relevance of {}\n\n", report.embedder, report.min_relevance);
    out.push_str(&table(&report.rows, &report.calibration));
    if let Some(fitted) = &report.fitted {
        out.push_str("\nEach set with coefficients that were fitted without it:\n\n");
        out.push_str(&table(&fitted.left_out, &fitted.calibration));
        let _ = writeln!(out, "\nFitted to all sets:\n\n{}", fitted.source);
    }
    out
}

fn table(rows: &[RelevanceRow], calibration: &[(usize, f64)]) -> String {
    let width = rows.iter().map(|row| row.set.chars().count()).max().unwrap_or_default();
    let mut out = format!(
        "{:width$} {:>5} {:>8} {:>9} | {:>7} {:>7} | {:>10} {:>7} {:>7} | {:>5} | {:>9} {:>7} | {:>7} {:>7} | {:>11}\n",
        "",
        "",
        "",
        "",
        "AUC",
        "AUC",
        "empty",
        "",
        "",
        "first",
        "precision",
        "of five",
        "recall",
        "of five",
        "calibration"
    );
    let _ = writeln!(
        out,
        "{:width$} {:>5} {:>8} {:>9} | {:>7} {:>7} | {:>10} {:>7} {:>7} | {:>5} | {:>9} {:>7} | {:>7} {:>7} | {:>11}",
        "set",
        "size",
        "memories",
        "questions",
        "foreign",
        "removed",
        "answerable",
        "removed",
        "foreign",
        "lost",
        "",
        "",
        "several",
        "",
        "error"
    );
    let shown = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.3}"));
    for row in rows {
        let _ = writeln!(
            out,
            "{:width$} {:>5} {:>8.0} {:>9} | {:>7} {:>7} | {:>10} {:>7} {:>7} | {:>5} | {:>9} {:>7} | {:>7} {:>7} | {:>11.3}",
            bold(format!("{:width$}", row.set)),
            row.size,
            row.memories,
            row.questions,
            shown(row.auc_foreign),
            shown(row.auc_removed),
            shown(row.empty_answerable),
            shown(row.empty_removed),
            shown(row.empty_foreign),
            shown(row.first_lost),
            shown(row.precision),
            shown(row.precision_wide),
            shown(row.recall_several),
            shown(row.recall_several_wide),
            row.calibration_error,
        );
    }
    let by_size: Vec<String> = calibration.iter().map(|(size, error)| format!("{size}: {error:.3}")).collect();
    let _ = writeln!(out, "\nCalibration error over all sets, by the size of the bank: {}", by_size.join(", "));
    out
}
