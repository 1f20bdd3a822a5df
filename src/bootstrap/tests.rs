use std::ffi::OsString;

use rstest::rstest;

use super::*;
use crate::settings::{Flags, SettingSources, load};

fn settings(variables: &[(&str, &str)]) -> Settings {
    let home = tempfile::tempdir().unwrap();
    let sources = SettingSources {
        environment: variables.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))).collect(),
        directory: home.path().to_owned(),
        home: Some(home.path().to_owned()),
        config_home: None,
        data_home: Some(home.path().to_owned()),
        flags: Flags::default(),
    };
    load(&sources).unwrap().settings
}

#[rstest]
#[case(&[], SolveSettings::default().concurrency)]
#[case(&[("REASONING_BANK__AGENT__CONCURRENCY", "3")], 3)]
fn the_settings_say_how_many_tasks_run_at_once(#[case] variables: &[(&str, &str)], #[case] expected: usize) {
    assert_eq!(system_settings(&settings(variables)).solve.concurrency, expected);
}
