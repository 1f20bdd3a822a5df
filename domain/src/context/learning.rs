//! The consequences of an episode that is told at the end of a task: the episode to store, the lessons of its insights,
//! and what its status says about the memories that were shown before it.

use std::collections::HashSet;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answer::{ContextForTask, KNOWLEDGE_MAX, PATTERNS_MAX, WARNINGS_MAX};
use super::features::ContextMap;
use crate::episode::{EpisodeStatus, EpisodeTask, NewArtefact, NewEpisode, NewOutcome, RecordedEpisode};
use crate::evidence::feedback::{LEARNINGS_MAX, Learning, Moved};
use crate::learning::capture::sentences;
use crate::learning::transcript::{FenceLine, Fences};
use crate::memory::ids::{ContextId, MemoryId};
use crate::memory::observation::Feedback;
use crate::memory::pattern::{FeatureValue, PatternStage, add_features};
use crate::memory::signature::mentioned;
use crate::memory::trace::{EpisodeMetadata, Execution, OutcomeParts, Reflection};
use crate::memory::{
    CONTENT_MAX_CHARS, DESCRIPTION_MAX_CHARS, ErrorContext, FieldProblem, LABEL_MAX_CHARS, LESSON_CONTENT_MAX_CHARS,
    Learned, TITLE_MAX_CHARS, normalised,
};
use crate::note::Note;
use crate::pattern::features::TaskFeatures;
use crate::text::shortened;

/// The most insights that are told beside an episode.
pub const INSIGHTS_MAX: usize = LEARNINGS_MAX;

/// An insight with fewer letters and digits says too little for a lesson.
const LESSON_LEAST_CHARS: usize = 12;
/// The type of the error of a task that failed and named none.
const FAILED_TASK: &str = "FailedTask";

/// The patterns and memories that an agent was shown before a task.
#[derive(Debug, Clone, PartialEq)]
pub struct ShownContext {
    pub context_id: ContextId,
    pub task: String,
    pub domain: Option<String>,
    pub task_type: Option<String>,
    /// The other features that were named of the task.
    pub features: ContextMap,
    pub patterns: Vec<MemoryId>,
    /// The memories that are no patterns.
    pub memories: Vec<MemoryId>,
}

impl ShownContext {
    /// Returns what an answer shows, no more than an answer may have.
    pub fn of(answer: &ContextForTask, task: &str, domain: Option<&str>, task_type: Option<&str>) -> Self {
        let patterns = answer.applicable_patterns.iter().filter(|one| one.shown).map(|one| one.pattern_id);
        let memories = answer.warnings.iter().chain(&answer.domain_knowledge).filter(|one| one.shown);
        Self {
            context_id: answer.context_id,
            task: task.to_owned(),
            domain: domain.map(str::to_owned),
            task_type: task_type.map(str::to_owned),
            features: ContextMap::new(),
            patterns: patterns.take(PATTERNS_MAX).collect(),
            memories: memories.map(|one| one.id).take(KNOWLEDGE_MAX + WARNINGS_MAX).collect(),
        }
    }

    /// Keeps what is known of the task beside its domain and type, for the episode that comes of it.
    #[must_use]
    pub fn with_features(mut self, features: &TaskFeatures) -> Self {
        let named = [("language", &features.language), ("framework", &features.framework)];
        let named = named.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value.as_deref()?.into())));
        self.features = features.context.clone().into_iter().chain(named).collect();
        self
    }

    /// Returns about how many bytes it takes.
    pub fn bytes(&self) -> usize {
        let labels = [&self.domain, &self.task_type].into_iter().flatten().map(String::len).sum::<usize>();
        let of_value = |value: &FeatureValue| match value {
            FeatureValue::Text(text) => text.len(),
            FeatureValue::Texts(texts) => texts.iter().map(|text| size_of::<String>() + text.len()).sum(),
            FeatureValue::Truth(_) | FeatureValue::Number(_) => 0,
        };
        let of_feature = |(name, value): (&String, &FeatureValue)| {
            size_of::<String>() + size_of::<FeatureValue>() + name.len() + of_value(value)
        };
        size_of::<Self>()
            + self.task.len()
            + labels
            + self.features.iter().map(of_feature).sum::<usize>()
            + size_of::<MemoryId>() * (self.patterns.len() + self.memories.len())
    }
}

/// An episode as it is told together with its status, which may stand beside it or in its outcome.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(description = "")]
pub struct ToldEpisode {
    pub task: EpisodeTask,
    #[serde(default)]
    pub outcome: ToldOutcome,
    #[serde(default)]
    pub execution: Execution,
    #[serde(default)]
    pub reflection: Reflection,
    #[serde(default)]
    pub metadata: EpisodeMetadata,
    /// Default: this conversation.
    #[serde(default)]
    pub session_id: Option<String>,
    /// RFC 3339, if not now.
    #[serde(default)]
    pub timestamp: Option<Timestamp>,
    /// Files and long texts to keep.
    #[serde(default)]
    pub artefacts: Vec<NewArtefact>,
}

/// The outcome of a task, as its agent tells it.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[schemars(description = "")]
pub struct ToldOutcome {
    #[serde(default)]
    pub status: Option<EpisodeStatus>,
    #[serde(flatten)]
    pub parts: OutcomeParts,
}

impl ToldEpisode {
    /// Returns the episode with its status.
    pub fn with_status(self, status: EpisodeStatus) -> NewEpisode {
        let Self { task, outcome, execution, reflection, metadata, session_id, timestamp, artefacts } = self;
        let outcome = NewOutcome { status, parts: outcome.parts };
        NewEpisode { task, outcome, execution, reflection, metadata, session_id, timestamp, artefacts }
    }
}

/// The application of a pattern that was shown, and where the pattern stands after it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContextApplication {
    pub pattern_id: MemoryId,
    pub name: String,
    pub stage_before: PatternStage,
    pub stage: PatternStage,
    /// The reason why it moved, or why it stays where it is.
    pub why: String,
}

/// The answer to an episode that was told at the end of a task: what it changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LearnedEpisode {
    #[serde(flatten)]
    pub episode: RecordedEpisode,
    /// The lessons of its insights. Where a memory said the same already, the id is that memory's.
    pub lessons: Vec<Learned>,
    /// The confidence in the memories that were shown.
    pub updated: Vec<Moved>,
    /// The patterns that were shown.
    pub applications: Vec<ContextApplication>,
    pub notes: Vec<Note>,
}

/// Returns the status that is said beside an episode, or in it.
///
/// # Errors
/// Nobody says it, or the two differ.
pub fn status_of(beside: Option<EpisodeStatus>, within: Option<EpisodeStatus>) -> Result<EpisodeStatus, FieldProblem> {
    match (beside, within) {
        (Some(beside), Some(within)) if beside != within => {
            let problem = format!("is {}, and the episode says {}", beside.as_str(), within.as_str());
            Err(FieldProblem::new("status", problem))
        }
        (Some(status), _) | (None, Some(status)) => Ok(status),
        (None, None) => Err(FieldProblem::new("status", "is missing; say SUCCESS, PARTIAL or FAILURE")),
    }
}

/// Returns the episode to store: what was told, with what the context knows of the task. None where neither says what
/// the task was.
pub fn episode_to_learn(
    context: Option<&ShownContext>,
    told: Option<NewEpisode>,
    status: EpisodeStatus,
    insights: Vec<String>,
) -> Option<NewEpisode> {
    let of_context = || context.map(|context| NewEpisode::new(context.task.clone(), status));
    let mut episode = told.or_else(of_context)?;
    episode.outcome.status = status;
    if let Some(context) = context {
        let metadata = &mut episode.metadata;
        metadata.domain = metadata.domain.take().or_else(|| context.domain.clone());
        metadata.task_type = metadata.task_type.take().or_else(|| context.task_type.clone());
        add_features(&mut metadata.features, &context.features);
        let applied = &mut metadata.strategies_applied;
        let new: Vec<MemoryId> = context.patterns.iter().copied().filter(|id| !applied.contains(id)).collect();
        applied.extend(new);
    }
    let told = std::mem::take(&mut episode.reflection.insights);
    let mut said = HashSet::new();
    episode.reflection.insights = told.into_iter().chain(insights).filter(|one| said.insert(normalised(one))).collect();
    Some(episode)
}

/// Returns the lessons of the insights of an episode, and notes on those that become none. An insight of a task that
/// failed is a warning.
pub fn lessons_of(episode: &NewEpisode) -> (Vec<Learning>, Vec<Note>) {
    let is_fit = |insight: &&String| {
        let says = insight.chars().filter(|c| c.is_alphanumeric()).count();
        says >= LESSON_LEAST_CHARS && insight.chars().count() <= CONTENT_MAX_CHARS
    };
    let insights = &episode.reflection.insights;
    let fit: Vec<&String> = insights.iter().filter(is_fit).collect();
    let lessons = fit.iter().take(LEARNINGS_MAX).map(|insight| lesson_of(insight, episode)).collect();
    let mut notes = Vec::new();
    if fit.len() < insights.len() {
        let unfit = insights.len() - fit.len();
        notes.push(Note::plain(format!("{unfit} of the insights are too short or too long for lessons")));
    }
    if fit.len() > LEARNINGS_MAX {
        notes.push(Note::plain(format!("the first {LEARNINGS_MAX} of {} insights became lessons", fit.len())));
    }
    (lessons, notes)
}

fn lesson_of(insight: &str, episode: &NewEpisode) -> Learning {
    let insight = insight.trim();
    let title = first_sentence(insight).unwrap_or_else(|| insight.to_owned());
    let task: String = episode.task.original_input.split_whitespace().collect::<Vec<_>>().join(" ");
    let failed = episode.outcome.status == EpisodeStatus::Failure;
    Learning {
        title: shortened(title.trim().trim_end_matches(['.', '。']), TITLE_MAX_CHARS),
        description: shortened(&format!("When a task is like this one: {task}"), DESCRIPTION_MAX_CHARS),
        content: insight.to_owned(),
        error_context: failed.then(|| error_of(insight, &task, episode)),
    }
}

/// Returns the first sentence of a text: of its prose, or else of its code.
fn first_sentence(text: &str) -> Option<String> {
    let mut fences = Fences::default();
    let lines: Vec<(FenceLine<'_>, &str)> = text.lines().map(|line| (fences.next(line), line)).collect();
    let first = |is_wanted: fn(&FenceLine<'_>) -> bool| {
        let wanted = lines.iter().filter(|(kind, _)| is_wanted(kind));
        wanted.flat_map(|(_, line)| sentences(line)).next()
    };
    first(|kind| *kind == FenceLine::Outside).or_else(|| first(|kind| *kind == FenceLine::Inside))
}

/// Returns what went wrong in a task that failed: the error that the insight names, or else the first failure on the
/// way.
fn error_of(insight: &str, task: &str, episode: &NewEpisode) -> ErrorContext {
    let failure = episode.reflection.failures_analyzed.first();
    let named = mentioned(insight).or_else(|| failure.map(|failure| failure.read_signature()));
    let name = named.map(|signature| signature.error().to_owned()).filter(|name| !name.trim().is_empty());
    let pattern = failure.map_or_else(|| format!("This task failed: {task}"), |failure| failure.error.clone());
    ErrorContext {
        error_type: shortened(name.as_deref().unwrap_or(FAILED_TASK), LABEL_MAX_CHARS),
        failure_pattern: shortened(&pattern, LESSON_CONTENT_MAX_CHARS),
        corrective_guidance: shortened(insight, LESSON_CONTENT_MAX_CHARS),
        error_message: None,
        stack_trace: None,
        task_domain: episode.metadata.domain.clone(),
    }
}

/// Returns what the status of an episode says about the memories that were shown. A partial success is no evidence.
pub fn verdict_of(status: EpisodeStatus) -> Feedback {
    let task_succeeded = match status {
        EpisodeStatus::Success => Some(true),
        EpisodeStatus::Failure => Some(false),
        EpisodeStatus::Partial => None,
    };
    Feedback { task_succeeded, ..Feedback::default() }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::memory::samples::id;
    use crate::memory::trace::FailureAnalysis;

    fn context() -> ShownContext {
        ShownContext {
            context_id: uuid::Uuid::from_u128(1).into(),
            task: "Fix the pager".into(),
            domain: Some("rust".into()),
            task_type: Some("debugging".into()),
            features: [("language".to_owned(), "go".into())].into(),
            patterns: vec![id(1), id(2)],
            memories: vec![id(3)],
        }
    }

    #[test]
    fn the_status_is_said_once_or_twice_the_same() {
        let (success, failure) = (Some(EpisodeStatus::Success), Some(EpisodeStatus::Failure));
        assert_eq!(status_of(success, None).unwrap(), EpisodeStatus::Success);
        assert_eq!(status_of(None, failure).unwrap(), EpisodeStatus::Failure);
        assert_eq!(status_of(success, success).unwrap(), EpisodeStatus::Success);
        assert_eq!(status_of(success, failure).unwrap_err().problem, "is SUCCESS, and the episode says FAILURE");
        assert_eq!(status_of(None, None).unwrap_err().field, "status");
    }

    #[test]
    fn a_context_alone_makes_an_episode_and_adds_what_it_knows_to_one_that_is_told() {
        let of_context = episode_to_learn(Some(&context()), None, EpisodeStatus::Partial, vec!["a".into()]).unwrap();
        assert_eq!(
            (of_context.task.original_input.as_str(), of_context.outcome.status),
            ("Fix the pager", EpisodeStatus::Partial)
        );
        assert_eq!(of_context.metadata.domain.as_deref(), Some("rust"));
        assert_eq!(of_context.metadata.strategies_applied, [id(1), id(2)]);
        assert_eq!(of_context.metadata.features, context().features);

        let mut told = NewEpisode::new("Fix the pager of the list", EpisodeStatus::Success);
        told.metadata.domain = Some("sql".into());
        told.metadata.strategies_applied = vec![id(2)];
        told.reflection.insights = vec!["One".into(), "Two".into()];
        let insights = vec![" one ".into(), "Three".into()];
        let told = episode_to_learn(Some(&context()), Some(told), EpisodeStatus::Success, insights).unwrap();
        assert_eq!(told.task.original_input, "Fix the pager of the list");
        assert_eq!(
            (told.metadata.domain.as_deref(), told.metadata.task_type.as_deref()),
            (Some("sql"), Some("debugging"))
        );
        assert_eq!(told.metadata.strategies_applied, [id(2), id(1)]);
        assert_eq!(told.reflection.insights, ["One", "Two", "Three"]);
        assert_eq!(episode_to_learn(None, None, EpisodeStatus::Success, vec![]), None);
    }

    #[test]
    fn what_a_context_knows_is_added_as_far_as_it_fits() {
        let features = (0..50).map(|n| (format!("feature {n:02}"), FeatureValue::Truth(true))).collect();
        let known = TaskFeatures { language: Some("rust".into()), context: features, ..TaskFeatures::default() };
        let context = context().with_features(&known);
        assert_eq!(context.features.len(), 51);
        let mut told = NewEpisode::new("Fix the pager", EpisodeStatus::Success);
        let (branch, no) = (FeatureValue::from("main"), FeatureValue::Truth(false));
        told.metadata.features = [("branch".into(), branch.clone()), ("feature 00".into(), no.clone())].into();
        let episode = episode_to_learn(Some(&context), Some(told), EpisodeStatus::Success, vec![]).unwrap();
        let kept = &episode.metadata.features;
        assert_eq!((kept.len(), &kept["branch"], &kept["feature 00"]), (50, &branch, &no));
        assert_eq!(episode.check_counts(), Ok(()));

        let long = ShownContext { features: [("log".into(), FeatureValue::Text("x".repeat(2_001)))].into(), ..context };
        let episode = episode_to_learn(Some(&long), None, EpisodeStatus::Success, vec![]).unwrap();
        assert!(episode.metadata.features.is_empty());
    }

    #[test]
    fn an_insight_becomes_a_lesson_with_its_first_sentence_as_the_title() {
        let mut episode = NewEpisode::new("Fix the\n date parser", EpisodeStatus::Success);
        episode.reflection.insights =
            vec!["Chrono 0.4.3 refuses day 366. Clamp the day to the length of the year.".into(), "done".into()];
        let (lessons, notes) = lessons_of(&episode);
        assert_eq!(lessons.len(), 1);
        assert_eq!(lessons[0].title, "Chrono 0.4.3 refuses day 366");
        assert_eq!(lessons[0].description, "When a task is like this one: Fix the date parser");
        assert_eq!(
            (lessons[0].content.as_str(), &lessons[0].error_context),
            (episode.reflection.insights[0].as_str(), &None)
        );
        assert_eq!(notes, ["1 of the insights are too short or too long for lessons"]);

        episode.reflection.insights = vec!["---\n... Close the pool first. Then stop.".into()];
        assert_eq!(lessons_of(&episode).0[0].title, "Close the pool first", "a line of signs is no title");
    }

    #[rstest]
    #[case(
        "Use e.g. ripgrep v14.1.0 instead of grep. It respects .gitignore.",
        "Use e.g. ripgrep v14.1.0 instead of grep"
    )]
    #[case("Nutze z. B. rg statt grep. Es ist schneller.", "Nutze z. B. rg statt grep")]
    #[case("```python\nprint(1)\n```\nThis is how to print. It ends the line.", "This is how to print")]
    #[case("```python\nprint(1)\n``` is how to print", "print(1)")]
    #[case(
        "本番環境のテーブルを直接変更しないこと。必ずマイグレーションを使う。",
        "本番環境のテーブルを直接変更しないこと"
    )]
    #[case("不要直接修改生产环境的数据表。一定要使用迁移脚本。", "不要直接修改生产环境的数据表")]
    #[case("Deploy plan B. Then stop the old one.", "Deploy plan B")]
    #[case("The loop took 1.8 s. Cache the query.", "The loop took 1.8 s")]
    fn a_title_is_a_whole_sentence(#[case] insight: &str, #[case] title: &str) {
        let mut episode = NewEpisode::new("Fix the date parser", EpisodeStatus::Success);
        episode.reflection.insights = vec![insight.into()];
        assert_eq!(lessons_of(&episode).0[0].title, title);
    }

    #[test]
    fn an_insight_of_a_failed_task_warns_of_its_error() {
        let mut episode = NewEpisode::new("Load the sessions", EpisodeStatus::Failure);
        episode.reflection.insights = vec!["Sessions without a user have to be skipped".into()];
        let error = |episode: &NewEpisode| lessons_of(episode).0.remove(0).error_context.unwrap();
        assert_eq!(error(&episode).error_type, FAILED_TASK);
        assert_eq!(error(&episode).failure_pattern, "This task failed: Load the sessions");
        episode.reflection.failures_analyzed =
            vec![FailureAnalysis { error: "KeyError: 'user'".into(), ..FailureAnalysis::default() }];
        assert_eq!(
            (error(&episode).error_type.as_str(), error(&episode).failure_pattern.as_str()),
            ("keyerror", "KeyError: 'user'")
        );
        assert_eq!(error(&episode).corrective_guidance, "Sessions without a user have to be skipped");
    }

    #[test]
    fn no_more_insights_become_lessons_than_a_report_may_bring() {
        let mut episode = NewEpisode::new("Fix it", EpisodeStatus::Success);
        episode.reflection.insights = (0..12).map(|n| format!("An insight with the number {n}")).collect();
        let (lessons, notes) = lessons_of(&episode);
        assert_eq!(lessons.len(), LEARNINGS_MAX);
        assert_eq!(notes, ["the first 10 of 12 insights became lessons"]);
    }

    proptest::proptest! {
        #[test]
        fn every_lesson_is_within_the_bounds_of_a_memory(insight in "\\PC{12,600}", task in "\\PC{1,600}", failed: bool) {
            let status = if failed { EpisodeStatus::Failure } else { EpisodeStatus::Success };
            let mut episode = NewEpisode::new(task, status);
            episode.reflection.insights = vec![insight];
            for lesson in lessons_of(&episode).0 {
                let is_within = |text: &str, max: usize| !text.trim().is_empty() && text.chars().count() <= max;
                proptest::prop_assert!(is_within(&lesson.title, TITLE_MAX_CHARS), "{lesson:?}");
                proptest::prop_assert!(is_within(&lesson.description, DESCRIPTION_MAX_CHARS), "{lesson:?}");
                if let Some(error) = lesson.error_context {
                    proptest::prop_assert!(is_within(&error.error_type, LABEL_MAX_CHARS), "{error:?}");
                    proptest::prop_assert!(is_within(&error.corrective_guidance, LESSON_CONTENT_MAX_CHARS), "{error:?}");
                }
            }
        }
    }
}
