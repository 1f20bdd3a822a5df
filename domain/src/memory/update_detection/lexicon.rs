//! The lexicon: words that the reading of statements knows. Some carry nothing, some join a subject to its value or
//! open a qualifier, some mean the same, and some name places that narrow a statement.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use super::synonyms::{by_line, synonym};
use crate::text::terms::term;

/// Words that say nothing about what a statement is about, or only that something changed.
const FILLERS: &str = "a an the this that these those it its they them their we our ours us i my you your he she his \
    her there here and or also just only then so as well really very quite still even already now nowadays currently \
    instead today recently anymore longer finally eventually again going forward onwards effective immediately newly \
    latest current new actual actually please note remember update updated correction fyi reminder heads up decision \
    decided agreed team's everyone everything all any each both either own every to be been being do does did will \
    shall should must can would have has had having jetzt ahora maintenant désormais adesso ora \
    neue neuer neues neuen nouveau nouvelle nouvel nueva nuevo nuova nuovo nova novo nieuwe has's which who whom whose whatever let lets let's us about around \
    roughly approximately exactly simply always usually generally normally typically officially formally permanently \
    temporarily too yet since ago until by-default default-wise out up down off over back away together directly \
    value values setting settings set thing things one ones yes ok okay etc apiece may can could per such from than of is are was were am \
    's were've it's we're that's there's by with to via onto";
/// Words that begin a phrase that narrows what is said.
const PREPOSITIONS: &str = "in on at for with under during within inside outside above below behind across except \
    against via without through throughout among between toward towards near beyond besides per by from into onto \
    to of as about over";
/// Words that begin a condition.
const CONDITIONS: &str = "when whenever if unless while where wherever once before after until";
/// Words that begin a reason or a purpose, which say nothing about the subject.
const REASONS: &str = "because since due owing thanks following so";
/// Events after which a change came. A phrase with one of them is a reason, not a condition.
const OCCASIONS: &str = "incident outage migration review meeting upgrade vote discussion retro retrospective audit \
    change changes rewrite refactor refactoring move merger merge reorg reorganisation reorganization complaint \
    complaints benchmark benchmarks postmortem call launch cutover election wedding divorce injury promotion feedback \
    holidays summer winter spike renewal acquisition debate evaluation trial pilot load tests test";
/// Verbs between a subject and its value that name no attribute themselves.
const LIGHT_VERBS: &str = "is are was were be been am use uses used using utilize utilise run runs ran running move \
    moves moved moving switch switched switches switching migrate migrated migrates migrating pick picked picks choose \
    chose chosen chooses select selected adopt adopted adopts go goes went gone settle settled decide decided set sets \
    change changed changes become becomes became get gets got have has had make made makes keep keeps kept stay stays \
    stayed remain remains remained do does did done bump bumped raise raised raises lower lowered increase increased \
    reduce reduced cut upgrade upgraded upgrades downgrade downgraded replace replaced replaces swap swapped drop \
    dropped ditch ditched prefer prefers preferred configure configured adjust adjusted rename renamed stand stands \
    stood put puts apply applies applied rely relies relied happen happens happened take takes took taken standardise \
    standardised standardize standardized default defaults defaulted sit sits pin pinned agree agreed equal equals \
    double doubled halve halved extend extended shorten shortened tighten tightened relax relaxed need needs require \
    requires required want wants come comes came shift shifted land landed return returns returned turn turned bring brought \
    start starts started begin begins began give gives gave given";
/// Verbs that name an attribute: who lives somewhere says nothing about where that one works.
const CONTENT_VERBS: &str = "listen listens live lives lived cost costs own owns owned lead leads led maintain \
    maintains maintained handle handles handled manage manages managed host hosts hosted write written writes wrote \
    build builds built deploy deploys deployed store stores stored locate located base based bear born die died found \
    founded expire expires expired last lasts lasted end ends ended meet meets met ship ships shipped release releases \
    released report reports reported work works worked belong belongs point points pointed limit limited limits cap \
    capped caps allow allows allowed accept accepts accepted send sends sent retain retains retained rotate rotates \
    rotated depend depends connect connects connected bind binds bound publish publishes published log logs logged \
    format formats formatted lint lints linted test tests tested name named call called support supports supported \
    target targets close closes closed open opens opened speak speaks play plays played like likes drink drinks drive \
    drives drove study studies studied teach teaches taught marry married follow follows authenticate authenticates \
    sign signs signed encode encoded serialise serialised serialize serialized weigh weighs earn earns pay pays paid \
    charge charges charged approve approves approved chair chairs head heads coach coaches serve serves served \
    schedule scheduled schedules generate generates generated monitor monitors monitored track tracks tracked render \
    renders cache caches cached back backs backed employ employs employed educate educated create created creates \
    develop developed perform performed situate situated reside resides practise practises practice practices \
    check checks checked validate validates validated parse parses parsed compile compiles compiled indent indents \
    indented squash squashed merge merges merged retry retries retried poll polls polled scrape scrapes fetch fetches \
    refresh refreshes refreshed sync syncs synced ping pings train trains trained vote votes treat treats grow grows \
    provide provides provided power powers powered document documented documents wait waits sleep sleeps feed feeds \
    fly flies arrive arrives arrived leave leaves left depart departs time times eat eats read reads watch watches \
    house houses sell sells sold buy buys bought wear wears bill bills billed invoice invoices review reviews reviewed \
    attend attends sponsor sponsors supply supplies supplied cover covers covered flush flushes flushed throw throws threw catch catches caught raise resize resizes resized commute commutes \
    measure measures measured travel travels stream streams streamed upload uploads uploaded download downloads load loads loaded \
    order orders ordered handle pack packs packed count counts counted emit emits emitted parse collect collects collected \
    estimate estimates estimated plan planned partition partitioned compress compresses compressed print prints printed push pushes pushed \
    hang hangs hung see sees saw seen appear appears appeared deliver delivers delivered receive receives received obtain \
    obtains obtained contain contains contained include includes included consist consists consisted exist exists \
    execute executes executed trigger triggers triggered enter enters entered carry carries carried protect protects \
    protected identify identifies identified install installs installed refuse refuses refused reject rejects rejected \
    prevent prevents prevented cook cooks cooked wash washes washed bake bakes baked prescribe prescribes prescribed \
    attach attaches attached submit submits submitted describe describes described define defines defined assign assigns \
    assigned allocate allocates allocated redirect redirects redirected resolve resolves resolved detect detects detected \
    encrypt encrypts encrypted dispatch dispatches dispatched expose exposes exposed subscribe subscribes subscribed \
    consume consumes consumed invoke invokes invoked ignore ignores ignored exclude excludes excluded omit omits omitted \
    translate translates translated enqueue enqueues enqueued transmit transmits transmitted replicate replicates \
    replicated conduct conducts conducted organise organises organised organize organizes organized";
/// Verbs whose bare subject is the value: what one does, another may do later.
const ROLE_VERBS: &str = "own owns lead leads maintain maintains handle handles manage manages host hosts build builds \
    store stores approve approves chair chairs head heads coach coaches serve serves generate generates monitor \
    monitors track tracks render renders format formats lint lints publish publishes deploy deploys run runs check \
    checks validate validates parse parses compile compiles sign signs review reviews teach teaches provide provides \
    power powers cover covers schedule schedules supply supplies replace replaces back backs write writes send sends \
    test tests organise organises organize organizes coordinate coordinates took takes";
/// Verbs among them that several people may do side by side.
const SHARED_WORK: &str = "approve approves coach coaches check checks validate validates sign signs review reviews write \
    writes send sends test tests took takes cover covers supply supplies";
/// Verbs of duties that one person has, where their object is a definite one: `cuts the releases`.
const DUTIES: &str = "cuts prepares plans moderates administers operates oversees supervises orders merges tags releases \
    triages updates edits curates pays books trains closes cleans collects prints posts assigns does keeps makes archives \
    rotates restarts deploys translates invoices facilitates organises organizes administrates";
/// Verbs of having a thing that one person has: `has the pager`.
const HOLDING: &str = "has holds";
/// Things that several people may have side by side.
const SHAREABLE: &str = "access right rights permission permissions role roles licence license password passwords app \
    option options same idea knowledge skill skills experience time feeling impression ability credentials bug problem issue";
/// Words that mean the first one, and the opposite of it.
const OPPOSITES: &[(&str, &str)] = &[
    (
        "activation",
        "enabled enables enabling on active activated activate aktiviert eingeschaltet activé activée activado activada \
         attivo attivato attivata acceso ingeschakeld",
    ),
    (
        "!activation",
        "disable disabled disables disabling inactive deactivated deactivate off deaktiviert ausgeschaltet abgeschaltet \
         désactivé désactivée desactivado desactivada disattivato disattivata spento uitgeschakeld",
    ),
    ("permission", "allowed permitted permit fine okay welcome ok"),
    ("!permission", "forbid forbidden forbids prohibited disallowed disallow banned ban bans blocked blocks block"),
    ("obligation", "mandatory required compulsory obligatory"),
    ("!obligation", "optional unnecessary"),
    ("usage", "recommended encouraged"),
    ("!usage", "avoid avoids deprecated discouraged stop stopped"),
    ("true", "true yes"),
    ("!true", "false"),
    ("public", "public"),
    ("!public", "private"),
    ("automatic", "automatic automatically automated"),
    ("!automatic", "manual manually"),
    ("sync", "synchronous synchronously"),
    ("!sync", "asynchronous asynchronously async"),
    ("blocking", "blocking"),
    ("!blocking", "advisory non-blocking"),
    ("opt-in", "opt-in"),
    ("!opt-in", "opt-out"),
    ("case", "case-sensitive"),
    ("!case", "case-insensitive"),
];
/// Words that turn a statement into its opposite.
const NEGATIONS: &str = "not never no don't doesn't didn't isn't aren't wasn't won't shouldn't mustn't can't cannot \
    dont doesnt without neither nor none nobody nothing";
/// Words that make a statement a possibility.
const DOUBTS: &str = "might perhaps maybe considering consider considers considered proposal propose proposed \
    proposes plan plans planned planning evaluating evaluate possibly wonder wondering discussing discuss discussed \
    thinking suggested suggests suggest idea rumour rumor expected hopes hope explore exploring \
    could would";
/// Places where a program runs; they narrow a statement wherever they stand.
const ENVIRONMENTS: &[&str] = &[
    "production prod",
    "staging stage",
    "development dev",
    "qa",
    "local locally localhost",
    "sandbox",
    "preview",
    "canary",
    "uat",
    "preprod pre-production preproduction",
    "demo",
    "on-prem onprem on-premises",
    "dr",
    "integration",
    "nightly",
    "legacy",
    "beta",
    "alpha",
    "internal internally",
    "external externally",
    "enterprise",
    "mobile",
    "desktop",
    "windows",
    "macos mac osx",
    "linux",
    "ios",
    "android",
    "ipad",
    "arm64 arm aarch64",
    "x86 amd64 x86_64",
    "eu europe european",
    "us usa american",
    "uk british britain",
    "apac asia asian",
    "emea",
    "latam",
    "contractor contractors",
    "admin admins administrators administrator",
    "guest guests",
    "intern interns",
    "premium",
    "free",
    "trial",
    "paid",
    "anonymous",
    "partner partners",
    "student students",
    "child children kids",
    "junior juniors",
    "senior seniors",
    "weekend weekends",
    "holiday holidays",
    "weekday weekdays",
    "summer",
    "winter",
    "secondary",
    "backup backups",
    "fallback",
    "brother brothers",
    "sister sisters",
    "wife",
    "husband",
    "mother mom mum",
    "father dad",
    "son sons",
    "daughter daughters",
    "friend friends",
    "cousin cousins",
    "colleague colleagues",
    "neighbour neighbor neighbours neighbors",
    "read-only readonly",
    "batch",
    "streaming",
    "async",
    "sync",
    "inbound",
    "outbound",
    "incoming",
    "outgoing",
];
/// Phrases that look like qualifiers and narrow nothing.
pub(super) const IDIOMS: &[&str] = &[
    "by default",
    "per default",
    "at the moment",
    "for now",
    "in general",
    "on average",
    "in total",
    "in practice",
    "at least",
    "at most",
    "up to",
    "no more than",
    "for example",
    "from now on",
    "in the end",
    "as of now",
    "as of today",
    "at present",
    "these days",
    "going forward",
    "for good",
    "for the time being",
    "in the future",
    "with immediate effect",
    "on the whole",
    "in fact",
    "to date",
    "as always",
    "from here on",
    "at all times",
    "as a rule",
    "in short",
    "after all",
    "once and for all",
    "on our side",
    "as well",
    "in use",
    "in place",
    "at once",
    "of course",
    "no longer",
    "not any more",
    "any more",
    "as before",
    "with us",
    "for us",
    "in our team",
    "in this project",
    "for this project",
    "in this repo",
    "in this repository",
    "across the board",
    "in the meantime",
    "as agreed",
    "in size",
    "in length",
    "by hand",
];

fn set(words: &'static str) -> HashSet<&'static str> {
    words.split_whitespace().collect()
}

static FILLER: LazyLock<HashSet<&str>> = LazyLock::new(|| set(FILLERS));
static PREPOSITION: LazyLock<HashSet<&str>> = LazyLock::new(|| set(PREPOSITIONS));
static CONDITION: LazyLock<HashSet<&str>> = LazyLock::new(|| set(CONDITIONS));
static REASON: LazyLock<HashSet<&str>> = LazyLock::new(|| set(REASONS));
static OCCASION: LazyLock<HashSet<&str>> = LazyLock::new(|| set(OCCASIONS));
static LIGHT: LazyLock<HashSet<&str>> = LazyLock::new(|| set(LIGHT_VERBS));
static CONTENT: LazyLock<HashSet<&str>> = LazyLock::new(|| set(CONTENT_VERBS));
static ROLE: LazyLock<HashSet<&str>> = LazyLock::new(|| set(ROLE_VERBS));
static SHARED: LazyLock<HashSet<&str>> = LazyLock::new(|| set(SHARED_WORK));
static NEGATION: LazyLock<HashSet<&str>> = LazyLock::new(|| set(NEGATIONS));
static DOUBT: LazyLock<HashSet<&str>> = LazyLock::new(|| set(DOUBTS));
static POLARITY: LazyLock<HashSet<String>> =
    LazyLock::new(|| OPPOSITES.iter().map(|(base, _)| canonical(base.trim_start_matches('!'))).collect());
static ENVIRONMENT: LazyLock<HashMap<String, usize>> = LazyLock::new(|| by_line(ENVIRONMENTS));
static OPPOSITE: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
    OPPOSITES.iter().flat_map(|(base, words)| words.split_whitespace().map(move |word| (word, *base))).collect()
});

/// Tells whether a word is an article.
pub(super) fn is_article(word: &str) -> bool {
    matches!(word, "the" | "a" | "an")
}

/// Tells whether a word says whose something is, where somebody has it.
pub(super) fn is_possessive(word: &str) -> bool {
    matches!(word, "our" | "my" | "your" | "his" | "her" | "their")
}

/// Tells whether a word stands before a noun and tells which one is meant.
pub(super) fn is_determiner(word: &str) -> bool {
    is_article(word) || is_possessive(word) || matches!(word, "its" | "every" | "each")
}

/// Tells whether a word is a pronoun that a main clause begins with.
pub(super) fn is_pronoun(word: &str) -> bool {
    is_plain_pronoun(word) || word == "it"
}

/// Tells whether a word is such a pronoun behind which a verb has no `s`.
pub(super) fn is_plain_pronoun(word: &str) -> bool {
    matches!(word, "we" | "they" | "you" | "i")
}

pub(super) fn is_filler(word: &str) -> bool {
    FILLER.contains(word)
}

pub(super) fn is_preposition(word: &str) -> bool {
    PREPOSITION.contains(word)
}

pub(super) fn is_condition(word: &str) -> bool {
    CONDITION.contains(word)
}

pub(super) fn is_reason(word: &str) -> bool {
    REASON.contains(word)
}

pub(super) fn is_occasion(word: &str) -> bool {
    OCCASION.contains(word)
}

pub(super) fn is_light_verb(word: &str) -> bool {
    LIGHT.contains(word)
}

pub(super) fn is_content_verb(word: &str) -> bool {
    CONTENT.contains(word)
}

pub(super) fn is_role_verb(word: &str) -> bool {
    ROLE.contains(word)
}

pub(super) fn is_shared_work(word: &str) -> bool {
    SHARED.contains(word)
}

/// Tells whether a word is among the words of a list, which white space parts.
pub(super) fn in_list(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|listed| listed == word)
}

/// Tells whether a verb says of its subject that it does or has something that one alone does or has. `behind` are the
/// words behind the verb.
pub(super) fn is_exclusive_to_one<'a>(verb: &str, mut behind: impl Iterator<Item = &'a str>) -> bool {
    let is_definite = behind.next().is_some_and(|next| next == "the" || is_possessive(next));
    is_definite && (in_list(DUTIES, verb) || (in_list(HOLDING, verb) && !behind.any(|word| in_list(SHAREABLE, word))))
}

pub(super) fn is_negation(word: &str) -> bool {
    NEGATION.contains(word)
}

pub(super) fn is_doubt(word: &str) -> bool {
    DOUBT.contains(word)
}

/// Tells whether a word, in the spelling that is compared, only affirms or denies.
pub(super) fn is_polarity(word: &str) -> bool {
    POLARITY.contains(word)
}

/// Returns the place where a program runs, or the group of people, that a word names, in one spelling.
pub(super) fn environment(word: &str) -> Option<&'static str> {
    ENVIRONMENT.get(word).and_then(|line| ENVIRONMENTS[*line].split_whitespace().next())
}

/// Returns the word that stands for a word and its opposite, and whether the word affirms it.
pub(super) fn opposite(word: &str) -> Option<(&'static str, bool)> {
    OPPOSITE.get(word).map(|base| base.strip_prefix('!').map_or((*base, true), |base| (base, false)))
}

/// Returns the term that stands for a word and for all that mean the same.
pub(super) fn canonical(word: &str) -> String {
    let place = environment(word).map(str::to_owned);
    place.or_else(|| synonym(word).map(term)).or_else(|| doing(word)).unwrap_or_else(|| term(word))
}

/// Returns the term that stands for a verb. A verb names no place: what is `paid` is no paid plan.
pub(super) fn verb(word: &str) -> String {
    synonym(word).map(term).unwrap_or_else(|| term(word))
}

/// Returns the action of the agent that a word names: a `formatter` formats.
fn doing(word: &str) -> Option<String> {
    let stem = word.strip_suffix('s').unwrap_or(word).strip_suffix("er")?;
    let doubled = stem.strip_suffix(stem.chars().next_back()?)?;
    let verbs = [stem.to_owned(), format!("{stem}e"), doubled.to_owned()];
    verbs.into_iter().find(|verb| is_content_verb(verb)).map(|verb| term(&verb))
}
