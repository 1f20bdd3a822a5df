//! The counts of tokens and the view of a bank are remembered, and used again while its texts are the same.

use std::collections::HashMap;

use jiff::Timestamp;
use jiff::civil::Date;
use reasoning_bank_domain::bank::{BankFacts, BankFiles, BankMetadata, BankView, view};
use reasoning_bank_domain::learning::job::day_of;
use reasoning_bank_domain::text::tokens::estimate;

#[derive(Default)]
pub(super) struct Remembered {
    /// The tokens of each file, by its text.
    tokens: HashMap<String, usize>,
    view: Option<RememberedView>,
}

struct RememberedView {
    texts: BankFiles,
    max_tokens: usize,
    /// The view depends on the day, because entries become old.
    day: Date,
    view: BankView,
}

impl Remembered {
    /// Counts the tokens of a bank.
    pub(super) fn tokens(&mut self, texts: &BankFiles) -> usize {
        let before = std::mem::take(&mut self.tokens);
        let count = |text: &String| (text.clone(), before.get(text).copied().unwrap_or_else(|| estimate(text)));
        self.tokens = texts.values().map(count).collect();
        texts.values().map(|text| self.tokens_of(text)).sum()
    }

    /// Counts the tokens of a bank that were not imported.
    pub(super) fn own_tokens(&mut self, texts: &BankFiles) -> usize {
        self.tokens(texts);
        texts.iter().filter(|(path, _)| !path.is_imported()).map(|(_, text)| self.tokens_of(text)).sum()
    }

    /// Counts the tokens of a file.
    pub(super) fn tokens_of(&self, text: &str) -> usize {
        self.tokens.get(text).copied().unwrap_or_else(|| estimate(text))
    }

    /// Returns what of a bank is shown within a number of tokens.
    pub(super) fn view(
        &mut self,
        texts: &BankFiles,
        max_tokens: usize,
        metadata: &dyn Fn(&str) -> Option<BankMetadata>,
        at: Timestamp,
    ) -> &BankView {
        let day = day_of(at);
        let same = |last: &RememberedView| last.max_tokens == max_tokens && last.day == day && last.texts == *texts;
        let last = self.view.take().filter(same);
        let new = || {
            let facts = BankFacts { metadata, may_shorten: None, tokens: &|text| self.tokens_of(text) };
            RememberedView { texts: texts.clone(), max_tokens, day, view: view(texts, max_tokens, facts, at) }
        };
        let view = last.unwrap_or_else(new);
        &self.view.insert(view).view
    }
}
