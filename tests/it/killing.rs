//! Runs of consolidation, their undoing, and erasures of episodes, which are killed at another moment each time.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant, SystemTime};

use serde_json::Value;

use crate::cli_consolidate::{place, same_memories, tell_a_history, without_revisions};
use crate::mcp_process::McpProcess;
use crate::support::{Place, kill_rounds};

/// The number of rounds, unless the variable says another.
const ROUNDS: usize = 6;
/// The number of rounds from which on some kills have to come in the middle of the work.
const MANY: usize = 50;
/// A process that is killed again and again, each time at another moment of its work.
struct Victim<'a> {
    place: &'a Place,
    /// A file that the process makes when it begins its work. None: its work begins with its start.
    begins: Option<PathBuf>,
    /// The time that the work took when nothing cut it off.
    takes: Duration,
}

impl<'a> Victim<'a> {
    /// Runs the process to its end once, to know how long its work takes.
    fn of(place: &'a Place, begins: Option<&str>, arguments: &[&str]) -> Self {
        let mut victim = Self { place, begins: begins.map(|name| place.path(name)), takes: Duration::ZERO };
        let mut process = victim.started(arguments);
        let began = Instant::now();
        assert!(process.wait().unwrap().success());
        victim.takes = began.elapsed();
        victim
    }

    /// Starts the process, and returns when it has begun its work.
    fn started(&self, arguments: &[&str]) -> Child {
        self.begins.iter().for_each(|file| drop(fs::remove_file(file)));
        let mut process = self.place.command(arguments).stdout(Stdio::null()).spawn().unwrap();
        let has_begun = || self.begins.as_ref().is_none_or(|file| file.exists());
        while !has_begun() && process.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        process
    }

    /// Starts the process and kills it. The moments of neighbouring rounds lie far apart.
    fn killed(&self, arguments: &[&str], round: usize) {
        let mut process = self.started(arguments);
        std::thread::sleep(self.takes.mul_f64((round * 37 % 100) as f64 / 100.0));
        process.kill().unwrap();
        process.wait().unwrap();
    }
}

fn runs(place: &Place) -> Vec<Value> {
    place.document(&["consolidate", "--list"])["runs"].as_array().unwrap().clone()
}

/// The changes of the runs that are not undone.
fn changes(runs: &[Value], kind: &str) -> usize {
    let standing = runs.iter().filter(|run| run.get("undone").is_none());
    let stages = standing.flat_map(|run| run["stages"].as_array().unwrap());
    stages.flat_map(|stage| stage["changes"].as_array().unwrap()).filter(|change| change["change"] == kind).count()
}

fn exported(place: &Place) -> Vec<Value> {
    without_revisions(&place.run(&["memory", "export"]).ok().stdout)
}

#[test]
fn runs_that_are_killed_and_whose_undoing_is_killed_are_taken_back_exactly() {
    let place = place();
    let mut process = McpProcess::initialized(&place, &[]);
    tell_a_history(&mut process);
    process.end();
    same_memories(&place);
    let before = exported(&place);
    let lock = Some("data/.consolidation.lock");
    let running = Victim::of(&place, lock, &["consolidate", "--apply"]);
    let whole = runs(&place)[0]["run_id"].as_str().unwrap().to_owned();
    let undoing = Victim::of(&place, lock, &["consolidate", "--undo", &whole]);
    assert_eq!(exported(&place), before);
    let (mut cut_runs, mut cut_undos) = (0, 0);
    let rounds = kill_rounds(ROUNDS);
    for round in 0..rounds {
        running.killed(&["consolidate", "--apply"], round);
        let listed = runs(&place);
        let patterns = place.document(&["pattern", "list"])["patterns"].as_array().unwrap().len();
        assert_eq!(changes(&listed, "proposed"), patterns, "round {round}: {listed:?}");
        let hidden =
            place.document(&["memory", "list", "--status", "superseded"])["memories"].as_array().unwrap().len();
        assert_eq!(changes(&listed, "superseded"), hidden, "round {round}: {listed:?}");
        for run in listed.iter().filter(|run| run.get("undone").is_none()) {
            cut_runs += usize::from(run.get("ended_at").is_none());
            let id = run["run_id"].as_str().unwrap();
            undoing.killed(&["consolidate", "--undo", id], round * 7 + 3);
            let is_undone = runs(&place).iter().any(|run| run["run_id"] == id && run.get("undone").is_some());
            cut_undos += usize::from(!is_undone);
            let undone = place.document(&["consolidate", "--undo", id]);
            assert_eq!(undone["undone"]["skipped"], serde_json::json!([]), "round {round}");
        }
        assert_eq!(exported(&place), before, "round {round}");
    }
    // Some kills come while a run or its undoing is under way, if there are many rounds.
    assert!(rounds < MANY || (cut_runs > 0 && cut_undos > 0), "{cut_runs} runs and {cut_undos} undoings were cut off");
}

/// The files below a directory.
fn files(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// Tells an episode with a file of its own and one that others have as well.
fn recorded(place: &Place, name: &str) -> String {
    place.write("project/shared.log", "what all print\n");
    place.write(&format!("project/{name}.log"), &format!("what {name} printed\n"));
    let (task, own) = (format!("Build {name}"), format!("{name}.log"));
    let told = ["episode", "record", "--status", "success", "--task", &task];
    let arguments = [&told[..], &["--artefact", &own, "--artefact", "shared.log"]].concat();
    place.document(&arguments)["episode_id"].as_str().unwrap().to_owned()
}

/// Checks that upkeep takes away what is left of erasures that were cut off, which it does an hour later.
fn assert_nothing_is_left_but_of_one(place: &Place) {
    let past = SystemTime::now() - Duration::from_secs(2 * 3_600);
    for name in files(&place.path("data/artefacts")).iter().filter(|path| path.extension().is_none()) {
        fs::File::options().write(true).open(name).unwrap().set_modified(past).unwrap();
    }
    place.run(&["maintain", "--apply"]).ok();
    let left = files(&place.path("data/artefacts"));
    let contents = left.iter().filter(|path| path.extension().is_some_and(|end| end == "zst")).count();
    assert_eq!((contents, left.len()), (2, 4), "the contents of the one that is kept, with its names: {left:?}");
}

#[test]
fn episodes_whose_erasure_is_killed_are_whole_or_gone_with_their_artefacts() {
    let place = Place::new();
    place.write("config/reasoning-bank/config.toml", "llm.provider = 'none'\nconsolidation.schedule = 'off'\n");
    let kept = recorded(&place, "kept");
    let first = recorded(&place, "first");
    let erasing = Victim::of(&place, None, &["episode", "delete", &first, "--now", "--yes"]);
    let mut cut = 0;
    let rounds = kill_rounds(ROUNDS);
    for round in 0..rounds {
        let name = format!("round{round}");
        let id = recorded(&place, &name);
        // One is erased at once, the next one is hidden first, and may be restored until it is purged.
        let is_purged = round % 2 == 1;
        let erase: &[&str] = if is_purged {
            &["episode", "purge", "--all", "--yes"]
        } else {
            &["episode", "delete", &id, "--now", "--yes"]
        };
        if is_purged {
            place.run(&["episode", "delete", &id]).ok();
        }
        erasing.killed(erase, round);
        let is_back = is_purged && place.run(&["episode", "restore", &id]).code == Some(0);
        let got = place.run(&["--json", "episode", "get", &id]);
        assert!(!is_purged || is_back == (got.code == Some(0)), "round {round}: {got:?}");
        if got.code == Some(0) {
            cut += 1;
            assert_eq!(got.json()["artefacts"].as_array().unwrap().len(), 2, "round {round}");
            let printed = place.run(&["episode", "artefact", &id, &format!("{name}.log")]).ok().stdout;
            assert_eq!(printed, format!("what {name} printed\n"), "round {round}");
            place.run(&["episode", "delete", &id, "--now", "--yes"]).ok();
        }
        let gone = place.run(&["--json", "episode", "get", &id]).json();
        assert_eq!(gone["error"]["code"], "not_found", "round {round}");
        assert_eq!(place.run(&["episode", "artefact", &kept, "shared.log"]).ok().stdout, "what all print\n");
    }
    assert!(rounds < MANY || (0 < cut && cut < rounds), "{cut} episodes outlived a kill");
    assert_nothing_is_left_but_of_one(&place);
}
