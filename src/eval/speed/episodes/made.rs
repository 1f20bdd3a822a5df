//! Episodes and patterns that are made up. Like the memories of the bank, each follows from its number and the seed
//! alone. Episodes are told in the words of the bank and lie around its centres. Their ages go up to half a year, so
//! that all of them are found and consolidated. Of each hundred the first three tell nearly the same, as work that is
//! done again does.

use jiff::{SignedDuration, Timestamp};
use reasoning_bank_actors::memories::Restorable;
use reasoning_bank_actors::ports::{Passage, PassageKind};
use reasoning_bank_domain::episode::{EpisodeVectors, QuantizedVector};
use reasoning_bank_domain::evidence::confidence::prior;
use reasoning_bank_domain::memory::ids::TraceId;
use reasoning_bank_domain::memory::pattern::{
    Applicability, PatternAction, PatternCategory, PatternContent, PatternLifecycle, PatternPart, PatternStage,
    PatternStatistics, PatternValidation,
};
use reasoning_bank_domain::memory::trace::{
    EpisodeMetadata, EpisodeParts, Execution, FailureAnalysis, Outcome, OutcomeParts, PlanStep, Reflection,
    ResourceUsage, TaskParts, Trace, TraceEntry,
};
use reasoning_bank_domain::memory::workspace::WorkspaceId;
use reasoning_bank_domain::memory::{Memory, MemoryOutcome, NewMemory, SourceType, Trust};
use uuid::Uuid;

use crate::eval::speed::synthetic::{Noise, NoiseStream, Synthetic, SyntheticQuery};

/// Ids of episodes and of patterns are these and higher, those of memories are lower.
const FIRST_EPISODE: u128 = 1 << 64;
const FIRST_PATTERN: u128 = 1 << 65;
const SPAN_DAYS: i64 = 170;
/// The number of episodes of which the first few are told nearly the same.
const PERIOD: u32 = 100;
const ALIKE: u32 = 3;
/// The vector of an episode that is told again is as far from the first one's.
const DISTANCE_OF_ALIKE: f32 = 0.1;
/// The vectors of the outcome and of the whole are as far from that of the task.
const DISTANCE_OF_PARTS: f32 = 0.5;
const DISTANCE_OF_QUERIES: f32 = 1.0;
const EPISODES_A_SESSION: u32 = 5;

pub(crate) const DOMAINS: [&str; 8] =
    ["payments", "search", "storage", "frontend", "billing", "identity", "reports", "messaging"];
pub(crate) const TASK_TYPES: [&str; 6] =
    ["debugging", "feature", "refactoring", "testing", "configuration", "deployment"];
pub(crate) const TOOLS: [&str; 12] = [
    "cargo test",
    "cargo build",
    "git diff",
    "git log",
    "edit",
    "read",
    "grep",
    "npm test",
    "kubectl get",
    "psql",
    "curl",
    "docker build",
];

/// An episode as it is stored.
pub(crate) struct SyntheticEpisode {
    pub(crate) trace: Trace,
    pub(crate) vectors: EpisodeVectors,
}

/// The labels by which an episode is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SyntheticLabels {
    pub(crate) domain: &'static str,
    pub(crate) task_type: &'static str,
    pub(crate) tool: &'static str,
    pub(crate) outcome: Outcome,
}

impl Synthetic {
    pub(crate) fn episode_id(number: u32) -> TraceId {
        Uuid::from_u128(FIRST_EPISODE + u128::from(number)).into()
    }

    /// Makes an episode of the workspace that is asked, one of as many as the bank has rows. `now` is when the newest
    /// one was made.
    pub(crate) fn episode(&self, number: u32, now: Timestamp, embedder: &str) -> SyntheticEpisode {
        let workspace =
            if Self::is_queried(number) { Self::workspace_id() } else { WorkspaceId::of_root("/eval/other") };
        let first = first_alike(number);
        let mut noise = self.noise(NoiseStream::Episode, u64::from(first));
        let labels = labels(&mut noise);
        let age = i64::from(self.rows() - number) * SPAN_DAYS * 86_400 / i64::from(self.rows());
        let at = now - SignedDuration::from_secs(age);
        let session = format!("session-{}", number / EPISODES_A_SESSION);
        let trace = Trace {
            task: self.words(20 + noise.below(30) as usize, &mut noise),
            outcome: labels.outcome,
            episode: Some(Box::new(self.episode_parts(labels, &mut noise))),
            ..Trace::reported(Self::episode_id(number), workspace.clone(), &session, None, at)
        };
        let [task, outcome, whole] = self.episode_places(number).map(|place| QuantizedVector::of(&self.turned(place)));
        let vectors = EpisodeVectors {
            episode_id: trace.trace_id,
            workspace_id: workspace,
            created_at: at,
            revision: 0,
            embedder: embedder.to_owned(),
            task,
            outcome,
            whole,
        };
        SyntheticEpisode { trace, vectors }
    }

    /// Returns the labels of an episode.
    pub(crate) fn episode_labels(&self, number: u32) -> SyntheticLabels {
        labels(&mut self.noise(NoiseStream::Episode, u64::from(first_alike(number))))
    }

    /// Makes a question about an episode of the workspace that is asked. Each has words of its own.
    pub(crate) fn episode_query(&self, number: u32) -> SyntheticQuery {
        let mut noise = self.noise(NoiseStream::Query, u64::from(number) | 1 << 40);
        let about = self.episode_about(&mut noise);
        let text = format!("{} {}", self.words(10, &mut noise), number);
        let [place, ..] = self.episode_places(about);
        SyntheticQuery { text, vector: self.turned(self.moved(place, DISTANCE_OF_QUERIES, &mut noise)) }
    }

    /// Makes a text of so many words.
    pub(crate) fn text(&self, number: u32, words: usize) -> String {
        self.words(words, &mut self.noise(NoiseStream::Text, u64::from(number)))
    }

    /// Picks the number of an episode of the workspace that is asked.
    pub(crate) fn episode_number(&self, number: u32) -> u32 {
        self.episode_about(&mut self.noise(NoiseStream::Query, u64::from(number) | 1 << 41))
    }

    fn episode_about(&self, noise: &mut Noise) -> u32 {
        let about = noise.below(u64::from(self.rows())) as u32;
        if Self::is_queried(about) { about } else { about - 1 }
    }

    /// Places the task, the outcome and the whole of an episode.
    fn episode_places(&self, number: u32) -> [Vec<f32>; 3] {
        let first = first_alike(number);
        let mut parts = self.noise(NoiseStream::EpisodeVector, u64::from(first));
        let task = self.place(first);
        let outcome = self.moved(task.clone(), DISTANCE_OF_PARTS, &mut parts);
        let whole = self.moved(task.clone(), DISTANCE_OF_PARTS, &mut parts);
        let mut own = self.noise(NoiseStream::EpisodeVector, u64::from(number) | 1 << 40);
        let distance = if number == first { 0.0 } else { DISTANCE_OF_ALIKE };
        [task, outcome, whole].map(|place| self.moved(place, distance, &mut own))
    }

    fn episode_parts(&self, labels: SyntheticLabels, noise: &mut Noise) -> EpisodeParts {
        let SyntheticLabels { domain, task_type, tool, outcome } = labels;
        let failed = outcome == Outcome::Failure;
        let plan: Vec<PlanStep> = (0..4 + noise.below(4))
            .map(|n| PlanStep { id: format!("s{n}"), title: self.words(6, noise), depends_on: Vec::new() })
            .collect();
        let mut trace: Vec<TraceEntry> = (0..6 + noise.below(7))
            .map(|n| {
                let of_entry = if n == 0 { tool } else { TOOLS[noise.below(TOOLS.len() as u64) as usize] };
                TraceEntry {
                    action: "call".into(),
                    tool: Some(of_entry.to_owned()),
                    target: Some(format!("src/{}.rs", self.words(1, noise))),
                    input: Some(self.words(8, noise)),
                    output: Some(self.words(20 + noise.below(30) as usize, noise)),
                    succeeded: Some(true),
                    ..TraceEntry::default()
                }
            })
            .collect();
        let mut failures = Vec::new();
        if failed || noise.below(4) == 0 {
            let error = format!("error[E{:04}]: {}", noise.below(500), self.words(8, noise));
            if let Some(entry) = trace.last_mut() {
                (entry.output, entry.succeeded) = (Some(error.clone()), Some(false));
            }
            let resolution = (!failed).then(|| tool.to_owned());
            failures.push(FailureAnalysis { error, resolution, ..FailureAnalysis::default() });
        }
        let tools_used = trace.iter().filter_map(|entry| entry.tool.clone()).collect::<std::collections::BTreeSet<_>>();
        EpisodeParts {
            task: TaskParts { parsed_goals: vec![self.words(10, noise)], ..TaskParts::default() },
            execution: Execution {
                plan,
                duration_s: Some(30.0 + noise.below(600) as f64),
                resource_usage: ResourceUsage {
                    tokens: Some(1_000 + noise.below(20_000)),
                    tool_calls: Some(trace.len() as u64),
                    ..ResourceUsage::default()
                },
                trace,
                ..Execution::default()
            },
            outcome: OutcomeParts { primary_output: Some(self.words(60, noise)), ..OutcomeParts::default() },
            reflection: Reflection {
                insights: vec![self.words(25, noise)],
                failures_analyzed: failures,
                ..Reflection::default()
            },
            metadata: EpisodeMetadata {
                domain: Some(domain.to_owned()),
                task_type: Some(task_type.to_owned()),
                tools_used: tools_used.into_iter().collect(),
                tags: vec![self.words(1, noise)],
                ..EpisodeMetadata::default()
            },
            ..EpisodeParts::default()
        }
    }

    /// Makes a validated pattern of the workspace that is asked, as an import has it. Each is for one domain and one or
    /// two types of tasks.
    pub(crate) fn pattern(&self, number: u32, now: Timestamp, embedder: &str) -> Restorable {
        let mut noise = self.noise(NoiseStream::Pattern, u64::from(number));
        let types = (0..=noise.below(2)).map(|_| pick(&TASK_TYPES, &mut noise).to_owned()).collect();
        let tool = pick(&TOOLS, &mut noise);
        let content = PatternContent::Heuristic {
            condition: self.words(12, &mut noise),
            action: PatternAction { text: self.words(15, &mut noise), tools: vec![tool.to_owned()] },
            rationale: self.words(15, &mut noise),
        };
        let category = PatternCategory::ALL[number as usize % PatternCategory::ALL.len()];
        let applications = 5 + noise.below(30);
        let successes = applications - noise.below(applications / 4 + 1);
        let part = PatternPart {
            applicability: Applicability {
                problem_types: types,
                domains: vec![pick(&DOMAINS, &mut noise).to_owned()],
                ..Applicability::default()
            },
            stage: PatternStage::Validated,
            statistics: PatternStatistics {
                num_applications: applications,
                successes,
                success_rate: Some(successes as f64 / applications as f64),
                confidence: 0.7 + noise.below(25) as f64 / 100.0,
                usage_count: applications,
                last_used: Some(now),
                ..PatternStatistics::default()
            },
            lifecycle: PatternLifecycle {
                validation: Some(PatternValidation { at: now, successes, applications, accepted_because: None }),
                ..PatternLifecycle::default()
            },
            ..PatternPart::new(category, content)
        };
        let memory = Memory {
            embedder: Some(embedder.to_owned()),
            pattern: Some(Box::new(part)),
            ..Memory::new(NewMemory {
                id: Uuid::from_u128(FIRST_PATTERN + u128::from(number)).into(),
                content: self.words(25, &mut noise),
                title: self.words(5, &mut noise),
                description: self.words(10, &mut noise),
                outcome: MemoryOutcome::Success,
                workspace_id: Self::workspace_id(),
                source_type: SourceType::Imported,
                trust: Trust::Tool,
                prior: prior(SourceType::Imported, None),
                at: now,
            })
        };
        let vector = self.turned(self.place(noise.below(u64::from(self.rows())) as u32));
        let passage = |(n, text)| Passage { kind: PassageKind::Content, n, text, vector: Some(vector.clone()) };
        let passages = (0..).zip(memory.search_texts().contents).map(passage).collect();
        Restorable::Memory { memory, passages }
    }
}

/// Returns the number of the episode that this one tells again, or its own.
fn first_alike(number: u32) -> u32 {
    if number % PERIOD < ALIKE { number - number % PERIOD } else { number }
}

fn labels(noise: &mut Noise) -> SyntheticLabels {
    let outcome = match noise.below(10) {
        0 | 1 => Outcome::Failure,
        2 => Outcome::Partial,
        _ => Outcome::Success,
    };
    SyntheticLabels {
        domain: pick(&DOMAINS, noise),
        task_type: pick(&TASK_TYPES, noise),
        tool: pick(&TOOLS, noise),
        outcome,
    }
}

fn pick(of: &[&'static str], noise: &mut Noise) -> &'static str {
    of[noise.below(of.len() as u64) as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Timestamp {
        Timestamp::from_second(1_800_000_000).unwrap()
    }

    #[test]
    fn the_same_seed_makes_the_same_episodes_and_patterns() {
        let (one, same) = (Synthetic::new(300, 1), Synthetic::new(300, 1));
        for number in [0, 1, 57, 299] {
            let (a, b) = (one.episode(number, now(), "e"), same.episode(number, now(), "e"));
            assert_eq!((a.trace, a.vectors), (b.trace, b.vectors));
            assert_eq!(one.pattern(number, now(), "e"), same.pattern(number, now(), "e"));
        }
        assert_ne!(one.episode(57, now(), "e").trace.task, one.episode(58, now(), "e").trace.task);
        assert_ne!(one.episode_query(1).text, one.episode_query(2).text);
    }

    #[test]
    fn an_episode_has_a_body_of_a_few_kilobytes_and_the_labels_it_is_asked_by() {
        let bank = Synthetic::new(300, 1);
        let episodes: Vec<Trace> = (0..300).map(|number| bank.episode(number, now(), "e").trace).collect();
        let bytes: usize = episodes.iter().map(|one| serde_json::to_string(one).unwrap().len()).sum();
        assert!((2_000..8_000).contains(&(bytes / 300)), "{}", bytes / 300);
        for (number, episode) in (0..).zip(&episodes) {
            let labels = bank.episode_labels(number);
            let parts = episode.episode.as_ref().unwrap();
            assert_eq!(parts.metadata.domain.as_deref(), Some(labels.domain));
            assert_eq!((episode.task_type().as_str(), episode.outcome), (labels.task_type, labels.outcome));
            assert!(parts.metadata.tools_used.iter().any(|tool| tool == labels.tool));
            let age = now().duration_since(episode.created_at).as_hours() / 24;
            assert!((0..180).contains(&age), "{age}");
        }
    }

    #[test]
    fn episodes_that_are_told_again_are_alike_and_others_are_not() {
        let bank = Synthetic::new(300, 1);
        let whole = |number| bank.episode(number, now(), "e").vectors.whole.unwrap();
        assert!(whole(100).cosine(&whole(101)) > 0.97);
        assert!(whole(100).cosine(&whole(104)) < 0.95);
        assert_eq!(bank.episode_labels(100), bank.episode_labels(102));
        let about = bank.episode(bank.episode_number(4), now(), "e");
        assert_eq!(about.trace.metadata.workspace_id, Synthetic::workspace_id());
    }

    #[test]
    fn patterns_are_validated_and_have_their_vectors() {
        let Restorable::Memory { memory, passages } = Synthetic::new(300, 1).pattern(3, now(), "e") else { panic!() };
        assert!(memory.pattern.as_ref().unwrap().is_validated());
        assert!(memory.validate().is_ok());
        assert!(!passages.is_empty() && passages.iter().all(|passage| passage.vector.is_some()));
    }
}
