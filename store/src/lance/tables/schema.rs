//! The tables, and the columns of each.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema, SchemaRef};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::lance) enum TableName {
    Workspaces,
    Traces,
    Memories,
    Passages,
    Signals,
    Jobs,
    Requests,
    EpisodeState,
    EpisodeVectors,
    History,
}

impl TableName {
    /// All tables, in the order in which a frame is applied: what refers comes after what it refers to.
    pub(in crate::lance) const ALL: [Self; 10] = [
        Self::Workspaces,
        Self::Traces,
        Self::Memories,
        Self::Passages,
        Self::Signals,
        Self::Jobs,
        Self::Requests,
        Self::EpisodeState,
        Self::EpisodeVectors,
        Self::History,
    ];

    pub(in crate::lance) fn as_str(self) -> &'static str {
        match self {
            Self::Workspaces => "workspaces",
            Self::Traces => "traces",
            Self::Memories => "memories",
            Self::Passages => "passages",
            Self::Signals => "signals",
            Self::Jobs => "jobs",
            Self::Requests => "requests",
            Self::EpisodeState => "episode_state",
            Self::EpisodeVectors => "episode_vectors",
            Self::History => "history",
        }
    }

    /// The columns that are searched and filtered on; `body` is the whole record as JSON. Every `id` is the
    /// unenforced primary key: two writers that insert the same one at once conflict instead of doubling it. Columns
    /// that a later format added come last, where an upgrade puts them, too.
    pub(in crate::lance) fn schema(self, dims: usize) -> SchemaRef {
        let text = |name: &str| Field::new(name, DataType::Utf8, false);
        let optional = |name: &str| Field::new(name, DataType::Utf8, true);
        let time = |name: &str, nullable| Field::new(name, DataType::Int64, nullable);
        let key = HashMap::from([("lance-schema:unenforced-primary-key:position".to_owned(), "1".to_owned())]);
        let mut fields = vec![text("id").with_metadata(key)];
        fields.extend(match self {
            Self::Workspaces => vec![text("body")],
            Self::Traces => vec![
                text("workspace"),
                text("body"),
                text("outcome"),
                time("created", false),
                // these are NULL where there is no such label
                optional("session"),
                optional("domain"),
                optional("task_type"),
                optional("tools"),
                optional("tags"),
                optional("signatures"),
            ],
            Self::Memories => vec![
                text("workspace"),
                text("scope"),
                text("status"),
                text("duplicate_key"),
                optional("parent"),
                text("derived_from"),
                text("body"),
                text("outcome"),
                // this is NULL only in rows of versions that do not know it; memories without an error have an empty
                // one
                optional("signature"),
                optional("team"),
                optional("org"),
                // the stage of a pattern; this is NULL for any other memory
                optional("stage"),
            ],
            Self::Passages => vec![
                text("memory_id"),
                text("workspace"),
                text("scope"),
                optional("team"),
                optional("org"),
                text("status"),
                Field::new("warning", DataType::Boolean, false),
                optional("domain"),
                text("tags"),
                text("kind"),
                Field::new("n", DataType::UInt32, false),
                text("text"),
                Field::new("vector", vector_type(dims), true),
                // these are NULL only in rows of versions that do not know them; difficulty also where there is none
                optional("terms"),
                Field::new("created", DataType::Int64, true),
                optional("outcome"),
                optional("source"),
                optional("difficulty"),
            ],
            Self::Signals => vec![
                text("memory_id"),
                text("workspace"),
                text("kind"),
                Field::new("at", DataType::Int64, false),
                text("body"),
            ],
            Self::Jobs => vec![
                text("workspace"),
                text("state"),
                Field::new("due", DataType::Int64, false),
                Field::new("updated", DataType::Int64, false),
                text("body"),
                Field::new("created", DataType::Int64, false),
            ],
            Self::Requests => vec![text("workspace"), time("at", false), text("body")],
            Self::EpisodeState => vec![
                text("workspace"),
                time("created", false),
                time("accessed", true),
                time("archived", true),
                time("deleted", true),
                text("body"),
            ],
            // the body says all but the vectors
            Self::EpisodeVectors => vec![
                text("workspace"),
                time("created", false),
                text("embedder"),
                Field::new("task", DataType::Binary, true),
                Field::new("outcome", DataType::Binary, true),
                Field::new("whole", DataType::Binary, true),
                text("body"),
            ],
            Self::History => vec![text("workspace"), text("run"), text("object"), time("at", false), text("body")],
        });
        Arc::new(Schema::new(fields))
    }
}

fn vector_item() -> Arc<Field> {
    Arc::new(Field::new("item", DataType::Float32, true))
}

fn vector_type(dims: usize) -> DataType {
    DataType::FixedSizeList(vector_item(), i32::try_from(dims).unwrap_or(i32::MAX))
}
