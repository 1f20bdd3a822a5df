//! The stages that a solve goes through, for whoever waits for it.

use std::fmt;

use serde::Serialize;

use super::answer::Verdict;

/// Something that a solve has done. Attempts and iterations count from 1; a score is in 0..=1 and is absent where no
/// evaluation gave one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Stage {
    /// Its prompts got the given number of memories.
    Recalled {
        memories: usize,
    },
    AttemptStarted {
        attempt: u32,
    },
    /// The attempt has a solution with this score, or has failed.
    AttemptDone {
        attempt: u32,
        #[serde(skip_serializing_if = "Option::is_none")]
        score: Option<f64>,
    },
    /// The best solution was revised. It is replaced where the score is higher than its own.
    Refined {
        iteration: u32,
        score: f64,
    },
    /// The chosen solution has its verdict, unless no judge could be asked.
    Judged {
        #[serde(skip_serializing_if = "Option::is_none")]
        verdict: Option<Verdict>,
        #[serde(skip_serializing_if = "Option::is_none")]
        score: Option<f64>,
    },
    /// The given number of lessons were drawn. They are stored next.
    Learned {
        lessons: usize,
    },
}

impl Stage {
    /// Returns the name of the stage, as clients read it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Recalled { .. } => "recalled",
            Self::AttemptStarted { .. } => "attempt_started",
            Self::AttemptDone { .. } => "attempt_done",
            Self::Refined { .. } => "refined",
            Self::Judged { .. } => "judged",
            Self::Learned { .. } => "learned",
        }
    }
}

/// Says what was done, for people.
impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scored = |score: &Option<f64>| score.map(|score| format!(" with {score:.2}")).unwrap_or_default();
        match self {
            Self::Recalled { memories } => write!(f, "recalled {memories} memories"),
            Self::AttemptStarted { attempt } => write!(f, "attempt {attempt} began"),
            Self::AttemptDone { attempt, score } => write!(f, "attempt {attempt} ended{}", scored(score)),
            Self::Refined { iteration, score } => write!(f, "iteration {iteration} ended with {score:.2}"),
            Self::Judged { verdict: Some(Verdict::Success), .. } => f.write_str("judged a success"),
            Self::Judged { verdict: Some(Verdict::Failure), .. } => f.write_str("judged a failure"),
            Self::Judged { verdict: None, .. } => f.write_str("not judged"),
            Self::Learned { lessons } => write!(f, "drew {lessons} lessons"),
        }
    }
}
