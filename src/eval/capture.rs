//! `eval capture` measures how well the rules of passive learning tell which exchanges are worth keeping. A person has
//! labelled the exchanges; the rules are in `reasoning_bank_domain::learning::capture`. Nothing is stored.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use jiff::Timestamp;
use reasoning_bank_domain::learning::capture::{CaptureOrigin, CaptureRefusal, Draft, Thresholds, scrubbed};
use reasoning_bank_domain::learning::transcript::Exchange;
use reasoning_bank_domain::memory::Trust;
use reasoning_bank_domain::memory::workspace::WorkspaceId;
use serde::{Deserialize, Serialize};

use super::EvalError;
use super::dataset::{bad, read};

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub(crate) struct CaptureReport {
    pub(crate) exchanges: usize,
    pub(crate) valuable: Count,
    pub(crate) worthless: Count,
    pub(crate) by_kind: Vec<KindCount>,
    /// These exchanges were judged otherwise than their labels say.
    pub(crate) wrong: Vec<Wrong>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub(crate) struct Count {
    pub(crate) kept: usize,
    pub(crate) of: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct KindCount {
    pub(crate) kind: String,
    pub(crate) valuable: bool,
    #[serde(flatten)]
    pub(crate) count: Count,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Wrong {
    pub(crate) id: String,
    pub(crate) kind: String,
    pub(crate) valuable: bool,
    /// The rule that kept the exchange or refused it.
    pub(crate) reason: String,
}

#[derive(Deserialize)]
struct LabelledExchange {
    id: String,
    question: String,
    answer: String,
    valuable: bool,
    #[serde(default)]
    kind: String,
}

/// Measures the exchanges of a file.
///
/// # Errors
/// The error names every line that is wrong, up to a bound.
pub(crate) fn measure(path: &Path, thresholds: &Thresholds) -> Result<CaptureReport, EvalError> {
    let (mut report, mut kinds, mut seen) =
        (CaptureReport::default(), BTreeMap::<(bool, String), Count>::new(), HashSet::new());
    read(path, |line: LabelledExchange| {
        let LabelledExchange { id, question, answer, valuable, kind } = line;
        if !seen.insert(id.clone()) {
            return Err(bad("id", format!("{id} was there before")));
        }
        let judged = judged(
            Exchange { question, answer, session: None, asked_first: None, said_next: None, at: None },
            thresholds,
        );
        let kept = usize::from(judged.is_ok());
        report.exchanges += 1;
        let of_kind = kinds.entry((!valuable, kind.clone())).or_default();
        for count in [if valuable { &mut report.valuable } else { &mut report.worthless }, of_kind] {
            count.kept += kept;
            count.of += 1;
        }
        if judged.is_ok() != valuable {
            let reason = judged.map_or_else(|refused| refused.to_string(), |signs| format!("the answer has {signs}"));
            report.wrong.push(Wrong { id, kind, valuable, reason });
        }
        Ok(())
    })?;
    let kind = |((worthless, kind), count): ((bool, String), Count)| KindCount { kind, valuable: !worthless, count };
    report.by_kind = kinds.into_iter().map(kind).collect();
    Ok(report)
}

/// Judges an exchange as the learner does, up to the point where it would be stored.
fn judged(exchange: Exchange, thresholds: &Thresholds) -> Result<String, CaptureRefusal> {
    let (exchange, _) = scrubbed(exchange);
    let origin = CaptureOrigin { workspace_id: WorkspaceId::of_root("/"), trust: Trust::Model };
    let (signs, _) = Draft::of(&exchange, &origin, thresholds, Timestamp::UNIX_EPOCH)?;
    Ok(signs.to_string())
}
