//! The demo, as a stranger runs it.

use crate::support::Place;

#[test]
fn the_demo_shows_the_loop_on_the_real_store_and_leaves_nothing_behind() {
    let place = Place::new();
    let before = std::fs::read_dir(place.path("")).unwrap().count();
    let ran = place.run(&["demo"]).ok();
    assert_eq!(ran.stderr, "");
    let shown = ran.stdout;
    assert!(shown.contains("SIMULATED"), "{shown}");
    let task = |number: u32| {
        let (from, to) = (format!("\n{number}. "), format!("\n{}. ", number + 1));
        let rest = shown.split(&from).nth(1).unwrap();
        rest.split(&to).next().unwrap().to_owned()
    };
    assert!(task(1).contains("recalled  nothing that fits") && task(1).contains("learned   strategy"), "{shown}");
    let id = task(1).split("learned   strategy").nth(1).unwrap().lines().nth(1).unwrap().trim().to_owned();
    assert!(task(2).contains("recalled  strategy") && task(2).contains(&id), "{shown}");
    assert!(task(2).contains("similarity + ") && task(2).contains("cosine"), "{shown}");
    assert!(task(3).contains("outcome   failure") && task(3).contains("learned   warning"), "{shown}");
    assert!(task(4).contains("recalled  warning") && task(4).contains("outcome   success"), "{shown}");
    assert!(shown.contains("$ reasoning-bank memory search"), "{shown}");
    assert_eq!(std::fs::read_dir(place.path("")).unwrap().count(), before);
}

#[test]
fn a_demo_that_is_kept_can_be_searched_as_it_says() {
    let place = Place::new();
    let bank = place.path("bank");
    let shown = place.run(&["demo", "--data-dir", bank.to_str().unwrap()]).ok().stdout;
    let said = shown.lines().last().unwrap();
    let arguments: Vec<&str> = said.trim().split(' ').skip(1).take_while(|word| !word.starts_with('"')).collect();
    let found = place.run(&[&arguments[..], &["quoted CSV fields", "--json"]].concat()).ok().json();
    assert!(found["memories"].as_array().unwrap().len() >= 2, "{said}: {found}");
}

#[test]
fn the_demo_is_one_json_document_where_asked_for() {
    let document = Place::new().run(&["demo", "--json"]).ok().json();
    assert_eq!(document["simulated"], true);
    assert_eq!(document["tasks"].as_array().unwrap().len(), 4);
    assert_eq!(document["tasks"][1]["recalled"][0]["id"], document["tasks"][0]["report"]["learnings"][0]["id"]);
}
