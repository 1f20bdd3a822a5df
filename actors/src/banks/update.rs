//! An update: text is filed in a bank, by a model or by rules.

use std::collections::BTreeMap;

use jiff::Timestamp;
use reasoning_bank_domain::bank::{
    AddedFacts, AppliedOperation, BANK_FILE_MAX_BYTES, BankChange, BankFiles, BankInvalid, BankOperation, BankRefusal,
    ImportedFact, add_facts, apply, apply_filed, check_answer, described, file_by_rules, without_empty_additions,
};
use reasoning_bank_domain::memory::ids::KeyedRequestId;
use reasoning_bank_domain::safety::secrets::Scrub;
use reasoning_bank_domain::text::hex::hex;
use sha2::{Digest, Sha256};

use super::notice::{BankNotice, NoticeReader, NoticeSeverity};
use super::open_bank::{BankLock, OpenBank};
use super::shorten::{ModelShortened, ShortenedTexts, with_facts};
use super::state::{LastingCause, UpdateFrame, UpdateKey, key_of_request};
use super::{BankSettings, BanksHandle, shorten};
use crate::error::Error;
use crate::ports::BankLocation;
use crate::runtime::Deadline;

/// The files are written at once after an update that has more bytes.
const WRITTEN_AT_ONCE: usize = 16 << 10;
/// The id of a conversation has at least one character, and at most this many.
pub const CONVERSATION_MAX_CHARS: usize = 200;
/// The notice of an update whose text has nothing to file, such as `ok, thanks`.
pub const NOTHING_TO_FILE: &str = "there is nothing to file in this text";
/// The notice of an update that has the number of another one.
const FILED_BEFORE: &str = "this update was filed before, with another text, and this text was not filed: give each \
                            update of a conversation an update_count of its own";

/// A request to file text in a bank.
#[derive(Debug, Clone)]
pub struct UpdateBank {
    pub place: BankLocation,
    pub content: String,
    pub conversation_id: Option<String>,
    /// The number of the update in its conversation. The same one again adds nothing.
    pub update_count: Option<u64>,
    /// Whoever numbers it, where several write to the bank: the conversations of each have ids of their own.
    pub writer: Option<String>,
    pub reader: NoticeReader,
}

/// The answer to an update: what it changed, and what the caller has to know.
#[derive(Debug, Clone, PartialEq)]
pub struct UpdatedBank {
    pub applied: Vec<AppliedOperation>,
    pub notices: Vec<BankNotice>,
}

/// The outcome for the text of an update.
#[derive(Debug, Default)]
struct FiledText {
    applied: Vec<AppliedOperation>,
    /// The number of its pieces that the bank says already.
    known: usize,
    /// The text has nothing to file.
    is_empty: bool,
    /// The number of the update is that of another text, which was filed.
    is_other: bool,
}

impl FiledText {
    /// Says what the caller cannot see in the operations.
    fn told(&self) -> Vec<String> {
        let known = match self.known {
            0 => None,
            1 => Some("1 piece of this text was in the bank already, and was not added again".to_owned()),
            many => Some(format!("{many} pieces of this text were in the bank already, and were not added again")),
        };
        let nothing = self.is_empty.then(|| NOTHING_TO_FILE.to_owned());
        let other = self.is_other.then(|| FILED_BEFORE.to_owned());
        [nothing, other, known].into_iter().flatten().collect()
    }
}

impl BanksHandle {
    /// Files text in a bank. It is in the journal of the bank when this returns.
    ///
    /// # Errors
    /// The text is blank or too long, or it could not be stored.
    pub async fn update(&self, mut request: UpdateBank, deadline: Deadline) -> Result<UpdatedBank, Error> {
        check(&request)?;
        request.content.scrub();
        let at = self.clock.now();
        let by_model = self.by_model(&request, deadline).await?;
        let (settings, place, reader) = (self.settings.clone(), request.place.clone(), request.reader.clone());
        let sent_as = self.request;
        let updating = self.with_bank(&place, deadline, move |bank| {
            let lock = bank.lock()?;
            bank.refresh(&lock, at)?;
            let filed = file(bank, &lock, &request, sent_as, by_model, at)?;
            if shorten::tell_of_length(bank, &settings, at) {
                bank.store_notices(&lock);
            }
            let is_due = shorten::is_due(bank, &settings, at);
            // A model has to be waited for, and nobody waits for the bank meanwhile.
            let is_left = is_due && settings.llm;
            finish(bank, &lock, &settings, is_due && !is_left, request.content.len() > WRITTEN_AT_ONCE, at);
            // What is told later is not told now.
            let notices = if is_left { Vec::new() } else { bank.told(&lock, &request.reader) };
            Ok((filed, is_left, notices, bank.dir.shown_path()))
        });
        let (filed, is_left, mut notices, directory) = updating.await?;
        if is_left {
            // The update is stored, whatever becomes of this.
            notices = self.shorten_after_update(&place, &reader, deadline).await.unwrap_or_default();
        }
        let mut notices = self.untold(&directory, reader.session(), notices).await;
        // Only the caller has to know.
        notices.extend(filed.told().into_iter().map(|description| {
            let severity = NoticeSeverity::Info;
            BankNotice { timestamp: at, description, severity }
        }));
        Ok(UpdatedBank { applied: filed.applied, notices })
    }

    /// Tells what [`Self::add_facts`] would add, and changes nothing.
    pub async fn preview_facts(
        &self,
        place: &BankLocation,
        source: &str,
        facts: &[ImportedFact],
        deadline: Deadline,
    ) -> Result<AddedFacts, Error> {
        Ok(add_facts(&self.texts(place, deadline).await?.0, source, facts))
    }

    /// Adds facts that another program remembered, without those that the bank has. They are in its files when this
    /// returns. Whoever gives them has removed their secrets.
    pub async fn add_facts(
        &self,
        place: &BankLocation,
        source: &'static str,
        facts: Vec<ImportedFact>,
        deadline: Deadline,
    ) -> Result<AddedFacts, Error> {
        let at = self.clock.now();
        self.with_bank(place, deadline, move |bank| {
            let lock = bank.lock()?;
            bank.refresh(&lock, at)?;
            let added = add_facts(&bank.state.texts(), source, &facts);
            if !added.changed.is_empty() {
                bank.append(&lock, UpdateFrame::of_texts(added.changed.clone(), at))?;
                bank.sync_locked(&lock, at)?;
            }
            Ok(added)
        })
        .await
    }

    /// Makes a bank shorter that an update made too long. What fails is noticed.
    async fn shorten_after_update(
        &self,
        place: &BankLocation,
        reader: &NoticeReader,
        deadline: Deadline,
    ) -> Result<Vec<(u64, BankNotice)>, Error> {
        let (at, reader) = (self.clock.now(), reader.clone());
        let shortened = self.shorten(place, ShortenedTexts::Filed, deadline).await;
        let told = move |bank: &mut OpenBank| {
            let lock = bank.lock()?;
            bank.refresh(&lock, at)?;
            if let Err(error) = &shortened {
                bank.failed(error, at);
            }
            Ok(bank.told(&lock, &reader))
        };
        self.with_bank(place, deadline, told).await
    }

    /// Asks the model, where there is one. None where rules file the text.
    async fn by_model(
        &self,
        request: &UpdateBank,
        deadline: Deadline,
    ) -> Result<Option<Result<Vec<BankOperation>, String>>, Error> {
        let Some(model) = self.model() else { return Ok(None) };
        let at = self.clock.now();
        let view = move |bank: &mut OpenBank| {
            bank.bring_up_to_date(at)?;
            Ok(bank.texts_to_file_in())
        };
        let files = self.with_bank(&request.place, deadline, view).await?;
        // The rest of the time is for the rules.
        let until = deadline.halfway().at_most(self.settings.llm_timeout);
        let filed = model.file(&request.place, &files, &request.content, until);
        let filed = tokio::time::timeout_at(until.instant(), filed).await;
        Ok(Some(filed.unwrap_or_else(|_| Err("the model did not answer in time".to_owned()))))
    }
}

fn check(request: &UpdateBank) -> Result<(), BankInvalid> {
    let content = &request.content;
    if content.trim().is_empty() {
        return Err(BankInvalid::new("content", "is missing or blank"));
    }
    if content.len() > BANK_FILE_MAX_BYTES {
        let problem = format!("has {} bytes; an update has at most {} KiB", content.len(), BANK_FILE_MAX_BYTES >> 10);
        return Err(BankInvalid::new("content", problem));
    }
    let is_name = |id: &String| {
        (1..=CONVERSATION_MAX_CHARS).contains(&id.chars().count())
            && !id.trim().is_empty()
            && !id.chars().any(char::is_control)
    };
    if request.conversation_id.as_ref().is_some_and(|id| !is_name(id)) {
        let problem = format!("must have 1 to {CONVERSATION_MAX_CHARS} characters on one line; leave it out otherwise");
        return Err(BankInvalid::new("conversation_id", problem));
    }
    Ok(())
}

/// Files the text of a request, unless that was done before. Rules file it where the answer of the model is not
/// possible.
fn file(
    bank: &mut OpenBank,
    lock: &BankLock,
    request: &UpdateBank,
    sent_as: Option<KeyedRequestId>,
    by_model: Option<Result<Vec<BankOperation>, String>>,
    at: Timestamp,
) -> Result<FiledText, Error> {
    let conversation = request.conversation_id.as_ref().map(|id| match &request.writer {
        // No writer has a line break in their name.
        Some(writer) => format!("{writer}\n{id}"),
        None => id.clone(),
    });
    let key: Option<UpdateKey> = conversation.zip(request.update_count);
    let key = key.or_else(|| sent_as.map(key_of_request));
    let digest = key.is_some().then(|| digest(&request.content));
    if let Some(key) = key.as_ref().filter(|key| bank.state.has_seen(key)) {
        let is_other = bank.state.digest_of(key).is_some_and(|filed| digest.as_deref() != Some(filed));
        return Ok(FiledText { is_other, ..FiledText::default() });
    }
    let files = bank.texts_to_file_in();
    let (mut notices, mut is_empty) = (Vec::new(), false);
    let mut notice = |severity, description| notices.push(BankNotice { timestamp: at, description, severity });
    let by_model = by_model.and_then(|operations| {
        let filed = operations.and_then(|operations| {
            filed_by_model(bank, &files, request, operations, at).map_err(|error| error.to_string())
        });
        filed
            .inspect_err(|problem| {
                let description = format!("the model's answer was not used, rules filed the text: {problem}");
                notice(NoticeSeverity::Warning, description);
            })
            .ok()
    });
    let change = match by_model {
        Some(filed) => {
            if filed.replaces {
                bank.keep_version("before a section was replaced", at)?;
            }
            filed.told.into_iter().for_each(|description| notice(NoticeSeverity::Info, description));
            filed.change
        }
        None => {
            let operations = file_by_rules(&request.content, &files, bank.state.renamed(), at)?;
            is_empty = operations.is_empty();
            apply_filed(&files, &numbered(operations, request), at)?
        }
    };
    for refused in &change.refused {
        notice(NoticeSeverity::Warning, format!("{}: left out, {}", refused.target_file, refused.problem));
    }
    for displaced in &change.displaced {
        let BankRefusal { target_file, problem } = displaced;
        let description = format!("{target_file}: its entries are in notes.md, {problem}");
        notice(NoticeSeverity::Warning, description);
    }
    let BankChange { mut changed, applied, known, metadata, .. } = change;
    for text in changed.values_mut() {
        if let Some(cut) = without_empty_additions(text) {
            *text = cut;
        }
    }
    let frame = UpdateFrame { key, digest, metadata, notices, ..UpdateFrame::of_texts(changed, at) };
    bank.append(lock, frame)?;
    Ok(FiledText { applied, known, is_empty, is_other: false })
}

/// Returns a digest of a text, which tells it from any other.
fn digest(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes())[..16])
}

/// The text as a model filed it.
struct FiledByModel {
    change: BankChange,
    /// A section was replaced.
    replaces: bool,
    told: Vec<String>,
}

/// Applies the answer of a model, and files by rules what it leaves out.
fn filed_by_model(
    bank: &OpenBank,
    files: &BankFiles,
    request: &UpdateBank,
    operations: Vec<BankOperation>,
    at: Timestamp,
) -> Result<FiledByModel, BankInvalid> {
    let reading = |text: &str| bank.remembered.reading(text);
    let checked = with_facts(&bank.state, ShortenedTexts::Filed, &reading, |facts| {
        check_answer(&request.content, files, operations, facts)
    })?;
    let (replaces, mut told) = (checked.replaces(), Vec::new());
    if !checked.problems.is_empty() {
        told.push(format!("of the model's answer: {}", checked.problems.join("; ")));
    }
    let mut change = apply(files, &numbered(checked.operations, request), at)?;
    if !checked.left_out.is_empty() {
        let mut texts = files.clone();
        texts.extend(change.changed.clone());
        let operations = file_by_rules(&checked.left_out, &texts, bank.state.renamed(), at)?;
        let left = apply_filed(&texts, &numbered(operations, request), at)?;
        if !left.applied.is_empty() {
            told.push("rules filed what the model's answer left out of the text".to_owned());
        }
        change = change.then(left);
    }
    Ok(FiledByModel { change, replaces, told })
}

/// Says of operations which conversation they come from.
fn numbered(mut operations: Vec<BankOperation>, request: &UpdateBank) -> Vec<BankOperation> {
    for operation in &mut operations {
        operation.metadata.conversation_id.clone_from(&request.conversation_id);
    }
    operations
}

/// Does what must not wait after an update: files in a checkout are written, and so is what is large, and a bank that
/// became too long is made shorter. The update is stored already, so that what fails here is noticed and tried again.
fn finish(
    bank: &mut OpenBank,
    lock: &BankLock,
    settings: &BankSettings,
    is_too_long: bool,
    is_large: bool,
    at: Timestamp,
) {
    let above = settings.optimize_above_tokens;
    let shortened = match is_too_long {
        true => shorten::shorten(bank, lock, above, ShortenedTexts::Filed, ModelShortened::default(), at),
        false => Ok(()),
    };
    let written = match bank.dir.is_adopted() || is_large {
        true => bank.sync_locked(lock, at),
        false => Ok(()),
    };
    if let Err(error) = shortened.and(written) {
        bank.failed(&error, at);
    }
    // Each update that waits for its folder says so.
    if bank.is_ahead() && bank.state.tell_again(LastingCause::FolderMissing) {
        bank.store_notices(lock);
    }
}

/// Fills a projectbrief in which nobody wrote anything.
pub(super) fn describe(bank: &mut OpenBank, description: &str, at: Timestamp) -> Result<(), Error> {
    if described(&bank.state.texts(), description).is_none() {
        return Ok(());
    }
    let lock = bank.lock()?;
    bank.refresh(&lock, at)?;
    let Some((path, text)) = described(&bank.state.texts(), description) else { return Ok(()) };
    bank.append(&lock, UpdateFrame::of_texts(BTreeMap::from([(path, text)]), at))?;
    if bank.dir.is_adopted() { bank.sync_locked(&lock, at) } else { Ok(()) }
}
