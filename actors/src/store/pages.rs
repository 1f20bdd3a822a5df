//! Reading many episodes, some at a time.

use reasoning_bank_domain::episode::EpisodeFilter;
use reasoning_bank_domain::memory::ids::TraceId;

use super::StoreHandle;
use crate::error::Error;
use crate::ports::EpisodeRow;
use crate::runtime::Deadline;

/// The number of episodes that one read takes.
const PAGE: usize = 500;

impl StoreHandle {
    /// Reads a page of the episodes that the filter lets through, the newest first: those behind `after`, which the
    /// caller knows as a `what`.
    ///
    /// # Errors
    /// `NotFound` where `after` is gone. Nothing is known of its place then, and no page may pass for the last one. The
    /// errors of the store.
    pub(crate) async fn page_of_episodes(
        &self,
        what: &'static str,
        filter: EpisodeFilter,
        after: Option<TraceId>,
        limit: usize,
        deadline: Deadline,
    ) -> Result<Vec<EpisodeRow>, Error> {
        let workspace = filter.workspace.clone();
        let rows = self.episodes(filter, after, limit, deadline).await?;
        // The page comes first, because `after` may be purged between the two.
        if let (Some(after), true) = (after, rows.is_empty())
            && self.episode(after, workspace, deadline).await?.is_none()
        {
            return Err(Error::NotFound(format!("{what} {after} here; list again without `after`")));
        }
        Ok(rows)
    }

    /// Reads the episodes that the filter lets through, the newest first, until there are at least `most` or no more,
    /// and hands them over some at a time.
    ///
    /// # Errors
    /// `Conflict` where the last episode of a page was purged meanwhile, because nothing is found behind it. The errors
    /// of the store.
    pub(crate) async fn each_episode(
        &self,
        filter: &EpisodeFilter,
        most: usize,
        deadline: Deadline,
        mut take: impl FnMut(Vec<EpisodeRow>),
    ) -> Result<(), Error> {
        let (mut read, mut after) = (0, None);
        while read < most {
            let rows = self.episodes(filter.clone(), after, PAGE, deadline).await?;
            if let (Some(cursor), true) = (after, rows.is_empty())
                && self.trace(cursor, None, deadline).await?.is_none()
            {
                return Err(Error::Conflict("an episode".to_owned()));
            }
            let last = rows.last().filter(|_| rows.len() == PAGE).map(|row| row.trace.trace_id);
            read += rows.len();
            take(rows);
            match last {
                Some(last) => after = Some(last),
                None => break,
            }
        }
        Ok(())
    }
}
