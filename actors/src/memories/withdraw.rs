//! Taking lessons out of search whose answers were taken back after they were learned. `domain::learning::withdrawal`
//! has the rule.

use std::collections::BTreeSet;

use reasoning_bank_domain::learning::correction::TakenBackExchange;
use reasoning_bank_domain::learning::lesson::{Lesson, LessonOrigin, memories_of};
use reasoning_bank_domain::learning::withdrawal::{Withdrawal, is_of_same_session, is_to_be_withdrawn};
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::memory::{Changes, Memory, Status};
use reasoning_bank_domain::retrieval::prompt_memories::PromptMemories;
use uuid::Uuid;

use super::compare::content_vector;
use super::{MemoriesHandle, SaidBy, UpdateRequest, WorkspaceRef};
use crate::error::Error;
use crate::ports::{Conditions, Recall, Visible};
use crate::runtime::Deadline;

/// The most lessons that one read asks for.
const AT_ONCE: usize = 500;
/// The most memories that are compared with a lesson.
const NEIGHBOURS: usize = 10;

impl MemoriesHandle {
    /// Takes the lessons out of search that earlier runs learned from these exchanges of a file. `standing` are the
    /// memories that stand for the exchanges that were not taken back. Returns those that left search.
    pub async fn withdraw(
        &self,
        taken_back: &[TakenBackExchange],
        standing: &[Option<MemoryId>],
        workspace: &WorkspaceRef,
        deadline: Deadline,
    ) -> Result<Vec<MemoryId>, Error> {
        if taken_back.is_empty() {
            return Ok(Vec::new());
        }
        let id = self.workspaces.resolve(workspace, deadline).await?.workspace.id;
        let withdrawals = taken_back.iter().flat_map(|wrong| Withdrawal::of(wrong, standing, &id));
        // A lesson that stands for another exchange of the file stays.
        let withdrawals: Vec<Withdrawal> = withdrawals.filter(|of| !standing.contains(&Some(of.lesson))).collect();
        self.withdraw_these(&withdrawals, workspace, deadline).await
    }

    /// Takes the lessons out of search that rules drew earlier from the same session, and that an objection takes back
    /// by now.
    pub(crate) async fn withdraw_of_session(
        &self,
        lessons: Vec<Lesson>,
        origin: &LessonOrigin,
        deadline: Deadline,
    ) -> Result<Vec<MemoryId>, Error> {
        let (lessons, _) = memories_of(lessons, origin, &PromptMemories::default(), |_| Uuid::now_v7().into());
        let mut withdrawals = Vec::new();
        for (lesson, passages) in self.embedded(lessons, deadline).await {
            let vector = content_vector(&passages).map(<[f32]>::to_vec);
            for earlier in self.taught_before(&lesson, vector, deadline).await? {
                withdrawals.push(Withdrawal { lesson: earlier, put_right_by: None });
            }
        }
        let workspace = WorkspaceRef::Id(origin.workspace_id.clone());
        self.withdraw_these(&withdrawals, &workspace, deadline).await
    }

    /// Finds the memories that the session of the lesson taught before, in the same words.
    async fn taught_before(
        &self,
        lesson: &Memory,
        vector: Option<Vec<f32>>,
        deadline: Deadline,
    ) -> Result<Vec<MemoryId>, Error> {
        let recall = Recall {
            visible: Visible::readers_of(lesson),
            conditions: Conditions { without_warnings: !lesson.is_warning(), ..Conditions::default() },
            with_superseded: false,
            text: Some(lesson.title.clone()),
            vector,
            signature: None,
            limit: NEIGHBOURS,
        };
        let found = self.store.candidates(recall, deadline).await?;
        let lists = found.vector.into_iter().chain(found.text);
        let ids: BTreeSet<MemoryId> = lists.flat_map(|list| list.hits).map(|(id, _)| id).collect();
        let near = self.memories_of(&ids.into_iter().collect::<Vec<_>>(), deadline).await?;
        Ok(near.iter().filter(|memory| is_of_same_session(memory, lesson)).map(|memory| memory.id).collect())
    }

    async fn withdraw_these(
        &self,
        withdrawals: &[Withdrawal],
        workspace: &WorkspaceRef,
        deadline: Deadline,
    ) -> Result<Vec<MemoryId>, Error> {
        let mut withdrawn = Vec::new();
        for withdrawals in withdrawals.chunks(AT_ONCE) {
            let rows = self.store.get(withdrawals.iter().map(|of| of.lesson).collect(), deadline).await?;
            for Withdrawal { lesson, put_right_by } in withdrawals {
                let row = rows.iter().find(|row| row.memory.id == *lesson);
                if row.is_some_and(|row| is_to_be_withdrawn(&row.memory, &row.evidence)) {
                    self.take_out(*lesson, *put_right_by, workspace, deadline).await?;
                    withdrawn.push(*lesson);
                }
            }
        }
        if !withdrawn.is_empty() {
            tracing::info!(lessons = withdrawn.len(), "lessons left search, as their answers were taken back");
        }
        Ok(withdrawn)
    }

    /// Supersedes a lesson: by the memory that puts it right, or by none where there is no such memory in search.
    async fn take_out(
        &self,
        lesson: MemoryId,
        put_right_by: Option<MemoryId>,
        workspace: &WorkspaceRef,
        deadline: Deadline,
    ) -> Result<(), Error> {
        if let Some(newer) = put_right_by {
            match self.supersede(lesson, newer, workspace, &SaidBy::Session(None), deadline).await {
                Err(Error::InvalidArgument { .. } | Error::NotFound(_)) => {}
                superseded => return superseded.map(|_| ()),
            }
        }
        let changes = Changes { status: Some(Status::Superseded), ..Changes::default() };
        let update = UpdateRequest { id: lesson, workspace: workspace.clone(), changes, if_revisions: None };
        self.update(update, deadline).await.map(|_| ())
    }
}
