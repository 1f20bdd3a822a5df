//! Attacks by a damaged, full or read-only disk. It may not lose what was acknowledged, or take the reader's answers
//! away.

use std::collections::BTreeSet;
use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::mcp_process::McpProcess;
use crate::support::{Place, Ran};

/// Returns how many inputs this family goes through.
pub(super) fn inputs() -> usize {
    FRAMES * FLIPPED.len()
        + SPOILT.len()
        + LOCKS.len() * GARBAGE.len()
        + STAMPS.len() * GARBAGE.len()
        + OBSTACLES.len() * READING.len()
}

/// The longest that anything here takes on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);
/// The number of memories that were acknowledged after the last checkpoint, each a frame of the journal.
const FRAMES: usize = 6;
const HEADER: usize = 8;

/// A bit of a frame.
#[derive(Clone, Copy)]
enum At {
    Length(usize),
    Checksum(usize),
    /// The place of the bit in the body, in parts of 100.
    Body(usize),
}

const FLIPPED: [At; 7] =
    [At::Length(0), At::Length(3), At::Checksum(0), At::Checksum(3), At::Body(0), At::Body(50), At::Body(100)];

/// A bank as it was at its last checkpoint, and what was acknowledged since: what a loss of power leaves.
struct Crashed {
    place: Place,
    journal: String,
    frames: Vec<Vec<u8>>,
}

/// Each lesson speaks of something else, so that storing one changes no other.
const SUBJECTS: [&str; 9] =
    ["apples", "bridges", "clouds", "dunes", "engines", "forests", "glaciers", "harbours", "islands"];

fn lesson(number: usize) -> Value {
    json!({
        "title": format!("Lesson {number}"),
        "description": format!("When number {number} is asked for."),
        "content": format!("what is known about {}, in words of its own", SUBJECTS[number]),
    })
}

/// Returns a bank whose process was killed. It is made once for all tests; the directories are copied.
fn crashed() -> &'static Crashed {
    static CRASHED: OnceLock<Crashed> = OnceLock::new();
    CRASHED.get_or_init(|| {
        let place = Place::new();
        place.run_with_stdin(&["memory", "record", "--file", "-"], &lesson(0).to_string()).ok();
        copy(&place.path("data"), &place.path("checkpoint"));
        let mut server = McpProcess::initialized(&place, &["--llm", "none"]);
        for number in 1..=FRAMES {
            assert_eq!(server.call("record_memory", lesson(number))["status"], "created");
        }
        server.kill();
        let is_journal =
            |path: &PathBuf| path.extension().is_some_and(|e| e == "log") && !path.ends_with("history.log");
        let journals = fs::read_dir(place.path("data/journal")).unwrap().map(|entry| entry.unwrap().path());
        let journals: Vec<PathBuf> = journals.filter(is_journal).collect();
        let [journal] = &journals[..] else { panic!("{journals:?}") };
        let mut frames = Vec::new();
        let mut left = &fs::read(journal).unwrap()[..];
        while let Some(length) = left.first_chunk::<4>() {
            let (frame, rest) = left.split_at(HEADER + u32::from_le_bytes(*length) as usize);
            frames.push(frame.to_vec());
            left = rest;
        }
        assert_eq!(frames.len(), FRAMES);
        let journal = journal.file_name().unwrap().to_str().unwrap().to_owned();
        Crashed { place, journal, frames }
    })
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (path, to) = (entry.as_ref().unwrap().path(), to.join(entry.unwrap().file_name()));
        if path.is_dir() {
            copy(&path, &to);
        } else {
            fs::copy(&path, &to).unwrap();
        }
    }
}

impl Crashed {
    /// The bank at its last checkpoint, with this journal.
    fn with(&self, journal: &[u8]) -> Place {
        let place = Place::new();
        copy(&self.place.path("checkpoint"), &place.path("data"));
        fs::write(place.path("data/journal").join(&self.journal), journal).unwrap();
        place
    }

    fn whole(&self) -> Vec<u8> {
        self.frames.concat()
    }
}

/// Runs to its end within the limit, and without a panic.
#[track_caller]
fn run(mut command: Command) -> Ran {
    let begun = Instant::now();
    let ran = Ran::of(command.output().unwrap());
    assert!(begun.elapsed() < LIMIT, "after {:?}: {ran:?}", begun.elapsed());
    assert!(!ran.stderr.contains("panicked") && ran.code.is_some_and(|code| code <= 2), "{ran:?}");
    ran
}

/// The numbers of the lessons that are there, each once and whole.
#[track_caller]
fn lessons(ran: &Ran) -> BTreeSet<usize> {
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let mut numbers = BTreeSet::new();
    for line in ran.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        if line["kind"] == "memory" {
            let number = line["title"].as_str().unwrap().strip_prefix("Lesson ").unwrap().parse().unwrap();
            assert_eq!(line["content"], lesson(number)["content"]);
            assert!(numbers.insert(number), "lesson {number} is there twice");
        }
    }
    numbers
}

fn export(place: &Place) -> Command {
    place.command(&["memory", "export", "--all"])
}

/// Returns the numbers of all lessons but these.
fn all_but(missing: &[usize]) -> BTreeSet<usize> {
    (0..=FRAMES).filter(|number| !missing.contains(number)).collect()
}

fn set_aside(place: &Place) -> usize {
    fs::read_dir(place.path("data/set-aside")).map_or(0, Iterator::count)
}

/// Runs the check for each input, two at a time.
fn for_each<T: Sync>(inputs: &[T], check: impl Fn(&T) + Sync) {
    let next = std::sync::atomic::AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(input) = inputs.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) {
                    check(input);
                }
            });
        }
    });
}

#[test]
fn a_bad_bit_takes_nothing_with_it_but_the_frame_it_is_in() {
    let crashed = crashed();
    let inputs: Vec<(usize, At)> = (0..FRAMES).flat_map(|frame| FLIPPED.map(|at| (frame, at))).collect();
    for_each(&inputs, |(frame, at)| {
        let mut frames = crashed.frames.clone();
        let body = frames[*frame].len() - HEADER - 1;
        let (offset, is_length) = match at {
            At::Length(byte) => (*byte, true),
            At::Checksum(byte) => (4 + byte, false),
            At::Body(part) => (HEADER + body * part / 100, false),
        };
        frames[*frame][offset] ^= 1 << (frame % 8);
        let place = crashed.with(&frames.concat());
        let ran = run(export(&place));
        // of a frame whose length alone is wrong the checksum still says that the rest is whole
        let missing: &[usize] = if is_length { &[] } else { &[frame + 1] };
        assert_eq!(lessons(&ran), all_but(missing), "frame {frame}, byte {offset}: {}", ran.stderr);
        assert_eq!(set_aside(&place), missing.len(), "frame {frame}, byte {offset}: {}", ran.stderr);
        assert_eq!(ran.stderr.contains("cannot be read"), !is_length, "{}", ran.stderr);
    });
    // what was kept is shown where a user looks, and the next start neither loses nor doubles anything
    let mut frames = crashed.frames.clone();
    frames[1][HEADER] ^= 1;
    let place = crashed.with(&frames.concat());
    for _ in 0..2 {
        assert_eq!(lessons(&run(export(&place))), all_but(&[2]));
        assert_eq!(set_aside(&place), 1);
    }
    let doctor = run(place.command(&["--llm", "none", "--json", "doctor"])).json();
    assert_eq!(doctor["checks"][2]["status"], "warn", "{doctor}");
    assert!(doctor["checks"][2]["detail"].as_str().unwrap().contains("set-aside"), "{doctor}");
}

/// A journal made of these frames, and which lessons are not in it.
type Spoil = fn(&[Vec<u8>]) -> (Vec<u8>, Vec<usize>);

fn garbage(bytes: u32) -> Vec<u8> {
    (0..bytes / 4).flat_map(|n| n.wrapping_mul(2_654_435_761).rotate_left(n % 31).to_le_bytes()).collect()
}

fn cut(frames: &[Vec<u8>], bytes: usize) -> Vec<u8> {
    let whole = frames.concat();
    whole[..whole.len() - bytes].to_vec()
}

fn between(frames: &[Vec<u8>], what: &[u8]) -> Vec<u8> {
    frames.iter().flat_map(|frame| [frame, what].concat()).collect()
}

const SPOILT: [Spoil; 16] = [
    |frames| (cut(frames, 1), vec![6]),
    |frames| (cut(frames, frames[5].len() / 2), vec![6]),
    |frames| (cut(frames, frames[5].len() - 3), vec![6]),
    |frames| (cut(frames, frames[5].len() + frames[4].len() / 2), vec![5, 6]),
    |_| (Vec::new(), (1..=FRAMES).collect()),
    |frames| ([frames.concat(), vec![0; 1]].concat(), vec![]),
    |frames| ([frames.concat(), vec![0; 4096]].concat(), vec![]),
    |frames| (between(frames, &[0; 4096]), vec![]),
    |frames| (between(frames, &[0xff; 512]), vec![]),
    |frames| (between(frames, &garbage(4096)), vec![]),
    |frames| (between(frames, &frames[0][..20]), vec![]),
    |frames| (frames.iter().flat_map(|frame| frame.repeat(2)).collect(), vec![]),
    |frames| (frames.concat().repeat(3), vec![]),
    |frames| (frames.iter().rev().flatten().copied().collect(), vec![]),
    |_| (garbage(1 << 20), (1..=FRAMES).collect()),
    // lengths that all reach to the end, with a frame behind each
    |frames| (between(frames, &[0, 4, 0, 0, 1, 2, 3, 4, b'{']), vec![]),
];

#[test]
fn of_a_journal_that_is_cut_off_blotted_or_doubled_all_is_kept_that_is_whole() {
    let crashed = crashed();
    let inputs: Vec<(usize, Spoil)> = SPOILT.into_iter().enumerate().collect();
    for_each(&inputs, |(n, spoil)| {
        let (journal, missing) = spoil(&crashed.frames);
        let place = crashed.with(&journal);
        let ran = run(export(&place));
        assert_eq!(lessons(&ran), all_but(&missing), "input {n}: {}", ran.stderr);
    });
    // a file of this size was never a journal; it is moved away unread
    let place = crashed.with(&crashed.whole());
    let large = place.path("data/journal/0192d3b0-7d6e-7f3a-9c55-0d6f0a9b1c2d.log");
    let mut file = fs::File::create(large).unwrap();
    file.seek(SeekFrom::Start(3 << 30)).unwrap();
    file.write_all(b"end").unwrap();
    assert_eq!(lessons(&run(export(&place))), all_but(&[]));
    assert_eq!(set_aside(&place), 1);
}

const LOCKS: [&str; 6] = [
    "lance/.write.lock",
    "lance/.write.owner",
    "lance/.upkeep.lock",
    ".background.lock",
    ".background.spent",
    "journal/0192d3b0-7d6e-7f3a-9c55-0d6f0a9b1c2d.lock",
];
const STAMPS: [&str; 5] =
    ["format_version", "lance/fingerprint.json", "lance/reembed.json", "journal/erasures.json", "journal/bulk.json"];
const GARBAGE: [&[u8]; 3] = [b"../../../etc/passwd", &[0xff, 0xfe, 0, 0, 0x80], &[b'9'; 300_000]];

#[test]
fn garbage_in_a_lock_file_is_read_as_empty() {
    let crashed = crashed();
    let inputs: Vec<(&str, &[u8])> = LOCKS.iter().flat_map(|lock| GARBAGE.map(|garbage| (*lock, garbage))).collect();
    for_each(&inputs, |(lock, garbage)| {
        let place = crashed.with(&crashed.whole());
        fs::write(place.path("data").join(lock), garbage).unwrap();
        assert_eq!(lessons(&run(export(&place))), all_but(&[]), "{lock}");
        let lesson = lesson(7).to_string();
        let mut server = McpProcess::initialized(&place, &["--llm", "none"]);
        assert_eq!(server.call("record_memory", serde_json::from_str(&lesson).unwrap())["status"], "created", "{lock}");
        assert!(server.end().status.success());
    });
}

#[test]
fn garbage_where_the_store_says_what_it_is_is_named_and_nothing_is_changed() {
    let crashed = crashed();
    let inputs: Vec<(&str, &[u8])> = STAMPS.iter().flat_map(|stamp| GARBAGE.map(|garbage| (*stamp, garbage))).collect();
    for_each(&inputs, |(stamp, garbage)| {
        let place = crashed.with(&crashed.whole());
        let path = place.path("data").join(stamp);
        fs::write(&path, garbage).unwrap();
        let ran = run(export(&place));
        assert_eq!(ran.code, Some(1), "{stamp}: {ran:?}");
        assert!(ran.stderr.contains(stamp) && ran.stderr.len() < 2_000, "{stamp}: {ran:?}");
        assert_eq!(fs::read(&path).unwrap(), *garbage);
        fs::remove_file(&path).unwrap();
        if !["format_version", "lance/fingerprint.json"].contains(stamp) {
            assert_eq!(lessons(&run(export(&place))), all_but(&[]), "{stamp}");
        }
    });
}

/// The obstacles that keep everybody from writing.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Obstacle {
    /// The directory and all that is in it may not be written to by this user.
    Permission,
    /// No file may grow, as on a full disk.
    NoSpace,
    /// A process that has stopped while it writes.
    LockHeld,
}

const OBSTACLES: [Obstacle; 3] = [Obstacle::Permission, Obstacle::NoSpace, Obstacle::LockHeld];
const READING: [&[&str]; 7] = [
    &["--json", "memory", "search", "lesson words"],
    &["--json", "memory", "list"],
    &["memory", "export", "--all"],
    &["--json", "trace", "list"],
    &["--json", "stats"],
    &["--json", "workspace", "list"],
    &["--llm", "none", "--json", "doctor"],
];

fn set_writable(path: &Path, writable: bool) {
    let is_dir = path.is_dir();
    let mode = match (is_dir, writable) {
        (true, true) => 0o700,
        (true, false) => 0o500,
        (false, true) => 0o600,
        (false, false) => 0o400,
    };
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    if is_dir {
        fs::read_dir(path).unwrap().for_each(|entry| set_writable(&entry.unwrap().path(), writable));
    }
}

/// The command, run by this program with these arguments before it.
fn through(command: &Command, wrapper: &[&str]) -> Command {
    let mut wrapped = Command::new(wrapper[0]);
    wrapped.args(&wrapper[1..]).arg(command.get_program()).args(command.get_args()).env_clear().stdin(Stdio::null());
    for (name, value) in command.get_envs() {
        wrapped.env(name, value.unwrap_or_default());
    }
    wrapped.current_dir(command.get_current_dir().unwrap());
    wrapped
}

impl Obstacle {
    /// Puts the obstacle in the way until the returned value is dropped.
    fn put(self, data: &Path) -> InTheWay {
        let held = (self == Self::LockHeld).then(|| {
            let lock = fs::File::open(data.join("lance/.write.lock")).unwrap();
            lock.lock().unwrap();
            lock
        });
        if self == Self::Permission {
            set_writable(data, false);
        }
        InTheWay { data: data.to_owned(), _held: held }
    }

    /// The command, so that the obstacle is one for it, also where root runs the tests.
    fn before(self, command: &Command) -> Command {
        // SAFETY: asks for a number.
        let is_root = unsafe { libc::geteuid() } == 0;
        match self {
            Self::Permission if is_root => {
                through(command, &["/usr/bin/setpriv", "--bounding-set=-all", "--inh-caps=-all", "--"])
            }
            Self::NoSpace => through(command, &["/bin/sh", "-c", "trap '' XFSZ; ulimit -S -f 0; exec \"$@\"", "sh"]),
            _ => through(command, &["/usr/bin/env"]),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Permission => "may not write",
            Self::NoSpace => "no space left",
            Self::LockHeld => "holds its write lock",
        }
    }
}

struct InTheWay {
    data: PathBuf,
    _held: Option<fs::File>,
}

impl Drop for InTheWay {
    fn drop(&mut self) {
        set_writable(&self.data, true);
    }
}

#[test]
fn what_cannot_be_written_to_is_read_all_the_same_and_says_so() {
    let crashed = crashed();
    let inputs: Vec<(Obstacle, &[&str])> =
        OBSTACLES.iter().flat_map(|obstacle| READING.map(|reading| (*obstacle, reading))).collect();
    for_each(&inputs, |(obstacle, reading)| {
        // acknowledged and in the tables, as after a kill; the journal waits
        let place = Place::new();
        copy(&crashed.place.path("data"), &place.path("data"));
        let _in_the_way = obstacle.put(&place.path("data"));
        let ran = run(obstacle.before(&place.command(reading)));
        let told = format!("{obstacle:?} {reading:?}: {ran:?}");
        assert!(ran.stderr.contains(obstacle.name()), "{told}");
        match reading[1] {
            "export" => assert_eq!(lessons(&ran), all_but(&[]), "{told}"),
            "none" => {
                let store = &ran.json()["checks"][2];
                assert_eq!(store["status"], "warn", "{told}");
                assert!(store["detail"].as_str().unwrap().contains(obstacle.name()), "{told}");
            }
            _ => assert_eq!(ran.code, Some(0), "{told}"),
        }
        if reading.contains(&"search") {
            let found = ran.json();
            assert!(found["notes"][0].as_str().unwrap().contains(obstacle.name()), "{told}");
            assert_eq!(found["partial"], true, "a journal waits: {told}");
        }
    });
}

fn retrieve(server: &mut McpProcess) -> Value {
    server.call("retrieve_memories", json!({"query": "the content of lesson 3", "n_results": 20}))
}

/// The server is not started anew. A refused write is told why, and it is taken as soon as the obstacle is gone.
#[test]
fn a_server_goes_on_reading_and_writes_again_by_itself() {
    let crashed = crashed();
    for_each(&OBSTACLES, |obstacle| {
        let place = crashed.with(&crashed.whole());
        let in_the_way = obstacle.put(&place.path("data"));
        let command = obstacle.before(&place.command(&["--llm", "none", "mcp"]));
        let mut server = McpProcess::spawn(command);
        server.initialize();
        let found = retrieve(&mut server);
        assert!(found["notes"].to_string().contains(obstacle.name()), "{obstacle:?}: {found}");
        let refused = server.call_failing("record_memory", lesson(7));
        assert_eq!(refused["code"], "store_unavailable", "{obstacle:?}: {refused}");
        assert!(refused["message"].as_str().unwrap().contains(obstacle.name()), "{refused}");
        assert!(refused["hint"].as_str().unwrap().contains("by themselves"), "{refused}");
        drop(in_the_way);
        if *obstacle == Obstacle::NoSpace {
            let raised =
                Command::new("prlimit").args(["--fsize=unlimited", "--pid", &server.id().to_string()]).status();
            assert!(raised.unwrap().success());
        }
        assert_eq!(server.call("record_memory", lesson(8))["status"], "created", "{obstacle:?}");
        let found = retrieve(&mut server);
        assert_eq!((&found["notes"], &found["partial"]), (&json!([]), &json!(false)), "{obstacle:?}: {found}");
        assert!(server.end().status.success());
        // what waited was replayed by that, and what was refused is there at most once
        let there = lessons(&run(export(&place)));
        assert!(there.is_superset(&all_but(&[])) && there.contains(&8), "{obstacle:?}: {there:?}");
    });
}

/// The same on file systems that are full, or mounted read-only, where this user may mount one.
#[test]
fn a_full_and_a_read_only_file_system_are_read_all_the_same() {
    let may_mount = Command::new("unshare").args(["-rm", "true"]).status().is_ok_and(|status| status.success());
    if !may_mount {
        return;
    }
    let crashed = crashed();
    let fill = "head -c 100000000 /dev/zero > \"$DATA/filler\" 2>/dev/null || true";
    for (before, said) in [(fill, "no space left"), ("mount -o remount,ro \"$DATA\"", "mounted read-only")] {
        let place = Place::new();
        let data = place.path("data");
        fs::create_dir(&data).unwrap();
        let script = format!(
            "mount -t tmpfs -o size=6m tmpfs \"$DATA\" && cp -a \"$FROM/.\" \"$DATA\" && {before}; exec \"$@\""
        );
        let mut command = through(&export(&place), &["unshare", "-rm", "/bin/sh", "-c", &script, "sh"]);
        command.env("DATA", &data).env("FROM", crashed.place.path("data")).env("PATH", "/usr/bin:/bin:/usr/sbin:/sbin");
        let ran = run(command);
        assert_eq!(lessons(&ran), all_but(&[]), "{ran:?}");
        assert!(ran.stderr.contains(said), "{ran:?}");
    }
}
