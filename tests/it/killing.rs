//! Reports of episodes and applications, their archiving and erasure, runs of consolidation and their undoing, which
//! are killed at another moment each time.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant, SystemTime};

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

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

    /// Starts the process and kills it. Returns whether it had done its work by then.
    fn killed(&self, arguments: &[&str], round: usize) -> bool {
        let mut process = self.started(arguments);
        std::thread::sleep(moment(self.takes, round));
        process.kill().unwrap();
        process.wait().unwrap().success()
    }
}

/// Returns the moment of a round within the time that work takes. Those of neighbouring rounds lie far apart.
fn moment(takes: Duration, round: usize) -> Duration {
    takes.mul_f64((round * 37 % 100) as f64 / 100.0)
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

/// The lines of an export. An episode that is not archived has no state in them: one that was archived keeps an empty
/// one.
fn exported(place: &Place) -> Vec<Value> {
    let mut lines = without_revisions(&place.run(&["memory", "export"]).ok().stdout);
    for line in lines.iter_mut().filter_map(Value::as_object_mut) {
        if line.get("episode_state").is_some_and(|state| state.get("archived_at").is_none()) {
            line.remove("episode_state");
        }
    }
    lines
}

/// Tells four episodes of a month ago that a run makes one of.
fn tell_the_same_of_a_month_ago(process: &mut McpProcess) {
    for number in 0..4 {
        let at = Timestamp::now() - SignedDuration::from_hours(24 * 40 + number);
        let told = process.call(
            "record_episode",
            json!({
                "task": {"original_input": "Restart the pager of the terminal"},
                "outcome": {"status": "SUCCESS"},
                "session_id": format!("a month ago, {number}"),
                "timestamp": at.to_string(),
            }),
        );
        assert_eq!(told["created"], true, "{told}");
    }
}

fn listed_episodes(place: &Place) -> usize {
    place.document(&["episode", "list", "--limit", "100"])["episodes"].as_array().unwrap().len()
}

#[test]
fn runs_that_are_killed_and_whose_undoing_is_killed_are_taken_back_exactly() {
    let place = place();
    let mut process = McpProcess::initialized(&place, &[]);
    tell_a_history(&mut process);
    tell_the_same_of_a_month_ago(&mut process);
    process.end();
    same_memories(&place);
    let (before, episodes) = (exported(&place), listed_episodes(&place));
    let lock = Some("data/.consolidation.lock");
    let running = Victim::of(&place, lock, &["consolidate", "--apply"]);
    assert_eq!((changes(&runs(&place), "consolidated"), changes(&runs(&place), "archived")), (1, 4));
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
        let (made, archived) = (changes(&listed, "consolidated"), changes(&listed, "archived"));
        assert_eq!(listed_episodes(&place) + archived, episodes + made, "round {round}: {listed:?}");
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

/// Checks that upkeep takes away what is left of work that was cut off, which it does an hour later: there are the
/// contents that these episodes have of their own and the one that all have, with two names each.
fn assert_artefacts_are_of(place: &Place, episodes: usize) {
    let past = SystemTime::now() - Duration::from_secs(2 * 3_600);
    for name in files(&place.path("data/artefacts")).iter().filter(|path| path.extension().is_none()) {
        fs::File::options().write(true).open(name).unwrap().set_modified(past).unwrap();
    }
    place.run(&["maintain", "--apply"]).ok();
    let left = files(&place.path("data/artefacts"));
    let contents = left.iter().filter(|path| path.extension().is_some_and(|end| end == "zst")).count();
    assert_eq!((contents, left.len()), (episodes + 1, 3 * episodes + 1), "contents, and all with names: {left:?}");
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
    assert_artefacts_are_of(&place, 1);
}

#[test]
fn episodes_whose_archiving_is_killed_are_whole_and_found_or_archived() {
    let place = place();
    let first = recorded(&place, "first");
    let archiving = Victim::of(&place, None, &["episode", "archive", &first]);
    let mut cut = 0;
    let rounds = kill_rounds(ROUNDS);
    for round in 0..rounds {
        let name = format!("round{round}");
        let id = recorded(&place, &name);
        let archive = ["episode", "archive", id.as_str()];
        let is_done = archiving.killed(&archive, round);
        let status = || place.document(&["episode", "get", &id])["lifecycle"]["archival_status"].clone();
        let is_archived = status() == "archived";
        assert!(is_archived || !is_done, "round {round}: it was acknowledged");
        cut += usize::from(!is_archived);
        let printed = place.run(&["episode", "artefact", &id, &format!("{name}.log")]).ok().stdout;
        assert_eq!(printed, format!("what {name} printed\n"), "round {round}");
        assert_eq!(place.document(&archive)["archived"], !is_archived, "round {round}");
        place.run(&["episode", "restore", &id]).ok();
        assert_eq!(status(), "active", "round {round}");
    }
    assert!(rounds < MANY || (0 < cut && cut < rounds), "{cut} archivings were cut off");
    assert_artefacts_are_of(&place, rounds + 1);
}

/// The episodes that are told at a time.
const EPISODES: usize = 4;
/// The answers to these, to a pattern, and to the application of a pattern in each.
const ANSWERS: usize = 2 * EPISODES + 1;

/// Tells episodes with two files each, and reports of each that a pattern was applied in it. It also adds patterns.
struct Teller {
    pattern: String,
    /// The patterns that were acknowledged, with the first one.
    patterns: BTreeSet<String>,
    told: usize,
    /// The episodes that were acknowledged, with their numbers.
    episodes: BTreeMap<String, usize>,
    /// The episodes whose applications were acknowledged.
    applied: BTreeSet<String>,
}

impl Teller {
    fn new(place: &Place) -> Self {
        let mut process = McpProcess::initialized(place, &[]);
        let added = process.call("record_pattern", Self::pattern("Build parts one by one"));
        process.end();
        let pattern = added["pattern_id"].as_str().unwrap().to_owned();
        let patterns = BTreeSet::from([pattern.clone()]);
        Self { pattern, patterns, told: 0, episodes: BTreeMap::new(), applied: BTreeSet::new() }
    }

    fn pattern(title: &str) -> Value {
        json!({
            "title": title, "description": "When parts are built.", "explanation": "Each part is built alone.",
            "category": "strategy",
            "content": {"type": "strategy", "approach": title, "key_principles": ["alone"]},
        })
    }

    fn send(process: &mut McpProcess, id: &str, tool: &str, arguments: &Value) {
        process.send(&json!({"id": id, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}));
    }

    /// Sends the calls of a round.
    fn tell(&mut self, process: &mut McpProcess) {
        let pattern = Self::pattern(&format!("Build all parts from {} on", self.told));
        Self::send(process, "pattern new", "record_pattern", &pattern);
        for _ in 0..EPISODES {
            self.told += 1;
            let own = json!({"name": "own.log", "text": format!("what part {} printed\n", self.told)});
            let shared = json!({"name": "shared.log", "text": "what all print\n"});
            let episode = json!({
                "task": {"original_input": format!("Build part {}", self.told)},
                "outcome": {"status": "SUCCESS"},
                "artefacts": [own, shared],
            });
            Self::send(process, &format!("episode {}", self.told), "record_episode", &episode);
        }
    }

    /// Reads one answer. An episode that is acknowledged is reported on.
    fn read(&mut self, process: &mut McpProcess) {
        let answer = process.read();
        let (kind, of) = answer["id"].as_str().unwrap().split_once(' ').unwrap();
        assert_eq!(answer["result"]["isError"], false, "{answer}");
        let told = &answer["result"]["structuredContent"];
        if kind == "application" {
            self.applied.insert(of.to_owned());
            return;
        }
        if kind == "pattern" {
            self.patterns.insert(told["pattern_id"].as_str().unwrap().to_owned());
            return;
        }
        let id = told["episode_id"].as_str().unwrap();
        let application = json!({"pattern_id": self.pattern, "trace_id": id});
        Self::send(process, &format!("application {id}"), "record_application", &application);
        self.episodes.insert(id.to_owned(), of.parse().unwrap());
    }

    /// Checks that all that was acknowledged is there, and that whatever is there is whole and once. Returns the number
    /// of episodes.
    fn check(&self, place: &Place) -> usize {
        let export = place.run(&["memory", "export"]).ok().stdout;
        let lines: Vec<Value> = export.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let ids = |is_such: fn(&Value) -> bool| -> BTreeSet<String> {
            let such = lines.iter().filter(|line| is_such(line));
            such.map(|line| line["trace_id"].as_str().unwrap().to_owned()).collect()
        };
        let kept = ids(|line| line["kind"] == "trace");
        assert_eq!(self.episodes.keys().find(|id| !kept.contains(*id)), None, "an episode was lost");
        let applied = ids(|line| line["application"]["kind"] == "reported");
        assert_eq!(self.applied.iter().find(|id| !applied.contains(*id)), None, "an application was lost");
        let listed = place.document(&["pattern", "list"])["patterns"].as_array().unwrap().clone();
        let listed: BTreeSet<&str> = listed.iter().map(|one| one["pattern_id"].as_str().unwrap()).collect();
        assert_eq!(self.patterns.iter().find(|id| !listed.contains(id.as_str())), None, "a pattern was lost");
        let mut process = McpProcess::initialized(place, &[]);
        let mut numbers = BTreeSet::new();
        for id in &kept {
            let task = process.call("get_episode", json!({"episode_id": id}))["task"]["original_input"].clone();
            let number: usize = task.as_str().unwrap().strip_prefix("Build part ").unwrap().parse().unwrap();
            assert!(numbers.insert(number), "part {number} is there twice");
            assert!(self.episodes.get(id).is_none_or(|told| *told == number), "part {number}");
            for (name, text) in
                [("own.log", format!("what part {number} printed\n")), ("shared.log", "what all print\n".into())]
            {
                let artefact = process.call("get_artefact", json!({"episode_id": id, "artefact": name}));
                assert_eq!(artefact["text"], text, "{name} of part {number}");
            }
        }
        process.end();
        kept.len()
    }
}

#[test]
fn what_was_told_of_tasks_before_a_kill_is_whole_and_what_was_not_acknowledged_is_whole_or_not_there() {
    let place = place();
    let mut teller = Teller::new(&place);
    let mut process = McpProcess::initialized(&place, &[]);
    let begun = Instant::now();
    teller.tell(&mut process);
    (0..ANSWERS).for_each(|_| teller.read(&mut process));
    let takes = begun.elapsed().div_f64(ANSWERS as f64);
    process.end();
    let rounds = kill_rounds(ROUNDS);
    for round in 0..rounds {
        let mut process = McpProcess::initialized(&place, &[]);
        teller.tell(&mut process);
        (0..round % ANSWERS).for_each(|_| teller.read(&mut process));
        std::thread::sleep(moment(takes, round));
        process.kill();
    }
    let kept = teller.check(&place);
    let (told, acknowledged) = (teller.told, teller.episodes.len());
    assert!(rounds < MANY || (acknowledged < kept && kept < told), "{acknowledged} of {told}, and {kept} are there");
    assert_artefacts_are_of(&place, kept);
}
