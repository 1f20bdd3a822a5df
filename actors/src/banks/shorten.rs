//! Showing a bank within a budget of tokens, and making it shorter.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use reasoning_bank_domain::bank::{
    BankFacts, BankFileReading, BankFiles, BankMetadata, BankOutline, BankPath, OPTIMIZED_MIN_TOKENS, collapse_old,
    new_pieces, next_long_file, optimize, shorter_file, window,
};
use reasoning_bank_domain::learning::job::day_of;

use super::notice::NoticeSeverity;
use super::open_bank::{BankLock, OpenBank};
use super::remembered::{AskedPart, BankAnswer, Remembered};
use super::state::{BankState, LastingCause};
use super::{ActivateBank, ActivatedBank, BankSettings, BanksHandle};
use crate::error::Error;
use crate::ports::BankLocation;
use crate::runtime::Deadline;

/// A bank that was made shorter is made shorter again when it has this many more tokens.
const GROWN_TOKENS: usize = 500;

/// Shows the files of a bank that are asked for, or as much of all of them as the budget takes.
pub(super) fn shown(bank: &mut OpenBank, request: &ActivateBank, at: Timestamp) -> Result<ActivatedBank, Error> {
    let texts = bank.state.texts();
    let tokens = bank.remembered.tokens(&texts);
    let files = texts.keys().cloned().collect();
    let (day, max_tokens) = (day_of(at), request.max_tokens);
    let question = AskedPart { files: request.files.clone(), offset: request.offset, max_tokens, day };
    let answer = match bank.remembered.answer(&texts, &question) {
        Some(answer) => answer,
        None => {
            let (content, outline) = answered(bank, &texts, request, at)?;
            let answer = BankAnswer { content, outline, fenced: Arc::default() };
            bank.remembered.remember(texts, question, answer.clone());
            answer
        }
    };
    Ok(ActivatedBank {
        key: bank.place.key.clone(),
        files,
        last_updated: bank.state.updated_at,
        content: answer.content,
        outline: answer.outline,
        fences: answer.fenced,
        hit: false,
        tokens,
        shortened_at: bank.state.shortened_at,
        pending: bank.state.pending,
        last_synced: bank.state.synced_at,
        is_adopted: bank.dir.is_adopted(),
        directory: bank.dir.shown_path(),
        notices: Vec::new(),
    })
}

/// Returns what is asked for of a bank, and what tells of the rest.
fn answered(
    bank: &mut OpenBank,
    texts: &BankFiles,
    request: &ActivateBank,
    at: Timestamp,
) -> Result<(BankFiles, Option<String>), Error> {
    if !request.files.is_empty() {
        return named(bank, texts, request);
    }
    if request.offset > 0 {
        return Err(Error::invalid("offset", "is a place in a file; name the file in `files`"));
    }
    let OpenBank { remembered, state, .. } = bank;
    let view = remembered.view(texts, request.max_tokens, &known(state), state.renamed(), at);
    let is_whole = !view.truncated && !view.optimized;
    Ok((view.content, (!is_whole).then(|| outlined(&view.outline))))
}

/// Returns the files that are asked for, as far as the budget goes, and how to read the rest of them. Secrets are gone
/// before a text is cut, so that none is cut in two.
fn named(bank: &OpenBank, texts: &BankFiles, request: &ActivateBank) -> Result<(BankFiles, Option<String>), Error> {
    let read = |path: &BankPath| {
        let text = texts.get(path).ok_or_else(|| Error::NotFound(format!("file {path} in the bank")))?;
        Ok((path.clone(), bank.remembered.reading(text).without_secrets()))
    };
    let files = request.files.iter().map(read).collect::<Result<Vec<_>, Error>>()?;
    let window = window(&files, request.offset, request.max_tokens);
    let rest = window.rest.map(|rest| {
        let files: Vec<&str> = rest.files.iter().map(BankPath::as_str).collect();
        format!("The rest: activate {{\"files\": {files:?}, \"offset\": {}}}\n", rest.offset)
    });
    Ok((window.content, rest))
}

/// Returns what is known of a piece by its hash.
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

/// Says whether the files of a bank are shortened by nobody but who asks for it.
fn is_left_long(bank: &OpenBank, settings: &BankSettings) -> bool {
    bank.dir.is_adopted() && !settings.optimize_in_repo
}

/// Tells that a bank in a checkout is longer than others may be, for as long as it is. Says whether that is new.
pub(super) fn tell_of_length(bank: &mut OpenBank, settings: &BankSettings, at: Timestamp) -> bool {
    let above = settings.optimize_above_tokens;
    let tokens = if is_left_long(bank, settings) { bank.remembered.own_tokens(&bank.state.texts()) } else { 0 };
    let about = (tokens > above).then(|| {
        let description = format!(
            "the bank has {tokens} tokens, more than {above}, and is not made shorter by itself in a checkout: run \
             `bank optimize`, or set banks.optimize_in_repo = true"
        );
        (above.to_string(), description)
    });
    bank.state.lasts(LastingCause::TooLong, NoticeSeverity::Info, about, at)
}

/// Says whether a bank is to be made shorter now.
pub(super) fn is_due(bank: &mut OpenBank, settings: &BankSettings, at: Timestamp) -> bool {
    if is_left_long(bank, settings) {
        return false;
    }
    let tokens = bank.remembered.own_tokens(&bank.state.texts());
    let last = bank.state.looked_at.or(bank.state.begun_at);
    let days = i64::from(settings.optimize_every_days);
    let is_old = days > 0 && last.is_some_and(|last| at.duration_since(last) >= SignedDuration::from_hours(24 * days));
    // A bank that could not be made shorter is left alone until it has grown.
    let has_grown = tokens > bank.state.optimized_tokens + GROWN_TOKENS;
    (tokens > settings.optimize_above_tokens && has_grown) || (is_old && tokens > OPTIMIZED_MIN_TOKENS)
}

/// The texts of a bank that may become shorter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ShortenedTexts {
    /// Somebody asked for it.
    All,
    /// A bank that shortens itself leaves what a person wrote, unless that is an old entry.
    Filed,
}

/// The files that a model made shorter, and why others were left to the rules.
#[derive(Debug, Default)]
pub(super) struct ModelShortened {
    /// The texts before and after.
    files: BTreeMap<BankPath, (String, String)>,
    problems: Vec<String>,
}

impl ModelShortened {
    /// Says which files the rules had to make shorter, and why. None where the model did all that it was asked.
    fn left_to_rules(&self) -> Option<String> {
        let problems = self.problems.join("; ");
        (!problems.is_empty()).then(|| format!("rules made shorter what the model did not: {problems}"))
    }
}

/// The tokens of a bank that was made shorter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShortenedBank {
    pub tokens_before: usize,
    pub tokens: usize,
    pub is_unchanged: bool,
    /// The files that the model did not make shorter, and why.
    pub left_to_rules: Option<String>,
}

impl BanksHandle {
    /// Makes a bank shorter, by the model where there is one, and then by rules.
    pub(super) async fn shorten(
        &self,
        place: &BankLocation,
        which: ShortenedTexts,
        deadline: Deadline,
    ) -> Result<ShortenedBank, Error> {
        let (at, above) = (self.clock.now(), self.settings.optimize_above_tokens);
        let by_model = self.shortened_by_model(place, which, deadline).await?;
        self.with_bank(place, deadline, move |bank| {
            let lock = bank.lock()?;
            bank.refresh(&lock, at)?;
            let before = bank.state.texts();
            let tokens_before = bank.remembered.tokens(&before);
            let left_to_rules = by_model.left_to_rules();
            shorten(bank, &lock, above, which, by_model, at)?;
            let texts = bank.state.texts();
            let (tokens, is_unchanged) = (bank.remembered.tokens(&texts), texts == before);
            Ok(ShortenedBank { tokens_before, tokens, is_unchanged, left_to_rules })
        })
        .await
    }

    /// Asks the model for one file after the other, the longest first, until the bank is short enough or half of the
    /// time is over. What it did not do is left to the rules.
    async fn shortened_by_model(
        &self,
        place: &BankLocation,
        which: ShortenedTexts,
        deadline: Deadline,
    ) -> Result<ModelShortened, Error> {
        let mut shortened = ModelShortened::default();
        let Some(model) = self.model() else { return Ok(shortened) };
        let (at, above) = (self.clock.now(), self.settings.optimize_above_tokens);
        let view = move |bank: &mut OpenBank| {
            bank.bring_up_to_date(at)?;
            Ok(bank.state.clone())
        };
        let state = self.with_bank(place, deadline, view).await?;
        let until = deadline.halfway().at_most(self.settings.llm_timeout);
        let (mut texts, mut asked, mut remembered) = (state.texts(), BTreeSet::new(), Remembered::default());
        loop {
            remembered.read(&texts);
            let reading = |text: &str| remembered.reading(text);
            let next = with_facts(&state, which, &reading, |facts| next_long_file(&texts, &asked, above, facts, at));
            let Some(file) = next else { break };
            asked.insert(file.path.clone());
            let answer = tokio::time::timeout_at(until.instant(), model.shorten(place, &texts, &file, until)).await;
            let Ok(operations) = answer else {
                shortened.problems.push(format!("{}: the model did not answer in time", file.path));
                break;
            };
            let shorter = operations
                .and_then(|operations| shorter_file(&texts, &file, &operations, at).map_err(|error| error.to_string()));
            match shorter {
                Ok(text) => {
                    let before = texts.insert(file.path.clone(), text.clone()).unwrap_or_default();
                    shortened.files.insert(file.path, (before, text));
                }
                Err(problem) => shortened.problems.push(format!("{}: {problem}", file.path)),
            }
        }
        Ok(shortened)
    }
}

/// Calls a function with what is known of the pieces of a bank.
pub(super) fn with_facts<T>(
    state: &BankState,
    which: ShortenedTexts,
    reading: &dyn Fn(&str) -> Arc<BankFileReading>,
    then: impl FnOnce(BankFacts<'_>) -> T,
) -> T {
    let is_filed = |piece: &str| state.is_filed(piece);
    let may_shorten: Option<&dyn Fn(&str) -> bool> = (which == ShortenedTexts::Filed).then_some(&is_filed);
    then(BankFacts { metadata: &known(state), may_shorten, renamed: state.renamed(), reading })
}

/// Makes a bank shorter, down to `above` tokens or somewhat less where it has more, and its old entries otherwise. It
/// is kept as it was among its versions, and a notice says so.
pub(super) fn shorten(
    bank: &mut OpenBank,
    lock: &BankLock,
    above: usize,
    which: ShortenedTexts,
    by_model: ModelShortened,
    at: Timestamp,
) -> Result<(), Error> {
    let before = bank.state.texts();
    let tokens = bank.remembered.own_tokens(&before);
    if tokens <= OPTIMIZED_MIN_TOKENS {
        return Ok(());
    }
    if let Some(description) = by_model.left_to_rules() {
        bank.state.notice(NoticeSeverity::Warning, description, at);
    }
    let mut texts = before.clone();
    // A file that somebody changed meanwhile is left to the rules.
    let same = by_model.files.into_iter().filter(|(path, (text, _))| before.get(path) == Some(text));
    texts.extend(same.map(|(path, (_, text))| (path, text)));
    let reading = |text: &str| bank.remembered.reading(text);
    // A bank within its bounds keeps all but its old entries, so that doing it again changes nothing.
    let optimized = with_facts(&bank.state, which, &reading, |facts| match tokens > above {
        true => optimize(&texts, above, facts, at),
        false => collapse_old(&texts, facts, at),
    });
    bank.state.looked_at = Some(at);
    // What was filed just now is looked at again with the next update.
    let is_left = optimized.waits && optimized.tokens > above;
    bank.state.optimized_tokens = if is_left { 0 } else { optimized.tokens };
    if optimized.files == before {
        return bank.checkpoint(lock);
    }
    let version = bank.keep_version("before it was made shorter", at)?;
    let description = format!(
        "the bank was made shorter, from {tokens} to {} tokens; bank restore {version} brings back what it was",
        optimized.tokens
    );
    bank.state.notice(NoticeSeverity::Info, description, at);
    bank.state.shortened_at = Some(at);
    let cut = optimized.cut.iter().filter(|(piece, _)| !bank.state.is_filed(piece));
    let cut = cut.flat_map(|(_, text)| new_pieces("", text));
    let own: BTreeSet<String> = before
        .values()
        .flat_map(|text| bank.remembered.reading(text).lines_of(|piece| !bank.state.is_filed(piece)))
        .chain(cut)
        .collect();
    bank.state.file(optimized.files, &own);
    bank.write_anew(lock, at)
}
