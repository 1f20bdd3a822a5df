//! The answers of commands that are documents of the command line alone: `--json` prints them as they are, `render`
//! writes them for people. The other answers are documents of the domain. Commands with several answers have a file of
//! their own for them.

mod backup;
mod bank;
mod working;
mod workspace;

use std::collections::BTreeMap;
use std::path::PathBuf;

use jiff::Timestamp;
use reasoning_bank_actors::ports::{Erased, Maintained};
use reasoning_bank_domain::consolidation::ConsolidationRun;
use reasoning_bank_domain::evidence::stability::Stability;
use reasoning_bank_domain::learning::capture::{CaptureOutcome, Novelty};
use reasoning_bank_domain::learning::transcript::{Format, Unreadable};
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::memory::signal::SignalKind;
use reasoning_bank_domain::memory::workspace::WorkspaceId;
use reasoning_bank_domain::note::Note;
use reasoning_bank_domain::retrieval::responses::OpenLink;
use reasoning_bank_importers::ImportSource;
use serde::Serialize;

pub(super) use self::backup::{BackupMade, BackupRestored, BackupSummary, BackupVerified};
pub(super) use self::bank::{BankDone, BankList, ListedBankAnswer, ShownBank};
pub(super) use self::working::{ClearedTask, OpenTask, OpenTasks, ShownTask};
pub(super) use self::workspace::{
    LinkedWorkspace, Switched, Trusted, WorkspaceEntry, WorkspaceList, WorkspaceOverview, WorkspaceRemoval,
};
use crate::import::KindPreviews;
use crate::recall_log::RecallEntry;

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// The document of an import: what a source has for this bank, and what became of it.
#[derive(Debug, Serialize)]
pub(super) struct SourceImportReport {
    pub(super) source: ImportSource,
    pub(super) place: PathBuf,
    #[serde(flatten)]
    pub(super) kinds: KindPreviews,
    pub(super) workspaces: Vec<WorkspaceShare>,
    pub(super) skipped: BTreeMap<&'static str, u64>,
    /// The first of the files and lines that cannot be read, each with its problem.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) unreadable: Vec<String>,
    /// The secrets that are taken out of what was read.
    pub(super) redactions: u64,
    pub(super) notes: Vec<String>,
    pub(super) is_dry_run: bool,
    /// The counts of what was written. None before.
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
    /// The characters of questions that are longer than a question may be.
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) cut_characters: u64,
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
    /// True where more is left to do.
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

/// The list of what agents were shown, the newest first.
#[derive(Debug, Serialize)]
pub(crate) struct RecallList {
    pub(crate) recalls: Vec<ShownRecall>,
}

/// An entry of the recall log, with what came of it.
#[derive(Debug, Serialize)]
pub(crate) struct ShownRecall {
    #[serde(flatten)]
    pub(crate) entry: RecallEntry,
    /// The evidence for and against the memories that were shown, within a day of it, whoever gave it.
    pub(crate) outcomes: Vec<RecallOutcome>,
}

/// A piece of evidence about a memory that was shown.
#[derive(Debug, Serialize)]
pub(crate) struct RecallOutcome {
    pub(crate) id: MemoryId,
    pub(crate) signal: SignalKind,
    pub(crate) at: Timestamp,
}
