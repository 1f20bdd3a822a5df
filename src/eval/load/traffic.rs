//! The lessons that clients record and the queries that they ask. Each follows from its number alone, so that whoever
//! knows the number of a lesson knows what must be stored under it.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::{Value, json};

/// The clients and the memories that are there before are spread evenly over this many workspaces of one team.
pub(super) const WORKSPACES: u64 = 10;
pub(super) const TEAM: &str = "load";
/// The queries that are asked again and again, of each workspace.
const REPEATED_QUERIES: u64 = 20;
/// The number of calls of ten that record a lesson, and that of those that ask what nobody asked before. The others ask
/// what was asked before.
const RECORDS_OF_TEN: u64 = 2;
const NEW_QUERIES_OF_TEN: u64 = 4;

const CONTENT_WORDS: u64 = 36;
const QUERY_WORDS: u64 = 8;
const WORDS: [&str; 100] = [
    "retry", "cache", "lock", "queue", "parse", "index", "merge", "branch", "commit", "test", "mock", "timeout",
    "stream", "buffer", "thread", "socket", "header", "token", "query", "table", "column", "schema", "patch", "build",
    "deploy", "config", "secret", "error", "panic", "trace", "metric", "signal", "batch", "shard", "page", "cursor",
    "node", "edge", "graph", "path", "file", "folder", "link", "route", "proxy", "server", "client", "request",
    "answer", "field", "value", "bound", "limit", "range", "order", "sort", "search", "filter", "group", "count",
    "first", "last", "before", "after", "between", "under", "while", "until", "because", "unless", "should", "must",
    "never", "always", "often", "small", "large", "empty", "single", "double", "broken", "whole", "early", "late",
    "fast", "slow", "cheap", "safe", "strict", "loose", "check", "write", "read", "open", "close", "start", "stop",
    "wait", "send", "keep",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum CallKind {
    /// A query that nobody asked before, so that its vector is in no cache.
    NewQuery,
    /// A query that was asked before, after the first time.
    RepeatedQuery,
    Record,
}

impl CallKind {
    /// Returns the kind of the `number`th call of a client.
    pub(super) fn of(client: u64, number: u64) -> Self {
        match drawn(("kind", client, number), 10) {
            n if n < RECORDS_OF_TEN => Self::Record,
            n if n < RECORDS_OF_TEN + NEW_QUERIES_OF_TEN => Self::NewQuery,
            _ => Self::RepeatedQuery,
        }
    }
}

/// Returns the key of a workspace.
pub(super) fn key(workspace: u64) -> String {
    format!("load-{}", workspace % WORKSPACES)
}

/// A lesson as clients record it: some fifty words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LoadLesson {
    pub(super) title: String,
    pub(super) description: String,
    pub(super) content: String,
}

impl LoadLesson {
    pub(super) fn of(number: u64) -> Self {
        Self {
            title: format!("Lesson {number}: {}", words(("title", number), 3)),
            description: format!("When the {} comes up.", words(("description", number), 3)),
            content: words(("content", number), CONTENT_WORDS),
        }
    }

    /// Returns the number of the lesson with this title.
    pub(super) fn number(title: &str) -> Option<u64> {
        title.strip_prefix("Lesson ")?.split_once(':')?.0.parse().ok()
    }

    pub(super) fn arguments(&self) -> Value {
        json!({"title": self.title, "description": self.description, "content": self.content})
    }
}

/// Makes a query that nobody asks a second time.
pub(super) fn new_query(client: u64, number: u64) -> String {
    words(("new", client, number), QUERY_WORDS)
}

/// Makes one of the queries that many clients ask of a workspace.
pub(super) fn repeated_query(client: u64, number: u64) -> String {
    words(("repeated", client % WORKSPACES, drawn(("again", client, number), REPEATED_QUERIES)), QUERY_WORDS)
}

/// Draws a number in 0..`end`, always the same one for the same purpose.
pub(super) fn drawn(purpose: impl Hash, end: u64) -> u64 {
    let mut hasher = DefaultHasher::new();
    purpose.hash(&mut hasher);
    hasher.finish() % end
}

fn words(purpose: impl Hash, count: u64) -> String {
    let word = |n| WORDS[drawn((&purpose, n), WORDS.len() as u64) as usize];
    (0..count).map(word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_fifth_of_the_calls_record_and_half_of_the_queries_are_new() {
        let kinds: Vec<CallKind> = (0..100).flat_map(|client| (0..100).map(move |n| CallKind::of(client, n))).collect();
        let share = |kind| kinds.iter().filter(|other| **other == kind).count() as f64 / kinds.len() as f64;
        for (kind, wanted) in [(CallKind::Record, 0.2), (CallKind::NewQuery, 0.4), (CallKind::RepeatedQuery, 0.4)] {
            assert!((share(kind) - wanted).abs() < 0.02, "{kind:?}: {}", share(kind));
        }
    }

    #[test]
    fn lessons_are_told_apart_and_known_by_their_titles() {
        let contents: HashSet<String> = (0..1_000).map(|number| LoadLesson::of(number).content).collect();
        assert_eq!(contents.len(), 1_000);
        assert_eq!(LoadLesson::number(&LoadLesson::of(417).title), Some(417));
        assert_eq!(LoadLesson::number("Another lesson"), None);
        assert_eq!(LoadLesson::of(5), LoadLesson::of(5));
    }

    #[test]
    fn repeated_queries_are_few_and_new_ones_are_new() {
        let repeated: HashSet<String> = (0..1_000).map(|number| repeated_query(3, number)).collect();
        assert_eq!(repeated.len(), REPEATED_QUERIES as usize);
        let new: HashSet<String> = (0..1_000).map(|number| new_query(3, number)).collect();
        assert_eq!(new.len(), 1_000);
    }
}
