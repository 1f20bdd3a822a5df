//! Observations about the use of memories: what was observed of a task, what a client reports, and which signals
//! follow. How signals move confidence is decided in `evidence::confidence`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::signal::SignalKind;

/// The longest comment of a report, in characters.
pub const COMMENT_MAX_CHARS: usize = 2_000;
pub const DETAIL_MAX_CHARS: usize = 4_000;

/// The kind of evidence that a verdict rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(description = "")] // said to models at every argument of this type
pub enum EvidenceKind {
    Tests,
    ExitCode,
    Diff,
    User,
    Other,
}

impl EvidenceKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tests => "tests",
            Self::ExitCode => "exit_code",
            Self::Diff => "diff",
            Self::User => "user",
            Self::Other => "other",
        }
    }
}

/// An observation of how a task went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observed {
    pub kind: EvidenceKind,
    pub passed: bool,
    /// More about the observation, such as the failing test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

impl Observed {
    /// Returns the observation in one text.
    pub fn words(&self) -> String {
        let (kind, passed) = (self.kind.as_str(), if self.passed { "passed" } else { "failed" });
        match self.detail.as_deref().map(str::trim).filter(|detail| !detail.is_empty()) {
            Some(detail) => format!("{kind} {passed}: {detail}"),
            None => format!("{kind} {passed}"),
        }
    }
}

/// The feedback of a client on the memories it used. A field that is `None` says nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Feedback {
    pub helpful: Option<bool>,
    pub task_succeeded: Option<bool>,
    /// True where what came of the memories was taken back.
    pub reverted: Option<bool>,
    pub evidence: Option<Observed>,
    pub comment: Option<String>,
}

impl Feedback {
    /// Returns one signal for each thing that was said. Evidence is what was observed and `task_succeeded` is what is
    /// claimed; where both are given, the evidence alone counts. A report that nothing was reverted is no signal,
    /// because only time tells (`Stable`).
    pub fn signals(&self) -> Vec<SignalKind> {
        let observed = self.evidence.as_ref().map(|evidence| evidence.passed);
        let helpful = self.helpful.map(|yes| if yes { SignalKind::Helpful } else { SignalKind::NotHelpful });
        let succeeded = observed.or(self.task_succeeded);
        let succeeded = succeeded.map(|yes| if yes { SignalKind::TaskSucceeded } else { SignalKind::TaskFailed });
        let reverted = self.reverted.filter(|yes| *yes).map(|_| SignalKind::Reverted);
        helpful.into_iter().chain(succeeded).chain(reverted).collect()
    }

    /// Returns the reporter's words and the evidence in one text. None where there is neither.
    pub fn words(&self) -> Option<String> {
        let comment = self.comment.as_deref().map(str::trim).filter(|comment| !comment.is_empty());
        let evidence = self.evidence.as_ref().map(Observed::words);
        let words: Vec<String> = comment.map(str::to_owned).into_iter().chain(evidence).collect();
        (!words.is_empty()).then(|| words.join("\n"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn observed(passed: bool) -> Option<Observed> {
        Some(Observed { kind: EvidenceKind::Tests, passed, detail: None })
    }

    #[test]
    fn each_thing_said_is_one_signal() {
        let said = |verdict: Feedback| verdict.signals();
        let none = Feedback::default();
        assert_eq!(said(none.clone()), []);
        assert_eq!(said(Feedback { helpful: Some(true), ..none.clone() }), [SignalKind::Helpful]);
        assert_eq!(said(Feedback { helpful: Some(false), ..none.clone() }), [SignalKind::NotHelpful]);
        assert_eq!(said(Feedback { task_succeeded: Some(true), ..none.clone() }), [SignalKind::TaskSucceeded]);
        assert_eq!(said(Feedback { task_succeeded: Some(false), ..none.clone() }), [SignalKind::TaskFailed]);
        assert_eq!(said(Feedback { reverted: Some(true), ..none.clone() }), [SignalKind::Reverted]);
        assert_eq!(said(Feedback { reverted: Some(false), ..none.clone() }), []);
        assert_eq!(said(Feedback { evidence: observed(true), ..none }), [SignalKind::TaskSucceeded]);
    }

    #[test]
    fn what_was_observed_beats_what_is_claimed() {
        let claimed = Feedback { task_succeeded: Some(true), evidence: observed(false), ..Feedback::default() };
        assert_eq!(claimed.signals(), [SignalKind::TaskFailed]);
    }

    #[test]
    fn words_and_evidence_become_one_text() {
        let evidence = Observed { kind: EvidenceKind::ExitCode, passed: false, detail: Some(" 101 ".into()) };
        let both = Feedback { comment: Some("wrong range".into()), evidence: Some(evidence), ..Feedback::default() };
        assert_eq!(both.words().as_deref(), Some("wrong range\nexit_code failed: 101"));
        assert_eq!(
            Feedback { evidence: observed(true), ..Feedback::default() }.words().as_deref(),
            Some("tests passed")
        );
        assert_eq!(Feedback { comment: Some("  ".into()), ..Feedback::default() }.words(), None);
    }

    proptest! {
        #[test]
        fn no_report_says_the_same_twice_or_a_thing_and_its_opposite(
            helpful: Option<bool>, task_succeeded: Option<bool>, reverted: Option<bool>, passed: Option<bool>,
        ) {
            let evidence = passed.and_then(observed);
            let signals = Feedback { helpful, task_succeeded, reverted, evidence, comment: None }.signals();
            let count = |kinds: &[SignalKind]| signals.iter().filter(|kind| kinds.contains(kind)).count();
            prop_assert!(count(&[SignalKind::Helpful, SignalKind::NotHelpful]) == usize::from(helpful.is_some()));
            let judged = usize::from(task_succeeded.is_some() || passed.is_some());
            prop_assert!(count(&[SignalKind::TaskSucceeded, SignalKind::TaskFailed]) == judged);
            prop_assert!(count(&[SignalKind::Reverted]) == usize::from(reverted == Some(true)));
        }
    }
}
