//! Memory banks as text for people.

use std::fmt::Write as _;

use reasoning_bank_actors::banks::NOTHING_TO_FILE;

use super::{clean, clean_line, counted};
use crate::banks::{BankActivation, BankUpdate, BankVersions};
use crate::cli::answers::{BankDone, BankList, ShownBank};

pub(in crate::cli) fn banks(listed: &BankList) -> String {
    let mut out = String::new();
    for bank in &listed.banks {
        if let Some(problem) = &bank.problem {
            let _ = writeln!(out, "{}  cannot be read: {}", bank.bank, clean_line(problem));
            continue;
        }
        let updated = bank.last_updated.map_or("never".to_owned(), |at| at.strftime("%Y-%m-%d %H:%M").to_string());
        let files = counted(bank.files, "file", "files");
        let folder = bank.directory.as_ref().filter(|_| bank.in_checkout);
        let place = folder.map(|folder| format!(", in {}", folder.display())).unwrap_or_default();
        let _ = writeln!(out, "{}  {files}, {} tokens, updated {updated}{place}", bank.bank, bank.tokens);
    }
    let _ = writeln!(out, "{}", counted(listed.banks.len(), "memory bank", "memory banks"));
    out
}

pub(in crate::cli) fn bank(shown: &ShownBank) -> String {
    let mut out = bank_place(shown);
    for (path, text) in &shown.files {
        let _ = write!(out, "\n==> {} <==\n{}", clean_line(path), clean(text));
    }
    out
}

pub(in crate::cli) fn bank_place(shown: &ShownBank) -> String {
    let files = counted(shown.files.len(), "file", "files");
    let of_all = match shown.shown_tokens == shown.tokens {
        true => String::new(),
        false => format!("{} of ", shown.shown_tokens),
    };
    let (bank, tokens, directory) = (&shown.bank, shown.tokens, shown.directory.display());
    let mut out = format!("{bank}  {files}, {of_all}{tokens} tokens, in {directory}\n");
    for notice in &shown.notices {
        let _ = writeln!(out, "{}", clean_line(notice));
    }
    out
}

pub(in crate::cli) fn bank_document(activated: &BankActivation) -> String {
    clean(&serde_json::to_string_pretty(activated).unwrap_or_default())
}

pub(in crate::cli) fn bank_updated(updated: &BankUpdate) -> String {
    let mut out = String::new();
    for applied in updated.applied() {
        let section = applied.section.as_deref().map(|section| format!(", {section}")).unwrap_or_default();
        let _ = writeln!(out, "{} {}{}", applied.operation_type, applied.target_file, clean_line(&section));
    }
    let is_filed = !updated.notices().any(|(_, description)| description == NOTHING_TO_FILE);
    if out.is_empty() && is_filed {
        out.push_str("nothing was added: the bank says it already, or had this update\n");
    }
    for (severity, description) in updated.notices() {
        let _ = writeln!(out, "{severity}: {}", clean_line(description));
    }
    out
}

pub(in crate::cli) fn bank_history(history: &BankVersions) -> String {
    let mut out = String::new();
    for version in &history.versions {
        let files = counted(version.files, "file", "files");
        let _ = writeln!(out, "{}  {files}, {}", version.version, clean_line(&version.reason));
    }
    let _ = writeln!(out, "{}", counted(history.versions.len(), "version", "versions"));
    out
}

pub(in crate::cli) fn bank_done(done: &BankDone) -> String {
    format!("{}: {}\n", done.bank, done.done)
}
