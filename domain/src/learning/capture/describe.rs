//! The title of a lesson and when it is to be used, from the question it answers.

use std::sync::LazyLock;

use regex::Regex;

use super::blocks::sentences;
use super::words::is_dense;
use crate::learning::phrases::{GOES_ALONG, PRAISE, surely_objects};
use crate::learning::transcript::{FenceLine, Fences};
use crate::memory::{DESCRIPTION_MAX_CHARS, TITLE_MAX_CHARS};
use crate::text::shortened;

/// Phrases that are said before the matter itself.
const FILLER: &str = r"(?i)^\W*(?:(?:hi|hey|hello|yo|ok|okay|so|well|please|thanks|thank you|great|quick question|one more question|question|another question|dear|claude|chatgpt|codex|copilot|there|all|also|and|now)\b[\s,.:!–-]*|(?:can|could|would|will) you (?:please |kindly |maybe |quickly )*(?:tell|show|explain to|remind|give) me (?:about )?|(?:can|could|would|will) you (?:please |kindly |maybe |quickly )*(?:explain|describe|clarify|help me (?:to )?(?:with |understand )?|help (?:with|understand) )\s*|(?:please )?(?:tell me|explain to me|explain|show me|help me understand|help me with|help me)\s+|i(?:'d| would) (?:like|love) to (?:know|understand|learn)(?: about)?\s*|i(?:'m| am| was) (?:wondering|curious|trying to (?:understand|figure out))(?: about)?\s*|(?:i|we)(?:'m|'re| am| are)? (?:keep |always |often |sometimes )?(?:get|getting|see|seeing) (?:an? |the |this )?(?:error )?|i (?:wonder|need to know|want to know|don't (?:understand|get|know))\s+|do you know\s+|any idea\s+|just\s+)";

#[allow(clippy::expect_used, reason = "the pattern is constant, and the tests compile it")]
static FILLERS: LazyLock<Regex> = LazyLock::new(|| Regex::new(FILLER).expect("a valid pattern"));

/// Questions that ask for a way or a cause and name nothing, in the languages that objections are known in.
const GENERIC: [&str; 8] = [
    r"what (?:should|can|could|do|must|shall) (?:i|we|one) (?:do|try)(?: (?:now|here|next|then|about (?:it|this|that)))?|what(?: is|['’]s| was| could be| might be| can be) (?:the (?:likely )?)?(?:cause|reason|problem|issue|culprit|solution|fix|going on|happening|wrong)(?: (?:here|of this|with (?:it|this|that)))?",
    r"(?:how|why) (?:do|does|can|could|should|would|is|did)(?: (?:i|we|one))?(?: (?:fix|solve|resolve|handle|debug|avoid))?(?: (?:this|that|it))?(?: (?:happen\w*|work|so))?|how come|any (?:ideas?|clues?|suggestions?|help|advice)(?: (?:why|how|what))?",
    r"was (?:soll|sollen|kann|können|muss|müssen|mache|machen|tue|tun|könnte|hilft|ist)(?: (?:ich|wir|man|da|hier|jetzt|nun|dagegen|tun|machen|los|falsch|der grund|die ursache|das problem|die lösung))*|woran (?:liegt|kann|könnte)(?: (?:das|es|liegen))*|(?:wie|warum|wieso|weshalb)(?: (?:kann|löse|lösen|behebe|beheben|passiert|ist|geht|ich|wir|man|das|dies|es|so|lösen|beheben))*|(?:hast du|habt ihr|hat jemand)?(?: ?(?:irgend)?eine)? ?ideen?",
    r"qué (?:hago|hacemos|puedo hacer|podemos hacer|debo hacer|debería hacer|hay que hacer|pasa|está pasando|sucede|ocurre)|cuál (?:es|puede ser|será|podría ser) (?:la causa|el motivo|la razón|el problema|la solución)|a qué se debe(?: esto| eso)?|cómo (?:lo |se |puedo |podemos )*(?:soluciono|arreglo|resuelvo|soluciona|arregla|resuelve|solucionarlo|arreglarlo|resolverlo|evitarlo)(?: esto| eso)?|por qué(?: (?:pasa|ocurre|sucede|es|esto|eso|así))*|(?:alguna|tienes alguna|tienes) idea",
    r"(?:che cosa|cosa|che)(?: (?:devo|posso|dovrei|potrei|possiamo|dobbiamo|si può|bisogna|faccio|facciamo|fare|succede|sta succedendo|c['’]è che non va))+|come (?:mai|lo |la |si |posso |devo |possiamo )*(?:risolvo|risolvere|risolverlo|risolve|sistemo|sistemarlo|faccio|fare|evitarlo)?(?: questo| il problema)?|qual(?: è|['’]è|e è)? (?:la causa|il motivo|la ragione|il problema|l['’]errore|la soluzione)|da (?:che )?cosa dipende|perché(?: (?:succede|accade|è|questo|così))*|(?:hai |avete )?(?:qualche )?idee?a?",
    r"wat (?:nu|moet|kan|kunnen|moeten|doe|is|gebeurt|gaat)(?: (?:ik|we|nu|hier|eraan|hieraan|doen|er|mis|fout|aan de hand|de oorzaak|de reden|het probleem|de oplossing))*|wat nu|waar (?:ligt|komt)(?: (?:dat|dit|het|aan|door|vandaan))+|(?:hoe|waarom)(?: (?:los|kan|kunnen|gebeurt|is|ik|we|dit|dat|het|op|oplossen|zo))*|(?:heb je |heeft iemand )?(?:enig|een) idee",
    r"que (?:faire|dois-je faire|puis-je faire|se passe-t-il)|quelle (?:est|peut être) la (?:cause|raison|solution)|pourquoi(?: cela| ça)?|comment (?:faire|(?:le )?(?:résoudre|corriger)(?: ça| cela)?)|une idée",
    r"(?:これ|それ|この場合)?(?:は|を)?(?:一体)?、?(?:どう(?:すれば|したら|やれば|対処すれば|直せば|解決すれば)(?:いい|よい|良い)?(?:の|ん)?(?:です|でしょう|だろう)?か?(?:ね)?|どうしましょうか?|どうしたらよいか|何をすれば(?:いい|よい|良い)(?:の|ん)?(?:です|でしょう)?か?|(?:何|なに)が(?:原因|問題|悪い|起きている|間違っている)(?:な)?(?:の|ん)?(?:です|でしょう)?か?|(?:原因|理由|問題|解決策|解決方法|対処法)は(?:何|なん)?(?:です|でしょう)?か?|(?:なぜ|どうして|何故|なんで)(?:な)?(?:の|ん)?(?:です|でしょう|だろう)?か?|(?:何か)?(?:いい|良い|よい)?(?:方法|対策|解決策|アイデア|案)は(?:あり|ござい)ます(?:でしょう)?か?|(?:教えて|助けて)(?:ください|いただけますか|くれますか)?)",
];

/// These words may stand before such a question.
const LEADS: &str = "and|so|now|but|also|then|und|y|e|en|ora|adesso|ahora|jetzt|dan|quindi|entonces|also|dus";

#[allow(clippy::expect_used, reason = "the pattern is constant, and the tests compile it")]
static GENERICS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(&format!(r"(?i)^\W*(?:(?:{LEADS})\W+)?(?:{})\W*$", GENERIC.join("|"))).expect("a valid pattern")
});

/// Makes the title: one line of at most [`TITLE_MAX_CHARS`], without politeness. `instead` stands for a question that
/// names nothing.
pub(super) fn title(question: &str, instead: Option<&str>) -> String {
    let sentences = matters(question);
    let cleaned = |sentence: &String| named(sentence);
    let asked = sentences.iter().filter(|sentence| sentence.ends_with(['?', '？'])).find_map(cleaned);
    let found = asked.or_else(|| sentences.iter().find_map(cleaned));
    let found = found.or_else(|| instead.map(without_filler));
    let found = found.unwrap_or_else(|| without_filler(question.lines().next().unwrap_or_default()));
    let found = if found.is_empty() { question.split_whitespace().collect::<Vec<_>>().join(" ") } else { found };
    let title = shortened(&capitalised(&found), TITLE_MAX_CHARS);
    // One sign of a pair stays where the other was cut off.
    if title.matches('`').count() % 2 == 1 { title.replace('`', "") } else { title }
}

/// Tells whether a question says what it is about, so that it may give a title.
pub(super) fn names_something(question: &str) -> bool {
    matters(question).iter().any(|sentence| named(sentence).is_some())
}

/// Returns the sentences of a question that may say what it is about: none of them goes on over a blank line or a first
/// line of praise, and none only praises or thanks.
fn matters(question: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    for line in prose(question).lines() {
        let begins = parts.last().is_none_or(String::is_empty);
        let is_break = line.trim().is_empty() || (begins && only_praises(line));
        match parts.last_mut().filter(|_| !is_break) {
            Some(part) => {
                part.push_str(line);
                part.push('\n');
            }
            None => parts.push(String::new()),
        }
    }
    parts.iter().flat_map(|part| sentences(part)).filter(|sentence| !only_praises(sentence)).collect()
}

/// Tells whether a sentence praises or thanks, and names nothing besides.
fn only_praises(sentence: &str) -> bool {
    let rest = PRAISE.replace_all(sentence, " ");
    let rest = GOES_ALONG.replace_all(&rest, " ");
    rest != sentence && !sentence.contains(['?', '？']) && content_words(&rest) < 2
}

/// Returns a sentence without politeness. None where it names nothing, or objects to what was said before.
fn named(sentence: &str) -> Option<String> {
    let text = without_filler(sentence);
    let is_title = content_words(&text) >= 2 && !GENERICS.is_match(sentence) && !surely_objects(sentence);
    is_title.then_some(text)
}

/// Makes the description: one sentence that says when to use the lesson.
pub(super) fn description(title: &str, error: Option<&str>) -> String {
    let topic = title.trim_end_matches(['?', '？', '.', '。', '!', '！', '…', ' ']);
    let lower = topic.to_lowercase();
    let after = |start: &str| lower.starts_with(start).then(|| topic.get(start.len()..)).flatten();
    let text = match error {
        Some(error) => format!("When {error} comes up, or before doing what leads to it: {topic}."),
        None => match [
            "how do i ",
            "how can i ",
            "how should i ",
            "how to ",
            "how would i ",
            "how do you ",
            "how do we ",
            "how can we ",
        ]
        .iter()
        .find_map(|start| after(start))
        {
            Some(deed) => format!("When you want to {deed}."),
            None if lower.starts_with("why ") || lower.starts_with("what ") || lower.starts_with("when ") => {
                format!(
                    "When the question is {}{}.",
                    topic.chars().take(1).flat_map(char::to_lowercase).collect::<String>(),
                    topic.chars().skip(1).collect::<String>()
                )
            }
            None => format!("When this comes up: {topic}."),
        },
    };
    shortened(&text, DESCRIPTION_MAX_CHARS)
}

/// Returns the question's prose: what stands outside of fences, without headings, quotations and the lines of a
/// traceback.
fn prose(question: &str) -> String {
    let mut fences = Fences::default();
    let outside = question.lines().filter(|line| fences.next(line) == FenceLine::Outside);
    let lines = outside
        .map(|line| line.trim().trim_start_matches(['#', '>', ' ', '*']))
        .filter(|line| !super::classify::is_output_line(line));
    lines.collect::<Vec<_>>().join("\n")
}

pub(super) fn without_filler(sentence: &str) -> String {
    let mut text = sentence.trim();
    while let Some(found) = FILLERS.find(text).filter(|found| found.end() > 0 && found.end() < text.len()) {
        text = text[found.end()..].trim_start();
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ").trim_matches(['*', '_', ' ']).to_owned()
}

/// Words of a question that name nothing.
const NAMELESS: [&str; 40] = [
    "what",
    "does",
    "mean",
    "means",
    "this",
    "that",
    "with",
    "have",
    "when",
    "where",
    "which",
    "should",
    "could",
    "would",
    "there",
    "here",
    "wrong",
    "happen",
    "happens",
    "happening",
    "about",
    "they",
    "them",
    "your",
    "from",
    "into",
    "then",
    "than",
    "some",
    "going",
    "look",
    "please",
    "help",
    "want",
    "need",
    "these",
    "those",
    "please",
    "problem",
    "thanks",
];

/// Returns the number of words that may name something. Every two signs of a script without spaces count as one.
pub(super) fn content_words(text: &str) -> usize {
    let is_long = |word: &str| word.chars().count() > 3 && !NAMELESS.contains(&word.to_lowercase().as_str());
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).enumerate();
    let words = words.filter(|(n, word)| is_long(word) || is_short_name(word, *n == 0)).count();
    let dense = text.chars().filter(|c| is_dense(*c)).count();
    words + dense / 2
}

/// Tells whether a short word is written like a name: `S3`, `CI`, `Go`. A capital at the beginning of a sentence makes
/// none.
fn is_short_name(word: &str, begins: bool) -> bool {
    let capitals = word.chars().filter(|c| c.is_uppercase()).count();
    let has_digit = word.chars().any(|c| c.is_ascii_digit()) && word.chars().any(char::is_alphabetic);
    let is_short = (2..=3).contains(&word.chars().count());
    is_short && (has_digit || capitals > 1 || (capitals == 1 && !begins && word.starts_with(char::is_uppercase)))
}

pub(super) fn capitalised(text: &str) -> String {
    let mut signs = text.chars();
    let first = signs.next().map(|first| {
        // A name that is written in small letters stays as it is.
        let word: String = text.split_whitespace().next().unwrap_or_default().into();
        if word.chars().all(|c| c.is_lowercase() || c == '\'') {
            first.to_uppercase().collect()
        } else {
            first.to_string()
        }
    });
    first.unwrap_or_default() + signs.as_str()
}
