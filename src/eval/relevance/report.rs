//! The answer of `eval relevance`: for each set and each size of bank, it says how well relevance tells questions that
//! a bank can answer from those that it cannot.

use reasoning_bank_domain::retrieval::relevance::Coefficients;
use serde::Serialize;

use super::banks::QuestionKind;
use super::fit::Example;

/// Four of ten questions are taken to be answerable. Half of the others are of the same set.
const SHARES: [(QuestionKind, f64); 3] =
    [(QuestionKind::Answerable, 0.4), (QuestionKind::Removed, 0.3), (QuestionKind::Foreign, 0.3)];
/// Relevances are compared with what was right in this many groups of equal width.
const BINS: usize = 5;

/// A question and its answer.
#[derive(Debug, Clone)]
pub(crate) struct AnswerObservation {
    pub(crate) kind: QuestionKind,
    /// The number of memories that answer the question.
    pub(crate) right: usize,
    /// The memories of the wide answer, best first.
    pub(crate) shown: Vec<ShownMemory>,
    /// The evidence for the first memories of an answer by both lists, by words alone and by vectors alone.
    pub(crate) evidence: [Vec<Example>; 3],
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct ShownMemory {
    pub(crate) is_right: bool,
    pub(crate) relevance: f64,
    /// The memory is in the answer to somebody who names no relevance.
    pub(crate) is_kept: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct RelevanceReport {
    pub(crate) embedder: String,
    /// The relevance that an answer needs.
    pub(crate) min_relevance: f64,
    pub(crate) rows: Vec<RelevanceRow>,
    /// The calibration error over all sets, each with the same weight, by the size of the bank.
    pub(crate) calibration: Vec<(usize, f64)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fitted: Option<Fitted>,
}

/// Coefficients that were fitted to all sets. The rows say of each set what coefficients do that were fitted without
/// it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Fitted {
    /// The coefficients as the source holds them.
    pub(crate) source: String,
    pub(crate) left_out: Vec<RelevanceRow>,
    pub(crate) calibration: Vec<(usize, f64)>,
}

/// The numbers of one set and one size of bank. Shares are in 0..=1, and null where there is no such question.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct RelevanceRow {
    pub(crate) set: String,
    pub(crate) size: usize,
    /// The mean number of memories of a bank. It is below the size where the set has no more.
    pub(crate) memories: f64,
    /// The number of questions of each kind.
    pub(crate) questions: usize,
    /// The area under the ROC curve of the best relevance of an answer, for answerable questions against foreign ones.
    pub(crate) auc_foreign: Option<f64>,
    /// The same area against questions of the set whose answers were taken out.
    pub(crate) auc_removed: Option<f64>,
    /// The share of answerable questions that get an empty answer.
    pub(crate) empty_answerable: Option<f64>,
    pub(crate) empty_removed: Option<f64>,
    pub(crate) empty_foreign: Option<f64>,
    /// The share of answerable questions whose first right memory of the wide answer is left out.
    pub(crate) first_lost: Option<f64>,
    /// The share of an answer that is right, over answerable questions that are answered. The next field has that of
    /// the wide answer.
    pub(crate) precision: Option<f64>,
    pub(crate) precision_wide: Option<f64>,
    /// The share of the right memories that are answered, where several are right. The next field has that of the wide
    /// answer.
    pub(crate) recall_several: Option<f64>,
    pub(crate) recall_several_wide: Option<f64>,
    /// The distance between the relevance of the most relevant memory and the share of such memories that are right. It
    /// is the mean over five groups of relevances, with four of ten questions answerable.
    pub(crate) calibration_error: f64,
}

/// The most relevant memory of an answer.
struct Top {
    relevance: f64,
    is_right: bool,
    weight: f64,
}

impl AnswerObservation {
    fn best(&self) -> f64 {
        self.shown.iter().map(|shown| shown.relevance).fold(0.0, f64::max)
    }

    fn is_empty(&self) -> bool {
        !self.shown.iter().any(|shown| shown.is_kept)
    }

    fn loses_the_first(&self) -> bool {
        self.shown.iter().find(|shown| shown.is_right).is_some_and(|shown| !shown.is_kept)
    }

    /// Returns the share of the memories that are right, among those that are kept or among all. It is none where there
    /// are no memories.
    fn precision(&self, kept: bool) -> Option<f64> {
        let answer = || self.shown.iter().filter(|shown| shown.is_kept || !kept);
        share(answer().filter(|shown| shown.is_right).count(), answer().count())
    }

    fn recall(&self, kept: bool) -> Option<f64> {
        share(self.shown.iter().filter(|shown| shown.is_right && (shown.is_kept || !kept)).count(), self.right)
    }

    /// Judges the observation as if its relevance had been computed with these coefficients. `is_kept` gets a relevance
    /// and the best one, and says whether an answer has the memory.
    pub(crate) fn judged_by(&self, coefficients: &Coefficients, is_kept: impl Fn(f64, f64) -> bool) -> Self {
        let relevance = |example: &Example| coefficients.relevance(&example.features);
        let best = self.evidence[0].iter().map(relevance).fold(0.0, f64::max);
        let shown = self.evidence[0].iter().map(|example| {
            let relevance = relevance(example);
            ShownMemory { is_right: example.is_relevant, relevance, is_kept: is_kept(relevance, best) }
        });
        Self { shown: shown.collect(), ..self.clone() }
    }
}

impl RelevanceRow {
    pub(crate) fn of(set: &str, size: usize, memories: f64, observations: &[AnswerObservation]) -> Self {
        let of = |kind: QuestionKind| observations.iter().filter(move |one| one.kind == kind);
        let answerable = || of(QuestionKind::Answerable);
        let several = || answerable().filter(|one| one.right > 1);
        let best = |kind: QuestionKind| of(kind).map(AnswerObservation::best).collect::<Vec<f64>>();
        let empty = |kind: QuestionKind| share(of(kind).filter(|one| one.is_empty()).count(), of(kind).count());
        Self {
            set: set.to_owned(),
            size,
            memories,
            questions: answerable().count(),
            auc_foreign: auc(&best(QuestionKind::Answerable), &best(QuestionKind::Foreign)),
            auc_removed: auc(&best(QuestionKind::Answerable), &best(QuestionKind::Removed)),
            empty_answerable: empty(QuestionKind::Answerable),
            empty_removed: empty(QuestionKind::Removed),
            empty_foreign: empty(QuestionKind::Foreign),
            first_lost: share(answerable().filter(|one| one.loses_the_first()).count(), answerable().count()),
            precision: mean(answerable().filter_map(|one| one.precision(true))),
            precision_wide: mean(answerable().filter_map(|one| one.precision(false))),
            recall_several: mean(several().filter_map(|one| one.recall(true))),
            recall_several_wide: mean(several().filter_map(|one| one.recall(false))),
            calibration_error: error_of(&tops(observations)),
        }
    }
}

/// Computes the calibration error of several sets, each with the same weight.
pub(crate) fn calibration_error<'a>(sets: impl IntoIterator<Item = &'a [AnswerObservation]>) -> f64 {
    error_of(&sets.into_iter().flat_map(tops).collect::<Vec<Top>>())
}

fn tops(observations: &[AnswerObservation]) -> Vec<Top> {
    let mut tops = Vec::new();
    for (kind, share) in SHARES {
        let of_kind: Vec<&AnswerObservation> = observations.iter().filter(|one| one.kind == kind).collect();
        let weight = share / of_kind.len().max(1) as f64;
        tops.extend(of_kind.into_iter().map(|one| {
            let best = one.shown.iter().max_by(|a, b| a.relevance.total_cmp(&b.relevance));
            let (relevance, is_right) = best.map_or((0.0, false), |best| (best.relevance, best.is_right));
            Top { relevance, is_right, weight }
        }));
    }
    tops
}

/// Returns how much the examples of a question count in a fit. Those of one set and size together count as much as
/// those of any other.
pub(crate) fn weight(kind: QuestionKind, of_kind: usize) -> f64 {
    let share = SHARES.iter().find(|(other, _)| *other == kind).map_or(0.0, |(_, share)| *share);
    share / of_kind.max(1) as f64
}

/// Computes the expected calibration error (Naeini, Cooper, Hauskrecht, 2015).
fn error_of(tops: &[Top]) -> f64 {
    let all: f64 = tops.iter().map(|top| top.weight).sum();
    let bin = |top: &Top| ((top.relevance * BINS as f64) as usize).min(BINS - 1);
    let gap = |n: usize| {
        let of_bin = tops.iter().filter(|top| bin(top) == n);
        of_bin.map(|top| top.weight * (top.relevance - f64::from(u8::from(top.is_right)))).sum::<f64>().abs()
    };
    if all > 0.0 { (0..BINS).map(gap).sum::<f64>() / all } else { 0.0 }
}

/// Returns the share of pairs in which the first is higher, ties counting half (Hanley, McNeil, 1982). It is none where
/// there are no pairs.
fn auc(higher: &[f64], lower: &[f64]) -> Option<f64> {
    let won = |high: &f64, low: &f64| match high.total_cmp(low) {
        std::cmp::Ordering::Greater => 1.0,
        std::cmp::Ordering::Equal => 0.5,
        std::cmp::Ordering::Less => 0.0,
    };
    let pairs = higher.len() * lower.len();
    let sum: f64 = higher.iter().flat_map(|high| lower.iter().map(move |low| won(high, low))).sum();
    (pairs > 0).then(|| sum / pairs as f64)
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    reasoning_bank_domain::retrieval::measures::mean(&values.collect::<Vec<f64>>())
}

fn share(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(kind: QuestionKind, shown: &[(bool, f64)]) -> AnswerObservation {
        let shown = shown.iter().map(|(is_right, relevance)| ShownMemory {
            is_right: *is_right,
            relevance: *relevance,
            is_kept: *relevance >= 0.5,
        });
        AnswerObservation { kind, right: 2, shown: shown.collect(), evidence: Default::default() }
    }

    #[test]
    fn a_row_says_what_the_answers_came_to() {
        let row = RelevanceRow::of(
            "set",
            3,
            3.0,
            &[
                seen(QuestionKind::Answerable, &[(true, 0.9), (false, 0.6), (true, 0.2)]),
                seen(QuestionKind::Answerable, &[(false, 0.4), (true, 0.3)]),
                seen(QuestionKind::Removed, &[(false, 0.6)]),
                seen(QuestionKind::Foreign, &[(false, 0.4)]),
                seen(QuestionKind::Foreign, &[]),
            ],
        );
        assert_eq!((row.questions, row.auc_foreign, row.auc_removed), (2, Some(0.875), Some(0.5)));
        assert_eq!((row.empty_answerable, row.empty_removed, row.empty_foreign), (Some(0.5), Some(0.0), Some(1.0)));
        assert_eq!((row.first_lost, row.precision), (Some(0.5), Some(0.5)));
        assert_eq!((row.recall_several, row.recall_several_wide), (Some(0.25), Some(0.75)));
    }

    #[test]
    fn relevances_that_come_true_have_no_calibration_error() {
        let top = |relevance, is_right, weight| Top { relevance, is_right, weight };
        assert!(error_of(&[top(0.7, true, 0.7), top(0.7, false, 0.3)]) < 1e-9);
        assert!((error_of(&[top(0.9, false, 1.0), top(0.1, false, 1.0)]) - 0.5).abs() < 1e-9);
        assert_eq!(error_of(&[]), 0.0);
    }
}
