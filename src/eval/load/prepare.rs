//! A data directory before the load: memories that are there already, and a token for every client.

use std::path::Path;
use std::time::Duration;

use futures::{StreamExt, TryStreamExt, stream};
use jiff::Timestamp;
use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::memories::Restorable;
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_actors::system::SystemHandle;
use reasoning_bank_domain::access::{AllowedWorkspaces, Permission, Permissions};
use reasoning_bank_domain::evidence::confidence::prior;
use reasoning_bank_domain::memory::workspace::{InvalidWorkspaceKey, SharedWorkspace, WorkspaceId};
use reasoning_bank_domain::memory::{Memory, MemoryOutcome, NewMemory, SourceType, Trust};
use uuid::Uuid;

use super::failed;
use super::traffic::{LoadLesson, TEAM, WORKSPACES, key};
use crate::eval::{EvalError, retrieval};
use crate::tokens::{NewToken, TokenFile, TokensError, random_token};

/// This many memories are embedded and stored at once.
const BATCH: usize = 256;
/// While one batch is stored, another is embedded.
const BATCHES_AT_ONCE: usize = 2;
const BATCH_TIMEOUT: Duration = Duration::from_secs(600);

/// Stores the lessons with the numbers 0 to `count`, with their vectors, and does the upkeep that this causes. `done`
/// is told how many are stored.
pub(crate) async fn fill(count: u32, system: &SystemHandle, done: impl Fn(u64)) -> Result<(), EvalError> {
    let workspaces = workspaces().map_err(|error| failed("the workspaces")(&error))?;
    let numbers: Vec<u64> = (0..u64::from(count)).collect();
    let batches = numbers.chunks(BATCH).map(|numbers| {
        let batch = numbers.iter().map(|number| memory(*number, &workspaces)).collect::<Vec<_>>();
        let stored = batch.len() as u64;
        async move {
            system.memories.restore(batch, Deadline::after(BATCH_TIMEOUT)).await?;
            Ok::<u64, Error>(stored)
        }
    });
    let stored = stream::iter(batches).buffered(BATCHES_AT_ONCE).try_fold(0, |sum, stored| {
        done(sum + stored);
        std::future::ready(Ok(sum + stored))
    });
    stored.await?;
    // A memory that took too long to embed was stored without vectors.
    while system.memories.fill_vectors(Deadline::after(BATCH_TIMEOUT)).await? > 0 {}
    Ok(retrieval::finish_upkeep(system).await?)
}

/// Returns the ids of the workspaces, in the order of their numbers.
fn workspaces() -> Result<Vec<WorkspaceId>, InvalidWorkspaceKey> {
    let id = |number| Ok(SharedWorkspace { key: key(number).parse()?, team: Some(TEAM.into()), org: None }.id());
    (0..WORKSPACES).map(id).collect()
}

fn memory(number: u64, workspaces: &[WorkspaceId]) -> Restorable {
    let lesson = LoadLesson::of(number);
    let memory = Memory::new(NewMemory {
        id: Uuid::now_v7().into(),
        content: lesson.content,
        title: lesson.title,
        description: lesson.description,
        outcome: MemoryOutcome::Success,
        workspace_id: workspaces[number as usize % workspaces.len()].clone(),
        source_type: SourceType::Imported,
        trust: Trust::Tool,
        prior: prior(SourceType::Imported, None),
        at: Timestamp::now(),
    });
    Restorable::Memory { memory, passages: Vec::new() }
}

/// Makes `count` tokens, each of an owner of its own, that are good for all workspaces of the team.
pub(crate) fn make_tokens(data_dir: &Path, count: u32) -> Result<Vec<String>, EvalError> {
    let failed = failed("the tokens");
    let permissions: Permissions = [Permission::Read, Permission::Write].into_iter().collect();
    let (mut stored, mut made) = (Vec::new(), Vec::new());
    for number in 0..count {
        let bearer = random_token().map_err(|error| failed(&error))?;
        let new = NewToken {
            name: format!("client {number}"),
            owner: None,
            permissions: permissions.clone(),
            workspaces: AllowedWorkspaces::All,
            team: Some(TEAM.into()),
            org: None,
            expires_days: None,
            moves_team: false,
        };
        stored.push(new.token(&bearer, Timestamp::now()));
        made.push(bearer.expose().to_owned());
    }
    let added = TokenFile::of(data_dir).change(|tokens| {
        tokens.append(&mut stored);
        Ok::<(), TokensError>(())
    });
    added.map_err(|error| failed(&error))?;
    Ok(made)
}
