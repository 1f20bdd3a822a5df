//! The text of what was learned from files.

use std::fmt::Write;

use reasoning_bank_domain::learning::transcript::{Format, MAX_QUESTION_CHARS, Unreadable};

use super::style::{bad, bold, doubtful};
use super::{clean_line, counted};
use crate::cli::answers::{ExchangeCounts, LearnReport, LearnedFile};

pub(in crate::cli) fn learned(learned: &LearnReport) -> String {
    let mut out: String = learned.files.iter().map(file).collect();
    if learned.files.len() > 1 {
        let files = counted(learned.files.len(), "file", "files");
        let _ = writeln!(out, "{} {}", bold(format!("{files}:")), counts(&learned.total));
    }
    out
}

fn file(file: &LearnedFile) -> String {
    let name = bold(format!("{}:", clean_line(&file.file)));
    if let Some(error) = &file.error {
        return format!("{name} {}\n", bad(clean_line(error)));
    }
    let format = file.format.map_or("", |format| match format {
        Format::Messages => "messages, ",
        Format::ClaudeCode => "Claude Code, ",
        Format::Codex => "Codex, ",
        Format::GeminiCli => "Gemini CLI, ",
        Format::Chat => "chat, ",
        Format::Notes => "notes, ",
    });
    let mut out = format!("{name} {format}{}\n", counts(&file.counts));
    for (reason, count) in &file.counts.refused {
        let _ = writeln!(out, "  {count:>5} {}", reason.replace('_', " "));
    }
    let episodes = counted(file.episodes, "episode", "episodes");
    if file.episodes > 0 {
        let _ = writeln!(out, "  {episodes} of what was done");
    }
    let mut note = |holds: bool, text: String| {
        if holds {
            let _ = writeln!(out, "  {} {text}", doubtful("note:"));
        }
    };
    let Unreadable { lines, first } = &file.unreadable;
    let numbers: Vec<String> = first.iter().map(ToString::to_string).collect();
    let more = if first.len() < *lines { " and more" } else { "" };
    let unreadable = counted(*lines, "line is", "lines are");
    note(*lines > 0, format!("{unreadable} unreadable: {}{more}", numbers.join(", ")));
    note(
        file.left_out > 0,
        format!("{} too many for one file", counted(file.left_out, "exchange is", "exchanges are")),
    );
    let cut = counted(file.cut_characters, "character of a question is", "characters of questions are");
    note(file.cut_characters > 0, format!("{cut} left out: a question has at most {MAX_QUESTION_CHARS}"));
    let secrets = counted(file.redactions, "secret was", "secrets were");
    note(file.redactions > 0, format!("{secrets} removed"));
    let dropped = counted(file.dropped_characters, "invisible character was", "invisible characters were");
    note(file.dropped_characters > 0, format!("{dropped} dropped"));
    out
}

fn counts(counts: &ExchangeCounts) -> String {
    let refused: usize = counts.refused.values().sum();
    let exchanges = counted(counts.exchanges, "exchange", "exchanges");
    let ExchangeCounts { kept, confirmed, known, .. } = counts;
    format!("{exchanges}: {kept} kept, {confirmed} confirmed, {known} known, {refused} refused")
}
