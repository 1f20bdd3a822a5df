//! The answers of commands that are documents of the command line alone: `--json` prints them as they are, `render`
//! writes them for people. The other answers are documents of the domain.

use std::collections::BTreeMap;
use std::path::PathBuf;

use jiff::Timestamp;
use reasoning_bank_actors::ports::{Erased, Maintained};
use reasoning_bank_domain::consolidation::ConsolidationRun;
use reasoning_bank_domain::episode::EpisodeStatus;
use reasoning_bank_domain::evidence::stability::Stability;
use reasoning_bank_domain::learning::capture::{CaptureOutcome, Novelty};
use reasoning_bank_domain::learning::transcript::{Format, Unreadable};
use reasoning_bank_domain::memory::ids::{MemoryId, TraceId, WorkingId};
use reasoning_bank_domain::memory::workspace::{Workspace, WorkspaceDetail, WorkspaceId, WorkspaceKey};
use reasoning_bank_domain::note::Note;
use reasoning_bank_domain::retrieval::responses::OpenLink;
use reasoning_bank_importers::ImportSource;
use reasoning_bank_store::backup::{BackupManifest, FlawedFile, KnownBackup};
use serde::Serialize;

use crate::import::KindPreviews;
use crate::recall_log::RecallEntry;
use crate::settings::{CheckoutProposal, CheckoutRanking};

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// What a source has for this bank, and what became of it.
#[derive(Debug, Serialize)]
pub(super) struct SourceImportReport {
    pub(super) source: ImportSource,
    pub(super) place: PathBuf,
    #[serde(flatten)]
    pub(super) kinds: KindPreviews,
    pub(super) workspaces: Vec<WorkspaceShare>,
    pub(super) skipped: BTreeMap<&'static str, u64>,
    /// The secrets that are taken out of what was read.
    pub(super) redactions: u64,
    pub(super) notes: Vec<String>,
    pub(super) is_dry_run: bool,
    /// What was written. None before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) added: Option<AddedThings>,
}

/// The new things of a workspace.
#[derive(Debug, Serialize)]
pub(super) struct WorkspaceShare {
    pub(super) workspace_id: WorkspaceId,
    pub(super) name: String,
    pub(super) place: String,
    pub(super) new: u64,
}

/// The things that an import wrote.
#[derive(Debug, Serialize)]
pub(super) struct AddedThings {
    pub(super) memories: u64,
    pub(super) facts: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) others: u64,
}

/// The results of all files.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub(super) struct LearnReport {
    pub(super) files: Vec<LearnedFile>,
    pub(super) total: ExchangeCounts,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub(super) struct LearnedFile {
    /// The file `-` is stdin.
    pub(super) file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) format: Option<Format>,
    #[serde(flatten)]
    pub(super) counts: ExchangeCounts,
    pub(super) unreadable: Unreadable,
    /// The exchanges beyond those that are taken of one file.
    pub(super) left_out: usize,
    /// The new episodes: requests of a user for which something was done.
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) episodes: u64,
    /// The secrets that were removed.
    pub(super) redactions: u64,
    /// The characters that were dropped, because nobody sees them and they carry nothing.
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) dropped_characters: u64,
    /// The reason why nothing could be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub(super) struct ExchangeCounts {
    pub(super) exchanges: usize,
    /// The new memories.
    pub(super) kept: usize,
    /// The exchanges that say the same as another memory, and count as evidence for it.
    pub(super) confirmed: usize,
    /// The exchanges that were learned before.
    pub(super) known: usize,
    /// The counts of refused exchanges, by reason.
    pub(super) refused: BTreeMap<&'static str, usize>,
}

impl ExchangeCounts {
    pub(super) fn count(&mut self, outcome: CaptureOutcome) {
        self.exchanges += 1;
        match outcome {
            CaptureOutcome::Kept(_, Novelty::New) => self.kept += 1,
            CaptureOutcome::Kept(_, Novelty::Confirms) => self.confirmed += 1,
            CaptureOutcome::Kept(_, Novelty::Known) => self.known += 1,
            CaptureOutcome::Refused(refused) => *self.refused.entry(refused.as_str()).or_default() += 1,
            // `learn` waits for its answer, so it never meets these two.
            CaptureOutcome::Queued(_) | CaptureOutcome::Off => {}
        }
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.exchanges += other.exchanges;
        self.kept += other.kept;
        self.confirmed += other.confirmed;
        self.known += other.known;
        for (reason, count) in &other.refused {
            *self.refused.entry(reason).or_default() += count;
        }
    }
}

/// A memory that was erased, and what went with it.
#[derive(Debug, Serialize)]
pub(super) struct Deleted {
    pub(super) id: MemoryId,
    pub(super) title: String,
    pub(super) removed: Erased,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) reinstated: Vec<MemoryId>,
}

/// The things that the command `maintain` did, or would do.
#[derive(Debug, Serialize)]
pub(super) struct Maintenance {
    pub(super) applied: bool,
    /// The solves that used memories, and what their commits say. It is absent where that cannot be known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stability: Option<Stability>,
    /// The upkeep of the store. It is absent where nothing was done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) upkeep: Option<UpkeepSummary>,
    /// The memories that deserve to be shared more widely, and are not.
    pub(super) open_promotions: usize,
    /// The first memories that newer ones were found to update, and that nobody has decided about. The count is that of
    /// all of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) open_links: Vec<OpenLink>,
    pub(super) open_link_count: usize,
    /// The things that could not be done, and why.
    pub(super) notes: Vec<Note>,
}

#[derive(Debug, Default, Serialize)]
pub(super) struct UpkeepSummary {
    pub(super) slices: u32,
    pub(super) fragments_removed: u64,
    pub(super) versions_removed: u64,
    /// The memories that had been stored without vectors, and have them now.
    pub(super) vectors_made: u64,
    /// Another process was writing: it keeps the store in shape itself.
    pub(super) busy: bool,
    /// More is left to do.
    pub(super) more: bool,
}

impl UpkeepSummary {
    pub(super) fn add(&mut self, slice: &Maintained) {
        let Maintained { busy, fragments_removed, versions_removed, more } = *slice;
        self.slices += 1;
        self.fragments_removed += fragments_removed;
        self.versions_removed += versions_removed;
        (self.busy, self.more) = (busy, more);
    }
}

/// The runs of consolidation that can still be undone, the newest first.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct ConsolidationRuns {
    pub(super) runs: Vec<ConsolidationRun>,
}

/// The change of the embedder.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Reembedded {
    /// The embedder before. It is absent where there is no bank yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) from: Option<String>,
    pub(super) to: String,
    /// It is false where the vectors were those of this embedder already, or where there are none.
    pub(super) changed: bool,
    /// The passages whose vectors were made again.
    pub(super) passages: u64,
    pub(super) seconds: f64,
}

#[derive(Debug, Serialize)]
pub(super) struct WorkspaceList {
    pub(super) workspaces: Vec<WorkspaceEntry>,
}

#[derive(Debug, Serialize)]
pub(super) struct WorkspaceEntry {
    #[serde(flatten)]
    pub(super) workspace: Workspace,
    /// The workspace is the one in use.
    pub(super) current: bool,
}

#[derive(Debug, Serialize)]
pub(super) struct WorkspaceOverview {
    #[serde(flatten)]
    pub(super) detail: WorkspaceDetail,
    /// The way in which it came to be the one in use.
    pub(super) origin: String,
    /// The key that the user has linked it to on a team's server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) linked: Option<WorkspaceKey>,
    /// The key that the remote of its repository gives it on a team's server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) key_of_remote: Option<WorkspaceKey>,
    /// The proposal of its checkout.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) proposal: Option<CheckoutProposal>,
    /// The ranking of its checkout that was agreed to.
    #[serde(skip_serializing_if = "CheckoutRanking::is_empty")]
    pub(super) ranking: CheckoutRanking,
}

#[derive(Debug, Serialize)]
pub(super) struct Trusted {
    #[serde(flatten)]
    pub(super) workspace: Workspace,
    #[serde(skip_serializing_if = "CheckoutRanking::is_empty")]
    pub(super) ranking: CheckoutRanking,
}

/// A project, and its key on a team's server.
#[derive(Debug, Serialize)]
pub(super) struct LinkedWorkspace {
    pub(super) root: String,
    pub(super) key: Option<WorkspaceKey>,
}

#[derive(Debug, Serialize)]
pub(super) struct Switched {
    pub(super) id: WorkspaceId,
    pub(super) name: String,
    pub(super) root: String,
    /// The file that keeps the choice.
    pub(super) file: PathBuf,
}

#[derive(Debug, Serialize)]
pub(super) struct WorkspaceRemoval {
    pub(super) id: WorkspaceId,
    pub(super) name: String,
    pub(super) removed: Erased,
    /// The copies of its memories that its team, its organisation or others keep.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) promoted_kept: Option<usize>,
    /// The memories of its team and its organisation that its own had superseded, which are back in search.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) reinstated: Vec<MemoryId>,
    /// The backups that still have something of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) backups: Vec<KnownBackup>,
}

/// What a backup is of.
#[derive(Debug, Serialize)]
pub(super) struct BackupSummary {
    pub(super) id: String,
    /// The bank, which is the same one after it was restored.
    pub(super) bank: String,
    pub(super) created_at: Timestamp,
    /// The version that made it.
    pub(super) version: String,
    pub(super) store_format: u32,
    pub(super) memories: u64,
    pub(super) workspaces: usize,
    pub(super) files: usize,
    pub(super) bytes: u64,
}

impl BackupSummary {
    pub(super) fn of(manifest: &BackupManifest) -> Self {
        Self {
            id: manifest.id.to_string(),
            bank: manifest.bank.to_string(),
            created_at: manifest.created_at,
            version: manifest.version.clone(),
            store_format: manifest.store_format,
            memories: manifest.memories(),
            workspaces: manifest.workspaces.len(),
            files: manifest.files.len(),
            bytes: manifest.bytes(),
        }
    }
}

#[derive(Debug, Serialize)]
pub(super) struct BackupMade {
    /// It has none where it went to stdout.
    pub(super) directory: Option<PathBuf>,
    #[serde(flatten)]
    pub(super) summary: BackupSummary,
}

#[derive(Debug, Serialize)]
pub(super) struct BackupVerified {
    pub(super) whole: bool,
    #[serde(flatten)]
    pub(super) summary: BackupSummary,
    /// The files that are missing, changed, unreadable or not expected.
    pub(super) findings: Vec<FlawedFile>,
}

#[derive(Debug, Serialize)]
pub(super) struct BackupRestored {
    pub(super) data_dir: PathBuf,
    #[serde(flatten)]
    pub(super) summary: BackupSummary,
    /// The memories that are left after what was erased again.
    pub(super) memories_now: u64,
    pub(super) erased_again: usize,
    /// The newer backups and the directory that know what was erased after this backup was made.
    pub(super) erasures_from: Vec<PathBuf>,
    pub(super) with_tokens: bool,
    /// The files of the backup that were left out, because its manifest does not list them.
    pub(super) left_out: Vec<FlawedFile>,
}
#[derive(Debug, Serialize)]
pub(super) struct OpenTasks {
    pub(super) tasks: Vec<OpenTask>,
}

#[derive(Debug, Serialize)]
pub(super) struct OpenTask {
    pub(super) task_id: WorkingId,
    pub(super) description: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) phase: String,
    pub(super) touched_at: Timestamp,
    pub(super) entries: usize,
}

#[derive(Debug, Serialize)]
pub(super) struct ShownTask {
    pub(super) task_id: WorkingId,
    pub(super) rendered: String,
    pub(super) tokens: usize,
    pub(super) not_shown: usize,
}

#[derive(Debug, Serialize)]
pub(super) struct ClearedTask {
    pub(super) cleared: WorkingId,
    pub(super) episode_id: TraceId,
    pub(super) status: EpisodeStatus,
}

#[derive(Debug, Serialize)]
pub(super) struct BankList {
    pub(super) banks: Vec<ListedBankAnswer>,
}

#[derive(Debug, Serialize)]
pub(super) struct ListedBankAnswer {
    pub(super) bank: String,
    pub(super) files: usize,
    pub(super) tokens: usize,
    pub(super) last_updated: Option<Timestamp>,
    /// Why the bank cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) problem: Option<String>,
}

#[derive(Debug, Serialize)]
pub(super) struct ShownBank {
    pub(super) bank: String,
    pub(super) directory: PathBuf,
    pub(super) in_checkout: bool,
    pub(super) tokens: usize,
    pub(super) pending: u64,
    pub(super) files: BTreeMap<String, String>,
    pub(super) notices: Vec<String>,
}

#[derive(Debug, Serialize)]
pub(super) struct BankHistory {
    pub(super) versions: Vec<BankVersionAnswer>,
}

#[derive(Debug, Serialize)]
pub(super) struct BankVersionAnswer {
    pub(super) version: Timestamp,
    pub(super) reason: String,
    pub(super) files: usize,
}

#[derive(Debug, Serialize)]
pub(super) struct BankDone {
    pub(super) bank: String,
    pub(super) done: String,
}

/// What agents were shown, the newest first.
#[derive(Debug, Serialize)]
pub(crate) struct RecallList {
    pub(crate) recalls: Vec<RecallEntry>,
}
