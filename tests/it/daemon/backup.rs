//! Tests of backups of a bank that a daemon has open: by hand under load, and by themselves from time to time.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::{Daemon, place_with_all_tools, token};
use crate::support::Place;

const WRITERS: usize = 6;

/// The texts of the memories that a bank exports, and their vectors, by id.
fn exported(place: &Place, data: &str) -> BTreeMap<String, Value> {
    let data = place.path(data).display().to_string();
    let lines = place.run(&["--data-dir", &data, "memory", "export", "--all", "--vectors"]).ok().stdout;
    let lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let memories = lines.filter(|line| line["kind"] == "memory");
    let text = |line: Value| {
        let fields = ["title", "description", "content", "created_at", "passages"].map(|field| line[field].clone());
        assert!(fields.iter().all(|field| !field.is_null()), "{line}");
        (line["id"].as_str().unwrap().to_owned(), json!(fields))
    };
    memories.map(text).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_under_load_has_all_that_was_acknowledged_before_it_and_nothing_torn() {
    let place = Arc::new(place_with_all_tools());
    let ana = token(&place, &["ana", "--all-workspaces"]);
    let mut daemon = Daemon::start(&place, &super::ALL_TOOLS);
    let load = Load::default();
    let (_, made) = tokio::join!(written(&daemon, &ana, &load), three_backups(&place, &load));
    assert_eq!(daemon.terminate(), Some(0));
    let all = exported(&place, "data");
    assert!(load.acknowledged.lock().unwrap().iter().all(|id| all.contains_key(id)));
    let mut sizes = Vec::new();
    for (name, before) in made {
        let found = restored(&place, &name);
        for id in &before {
            assert!(found.contains_key(id), "{name}: {id} was acknowledged before the backup began");
        }
        for (id, memory) in &found {
            assert_eq!(Some(memory), all.get(id), "{name}: {id} is torn");
        }
        sizes.push(found.len());
        it_is_found_in_what_was_restored(&place, &name, found[before.last().unwrap()][0].as_str().unwrap()).await;
    }
    assert!(sizes.is_sorted() && sizes[2] > sizes[0], "{sizes:?}");
}

/// The messages between those who write and those who make backups.
#[derive(Clone, Default)]
struct Load {
    stop: Arc<AtomicBool>,
    /// The ids of the memories that were acknowledged.
    acknowledged: Arc<Mutex<Vec<String>>>,
}

/// Writes by several sessions at once, until it is told to stop.
async fn written(daemon: &Daemon, token: &str, load: &Load) {
    let sessions = futures::future::join_all((0..WRITERS).map(|_| daemon.session(Some(token)))).await;
    let writers = sessions.into_iter().enumerate().map(|(writer, session)| {
        let session = session.on("shop");
        async move {
            for n in 0.. {
                if load.stop.load(Ordering::Relaxed) {
                    break;
                }
                let id = session.record(&format!("deploying service {writer} in region {n}")).await;
                load.acknowledged.lock().unwrap().push(id);
            }
        }
    });
    futures::future::join_all(writers).await;
}

/// Makes three backups, each after some more was written, and then stops who writes. Returns the name of each, with
/// what was acknowledged before it began.
async fn three_backups(place: &Arc<Place>, load: &Load) -> Vec<(String, Vec<String>)> {
    let (place, load) = (Arc::clone(place), load.clone());
    let making = tokio::task::spawn_blocking(move || {
        let backup = |n: usize| {
            while load.acknowledged.lock().unwrap().len() < n * 25 {
                std::thread::yield_now();
            }
            let before = load.acknowledged.lock().unwrap().clone();
            let name = format!("kept/{n}");
            place.run(&["backup", "create", &place.path(&name).display().to_string()]).ok();
            (name, before)
        };
        let made = (1..=3).map(backup).collect();
        load.stop.store(true, Ordering::Relaxed);
        made
    });
    making.await.unwrap()
}

/// Restores a backup, and returns what it has.
fn restored(place: &Place, name: &str) -> BTreeMap<String, Value> {
    let backup = place.path(name).display().to_string();
    assert_eq!(place.document(&["backup", "verify", &backup])["whole"], true, "{name}");
    let data = format!("restored/{name}");
    let restored =
        place.document(&["--data-dir", &place.path(&data).display().to_string(), "backup", "restore", &backup]);
    let found = exported(place, &data);
    assert_eq!(restored["memories_now"], found.len());
    found
}

/// It is found by its words and its meaning, as it was in the bank.
async fn it_is_found_in_what_was_restored(place: &Place, name: &str, title: &str) {
    let data = place.path(&format!("restored/{name}")).display().to_string();
    let daemon = Daemon::start(place, &["--config", "all.toml", "--data-dir", &data]);
    let recalled = daemon.session(None).await.on("shop").recalled(title).await;
    assert!(recalled.iter().any(|found| found == title), "{name}: {title} among {recalled:?}");
}

/// The lines of the log of a daemon, until one has this text.
fn logged(log: &mut impl BufRead, wanted: &str) -> String {
    let mut line = String::new();
    loop {
        line.clear();
        assert!(log.read_line(&mut line).unwrap() > 0, "the log ended before {wanted:?}");
        if line.contains(wanted) {
            return line;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn scheduled_backups_are_made_and_the_newest_are_kept_and_nothing_else_is_touched() {
    let place = place_with_all_tools();
    let backups = place.path("backups");
    let config = format!("[mcp]\ntoolsets = [\"all\"]\n[backup]\ndir = {backups:?}\nevery = \"1s\"\nkeep = 2\n");
    place.write("project/all.toml", &config);
    place.write("backups/photos/holiday.jpg", "not ours");
    place.write("backups/reasoning-bank-000000000000-20200101T000000Z/manifest.json", "of another bank");
    let mut command = place.command(&["--llm", "none", "--config", "all.toml", "serve", "--listen", "127.0.0.1:0"]);
    let mut daemon = Daemon::of(command.stderr(Stdio::piped()));
    let mut log = BufReader::new(daemon.child.stderr.take().unwrap());
    {
        let session = daemon.session(None).await.on("shop");
        session.record("what is kept").await;
        (0..4).for_each(|_| drop(logged(&mut log, "a backup was made")));
        let health = session.call("health_check", json!({})).await;
        let check = health["checks"].as_array().unwrap().iter().find(|check| check["name"] == "backups").unwrap();
        assert_eq!(check["status"], "ok", "{health}");
        let metrics = daemon.get("/metrics").send().await.unwrap().text().await.unwrap();
        assert!(metrics.contains("\nreasoning_bank_backup_newest_time_seconds 1"), "{metrics}");
    }
    assert_eq!(daemon.terminate(), Some(0));
    let mut names: Vec<String> =
        fs::read_dir(&backups).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert!(
        names.contains(&"photos".to_owned())
            && names.contains(&"reasoning-bank-000000000000-20200101T000000Z".to_owned())
    );
    let own: Vec<&String> =
        names.iter().filter(|name| name.starts_with("reasoning-bank-") && !name.contains("000000000000")).collect();
    assert!((2..=3).contains(&own.len()), "{names:?}");
    let newest = backups.join(own.last().unwrap()).display().to_string();
    let verified = place.document(&["backup", "verify", &newest]);
    assert_eq!((&verified["whole"], &verified["memories"]), (&true.into(), &1.into()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scheduled_backup_that_cannot_be_made_is_told() {
    let place = place_with_all_tools();
    let (backups, file) = (place.path("backups"), place.write("file", "no directory"));
    fs::create_dir(place.path("disk")).unwrap();
    symlink(place.path("disk"), &backups).unwrap();
    let config = format!("[mcp]\ntoolsets = [\"all\"]\n[backup]\ndir = {backups:?}\nevery = \"1s\"\n");
    place.write("project/all.toml", &config);
    let mut command = place.command(&["--llm", "none", "--config", "all.toml", "serve", "--listen", "127.0.0.1:0"]);
    let mut daemon = Daemon::of(command.stderr(Stdio::piped()));
    let mut log = BufReader::new(daemon.child.stderr.take().unwrap());
    let session = daemon.session(None).await.on("shop");
    logged(&mut log, "a backup was made");
    fs::rename(file, &backups).unwrap();
    session.record("still works").await;
    logged(&mut log, "a backup that is due was not made");
    let health = session.call("health_check", json!({})).await;
    let check = health["checks"].as_array().unwrap().iter().find(|check| check["name"] == "backups").unwrap();
    assert_eq!((&check["status"], &health["status"]), (&"warn".into(), &"degraded".into()), "{health}");
    assert_eq!(session.recalled("works").await, ["still works"]);
}

#[test]
fn a_directory_that_no_backup_can_be_made_in_ends_the_start() {
    let place = place_with_all_tools();
    let file = place.write("backups", "no directory");
    let serve = |dir: &Path| {
        place.write("project/backups.toml", &format!("[backup]\ndir = {dir:?}\n"));
        let arguments = ["--llm", "none", "--config", "backups.toml", "serve", "--listen", "127.0.0.1:0"];
        place.run(&arguments).exits(2).stderr
    };
    let told = serve(&file);
    assert!(told.contains("backup.dir") && told.contains(&file.display().to_string()), "{told}");
    let told = serve(&place.path("data/backups"));
    assert!(told.contains("backup.dir") && told.contains("lies in the data directory"), "{told}");
}
