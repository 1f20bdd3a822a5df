//! Relations between words that do not mean the same: verbs that tell one relation, points of a scale, and nouns that
//! only announce a value.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use super::lexicon::{canonical, verb};

/// Verbs of one group tell the same relation between a subject and its value.
const RELATIONS: &[&str] = &[
    "live store keep save persist reside sit hang lie host locate find put push land write",
    "show see display list view",
    "begin start kick happen hold open",
    "last take run",
    "expire last live",
    "track file follow manage record report",
    "handle do manage process",
    "deliver send ship dispatch",
    "return yield hand answer give render",
    "build compile target",
    "charge cost bill pay",
    "lead head chair run manage",
    "lead own maintain handle",
    "leave depart departure",
    "take hold host happen meet",
    "deliver supply provide come bring give issue",
    "keep store manage",
    "pin lock freeze",
    "report receive collect",
    "teach give",
];
/// Verbs that name no act: something is used, had or changed whatever is done with it.
const GENERAL_VERBS: &str = "use run go have has get make do move switch choose pick set settle decide adopt replace \
    change become remain";
/// Nouns that only say what kind of value follows, by the kinds they are used for.
const KIND_NOUNS: &[(&str, &str)] = &[
    ("duration", "time duration period lifetime ttl retention window length interval expiry"),
    ("money", "price cost fee rate charge"),
    ("size", "size"),
    ("share", "share percentage ratio rate figure usage"),
    ("number", "number count amount version"),
    ("time", "time hour"),
    ("date", "date day"),
    ("path", "path location file directory folder address"),
    ("name", "name"),
];
/// The scales, each with its points between bars. What is said at one point of a scale says nothing about another
/// point.
const SCALES: &[&str] = &[
    "limit | minimum | default | average mean median typical | percentile p50 p90 p95 p99 | peak | there",
    "start begin open opening | end close finish stop",
    "read reader | write writer",
    "primary | replica secondary standby",
    "input | output",
    "connect | idle",
    "before until | after from since",
    "first | last",
    "soft | hard",
];
static RELATION: LazyLock<HashMap<String, Vec<usize>>> = LazyLock::new(|| {
    let mut map: HashMap<String, Vec<usize>> = HashMap::new();
    for (line, words) in RELATIONS.iter().enumerate() {
        for word in words.split_whitespace() {
            map.entry(canonical(word)).or_default().push(line);
        }
    }
    map
});
static GENERAL: LazyLock<HashSet<String>> = LazyLock::new(|| GENERAL_VERBS.split_whitespace().map(verb).collect());
static KIND_NOUN: LazyLock<HashSet<(&str, String)>> = LazyLock::new(|| {
    KIND_NOUNS
        .iter()
        .flat_map(|(kind, words)| words.split_whitespace().map(move |word| (*kind, canonical(word))))
        .collect()
});
static POINT: LazyLock<HashMap<String, (usize, usize)>> = LazyLock::new(|| {
    let points = SCALES.iter().enumerate().flat_map(|(scale, points)| {
        let of_scale = points.split('|').enumerate();
        of_scale.flat_map(move |(at, words)| words.split_whitespace().map(move |word| (word, (scale, at))))
    });
    points.flat_map(|(word, point)| [(word.to_owned(), point), (canonical(word), point)]).collect()
});
static BOUND: LazyLock<HashSet<String>> = LazyLock::new(|| ["limit", "minimum", "default"].map(canonical).into());

/// The point that `at least` names.
pub(super) const MINIMUM: (usize, usize) = (0, 1);

/// Tells whether two verbs, in the spelling that is compared, tell the same relation.
pub(super) fn are_related(a: &str, b: &str) -> bool {
    RELATION.get(a).zip(RELATION.get(b)).is_some_and(|(a, b)| a.iter().any(|group| b.contains(group)))
}

/// Tells whether a verb, in the spelling that is compared, names no act.
pub(super) fn is_general(verb: &str) -> bool {
    GENERAL.contains(verb)
}

/// Returns the kind of relation that a preposition tells. It is empty for other words.
pub(super) fn preposition(word: &str) -> &'static str {
    match word {
        "in" | "on" | "at" | "inside" | "near" | "under" | "behind" | "within" => "place",
        "from" => "origin",
        "for" => "purpose",
        "by" | "with" | "via" | "through" => "means",
        _ => "",
    }
}

/// Tells whether a noun only says that a value of this kind follows.
pub(super) fn names_kind(word: &str, kind: &'static str) -> bool {
    KIND_NOUN.contains(&(kind, word.to_owned()))
}

/// Returns the scale and the point of it that a word names, such as the limit or the default, the start or the end.
/// Other words name none.
pub(super) fn point(word: &str) -> Option<(usize, usize)> {
    POINT.get(word).copied()
}

/// Tells whether a word says that a value is a bound, or holds unless another one is told.
pub(super) fn is_bound(word: &str) -> bool {
    BOUND.contains(word)
}
