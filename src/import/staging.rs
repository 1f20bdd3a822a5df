//! The file of what was checked and is not written yet. An entry is a thing as JSON, and behind it the numbers of its
//! vectors as they are in memory, because writing and reading numbers as text takes longer than everything else.

use std::io::{self, BufRead, Read};

use reasoning_bank_actors::memories::Restorable;
use reasoning_bank_actors::ports::Passage;
use reasoning_bank_domain::safety::secrets::Removed;
use serde::{Deserialize, Serialize};

/// This number stands where a passage has no vector.
const NO_VECTOR: u32 = u32::MAX;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct StagedEntry {
    pub(super) removed: Removed,
    pub(super) thing: Restorable,
}

impl StagedEntry {
    /// Appends the entry to `out`.
    pub(super) fn write(mut self, out: &mut Vec<u8>) -> io::Result<()> {
        let vectors: Vec<Option<Vec<f32>>> =
            passages(&mut self.thing).iter_mut().map(|passage| passage.vector.take()).collect();
        let json = serde_json::to_vec(&self)?;
        out.extend((json.len() as u32).to_le_bytes());
        out.extend(json);
        for vector in vectors {
            out.extend(vector.as_ref().map_or(NO_VECTOR, |vector| vector.len() as u32).to_le_bytes());
            out.extend(vector.into_iter().flatten().flat_map(f32::to_le_bytes));
        }
        Ok(())
    }

    /// Reads the next entry, and how many bytes it has. There is none at the end.
    pub(super) fn read(source: &mut impl BufRead) -> io::Result<Option<(Self, usize)>> {
        if source.fill_buf()?.is_empty() {
            return Ok(None);
        }
        let mut bytes = vec![0; number(source)? as usize];
        source.read_exact(&mut bytes)?;
        let mut read = bytes.len();
        let mut entry: Self = serde_json::from_slice(&bytes)?;
        for passage in passages(&mut entry.thing) {
            let length = number(source)?;
            if length != NO_VECTOR {
                bytes.resize(length as usize * size_of::<f32>(), 0);
                source.read_exact(&mut bytes)?;
                read += bytes.len();
                let (numbers, _) = bytes.as_chunks();
                passage.vector = Some(numbers.iter().map(|number| f32::from_le_bytes(*number)).collect());
            }
        }
        Ok(Some((entry, read)))
    }
}

fn passages(thing: &mut Restorable) -> &mut [Passage] {
    match thing {
        Restorable::Memory { passages, .. } => passages,
        Restorable::Workspace(_) | Restorable::Trace { .. } | Restorable::Signal(_) | Restorable::Job(_) => &mut [],
    }
}

fn number(source: &mut impl Read) -> io::Result<u32> {
    let mut bytes = [0; size_of::<u32>()];
    source.read_exact(&mut bytes)?;
    Ok(u32::from_le_bytes(bytes))
}
