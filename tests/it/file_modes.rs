//! Tests that other users of the machine cannot read the files of a bank, whatever the umask says, and that its owner
//! can, whoever made them.

use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{Place, Ran};

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap_or_else(|error| panic!("{}: {error}", path.display())).permissions().mode() & 0o777
}

/// The binary under a umask that closes nothing.
fn run_open(place: &Place, arguments: &[&str]) -> Ran {
    let command = place.command(arguments);
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", "umask 0 && exec \"$0\" \"$@\""]).arg(command.get_program()).args(command.get_args());
    shell.env_clear().envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    Ran::of(shell.current_dir(command.get_current_dir().unwrap()).output().unwrap())
}

#[test]
fn what_is_made_is_closed_to_other_users() {
    let place = Place::new();
    let (log, traces) = (place.path("logs/bank.log"), place.path("written/traces"));
    let settings = format!("log.file = {log:?}\n[traces]\nfiles = true\ndir = {traces:?}\n");
    place.write("config/reasoning-bank/config.toml", &settings);
    run_open(&place, &["--llm", "simulated", "solve", "--no-matts", "write a binary search"]).ok();
    let project = place.path("project").display().to_string();
    run_open(&place, &["workspace", "switch", &project]).ok();

    for directory in ["data", "logs", "written", "written/traces"] {
        assert_eq!(mode(&place.path(directory)), 0o700, "{directory}");
    }
    assert_eq!(mode(&log), 0o600);
    let written: Vec<_> = std::fs::read_dir(&traces).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(!written.is_empty());
    for path in written {
        assert_eq!(mode(&path), if path.is_dir() { 0o700 } else { 0o600 }, "{}", path.display());
    }
    // The mode of the data directory guards what lies in it; the choice of a workspace is a file of its own all the
    // same.
    let files = std::fs::read_dir(place.path("data")).unwrap().map(|entry| entry.unwrap().path());
    for path in files.filter(|path| path.extension().is_some_and(|extension| extension == "toml")) {
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}

/// A directory that somebody made is theirs to close.
#[test]
fn a_directory_that_is_there_keeps_its_mode() {
    let place = Place::new();
    let data = place.path("data");
    std::fs::create_dir(&data).unwrap();
    std::fs::set_permissions(&data, std::fs::Permissions::from_mode(0o750)).unwrap();
    let lesson = ["memory", "record", "--title", "t", "--description", "when", "--content", "what to do"];
    run_open(&place, &[&["--llm", "none"], &lesson[..]].concat()).ok();
    assert_eq!(mode(&data), 0o750);
    assert_eq!(mode(&data.join("lance")), 0o700);
}

const SERVICE: u32 = 12_345;

/// The paths of a directory and of all below it that do not belong to the service.
fn of_others(dir: &Path) -> Vec<PathBuf> {
    let about = dir.symlink_metadata().unwrap();
    let entries = about.is_dir().then(|| std::fs::read_dir(dir).unwrap()).into_iter().flatten();
    let below = entries.flat_map(|entry| of_others(&entry.unwrap().path()));
    let own = ((about.uid(), about.gid()) != (SERVICE, SERVICE)).then(|| dir.to_owned());
    own.into_iter().chain(below).collect()
}

/// Root runs commands on the data directory of a daemon that runs as another user.
#[test]
#[allow(clippy::print_stderr, reason = "a test that is skipped says so")]
fn what_root_makes_in_the_data_directory_of_a_service_belongs_to_the_service() {
    let place = Place::new();
    let [data, restored, backup] = ["data", "restored", "backup"].map(|name| place.path(name));
    for dir in [&data, &restored] {
        std::fs::create_dir(dir).unwrap();
        if dir.metadata().unwrap().uid() != 0 {
            eprintln!("skipped: only root can make a directory of another user");
            return;
        }
        chown(dir, Some(SERVICE), Some(SERVICE)).unwrap();
    }
    let [backup, restored_to] = [&backup, &restored].map(|path| path.display().to_string());
    let lesson =
        ["--llm", "none", "memory", "record", "--title", "t", "--description", "when", "--content", "what to do"];
    let commands = [
        &["token", "create", "ana", "--all-workspaces"][..],
        &lesson,
        &["backup", "create", &backup],
        &["token", "revoke", "ana"],
        &["--data-dir", &restored_to, "backup", "restore", &backup],
    ];
    for command in commands {
        run_open(&place, command).ok();
        assert_eq!([of_others(&data), of_others(&restored)].concat(), Vec::<PathBuf>::new(), "{command:?}");
    }
    assert!(data.join("tokens.json").exists() && restored.join("lance").exists());
}
