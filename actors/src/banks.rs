//! BanksActor has the memory banks that this process uses at hand: markdown files that people and agents share.
//! `domain::bank` says what a bank is and where in it a text belongs. An update is in the journal of its bank before it
//! is answered, and in the files later, at once where they lie in a checkout.
//!
//! `state` is what is known of the files, `open_bank` a bank with its directory, `syncing` lets the two agree,
//! `writing` writes the files, and `actor` has the banks at hand and sees to it that they are written. `update` and
//! `shorten` are what happens to a bank, and `model` is what a language model says about both. `notice` is what a
//! client may be told of a bank, and `telling` tells it once. `remembered` keeps readings of files that have not
//! changed.

mod actor;
mod model;
mod notice;
mod open_bank;
mod remembered;
mod shorten;
mod state;
mod syncing;
mod telling;
mod update;
mod writing;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use jiff::Timestamp;
use moka::future::Cache;
use reasoning_bank_domain::bank::{
    BankFiles, BankInvalid, BankKey, BankPath, OPTIMIZE_ABOVE_TOKENS, bank_tokens, check_bounds, template,
};
use reasoning_bank_domain::memory::ids::KeyedRequestId;
use reasoning_bank_domain::safety::secrets::Scrub;
use reasoning_bank_domain::system::restart::Restart;

use self::actor::{BanksActor, BanksArgs, BanksMsg, SharedBank};
use self::open_bank::{Freshness, OpenBank, unusable};
use self::shorten::ShortenedTexts;
use self::state::key_of_request;
use crate::error::Error;
use crate::file_io::blocking;
use crate::ports::{BankDirectories, BankLocation, Clock};
use crate::runtime::{ChildSpec, Deadline, Gate, Slot};

pub use model::{BankModel, LanguageBankModel};
pub use notice::{BankNotice, NoticeReader, NoticeSeverity};
pub use open_bank::{BankVersion, RestoredVersion};
pub use remembered::FencedFiles;
pub use shorten::ShortenedBank;
pub use update::{CONVERSATION_MAX_CHARS, NOTHING_TO_FILE, UpdateBank, UpdatedBank};

/// The most requests for banks that the actor lets in.
const GATE: usize = 1_024;
/// The number of sessions of which this process remembers what they were told.
const SESSIONS_MAX: u64 = 10_000;
const SESSION_IDLE: Duration = Duration::from_secs(24 * 60 * 60);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BankSettings {
    /// A model says where a text belongs.
    pub llm: bool,
    pub llm_timeout: Duration,
    pub sync_interval: Duration,
    pub optimize_above_tokens: usize,
    /// Zero stands for never.
    pub optimize_every_days: u32,
    pub optimize_in_repo: bool,
    pub dumps: bool,
}

impl Default for BankSettings {
    fn default() -> Self {
        Self {
            llm: false,
            llm_timeout: Duration::from_secs(20),
            sync_interval: Duration::from_secs(60),
            optimize_above_tokens: OPTIMIZE_ABOVE_TOKENS,
            optimize_every_days: 7,
            optimize_in_repo: false,
            dumps: false,
        }
    }
}

/// A request to begin with a bank.
#[derive(Debug, Clone)]
pub struct ActivateBank {
    pub place: BankLocation,
    /// It fills a projectbrief in which nobody wrote anything.
    pub description: Option<String>,
    /// The files to read; all of them where none is named.
    pub files: Vec<BankPath>,
    /// The byte of the first file that is named at which reading begins.
    pub offset: usize,
    /// The most tokens of the texts.
    pub max_tokens: usize,
    pub reader: NoticeReader,
}

/// A bank as it is shown.
#[derive(Debug, Clone)]
pub struct ActivatedBank {
    pub key: BankKey,
    /// All files of the bank.
    pub files: Vec<BankPath>,
    pub last_updated: Option<Timestamp>,
    pub content: BankFiles,
    /// The sections of the whole bank, where not all of it is shown, or how to read the rest of the files that were
    /// named.
    pub outline: Option<String>,
    fences: Arc<OnceLock<FencedFiles>>,
    pub hit: bool,
    /// The tokens of the whole bank.
    pub tokens: usize,
    /// The time at which these texts were made shorter.
    pub shortened_at: Option<Timestamp>,
    /// The number of updates that are in no file yet.
    pub pending: u64,
    pub last_synced: Option<Timestamp>,
    /// The files lie in a checkout, where others write as well.
    pub is_adopted: bool,
    /// The directory of the files on this machine.
    pub directory: PathBuf,
    pub notices: Vec<BankNotice>,
}

impl ActivatedBank {
    /// Returns what is shown as an agent reads it. It is remembered with the bank.
    pub fn fenced(&self) -> &FencedFiles {
        self.fences.get_or_init(|| FencedFiles::of(&self.content, self.outline.as_deref()))
    }
}

/// A bank in a list.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedBank {
    pub key: BankKey,
    pub files: usize,
    pub tokens: usize,
    pub last_updated: Option<Timestamp>,
    /// The directory of the files. None where it cannot be read.
    pub directory: Option<PathBuf>,
    /// The files lie in a checkout.
    pub is_adopted: bool,
    /// The reason why it cannot be read.
    pub problem: Option<String>,
}

#[derive(Clone)]
pub struct BanksHandle {
    slot: Slot<BanksMsg>,
    gate: Gate,
    files: Arc<dyn BankDirectories>,
    clock: Clock,
    settings: BankSettings,
    model: Option<Arc<dyn BankModel>>,
    /// The number of the last notice that a session was told of a bank in a directory. A bank that moves begins to
    /// number again.
    told: Cache<(String, PathBuf), u64>,
    /// The bank that a session works with.
    active: Cache<String, BankLocation>,
    /// The request of a client that this handle carries out, where it has a key.
    request: Option<KeyedRequestId>,
}

impl BanksHandle {
    pub(crate) fn new(
        files: Arc<dyn BankDirectories>,
        settings: BankSettings,
        model: Option<Arc<dyn BankModel>>,
        clock: Clock,
    ) -> Self {
        Self {
            slot: Slot::new(),
            gate: Gate::new(GATE),
            files,
            clock,
            settings,
            model,
            told: Cache::builder().max_capacity(SESSIONS_MAX).time_to_idle(SESSION_IDLE).build(),
            active: Cache::builder().max_capacity(SESSIONS_MAX).time_to_idle(SESSION_IDLE).build(),
            request: None,
        }
    }

    /// Makes a handle whose update is stored with this request. The same request again adds nothing.
    pub fn carrying_out(&self, request: KeyedRequestId) -> Self {
        Self { request: Some(request), ..self.clone() }
    }

    pub(crate) fn child(&self) -> ChildSpec {
        let handle = self.clone();
        let args = move || BanksArgs {
            files: Arc::clone(&handle.files),
            settings: handle.settings.clone(),
            clock: handle.clock.clone(),
        };
        ChildSpec::actor("banks", Restart::Permanent, &self.slot, move || (BanksActor, args())).behind(&self.gate)
    }

    /// Begins with a bank, which is made where there is none.
    ///
    /// # Errors
    /// A file that is named is not there, or the bank cannot be read.
    pub async fn activate(&self, mut request: ActivateBank, deadline: Deadline) -> Result<ActivatedBank, Error> {
        request.description.scrub();
        let at = self.clock.now();
        let (place, reader, settings) = (request.place.clone(), request.reader.clone(), self.settings.clone());
        let activating = self.with_bank(&place, deadline, move |bank| {
            let freshness = bank.bring_up_to_date(at)?;
            if let Some(description) = &request.description {
                update::describe(bank, description, at)?;
            }
            let notices = bank.tell(&request.reader, &settings, at)?;
            let mut shown = shorten::shown(bank, &request, at)?;
            shown.hit = freshness == Freshness::Cached;
            Ok((shown, notices))
        });
        let (mut shown, notices) = activating.await?;
        if let Some(session) = reader.session() {
            self.active.insert(session.to_owned(), place.clone()).await;
        }
        shown.notices = self.untold(&shown.directory, reader.session(), notices).await;
        Ok(shown)
    }

    /// Returns the bank that a session works with.
    pub async fn active(&self, session: &str) -> Option<BankLocation> {
        self.active.get(session).await
    }

    /// Lists the banks that there are. Those that have a place among `places` are looked for there, in a checkout.
    pub async fn list(
        &self,
        places: BTreeMap<BankKey, BankLocation>,
        deadline: Deadline,
    ) -> Result<Vec<ListedBank>, Error> {
        let (files, at) = (Arc::clone(&self.files), self.clock.now());
        blocking(deadline, move || {
            let read = |key: &BankKey| -> Result<ListedBank, Error> {
                let place = places.get(key).cloned().unwrap_or(BankLocation { key: key.clone(), checkout: None });
                let mut bank = OpenBank::open(&*files, place, false)?;
                bank.look_at(at)?;
                let texts = bank.state.texts();
                Ok(ListedBank {
                    key: key.clone(),
                    files: texts.len(),
                    tokens: bank_tokens(&texts),
                    last_updated: bank.state.updated_at,
                    directory: Some(bank.dir.shown_path()),
                    is_adopted: bank.dir.is_adopted(),
                    problem: None,
                })
            };
            let list = |key: BankKey| {
                read(&key).unwrap_or_else(|error| {
                    let problem = Some(error.to_string());
                    let (directory, is_adopted) = (None, false);
                    ListedBank { key, files: 0, tokens: 0, last_updated: None, directory, is_adopted, problem }
                })
            };
            Ok(files.list().map_err(unusable)?.into_iter().map(list).collect())
        })
        .await
    }

    /// Lists the keys of the banks that there are, in their order.
    pub async fn keys(&self, deadline: Deadline) -> Result<Vec<BankKey>, Error> {
        let files = Arc::clone(&self.files);
        blocking(deadline, move || {
            let mut keys = files.list().map_err(unusable)?;
            keys.sort();
            Ok(keys)
        })
        .await
    }

    /// Puts files into a bank, as an export has them. A file that says something else becomes what the export says, and
    /// the bank as it was is kept as a version. A bank that is new has these files alone. Returns how many it changed.
    /// Whoever gives them has removed their secrets.
    pub async fn import(&self, place: &BankLocation, mut files: BankFiles, deadline: Deadline) -> Result<usize, Error> {
        let at = self.clock.now();
        self.with_bank(place, deadline, move |bank| {
            let lock = bank.lock()?;
            bank.refresh_to_fill(&lock, at)?;
            let before = bank.state.texts();
            files.retain(|path, text| before.get(path) != Some(text));
            if files.is_empty() {
                return Ok(0);
            }
            let mut after = before.clone();
            after.extend(files.clone());
            check_bounds(&after)?;
            if !before.is_empty() && before != template(bank.place.key.kind()) {
                bank.keep_version("before an import", at)?;
            }
            let count = files.len();
            bank.state.set_texts(files);
            bank.write_anew(&lock, at)?;
            Ok(count)
        })
        .await
    }

    /// Returns the texts of a bank, and whether they lie in a checkout. A bank that is not there is not made.
    pub async fn texts(&self, place: &BankLocation, deadline: Deadline) -> Result<(BankFiles, bool), Error> {
        let at = self.clock.now();
        self.with_bank(place, deadline, move |bank| {
            if bank.exists()? || bank.dir.is_adopted() {
                bank.bring_up_to_date(at)?;
            }
            Ok((bank.state.texts(), bank.dir.is_adopted()))
        })
        .await
    }

    /// Lists the versions of a bank that are kept, the newest first.
    pub async fn history(&self, place: &BankLocation, deadline: Deadline) -> Result<Vec<BankVersion>, Error> {
        self.with_bank(place, deadline, |bank| bank.versions()).await
    }

    /// Brings a version of a bank back. The bank as it was is kept as a version, too. Files that came later stay. A
    /// request with a key does so once.
    ///
    /// # Errors
    /// There is no such version.
    pub async fn restore(
        &self,
        place: &BankLocation,
        version: Timestamp,
        deadline: Deadline,
    ) -> Result<RestoredVersion, Error> {
        let (at, key) = (self.clock.now(), self.request.map(key_of_request));
        self.with_bank(place, deadline, move |bank| {
            let lock = bank.lock()?;
            bank.refresh(&lock, at)?;
            // The digest of a request that restored a version is the version that it kept.
            if let Some(kept) = key.as_ref().and_then(|key| bank.state.digest_of(key)?.parse().ok()) {
                return Ok(RestoredVersion { kept, added_since: Vec::new() });
            }
            let missing = || Error::NotFound(format!("version {version} of the bank {}", bank.place.key));
            let version = bank.version(version)?.ok_or_else(missing)?;
            let kept = bank.keep_version("before a version was restored", at)?;
            // Nobody is told any more how to bring it back.
            bank.state.forget_notices_of(&version.at.to_string());
            let is_new = |path: &BankPath| !version.files.contains_key(path);
            let added_since = bank.state.texts().into_keys().filter(is_new).collect();
            bank.state.set_texts(version.files);
            // Whoever wants it back wants it so long: it is made shorter again when it has grown.
            bank.state.optimized_tokens = bank.remembered.own_tokens(&bank.state.texts());
            bank.state.looked_at = Some(at);
            bank.state.shortened_at = version.shortened_at;
            if let Some(key) = key {
                bank.state.see(key, Some(kept.to_string()));
            }
            bank.write_anew(&lock, at)?;
            Ok(RestoredVersion { kept, added_since })
        })
        .await
    }

    /// Makes a bank shorter because somebody asks for it.
    pub async fn optimize(&self, place: &BankLocation, deadline: Deadline) -> Result<ShortenedBank, Error> {
        self.shorten(place, ShortenedTexts::All, deadline).await
    }

    /// The model that may work on banks.
    fn model(&self) -> Option<&dyn BankModel> {
        self.model.as_deref().filter(|_| self.settings.llm)
    }

    /// Writes what is ahead of the files of a bank.
    ///
    /// # Errors
    /// A file could not be written. What was acknowledged is kept, and writing is tried again.
    pub async fn sync(&self, place: &BankLocation, deadline: Deadline) -> Result<(), Error> {
        let at = self.clock.now();
        self.with_bank(place, deadline, move |bank| {
            bank.sync(at)?;
            let last = bank.state.notices().pop();
            let why = last.map_or_else(|| "somebody is writing to them".to_owned(), |(_, notice)| notice.description);
            if bank.is_ahead() { Err(Error::BankUnwritten(why)) } else { Ok(()) }
        })
        .await
    }

    /// Says whether there is a bank.
    pub async fn exists(&self, place: &BankLocation, deadline: Deadline) -> Result<bool, Error> {
        self.with_bank(place, deadline, |bank| bank.exists()).await
    }

    /// Lets the bank of a workspace live in a folder of its checkouts. The notices about its former folder in this
    /// checkout are forgotten.
    pub async fn adopt(&self, place: &BankLocation, folder: &Path, deadline: Deadline) -> Result<(), Error> {
        let (at, new) = (self.clock.now(), place.checkout.as_ref().map(|checkout| checkout.join(folder)));
        let forgetting = self.with_bank(place, deadline, move |bank| {
            if bank.dir.is_adopted() && new.as_ref() != Some(&bank.dir.shown_path()) {
                let lock = bank.lock()?;
                bank.refresh(&lock, at)?;
                bank.state.forget_notices();
                bank.checkpoint(&lock)?;
            }
            Ok(())
        });
        // A former folder that cannot be read must not keep anybody from leaving it.
        if let Err(error) = forgetting.await {
            tracing::warn!(%error, "the notices about the former folder of a memory bank stay");
        }
        let (files, of, folder) = (Arc::clone(&self.files), place.key.clone(), folder.to_owned());
        blocking(deadline, move || files.adopt(&of, &folder).map_err(unusable)).await
    }

    /// Works on a bank, after all that was asked of it before.
    async fn with_bank<T: Send + 'static>(
        &self,
        place: &BankLocation,
        deadline: Deadline,
        work: impl FnOnce(&mut OpenBank) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let _permit = self.gate.enter()?;
        let of = place.clone();
        let bank: SharedBank = self.slot.call(|reply| BanksMsg::Get { place: of, reply }, deadline).await??;
        let locked = tokio::time::timeout_at(deadline.instant(), bank.lock_owned()).await;
        let mut locked = locked.map_err(|_| Error::DeadlineExceeded)?;
        let (slot, place, files, at) = (self.slot.clone(), place.clone(), Arc::clone(&self.files), self.clock.now());
        blocking(deadline, move || {
            locked.follow_adoption(&*files, at)?;
            let done = work(&mut locked);
            if locked.is_ahead() {
                let _ = slot.cast(BanksMsg::Ahead { place, failures: locked.failures });
            }
            done
        })
        .await
    }

    /// Returns what a session was not told of a bank yet; all of the notices where there is no session.
    async fn untold(
        &self,
        directory: &Path,
        session: Option<&str>,
        mut notices: Vec<(u64, BankNotice)>,
    ) -> Vec<BankNotice> {
        if let Some(session) = session {
            let key = (session.to_owned(), directory.to_owned());
            let told = self.told.get(&key).await.unwrap_or_default();
            notices.retain(|(number, _)| *number > told);
            if let Some((last, _)) = notices.last() {
                self.told.insert(key, *last).await;
            }
        }
        notices.into_iter().map(|(_, notice)| notice).collect()
    }
}

impl From<BankInvalid> for Error {
    fn from(invalid: BankInvalid) -> Self {
        Self::invalid(invalid.field, invalid.problem)
    }
}
