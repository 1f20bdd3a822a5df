//! Tests of streams that an attacker or another program wrote.

use std::collections::BTreeMap;

use jiff::Timestamp;
use tar::EntryType;
use uuid::Uuid;

use super::*;
use crate::backup::copying::sha256;

/// Keeps what comes below a directory.
struct KeptBelow<'a>(&'a Path);

impl Receiver for KeptBelow<'_> {
    fn begin(&mut self, _manifest: &BackupManifest) -> Result<(), BackupError> {
        Ok(())
    }

    fn file(&mut self, file: &BackupFile) -> Result<Option<(PathBuf, File)>, BackupError> {
        let path = self.0.join(file.path.replace('/', "-"));
        Ok(Some((path.clone(), File::create_new(&path).map_err(BackupError::io(&path))?)))
    }
}

fn manifest(files: &[(&str, &str)]) -> BackupManifest {
    let file = |(path, text): &(&str, &str)| BackupFile {
        path: (*path).to_owned(),
        bytes: text.len() as u64,
        sha256: sha256(text.as_bytes()),
    };
    BackupManifest {
        backup_format: BackupManifest::format(),
        id: Uuid::nil(),
        bank: Uuid::nil(),
        created_at: Timestamp::UNIX_EPOCH,
        version: "1".into(),
        store_format: 4,
        embedder: "e".into(),
        rows: BTreeMap::new(),
        workspaces: Vec::new(),
        files: files.iter().map(file).collect(),
    }
}

/// A stream with these entries behind the manifest, written as they are.
fn stream(manifest: &BackupManifest, entries: &[(&str, EntryType, &str)]) -> BackupSource {
    let (text, sum) = manifest.texts().unwrap();
    let text = String::from_utf8(text).unwrap();
    let heads = [(MANIFEST, EntryType::Regular, &*text), (MANIFEST_SUM, EntryType::Regular, &*sum)];
    let mut tar = tar::Builder::new(Vec::new());
    for (path, kind, content) in heads.iter().chain(entries) {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(*kind);
        // not `set_path`, which refuses the paths that these tests are about
        header.as_gnu_mut().unwrap().name[..path.len()].copy_from_slice(path.as_bytes());
        if kind.is_symlink() || kind.is_hard_link() {
            header.set_link_name_literal("/etc/passwd").unwrap();
        }
        header.set_size(content.len() as u64);
        header.set_cksum();
        tar.append(&header, content.as_bytes()).unwrap();
    }
    BackupSource::Stream(Box::new(io::Cursor::new(tar.into_inner().unwrap())))
}

fn read_all(source: BackupSource) -> (Result<Vec<FlawedFile>, BackupError>, BTreeMap<String, String>) {
    let top = tempfile::tempdir().unwrap();
    let dir = top.path().join("a/b/c");
    fs::create_dir_all(&dir).unwrap();
    let findings = read(source, &mut KeptBelow(&dir), &CancellationToken::new()).map(|(_, findings)| findings);
    assert_eq!(fs::read_dir(top.path()).unwrap().count(), 1, "something was written elsewhere");
    let kept = fs::read_dir(&dir).unwrap().map(|entry| {
        let path = entry.unwrap().path();
        (path.file_name().unwrap().to_str().unwrap().to_owned(), fs::read_to_string(path).unwrap())
    });
    (findings, kept.collect())
}

const FILES: [(&str, &str); 2] = [("lance/a", "one"), ("journal/b", "two")];

#[test]
fn a_stream_of_another_program_is_read() {
    use EntryType::{Directory, Regular};
    let entries = [("./bank/", Directory, ""), ("./bank/journal/b", Regular, "two"), ("bank/lance/a", Regular, "one")];
    let (findings, kept) = read_all(stream(&manifest(&FILES), &entries));
    assert_eq!(findings.unwrap(), []);
    assert_eq!(kept, BTreeMap::from([("lance-a".into(), "one".into()), ("journal-b".into(), "two".into())]));
}

#[test]
fn what_is_not_listed_is_named_and_not_taken() {
    use EntryType::Regular;
    let one = ("bank/lance/a", Regular, "one");
    let evil = [("../evil", Regular, "x"), ("/tmp/evil", Regular, "x"), ("bank/../../evil", Regular, "x"), one, one];
    let (findings, kept) = read_all(stream(&manifest(&FILES[..1]), &evil));
    let found: Vec<_> = findings.unwrap().into_iter().map(|finding| (finding.flaw, finding.path)).collect();
    assert_eq!(found.len(), 4, "{found:?}");
    assert!(found.iter().all(|(flaw, _)| *flaw == Flaw::Unexpected), "{found:?}");
    assert_eq!(kept, BTreeMap::from([("lance-a".into(), "one".into())]));
}

#[test]
fn links_and_devices_are_refused() {
    for kind in [EntryType::Symlink, EntryType::Link, EntryType::Char, EntryType::Fifo] {
        let (findings, kept) = read_all(stream(&manifest(&FILES[..1]), &[("bank/lance/a", kind, "")]));
        assert!(matches!(findings, Err(BackupError::NoBackup { .. })), "{kind:?}: {findings:?}");
        assert_eq!(kept, BTreeMap::new());
    }
}

#[test]
fn a_file_that_is_longer_than_listed_is_not_kept_to_its_end() {
    let long = "one and much more".repeat(100_000);
    let entries = [("bank/lance/a", EntryType::Regular, &*long), ("bank/journal/b", EntryType::Regular, "tw")];
    let (findings, kept) = read_all(stream(&manifest(&FILES), &entries));
    let changed = |path: &str| FlawedFile { flaw: Flaw::Changed, path: path.into() };
    assert_eq!(findings.unwrap(), [changed("bank/journal/b"), changed("bank/lance/a")]);
    assert_eq!(kept["lance-a"].len(), 4);
}

#[test]
fn a_link_in_a_directory_is_not_followed() {
    let top = tempfile::tempdir().unwrap();
    let manifest = manifest(&FILES);
    manifest.write(top.path()).unwrap();
    fs::create_dir_all(top.path().join("bank/lance")).unwrap();
    fs::write(top.path().join("secret"), "one").unwrap();
    std::os::unix::fs::symlink(top.path().join("secret"), top.path().join("bank/lance/a")).unwrap();
    let (findings, kept) = read_all(BackupSource::Directory(top.path().to_owned()));
    let found = |flaw, path: &str| FlawedFile { flaw, path: path.into() };
    let expected = [
        found(Flaw::Missing, "bank/journal/b"),
        found(Flaw::Unreadable, "bank/lance/a"),
        found(Flaw::Unexpected, "secret"),
    ];
    assert_eq!(findings.unwrap(), expected);
    assert_eq!(kept, BTreeMap::new());
}
