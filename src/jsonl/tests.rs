use serde::Deserialize;

use super::*;

#[derive(Debug, Deserialize, PartialEq)]
struct Thing {
    id: u32,
    #[serde(default)]
    parts: Vec<String>,
}

fn ids(source: impl Read) -> Result<Vec<(String, u32)>, ReadError> {
    let mut ids = Vec::new();
    read(source, |place, thing: Thing| {
        ids.push((place.to_owned(), thing.id));
        Ok(())
    })?;
    Ok(ids)
}

fn problems(source: impl Read) -> Vec<String> {
    match ids(source) {
        Err(ReadError::Bad(problems)) => problems.iter().map(LocatedProblem::to_string).collect(),
        other => panic!("{other:?}"),
    }
}

fn places(found: Vec<(String, u32)>) -> Vec<String> {
    found.into_iter().map(|(place, id)| format!("{place}={id}")).collect()
}

#[test]
fn lines_and_arrays_give_the_same_things() {
    let lines = places(ids(&b"{\"id\":1}\r\n\n  {\"id\":2}"[..]).unwrap());
    assert_eq!(lines, ["line 1=1", "line 3=2"]);
    let array = places(ids(&b" \n[{\"id\":1},\n {\n\"id\": 2}\n]\n"[..]).unwrap());
    assert_eq!(array, ["item 1=1", "item 2=2"]);
    for marked in ["\u{feff}{\"id\":1}\n", "\u{feff}[{\"id\":1}]"] {
        assert_eq!(ids(marked.as_bytes()).unwrap()[0].1, 1, "{marked:?}");
        let mut read = Vec::new();
        let keep = |id| {
            read.push(id);
            Ok(())
        };
        read_on_all_cores(marked.as_bytes(), |thing: Thing| Ok(thing.id), keep).unwrap();
        assert_eq!(read, [1], "{marked:?}");
    }
    for empty in ["", "\n\n", "[]", " [ ] \n"] {
        assert_eq!(ids(empty.as_bytes()).unwrap(), [], "{empty:?}");
    }
}

#[test]
fn every_problem_is_told_by_line_and_field() {
    let text = "{\"id\":1}\n{\"id\":\"x\"}\n{\"id\":2\n{\"id\":3,\"parts\":[\"a\",7]}\n{} x\n{\"id\":4} x\n";
    insta::assert_snapshot!(problems(text.as_bytes()).join("\n"), @r#"
    line 2, id: invalid type: string "x", expected u32 (column 9)
    line 3: EOF while parsing an object
    line 4, parts[1]: invalid type: integer `7`, expected a string (column 22)
    line 5: missing field `id` (column 2)
    line 6: trailing characters (column 10)
    "#);
    let array = "[{\"id\":1},{\"id\":\"x\"},{\"parts\":[0]},{\"id\":3}";
    insta::assert_snapshot!(problems(array.as_bytes()).join("\n"), @r#"
    item 2, id: invalid type: string "x", expected u32 (column 9)
    item 3, parts[0]: invalid type: integer `0`, expected a string (column 11)
    item 5: the array has no end
    "#);
}

#[test]
fn after_twenty_problems_nothing_more_is_looked_at() {
    for text in ["7\n".repeat(1_000), format!("[{}0]", "7,".repeat(1_000))] {
        let Err(error) = ids(text.as_bytes()) else { panic!("taken") };
        let said = error.to_string();
        assert_eq!(said.lines().count(), 1 + 20 + 1, "{said}");
        assert!(said.ends_with("what comes after was not checked"), "{said}");
    }
}

#[test]
fn what_is_too_long_ends_the_reading_with_bounded_memory() {
    let endless = |start: &'static str| start.as_bytes().chain(io::repeat(b'x'));
    assert_eq!(problems(endless("{\"id\":1}\n\"")), ["line 2: has more than 16777216 bytes"]);
    assert_eq!(problems(endless("[{\"id\":1},\"")), ["item 2: has more than 16777216 bytes"]);
}

#[test]
fn a_problem_does_not_quote_a_secret() {
    let secret = format!("ghp_{}", "a1B2".repeat(9));
    let said = problems(format!("{{\"id\":\"{secret}\"}}").as_bytes()).join("\n");
    assert!(said.contains("[REDACTED:") && !said.contains(&secret), "{said}");
}

#[test]
fn who_takes_the_things_may_refuse_them() {
    let refuse = |_: &str, thing: Thing| match thing.id {
        1 => Ok(()),
        2 => Err(Refusal::Bad(vec![ItemProblem::new("id", "is 2"), ItemProblem::new("", "is all wrong")])),
        _ => Err(Refusal::Io(io::Error::other("no room"))),
    };
    let Err(ReadError::Bad(bad)) = read(&b"{\"id\":1}\n{\"id\":2}\n"[..], refuse) else { panic!("taken") };
    assert_eq!(
        bad.iter().map(LocatedProblem::to_string).collect::<Vec<_>>(),
        ["line 2, id: is 2", "line 2: is all wrong"]
    );
    assert!(matches!(read(&b"[{\"id\":2},{\"id\":3}]"[..], refuse), Err(ReadError::Io(_))));
}

#[test]
fn that_a_thing_could_not_be_taken_is_told_apart_from_that_it_could_not_be_read() {
    let no_room = |_: Thing| Err(io::Error::other("no room"));
    let not_taken = read_on_all_cores(&b"{\"id\":1}\n"[..], Ok, no_room);
    assert!(matches!(not_taken, Err(ReadError::NotTaken(_))), "{not_taken:?}");
    let directory = std::fs::File::open("/").unwrap();
    let not_read = read_on_all_cores(directory, Ok, no_room);
    assert!(matches!(not_read, Err(ReadError::Io(_))), "{not_read:?}");
}
