//! The lesson in an exchange, by rules: its title from the question, its content from what remains of the answer.

use std::sync::LazyLock;

use regex::Regex;

use super::analysis::{AnalysedBlock, CodeKind, analyse};
use super::blocks::TextKind;
use super::classify::SentenceClass;
use super::describe::{description, names_something, title};
use super::words::{Cue, Cues};
use crate::learning::lesson::{Lesson, LessonError};
use crate::learning::transcript::Exchange;
use crate::memory::signature::first_match;
use crate::memory::{LABEL_MAX_CHARS, LESSON_CONTENT_MAX_CHARS, STACK_TRACE_MAX_CHARS};
use crate::text::shortened;

const MAX_TAGS: usize = 6;
const MAX_GUIDANCE_CHARS: usize = 600;

pub(super) struct ExtractedLesson {
    pub(super) lesson: Lesson,
    /// The line of the question that names the error.
    pub(super) error_message: Option<String>,
}

pub(super) fn extract(exchange: &Exchange) -> ExtractedLesson {
    let (question, answer) = (&*exchange.whole_question(), &*exchange.answer);
    let parts = analyse(answer);
    let first_known = sentences_of(&parts, SentenceClass::is_knowledge).next();
    // What was asked first is the matter, and the question behind it may be an objection.
    let asked = exchange.asked_first.as_deref().filter(|asked| names_something(asked));
    let title = title(asked.unwrap_or(&exchange.question), first_known);
    let tags = tags(&parts, question);
    let found = error_in(question).and_then(|error| Some((context(&error, &parts)?, error)));
    let (error_context, error) = found.unzip();
    let lesson = Lesson {
        description: description(
            &title,
            error_context.as_ref().map(|context: &LessonError| context.error_type.as_str()),
        ),
        title,
        content: content(&parts, answer),
        domain_category: tags.first().cloned(),
        pattern_tags: tags,
        difficulty_level: None,
        error_context,
    };
    ExtractedLesson { lesson, error_message: error.map(|error| shortened(&error.line, STACK_TRACE_MAX_CHARS)) }
}

fn sentences_of(parts: &[AnalysedBlock], wanted: fn(SentenceClass) -> bool) -> impl Iterator<Item = &str> {
    parts.iter().flat_map(move |part| {
        let (sentences, classes): (&[String], &[SentenceClass]) = match part {
            AnalysedBlock::Text(text, classes) if text.kind != TextKind::Heading => (&text.sentences, classes),
            _ => (&[], &[]),
        };
        sentences.iter().zip(classes).filter(move |(_, class)| wanted(**class)).map(|(sentence, _)| sentence.as_str())
    })
}

/// Makes the content of a lesson: what remains of the answer, up to the bound, or all of the answer where nothing
/// remains. Whole blocks stay in their order. Code is cut between lines and its fence is closed.
fn content(parts: &[AnalysedBlock], answer: &str) -> String {
    let mut content = String::new();
    let mut in_list = false;
    for (n, part) in parts.iter().enumerate() {
        let (text, is_item) = match part {
            AnalysedBlock::Code(_, CodeKind::Output | CodeKind::Reported) => continue,
            AnalysedBlock::Code(code, _) => (fenced(&code.language, &code.body), false),
            AnalysedBlock::Text(text, classes) => {
                let before_code =
                    matches!(parts.get(n + 1), Some(AnalysedBlock::Code(_, CodeKind::Code | CodeKind::Other)));
                let leads = |sentence: &str| before_code && sentence.ends_with([':', '：']);
                let fits = |(sentence, class): &(&String, &SentenceClass)| {
                    class.is_substance() || (**class == SentenceClass::Thin && leads(sentence))
                };
                let kept = text.sentences.iter().zip(classes).filter(fits);
                let kept: Vec<&str> = kept.map(|(sentence, _)| sentence.as_str()).collect();
                // A heading with no text of its own below it says nothing.
                if kept.is_empty() || (text.kind == TextKind::Heading && !has_text_below(&parts[n + 1..])) {
                    continue;
                }
                let mark = if text.kind == TextKind::Heading { "## " } else { &text.marker };
                (
                    format!("{mark}{}", kept.join(" ")),
                    matches!(text.kind, TextKind::Bullet | TextKind::Step | TextKind::Row),
                )
            }
        };
        let separator = match () {
            () if content.is_empty() => "",
            () if in_list && is_item => "\n",
            () => "\n\n",
        };
        let room = LESSON_CONTENT_MAX_CHARS.saturating_sub(content.chars().count() + separator.len());
        let Some(fitting) = fitting(&text, matches!(part, AnalysedBlock::Code(..)), room) else { break };
        content.push_str(separator);
        content.push_str(&fitting);
        in_list = is_item;
        if fitting.len() < text.len() {
            break;
        }
    }
    if content.trim().is_empty() { shortened(answer.trim(), LESSON_CONTENT_MAX_CHARS) } else { content }
}

fn has_text_below(rest: &[AnalysedBlock]) -> bool {
    for part in rest {
        match part {
            AnalysedBlock::Code(_, kind) => return !matches!(kind, CodeKind::Output | CodeKind::Reported),
            AnalysedBlock::Text(text, _) if text.kind == TextKind::Heading => return false,
            AnalysedBlock::Text(_, classes) if classes.iter().any(|class| class.is_substance()) => return true,
            AnalysedBlock::Text(..) => {}
        }
    }
    false
}

/// Puts the code into a fence that nothing inside can close.
fn fenced(language: &str, body: &str) -> String {
    let longest =
        body.lines().map(|line| line.trim_start().chars().take_while(|c| *c == '`').count()).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}", body.trim_end_matches('\n'))
}

/// Returns as much of the text as there is room for. None where that is too little to be of use.
fn fitting(text: &str, is_code: bool, room: usize) -> Option<String> {
    const LEAST: usize = 80;
    if text.chars().count() <= room {
        return Some(text.to_owned());
    }
    if room < LEAST {
        return None;
    }
    if !is_code {
        return Some(shortened(text, room));
    }
    let fence: String = text.chars().take_while(|c| *c == '`').collect();
    let mut left = room.saturating_sub(fence.len() + 1);
    let mut cut = String::new();
    for line in text.lines() {
        let needed = line.chars().count() + 1;
        if needed > left {
            break;
        }
        left -= needed;
        cut.push_str(line);
        cut.push('\n');
    }
    (cut.lines().count() > 1).then(|| cut + &fence)
}

/// Returns the tags: the languages and tools that the question names, then the languages of code blocks.
pub(super) fn tags(parts: &[AnalysedBlock], question: &str) -> Vec<String> {
    let mut tags: Vec<String> = Vec::new();
    let mut add = |tag: &str| {
        if tags.len() < MAX_TAGS && !tags.iter().any(|known| known == tag) {
            tags.push(tag.to_owned());
        }
    };
    let lower = question.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !(c.is_alphanumeric() || "+#.".contains(c))).collect();
    let named = |word: &str| SUBJECTS.iter().find(|(alias, _)| *alias == word.trim_matches('.')).map(|(_, tag)| *tag);
    words.iter().filter_map(|word| named(word)).for_each(&mut add);
    for part in parts {
        if let AnalysedBlock::Code(code, CodeKind::Code) = part
            && let Some(tag) = named(&code.language)
        {
            add(tag);
        }
    }
    tags
}

/// The words that languages and tools go by, each with its tag.
const SUBJECTS: &[(&str, &str)] = &[
    ("rust", "rust"),
    ("rs", "rust"),
    ("cargo", "rust"),
    ("tokio", "rust"),
    ("serde", "rust"),
    ("python", "python"),
    ("py", "python"),
    ("pip", "python"),
    ("django", "python"),
    ("flask", "python"),
    ("pandas", "python"),
    ("pytest", "python"),
    ("numpy", "python"),
    ("asyncio", "python"),
    ("fastapi", "python"),
    ("javascript", "javascript"),
    ("js", "javascript"),
    ("jsx", "javascript"),
    ("node", "javascript"),
    ("nodejs", "javascript"),
    ("node.js", "javascript"),
    ("npm", "javascript"),
    ("express", "javascript"),
    ("typescript", "typescript"),
    ("ts", "typescript"),
    ("tsx", "typescript"),
    ("react", "react"),
    ("vue", "vue"),
    ("golang", "go"),
    ("go", "go"),
    ("goroutine", "go"),
    ("goroutines", "go"),
    ("java", "java"),
    ("spring", "java"),
    ("kotlin", "kotlin"),
    ("scala", "scala"),
    ("swift", "swift"),
    ("c++", "cpp"),
    ("cpp", "cpp"),
    ("c#", "csharp"),
    ("csharp", "csharp"),
    ("ruby", "ruby"),
    ("rb", "ruby"),
    ("rails", "ruby"),
    ("php", "php"),
    ("laravel", "php"),
    ("sql", "sql"),
    ("postgres", "postgres"),
    ("postgresql", "postgres"),
    ("mysql", "mysql"),
    ("sqlite", "sqlite"),
    ("redis", "redis"),
    ("mongodb", "mongodb"),
    ("elasticsearch", "elasticsearch"),
    ("kafka", "kafka"),
    ("bash", "shell"),
    ("sh", "shell"),
    ("shell", "shell"),
    ("zsh", "shell"),
    ("console", "shell"),
    ("powershell", "powershell"),
    ("git", "git"),
    ("github", "git"),
    ("docker", "docker"),
    ("dockerfile", "docker"),
    ("kubernetes", "kubernetes"),
    ("kubectl", "kubernetes"),
    ("k8s", "kubernetes"),
    ("helm", "kubernetes"),
    ("terraform", "terraform"),
    ("hcl", "terraform"),
    ("ansible", "ansible"),
    ("nginx", "nginx"),
    ("css", "css"),
    ("html", "html"),
    ("graphql", "graphql"),
    ("grpc", "grpc"),
    ("linux", "linux"),
    ("systemd", "linux"),
    ("ssh", "linux"),
    ("aws", "aws"),
    ("haskell", "haskell"),
    ("elixir", "elixir"),
    ("lua", "lua"),
    ("zig", "zig"),
    ("r", "r"),
    ("dart", "dart"),
    ("flutter", "dart"),
];

struct ErrorFound {
    name: String,
    line: String,
}

/// The words that say that somebody met an error, rather than asks what it is.
const MET: &str = r"(?i)\b(get|gets|getting|got|fails?|failed|failing|failure|crash\w*|throws?|threw|thrown|raises?|raised|raising|hits?|hitting|seeing|see|keeps?|says?|dies|died|killed|panick?\w*|errors? (out|when|with)|broken|breaks?|won't|doesn't work|not working|stuck|complains?|rejects?|refuses|refused|denied|gives|returns?|ends with|exits?|traceback|bekomme|erhalte|schlägt fehl|wirft|obtiens|reçois|échoue|lance|obtengo|recibo|falla|lanza|ottengo|fallisce|получаю|падает|выдаёт|выдает|ошибк\w*)\b|报错|出现|失败|错误|エラー|失敗|出ます|오류|에러|: ";

#[allow(clippy::expect_used, reason = "the pattern is constant, and the tests compile it")]
static MEETS: LazyLock<Regex> = LazyLock::new(|| Regex::new(MET).expect("a valid pattern"));

fn error_in(question: &str) -> Option<ErrorFound> {
    let name = first_match(question)?;
    let start = question[..name.start()].rfind('\n').map_or(0, |at| at + 1);
    let line = question[start..].lines().next().unwrap_or_default().trim().to_owned();
    let name = name.as_str().rsplit(['.', ':']).next().unwrap_or(name.as_str()).to_owned();
    MEETS.is_match(question).then_some(ErrorFound { name, line })
}

/// Finds what went wrong and what to do instead. None where the answer does not say what to do.
fn context(error: &ErrorFound, parts: &[AnalysedBlock]) -> Option<LessonError> {
    let is_fix = |class: SentenceClass| matches!(class, SentenceClass::Instructs | SentenceClass::Finding);
    let mut fixes: Vec<&str> = sentences_of(parts, is_fix).collect();
    let directive = |sentence: &&str| Cues::of(sentence).has(Cue::Directive) || Cues::of(sentence).has(Cue::Imperative);
    if fixes.is_empty() {
        fixes = sentences_of(parts, SentenceClass::is_knowledge).filter(directive).collect();
    }
    let code = parts.iter().find_map(|part| match part {
        AnalysedBlock::Code(code, CodeKind::Code) => Some(code.body.trim()),
        _ => None,
    });
    let guidance = match (fixes.is_empty(), code) {
        (false, Some(code)) if fixes.last().is_some_and(|fix| fix.ends_with(':')) => {
            format!("{}\n{code}", fixes.join(" "))
        }
        (false, _) => fixes.join(" "),
        (true, Some(code)) => code.to_owned(),
        (true, None) => return None,
    };
    let pattern = failure(parts, &fixes).unwrap_or(&error.line);
    Some(LessonError {
        error_type: shortened(&error.name, LABEL_MAX_CHARS),
        failure_pattern: shortened(pattern, MAX_GUIDANCE_CHARS),
        corrective_guidance: shortened(&guidance, MAX_GUIDANCE_CHARS),
    })
}

/// Returns the sentence that says what went wrong. It mostly stands before the first sentence that says what to do, and
/// is none of those.
fn failure<'a>(parts: &'a [AnalysedBlock], fixes: &[&str]) -> Option<&'a str> {
    let explains = |class: SentenceClass| matches!(class, SentenceClass::Explains | SentenceClass::Finding);
    let explaining: Vec<&str> = sentences_of(parts, explains).collect();
    let told: Vec<&str> = sentences_of(parts, SentenceClass::is_substance).collect();
    let first_fix = told.iter().position(|sentence| fixes.contains(sentence)).unwrap_or(told.len());
    let (before, after) = told.split_at(first_fix);
    let is_of_failure = |sentence: &&&str| !fixes.contains(*sentence) && !OF_CURE.is_match(sentence);
    let explained = |sentences: &[&'a str]| {
        sentences.iter().filter(is_of_failure).find(|sentence| explaining.contains(*sentence)).copied()
    };
    let says_when = |sentence: &&&str| {
        let cues = Cues::of(sentence);
        cues.has(Cue::Condition) || cues.has(Cue::Cause)
    };
    explained(before)
        .or_else(|| before.iter().filter(is_of_failure).find(says_when).copied())
        .or_else(|| explained(after))
}

/// The words that say why a cure works, rather than why something failed.
const CURE: &str = r"(?i)^\W*(this|that|it|so|das|dies|es|ça|cela|ceci|esto|eso|así|questo|così|dit|zo|isso|isto|это)\W+(\w+\W+){0,2}?(works?|fix(es)?|helps?|solves?|funktioniert|hilft|behebt|löst|marche|fonctionne|résout|funciona|resuelve|soluciona|funziona|risolve|werkt|helpt|resolve|помогает|работает)\b";

#[allow(clippy::expect_used, reason = "the pattern is constant, and the tests compile it")]
static OF_CURE: LazyLock<Regex> = LazyLock::new(|| Regex::new(CURE).expect("a valid pattern"));
