//! The readings of the files of a bank and its view are remembered, and used again while the texts are the same.

use std::collections::HashMap;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::civil::Date;
use rayon::prelude::*;
use reasoning_bank_domain::bank::{
    BankFacts, BankFileReading, BankFiles, BankMetadata, BankView, RenamedHeadings, view,
};
use reasoning_bank_domain::learning::job::day_of;

#[derive(Default)]
pub(super) struct Remembered {
    /// The files of the bank by their texts.
    readings: HashMap<String, Arc<BankFileReading>>,
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
    /// Reads those files of a bank that are not remembered, and forgets the others.
    pub(super) fn read(&mut self, texts: &BankFiles) {
        let before = std::mem::take(&mut self.readings);
        let read = |text: &String| {
            let reading = before.get(text).map(Arc::clone);
            (text.clone(), reading.unwrap_or_else(|| Arc::new(BankFileReading::of(text))))
        };
        self.readings = texts.par_iter().map(|(_, text)| read(text)).collect();
    }

    /// Returns a file as it was read, or reads it.
    pub(super) fn reading(&self, text: &str) -> Arc<BankFileReading> {
        self.readings.get(text).map_or_else(|| Arc::new(BankFileReading::of(text)), Arc::clone)
    }

    /// Counts the tokens of a bank.
    pub(super) fn tokens(&mut self, texts: &BankFiles) -> usize {
        self.read(texts);
        texts.values().map(|text| self.reading(text).tokens()).sum()
    }

    /// Counts the tokens of a bank that were not imported.
    pub(super) fn own_tokens(&mut self, texts: &BankFiles) -> usize {
        self.read(texts);
        let own = texts.iter().filter(|(path, _)| !path.is_imported());
        own.map(|(_, text)| self.reading(text).tokens()).sum()
    }

    /// Returns what of a bank is shown within a number of tokens.
    pub(super) fn view(
        &mut self,
        texts: &BankFiles,
        max_tokens: usize,
        metadata: &dyn Fn(&str) -> Option<BankMetadata>,
        renamed: &RenamedHeadings,
        at: Timestamp,
    ) -> &BankView {
        self.read(texts);
        let day = day_of(at);
        let same = |last: &RememberedView| last.max_tokens == max_tokens && last.day == day && last.texts == *texts;
        let last = self.view.take().filter(same);
        let new = || {
            self.readings.par_iter().for_each(|(_, reading)| reading.read_sections());
            let facts = BankFacts { metadata, may_shorten: None, renamed, reading: &|text| self.reading(text) };
            RememberedView { texts: texts.clone(), max_tokens, day, view: view(texts, max_tokens, facts, at) }
        };
        let view = last.unwrap_or_else(new);
        &self.view.insert(view).view
    }
}
