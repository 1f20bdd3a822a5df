//! Reads JSON Lines or an array on several threads. One cuts the source into chunks, others make something of their
//! items, and the caller takes the results in the order of the source. Memory is bounded by a few chunks for each
//! thread.

use std::io::{self, BufRead, BufReader, Read};
use std::num::NonZero;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use serde::de::DeserializeOwned;

use super::items::{Items, Next};
use super::{ItemProblem, LocatedProblem, MOST_PROBLEMS, ReadError, THING_MAX_BYTES, first_byte, thing_of, too_long};

/// A chunk has this many bytes, unless a single item is longer.
const CHUNK_BYTES: usize = 256 * 1024;
/// This many chunks wait for each thread, and this many wait to be taken from it.
const WAITING: usize = 2;

enum SourceChunk {
    /// The chunk has whole lines, with the number of the first.
    Lines(u64, Vec<u8>),
    /// The chunk has items of an array, with the number of the first.
    Items(u64, Vec<Vec<u8>>),
    Problems(Vec<LocatedProblem>),
    Failure(io::Error),
}

/// The result of one item.
enum ItemResult<R> {
    Done(R),
    Problems(Vec<LocatedProblem>),
    Failure(io::Error),
}

/// Makes something of every item with `make`, on all cores, and hands the results to `take`, in order. Blank lines are
/// no items.
///
/// # Errors
/// The errors are those of [`super::read`], or `take` failed. Nothing after the first problem is taken.
pub(crate) fn read_on_all_cores<T: DeserializeOwned, R: Send>(
    source: impl Read + Send,
    make: impl Fn(T) -> Result<R, Vec<ItemProblem>> + Sync,
    mut take: impl FnMut(R) -> io::Result<()>,
) -> Result<(), ReadError> {
    let workers = thread::available_parallelism().map_or(1, NonZero::get);
    let make = &make;
    thread::scope(|scope| {
        let (chunks, made): (Vec<_>, Vec<_>) = (0..workers)
            .map(|_| {
                let (chunks, to_do) = sync_channel(WAITING);
                let (done, made) = sync_channel(WAITING);
                scope.spawn(move || work(&to_do, &done, make));
                (chunks, made)
            })
            .unzip();
        scope.spawn(move || cut(source, chunks));
        let mut problems = Vec::new();
        // every chunk of the source went to the next thread in turn
        for made in made.iter().cycle() {
            let Ok(made) = made.recv() else { break };
            for made in made {
                match made {
                    ItemResult::Done(result) if problems.is_empty() => take(result).map_err(ReadError::NotTaken)?,
                    ItemResult::Done(_) => {}
                    ItemResult::Problems(more) => problems.extend(more),
                    ItemResult::Failure(error) => return Err(ReadError::Io(error)),
                }
            }
            if problems.len() >= MOST_PROBLEMS {
                break;
            }
        }
        problems.truncate(MOST_PROBLEMS);
        if problems.is_empty() { Ok(()) } else { Err(ReadError::Bad(problems)) }
    })
}

fn work<T: DeserializeOwned, R>(
    to_do: &Receiver<SourceChunk>,
    done: &SyncSender<Vec<ItemResult<R>>>,
    make: &impl Fn(T) -> Result<R, Vec<ItemProblem>>,
) {
    for chunk in to_do {
        let made = match chunk {
            SourceChunk::Lines(first, text) => {
                let lines = text.split_inclusive(|byte| *byte == b'\n').zip(first..);
                let full = lines.filter(|(line, _)| !line.trim_ascii().is_empty());
                full.map(|(line, number)| made(&format!("line {number}"), thing_of(line), make)).collect()
            }
            SourceChunk::Items(first, items) => {
                let items = items.into_iter().zip(first..);
                items.map(|(item, number)| made(&format!("item {number}"), thing_of(&item), make)).collect()
            }
            SourceChunk::Problems(problems) => vec![ItemResult::Problems(problems)],
            SourceChunk::Failure(error) => vec![ItemResult::Failure(error)],
        };
        if done.send(made).is_err() {
            return;
        }
    }
}

fn made<T, R>(
    place: &str,
    thing: Result<T, ItemProblem>,
    make: &impl Fn(T) -> Result<R, Vec<ItemProblem>>,
) -> ItemResult<R> {
    match thing.map_err(|problem| vec![problem]).and_then(make) {
        Ok(result) => ItemResult::Done(result),
        Err(problems) => {
            let at = |what| LocatedProblem { place: place.to_owned(), what };
            ItemResult::Problems(problems.into_iter().map(at).collect())
        }
    }
}

/// Cuts a source into chunks, until nobody takes them any more.
struct Cutter {
    chunks: Vec<SyncSender<SourceChunk>>,
    next: usize,
}

impl Cutter {
    /// Hands out a chunk. It returns false when nobody takes it.
    fn put(&mut self, chunk: SourceChunk) -> bool {
        let sender = &self.chunks[self.next];
        self.next = (self.next + 1) % self.chunks.len();
        sender.send(chunk).is_ok()
    }

    /// Cuts whole lines, up to the first that is too long.
    fn lines(&mut self, mut source: impl BufRead) -> io::Result<()> {
        let (mut text, mut first, mut number) = (Vec::with_capacity(CHUNK_BYTES), 1, 0_u64);
        loop {
            let before = text.len();
            let read = source.by_ref().take(THING_MAX_BYTES as u64 + 1).read_until(b'\n', &mut text)?;
            number += u64::from(read > 0);
            let is_too_long = read > THING_MAX_BYTES;
            if is_too_long {
                text.truncate(before);
            }
            if read == 0 || is_too_long || text.len() >= CHUNK_BYTES {
                let whole = std::mem::replace(&mut text, Vec::with_capacity(CHUNK_BYTES));
                if !self.put(SourceChunk::Lines(first, whole)) {
                    return Ok(());
                }
                first = number + 1;
            }
            if is_too_long {
                let problem = LocatedProblem { place: format!("line {number}"), what: too_long() };
                self.put(SourceChunk::Problems(vec![problem]));
            }
            if read == 0 || is_too_long {
                return Ok(());
            }
        }
    }

    /// Cuts whole items, up to the first that is too long or behind which nothing can be read.
    fn array(&mut self, source: impl BufRead) -> io::Result<()> {
        let mut array = Items::new(source, THING_MAX_BYTES);
        let (mut items, mut bytes, mut first) = (Vec::new(), 0, 1);
        loop {
            let mut item = Vec::new();
            let next = array.next(&mut item)?;
            let is_item = next == Next::Item;
            if is_item {
                bytes += item.len();
                items.push(item);
            }
            if !is_item || bytes >= CHUNK_BYTES {
                let whole = std::mem::take(&mut items);
                let number = first + whole.len() as u64;
                if !self.put(SourceChunk::Items(first, whole)) {
                    return Ok(());
                }
                (bytes, first) = (0, number);
            }
            let what = match next {
                Next::Item => continue,
                Next::End => return Ok(()),
                Next::TooLong => too_long(),
                Next::Broken(problem) => ItemProblem::new("", problem),
            };
            self.put(SourceChunk::Problems(vec![LocatedProblem { place: format!("item {first}"), what }]));
            return Ok(());
        }
    }
}

fn cut(source: impl Read, chunks: Vec<SyncSender<SourceChunk>>) {
    let mut cutter = Cutter { chunks, next: 0 };
    let mut source = BufReader::with_capacity(CHUNK_BYTES, source);
    let cut = match first_byte(&mut source) {
        Ok(Some(b'[')) => cutter.array(source),
        Ok(_) => cutter.lines(source),
        Err(error) => Err(error),
    };
    if let Err(error) = cut {
        cutter.put(SourceChunk::Failure(error));
    }
}
