//! Procedures in a text: numbered steps that follow each other, which stay together with their numbers.

use super::subheading::bold_title;
use super::{BlockSpan, PieceForm};
use crate::bank::BankCategory;
use crate::bank::signs::{heading_of, label_of, signs_of};

/// Puts the steps of a procedure together, with their numbers and with the sentence that introduces them: a numbered list
/// whose heading, introduction or steps say that one follows the other.
pub(super) fn with_procedures(blocks: Vec<BlockSpan>, body: &str, heading: &str) -> Vec<(PieceForm, String)> {
    let number = |block: &BlockSpan| -> Option<u32> {
        let line = body.get(block.range.clone())?.trim_start();
        let digits = line.find(|c: char| !c.is_ascii_digit())?;
        line[..digits].parse().ok().filter(|_| block.form == PieceForm::Item && line[digits..].starts_with(['.', ')']))
    };
    let (mut all, mut at): (Vec<(PieceForm, String)>, usize) = (Vec::new(), 0);
    let mut heading = heading.to_owned();
    while let Some(block) = blocks.get(at) {
        let next = blocks.get(at + 1).map(|block| block.form);
        heading = bold_title(block.form, &block.text, next).unwrap_or(heading);
        let steps = blocks[at..].iter().zip(1..).take_while(|(block, n)| number(block) == Some(*n)).count();
        let introduction = all.last().filter(|(form, text)| *form == PieceForm::Paragraph && text.ends_with(':'));
        let introduction = introduction.map(|(_, text)| text.clone());
        let texts: Vec<&str> = blocks[at..at + steps].iter().map(|block| block.text.as_str()).collect();
        if steps < 2 || !is_procedure(introduction.as_deref(), &heading, &texts) {
            all.push((block.form, block.text.clone()));
            at += 1;
            continue;
        }
        let lines = texts.iter().zip(1..).map(|(text, n)| format!("{n}. {text}"));
        let lines = introduction.inspect(|_| drop(all.pop())).into_iter().chain(lines);
        all.push((PieceForm::Paragraph, lines.collect::<Vec<_>>().join("\n")));
        at += steps;
    }
    all
}

/// Says whether numbered items are the steps of one procedure. Tasks, reports and decisions may have numbers, too, and
/// each of them is a piece.
fn is_procedure(introduction: Option<&str>, heading: &str, items: &[&str]) -> bool {
    const NAMED: [&str; 16] = [
        "how to",
        "steps to",
        "procedure",
        "guide",
        "checklist",
        "instructions",
        "recipe",
        "runbook",
        "set up",
        "setup",
        "installation",
        "to deploy",
        "to release",
        "to run",
        "to build",
        "to install",
    ];
    let headed = introduction.map_or(heading, |text| text.trim_end_matches(':'));
    if heading_of(headed).or_else(|| heading_of(heading)).is_some_and(|of| of != BankCategory::Command) {
        return false;
    }
    let lower = format!("{} {}", heading.to_lowercase(), introduction.unwrap_or_default().to_lowercase());
    let begins = |text: &str, word: &str| text.get(..word.len()).is_some_and(|of| of.eq_ignore_ascii_case(word));
    let are_in_order =
        begins(items[0], "first") && items[1..].iter().any(|text| begins(text, "then") || begins(text, "finally"));
    let with_code = items.iter().filter(|text| text.contains('`')).count();
    let is_headed = introduction.is_some() || !heading.is_empty();
    let orders = items.iter().filter(|text| is_order(text)).count();
    let are_steps = || is_headed && 2 * orders > items.len();
    NAMED.iter().any(|name| lower.contains(name)) || are_in_order || 2 * with_code >= items.len() || are_steps()
}

/// Says whether a step tells somebody to do something, and is no task or report by its words.
fn is_order(text: &str) -> bool {
    const NO_VERBS: [&str; 20] = [
        "a", "all", "an", "as", "for", "if", "in", "it", "my", "no", "on", "our", "the", "this", "they", "we", "when",
        "with", "i", "you",
    ];
    const BEHIND_NOUNS: [&str; 16] = [
        "and", "are", "can", "does", "for", "had", "has", "have", "in", "is", "must", "needs", "of", "should", "was",
        "will",
    ];
    let lower = text.to_lowercase();
    let mut words = lower.split_whitespace();
    let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let is_sentence = words.next().is_some() || text.trim_end().ends_with('.');
    let is_other_form =
        ["ed", "ing"].iter().any(|end| first.ends_with(end)) || (first.ends_with('s') && !first.ends_with("ss"));
    let is_verb = first.chars().all(char::is_alphabetic) && !is_other_form && !NO_VERBS.contains(&first);
    let is_own = || {
        use BankCategory::{Blocked, Decision, Done, Next, Question};
        let mut signs = signs_of(text).into_iter().map(|(category, _)| category).chain(label_of(text));
        signs.any(|category| matches!(category, Blocked | Decision | Done | Next | Question))
    };
    is_sentence && is_verb && !second.is_empty() && !BEHIND_NOUNS.contains(&second) && !is_own()
}

/// Says whether a text is the steps of a procedure, with their numbers.
pub(in crate::bank) fn has_steps(text: &str) -> bool {
    let begins = |number: &str| text.lines().any(|line| line.starts_with(number));
    begins("1. ") && begins("2. ")
}

#[cfg(test)]
mod tests {
    use crate::bank::text_pieces;

    #[test]
    fn the_steps_of_a_procedure_are_one_piece_with_their_numbers() {
        let of = |text: &str| text_pieces(text).into_iter().map(|piece| piece.text).collect::<Vec<_>>();
        let steps = "1. Run `make db`\n2. Call Ana\n   by phone\n3. Open the page";
        assert_eq!(of(&format!("To deploy the shop:\n\n{steps}\n")), [format!("To deploy the shop:\n{steps}")]);
        assert_eq!(of(&format!("# Shop\n\n## How to deploy\n\n{steps}\n")), [steps]);
        assert_eq!(of("1. First do A\n2. Then do B"), ["1. First do A\n2. Then do B"]);
        let said = "1. Finished the login\n2. We chose SQLite";
        assert_eq!(of(said), ["Finished the login", "We chose SQLite"]);
        assert_eq!(of("Next steps:\n1. Run `make`\n2. Fix `a`"), ["Run `make`", "Fix `a`"], "tasks are pieces");
        let release = "1. Freeze the branch.\n2. Run `make release`.\n3. Announce it in #shop.";
        assert_eq!(of(&format!("# Release\n\n{release}")), [release]);
        let tasks = of("# Sprint 12\n\n1. Write the docs of the API\n2. Fix the crash at the start\n3. Add retries");
        assert_eq!(tasks.len(), 3, "{tasks:?}");
        assert_eq!(of("# Shop\n\n1. Money is integer cents\n2. Tests live next to the code").len(), 2);
        assert_eq!(of("**Next steps**\n\n1. Freeze the branch.\n2. Announce it to all.").len(), 2);
    }
}
