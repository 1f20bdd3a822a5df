//! Words that mean the same, and the forms of verbs without a regular past.

use std::collections::HashMap;
use std::sync::LazyLock;

/// Words of one group mean the same about a subject; the first one stands for all of them.
const SYNONYMS: &[&str] = &[
    "database db databases datastore",
    "repository repo repos",
    "configuration config",
    "memory ram",
    "find found finds",
    "documentation docs doc documents",
    "own owner owns owned ownership responsible",
    "maintain maintainer maintains maintained",
    "lead leader leads led leading",
    "manage manager manages boss",
    "limit maximum max cap capped ceiling quota highest largest biggest",
    "minimum min least lowest smallest oldest earliest fewest",
    "length long characters character chars",
    "track tracker tracks tracked tracking",
    "expire expiry expiration lifetime ttl valid validity expires",
    "live lives based resides residence home located lived",
    "cost price costs priced pricing",
    "application app apps",
    "kubernetes k8s",
    "javascript js",
    "typescript ts",
    "deploy deployment deployments deploys rollout rollouts",
    "release releases released ship ships",
    "host hosted hosting hosts",
    "store stored stores storage kept saved persisted persists",
    "send sent sends sender",
    "schedule scheduled",
    "ci pipeline pipelines",
    "indent indentation",
    "log logs logging logged logger",
    "test tests testing",
    "format formatter formatting formats",
    "lint linter linting lints",
    "authentication auth authenticate authenticates authenticated login",
    "standup stand-up daily-standup",
    "meeting meet meets",
    "retain retention retains retained",
    "backup backups",
    "write written writes rewrite rewrites rewritten rewrote",
    "speak speaks language",
    "employ employer employed works",
    "review reviewer reviews reviewed",
    "approve approver approvals approval approves",
    "retry retries retried attempts",
    "work works job",
    "name named called",
    "rotate rotation rotates rotated",
    "monitor monitoring monitored monitors",
    "error errors",
    "email e-mail mail",
    "salary pay paid earns",
    "phone telephone mobile-number",
    "call calls",
    "secret secrets credentials",
    "package packages dependency dependencies",
    "manager",
    "cache caching cached caches",
    "message messages",
    "primary main",
    "feature-flag flags flag",
    "listen listens listening bind binds bound",
    "picture pictures image images photo photos",
    "customer customers client clients shopper shoppers buyer buyers",
    "employee employees staff worker workers hire hires newcomer newcomers",
    "recruiting hiring recruitment",
    "answer answers answered reply replies replied respond responds responded response responses",
    "delete deletes deleted deletion remove removes removed removal erase erases erased purge purges purged",
    "fetch fetches fetched pull pulls pulled retrieve retrieves retrieved",
    "create creates created creation generate generates generated produce produces produced",
    "retrospective retrospectives retro retros",
    "folder folders directory directories",
    "bug bugs defect defects",
    "rule rules guideline guidelines policy policies",
    "firm company companies",
    "car cars vehicle vehicles",
    "start starts started begin begins began beginning kickoff",
    "finish finishes finished end ends ended",
    "reach reachable reaches reached",
    "archive archives archived",
    "receive receives received get gets",
    "doctor doctors physician gp",
    "task tasks chore chores",
    "screen screens display displays",
    "print prints printed printer",
    "hash hashes hashed hashing",
    "encrypt encrypts encrypted encryption",
    "translate translates translated translation translations",
    "pick picks picked choose",
    "supplier vendor provider",
    "purchase purchases purchased buy buys bought",
    "commit commits committed",
    "notify notifies notified notification notifications alert alerts",
    "schedule timetable",
    "illness sickness sick",
    "contract contracts agreement agreements",
    "synchronise synchronises synchronised synchronize synchronizes synchronized sync syncs",
    "compress compresses compressed compression",
    "validate validates validated validation verify verifies verified verification",
    "moderate moderates moderated facilitate facilitates facilitated facilitation",
    "version versions versioned edition editions",
    "deadline due",
    "rent rents rented lease leases",
    "salary wage wages",
];
/// Verbs without a regular past: the first word stands for the others.
const IRREGULAR: &[&str] = &[
    "build built",
    "rebuild rebuilt",
    "hold held",
    "draw drawn drew",
    "choose chosen chose",
    "run ran",
    "sell sold",
    "teach taught",
    "buy bought",
    "make made",
    "meet met",
    "drive drove driven",
    "begin began begun",
    "cut cuts",
    "read reads",
    "bring brought",
    "catch caught",
    "feed fed",
    "grow grew grown",
    "hide hid hidden",
    "leave left",
    "lose lost",
    "show showed shown",
    "throw threw thrown",
    "wear wore worn",
    "win won",
];

static REGULAR: LazyLock<HashMap<String, usize>> = LazyLock::new(|| by_line(IRREGULAR));
static SYNONYM: LazyLock<HashMap<String, usize>> = LazyLock::new(|| by_line(SYNONYMS));

/// Returns the first form of a verb that has no regular past.
fn infinitive(word: &str) -> Option<&'static str> {
    REGULAR.get(word).and_then(|line| IRREGULAR[*line].split_whitespace().next())
}

/// Returns the first of the words that mean the same.
pub(super) fn synonym(word: &str) -> Option<&'static str> {
    let first = SYNONYM.get(word).and_then(|line| SYNONYMS[*line].split_whitespace().next());
    first.or_else(|| infinitive(word))
}

/// Returns the index of the line for each word of a line.
pub(super) fn by_line(lines: &[&'static str]) -> HashMap<String, usize> {
    let words =
        lines.iter().enumerate().flat_map(|(line, words)| words.split_whitespace().map(move |word| (word, line)));
    let mut map = HashMap::new();
    for (word, line) in words {
        map.entry(word.to_owned()).or_insert(line);
    }
    map
}
