//! This file makes records again from rows of the tables, and values from columns.

use std::collections::BTreeMap;

use arrow_array::cast::AsArray;
use arrow_array::types::Float32Type;
use arrow_array::{Array, Float32Array, Int64Array, RecordBatch, UInt32Array};
use reasoning_bank_actors::ports::{Passage, PassageKind, StoreError};
use reasoning_bank_domain::memory::ids::MemoryId;
use serde::de::DeserializeOwned;
use uuid::Uuid;

use super::on_all_cores;
use crate::lance::errors::failed;

/// Tells of each passage whether it is the first of its text.
pub(in crate::lance) fn first_of_their_text(passages: &RecordBatch) -> Vec<bool> {
    let n = passages.column_by_name("n").and_then(|n| n.as_any().downcast_ref::<UInt32Array>());
    n.map_or_else(|| vec![true; passages.num_rows()], |n| n.values().iter().map(|n| *n == 0).collect())
}

/// Returns the values of a text column of every batch, one after another.
pub(in crate::lance) fn text_column<'a>(
    batches: &'a [RecordBatch],
    name: &'static str,
) -> impl Iterator<Item = &'a str> + use<'a> {
    batches
        .iter()
        .filter_map(move |batch| batch.column_by_name(name)?.as_string_opt::<i32>())
        .flat_map(|column| column.iter().map(Option::unwrap_or_default))
}

/// Returns the ids of every batch, one after another. What is no id, which no record has, is nobody's.
pub(in crate::lance) fn id_column(batches: &[RecordBatch]) -> impl Iterator<Item = u128> + use<'_> {
    text_column(batches, "id").map(|id| Uuid::parse_str(id).unwrap_or_default().as_u128())
}

/// Returns the values of a column of times, in microseconds, of every batch, one after another.
pub(in crate::lance) fn time_column<'a>(
    batches: &'a [RecordBatch],
    name: &'static str,
) -> impl Iterator<Item = i64> + use<'a> {
    batches
        .iter()
        .filter_map(move |batch| batch.column_by_name(name)?.as_any().downcast_ref::<Int64Array>())
        .flat_map(|column| column.values().iter().copied())
}

/// Returns the values of a column of numbers that the database adds to a search, distances or scores, of every batch,
/// one after another.
pub(in crate::lance) fn float_column<'a>(
    batches: &'a [RecordBatch],
    name: &'static str,
) -> impl Iterator<Item = f64> + use<'a> {
    batches
        .iter()
        .filter_map(move |batch| batch.column_by_name(name)?.as_any().downcast_ref::<Float32Array>())
        .flat_map(|column| column.values().iter().map(|value| f64::from(*value)))
}

/// Decodes the records of a column of bodies.
pub(in crate::lance) fn decode_bodies<T: DeserializeOwned + Send>(
    batches: &[RecordBatch],
) -> Result<Vec<T>, StoreError> {
    let bodies: Vec<&str> = text_column(batches, "body").collect();
    on_all_cores(&bodies, |body| serde_json::from_str(body).map_err(failed)).into_iter().collect()
}

/// Decodes the passages of the newest revision of each memory: earlier ones may not have been removed yet.
pub(in crate::lance) fn decode_passages(
    batches: &[RecordBatch],
) -> Result<BTreeMap<MemoryId, Vec<Passage>>, StoreError> {
    let mut all: BTreeMap<MemoryId, Vec<(u64, Passage)>> = BTreeMap::new();
    for batch in batches {
        let missing = || StoreError::Failed("the passages table lacks a column".into());
        let text = |name| batch.column_by_name(name).and_then(|c| c.as_string_opt::<i32>()).ok_or_else(missing);
        let (ids, memories, kinds, texts) = (text("id")?, text("memory_id")?, text("kind")?, text("text")?);
        let numbers = batch.column_by_name("n").and_then(|c| c.as_any().downcast_ref::<UInt32Array>());
        let numbers = numbers.ok_or_else(missing)?;
        let vectors = batch.column_by_name("vector").and_then(|c| c.as_fixed_size_list_opt()).ok_or_else(missing)?;
        for row in 0..batch.num_rows() {
            let vector = vectors.is_valid(row).then(|| vectors.value(row));
            let vector = vector.and_then(|v| Some(v.as_primitive_opt::<Float32Type>()?.values().to_vec()));
            let passage = Passage {
                kind: if kinds.value(row) == "task" { PassageKind::Task } else { PassageKind::Content },
                n: numbers.value(row),
                text: texts.value(row).to_owned(),
                vector,
            };
            let memory: MemoryId = memories.value(row).parse().map_err(failed)?;
            all.entry(memory).or_default().push((revision_of(ids.value(row)), passage));
        }
    }
    Ok(all.into_iter().map(|(memory, passages)| (memory, newest(passages))).collect())
}

/// Returns the passages of the highest revision, in order.
fn newest(passages: Vec<(u64, Passage)>) -> Vec<Passage> {
    let newest = passages.iter().map(|(revision, _)| *revision).max();
    let current = passages.into_iter().filter(|(revision, _)| Some(*revision) == newest);
    let mut current: Vec<Passage> = current.map(|(_, passage)| passage).collect();
    current.sort_by_key(|passage| (passage.kind == PassageKind::Content, passage.n));
    current
}

/// Returns the revision of the memory that a passage belongs to, from its [`passage_id`](super::passage_id); it is 0
/// where the id is of the first format.
pub(in crate::lance) fn revision_of(passage_id: &str) -> u64 {
    passage_id.split('/').nth(1).and_then(|revision| revision.parse().ok()).unwrap_or_default()
}
