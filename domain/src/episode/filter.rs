//! The rule for which episodes a question is about. Stores may answer with conditions of their own, which the contract
//! suite holds against this rule.

use jiff::Timestamp;

use super::labels::EpisodeLabels;
use super::lifecycle::{EpisodeState, EpisodeTimes, LifecycleRules, Visibility};
use crate::memory::label::label_key;
use crate::memory::signature::Signature;
use crate::memory::trace::{Outcome, Trace};
use crate::memory::workspace::WorkspaceId;

/// The conditions of a question. All that are given must hold; labels are compared as [`label_key`] writes them.
#[derive(Debug, Clone, PartialEq)]
pub struct EpisodeFilter {
    /// None: of all workspaces, which only upkeep may ask.
    pub workspace: Option<WorkspaceId>,
    pub domain: Option<String>,
    pub task_type: Option<String>,
    pub status: Option<Outcome>,
    /// Each of these tools was used.
    pub tools: Vec<String>,
    /// Each of these tags is there.
    pub tags: Vec<String>,
    pub session: Option<String>,
    /// It was made at this time or later.
    pub since: Option<Timestamp>,
    /// It was made before this time.
    pub until: Option<Timestamp>,
    /// A failure of it has the error of this signature, whatever its domain.
    pub signature: Option<Signature>,
    /// It failed, or something failed on the way.
    pub with_failures: bool,
    /// Those of these kinds are shown.
    pub visible: Vec<Visibility>,
    pub rules: LifecycleRules,
    pub now: Timestamp,
}

impl EpisodeFilter {
    /// Makes the filter that lets all episodes of a workspace through that are neither archived nor deleted.
    pub fn of(workspace: WorkspaceId, rules: LifecycleRules, now: Timestamp) -> Self {
        Self { workspace: Some(workspace), ..Self::of_all(rules, now) }
    }

    /// Makes the filter that lets all episodes of a workspace through that are not deleted. The rules of ageing do not
    /// count for it, because it shows archived episodes as well.
    pub fn of_any_age(workspace: WorkspaceId, now: Timestamp) -> Self {
        Self::of(workspace, LifecycleRules::default(), now).with_archived(true)
    }

    /// Makes the filter that lets all episodes of all workspaces through that are neither archived nor deleted.
    pub fn of_all(rules: LifecycleRules, now: Timestamp) -> Self {
        Self {
            workspace: None,
            domain: None,
            task_type: None,
            status: None,
            tools: Vec::new(),
            tags: Vec::new(),
            session: None,
            since: None,
            until: None,
            signature: None,
            with_failures: false,
            visible: vec![Visibility::Active],
            rules,
            now,
        }
    }

    /// Returns the filter that lets archived episodes through as well.
    #[must_use]
    pub fn with_archived(mut self, include: bool) -> Self {
        if include {
            self.visible.push(Visibility::Archived);
        }
        self
    }

    /// Tells whether it asks for more than a workspace, a time and a visibility.
    pub fn has_labels(&self) -> bool {
        let Self { domain, task_type, status, tools, tags, session, signature, with_failures, .. } = self;
        let texts = [domain, task_type, session];
        texts.into_iter().any(Option::is_some)
            || status.is_some()
            || !tools.is_empty()
            || !tags.is_empty()
            || signature.is_some()
            || *with_failures
    }

    /// Tells whether an episode with these times is shown.
    pub fn shows(&self, times: EpisodeTimes) -> bool {
        self.visible.contains(&times.visibility(self.rules, self.now))
    }

    /// Tells whether the question is about this episode.
    pub fn holds(&self, trace: &Trace, state: &EpisodeState) -> bool {
        let labels = EpisodeLabels::of(trace);
        let made = trace.created_at.as_microsecond();
        let is = |wanted: &Option<String>, label: Option<&str>| {
            wanted.as_deref().is_none_or(|wanted| label == Some(label_key(wanted).as_str()))
        };
        self.shows(state.times())
            && self.workspace.as_ref().is_none_or(|workspace| trace.metadata.workspace_id == *workspace)
            && is(&self.domain, labels.domain.as_deref())
            && is(&self.task_type, Some(&labels.task_type))
            && self.status.is_none_or(|status| trace.outcome == status)
            && self.tools.iter().all(|tool| labels.tools.contains(&label_key(tool)))
            && self.tags.iter().all(|tag| labels.tags.contains(&label_key(tag)))
            && self.session.as_deref().is_none_or(|session| labels.sessions.contains(session))
            && self.since.is_none_or(|since| made >= since.as_microsecond())
            && self.until.is_none_or(|until| made < until.as_microsecond())
            && self
                .signature
                .as_ref()
                .is_none_or(|wanted| labels.signatures.iter().any(|own| own.error() == wanted.error()))
            && (!self.with_failures || trace.outcome == Outcome::Failure || !labels.signatures.is_empty())
    }
}
