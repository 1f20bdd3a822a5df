//! The artefacts beside the body of an episode: they are on the disk before the episode is stored, and read again in
//! parts, or whole.

use std::collections::BTreeMap;
use std::sync::Arc;

use reasoning_bank_domain::episode::{Artefact, ArtefactText, Episode};
use reasoning_bank_domain::memory::ids::TraceId;
use reasoning_bank_domain::memory::trace::ArtefactReference;
use reasoning_bank_domain::memory::workspace::WorkspaceId;

use super::EpisodesHandle;
use crate::error::Error;
use crate::file_io::{blocking, unusable};
use crate::runtime::Deadline;
use crate::workspaces::WorkspaceRef;

impl EpisodesHandle {
    pub(super) async fn keep(
        &self,
        artefacts: Vec<Artefact>,
        episode: TraceId,
        workspace: &WorkspaceId,
        deadline: Deadline,
    ) -> Result<(), Error> {
        if artefacts.is_empty() {
            return Ok(());
        }
        let (kept, workspace) = (Arc::clone(&self.artefacts), workspace.clone());
        blocking(deadline, move || {
            artefacts.iter().try_for_each(|artefact| {
                kept.keep(&workspace, episode, &artefact.reference.sha256, &artefact.content).map_err(unusable)
            })
        })
        .await
    }

    /// Reads an artefact of an episode. `named` is its checksum or its name.
    pub async fn artefact(
        &self,
        id: TraceId,
        workspace: &WorkspaceRef,
        named: &str,
        deadline: Deadline,
    ) -> Result<Artefact, Error> {
        let workspace_id = self.workspace_of(workspace, deadline).await?;
        let missing = || Error::NotFound(format!("artefact {named} of episode {id} here"));
        let row = self.own(id, &workspace_id, deadline).await?;
        if row.state.is_deleted() {
            return Err(missing());
        }
        let references = row.trace.episode.map(|parts| parts.artefacts).unwrap_or_default();
        let by_checksum = references.iter().find(|artefact| artefact.sha256 == named);
        let reference = by_checksum.or_else(|| references.iter().find(|artefact| artefact.name == named));
        let reference = reference.cloned().ok_or_else(missing)?;
        self.usage.accessed(id, &workspace_id);
        let content = self.content(&reference, workspace_id, deadline).await?.ok_or_else(missing)?;
        Ok(Artefact { reference, content })
    }

    /// Reads a part of an artefact that is a text, from this offset in bytes on.
    pub async fn artefact_text(
        &self,
        id: TraceId,
        workspace: &WorkspaceRef,
        named: &str,
        from: u64,
        deadline: Deadline,
    ) -> Result<ArtefactText, Error> {
        Ok(self.artefact(id, workspace, named, deadline).await?.page(from)?)
    }

    /// Reads an episode with the whole of its long texts.
    pub async fn get_whole(&self, id: TraceId, workspace: &WorkspaceRef, deadline: Deadline) -> Result<Episode, Error> {
        let mut episode = self.get(id, workspace, deadline).await?;
        let mut contents = BTreeMap::new();
        for reference in episode.long_texts() {
            let content = self.content(reference, episode.workspace_id.clone(), deadline).await?;
            let text = content.and_then(|content| String::from_utf8(content).ok());
            contents.extend(text.map(|text| (reference.sha256.clone(), text)));
        }
        episode.restore_texts(&contents);
        Ok(episode)
    }

    async fn content(
        &self,
        reference: &ArtefactReference,
        workspace: WorkspaceId,
        deadline: Deadline,
    ) -> Result<Option<Vec<u8>>, Error> {
        let (kept, sha256) = (Arc::clone(&self.artefacts), reference.sha256.clone());
        blocking(deadline, move || kept.read(&workspace, &sha256).map_err(unusable)).await
    }
}
