//! Memory banks: what was acknowledged is never lost, whatever ends, fails or is changed by others meanwhile.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use reasoning_bank_actors::banks::{
    ActivateBank, ActivatedBank, NOTHING_TO_FILE, NoticeReader, NoticeSeverity, UpdateBank, UpdatedBank,
};
use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::ports::{BankLocation, Clock};
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_actors::system::{System, SystemHandle, SystemParts};
use reasoning_bank_actors::testkit::memory_store::MemStore;
use reasoning_bank_actors::testkit::{MemBanks, Scripted, parts};
use reasoning_bank_domain::bank::BankKey;

pub(super) fn own() -> BankLocation {
    BankLocation { key: BankKey::global(), checkout: None }
}

/// Starts a process over these banks.
pub(super) async fn process(banks: &MemBanks) -> System {
    let parts = parts(Arc::new(MemStore::new()), Scripted::default());
    System::start(SystemParts { banks: Arc::new(banks.clone()), ..parts }).await.unwrap()
}

pub(super) fn deadline() -> Deadline {
    Deadline::after(Duration::from_secs(20))
}

pub(super) async fn activate(system: &SystemHandle) -> ActivatedBank {
    activate_at(system, own()).await
}

pub(super) async fn activate_at(system: &SystemHandle, place: BankLocation) -> ActivatedBank {
    let reader = NoticeReader::Session("session".to_owned());
    let request = ActivateBank { place, description: None, files: Vec::new(), offset: 0, max_tokens: 8_000, reader };
    system.banks.activate(request, deadline()).await.unwrap()
}

pub(super) async fn try_update(system: &SystemHandle, n: u64) -> Result<UpdatedBank, Error> {
    let request = UpdateBank { conversation_id: Some("talk".into()), update_count: Some(n), ..saying(&said(n)) };
    system.banks.update(request, deadline()).await
}

pub(super) fn saying(content: &str) -> UpdateBank {
    UpdateBank {
        place: own(),
        content: content.to_owned(),
        conversation_id: None,
        update_count: None,
        writer: None,
        reader: NoticeReader::Session("session".into()),
    }
}

pub(super) fn said(n: u64) -> String {
    format!("I prefer answer number {n} because it is the shortest of all.")
}

pub(super) fn times(bank: &ActivatedBank, text: &str) -> usize {
    bank.content.values().map(|file| file.matches(text).count()).sum()
}

#[tokio::test]
async fn a_disk_that_hangs_keeps_nobody_waiting_but_those_who_ask_for_its_bank() {
    let banks = MemBanks::default();
    let system = process(&banks).await;
    let other = BankLocation { key: "project:other".parse().unwrap(), checkout: None };
    let hang = banks.hang(&other);
    let handle = system.handle();
    let asked = || activate_at(&handle, other.clone());
    let (first, second, ()) = tokio::join!(asked(), asked(), async {
        activate(&handle).await;
        drop(hang);
    });
    assert_eq!(first.content, second.content);
}

#[tokio::test]
async fn an_update_outlives_its_process_and_is_added_once() {
    let banks = MemBanks::default();
    let first = process(&banks).await;
    assert!(!activate(&first.handle()).await.hit);
    assert!(activate(&first.handle()).await.hit);
    assert_eq!(banks.files(&own()).len(), 3, "the templates are in the files at once");
    assert_eq!(try_update(&first.handle(), 1).await.unwrap().applied.len(), 1);
    assert_eq!(banks.frames(&own()), 1);
    assert!(!banks.files(&own()).values().any(|text| text.contains(&said(1))), "the files are written later");
    // The process is gone without having written anything more.
    banks.end_after(&own(), Some(0));
    first.stop(Duration::from_secs(5)).await;
    banks.end_after(&own(), None);
    let second = process(&banks).await;
    assert_eq!(try_update(&second.handle(), 1).await.unwrap().applied, []);
    let bank = activate(&second.handle()).await;
    assert_eq!((times(&bank, &said(1)), bank.pending), (1, 1));
    second.stop(Duration::from_secs(5)).await;
    let written = banks.files(&own());
    assert_eq!(written.values().filter(|text| text.contains(&said(1))).count(), 1, "a stop writes the files");
    assert_eq!(banks.frames(&own()), 0);
}

#[tokio::test]
async fn an_update_with_nothing_to_file_changes_nothing_and_only_its_caller_is_told() {
    let banks = MemBanks::default();
    let system = process(&banks).await;
    let handle = system.handle();
    activate(&handle).await;
    for text in ["ok, thanks", "-", "#"] {
        let updated = handle.banks.update(saying(text), deadline()).await.unwrap();
        let told: Vec<_> = updated.notices.iter().map(|of| (of.severity, of.description.as_str())).collect();
        assert_eq!((updated.applied.len(), told), (0, vec![(NoticeSeverity::Info, NOTHING_TO_FILE)]), "{text}");
    }
    assert!(activate(&handle).await.notices.is_empty());
    assert!(handle.banks.update(saying(&said(1)), deadline()).await.unwrap().notices.is_empty());
    system.stop(Duration::from_secs(5)).await;
}

#[tokio::test]
async fn wherever_a_process_ends_nothing_is_lost_and_nothing_doubled() {
    for steps in 0..60 {
        let banks = MemBanks::default();
        let first = process(&banks).await;
        activate(&first.handle()).await;
        banks.save(&own(), "notes.md", "# Notes\n\nwritten by a person\n");
        banks.end_after(&own(), Some(steps));
        let mut acknowledged = Vec::new();
        for n in 1..=3 {
            if try_update(&first.handle(), n).await.is_ok() {
                acknowledged.push(n);
            }
            if n == 2 {
                banks.save_in_between(
                    &own(),
                    "preferences.md",
                    "# Preferences\n\nsaved in between\n\n## Communication\n",
                );
                let _ = first.handle().banks.sync(&own(), deadline()).await;
            }
        }
        first.stop(Duration::from_secs(5)).await;
        banks.end_after(&own(), None);
        let second = process(&banks).await;
        for n in 1..=3 {
            try_update(&second.handle(), n).await.unwrap();
        }
        let bank = activate(&second.handle()).await;
        for n in 1..=3 {
            assert_eq!(
                times(&bank, &said(n)),
                1,
                "after {steps} steps, update {n} of {acknowledged:?}: {:#?}",
                bank.content
            );
        }
        assert_eq!(times(&bank, "written by a person"), 1, "after {steps} steps");
        second.stop(Duration::from_secs(5)).await;
        let files = banks.files(&own());
        let times = |text: &str| files.values().map(|file| file.matches(text).count()).sum::<usize>();
        for text in [&*said(1), &said(2), &said(3), "written by a person", "saved in between"] {
            assert_eq!(times(text), 1, "after {steps} steps, {text}: {files:#?}");
        }
    }
}

#[tokio::test]
async fn a_person_and_two_processes_lose_nothing() {
    let banks = MemBanks::default();
    let (one, other) = (process(&banks).await, process(&banks).await);
    activate(&one.handle()).await;
    for n in 1..=6 {
        let system = if n % 2 == 0 { &one } else { &other };
        try_update(&system.handle(), n).await.unwrap();
        let path = "preferences.md".parse().unwrap();
        let mut text = banks.files(&own())[&path].clone();
        text.push_str(&format!("\nA person says line {n} here.\n"));
        banks.save(&own(), "preferences.md", &text);
        if n % 3 == 0 {
            system.handle().banks.sync(&own(), deadline()).await.unwrap();
        }
    }
    let (seen, also) = (activate(&one.handle()).await, activate(&other.handle()).await);
    assert_eq!(seen.content, also.content);
    for n in 1..=6 {
        assert_eq!((times(&seen, &said(n)), times(&seen, &format!("line {n} here"))), (1, 1), "{n}: {seen:#?}");
    }
    one.stop(Duration::from_secs(5)).await;
    other.stop(Duration::from_secs(5)).await;
    assert_eq!(banks.files(&own()), seen.content);
}

#[tokio::test]
async fn a_disk_that_fails_is_reported_and_heals() {
    let banks = MemBanks::default();
    let system = process(&banks).await;
    let handle = system.handle();
    activate(&handle).await;
    banks.refuse_files(&own(), true);
    try_update(&handle, 1).await.unwrap();
    let refused = handle.banks.sync(&own(), deadline()).await;
    assert!(matches!(refused, Err(Error::BankUnwritten(_))), "{refused:?}");
    let told = try_update(&handle, 2).await.unwrap().notices;
    assert!(told.iter().any(|notice| notice.severity == NoticeSeverity::Error), "{told:?}");
    assert_eq!(try_update(&handle, 3).await.unwrap().notices, [], "each is told once");
    banks.refuse_files(&own(), false);
    handle.banks.sync(&own(), deadline()).await.unwrap();
    let healed = activate(&handle).await;
    assert_eq!((healed.pending, healed.notices[0].severity), (0, NoticeSeverity::Info));
    for n in 1..=3 {
        assert!(banks.files(&own()).values().any(|text| text.contains(&said(n))));
    }
    banks.refuse_records(&own(), true);
    assert!(matches!(try_update(&handle, 4).await, Err(Error::Store(_))), "nothing is acknowledged that is not stored");
    banks.refuse_records(&own(), false);
    assert_eq!(try_update(&handle, 4).await.unwrap().applied.len(), 1);
    assert!(handle.faults("banks").panic().await);
    assert_eq!(times(&activate(&handle).await, &said(4)), 1, "a new incarnation reads what was stored");
    system.stop(Duration::from_secs(5)).await;
}

#[tokio::test(start_paused = true)]
async fn the_files_are_written_after_a_minute() {
    let banks = MemBanks::default();
    let system = process(&banks).await;
    activate(&system.handle()).await;
    try_update(&system.handle(), 1).await.unwrap();
    let is_written = || banks.files(&own()).values().any(|text| text.contains(&said(1)));
    tokio::time::sleep(Duration::from_secs(55)).await;
    assert!(!is_written());
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert!(is_written());
    system.stop(Duration::from_secs(5)).await;
}

#[tokio::test]
async fn a_process_follows_when_another_one_adopts_a_folder() {
    let banks = MemBanks::default();
    let place = BankLocation { key: BankKey::global(), checkout: Some("/checkout".into()) };
    let request = || ActivateBank {
        place: place.clone(),
        description: None,
        files: Vec::new(),
        offset: 0,
        max_tokens: 8_000,
        reader: NoticeReader::user(),
    };
    let (server, other) = (process(&banks).await, process(&banks).await);
    let handle = server.handle();
    assert!(!handle.banks.activate(request(), deadline()).await.unwrap().is_adopted);
    let update = |n: u64| UpdateBank {
        place: place.clone(),
        content: said(n),
        conversation_id: None,
        update_count: None,
        writer: None,
        reader: NoticeReader::user(),
    };
    handle.banks.update(update(1), deadline()).await.unwrap();
    other.handle().banks.adopt(&place, "memory-bank".as_ref(), deadline()).await.unwrap();
    handle.banks.update(update(2), deadline()).await.unwrap();
    let bank = handle.banks.activate(request(), deadline()).await.unwrap();
    assert!(bank.is_adopted);
    assert_eq!((times(&bank, &said(1)), times(&bank, &said(2)), bank.pending), (0, 1, 0));
    assert!(
        banks.files(&place).values().any(|text| text.contains(&said(2))),
        "files of a checkout are written at once"
    );
    assert!(banks.files(&own()).values().any(|text| text.contains(&said(1))), "what was stored before is in the files");
    for system in [server, other] {
        system.stop(Duration::from_secs(5)).await;
    }
}

#[tokio::test]
async fn a_long_journal_becomes_part_of_the_base() {
    let banks = MemBanks::default();
    let system = process(&banks).await;
    activate(&system.handle()).await;
    // Files of a bank that waits for its next sync grow, and each update names them whole.
    for n in 1..=70 {
        let words: String = (0..400).map(|word| format!("I prefer the {n}th way of {word} things. ")).collect();
        let request = UpdateBank {
            place: own(),
            content: words,
            conversation_id: None,
            update_count: None,
            writer: None,
            reader: NoticeReader::user(),
        };
        system.handle().banks.update(request, deadline()).await.unwrap();
        assert!(banks.journal_bytes(&own()) <= 8 << 20, "after {n} updates");
    }
    system.stop(Duration::from_secs(5)).await;
}

#[tokio::test]
async fn more_banks_than_are_kept_at_hand_stay_apart_and_whole() {
    let banks = MemBanks::default();
    let system = process(&banks).await;
    let handle = system.handle();
    let place = |n: u64| BankLocation { key: BankKey::project(&format!("project {n}")).unwrap(), ..own() };
    for n in 1..=70 {
        activate_at(&handle, place(n)).await;
        let request = UpdateBank {
            place: place(n),
            content: said(n),
            conversation_id: None,
            update_count: None,
            writer: None,
            reader: NoticeReader::user(),
        };
        handle.banks.update(request, deadline()).await.unwrap();
    }
    for n in 1..=70 {
        let bank = activate_at(&handle, place(n)).await;
        assert_eq!((times(&bank, &said(n)), times(&bank, "I prefer answer number")), (1, 1), "bank {n}");
    }
    system.stop(Duration::from_secs(5)).await;
}

#[tokio::test]
async fn old_entries_are_made_shorter_once_a_week() {
    let banks = MemBanks::default();
    let hours = Arc::new(AtomicI64::new(0));
    let (begun, passed) = (Timestamp::now(), Arc::clone(&hours));
    let clock = Clock::new(move || begun + SignedDuration::from_hours(passed.load(Ordering::SeqCst)));
    let parts = parts(Arc::new(MemStore::new()), Scripted::default());
    let system = System::start(SystemParts { banks: Arc::new(banks.clone()), clock, ..parts }).await.unwrap();
    let handle = system.handle();
    activate(&handle).await;
    let say = |n: u64| try_update(&handle, n);
    say(1).await.unwrap();
    assert!(activate(&handle).await.shortened_at.is_none(), "a small bank is left alone");
    let day = |days: i64| (begun - SignedDuration::from_hours(24 * days)).to_string()[..10].to_owned();
    let entry = |n: i64| {
        format!(
            "- {}: Part {n} of the importer was measured.\n  It takes a third of the time that it took before.\n",
            day(10 + n)
        )
    };
    let entries: String = (0..150).map(entry).collect();
    let path = "progress.md";
    banks.save(&own(), path, &format!("# Progress\n\n## Done\n\n{entries}"));
    let lines = || banks.files(&own()).values().map(|text| text.matches("a third of the time").count()).sum::<usize>();
    for (passed, may_be_shorter) in [(24, false), (24 * 6, false), (24 * 8, true)] {
        hours.store(passed, Ordering::SeqCst);
        say(2 + passed as u64).await.unwrap();
        handle.banks.sync(&own(), deadline()).await.unwrap();
        let left = lines();
        assert_eq!(left < 150, may_be_shorter, "after {passed} hours: {left}");
        assert_eq!(activate(&handle).await.shortened_at.is_some(), may_be_shorter);
    }
    for (passed, is_shorter) in [(24 * 8 + 1, false), (24 * 8 + 2, true)] {
        hours.store(passed, Ordering::SeqCst);
        let versions = handle.banks.history(&own(), deadline()).await.unwrap();
        handle.banks.restore(&own(), versions[0].at, deadline()).await.unwrap();
        let shown = activate(&handle).await;
        assert_eq!((lines() < 150, shown.shortened_at.is_some()), (is_shorter, is_shorter), "{passed}");
    }
    system.stop(Duration::from_secs(5)).await;
}

#[tokio::test]
async fn a_long_file_is_read_part_by_part_within_the_budget_and_no_secret_is_cut_in_two() {
    let banks = MemBanks::default();
    let lines: String = (1..=3_000).map(|n| format!("- Line {n} of a file that a person wrote.\n")).collect();
    let key = "MIIEowIBAAKCAQEA0x3ZfYkq7m1s9QpVbW2rTdUyHcNgLjKaEwXoRiSuPhBvMzFtGn";
    let pem =
        format!("-----BEGIN RSA PRIVATE KEY-----\n{}-----END RSA PRIVATE KEY-----\n", format!("{key}\n").repeat(60));
    banks.save(&own(), "long.md", &format!("# Long\n\n{lines}\n{pem}"));
    let system = process(&banks).await;
    let handle = system.handle();
    let ask = |offset: usize| ActivateBank {
        place: own(),
        description: None,
        files: vec!["long.md".parse().unwrap()],
        offset,
        max_tokens: 2_000,
        reader: NoticeReader::user(),
    };
    let (mut text, mut offset, mut parts) = (String::new(), 0, 0);
    loop {
        let bank = handle.banks.activate(ask(offset), deadline()).await.unwrap();
        let part = bank.content.values().next().unwrap();
        assert!(part.len() < 2_000 * 8, "{}", part.len());
        text.push_str(part);
        parts += 1;
        let Some(rest) = bank.outline else { break };
        assert!(rest.starts_with("The rest: activate {\"files\": [\"long.md\"], \"offset\": "), "{rest}");
        offset = rest.trim_end().trim_end_matches('}').rsplit(' ').next().unwrap().parse().unwrap();
    }
    assert!(parts > 5 && text.contains(&lines), "{parts}");
    assert!(!text.contains(key) && text.contains("[REDACTED:"), "{}", &text[text.len() - 500..]);
    let nowhere = ActivateBank { files: Vec::new(), ..ask(1) };
    assert!(matches!(handle.banks.activate(nowhere, deadline()).await, Err(Error::InvalidArgument { .. })));
    system.stop(Duration::from_secs(5)).await;
}

/// A bank in a folder of a checkout, with a file.
async fn adopted(banks: &MemBanks, text: &str) -> (System, BankLocation) {
    let place = BankLocation { key: BankKey::global(), checkout: Some("/checkout".into()) };
    banks.save(&place, "notes.md", text);
    let system = process(banks).await;
    system.handle().banks.adopt(&place, "memory-bank".as_ref(), deadline()).await.unwrap();
    (system, place)
}

async fn told(system: &System, place: &BankLocation, reader: NoticeReader) -> Vec<String> {
    let (place, files) = (place.clone(), Vec::new());
    let request = ActivateBank { place, description: None, files, offset: 0, max_tokens: 8_000, reader };
    let bank = system.handle().banks.activate(request, deadline()).await.unwrap();
    bank.notices.into_iter().map(|notice| notice.description).collect()
}

#[tokio::test]
async fn a_long_bank_of_a_checkout_is_told_of_once_to_each_caller_for_as_long_as_it_is() {
    let banks = MemBanks::default();
    let long: String = (1..=1_500).map(|n| format!("- Line {n} that a person wrote.\n")).collect();
    let (first, place) = adopted(&banks, &format!("# Notes\n\n{long}")).await;
    let second = process(&banks).await;
    let session = |name: &str| NoticeReader::Session(name.to_owned());
    let at_first = told(&first, &place, NoticeReader::user()).await;
    assert!(at_first.len() == 1 && at_first[0].contains("is not made shorter by itself in a checkout"), "{at_first:?}");
    for system in [&first, &second] {
        assert_eq!(
            told(system, &place, NoticeReader::user()).await,
            [""; 0],
            "a caller without a session is told once"
        );
    }
    assert_eq!(told(&second, &place, NoticeReader::Caller("other".into())).await, at_first);
    assert_eq!(told(&second, &place, NoticeReader::Nobody).await, [""; 0]);
    assert_eq!(told(&second, &place, session("one")).await, at_first);
    assert_eq!(told(&second, &place, session("one")).await, [""; 0]);
    banks.save(&place, "notes.md", "# Notes\n");
    assert_eq!(told(&second, &place, session("two")).await, [""; 0], "the cause is gone");
    for system in [first, second] {
        system.stop(Duration::from_secs(5)).await;
    }
}

#[tokio::test]
async fn a_folder_that_was_taken_away_is_told_of_and_what_is_filed_waits_for_it() {
    let banks = MemBanks::default();
    let (first, place) = adopted(&banks, "# Notes\n\n- a line of a person\n").await;
    let handle = first.handle();
    assert_eq!(times(&activate_at(&handle, place.clone()).await, "a line of a person"), 1);
    banks.take_folder(&place, true);
    let without = activate_at(&handle, place.clone()).await;
    assert_eq!(times(&without, "a line of a person"), 1, "it is shown as it was read last");
    assert!(without.notices[0].description.contains("bank adopt NEW_FOLDER"), "{:?}", without.notices);
    let (conversation_id, update_count) = (Some("talk".to_owned()), Some(1));
    let reader = NoticeReader::Session("session".into());
    let update =
        UpdateBank { place: place.clone(), content: said(1), conversation_id, update_count, writer: None, reader };
    let updated = handle.banks.update(update, deadline()).await.unwrap();
    assert_eq!(
        (updated.applied.len(), updated.notices.len()),
        (1, 1),
        "each update that waits is told of: {updated:?}"
    );
    first.stop(Duration::from_secs(5)).await;
    assert!(!banks.files(&place).values().any(|text| text.contains(&said(1))), "nobody makes the folder");

    let second = process(&banks).await;
    let handle = second.handle();
    let waiting = activate_at(&handle, place.clone()).await;
    assert_eq!((times(&waiting, &said(1)), waiting.pending, waiting.notices.len()), (1, 1, 1), "{:?}", waiting.notices);
    banks.take_folder(&place, false);
    let back = activate_at(&handle, place.clone()).await;
    assert_eq!((times(&back, &said(1)), times(&back, "a line of a person"), back.pending), (1, 1, 0));
    assert!(banks.files(&place).values().any(|text| text.contains(&said(1))), "it is in the files at once");
    assert_eq!(told(&second, &place, NoticeReader::user()).await, [""; 0], "the cause is gone");
    second.stop(Duration::from_secs(5)).await;
}
