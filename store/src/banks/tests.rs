use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

use reasoning_bank_actors::ports::LeftAlone;

use super::*;

fn place(key: &BankKey, checkout: Option<&Path>) -> BankLocation {
    BankLocation { key: key.clone(), checkout: checkout.map(Path::to_owned) }
}

fn path(text: &str) -> BankPath {
    text.parse().unwrap()
}

#[test]
fn a_file_keeps_its_form_and_what_it_replaces_comes_out() {
    let data = tempfile::tempdir().unwrap();
    let banks = BankDirs::of(data.path());
    let bank = banks.open(&place(&BankKey::global(), None)).unwrap();
    let file = bank.shown_path().join("notes/a.md");
    create_dir(file.parent().unwrap()).unwrap();
    fs::write(&file, "\u{feff}# A\r\n\r\nline\r\n").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    assert_eq!(bank.read().unwrap().files[&path("notes/a.md")], "# A\n\nline\n");
    let name = bank.stage(&path("notes/a.md"), "# A\n\nline\nmore\n").unwrap();
    assert_eq!(bank.read().unwrap().files.len(), 1, "what is staged is no file of the bank");
    fs::write(&file, "a person was faster").unwrap();
    assert!(bank.swap(&path("notes/a.md"), &name, false).unwrap());
    assert_eq!(fs::read_to_string(&file).unwrap(), "\u{feff}# A\r\n\r\nline\r\nmore\r\n");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
    let out = StagedFile::Text("a person was faster".into());
    assert_eq!(bank.staged(&path("notes/a.md"), &name).unwrap(), out);
    bank.remove_left_over().unwrap();
    assert_eq!(bank.staged(&path("notes/a.md"), &name).unwrap(), StagedFile::Missing);
    let new = bank.stage(&path("notes/a.md"), "new").unwrap();
    assert!(!bank.swap(&path("notes/a.md"), &new, true).unwrap(), "a file is there");
    assert!(!bank.swap(&path("notes/b.md"), &new, false).unwrap(), "no file is there");
}

#[test]
fn what_is_no_file_of_a_bank_is_left_alone_and_named() {
    let data = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("secret.md"), "secret").unwrap();
    let banks = BankDirs::of(data.path());
    let bank = banks.open(&place(&BankKey::global(), None)).unwrap();
    let dir = bank.shown_path();
    create_dir(&dir.join("a/b/c/d")).unwrap();
    symlink(outside.path().join("secret.md"), dir.join("link.md")).unwrap();
    symlink(outside.path(), dir.join("folder")).unwrap();
    fs::write(dir.join("bytes.md"), [0xff, 0xfe]).unwrap();
    fs::write(dir.join("large.md"), vec![b'x'; (256 << 10) + 1]).unwrap();
    fs::write(dir.join("a/b/c/deep.md"), "deep").unwrap();
    fs::write(dir.join("picture.png"), "").unwrap();
    fs::write(dir.join("back\\slash.md"), "").unwrap();
    fs::write(dir.join("README.MD"), "").unwrap();
    assert!(Command::new("mkfifo").arg(dir.join("pipe.md")).status().unwrap().success());
    let conflict = "# A\r\n\r\n<<<<<<< HEAD\r\n- a\r\n=======\r\n- b\r\n>>>>>>> other\r\n";
    fs::write(dir.join("conflict.md"), conflict).unwrap();
    create_dir(&dir.join("progress.md")).unwrap();
    fs::write(dir.join("progress.md/inner.md"), "inner").unwrap();
    let read = bank.read().unwrap();
    assert_eq!(read.files.keys().map(BankPath::as_str).collect::<Vec<_>>(), ["a/b/c/deep.md", "progress.md/inner.md"]);
    let left_alone: Vec<_> = read.left_alone.iter().map(|(path, why)| (path.as_str(), *why)).collect();
    let expected = [
        ("README.MD", LeftAlone::EndsInCapitals),
        ("a/b/c/d", LeftAlone::TooDeep),
        ("back\\slash.md", LeftAlone::BadName),
        ("bytes.md", LeftAlone::NotUtf8),
        ("conflict.md", LeftAlone::Conflicted),
        ("folder", LeftAlone::Link),
        ("large.md", LeftAlone::TooLarge),
        ("link.md", LeftAlone::Link),
        ("pipe.md", LeftAlone::NoFile),
        ("progress.md", LeftAlone::Folder),
    ];
    assert_eq!(left_alone, expected);
    assert!(bank.stage(&path("folder/x.md"), "x").is_err());
    let name = bank.stage(&path("link.md"), "x").unwrap();
    assert!(!bank.swap(&path("link.md"), &name, false).unwrap());
    let name = bank.stage(&path("conflict.md"), "x").unwrap();
    assert!(!bank.swap(&path("conflict.md"), &name, false).unwrap());
    assert_eq!(fs::read_to_string(dir.join("conflict.md")).unwrap(), conflict);
    assert_eq!(fs::read_to_string(outside.path().join("secret.md")).unwrap(), "secret");
}

#[test]
fn an_adopted_folder_stays_in_its_checkout_and_is_never_removed() {
    let (data, checkout, outside) =
        (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let banks = BankDirs::of(data.path());
    let key: BankKey = "code:0123456789abcdef".parse().unwrap();
    for bad in ["../x", "/etc", "", "a/../../b"] {
        assert!(banks.adopt(&key, Path::new(bad)).is_err(), "{bad}");
    }
    banks.adopt(&key, Path::new("memory-bank")).unwrap();
    fs::create_dir(checkout.path().join("memory-bank")).unwrap();
    fs::write(checkout.path().join("memory-bank/a.md"), "a").unwrap();
    let bank = banks.open(&place(&key, Some(checkout.path()))).unwrap();
    assert!(bank.is_adopted());
    bank.append(b"{}").unwrap();
    assert_eq!(bank.journal().unwrap(), [b"{}"]);
    assert_eq!(fs::read_dir(checkout.path().join("memory-bank")).unwrap().count(), 1);
    assert!(!banks.open(&place(&key, None)).unwrap().is_adopted());
    assert_eq!(banks.list().unwrap(), std::slice::from_ref(&key));
    banks.remove(&key).unwrap();
    assert_eq!(fs::read_to_string(checkout.path().join("memory-bank/a.md")).unwrap(), "a");
    assert!(banks.list().unwrap().is_empty());
    banks.adopt(&key, Path::new("memory-bank")).unwrap();
    fs::remove_dir_all(checkout.path().join("memory-bank")).unwrap();
    symlink(outside.path(), checkout.path().join("memory-bank")).unwrap();
    assert!(banks.open(&place(&key, Some(checkout.path()))).is_err(), "it leads out of the checkout");
}

#[test]
fn records_are_whole_and_a_bank_has_twenty_versions() {
    let data = tempfile::tempdir().unwrap();
    let banks = BankDirs::of(data.path());
    let bank = banks.open(&place(&BankKey::global(), None)).unwrap();
    assert_eq!(bank.record(BankRecord::Base).unwrap(), None);
    bank.save_record(BankRecord::Base, b"text").unwrap();
    assert_eq!(bank.record(BankRecord::Base).unwrap().as_deref(), Some(&b"text"[..]));
    bank.append(br#"{"n":1}"#).unwrap();
    let journal = banks.records_of(&BankKey::global()).join("journal.log");
    let cut = fs::read(&journal).unwrap();
    fs::write(&journal, [&cut[..], &cut[..cut.len() - 2]].concat()).unwrap();
    bank.append(br#"{"n":2}"#).unwrap();
    assert_eq!(bank.journal().unwrap(), [&br#"{"n":1}"#[..], br#"{"n":2}"#], "what broke off hides nothing");
    crate::files::faults::fail_next_sync_below(&journal);
    assert!(bank.append(br#"{"n":3}"#).is_err());
    assert_eq!(bank.journal().unwrap().len(), 2, "what was not acknowledged is not there");
    for second in 1..=25 {
        bank.keep_version(Timestamp::from_second(second).unwrap(), b"v").unwrap();
    }
    let versions = bank.versions().unwrap();
    assert_eq!(
        (versions.len(), versions[0].as_second(), versions[19].as_second()),
        (20, 25, 1),
        "the first of the day stays"
    );
    let lock = bank.try_lock().unwrap();
    assert!(lock.is_some() && banks.open(&place(&BankKey::global(), None)).unwrap().try_lock().unwrap().is_none());
    drop(lock);
    let copy = tempfile::tempdir().unwrap();
    gather_banks(data.path(), copy.path()).unwrap();
    let copied = BankDirs::of(copy.path()).open(&place(&BankKey::global(), None)).unwrap();
    assert_eq!((copied.journal().unwrap().len(), copied.versions().unwrap().len()), (2, 20));
}

#[test]
fn what_is_no_text_stays_in_its_place_when_a_file_is_to_be_written() {
    let data = tempfile::tempdir().unwrap();
    let bank = BankDirs::of(data.path()).open(&place(&BankKey::global(), None)).unwrap();
    let file = bank.shown_path().join("a.md");
    create_dir(file.parent().unwrap()).unwrap();
    for content in [vec![0xff, 0xfe], vec![b'x'; (256 << 10) + 1]] {
        fs::write(&file, &content).unwrap();
        for is_new in [true, false] {
            let name = bank.stage(&path("a.md"), "# A\n").unwrap();
            assert!(!bank.swap(&path("a.md"), &name, is_new).unwrap());
            assert_eq!(fs::read(&file).unwrap(), content);
        }
    }
}

#[test]
fn a_bank_moves_on_when_a_folder_is_adopted_and_never_into_git() {
    let (data, checkout) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let banks = BankDirs::of(data.path());
    let key: BankKey = "project:app".parse().unwrap();
    let (here, elsewhere) = (place(&key, Some(checkout.path())), place(&key, None));
    let (before, remote) = (banks.open(&here).unwrap(), banks.open(&elsewhere).unwrap());
    assert!(before.is_current().unwrap());
    for inside_git in [".git", ".git/notes", "sub/.git/x"] {
        assert!(banks.adopt(&key, Path::new(inside_git)).is_err(), "{inside_git}");
    }
    banks.adopt(&key, Path::new("memory-bank")).unwrap();
    assert!(!before.is_current().unwrap() && remote.is_current().unwrap());
    let after = banks.open(&here).unwrap();
    assert!(after.is_current().unwrap() && after.is_adopted());
}

#[test]
fn the_first_version_of_each_day_outlives_those_after_it() {
    let data = tempfile::tempdir().unwrap();
    let bank = BankDirs::of(data.path()).open(&place(&BankKey::global(), None)).unwrap();
    let at =
        |day: i8, minute: i8| jiff::civil::date(2026, 11, day).at(12, minute, 0, 0).in_tz("UTC").unwrap().timestamp();
    let all =
        [(1, 3), (2, 2), (3, 40)].into_iter().flat_map(|(day, count)| (0..count).map(move |minute| (day, minute)));
    for (day, minute) in all {
        bank.keep_version(at(day, minute), b"{}").unwrap();
    }
    let kept = bank.versions().unwrap();
    assert_eq!(kept.len(), 20);
    assert!([at(1, 0), at(2, 0), at(3, 0)].iter().all(|first| kept.contains(first)), "{kept:?}");
    assert_eq!(kept[..17], (23..40).rev().map(|minute| at(3, minute)).collect::<Vec<_>>());
}

#[test]
fn a_checkout_without_the_adopted_folder_goes_on_with_the_former_one() {
    let (data, checkout, other) =
        (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let banks = BankDirs::of(data.path());
    let key: BankKey = "code:0123456789abcdef".parse().unwrap();
    let open = |at: &tempfile::TempDir| banks.open(&place(&key, Some(at.path()))).unwrap();
    fs::create_dir(other.path().join("memory-bank")).unwrap();
    for folder in ["memory-bank", "docs/bank", "memory-bank", "docs/bank"] {
        banks.adopt(&key, Path::new(folder)).unwrap();
    }
    assert!(banks.adopt(&key, Path::new("two\nlines")).is_err());
    let (nowhere, former) = (open(&checkout), open(&other));
    assert_eq!(nowhere.missing_folder().unwrap().as_deref(), Some(Path::new("docs/bank")), "the newest one is missing");
    assert!(nowhere.read().unwrap().files.is_empty() && fs::read_dir(checkout.path()).unwrap().next().is_none());
    assert_eq!(former.shown_path(), other.path().join("memory-bank"));
    assert_eq!(former.missing_folder().unwrap(), None);
    create_dir(&other.path().join("docs/bank")).unwrap();
    assert!(nowhere.is_current().unwrap() && !former.is_current().unwrap(), "the newer one has come");
    assert_eq!(open(&other).shown_path(), other.path().join("docs/bank"));
}
