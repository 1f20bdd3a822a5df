//! The rows that this process appended lately, by the file that has them. Owner indexes take them from here instead of
//! reading them back: a read of a few rows costs more than a search.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow_array::{ArrayRef, RecordBatch, UInt64Array};
use arrow_schema::{DataType, Field, Schema};
use lance::dataset::transaction::{Operation, Transaction};
use lance::table::format::Fragment;
use reasoning_bank_actors::ports::StoreError;

use crate::lance::errors::failed;

/// The name of the column in which LanceDB says where a row is.
pub(in crate::lance) const ROW_ID: &str = "_rowaddr";

/// The largest number of files whose rows are kept, and of the bytes that they take. The oldest are forgotten first.
const FILES: usize = 64;
const BYTES: usize = 8 << 20;

/// Rows of files that no other process changes: a fragment with deleted or updated rows is not answered from here.
#[derive(Default)]
pub(in crate::lance) struct RecentRows {
    /// True once there is an owner index. Until then nobody would take the rows.
    are_wanted: AtomicBool,
    files: Mutex<VecDeque<(String, RecordBatch)>>,
}

impl RecentRows {
    fn files(&self) -> MutexGuard<'_, VecDeque<(String, RecordBatch)>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps rows from now on.
    pub(in crate::lance) fn begin(&self) {
        self.are_wanted.store(true, Ordering::Relaxed);
    }

    /// Keeps rows that a transaction appends.
    pub(in crate::lance) fn note(&self, transaction: &Transaction, rows: &RecordBatch) {
        let Operation::Append { fragments } = &transaction.operation else { return };
        let [fragment] = &fragments[..] else { return };
        let Some(file) = only_file(fragment) else { return };
        if !self.are_wanted.load(Ordering::Relaxed) || fragment.physical_rows != Some(rows.num_rows()) {
            return;
        }
        let mut files = self.files();
        files.push_front((file.to_owned(), rows.clone()));
        files.truncate(FILES);
        let mut bytes = 0;
        let fitting = files.iter().take_while(|(_, rows)| {
            bytes += rows.get_array_memory_size();
            bytes <= BYTES
        });
        let fitting = fitting.count();
        files.truncate(fitting);
    }

    /// Returns the rows of a fragment, with their row ids where `columns` has them; `None` where they are not kept.
    pub(in crate::lance) fn of(
        &self,
        fragment: &Fragment,
        columns: &[&str],
    ) -> Result<Option<RecordBatch>, StoreError> {
        let Some(file) = only_file(fragment) else { return Ok(None) };
        let rows = self.files().iter().find(|(kept, _)| kept == file).map(|(_, rows)| rows.clone());
        match rows {
            Some(rows) if columns.contains(&ROW_ID) => with_row_ids(&rows, fragment.id).map(Some),
            rows => Ok(rows),
        }
    }

    pub(in crate::lance) fn forget(&self) {
        self.files().clear();
    }
}

/// Returns the path of the file that has all of a fragment: nothing of it was deleted or updated.
fn only_file(fragment: &Fragment) -> Option<&str> {
    match &fragment.files[..] {
        [file] if fragment.deletion_file.is_none() && fragment.overlays.is_empty() => Some(&file.path),
        _ => None,
    }
}

/// Adds the column [`ROW_ID`], in which the upper half is the fragment and the lower half the row in it.
fn with_row_ids(rows: &RecordBatch, fragment: u64) -> Result<RecordBatch, StoreError> {
    let first = fragment << 32;
    let row_ids: ArrayRef = Arc::new(UInt64Array::from_iter_values(first..first + rows.num_rows() as u64));
    let field = Arc::new(Field::new(ROW_ID, DataType::UInt64, false));
    let fields: Vec<_> = rows.schema().fields().iter().cloned().chain([field]).collect();
    let columns = rows.columns().iter().cloned().chain([row_ids]).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).map_err(failed)
}
