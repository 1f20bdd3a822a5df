//! The first token, from the file that `REASONING_BANK_BOOTSTRAP_TOKEN_FILE` names, and another one, by the command
//! that the start of a daemon names.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use reqwest::StatusCode;

use super::{Daemon, token};
use crate::support::{Place, Ran};

const VARIABLE: &str = "REASONING_BANK_BOOTSTRAP_TOKEN_FILE";

fn first_token() -> String {
    format!("rb_0123456789ab_{}", "5a".repeat(32))
}

fn start(place: &Place, file: &Path) -> Daemon {
    let mut command = place.command(&["--llm", "none", "serve", "--listen", "127.0.0.1:0"]);
    Daemon::of(command.env(VARIABLE, file).stderr(Stdio::null()))
}

/// Runs a start that cannot go well: the address is beyond this machine.
fn refused(place: &Place, file: &Path) -> Ran {
    let mut command = place.command(&["--llm", "none", "serve", "--listen", "0.0.0.0:0"]);
    Ran::of(command.env(VARIABLE, file).output().unwrap()).exits(2)
}

#[tokio::test]
async fn the_first_token_comes_from_a_file_and_later_ones_do_not() {
    let place = Place::new();
    let file = place.write("secret", &format!("{}\n", first_token()));
    let daemon = start(&place, &file);
    assert_eq!(daemon.initialize(None).send().await.unwrap().status(), StatusCode::UNAUTHORIZED);
    let session = daemon.session(Some(&first_token())).await.on("shop");
    session.record("what the first token wrote").await;
    let tokens = place.document(&["token", "list"])["tokens"].clone();
    assert_eq!((tokens.as_array().unwrap().len(), &tokens[0]["name"]), (1, &"bootstrap".into()), "{tokens}");
    assert_eq!(fs::read_to_string(&file).unwrap(), format!("{}\n", first_token()), "the file is left alone");
    assert!(!fs::read_to_string(place.path("data/tokens.json")).unwrap().contains(&first_token()));
    drop(daemon);

    place.run(&["token", "revoke", "bootstrap"]).ok();
    fs::write(&file, first_token().replace("5a", "6b")).unwrap();
    let again = start(&place, &file);
    for token in [first_token(), first_token().replace("5a", "6b")] {
        let refused = again.initialize(Some(&token)).send().await.unwrap();
        assert_eq!(refused.status(), StatusCode::UNAUTHORIZED, "a revoked token is not brought back");
    }
}

#[test]
fn a_file_without_a_token_ends_the_start_and_is_not_quoted() {
    let place = Place::new();
    let missing = refused(&place, &place.path("missing"));
    assert!(missing.stderr.contains(VARIABLE) && missing.stderr.contains("cannot be read"), "{}", missing.stderr);
    let directory = refused(&place, &place.path("home"));
    assert!(directory.stderr.contains("no regular file"), "{}", directory.stderr);
    for text in ["", "hunter2-hunter2", &first_token()[..40], &first_token().to_uppercase()] {
        let malformed = refused(&place, &place.write("secret", text));
        assert!(malformed.stderr.contains("holds no token of the form rb_ID_SECRET"), "{}", malformed.stderr);
        assert!(malformed.stderr.contains("openssl rand -hex 32"), "{}", malformed.stderr);
        assert!(text.is_empty() || !malformed.stderr.contains(text), "{}", malformed.stderr);
    }
    assert!(!place.path("data/tokens.json").exists());
}

#[tokio::test]
async fn the_command_that_a_start_names_makes_a_token() {
    let place = Place::new();
    let bank = place.path("the bank");
    let options = ["--data-dir", bank.to_str().unwrap()];
    token(&place, &[&options[..], &["ana", "--all-workspaces"]].concat());
    let daemon = Daemon::start(&place, &options);
    let named = daemon.next.split('`').nth(1).unwrap_or_else(|| panic!("{}", daemon.next));
    let binaries = Path::new(env!("CARGO_BIN_EXE_reasoning-bank")).parent().unwrap();
    let mut shell = Command::new("/bin/sh");
    let made = shell.args(["-c", named]).env_clear().env("PATH", binaries).env("HOME", place.path("home"));
    Ran::of(made.output().unwrap()).ok();
    let tokens = place.document(&[&options[..], &["token", "list"]].concat())["tokens"].clone();
    assert_eq!(tokens.as_array().unwrap().len(), 2, "{tokens}");
}
