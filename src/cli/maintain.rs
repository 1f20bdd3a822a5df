//! The command `maintain` judges the work that used memories by the commits of the workspace's repository, says how
//! many memories wait to be shared and which were found to be outdated, and does the upkeep of the store by hand.
//! Without `--apply` it shows what it would do.

use std::path::Path;

use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_actors::system::SystemHandle;
use reasoning_bank_domain::evidence::stability::CommitHistory;
use reasoning_bank_domain::note::Note;

use super::failure::{CommandExit, CommandFailure};
use super::output::Output;
use super::render;
use super::session::{request_deadline, with_bank};
use crate::cli::answers::{Maintenance, UpkeepSummary};
use crate::git;
use crate::project::{self, Identity};
use crate::settings::Loaded;

/// The largest number of links between an older and a newer memory that are listed.
const LINKS_SHOWN: usize = 20;
/// The time limit of all slices of upkeep together.
const UPKEEP_LIMIT: std::time::Duration = std::time::Duration::from_secs(300);

pub(super) fn command(apply: bool, loaded: &Loaded, output: Output) -> Result<CommandExit, CommandFailure> {
    let done = with_bank(loaded, async |bank| maintain(apply, loaded, &bank).await)?;
    output.answer(&done, render::maintained)
}

async fn maintain(apply: bool, loaded: &Loaded, bank: &SystemHandle) -> Result<Maintenance, CommandFailure> {
    let mut notes = Vec::new();
    let root = bank.workspaces.resolve(&loaded.workspace, request_deadline()).await?.workspace.root;
    let stability = match history(&root).await {
        Ok(history) => Some(bank.memories.stability(&history, &loaded.workspace, apply, request_deadline()).await?),
        Err(reason) => {
            notes.push(Note::plain(reason));
            None
        }
    };
    let upkeep = if apply { Some(upkeep(bank).await?) } else { None };
    let promotions = bank.memories.promotions(&loaded.workspace, request_deadline()).await?;
    notes.extend(promotions.notes);
    let (open_links, open_link_count) =
        bank.memories.open_links(&loaded.workspace, LINKS_SHOWN, request_deadline()).await?;
    let open_promotions = promotions.proposals.len();
    Ok(Maintenance { applied: apply, stability, upkeep, open_promotions, open_links, open_link_count, notes })
}

/// Reads the commits of the workspace's repository, or says why there are none to judge by.
async fn history(root: &str) -> Result<CommitHistory, String> {
    let directory = Path::new(root);
    if root.is_empty() || !project::in_repository(directory) {
        return Err("the workspace is no git repository: nothing says what became of its solves".to_owned());
    }
    // A directory that stands for itself (workspace.identity) may lie in a larger repository.
    let is_whole = project::root(directory, directory, Identity::Git).is_ok_and(|found| found == root);
    git::history(directory, !is_whole).await.map_err(|error| format!("the repository was not read: {error}"))
}

/// Does upkeep slice by slice, until nothing is left to do or five minutes are over.
pub(super) async fn upkeep(bank: &SystemHandle) -> Result<UpkeepSummary, CommandFailure> {
    let mut done = UpkeepSummary::default();
    let all = Deadline::after(UPKEEP_LIMIT);
    bank.store.maintain_fully(all, |slice| done.add(slice)).await?;
    done.vectors_made = fill_vectors(bank, all).await;
    Ok(done)
}

/// Makes the vectors of memories that were stored without, as far as the time allows.
async fn fill_vectors(bank: &SystemHandle, deadline: Deadline) -> u64 {
    let mut made = 0;
    loop {
        match bank.memories.fill_vectors(deadline).await {
            Ok(0) => return made,
            Ok(filled) => made += filled as u64,
            Err(error) => {
                tracing::warn!(%error, "memories that were stored without vectors stay so; they are found by their words");
                return made;
            }
        }
    }
}
