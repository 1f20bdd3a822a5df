//! The texts of backups: made, looked through, restored.

use std::fmt::Write;

use reasoning_bank_store::backup::FlawedFile;

use super::style::{bad, bold};
use super::{bytes, clean_line, counted};
use crate::cli::answers::{BackupMade, BackupRestored, BackupSummary, BackupVerified};

/// The number of files that are named; `--json` has all of them.
const NAMED: usize = 20;

fn summary(summary: &BackupSummary) -> String {
    let BackupSummary { created_at, memories, workspaces, files, bytes: size, .. } = summary;
    let memories = counted(*memories, "memory", "memories");
    let workspaces = counted(*workspaces as u64, "workspace", "workspaces");
    let files = counted(*files as u64, "file", "files");
    format!("the bank as of {created_at}: {memories} in {workspaces}, {files}, {}", bytes(*size))
}

fn named(findings: &[FlawedFile]) -> String {
    let mut out = String::new();
    for finding in findings.iter().take(NAMED) {
        let _ = writeln!(out, "{}  {}", bad(finding.flaw.as_str()), clean_line(&finding.path));
    }
    if let more @ 1.. = findings.len().saturating_sub(NAMED) {
        let _ = writeln!(out, "and {}", counted(more as u64, "more file", "more files"));
    }
    out
}

pub(in crate::cli) fn backup_made(made: &BackupMade) -> String {
    let place = match &made.directory {
        Some(directory) => clean_line(&directory.display().to_string()),
        None => "stdout".to_owned(),
    };
    format!("{}\nin {}\n", summary(&made.summary), bold(place))
}

pub(in crate::cli) fn backup_verified(verified: &BackupVerified) -> String {
    let said = if verified.whole { "the backup is whole" } else { "the backup is not as it was made" };
    format!("{said}: {}\n{}", summary(&verified.summary), named(&verified.findings))
}

pub(in crate::cli) fn backup_restored(restored: &BackupRestored) -> String {
    let place = bold(clean_line(&restored.data_dir.display().to_string()));
    let mut out = format!("restored {}\nto {place}\n", summary(&restored.summary));
    if restored.erasures_from.is_empty() {
        let _ = writeln!(
            out,
            "nothing is known of what was erased after that, and it is there again; --erasures-of names a directory that \
             knows"
        );
    } else {
        let erased = counted(restored.erased_again as u64, "erasure", "erasures");
        let left = counted(restored.memories_now, "memory is", "memories are");
        let _ = writeln!(out, "repeated {erased} that came after it; {left} left");
        for directory in &restored.erasures_from {
            let _ = writeln!(out, "  known from {}", clean_line(&directory.display().to_string()));
        }
    }
    let _ = match restored.with_tokens {
        true => writeln!(out, "the tokens are those of the backup: whoever had one then has the bank again"),
        false => writeln!(
            out,
            "there are no tokens; `token create` makes some, and --with-tokens restores those of the backup"
        ),
    };
    if !restored.left_out.is_empty() {
        let _ = write!(out, "left out, as it is none of the backup:\n{}", named(&restored.left_out));
    }
    out
}
