//! Showing a bank within a budget of tokens, and making it shorter.

use jiff::{SignedDuration, Timestamp};
use reasoning_bank_domain::bank::{
    BankFacts, BankFiles, BankMetadata, BankOutline, OPTIMIZED_MIN_TOKENS, OptimizedBank, optimize,
};

use super::held::{BankLock, HeldBank};
use super::notice::NoticeSeverity;
use super::state::BankState;
use super::{ActivateBank, ActivatedBank, BankSettings};
use crate::error::Error;

/// A bank that was made shorter is made shorter again when it has so many more tokens.
const GROWN_TOKENS: usize = 500;

/// Shows the files of a bank that are asked for, or as much of all of them as the budget takes.
pub(super) fn shown(bank: &mut HeldBank, request: &ActivateBank, at: Timestamp) -> Result<ActivatedBank, Error> {
    let texts = bank.state.texts();
    let tokens = bank.remembered.tokens(&texts);
    let files = texts.keys().cloned().collect();
    let (content, outline) = if request.files.is_empty() {
        let HeldBank { remembered, state, .. } = bank;
        let view = remembered.view(&texts, request.max_tokens, &known(state), at);
        let is_whole = !view.truncated && !view.optimized;
        (view.content.clone(), (!is_whole).then(|| outlined(&view.outline)))
    } else {
        let named = request.files.iter().map(|path| {
            let text = texts.get(path).ok_or_else(|| Error::NotFound(format!("file {path} in the bank")))?;
            Ok((path.clone(), text.clone()))
        });
        (named.collect::<Result<BankFiles, Error>>()?, None)
    };
    Ok(ActivatedBank {
        key: bank.place.key.clone(),
        files,
        last_updated: bank.state.updated_at,
        content,
        outline,
        hit: false,
        tokens,
        optimized_at: bank.state.optimized_at,
        pending: bank.state.pending,
        last_synced: bank.state.synced_at,
        is_adopted: bank.dir.is_adopted(),
        directory: bank.dir.shown_path(),
        notices: Vec::new(),
    })
}

/// Returns what is known of a section by its hash.
fn known(state: &BankState) -> impl Fn(&str) -> Option<BankMetadata> + '_ {
    |hash| state.metadata().get(hash).cloned()
}

fn outlined(files: &[BankOutline]) -> String {
    let mut outline = String::new();
    for file in files {
        outline.push_str(&format!("{}, {} tokens\n", file.file, file.tokens));
        file.sections.iter().for_each(|section| outline.push_str(&format!("  {section}\n")));
    }
    outline
}

/// Says whether a bank is to be made shorter now.
pub(super) fn is_due(bank: &mut HeldBank, settings: &BankSettings, at: Timestamp) -> bool {
    if bank.dir.is_adopted() && !settings.optimize_in_repo {
        return false;
    }
    let tokens = bank.remembered.own_tokens(&bank.state.texts());
    let last = bank.state.optimized_at;
    let days = i64::from(settings.optimize_every_days);
    let is_old = days > 0 && last.is_some_and(|last| at.duration_since(last) >= SignedDuration::from_hours(24 * days));
    // What could not be made shorter is left alone until there is more of it.
    let has_grown = tokens > bank.state.optimized_tokens + GROWN_TOKENS;
    (tokens > settings.optimize_above_tokens && has_grown) || (is_old && tokens > OPTIMIZED_MIN_TOKENS)
}

/// Which texts of a bank may become shorter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ShortenedTexts {
    /// Somebody asked for it.
    All,
    /// A bank that shortens itself leaves what a person wrote, unless that is an old entry.
    Filed,
}

fn shorter(bank: &HeldBank, texts: &BankFiles, above: usize, which: ShortenedTexts, at: Timestamp) -> OptimizedBank {
    let is_filed = |piece: &str| bank.state.is_filed(piece);
    let may_shorten: Option<&dyn Fn(&str) -> bool> = (which == ShortenedTexts::Filed).then_some(&is_filed);
    let facts =
        BankFacts { metadata: &known(&bank.state), may_shorten, reading: &|text| bank.remembered.reading(text) };
    optimize(texts, above, facts, at)
}

/// Makes a bank shorter, down to `above` tokens or somewhat less where it has more. It is kept as it was among its
/// versions, and a notice says so.
pub(super) fn shorten(
    bank: &mut HeldBank,
    lock: &BankLock,
    above: usize,
    which: ShortenedTexts,
    at: Timestamp,
) -> Result<(), Error> {
    let texts = bank.state.texts();
    let tokens = bank.remembered.own_tokens(&texts);
    if tokens <= OPTIMIZED_MIN_TOKENS {
        return Ok(());
    }
    let optimized = shorter(bank, &texts, above.min(tokens - 1), which, at);
    bank.state.optimized_at = Some(at);
    bank.state.optimized_tokens = optimized.tokens;
    if optimized.files == texts {
        return bank.checkpoint(lock);
    }
    let version = bank.keep_version("before it was made shorter", at)?;
    let description = format!(
        "the bank was made shorter, from {tokens} to {} tokens; bank restore {version} brings back what it was",
        optimized.tokens
    );
    bank.state.notice(NoticeSeverity::Info, description, at);
    bank.state.file(optimized.files);
    bank.write_anew(lock, at)
}
