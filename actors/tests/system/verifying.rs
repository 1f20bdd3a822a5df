//! A solve whose caller has a check of its own.

use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use reasoning_bank_actors::agents::SolveOptions;
use reasoning_bank_actors::ports::{Verifier, VerifyError};
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_domain::memory::observation::{EvidenceKind, Observed};
use reasoning_bank_domain::memory::trace::{Outcome, VerdictSource};
use tokio_util::sync::CancellationToken;

use crate::support::*;

#[derive(Debug, Clone)]
enum Check {
    Says { passed: bool, detail: &'static str },
    Never,
    Panics,
}

impl Verifier for Check {
    fn verify(
        &self,
        solution: String,
        _: Deadline,
        cancel: CancellationToken,
    ) -> BoxFuture<'_, Result<Observed, VerifyError>> {
        assert!(!solution.is_empty());
        async move {
            match self {
                Self::Says { passed, detail } => {
                    let detail = Some((*detail).to_owned());
                    Ok(Observed { kind: EvidenceKind::ExitCode, passed: *passed, detail })
                }
                Self::Never => {
                    cancel.cancelled().await;
                    Err(VerifyError::Cancelled)
                }
                Self::Panics => panic!("the check is broken"),
            }
        }
        .boxed()
    }
}

fn with(check: Check) -> SolveOptions {
    SolveOptions { verifier: Some(std::sync::Arc::new(check)), ..call() }
}

#[tokio::test(start_paused = true)]
async fn what_a_check_observed_wins_over_the_judge_and_is_kept_without_its_secrets() {
    let world = world(good_model()).await;
    let call = with(Check::Says { passed: false, detail: "exit code 1\nghp_0123456789abcdefghijABCDEFGHIJ012345" });
    let report = world.handle.agents.solve(task("sort", 1), project(), call).await.unwrap();
    assert_eq!((report.outcome, report.verdict_source), (Outcome::Failure, VerdictSource::Evidence));
    let trace = world.handle.store.trace(report.trace_id.unwrap(), None, soon()).await.unwrap().unwrap();
    let evidence = trace.evidence.unwrap();
    assert!(evidence.starts_with("exit_code failed: exit code 1"), "{evidence}");
    assert!(!evidence.contains("ghp_") && !format!("{report:?}").contains("ghp_"));
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_check_that_does_not_end_leaves_the_verdict_to_the_judge() {
    let world = world(good_model()).await;
    let begun = tokio::time::Instant::now();
    let call = SolveOptions { deadline: Deadline::after(Duration::from_secs(100)), ..with(Check::Never) };
    let report = world.handle.agents.solve(task("sort", 1), project(), call).await.unwrap();
    assert_eq!((report.outcome, report.verdict_source), (Outcome::Success, VerdictSource::Judge));
    assert!(
        report.warnings.iter().any(|warning| warning.to_string().starts_with("not_verified")),
        "{:?}",
        report.warnings
    );
    assert!(begun.elapsed() <= Duration::from_secs(50), "{:?}", begun.elapsed());
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_check_that_panics_leaves_the_verdict_to_the_judge() {
    let world = world(good_model()).await;
    let report = world.handle.agents.solve(task("sort", 1), project(), with(Check::Panics)).await.unwrap();
    assert_eq!((report.outcome, report.verdict_source), (Outcome::Success, VerdictSource::Judge));
    assert!(
        report.warnings.iter().any(|warning| warning.to_string().starts_with("not_verified")),
        "{:?}",
        report.warnings
    );
    world.stop().await;
}
