//! Prompts: the instructions and the input of a model call, from templates under `config/prompts/`.
//!
//! In a template `{{name}}` stands for a text that others wrote. It cannot close the fence it stands in, and it loses
//! its middle where the prompt would be over its budget; all such texts share what the rest leaves them. `{{{name}}}`
//! stands for a block that was made here, of texts in fences of their own. It stands as it is, whole or not at all.
//! The answers of models are read in `solve::answer`.

mod fence;
mod purpose;
mod question_tokens;
mod user_prompts;

use std::borrow::Cow;

use crate::text::tokens;

pub use fence::{
    ATTEMPT_FENCE, FENCE, TEXT_FENCE, fenced, names_a_fence, one_line, quoted, quoted_lines, recalled_notes,
    without_recalled,
};
pub use purpose::Purpose;
pub(crate) use question_tokens::prompt_tokens_within;
pub use question_tokens::{question_tokens, unreported_tokens};
pub use user_prompts::{BankPrompt, PROMPT_MAX_CHARS, Prompts};

/// The prompt of a model call: its instructions and its input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    pub instructions: String,
    pub input: String,
    /// The cut of the input. None where the input was within its budget.
    pub cut: Option<Truncation>,
}

/// The size of an input that was over its budget, before and after it was cut. Texts lost their middle, or the memories
/// are missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Truncation {
    pub from_tokens: usize,
    pub to_tokens: usize,
}

impl Prompt {
    /// Notes that a part of the input was longer before it came here, by the given number of tokens.
    pub(crate) fn cut_before(&mut self, tokens: usize) {
        if tokens > 0 {
            let whole = tokens::estimate(&self.input);
            let cut = self.cut.get_or_insert(Truncation { from_tokens: whole, to_tokens: whole });
            cut.from_tokens += tokens;
        }
    }

    /// Tells whether recalled memories stand in it.
    pub fn has_memories(&self) -> bool {
        self.input.contains(&format!("<{FENCE}>"))
    }
}

/// The template of a call: the instructions, a line of dashes, and the input with places for values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Template {
    Think,
    Refine,
    Evaluate,
    Judge,
    /// It asks for strategies from a solution that is right, or that nobody found wrong.
    ExtractSuccess,
    /// It asks for warnings from a solution that failed.
    ExtractFailure,
    Contrast,
    Capture,
    Distill,
    BankUpdate,
    BankOptimize,
    Patterns,
}

impl Template {
    pub const ALL: [Self; 12] = [
        Self::Think,
        Self::Refine,
        Self::Evaluate,
        Self::Judge,
        Self::ExtractSuccess,
        Self::ExtractFailure,
        Self::Contrast,
        Self::Capture,
        Self::Distill,
        Self::BankUpdate,
        Self::BankOptimize,
        Self::Patterns,
    ];

    pub fn purpose(self) -> Purpose {
        match self {
            Self::Think => Purpose::Think,
            Self::Refine => Purpose::Refine,
            Self::Evaluate => Purpose::Evaluate,
            Self::Judge => Purpose::Judge,
            Self::ExtractSuccess | Self::ExtractFailure => Purpose::Extract,
            Self::Contrast => Purpose::Contrast,
            Self::Capture => Purpose::Capture,
            Self::Distill => Purpose::Distill,
            Self::BankUpdate | Self::BankOptimize => Purpose::Bank,
            Self::Patterns => Purpose::Patterns,
        }
    }

    /// Returns the instructions that are built in.
    pub fn instructions(self) -> String {
        Prompts::default().instructions(self)
    }

    /// Tells whether its answers hold lessons.
    pub fn asks_for_items(self) -> bool {
        !matches!(self, Self::Think | Self::Refine | Self::Evaluate | Self::BankUpdate | Self::BankOptimize)
    }

    /// Returns the name of its file, without the ending.
    fn name(self) -> &'static str {
        match self {
            Self::ExtractSuccess => "extract_success",
            Self::ExtractFailure => "extract_failure",
            Self::BankUpdate => "banks/update",
            Self::BankOptimize => "banks/optimize",
            other => other.purpose().as_str(),
        }
    }

    fn built_in(self) -> &'static str {
        match self {
            Self::Think => include_str!("../../config/prompts/think.md"),
            Self::Refine => include_str!("../../config/prompts/refine.md"),
            Self::Evaluate => include_str!("../../config/prompts/evaluate.md"),
            Self::Judge => include_str!("../../config/prompts/judge.md"),
            Self::ExtractSuccess => include_str!("../../config/prompts/extract_success.md"),
            Self::ExtractFailure => include_str!("../../config/prompts/extract_failure.md"),
            Self::Contrast => include_str!("../../config/prompts/contrast.md"),
            Self::Capture => include_str!("../../config/prompts/capture.md"),
            Self::Distill => include_str!("../../config/prompts/distill.md"),
            Self::BankUpdate => include_str!("../../config/prompts/banks/update.md"),
            Self::BankOptimize => include_str!("../../config/prompts/banks/optimize.md"),
            Self::Patterns => include_str!("../../config/prompts/patterns.md"),
        }
    }
}

/// The name of the block that may be left out.
const MEMORIES: &str = "memories";
const NO_ROOM_FOR_MEMORIES: &str = "There is no room for experience beside this task.";

/// Fills a template. `budget` bounds the whole prompt, in tokens, unless the words of the template and its blocks alone
/// are over it. Memories are left out where they would take more than half of what the texts could have.
pub fn render(prompts: &Prompts, template: Template, values: &[(&str, &str)], budget: usize) -> Prompt {
    let mut pieces = pieces(prompts.input(template), values);
    let instructions = prompts.instructions(template);
    let prompt = with_texts(&instructions, &pieces, budget);
    let Some(cut) = prompt.cut.filter(|_| prompt.has_memories()) else { return prompt };
    let memories = pieces.iter_mut().find(|piece| matches!(piece, TemplatePart::Block(MEMORIES, _)));
    let Some(TemplatePart::Block(_, text)) = memories else { return prompt };
    let all = left_for_input(&prompt.instructions, budget);
    if 2 * tokens::estimate(text) <= all {
        return prompt;
    }
    *text = NO_ROOM_FOR_MEMORIES;
    let prompt = with_texts(&instructions, &pieces, budget);
    let to_tokens = prompt.cut.map_or_else(|| tokens::estimate(&prompt.input), |again| again.to_tokens);
    Prompt { cut: Some(Truncation { to_tokens, ..cut }), ..prompt }
}

fn with_texts(instructions: &str, pieces: &[TemplatePart<'_>], budget: usize) -> Prompt {
    let texts =
        pieces.iter().filter_map(|piece| if let TemplatePart::Text(text) = piece { Some(&**text) } else { None });
    fitted(instructions.to_owned(), &texts.collect::<Vec<_>>(), budget, |texts| {
        let mut texts = texts.iter();
        let each = |piece: &TemplatePart<'_>| match piece {
            TemplatePart::Words(words) | TemplatePart::Block(_, words) => (*words).to_owned(),
            TemplatePart::Text(_) => texts.next().copied().unwrap_or_default().to_owned(),
        };
        pieces.iter().map(each).collect()
    })
}

/// Makes a prompt whose input consists of texts that share what the budget leaves beside the rest. None is dropped. A
/// text that is longer than its share keeps its head and its tail around a note.
pub(crate) fn fitted(
    instructions: String,
    texts: &[&str],
    budget: usize,
    input_of: impl Fn(&[&str]) -> String,
) -> Prompt {
    let all = left_for_input(&instructions, budget);
    let input = input_of(texts);
    if tokens::fits(&input, all) {
        return Prompt { instructions, input, cut: None };
    }
    let from_tokens = tokens::estimate(&input);
    let rest = tokens::estimate(&input_of(&vec!["."; texts.len()]));
    // The tokens of parts do not exactly add up to those of the whole.
    let mut room = all.saturating_sub(rest) * 31 / 32;
    loop {
        let shown = tokens::fit_all(texts, room);
        let input = input_of(&shown.iter().map(AsRef::as_ref).collect::<Vec<_>>());
        if room == 0 || tokens::fits(&input, all) {
            let cut = Some(Truncation { from_tokens, to_tokens: tokens::estimate(&input) });
            return Prompt { instructions, input, cut };
        }
        room /= 2;
    }
}

/// Returns the number of tokens that are left for the input. Where the budget is much larger than the instructions,
/// each of their bytes counts as a token, which is close enough.
fn left_for_input(instructions: &str, budget: usize) -> usize {
    let used = if budget > 8 * instructions.len() { instructions.len() } else { tokens::estimate(instructions) };
    budget.saturating_sub(used)
}

/// A part of a template that is filled.
enum TemplatePart<'a> {
    Words(&'a str),
    Text(Cow<'a, str>),
    /// A block: its name and its text.
    Block(&'a str, &'a str),
}

fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let text = |piece: TemplatePart<'_>| match piece {
        TemplatePart::Words(words) | TemplatePart::Block(_, words) => words.to_owned(),
        TemplatePart::Text(text) => text.into_owned(),
    };
    pieces(template, values).into_iter().map(text).collect()
}

/// Splits a template into parts, filled in one pass from left to right, so that a value which holds `{{name}}` is not
/// filled again. A name without a value becomes nothing.
fn pieces<'a>(template: &'a str, values: &[(&str, &'a str)]) -> Vec<TemplatePart<'a>> {
    let value = |name: &str| values.iter().find(|(key, _)| *key == name).map(|(_, value)| *value).unwrap_or_default();
    let mut pieces = Vec::new();
    let mut rest = template;
    while let Some(start) = rest.find("{{") {
        let inner = &rest[start + 2..];
        let (inner, end) = inner.strip_prefix('{').map_or((inner, "}}"), |block| (block, "}}}"));
        let Some((name, after)) = inner.split_once(end) else { break };
        let name = name.trim();
        pieces.push(TemplatePart::Words(&rest[..start]));
        pieces.push(if end == "}}" {
            TemplatePart::Text(quoted(value(name)))
        } else {
            TemplatePart::Block(name, value(name))
        });
        rest = after;
    }
    pieces.push(TemplatePart::Words(rest));
    pieces
}

#[cfg(test)]
mod tests;
