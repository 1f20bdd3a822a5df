use reasoning_bank_domain::memory::ids::TaskId;
use reasoning_bank_domain::memory::workspace::WorkspaceId;
use reasoning_bank_domain::prompt::{Prompts, Template, render};
use reasoning_bank_domain::solve::answer::{Answer, read};

use super::*;

fn completion(template: Template, attempt: Option<u32>, values: &[(&str, &str)]) -> Completion {
    let prompt = render(&Prompts::default(), template, values, 32_000);
    Completion {
        purpose: template.purpose(),
        workspace_id: WorkspaceId::of_root("/project"),
        task_id: TaskId::from(uuid::Uuid::from_u128(1)),
        attempt,
        instructions: prompt.instructions,
        input: prompt.input,
        max_output_tokens: 1_000,
    }
}

async fn ask(model: &Simulated, template: Template, attempt: Option<u32>, values: &[(&str, &str)]) -> Answer {
    let deadline = Deadline::after(Duration::from_secs(60));
    let reply =
        model.complete(completion(template, attempt, values), deadline, CancellationToken::new()).await.unwrap();
    read(template.purpose(), &reply.text).unwrap()
}

async fn score_of(model: &Simulated, task: &str, memories: &str) -> f64 {
    let Answer::Draft(solution) = ask(model, Template::Think, Some(1), &[("task", task), ("memories", memories)]).await
    else {
        panic!("not a draft")
    };
    assert!(solution.contains("simulated"));
    match ask(model, Template::Evaluate, Some(1), &[("task", task), ("solution", &solution)]).await {
        Answer::Evaluation(evaluation) => evaluation.score,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn every_purpose_is_answered_in_its_form_and_the_same_for_the_same_seed() {
    let values = [("task", "parse a csv file"), ("solution", "x"), ("attempts", "y"), ("memories", "none")];
    for template in Template::ALL {
        let first = ask(&Simulated::new(SimulatedBehaviour::default()), template, Some(1), &values).await;
        let again = ask(&Simulated::new(SimulatedBehaviour::default()), template, Some(1), &values).await;
        assert_eq!(first, again);
    }
}

#[tokio::test]
async fn a_recalled_lesson_of_the_kind_makes_the_solution_better() {
    let model = Simulated::new(SimulatedBehaviour::default());
    let task = "write a binary search over a sorted list";
    let lesson = format!("<{FENCE}>Search with an inclusive lower and an exclusive upper bound</{FENCE}>");
    assert!(score_of(&model, task, &lesson).await > score_of(&model, task, "nothing").await + 0.1);
}

#[tokio::test]
async fn a_trap_catches_who_was_not_warned() {
    let model = Simulated::new(SimulatedBehaviour::default());
    let warning = format!("<{FENCE}>Splitting a quoted format at its separator breaks fields apart</{FENCE}>");
    assert!(score_of(&model, "parse a csv file", "nothing").await < 0.5);
    assert!(score_of(&model, "parse a csv file", &warning).await > 0.6);
}

#[tokio::test(start_paused = true)]
async fn latency_and_failures_come_as_ordered() {
    let latency = SimulatedLatency { base: Duration::from_millis(400), jitter: 0.0 };
    let model = Simulated::new(SimulatedBehaviour { latency, ..SimulatedBehaviour::default() });
    let begun = tokio::time::Instant::now();
    ask(&model, Template::Think, Some(1), &[("task", "x")]).await;
    assert_eq!(begun.elapsed(), Duration::from_millis(400));

    let model = Simulated::new(SimulatedBehaviour { failure_rate: 0.2, ..SimulatedBehaviour::default() });
    let mut failed = 0;
    for _ in 0..1_000 {
        let request = completion(Template::Think, Some(1), &[("task", "x")]);
        let call = model.complete(request, Deadline::after(Duration::from_secs(1)), CancellationToken::new());
        failed += usize::from(call.await.is_err());
    }
    assert!((150..250).contains(&failed), "{failed} of 1000 failed");
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_call_ends_at_once_and_a_late_one_at_its_deadline() {
    let latency = SimulatedLatency { base: Duration::from_secs(60), jitter: 0.0 };
    let model = Simulated::new(SimulatedBehaviour { latency, ..SimulatedBehaviour::default() });
    let request = || completion(Template::Think, Some(1), &[("task", "x")]);
    let cancel = CancellationToken::new();
    cancel.cancel();
    let late = Deadline::after(Duration::from_secs(1));
    assert_eq!(model.complete(request(), late, cancel).await, Err(ModelError::Cancelled.into()));
    assert_eq!(model.complete(request(), late, CancellationToken::new()).await, Err(ModelError::TimedOut.into()));
}
