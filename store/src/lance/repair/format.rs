//! The number of the format that a directory has, and what is checked before a directory is used: that this version
//! knows the format, and that the vectors are those of its embedder.

use std::path::Path;

use reasoning_bank_actors::ports::{Fingerprint, StoreError};

use crate::files::write_synced;
use crate::lance::errors::unusable;
use crate::lance::layout::{Layout, read_if_exists};
use crate::lance::threads::blocking;
use crate::lance::vectors::fingerprint::{Stamp, check_embedder};
use crate::lance::vectors::next_passages;

/// The number of the format, which is raised by a change that older versions would misread. Since 2, traces and
/// memories have their outcome in a column, traces their time, and passages the revision of their memory in their id.
/// Since 3, memories have the signature of their error and their readers in columns, traces have revisions, and there
/// are jobs. Since 4, passages have their index terms in a column, over which the text index is built, and time,
/// outcome, source and difficulty of their memory in others. Since 5, requests with a key are kept. Since 6, traces
/// have the labels of their episodes in columns, and the state and the vectors of episodes have tables of their own.
/// Since 7, memories have the stage of a pattern in a column, and there is a history.
pub(crate) const FORMAT_VERSION: u32 = 7;

/// The largest number of characters that are shown of a text that should be a number and is not.
const SHOWN_CHARS: usize = 40;

/// Stamps a new directory, and refuses one of a newer format or of another embedder. Returns the format, which may be
/// an earlier one. The write lock must be held.
pub(in crate::lance) async fn check(layout: &Layout, fingerprint: &Fingerprint) -> Result<u32, StoreError> {
    let layout = layout.clone();
    let expected = fingerprint.clone();
    blocking(move || {
        let format = check_format(&layout.format_version())?;
        next_passages::finish_switch(&layout)?;
        match Stamp::read(&layout)? {
            Some(found) => found.check(&expected)?,
            None => Stamp::from(&expected).write(&layout)?,
        }
        Ok(format)
    })
    .await?
}

/// Checks a directory that can only be read. What would have to be stamped or upgraded first cannot be read.
pub(super) async fn check_for_reading(layout: &Layout, fingerprint: &Fingerprint) -> Result<(), StoreError> {
    let (layout, fingerprint) = (layout.clone(), fingerprint.clone());
    let first = |what: &str| Err(StoreError::Unusable(format!("{what}, which needs writing")));
    blocking(move || {
        match stamped_format(&layout.format_version())? {
            Some(FORMAT_VERSION) => {}
            Some(earlier) => {
                return first(&format!("its format {earlier} must be upgraded to {FORMAT_VERSION} before it is read"));
            }
            // a bank that nobody could make yet has nothing in it
            None => return Ok(()),
        }
        if next_passages::is_switching(&layout)? {
            return first("a change of the embedder must be finished before it is read");
        }
        match Stamp::read(&layout)? {
            Some(found) => found.check(&fingerprint),
            None => first("it does not say whose vectors it holds; that must be noted first"),
        }
    })
    .await?
}

/// Refuses to write when a newer version has upgraded the directory since it was opened, because what that version
/// added would be left out of what this one writes and erases; or when the vectors were made again by another embedder.
/// The write lock must be held.
pub(super) async fn check_again(layout: &Layout, fingerprint: &Fingerprint) -> Result<(), StoreError> {
    let (layout, fingerprint) = (layout.clone(), fingerprint.clone());
    blocking(move || {
        stamped_format(&layout.format_version())?;
        next_passages::finish_switch(&layout)?;
        check_embedder(&layout, &fingerprint)
    })
    .await?
}

fn check_format(path: &Path) -> Result<u32, StoreError> {
    match stamped_format(path)? {
        Some(format) => Ok(format),
        None => stamp_format(path).map(|()| FORMAT_VERSION),
    }
}

fn stamped_format(path: &Path) -> Result<Option<u32>, StoreError> {
    let Some(text) = read_if_exists(path)? else { return Ok(None) };
    let found: u32 = text.trim().parse().map_err(|_| {
        StoreError::Unusable(format!("{} holds {:?}, which is no number", path.display(), excerpt(&text)))
    })?;
    if found > FORMAT_VERSION { Err(StoreError::NewerFormat { found, known: FORMAT_VERSION }) } else { Ok(Some(found)) }
}

fn excerpt(text: &str) -> String {
    text.chars().take(SHOWN_CHARS).collect()
}

fn stamp_format(path: &Path) -> Result<(), StoreError> {
    write_synced(path, format!("{FORMAT_VERSION}\n").as_bytes()).map_err(|error| unusable(path, &error))
}

/// Stamps the present format on a directory whose tables have it and are synced.
pub(super) async fn stamp(layout: &Layout) -> Result<(), StoreError> {
    let path = layout.format_version();
    blocking(move || stamp_format(&path)).await?
}
