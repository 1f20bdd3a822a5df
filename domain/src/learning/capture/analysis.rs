//! The analysis of an answer: each of its blocks with what it does.

use super::blocks::{Block, CodeBlock, Text, TextKind, blocks};
use super::classify::{Announcement, SentenceClass, class, is_output_line, leads};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AnalysedBlock {
    Code(CodeBlock, CodeKind),
    /// A text with the class of each of its sentences.
    Text(Text, Vec<SentenceClass>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CodeKind {
    /// The block holds commands, code or configuration.
    Code,
    /// The block holds data, a patch, or text of an unknown kind.
    Other,
    /// The block holds code that was written in the work that the answer reports.
    Reported,
    /// The block holds what a program wrote.
    Output,
}

pub(super) fn analyse(answer: &str) -> Vec<AnalysedBlock> {
    let mut under = Announcement::Nothing;
    let mut parts = Vec::new();
    for piece in blocks(answer) {
        match piece {
            Block::Code(code) => {
                let kind = match kind_of(&code) {
                    CodeKind::Code if under == Announcement::Report => CodeKind::Reported,
                    kind => kind,
                };
                parts.push(AnalysedBlock::Code(code, kind));
            }
            Block::Text(text) => {
                let classes = classes(&text, &mut under);
                parts.push(AnalysedBlock::Text(text, classes));
            }
        }
    }
    parts
}

/// Finds the class of each sentence. `under` is what the text above announces. A heading or a paragraph replaces it
/// with what it announces itself.
fn classes(text: &Text, under: &mut Announcement) -> Vec<SentenceClass> {
    let last = text.sentences.last().map_or("", String::as_str);
    match text.kind {
        TextKind::Row => text.sentences.iter().map(|_| SentenceClass::Neutral).collect(),
        TextKind::Bullet | TextKind::Step => {
            text.sentences.iter().map(|sentence| class(sentence, true, *under)).collect()
        }
        TextKind::Heading => {
            *under = leads(last, true).unwrap_or_default();
            let class = match under {
                Announcement::Report => SentenceClass::Reports,
                Announcement::Plan => SentenceClass::Plans,
                Announcement::Nothing => SentenceClass::Neutral,
            };
            text.sentences.iter().map(|_| class).collect()
        }
        TextKind::Paragraph => {
            // The text below a heading about work done reports that work.
            let above = if *under == Announcement::Report { Announcement::Report } else { Announcement::Nothing };
            let classes: Vec<SentenceClass> =
                text.sentences.iter().map(|sentence| class(sentence, false, above)).collect();
            let reports = classes.iter().rev().nth(1) == Some(&SentenceClass::Reports);
            *under = match leads(last, false) {
                Some(Announcement::Nothing) if reports => Announcement::Report,
                Some(announced) => announced,
                None => Announcement::Nothing,
            };
            classes
        }
    }
}

const OUTPUT_LANGUAGES: [&str; 5] = ["log", "logs", "output", "stdout", "stderr"];
const DATA_LANGUAGES: [&str; 8] = ["json", "diff", "patch", "csv", "text", "txt", "plaintext", "markdown"];
/// The words that commands begin with.
const COMMANDS: [&str; 34] = [
    "git",
    "docker",
    "npm",
    "npx",
    "yarn",
    "pnpm",
    "cargo",
    "pip",
    "pip3",
    "python",
    "python3",
    "kubectl",
    "helm",
    "sudo",
    "curl",
    "wget",
    "apt",
    "brew",
    "cd",
    "ls",
    "make",
    "go",
    "node",
    "ssh",
    "export",
    "source",
    "systemctl",
    "rm",
    "cp",
    "mv",
    "grep",
    "find",
    "terraform",
    "psql",
];

fn kind_of(code: &CodeBlock) -> CodeKind {
    let lines: Vec<&str> = code.body.lines().filter(|line| !line.trim().is_empty()).collect();
    let share =
        |test: &dyn Fn(&str) -> bool| lines.iter().filter(|line| test(line)).count() as f64 / lines.len().max(1) as f64;
    let language = code.language.as_str();
    if lines.is_empty() || OUTPUT_LANGUAGES.contains(&language) || share(&is_output_line) >= 0.4 {
        return CodeKind::Output;
    }
    if DATA_LANGUAGES.contains(&language) {
        return CodeKind::Other;
    }
    if !language.is_empty() || share(&looks_like_code) >= 0.3 { CodeKind::Code } else { CodeKind::Other }
}

fn looks_like_code(line: &str) -> bool {
    let line = line.trim();
    let first = line.trim_start_matches(['$', '>', ' ']).split_whitespace().next().unwrap_or_default();
    COMMANDS.contains(&first)
        || line.starts_with("$ ")
        || line.contains(['=', '{', '}', ';', '(', '<'])
        || line.ends_with(':')
}
