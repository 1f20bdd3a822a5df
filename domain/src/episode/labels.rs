//! The labels by which an episode is found, in the form in which they are compared, and the texts whose meanings are
//! compared.

use std::collections::BTreeSet;

use crate::memory::label::label_key;
use crate::memory::signature::{Signature, error_message, mentioned};
use crate::memory::trace::{Action, FailureAnalysis, Outcome, Step, Trace, TraceSource};

use super::task_type;

/// The longest text of a task or of an outcome whose meaning is compared, in characters.
const TEXT_MAX_CHARS: usize = 4_000;
/// The longest text of a whole episode whose meaning is compared, in characters.
pub const WHOLE_MAX_CHARS: usize = 6_000;
/// The most insights and failures that are part of such a text.
const NAMED_MAX: usize = 10;
/// The most tools, tags and signatures of an episode by which it is found.
const LABELS_MAX: usize = 200;
/// The longest part of an error that is part of such a text, in characters.
const FAILURE_MAX_CHARS: usize = 500;

/// The labels of an episode.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EpisodeLabels {
    /// The session that it belongs to, or those of all episodes that it stands for.
    pub sessions: BTreeSet<String>,
    pub domain: Option<String>,
    pub task_type: String,
    pub tools: BTreeSet<String>,
    pub tags: BTreeSet<String>,
    pub signatures: BTreeSet<Signature>,
}

impl EpisodeLabels {
    pub fn of(trace: &Trace) -> Self {
        let keys = |labels: &[String]| labels.iter().take(LABELS_MAX).map(|label| label_key(label)).collect();
        let parts = trace.episode.as_deref();
        let metadata = parts.map(|parts| &parts.metadata);
        let instances = parts.and_then(|parts| parts.consolidated.as_ref()).map(|told| told.variations.as_slice());
        let of_instances = instances.unwrap_or_default().iter().filter_map(|instance| instance.session_id.as_deref());
        let signatures = trace.failures().iter().take(LABELS_MAX).map(FailureAnalysis::read_signature).collect();
        Self {
            sessions: trace.session().into_iter().chain(of_instances).map(str::to_owned).collect(),
            domain: metadata.and_then(|metadata| metadata.domain.as_deref()).map(label_key),
            task_type: trace.task_type(),
            tools: metadata.map(|metadata| keys(&metadata.tools_used)).unwrap_or_default(),
            tags: metadata.map(|metadata| keys(&metadata.tags)).unwrap_or_default(),
            signatures,
        }
    }
}

impl FailureAnalysis {
    /// Returns the signature as it is compared.
    pub fn read_signature(&self) -> Signature {
        Signature::of(if self.signature.trim().is_empty() { &self.error } else { &self.signature }, None)
    }

    /// Says whether it is known what ended the failure.
    pub fn is_resolved(&self) -> bool {
        self.resolution.is_some() || self.resolved_by.is_some()
    }
}

impl Trace {
    /// Returns the session that the work belongs to.
    pub fn session(&self) -> Option<&str> {
        let own = self.episode.as_ref().and_then(|parts| parts.session_id.as_deref());
        own.or(self.metadata.source_session.as_deref())
    }

    /// Returns the kind of the task: what was given, or what the rules say.
    pub fn task_type(&self) -> String {
        let given = self.episode.as_ref().and_then(|parts| parts.metadata.task_type.as_deref());
        given.map_or_else(|| task_type(&self.task).to_owned(), label_key)
    }

    /// Returns the failures on the way: those that were told, or the one that the evidence of a failure names.
    pub fn failures(&self) -> Vec<FailureAnalysis> {
        let told = self.episode.as_ref().map(|parts| parts.reflection.failures_analyzed.as_slice()).unwrap_or_default();
        if !told.is_empty() || self.outcome != Outcome::Failure {
            return told.to_vec();
        }
        let named = self.evidence.as_deref().and_then(|evidence| {
            let signature = mentioned(evidence)?;
            let error = error_message(evidence).unwrap_or_else(|| evidence.to_owned());
            Some(FailureAnalysis { error, signature: signature.to_string(), ..FailureAnalysis::default() })
        });
        named.into_iter().collect()
    }

    /// Returns what came of the task: what was told, or the solution that the solver chose.
    pub fn primary_output(&self) -> Option<&str> {
        if let Some(parts) = &self.episode {
            return parts.outcome.primary_output.as_deref();
        }
        if self.source != TraceSource::Solve {
            return None;
        }
        let score = |attempt: Option<u32>| {
            let of = self.trajectory.iter().filter(|step| step.action == Action::Evaluate && step.attempt == attempt);
            of.filter_map(|step| step.score).fold(f64::NEG_INFINITY, f64::max)
        };
        let drafts = self.trajectory.iter().filter(|step| matches!(step.action, Action::Think | Action::Refine));
        // The last of equals counts: a refinement comes after its draft.
        let best = drafts.filter(|step| step.content.is_some()).max_by(|a, b| {
            let of = |step: &Step| (step.action == Action::Refine, score(step.attempt));
            let ((a_refined, a_score), (b_refined, b_score)) = (of(a), of(b));
            a_refined.cmp(&b_refined).then(a_score.total_cmp(&b_score))
        });
        best.and_then(|step| step.content.as_deref())
    }
}

/// The texts of an episode whose meanings are compared. A text is empty where there is nothing to say.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EpisodeTexts {
    /// The task and its goals.
    pub task: String,
    /// The output, the failures and the insights.
    pub outcome: String,
    /// All of it in short. It is empty where the task is all that is known.
    pub whole: String,
}

impl EpisodeTexts {
    pub fn of(trace: &Trace) -> Self {
        let parts = trace.episode.as_deref();
        let told =
            |texts: Option<&Vec<String>>| joined(texts.into_iter().flatten().take(NAMED_MAX).map(String::as_str));
        let goals = told(parts.map(|parts| &parts.task.parsed_goals));
        let insights = told(parts.map(|parts| &parts.reflection.insights));
        let plan = parts.into_iter().flat_map(|parts| &parts.execution.plan).take(NAMED_MAX);
        let plan = joined(plan.map(|step| step.title.as_str()));
        let failures = trace.failures();
        let failures = failures.iter().take(NAMED_MAX).flat_map(|failure| {
            [cut(&failure.error, FAILURE_MAX_CHARS), failure.resolution.as_deref().unwrap_or_default()]
        });
        let failures = joined(failures);
        let output = cut(trace.primary_output().unwrap_or_default(), TEXT_MAX_CHARS / 2);
        let task = joined([cut(&trace.task, TEXT_MAX_CHARS), &goals]);
        let outcome = joined([output, &failures, &insights]);
        let says_more = !(outcome.is_empty() && goals.is_empty() && plan.is_empty());
        let whole = [cut(&trace.task, TEXT_MAX_CHARS / 2), &goals, &plan, trace.outcome.as_str(), &outcome];
        Self {
            task: cut(&task, TEXT_MAX_CHARS).to_owned(),
            whole: if says_more { cut(&joined(whole), WHOLE_MAX_CHARS).to_owned() } else { String::new() },
            outcome: cut(&outcome, TEXT_MAX_CHARS).to_owned(),
        }
    }
}

/// Joins the texts that say something, each on lines of its own.
fn joined<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    texts.into_iter().filter(|text| !text.trim().is_empty()).collect::<Vec<_>>().join("\n")
}

/// Returns the first characters of a text.
fn cut(text: &str, chars: usize) -> &str {
    text.char_indices().nth(chars).map_or(text, |(end, _)| &text[..end])
}
