//! The files of a bank. Whatever else lies there is left alone: nothing is followed out of the directory, nothing is
//! read beyond the bounds of a bank, and a file changes by changing places with a new one, so that no moment shows half
//! of it.

use std::collections::BTreeMap;
use std::fs::{self, File, Metadata};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use reasoning_bank_actors::ports::{BankFileStamp, BankOnDisk, LeftAlone, StagedFile};
use reasoning_bank_domain::bank::{BANK_FILE_MAX_BYTES, BANK_MAX_BYTES, BANK_MAX_FILES, BankPath, has_conflict};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use uuid::Uuid;

use super::{is_temporary, stamp};
use crate::files::{create_dir, remove_if_there, sync, sync_dir, unless_gone};
use crate::ownership::give_file;

/// The names of files that are being written begin with this.
pub(super) const TEMPORARY: &str = ".reasoning-bank-";
/// The most entries of a directory tree that are looked at.
const MAX_ENTRIES: usize = 20_000;
/// The most levels of nested folders.
const MAX_DEPTH: usize = 3;

pub(super) struct FileTree {
    dir: PathBuf,
    /// The checkout that the directory must not lead out of.
    checkout: Option<PathBuf>,
}

/// The form of a file, which a new text keeps.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct FileForm {
    has_mark: bool,
    has_carriage_returns: bool,
}

const MARK: char = '\u{feff}';

impl FileForm {
    /// Reads a text without what belongs to the form of its file.
    fn decode(text: &str) -> (String, Self) {
        let bare = text.strip_prefix(MARK);
        let (has_mark, bare) = (bare.is_some(), bare.unwrap_or(text));
        let pairs = bare.matches("\r\n").count();
        let has_carriage_returns =
            pairs > 0 && pairs == bare.matches('\n').count() && pairs == bare.matches('\r').count();
        let text = if has_carriage_returns { bare.replace("\r\n", "\n") } else { bare.to_owned() };
        (text, Self { has_mark, has_carriage_returns })
    }

    fn encode(self, text: &str) -> String {
        let mut encoded = if self.has_mark { MARK.to_string() } else { String::new() };
        match self.has_carriage_returns {
            true => encoded.push_str(&text.replace('\n', "\r\n")),
            false => encoded.push_str(text),
        }
        encoded
    }
}

/// The files that a walk through the directory met.
#[derive(Default)]
struct Walk {
    temporary: Vec<PathBuf>,
    files: Vec<(BankPath, Metadata)>,
    left_alone: BTreeMap<String, LeftAlone>,
    entries: usize,
}

impl FileTree {
    pub(super) fn own(dir: PathBuf) -> Self {
        Self { dir, checkout: None }
    }

    /// Finds an adopted folder.
    ///
    /// # Errors
    /// It leads out of the checkout.
    pub(super) fn in_checkout(checkout: &Path, folder: &Path) -> io::Result<Self> {
        let gone = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => io::Error::new(
                io::ErrorKind::InvalidInput,
                format!(
                    "lies in {} of the checkout {}, which is not there any more; clone it there again, or run the \
                     command in another checkout of it",
                    folder.display(),
                    checkout.display()
                ),
            ),
            _ => error,
        };
        let tree = Self { dir: checkout.join(folder), checkout: Some(checkout.canonicalize().map_err(gone)?) };
        tree.refuse_outside()?;
        Ok(tree)
    }

    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    pub(super) fn is_in_checkout(&self) -> bool {
        self.checkout.is_some()
    }

    fn refuse_outside(&self) -> io::Result<()> {
        let Some(checkout) = &self.checkout else { return Ok(()) };
        match unless_gone(self.dir.canonicalize())? {
            Some(real) if !real.starts_with(checkout) => Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("{} leads out of the checkout; adopt a folder of the checkout itself", self.dir.display()),
            )),
            _ => Ok(()),
        }
    }

    pub(super) fn look(&self) -> io::Result<Vec<BankFileStamp>> {
        let walk = self.walk()?;
        let mut stamps: Vec<_> =
            walk.files.into_iter().map(|(path, metadata)| stamp(path.into(), &metadata)).collect::<io::Result<_>>()?;
        stamps.sort_unstable_by(|one, other| one.path.cmp(&other.path));
        Ok(stamps)
    }

    pub(super) fn read(&self) -> io::Result<BankOnDisk> {
        self.refuse_outside()?;
        let Walk { mut files, left_alone, .. } = self.walk()?;
        files.sort_unstable_by(|one, other| one.0.cmp(&other.0));
        let mut read = BankOnDisk { left_alone, ..BankOnDisk::default() };
        let mut room = BANK_MAX_BYTES;
        for (path, metadata) in files {
            if metadata.len() > BANK_FILE_MAX_BYTES as u64 {
                read.left_alone.insert(path.into(), LeftAlone::TooLarge);
            } else if read.files.len() == BANK_MAX_FILES || metadata.len() > room as u64 {
                read.left_alone.insert(path.into(), LeftAlone::TooMany);
            } else {
                match text_of(&self.dir.join(path.as_str())) {
                    Ok(Some((text, _))) => {
                        room = room.saturating_sub(text.len());
                        read.files.insert(path, text);
                    }
                    Ok(None) => {}
                    Err(why) => {
                        read.left_alone.insert(path.into(), why);
                    }
                }
            }
        }
        Ok(read)
    }

    fn walk(&self) -> io::Result<Walk> {
        let mut walk = Walk::default();
        self.walk_into("", 0, &mut walk)?;
        Ok(walk)
    }

    fn walk_into(&self, below: &str, depth: usize, walk: &mut Walk) -> io::Result<()> {
        let dir = self.dir.join(below);
        let unreadable = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", dir.display()));
        for entry in unless_gone(fs::read_dir(&dir)).map_err(unreadable)?.into_iter().flatten() {
            walk.entries += 1;
            if walk.entries > MAX_ENTRIES {
                walk.left_alone.insert(below.to_owned(), LeftAlone::TooMany);
                return Ok(());
            }
            let entry = entry?;
            let name = entry.file_name();
            if is_temporary(&name) {
                walk.temporary.push(entry.path());
                continue;
            }
            if name.as_encoded_bytes().starts_with(b".") {
                continue;
            }
            let Some(name) = name.to_str() else {
                walk.left_alone.insert(name.to_string_lossy().into_owned(), LeftAlone::NotUtf8);
                continue;
            };
            let path = if below.is_empty() { name.to_owned() } else { format!("{below}/{name}") };
            let Some(metadata) = unless_gone(entry.metadata())? else { continue };
            if metadata.is_dir() && name.ends_with(".md") {
                walk.left_alone.insert(path.clone(), LeftAlone::Folder);
            }
            if metadata.is_dir() && depth < MAX_DEPTH {
                self.walk_into(&path, depth + 1, walk)?;
            } else if metadata.is_dir() {
                walk.left_alone.insert(path, LeftAlone::TooDeep);
            } else if name.ends_with(".md") {
                let left_alone = match path.parse() {
                    Ok(path) if metadata.is_file() => {
                        walk.files.push((path, metadata));
                        continue;
                    }
                    Ok(_) if metadata.is_symlink() => LeftAlone::Link,
                    Ok(_) => LeftAlone::NoFile,
                    Err(_) => LeftAlone::BadName,
                };
                walk.left_alone.insert(path, left_alone);
            } else if metadata.is_symlink() {
                walk.left_alone.insert(path, LeftAlone::Link);
            } else if name.to_ascii_lowercase().ends_with(".md") {
                walk.left_alone.insert(path, LeftAlone::EndsInCapitals);
            }
        }
        Ok(())
    }

    /// Returns where a file of the bank is. No folder on the way to it is a link.
    fn place(&self, path: &BankPath) -> io::Result<PathBuf> {
        let relative = Path::new(path.as_str());
        let mut at = self.dir.clone();
        for part in relative.parent().into_iter().flat_map(Path::components) {
            at.push(part);
            if unless_gone(fs::symlink_metadata(&at))?.is_some_and(|found| !found.is_dir()) {
                return Err(io::Error::other(format!("{} is no folder", at.display())));
            }
        }
        Ok(self.dir.join(relative))
    }

    fn temporary(&self, path: &BankPath, name: &str) -> io::Result<PathBuf> {
        let is_ours = name.starts_with(TEMPORARY) && !name.contains('/');
        match is_ours {
            true => Ok(self.place(path)?.with_file_name(name)),
            false => Err(io::Error::other(format!("{name:?} is no temporary name"))),
        }
    }

    pub(super) fn stage(&self, path: &BankPath, text: &str) -> io::Result<String> {
        self.refuse_outside()?;
        let place = self.place(path)?;
        self.make_folder(&place)?;
        let existing = unless_gone(fs::symlink_metadata(&place))?.filter(Metadata::is_file);
        let form = text_of(&place).ok().flatten().map(|(_, form)| form).unwrap_or_default();
        let name = format!("{TEMPORARY}{}", Uuid::now_v7().simple());
        let staged = place.with_file_name(&name);
        let mode = if self.is_in_checkout() { 0o666 } else { 0o600 };
        let written = (|| {
            let mut file = File::options().write(true).create_new(true).mode(mode).open(&staged)?;
            give_file(&file, folder(&staged), staged.file_name());
            file.write_all(form.encode(text).as_bytes())?;
            if let Some(existing) = &existing {
                file.set_permissions(existing.permissions())?;
            }
            sync(&staged, &file)?;
            sync_dir(folder(&staged))
        })();
        match written {
            Ok(()) => Ok(name),
            Err(error) => {
                remove_if_there(&staged)?;
                Err(error)
            }
        }
    }

    /// Makes the folder of a file. In a checkout it is as readable as others there.
    fn make_folder(&self, place: &Path) -> io::Result<()> {
        let dir = folder(place);
        match self.is_in_checkout() {
            true => fs::create_dir_all(dir),
            false => create_dir(dir),
        }
    }

    pub(super) fn staged(&self, path: &BankPath, name: &str) -> io::Result<StagedFile> {
        Ok(match text_of(&self.temporary(path, name)?) {
            Ok(Some((text, _))) => StagedFile::Text(text),
            Ok(None) => StagedFile::Missing,
            Err(_) => StagedFile::Other,
        })
    }

    pub(super) fn swap(&self, path: &BankPath, name: &str, is_new: bool) -> io::Result<bool> {
        let (place, staged) = (self.place(path)?, self.temporary(path, name)?);
        // A file that is no text of the bank stays where it is.
        if text_of(&place).is_err() {
            return Ok(false);
        }
        let flags = if is_new { RenameFlags::NOREPLACE } else { RenameFlags::EXCHANGE };
        match renameat_with(CWD, &staged, CWD, &place, flags).map_err(io::Error::from) {
            Ok(()) => {}
            Err(error) if is_unsupported(&error) => return replace_by_link(&staged, &place, is_new),
            Err(error) if matches!(error.kind(), io::ErrorKind::AlreadyExists | io::ErrorKind::NotFound) => {
                return Ok(false);
            }
            Err(error) => return Err(error),
        }
        sync_dir(folder(&place))?;
        Ok(true)
    }

    pub(super) fn discard(&self, path: &BankPath, name: &str) -> io::Result<()> {
        remove_if_there(&self.temporary(path, name)?)
    }

    /// Removes what was staged, except what is no text or has a conflict: that is somebody's.
    pub(super) fn remove_left_over(&self) -> io::Result<()> {
        let is_text = |path: &&PathBuf| matches!(text_of(path), Ok(Some(_)));
        self.walk()?.temporary.iter().filter(is_text).try_for_each(|path| remove_if_there(path))
    }
}

/// Says whether a file system cannot let two files change places.
fn is_unsupported(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(22 | 38 | 95)) || error.kind() == io::ErrorKind::Unsupported
}

/// Lets a staged text change places with its file in steps, where the file system cannot exchange the two. The file
/// that is replaced is linked first.
fn replace_by_link(staged: &Path, place: &Path, is_new: bool) -> io::Result<bool> {
    let answer = |result: io::Result<()>| match result {
        Ok(()) => Ok(true),
        Err(error) if matches!(error.kind(), io::ErrorKind::AlreadyExists | io::ErrorKind::NotFound) => Ok(false),
        Err(error) => Err(error),
    };
    if is_new {
        let linked = answer(fs::hard_link(staged, place))?;
        if linked {
            fs::remove_file(staged)?;
            sync_dir(folder(place))?;
        }
        return Ok(linked);
    }
    let aside = staged.with_extension("aside");
    if !answer(fs::hard_link(place, &aside))? {
        return Ok(false);
    }
    fs::rename(staged, place)?;
    fs::rename(&aside, staged)?;
    sync_dir(folder(place))?;
    Ok(true)
}

fn folder(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new("."))
}

/// Reads a file of a bank, where it is there and is one.
fn text_of(path: &Path) -> Result<Option<(String, FileForm)>, LeftAlone> {
    // a pipe in the place of the file would keep the reader waiting, a link would lead away
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let opened = File::options().read(true).custom_flags(flags.bits().cast_signed()).open(path);
    let Some(file) = unless_gone(opened).map_err(|_| LeftAlone::Unreadable)? else { return Ok(None) };
    if !file.metadata().is_ok_and(|metadata| metadata.is_file()) {
        return Err(LeftAlone::NoFile);
    }
    let mut bytes = Vec::new();
    file.take(BANK_FILE_MAX_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(|_| LeftAlone::Unreadable)?;
    if bytes.len() > BANK_FILE_MAX_BYTES {
        return Err(LeftAlone::TooLarge);
    }
    let text = String::from_utf8(bytes).map_err(|_| LeftAlone::NotUtf8)?;
    if has_conflict(&text) {
        return Err(LeftAlone::Conflicted);
    }
    Ok(Some(FileForm::decode(&text)))
}
