//! The facts about an episode that the rules for patterns read.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::features::TaskFeatures;
use crate::memory::Complexity;
use crate::memory::ids::TraceId;
use crate::memory::label::label_key;
use crate::memory::pattern::FeatureValue;
use crate::memory::signature::{Signature, error_message};
use crate::memory::trace::{EpisodeParts, FailureAnalysis, Outcome, Trace, TraceEntry, TraceSource};
use crate::memory::workspace::WorkspaceId;

/// The facts about an episode that mining, observation and evidence read.
#[derive(Debug, Clone, PartialEq)]
pub struct EpisodeFacts {
    pub id: TraceId,
    pub session: String,
    pub workspace: WorkspaceId,
    pub at: Timestamp,
    pub task_type: String,
    pub domain: Option<String>,
    pub complexity: Option<Complexity>,
    pub language: Option<String>,
    pub framework: Option<String>,
    /// The other features that were named of its task.
    pub context: BTreeMap<String, FeatureValue>,
    /// The names of the tools that were called, in the order of the calls.
    pub steps: Vec<String>,
    /// The names of the tools that it says it used, where it tells no calls. Nobody knows in which order.
    pub tools_without_order: Vec<String>,
    /// The titles of the plan.
    pub plan: Vec<String>,
    /// True where it succeeded, false where it failed. None where it succeeded in part, or nobody knows.
    pub succeeded: Option<bool>,
    pub failures: Vec<FailureFact>,
    pub measures: EpisodeMeasures,
    /// False for an episode that stands for several others.
    pub is_original: bool,
}

/// A failure on the way.
#[derive(Debug, Clone, PartialEq)]
pub struct FailureFact {
    pub signature: Signature,
    /// The places among the steps where it came, from 0, in order. Empty where nobody knows.
    pub at_steps: Vec<usize>,
    /// The name of the tool that ended it, or a sentence about what did.
    pub resolved_by: Option<String>,
}

impl FailureFact {
    /// Reads a failure. Its steps are the calls that failed and printed its error, or another one of its kind.
    fn of(failure: &FailureAnalysis, failed: &[FailedStep<'_>]) -> Self {
        let signature = failure.read_signature();
        let (error, kind) = (failure.error.trim(), signature.error());
        let printed =
            |call: &&FailedStep<'_>| call.output.contains(error) || !kind.is_empty() && call.signature.error() == kind;
        let at_steps = failed.iter().filter(printed).map(|call| call.at_step).collect();
        Self { signature, at_steps, resolved_by: failure.resolution.clone() }
    }
}

/// A call that failed, and the error that it printed.
struct FailedStep<'a> {
    at_step: usize,
    output: &'a str,
    signature: Signature,
}

impl<'a> FailedStep<'a> {
    fn all(calls: &[&'a TraceEntry]) -> Vec<Self> {
        let failed = calls.iter().enumerate().filter(|(_, call)| call.succeeded == Some(false));
        let printed = failed.filter_map(|(at_step, call)| {
            let output = call.output.as_deref()?;
            let said = error_message(output);
            Some(Self { at_step, output, signature: Signature::of(said.as_deref().unwrap_or(output), None) })
        });
        printed.collect()
    }
}

/// The time, tokens and tool calls that an episode took. None is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct EpisodeMeasures {
    /// Seconds.
    pub duration_s: Option<f64>,
    pub tokens: Option<f64>,
    pub tool_calls: Option<f64>,
}

impl EpisodeMeasures {
    /// Returns duration, tokens and tool calls.
    pub fn each(self) -> [Option<f64>; 3] {
        [self.duration_s, self.tokens, self.tool_calls]
    }
}

impl EpisodeFacts {
    /// Reads the facts from a trace and its episode.
    pub fn of_trace(trace: &Trace) -> Self {
        let nothing = EpisodeParts::default();
        let told = trace.episode.as_deref().unwrap_or(&nothing);
        let calls: Vec<&TraceEntry> = told.execution.trace.iter().filter(|entry| entry.tool.is_some()).collect();
        let tools_without_order = if calls.is_empty() { told.metadata.tools_used.clone() } else { Vec::new() };
        let failures = trace.failures();
        let failed = if failures.is_empty() { Vec::new() } else { FailedStep::all(&calls) };
        let usage = told.execution.resource_usage;
        let tokens = usage.tokens.unwrap_or(trace.metadata.total_tokens);
        let tool_calls = usage.tool_calls.or((!calls.is_empty()).then_some(calls.len() as u64));
        let named = |feature: &str| match told.metadata.features.get(feature) {
            Some(FeatureValue::Text(text)) => Some(label_key(text)),
            _ => None,
        };
        Self {
            id: trace.trace_id,
            session: trace.session().map_or_else(|| trace.trace_id.to_string(), str::to_owned),
            workspace: trace.metadata.workspace_id.clone(),
            at: trace.created_at,
            task_type: trace.task_type(),
            domain: told.metadata.domain.as_deref().map(label_key),
            complexity: told.task.complexity,
            language: named("language"),
            framework: named("framework"),
            context: told.metadata.features.clone(),
            steps: calls.iter().filter_map(|entry| entry.tool.clone()).collect(),
            tools_without_order,
            plan: told.execution.plan.iter().map(|step| step.title.clone()).collect(),
            succeeded: match trace.outcome {
                Outcome::Success => Some(true),
                Outcome::Failure => Some(false),
                Outcome::Partial => None,
            },
            failures: failures.iter().map(|failure| FailureFact::of(failure, &failed)).collect(),
            measures: EpisodeMeasures {
                duration_s: told.execution.duration_s,
                tokens: (tokens > 0).then_some(tokens as f64),
                tool_calls: tool_calls.map(|calls| calls as f64),
            },
            is_original: trace.source != TraceSource::Consolidated,
        }
    }

    /// Returns the features of its task, as they are compared with the conditions of patterns.
    pub fn features(&self) -> TaskFeatures {
        let mut tools: Vec<String> = self.steps.iter().chain(&self.tools_without_order).cloned().collect();
        tools.sort();
        tools.dedup();
        TaskFeatures {
            domain: self.domain.clone(),
            task_type: Some(self.task_type.clone()),
            complexity: self.complexity,
            tools,
            language: self.language.clone(),
            framework: self.framework.clone(),
            error_signature: self.failures.first().map(|failure| failure.signature.to_string()),
            context: self.context.clone(),
        }
    }

    /// Tells whether it says anything that a rule can compare with a pattern: tools, a plan or failures.
    pub fn tells_what_was_done(&self) -> bool {
        let lists = [&self.steps, &self.tools_without_order, &self.plan];
        lists.into_iter().any(|list| !list.is_empty()) || !self.failures.is_empty()
    }

    /// Returns the names of the tools that were used, called or not told as calls.
    pub fn tools(&self) -> BTreeSet<String> {
        self.steps.iter().chain(&self.tools_without_order).map(|tool| label_key(tool)).collect()
    }

    /// Returns where each tool was called first, by its name.
    pub fn first_calls(&self) -> BTreeMap<String, usize> {
        let mut first = BTreeMap::new();
        for (place, step) in self.steps.iter().enumerate() {
            first.entry(label_key(step)).or_insert(place);
        }
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::samples::{now, strategy, trace};

    fn told(used: &[&str], called: &[&str]) -> EpisodeFacts {
        let mut parts = EpisodeParts::default();
        parts.metadata.tools_used = used.iter().map(|tool| (*tool).to_owned()).collect();
        let call = |tool: &&str| TraceEntry { tool: Some((*tool).to_owned()), ..TraceEntry::default() };
        parts.execution.trace = called.iter().map(call).collect();
        let told = Trace::reported(trace(1), strategy(1).workspace_id, "session", None, now());
        EpisodeFacts::of_trace(&Trace { episode: Some(Box::new(parts)), ..told })
    }

    #[test]
    fn tools_that_are_named_without_calls_were_used_in_no_order() {
        let facts = told(&["sed", "Rg"], &[]);
        assert_eq!(facts.tools(), BTreeSet::from(["rg".to_owned(), "sed".to_owned()]));
        assert_eq!(facts.features().tools, ["Rg", "sed"]);
        assert!(facts.tells_what_was_done() && facts.steps.is_empty() && facts.first_calls().is_empty());
        assert!(!told(&[], &[]).tells_what_was_done());
        let called = told(&["rg", "sed"], &["sed", "rg"]);
        assert_eq!((called.steps.as_slice(), called.tools_without_order.len()), (&["sed".into(), "rg".into()][..], 0));
    }

    #[test]
    fn a_failure_came_at_each_step_that_printed_an_error_of_its_kind() {
        let call = |output: &str| TraceEntry {
            tool: Some("make".into()),
            output: Some(output.to_owned()),
            succeeded: Some(output == "ok"),
            ..TraceEntry::default()
        };
        let mut parts = EpisodeParts::default();
        parts.execution.trace =
            ["BuildError: no wheel", "ok", "BuildError: still no wheel", "KeyError: 'x'"].map(call).into();
        let error = "BuildError: no wheel".to_owned();
        parts.reflection.failures_analyzed = vec![FailureAnalysis { error, ..FailureAnalysis::default() }];
        let told = Trace::reported(trace(1), strategy(1).workspace_id, "session", None, now());
        let facts = EpisodeFacts::of_trace(&Trace { episode: Some(Box::new(parts)), ..told });
        assert_eq!(facts.failures[0].at_steps, [0, 2]);
    }
}
