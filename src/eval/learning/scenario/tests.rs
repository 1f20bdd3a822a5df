use super::*;

/// Parses a scenario with these steps.
fn parsed(steps: &str) -> Result<Scenario, String> {
    let file: ScenarioFile =
        toml::from_str(&format!("[[scenario]]\nname = 'x'\n{steps}")).map_err(|error| error.to_string())?;
    let scenario = file.scenario.into_iter().next().ok_or("none")?;
    check::check(&scenario).map(|()| scenario)
}

#[track_caller]
fn refused(steps: &str, why: &str) {
    let problem = parsed(steps).unwrap_err();
    assert!(problem.contains(why), "{problem}");
}

const RECORD: &str = "[[scenario.step]]\nrecord.as = 'a'\nrecord.title = 't'\nrecord.content = 'c'\n";

#[test]
fn a_step_does_one_thing_in_the_usual_project_and_session() {
    let scenario = parsed(&format!("{RECORD}expect.memories = 1\n")).unwrap();
    let step = &scenario.steps[0];
    assert_eq!((step.project.as_str(), step.session.as_str()), (PROJECT, SESSION));
    assert!(matches!(&step.action, Some(StepAction::Record(record)) if record.by == Trust::Agent));
    refused(&format!("{RECORD}learn.text = 'x'\nexpect.memories = 1\n"), "a step does one thing");
}

#[test]
fn what_can_never_be_met_or_never_fail_is_refused() {
    refused(RECORD, "nothing is expected");
    refused(&format!("{RECORD}expect.steady = ['b']\n"), "no lesson is called \"b\" yet");
    refused(&format!("{RECORD}expect.memories = 1\n{RECORD}"), "\"a\" is the name of an earlier lesson");
    refused(&format!("{RECORD}expect.not_shown = ['a']\n"), "belong to a retrieve");
    refused(&format!("{RECORD}expect.kept = false\n"), "belongs to a capture");
    refused(&format!("{RECORD}expect.not_injected = ['a']\n"), "belong to a solve");
    refused("[[scenario.step]]\nretrieve.query = 'q'\nexpect.status = 'created'\n", "belong to a record");
    refused("[[scenario.step]]\nexpect.refused = true\n", "that does something");
    refused("[[scenario.step]]\nsupersede = { older = 'a', undo = true }\n", "no lesson is called \"a\" yet");
    refused(&format!("{RECORD}record.supersedes = ['b']\n"), "no lesson is called \"b\" yet");
    let supersede = "[[scenario.step]]\nsupersede.older = 'a'\nexpect.not_linked = ['a']\n";
    refused(&format!("{RECORD}{supersede}"), "supersede needs by, or undo");
    refused("[[scenario.step]]\nreport.solve = 's'\nexpect.refused = true\n", "no solve is called \"s\" yet");
    let solve = "[[scenario.step]]\nsolve.task = 't'\nsolve.passes = true\nexpect.memories = 0\n";
    refused(&format!("{solve}solve.attempts = []\n"), "at least one of attempts");
    refused(&format!("{solve}solve.attempts = [{{ answer = 'a', score = 2 }}]\n"), "between 0 and 1");
    refused(&format!("{RECORD}expect.memory = 1\n"), "unknown field `memory`");
}

#[test]
fn a_long_text_is_written_out_line_by_line() {
    let step = "[[scenario.step]]\nexpect.memories = 1\nlearn.text = { before = '<', line = 'n{n};', times = 3, after = '>' }\n";
    let Some(StepAction::Learn(learn)) = &parsed(step).unwrap().steps[0].action else { panic!("no learn") };
    assert_eq!(learn.text.written_out(), "<n1;n2;n3;>");
    assert!(learn.text.most_bytes() >= learn.text.written_out().len() as u64);
    refused(&step.replace("times = 3", "times = 4000000000"), "once it is written out");
    refused(&step.replace("times = 3", "times = -1"), "a text, or a table with line and times");
}

#[test]
fn files_are_read_in_order_and_named_where_they_are_wrong() {
    let place = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(place.path().join(name), text).unwrap();
    assert!(read(place.path()).unwrap_err().to_string().contains("no file whose name ends with .toml"));
    let one = format!("[[scenario]]\nname = 'x'\n{RECORD}expect.memories = 1\n");
    write("b.toml", &one);
    write("a.toml", &one);
    write("README.md", "no scenario");
    let topics: Vec<String> = read(place.path()).unwrap().into_iter().map(|(topic, _)| topic).collect();
    assert_eq!(topics, ["a", "b"]);
    assert_eq!(read(&place.path().join("b.toml")).unwrap().len(), 1);
    write("b.toml", &format!("{one}{one}"));
    let problem = read(place.path()).unwrap_err().to_string();
    assert!(problem.contains("b.toml: \"x\": another scenario of the file has the same name"), "{problem}");
    assert!(read(&place.path().join("c.toml")).is_err());
}
