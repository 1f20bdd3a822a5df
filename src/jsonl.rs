//! JSON Lines, or one JSON array, read an item at a time. Memory is bounded by one line, and problems are told by line
//! and field, all of them up to a bound. What the items mean is the matter of the caller.

use std::fmt;
use std::io::{self, BufRead, BufReader, Read};
use std::marker::PhantomData;

use reasoning_bank_domain::safety::secrets::scrub;
use serde::de::{DeserializeOwned, Deserializer};

use self::items::{Items, Next};
pub(crate) use self::parallel::read_on_all_cores;
pub(crate) use self::values::Values;

mod items;
mod parallel;
mod values;

/// The bound is above the longest memory with its vectors, and above the trace of the longest solve.
const THING_MAX_BYTES: usize = 16 * 1024 * 1024;
/// The rest is not looked at after this many problems.
const MOST_PROBLEMS: usize = 20;
const UNTIL_FIELD: usize = 300;

/// The problem of one item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ItemProblem {
    /// The field is empty where no single one is to blame.
    pub(crate) field: String,
    pub(crate) problem: String,
}

impl ItemProblem {
    pub(crate) fn new(field: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { field: field.into(), problem: problem.into() }
    }
}

/// A problem with the place it is at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LocatedProblem {
    /// The place is `line 3`, or `item 3` of an array.
    place: String,
    what: ItemProblem,
}

impl fmt::Display for LocatedProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, what: ItemProblem { field, problem } } = self;
        if field.is_empty() { write!(f, "{place}: {problem}") } else { write!(f, "{place}, {field}: {problem}") }
    }
}

#[derive(Debug)]
pub(crate) enum ReadError {
    Io(io::Error),
    /// The item was read, and could not be taken.
    NotTaken(io::Error),
    /// There are at most 20 problems, in order.
    Bad(Vec<LocatedProblem>),
}

impl fmt::Display for ReadError {
    /// Writes one problem a line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) | Self::NotTaken(error) => write!(f, "{error}"),
            Self::Bad(problems) => {
                let lines: Vec<String> = problems.iter().map(|problem| format!("\n  {problem}")).collect();
                let rest = if problems.len() == MOST_PROBLEMS { "\n  what comes after was not checked" } else { "" };
                write!(f, "{}{rest}", lines.concat())
            }
        }
    }
}

/// The reason why `each` does not take an item.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// Reading goes on with the next item.
    Bad(Vec<ItemProblem>),
    Io(io::Error),
}

/// Hands every item to `each`, together with its place. Blank lines are no items.
///
/// # Errors
/// The error has all problems, those of `each` included, once everything was looked at. Or reading failed.
pub(crate) fn read<T: DeserializeOwned>(
    source: impl Read,
    each: impl FnMut(&str, T) -> Result<(), Refusal>,
) -> Result<(), ReadError> {
    let mut source = BufReader::new(source);
    let mut reading = ItemReader { each, problems: Vec::new(), failure: None, form: PhantomData };
    let is_array = first_byte(&mut source).map_err(ReadError::Io)? == Some(b'[');
    if is_array { reading.array(source) } else { reading.lines(source) }.map_err(ReadError::Io)?;
    match (reading.failure, reading.problems) {
        (Some(error), _) => Err(ReadError::Io(error)),
        (None, problems) if problems.is_empty() => Ok(()),
        (None, problems) => Err(ReadError::Bad(problems)),
    }
}

/// The mark that some programs put before a text in UTF-8.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// Finds the first byte that is no white space, and leaves it where it is. There is none where a whole buffer is white
/// space. A byte order mark before all of that is passed over.
fn first_byte(source: &mut impl BufRead) -> io::Result<Option<u8>> {
    if source.fill_buf()?.starts_with(BYTE_ORDER_MARK) {
        source.consume(BYTE_ORDER_MARK.len());
    }
    let seen = source.fill_buf()?;
    Ok(seen.iter().copied().find(|byte| !byte.is_ascii_whitespace()))
}

struct ItemReader<T, F> {
    each: F,
    problems: Vec<LocatedProblem>,
    failure: Option<io::Error>,
    form: PhantomData<T>,
}

impl<T: DeserializeOwned, F: FnMut(&str, T) -> Result<(), Refusal>> ItemReader<T, F> {
    fn lines(&mut self, mut source: impl BufRead) -> io::Result<()> {
        let mut line = Vec::new();
        let mut number = 0_u64;
        while !self.is_over() {
            line.clear();
            if source.by_ref().take(THING_MAX_BYTES as u64 + 1).read_until(b'\n', &mut line)? == 0 {
                break;
            }
            number += 1;
            let place = format!("line {number}");
            if line.len() > THING_MAX_BYTES {
                self.bad(&place, too_long());
                break;
            }
            if !line.trim_ascii().is_empty() {
                self.take(&place, thing_of(&line));
            }
        }
        Ok(())
    }

    fn array(&mut self, source: impl BufRead) -> io::Result<()> {
        let (mut items, mut item, mut number) = (Items::new(source, THING_MAX_BYTES), Vec::new(), 0_u64);
        while !self.is_over() {
            let next = items.next(&mut item)?;
            number += 1;
            match next {
                Next::Item => self.take(&format!("item {number}"), thing_of(&item)),
                Next::End => break,
                Next::TooLong => {
                    self.bad(&format!("item {number}"), too_long());
                    break;
                }
                Next::Broken(problem) => {
                    self.bad(&format!("item {number}"), ItemProblem::new("", problem));
                    break;
                }
            }
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.failure.is_some() || self.problems.len() >= MOST_PROBLEMS
    }

    fn take(&mut self, place: &str, thing: Result<T, ItemProblem>) {
        let refusal = match thing {
            Ok(thing) => (self.each)(place, thing).err(),
            Err(problem) => Some(Refusal::Bad(vec![problem])),
        };
        match refusal {
            None => {}
            Some(Refusal::Io(error)) => self.failure = Some(error),
            Some(Refusal::Bad(problems)) => problems.into_iter().for_each(|problem| self.bad(place, problem)),
        }
    }

    fn bad(&mut self, place: &str, what: ItemProblem) {
        if self.problems.len() < MOST_PROBLEMS {
            self.problems.push(LocatedProblem { place: place.to_owned(), what });
        }
    }
}

fn too_long() -> ItemProblem {
    ItemProblem::new("", format!("has more than {THING_MAX_BYTES} bytes"))
}

/// Parses the item of a line.
fn thing_of<T: DeserializeOwned>(line: &[u8]) -> Result<T, ItemProblem> {
    let mut json = serde_json::Deserializer::from_slice(line);
    parsed(&mut json).and_then(|thing| json.end().map(|()| thing).map_err(|e| of_json("", &e)))
}

/// Parses an item, or names the field that is wrong.
pub(crate) fn parsed<'de, T, D>(deserializer: D) -> Result<T, ItemProblem>
where
    T: DeserializeOwned,
    D: Deserializer<'de, Error = serde_json::Error>,
{
    serde_path_to_error::deserialize(deserializer).map_err(|error| {
        let path = error.path().to_string();
        of_json(if matches!(path.as_str(), "." | "?") { "" } else { &path }, error.inner())
    })
}

fn of_json(field: &str, error: &serde_json::Error) -> ItemProblem {
    let text = error.to_string();
    let said_here = text.rsplit_once(" at line ").map_or(text.as_str(), |(message, _)| message);
    match error.column() {
        0 => ItemProblem::new(field, said(said_here)),
        column => ItemProblem::new(field, format!("{} (column {column})", said(said_here))),
    }
}

/// Cuts and scrubs the words of a parser: it quotes what it stumbles over, which may be long, or a secret.
fn said(message: &str) -> String {
    let scrubbed = scrub(message).text;
    match scrubbed.char_indices().nth(UNTIL_FIELD) {
        Some((end, _)) => format!("{}…", &scrubbed[..end]),
        None => scrubbed.into_owned(),
    }
}

#[cfg(test)]
mod tests;
