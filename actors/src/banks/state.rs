//! BankState is what is known of the files of a bank: how they were when they were last read and written, and what is
//! ahead of them. Updates change it, and what a person changed on the disk is merged into it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use jiff::Timestamp;
use reasoning_bank_domain::bank::{
    BankFiles, BankMetadata, BankPath, RenamedHeadings, addition_heading, merge, new_pieces, template_text,
};
use reasoning_bank_domain::memory::ids::KeyedRequestId;
use serde::{Deserialize, Serialize};

use super::notice::{BankNotice, NoticeReader, NoticeSeverity};
use crate::ports::BankOnDisk;

/// A bank remembers this many updates by the number that their conversation gave them, or by their key.
const MAX_SEEN: usize = 1_000;
/// A bank remembers the metadata of this many pieces.
const MAX_METADATA: usize = 5_000;
/// A bank remembers of this many pieces that they were filed.
const MAX_FILED: usize = 20_000;
/// A bank remembers this many notices.
const MAX_NOTICES: usize = 10;
/// A bank remembers of this many callers without a session what they were told.
const MAX_CALLERS: usize = 200;

/// An update as its conversation numbers it.
pub(super) type UpdateKey = (String, u64);

/// Returns the key of a request of a client that has one. No name of a conversation or a writer ends with a line break.
pub(super) fn key_of_request(request: KeyedRequestId) -> UpdateKey {
    (format!("{request}\n"), 0)
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct BankState {
    /// It grows with each base. A frame of the journal belongs to the base of its generation.
    pub(super) generation: u64,
    base: BankFiles,
    /// The texts that differ from the base.
    ahead: BankFiles,
    seen: VecDeque<UpdateKey>,
    /// The digests of the texts of those updates, as far as they are known.
    #[serde(default)]
    digests: VecDeque<(UpdateKey, String)>,
    /// What is known of pieces, by their hashes.
    metadata: BTreeMap<String, BankMetadata>,
    /// The hashes of the pieces that updates filed. All others are somebody's own.
    #[serde(default)]
    filed: BTreeSet<String>,
    /// The headings that a person renamed since the bank read their files first.
    #[serde(default)]
    renamed: RenamedHeadings,
    notices: VecDeque<(u64, BankNotice)>,
    next_notice: u64,
    /// The notices of what lasts.
    #[serde(default)]
    lasting: BTreeMap<LastingCause, LastingNotice>,
    /// The numbers of the last notices that callers without a session were told.
    #[serde(default)]
    told: BTreeMap<String, u64>,
    /// The time of the first update.
    #[serde(default)]
    pub(super) begun_at: Option<Timestamp>,
    pub(super) updated_at: Option<Timestamp>,
    pub(super) synced_at: Option<Timestamp>,
    /// The time at which it was looked at last whether something may become shorter. Records call it so.
    #[serde(rename = "optimized_at")]
    pub(super) looked_at: Option<Timestamp>,
    /// The time at which these texts were made shorter. None where nothing was, or what was is restored.
    #[serde(default)]
    pub(super) shortened_at: Option<Timestamp>,
    /// The tokens that were left when it was looked at.
    #[serde(default)]
    pub(super) optimized_tokens: usize,
    /// The updates that are in no file yet.
    pub(super) pending: u64,
}

/// A cause that a notice tells of for as long as it lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum LastingCause {
    FilesLeftAlone,
    FolderMissing,
    TooLong,
}

/// Forgets the updates that came first, where there are too many.
fn forget_surplus<T>(updates: &mut VecDeque<T>) {
    let surplus = updates.len().saturating_sub(MAX_SEEN);
    updates.drain(..surplus);
}

/// The number of the notice of a cause that lasts, and what it is about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct LastingNotice {
    about: String,
    number: u64,
}

/// One update, as the journal holds it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct UpdateFrame {
    pub(super) generation: u64,
    pub(super) at: Timestamp,
    pub(super) key: Option<UpdateKey>,
    /// The digest of what was said, where there is a key.
    #[serde(default)]
    pub(super) digest: Option<String>,
    /// The files that it changed, whole: what an update did must not depend on the version that reads it again.
    pub(super) changed: BankFiles,
    /// The metadata of the pieces that it added, by their hashes.
    pub(super) metadata: BTreeMap<String, BankMetadata>,
    pub(super) notices: Vec<BankNotice>,
}

impl UpdateFrame {
    /// Makes an update that changes files and tells nothing. It gets its generation where it is appended.
    pub(super) fn of_texts(changed: BankFiles, at: Timestamp) -> Self {
        Self { generation: 0, at, key: None, digest: None, changed, metadata: BTreeMap::new(), notices: Vec::new() }
    }
}

impl BankState {
    pub(super) fn base(&self) -> &BankFiles {
        &self.base
    }

    pub(super) fn ahead(&self) -> &BankFiles {
        &self.ahead
    }

    /// Returns the bank as it is, with what is not in the files yet.
    pub(super) fn texts(&self) -> BankFiles {
        let ahead = self.ahead.iter();
        self.base.iter().chain(ahead).map(|(path, text)| (path.clone(), text.clone())).collect()
    }

    pub(super) fn text(&self, path: &BankPath) -> Option<&String> {
        self.ahead.get(path).or_else(|| self.base.get(path))
    }

    pub(super) fn has_seen(&self, key: &UpdateKey) -> bool {
        self.seen.contains(key)
    }

    /// Returns the digest of the text that was filed under a key.
    pub(super) fn digest_of(&self, key: &UpdateKey) -> Option<&str> {
        self.digests.iter().rev().find(|(of, _)| of == key).map(|(_, digest)| digest.as_str())
    }

    /// Returns what is known of pieces, by their hashes.
    pub(super) fn metadata(&self) -> &BTreeMap<String, BankMetadata> {
        &self.metadata
    }

    pub(super) fn renamed(&self) -> &RenamedHeadings {
        &self.renamed
    }

    /// Carries out an update. The same update on the same state makes the same state.
    pub(super) fn update(&mut self, frame: UpdateFrame) {
        self.pending += u64::from(!frame.changed.is_empty());
        self.file(frame.changed, &BTreeSet::new());
        for (piece, mut of) in frame.metadata {
            // A piece that is said again is as important as before.
            if let Some(before) = self.metadata.get(&piece) {
                of.importance = of.importance.max(before.importance);
                of.tags.extend(before.tags.iter().filter(|tag| !of.tags.contains(tag)).cloned().collect::<Vec<_>>());
            }
            self.metadata.insert(piece, of);
        }
        self.forget_metadata();
        if let Some(key) = frame.key {
            self.see(key, frame.digest);
        }
        frame.notices.into_iter().for_each(|notice| self.add_notice(notice));
        self.begun_at.get_or_insert(frame.at);
        self.updated_at = Some(frame.at);
    }

    /// Notes that a request was carried out, and what its digest is.
    pub(super) fn see(&mut self, key: UpdateKey, digest: Option<String>) {
        self.digests.extend(digest.map(|digest| (key.clone(), digest)));
        self.seen.push_back(key);
        forget_surplus(&mut self.seen);
        forget_surplus(&mut self.digests);
    }

    /// Forgets the metadata that is too much: first that of pieces that are gone, then that of the oldest ones which
    /// are not important.
    fn forget_metadata(&mut self) {
        if self.metadata.len() <= MAX_METADATA {
            return;
        }
        let there = self.pieces();
        self.metadata.retain(|piece, _| there.contains(piece));
        let age = |of: &BankMetadata| (of.importance, of.timestamp);
        let mut all: Vec<_> = self.metadata.iter().map(|(piece, of)| (age(of), piece.clone())).collect();
        all.sort();
        // Some room is left, so that this is not done at each update.
        for (_, piece) in all.into_iter().rev().skip(MAX_METADATA / 10 * 9) {
            self.metadata.remove(&piece);
        }
    }

    /// Returns the hashes of all pieces of the bank.
    fn pieces(&self) -> BTreeSet<String> {
        self.texts().values().flat_map(|text| new_pieces("", text)).collect()
    }

    /// Makes these texts the bank, of which what is new was not written by a person, but for the pieces with these
    /// hashes.
    pub(super) fn file(&mut self, texts: BankFiles, own: &BTreeSet<String>) {
        for (path, text) in &texts {
            let before = self.text(path).map(String::as_str).unwrap_or_default();
            self.filed.extend(new_pieces(before, text).difference(own).cloned());
        }
        self.set_texts(texts);
        if self.filed.len() > MAX_FILED {
            let there = self.pieces();
            self.filed.retain(|piece| there.contains(piece));
        }
        while self.filed.len() > MAX_FILED {
            self.filed.pop_first();
        }
    }

    /// Says of a piece, by its hash, whether an update filed it.
    pub(super) fn is_filed(&self, piece: &str) -> bool {
        self.filed.contains(piece)
    }

    /// Makes these texts the bank. A file that is not among them stays as it is.
    pub(super) fn set_texts(&mut self, texts: BankFiles) {
        for (path, text) in texts {
            match self.base.get(&path) == Some(&text) {
                true => self.ahead.remove(&path),
                false => self.ahead.insert(path, text),
            };
        }
    }

    /// Puts all texts that were read last among those that are to be written. The folder of the bank was made anew, so
    /// none of them is in it.
    pub(super) fn put_base_ahead(&mut self) {
        for (path, text) in std::mem::take(&mut self.base) {
            self.ahead.entry(path).or_insert(text);
        }
    }

    /// Takes over what is on the disk. What was changed there is merged by section, and what is left alone there stays
    /// as it was. Says whether anything changed.
    pub(super) fn absorb(&mut self, disk: &BankOnDisk, at: Timestamp) -> bool {
        let paths: BTreeSet<BankPath> = self.base.keys().chain(disk.files.keys()).cloned().collect();
        let mut changed = false;
        for path in paths {
            if self.base.get(&path) == disk.files.get(&path) || disk.left_alone.contains_key(path.as_str()) {
                continue;
            }
            changed = true;
            let theirs = disk.files.get(&path).cloned();
            let base = self.base.get(&path).cloned();
            self.set_base(&path, theirs.clone());
            let Some(ours) = self.ahead.remove(&path) else {
                match (&base, &theirs) {
                    (Some(base), Some(theirs)) => self.renamed.follow(&path, base, theirs),
                    _ => self.renamed.forget(&path),
                }
                continue;
            };
            match theirs {
                Some(theirs) => {
                    // An update of a file that could not be read, or was not there, began with the template.
                    let base = base.as_deref().or_else(|| template_text(&path)).unwrap_or_default();
                    self.merge_in(&path, base, &theirs, &ours, at);
                }
                None => {
                    self.ahead.insert(path.clone(), ours);
                    let description = format!("{path} was removed while an update of it was on its way; it is back");
                    self.notice(NoticeSeverity::Warning, description, at);
                }
            }
        }
        changed
    }

    /// Merges what a person made of a file with what is ahead of it.
    pub(super) fn merge_in(&mut self, path: &BankPath, base: &str, theirs: &str, ours: &str, at: Timestamp) {
        self.renamed.follow(path, base, theirs);
        let heading = addition_heading(at);
        let text = match merge(base, theirs, ours, &heading) {
            Ok(merged) => {
                for section in &merged.conflicts {
                    let description = format!(
                        "{path}, {section}: a person changed it as well; their version stands, and what was added comes \
                         after it"
                    );
                    self.notice(NoticeSeverity::Warning, description, at);
                }
                merged.text
            }
            Err(problem) => {
                let description = format!("{path}: {problem}; both versions are in it, a person's first");
                self.notice(NoticeSeverity::Error, description, at);
                format!("{}\n\n## {heading}\n\n{ours}", theirs.trim_end())
            }
        };
        self.set_texts(BTreeMap::from([(path.clone(), text)]));
    }

    /// Notes what a file on the disk is now.
    pub(super) fn set_base(&mut self, path: &BankPath, text: Option<String>) {
        if self.ahead.get(path).is_some_and(|ahead| Some(ahead) == text.as_ref()) {
            self.ahead.remove(path);
        }
        match text {
            Some(text) => self.base.insert(path.clone(), text),
            None => self.base.remove(path),
        };
    }

    pub(super) fn notice(&mut self, severity: NoticeSeverity, description: String, at: Timestamp) {
        self.add_notice(BankNotice { timestamp: at, description, severity });
    }

    /// Adds a notice, in place of the last one where that says the same.
    fn add_notice(&mut self, notice: BankNotice) {
        if self.notices.back().is_some_and(|(_, last)| last.description == notice.description) {
            self.notices.pop_back();
        }
        self.next_notice += 1;
        self.notices.push_back((self.next_notice, notice));
        let surplus = self.notices.len().saturating_sub(MAX_NOTICES);
        self.notices.drain(..surplus);
    }

    pub(super) fn forget_notices(&mut self) {
        self.notices.clear();
        self.lasting.clear();
    }

    /// Forgets the notices that name something.
    pub(super) fn forget_notices_of(&mut self, named: &str) {
        self.notices.retain(|(_, notice)| !notice.description.contains(named));
    }

    /// Tells of a cause that lasts, once for each thing that it is `about`, with a description. None where the cause is
    /// gone, and the notice of it goes. Says whether anything changed.
    pub(super) fn lasts(
        &mut self,
        cause: LastingCause,
        severity: NoticeSeverity,
        about: Option<(String, String)>,
        at: Timestamp,
    ) -> bool {
        let is_there = |number: u64| self.notices.iter().any(|(of, _)| *of == number);
        match (&about, self.lasting.get(&cause)) {
            (None, None) => return false,
            (Some((about, _)), Some(last)) if *about == last.about && is_there(last.number) => return false,
            _ => {}
        }
        if let Some(last) = self.lasting.remove(&cause) {
            self.notices.retain(|(number, _)| *number != last.number);
        }
        if let Some((about, description)) = about {
            self.notice(severity, description, at);
            self.lasting.insert(cause, LastingNotice { about, number: self.next_notice });
        }
        true
    }

    /// Gives the notice of a cause that lasts a new number, so that everybody is told of it again. Says whether there
    /// is one.
    pub(super) fn tell_again(&mut self, cause: LastingCause) -> bool {
        let Some(last) = self.lasting.get_mut(&cause) else { return false };
        let index = self.notices.iter().position(|(number, _)| *number == last.number);
        let Some((_, notice)) = index.and_then(|index| self.notices.remove(index)) else { return false };
        self.next_notice += 1;
        last.number = self.next_notice;
        self.notices.push_back((self.next_notice, notice));
        true
    }

    /// Returns the notices for a reader: all of them for a session, which remembers itself what it was told.
    pub(super) fn notices_for(&self, reader: &NoticeReader) -> Vec<(u64, BankNotice)> {
        let told = match reader {
            NoticeReader::Session(_) => 0,
            NoticeReader::Caller(caller) => self.told.get(caller).copied().unwrap_or_default(),
            NoticeReader::Nobody => u64::MAX,
        };
        self.notices.iter().filter(|(number, _)| *number > told).cloned().collect()
    }

    /// Notes that a caller without a session was told of all notices.
    pub(super) fn note_told(&mut self, reader: &NoticeReader) {
        let NoticeReader::Caller(caller) = reader else { return };
        self.told.insert(caller.clone(), self.next_notice);
        while self.told.len() > MAX_CALLERS {
            self.told.pop_first();
        }
    }

    /// Returns the notices with their numbers, which grow.
    pub(super) fn notices(&self) -> Vec<(u64, BankNotice)> {
        self.notices.iter().cloned().collect()
    }
}
