//! Conditions on rows. They are built as expressions, so no value ever becomes part of the text of a query.

use lancedb::expr::{DfExpr, col, contains, is_in, lit};
use reasoning_bank_actors::ports::{Conditions, Recall, Visible};
use reasoning_bank_domain::episode::EpisodeFilter;
use reasoning_bank_domain::memory::label::label_key;
use reasoning_bank_domain::memory::trace::Outcome;
use reasoning_bank_domain::memory::{Scope, Status};
use serde::Serialize;

use super::rows::{list_entry_start, list_text};

pub(in crate::lance) fn equals(column: &str, value: impl Into<String>) -> DfExpr {
    col(column).eq(lit(value.into()))
}

pub(in crate::lance) fn one_of(column: &str, values: impl IntoIterator<Item = String>) -> DfExpr {
    is_in(col(column), values.into_iter().map(lit).collect())
}

/// Returns the condition for entries of the history that are the records of runs.
pub(in crate::lance) fn of_runs() -> DfExpr {
    col("object").eq(col("run"))
}

/// Returns the condition that a list column ([`list_text`]) has this entry.
pub(super) fn has(column: &str, entry: impl Serialize) -> DfExpr {
    mentions(column, list_text([entry]))
}

/// Returns the condition that a column has this text somewhere in it.
pub(in crate::lance) fn mentions(column: &str, text: impl Into<String>) -> DfExpr {
    contains(col(column), lit(text.into()))
}

/// Returns a condition that holds where all of these hold; `None` when there are none.
pub(in crate::lance) fn all(conditions: impl IntoIterator<Item = Option<DfExpr>>) -> Option<DfExpr> {
    conditions.into_iter().flatten().reduce(DfExpr::and)
}

/// Returns the condition for memories, or passages of memories, that may be read; `None` when nobody's are visible.
pub(in crate::lance) fn readable(visible: &Visible) -> Option<DfExpr> {
    let readable = |scope: Scope, column: &str, reader: Option<&str>| {
        reader.map(|reader| equals("scope", scope.as_str()).and(equals(column, reader)))
    };
    let readable = [
        readable(Scope::Project, "workspace", visible.workspace.as_ref().map(|id| id.as_str())),
        readable(Scope::Team, "team", visible.team.as_deref()),
        readable(Scope::Org, "org", visible.org.as_deref()),
    ];
    readable.into_iter().flatten().reduce(DfExpr::or)
}

/// Returns the condition for passages that a search may find; `None` when nobody's memories are visible.
pub(in crate::lance) fn searched(recall: &Recall) -> Option<DfExpr> {
    all([Some(readable(&recall.visible)?), of_status(recall.statuses()), holding(&recall.conditions)])
}

/// Returns the condition that the status is one of these; `None` when there are none.
pub(in crate::lance) fn of_status(statuses: &[Status]) -> Option<DfExpr> {
    statuses.iter().map(|status| equals("status", status.as_str())).reduce(DfExpr::or)
}

/// Returns the condition for passages of memories of which these conditions hold; `None` when there are none.
pub(in crate::lance) fn holding(conditions: &Conditions) -> Option<DfExpr> {
    let label = |column: &str, label: &Option<String>| label.as_deref().map(|label| equals(column, label_key(label)));
    let given = [
        label("domain", &conditions.domain),
        label("difficulty", &conditions.difficulty),
        conditions.outcome.map(|outcome| equals("outcome", outcome.as_str())),
        conditions.source_type.map(|source| equals("source", source.as_str())),
        conditions.since.map(|since| col("created").gt_eq(lit(since.as_microsecond()))),
        conditions.until.map(|until| col("created").lt(lit(until.as_microsecond()))),
        conditions.warnings_only.then(|| col("warning").eq(lit(true))),
        conditions.without_warnings.then(|| col("warning").eq(lit(false))),
    ];
    all(given.into_iter().chain(conditions.tags.iter().map(|tag| Some(has("tags", tag)))))
}

/// Returns the condition for traces whose episodes the filter lets through, as far as their own columns tell; `None`
/// when there is none. The state of an episode tells whether it is shown.
pub(in crate::lance) fn episodes(filter: &EpisodeFilter) -> Option<DfExpr> {
    let label = |column: &str, label: &Option<String>| label.as_deref().map(|label| equals(column, label_key(label)));
    let failed = || equals("outcome", Outcome::Failure.as_str()).or(mentions("signatures", list_entry_start("")));
    let given = [
        filter.workspace.as_ref().map(|workspace| equals("workspace", workspace.as_str())),
        label("domain", &filter.domain),
        label("task_type", &filter.task_type),
        filter.status.map(|status| equals("outcome", status.as_str())),
        filter.session.as_deref().map(|session| equals("session", session).or(has("session", session))),
        filter.since.map(|since| col("created").gt_eq(lit(since.as_microsecond()))),
        filter.until.map(|until| col("created").lt(lit(until.as_microsecond()))),
        filter
            .signature
            .as_ref()
            .map(|wanted| mentions("signatures", list_entry_start(&format!("{}|", wanted.error())))),
        filter.with_failures.then(failed),
    ];
    let tools = filter.tools.iter().map(|tool| Some(has("tools", label_key(tool))));
    let tags = filter.tags.iter().map(|tag| Some(has("tags", label_key(tag))));
    all(given.into_iter().chain(tools).chain(tags))
}
