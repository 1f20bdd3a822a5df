use super::*;
use crate::cli::testing::{loaded, system};

#[tokio::test]
async fn the_second_task_of_a_kind_is_told_what_the_first_taught() {
    let system = system().await;
    let settings = settings(loaded().settings, Path::new("/nowhere/bank"));
    let mut shown = Vec::new();
    let handle = system.handle();
    let tour = run(&settings, &handle, |number, stop| {
        shown.push(tour::stop(number, stop));
        Ok(())
    });
    let tour = tour.await.unwrap();
    let [search, search_again, parse, parse_again] = tour.tasks.as_slice() else { panic!("other tasks") };
    assert!(search.recalled.is_empty() && parse.recalled.iter().all(|entry| !entry.memory.warning));
    assert_eq!(search_again.recalled[0].memory.id, search.report.learnings[0].id);
    assert!(!search_again.recalled[0].memory.warning);
    assert_eq!(parse.report.outcome.as_str(), "failure");
    assert!(parse_again.recalled.iter().any(|entry| {
        entry.memory.warning && parse.report.learnings.iter().any(|learned| learned.id == entry.memory.id)
    }));
    assert_eq!(parse_again.report.outcome.as_str(), "success");
    assert_eq!(shown.len(), 4);

    let text = shown.join("\n");
    assert!(text.contains("recalled  nothing that fits") && text.contains("recalled  warning "));
    assert!(tour::opening(&settings, true).contains("SIMULATED"));
    assert!(tour::closing(&tour, false).contains("memory search"));
    assert!(tour::closing(&tour, false).contains("--data-dir /nowhere/bank"));
    system.stop(Duration::from_secs(5)).await;
}
