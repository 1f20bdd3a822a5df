//! The knowledge of the simulated model: kinds of tasks, what works for them and what goes wrong. A task of no known
//! kind gets lessons made of its own words, so that similar tasks find them again.

pub(super) struct Subject {
    pub(super) name: String,
    pub(super) domain: String,
    pub(super) when: String,
    pub(super) strategy_title: String,
    pub(super) approach: String,
    pub(super) warning_title: String,
    pub(super) error_type: String,
    pub(super) failure: String,
    pub(super) guidance: String,
    /// True where the first attempts fail without the warning.
    pub(super) trap: bool,
}

struct KnownSubject {
    words: &'static [&'static str],
    name: &'static str,
    domain: &'static str,
    when: &'static str,
    strategy: (&'static str, &'static str),
    warning: (&'static str, &'static str, &'static str, &'static str),
    trap: bool,
}

const KNOWN: &[KnownSubject] = &[
    KnownSubject {
        words: &["binary search", "sorted", "bisect", "lower bound", "upper bound"],
        name: "searching sorted data",
        domain: "algorithms",
        when: "When searching sorted data by halving a range; not for unsorted input.",
        strategy: (
            "Search with an inclusive lower and an exclusive upper bound",
            "Keep the answer inside a half-open range, stop when the bounds meet, compute the middle as low plus half \
             of the distance, and test empty input, one element and a missing value.",
        ),
        warning: (
            "Mixed bounds make a search of sorted data miss the last element",
            "OffByOneError",
            "An inclusive upper bound was combined with a strict comparison, so that the last element was never seen.",
            "Decide on a half-open range once and derive every comparison from it.",
        ),
        trap: false,
    },
    KnownSubject {
        words: &["retry", "rate limit", "http client", "flaky", "backoff", "api client"],
        name: "calling unreliable services",
        domain: "networking",
        when: "When calling a remote service that can be slow, overloaded or down.",
        strategy: (
            "Retry with exponential backoff, jitter and a total deadline",
            "Retry only what may succeed later, double the delay each time with random jitter, obey the server's \
             retry-after, and stop at a deadline for the whole operation.",
        ),
        warning: (
            "Retrying a remote call at once makes an overload worse",
            "RetryStormError",
            "Failed calls were repeated at once and without a limit, which kept the service down.",
            "Back off exponentially with jitter, obey retry-after, and give up at a deadline.",
        ),
        trap: false,
    },
    KnownSubject {
        words: &["csv", "parse", "parser", "tokenize", "quoted"],
        name: "parsing text formats",
        domain: "parsing",
        when: "When reading a text format with quoting or escapes.",
        strategy: (
            "Parse with a state machine over characters, not by splitting",
            "Walk the input once with an explicit state for quoted and unquoted text, keep the position for error \
             messages, and test empty fields, escaped quotes and a missing final newline.",
        ),
        warning: (
            "Splitting a quoted format at its separator breaks fields apart",
            "ParseError",
            "The input was split at the separator before quoting was considered, so quoted separators broke fields.",
            "Use a state machine or the format's library; never split a format that has quoting.",
        ),
        trap: true,
    },
    KnownSubject {
        words: &["thread", "mutex", "concurren", "race", "lock", "parallel counter"],
        name: "sharing state between threads",
        domain: "concurrency",
        when: "When several threads or tasks change the same state.",
        strategy: (
            "Give shared state one owner and send it messages",
            "Let one task own the state and serve requests over a bounded channel; where a lock is needed, hold it \
             briefly and never across an await or a call back.",
        ),
        warning: (
            "Checking and then acting on shared state without one lock is a race",
            "RaceConditionError",
            "The state was checked under one lock and changed under another, and changed in between.",
            "Make check and change one atomic step under one lock, or give the state one owner.",
        ),
        trap: true,
    },
];

impl Subject {
    pub(super) fn of(task: &str) -> Self {
        let lower = task.to_lowercase();
        let known = KNOWN.iter().find(|known| known.words.iter().any(|word| lower.contains(word)));
        known.map_or_else(|| Self::unknown(&lower), Self::from)
    }

    fn unknown(task: &str) -> Self {
        let mut words: Vec<&str> = task
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| word.chars().count() > 3 && *word != "fail")
            .collect();
        words.dedup();
        words.truncate(6);
        let about = if words.is_empty() { "small tasks".to_owned() } else { words.join(" ") };
        Self {
            domain: "general".into(),
            when: format!("When a task is about {about}; not for unrelated work."),
            strategy_title: format!("Work on {about} from the edge cases inwards"),
            approach: format!(
                "For {about}: list the edge cases first, write the smallest version that passes them, then simplify."
            ),
            warning_title: format!("Work on {about} failed without its edge cases"),
            error_type: "MissedEdgeCaseError".into(),
            failure: format!("The solution about {about} handled the usual case only."),
            guidance: "Write down empty, single, largest and malformed input before the first line of code.".into(),
            name: about,
            trap: false,
        }
    }
}

impl From<&KnownSubject> for Subject {
    fn from(known: &KnownSubject) -> Self {
        Self {
            name: known.name.into(),
            domain: known.domain.into(),
            when: known.when.into(),
            strategy_title: known.strategy.0.into(),
            approach: known.strategy.1.into(),
            warning_title: known.warning.0.into(),
            error_type: known.warning.1.into(),
            failure: known.warning.2.into(),
            guidance: known.warning.3.into(),
            trap: known.trap,
        }
    }
}
