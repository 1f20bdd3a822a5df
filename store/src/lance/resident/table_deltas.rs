//! The rows that came to a table between two of its versions, as its transactions say. Rows that were only moved
//! (compaction) did not come. The transactions do not tell which rows went, so a deletion that matters is no answer.

use std::collections::HashSet;

use lance::Dataset;
use lance::dataset::transaction::{Operation, UpdateMode};
use lance::table::format::Fragment;

use super::versions::CommittedVersions;

/// A version of a table, and the fragments that it consists of.
#[derive(Debug, Clone)]
pub(super) struct TableVersion {
    version: u64,
    fragments: HashSet<u64>,
}

impl From<&Dataset> for TableVersion {
    fn from(dataset: &Dataset) -> Self {
        let fragments = dataset.fragments().iter().map(|fragment| fragment.id).collect();
        Self { version: dataset.version_id(), fragments }
    }
}

/// The versions of the tables that an owner index stands for.
#[derive(Debug, Clone)]
pub(super) struct TableVersions {
    pub(super) memories: TableVersion,
    pub(super) passages: TableVersion,
    pub(super) signals: TableVersion,
}

impl TableVersions {
    /// Returns how many versions these are behind the newest ones, in the table that is farthest behind.
    pub(super) fn commits_behind(&self, newest: &CommittedVersions) -> u64 {
        let behind = |own: &TableVersion, newest: u64| newest.saturating_sub(own.version);
        let memories = behind(&self.memories, newest.memories);
        memories.max(behind(&self.passages, newest.passages)).max(behind(&self.signals, newest.signals))
    }

    /// Returns the versions of memories, passages and signals.
    pub(super) fn numbers(&self) -> [u64; 3] {
        [self.memories.version, self.passages.version, self.signals.version]
    }

    /// Tells whether these are the same versions as the others.
    pub(super) fn are_those_of(&self, other: &Self) -> bool {
        self.numbers() == other.numbers()
    }

    pub(super) fn are_at(&self, newest: &CommittedVersions) -> bool {
        let Self { memories, passages, signals } = self;
        memories.version >= newest.memories && passages.version >= newest.passages && signals.version >= newest.signals
    }
}

/// The fragments that hold all rows that are new or were changed, and maybe others.
pub(super) struct TableDelta {
    pub(super) fragments: Vec<Fragment>,
    /// The fragments that hold nothing else but rows that were only moved.
    pub(super) moved: Vec<Fragment>,
    /// True where some of their rows may have been there before, and were only moved.
    pub(super) with_moved: bool,
    /// True where some of their rows may be in the place of others.
    pub(super) with_changed: bool,
}

impl TableDelta {
    pub(super) fn rows(&self) -> usize {
        self.fragments.iter().map(|fragment| fragment.physical_rows.unwrap_or(usize::MAX / 4)).sum()
    }
}

/// The largest number of versions that are looked at. Each one is looked at, so beyond this it is cheaper to begin
/// anew.
const VERSIONS: u64 = 1_000;

/// Finds what came to a table since a version; returns `None` where it cannot be told. `deletions` says whether rows
/// matter that were deleted and not replaced by others.
pub(super) async fn since(before: &TableVersion, now: &Dataset, deletions: bool) -> lance::Result<Option<TableDelta>> {
    let version = now.version_id();
    if version < before.version || version - before.version > VERSIONS {
        return Ok(None);
    }
    let mut known = before.fragments.clone();
    let mut moved: HashSet<u64> = HashSet::new();
    let (mut with_moved, mut with_changed) = (false, false);
    for version in before.version + 1..=version {
        let Some(transaction) = now.read_version_transaction(version).await?.transaction else { return Ok(None) };
        match transaction.operation {
            Operation::Append { .. }
            | Operation::CreateIndex { .. }
            | Operation::ReserveFragments { .. }
            | Operation::UpdateConfig { .. } => {}
            Operation::Delete { .. } if !deletions => {}
            Operation::Update { update_mode, .. } if update_mode != Some(UpdateMode::RewriteColumns) => {
                with_changed = true
            }
            Operation::Rewrite { groups, .. } => {
                for group in groups {
                    if group.old_fragments.iter().all(|old| known.contains(&old.id)) {
                        moved.extend(group.new_fragments.iter().map(|new| new.id));
                        known.extend(&moved);
                    } else {
                        with_moved = true;
                    }
                }
            }
            _ => return Ok(None),
        }
    }
    let those = |wanted: &dyn Fn(&u64) -> bool| {
        now.fragments().iter().filter(|fragment| wanted(&fragment.id)).cloned().collect::<Vec<_>>()
    };
    let fragments = those(&|id| !known.contains(id));
    let moved = those(&|id| moved.contains(id));
    Ok(Some(TableDelta { fragments, moved, with_moved, with_changed }))
}
