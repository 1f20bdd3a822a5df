//! Distilling: the lessons of a session that is over, or of one exchange. This file says what a model is asked for
//! them, which of its answers are kept, and what a job's lessons have in common as memories. The queue of such jobs is
//! in `job`.

use jiff::Timestamp;

use crate::learning::capture::{Thresholds, assess, lesson_of, rule_of, scrubbed};
use crate::learning::correction::{Objections, RuleHistory, failed_work, said_against};
use crate::learning::job::{Job, Work};
use crate::learning::lesson::{self, AcceptedLessons, Lesson, LessonContext, LessonError, LessonOrigin, PrintedError};
use crate::learning::transcript::{self, Exchange, TranscriptError};
use crate::memory::signature::mentioned;
use crate::memory::trace::Outcome;
use crate::memory::{LESSON_CONTENT_MAX_CHARS, MemoryOutcome, SourceType};
use crate::prompt::{self, Prompt, Prompts, Purpose, Template, prompt_tokens_within, question_tokens};

/// The most lessons from a session.
const MAX_FROM_SESSION: usize = 5;
/// The most rules of users from a session, besides the lessons.
const MAX_RULES: usize = 5;
/// The most lessons from an exchange.
const MAX_FROM_EXCHANGE: usize = 2;
/// A prompt below this many tokens holds too little of a session to learn from.
const LEAST_PROMPT_TOKENS: u64 = 1_000;

/// One question to a model.
#[derive(Debug, Clone, PartialEq)]
pub struct LessonQuestion {
    pub purpose: Purpose,
    pub prompt: Prompt,
}

/// Makes the question that a model is asked about the work. The prompt stays within `prompt_budget` tokens, and all
/// calls with their answers within `daily_cap`. None where the tokens of a day are too few to be of use.
pub fn question(
    prompts: &Prompts,
    work: &Work,
    prompt_budget: usize,
    max_output_tokens: u32,
    daily_cap: u64,
) -> Option<LessonQuestion> {
    let purpose = purpose_of(work);
    let for_prompt = prompt_tokens(purpose, prompt_budget, max_output_tokens, daily_cap)?;
    let prompt = prompt_of(prompts, work, usize::try_from(for_prompt).unwrap_or(prompt_budget));
    let most = question_tokens(purpose, &prompt.instructions, &prompt.input, max_output_tokens);
    (most <= daily_cap).then_some(LessonQuestion { purpose, prompt })
}

/// Tells whether a day's tokens allow a model to be asked at all, about a session or about an exchange.
pub fn affords(prompt_budget: usize, max_output_tokens: u32, daily_cap: u64) -> bool {
    [Purpose::Distill, Purpose::Capture]
        .into_iter()
        .all(|purpose| prompt_tokens(purpose, prompt_budget, max_output_tokens, daily_cap).is_some())
}

/// Returns the most tokens that a prompt may have. None where they are too few to be of use.
pub(crate) fn prompt_tokens(
    purpose: Purpose,
    prompt_budget: usize,
    max_output_tokens: u32,
    daily_cap: u64,
) -> Option<u64> {
    let tokens = prompt_tokens_within(daily_cap, purpose, max_output_tokens).min(prompt_budget as u64);
    (tokens >= LEAST_PROMPT_TOKENS).then_some(tokens)
}

fn purpose_of(work: &Work) -> Purpose {
    match work {
        Work::Distill { .. } => Purpose::Distill,
        Work::Capture { .. } => Purpose::Capture,
    }
}

fn prompt_of(prompts: &Prompts, work: &Work, budget: usize) -> Prompt {
    match work {
        Work::Distill { outcome, transcript, .. } => {
            let values = [("outcome", outcome.as_str()), ("transcript", &**transcript)];
            prompt::render(prompts, Template::Distill, &values, budget)
        }
        Work::Capture { question, answer, .. } => {
            let values = [("question", &**question), ("answer", &**answer)];
            prompt::render(prompts, Template::Capture, &values, budget)
        }
    }
}

/// Returns the lessons of an answer that are fit to keep.
pub fn keep(prompts: &Prompts, work: &Work, lessons: Vec<Lesson>) -> AcceptedLessons {
    match work {
        Work::Distill { outcome, transcript, .. } => {
            let shown = LessonContext { task: "", solutions: vec![transcript], prompts };
            lesson::accept(lessons, &shown, *outcome == MemoryOutcome::Failure, MAX_FROM_SESSION)
        }
        Work::Capture { question, .. } => {
            let shown = LessonContext { task: question, solutions: Vec::new(), prompts };
            lesson::accept(lessons, &shown, false, MAX_FROM_EXCHANGE)
        }
    }
}

/// Returns what the memories of a job have in common.
pub fn origin(job: &Job, work: &Work, now: Timestamp) -> LessonOrigin {
    let (source_type, session, outcome, task) = match work {
        Work::Distill { session_id, outcome, .. } => {
            (SourceType::Distilled, Some(session_id.clone()), *outcome, String::new())
        }
        Work::Capture { question, session_id, .. } => {
            (SourceType::PassiveLearning, session_id.clone(), MemoryOutcome::Success, question.clone())
        }
    };
    LessonOrigin {
        task,
        domain: None,
        workspace_id: job.workspace_id.clone(),
        source_type,
        source_session: session,
        trace_id: None,
        outcome: match outcome {
            MemoryOutcome::Success => Outcome::Success,
            MemoryOutcome::Failure => Outcome::Failure,
            MemoryOutcome::Mixed => Outcome::Partial,
        },
        printed: PrintedError::default(),
        said_at: said_at(work).filter(|said| *said < now),
        at: now,
    }
}

/// Returns the time of what was said last in a session, where its transcript tells it.
fn said_at(work: &Work) -> Option<Timestamp> {
    let Work::Distill { transcript, .. } = work else { return None };
    let read = transcript::read(transcript.as_bytes()).ok()?;
    read.exchanges.iter().filter_map(|exchange| exchange.at).max()
}

/// Draws lessons by rules alone from the exchanges of a session that are most worth keeping, in their order. Where
/// there are none, it says why. An answer that the next question or a failed check takes back is no strategy, but
/// together with what put it right it is a warning. A session that failed gives warnings alone, from answers that were
/// put right for good. A mixed one gives no strategy of an answer that may have been found wrong. The rules that users
/// state are lessons of any session.
pub fn by_rules(work: &Work) -> (Vec<Lesson>, Option<String>) {
    let (exchanges, failed, most) = match work {
        Work::Distill { transcript, .. } => match read_scrubbed(transcript) {
            Ok((exchanges, failed)) => (exchanges, failed, MAX_FROM_SESSION),
            Err(error) => return (Vec::new(), Some(format!("the transcript could not be read: {error}"))),
        },
        Work::Capture { question, answer, .. } => {
            let (question, answer) = (question.clone(), answer.clone());
            let exchange = Exchange { question, answer, session: None, asked_first: None, said_next: None, at: None };
            (vec![exchange], vec![false], 1)
        }
    };
    let outcome = match work {
        Work::Distill { outcome, .. } => *outcome,
        Work::Capture { .. } => MemoryOutcome::Success,
    };
    let objections = Objections::of(&exchanges, failed);
    let rules = rules_of_users(&exchanges, &objections);
    match of_answers(&exchanges, &objections, outcome, most) {
        Ok(lessons) => (lessons.into_iter().chain(rules).collect(), None),
        Err(why) if rules.is_empty() => (rules, Some(why)),
        Err(_) => (rules, None),
    }
}

/// Draws the lessons of the answers. Where there are none, it says why.
fn of_answers(
    exchanges: &[Exchange],
    objections: &Objections,
    outcome: MemoryOutcome,
    most: usize,
) -> Result<Vec<Lesson>, String> {
    let judged = |exchange: &Exchange| assess(&exchange.question, &exchange.answer, &Thresholds::default());
    let scored = exchanges.iter().enumerate().map(|(n, exchange)| (n, judged(exchange)));
    let mut worth: Vec<(usize, f64)> =
        scored.filter(|(_, judgement)| judgement.verdict.is_ok()).map(|(n, judgement)| (n, judgement.score)).collect();
    if worth.is_empty() {
        return Err(format!("none of {} exchanges holds something to keep, by rules alone", exchanges.len()));
    }
    worth.sort_by(|(a, x), (b, y)| y.total_cmp(x).then_with(|| a.cmp(b)));
    let mut lessons: Vec<(usize, Lesson)> = worth
        .into_iter()
        .filter_map(|(n, _)| Some((n, lesson_at(exchanges, objections, n, outcome)?)))
        .take(most)
        .collect();
    if lessons.is_empty() {
        let why = if outcome == MemoryOutcome::Failure {
            "says what went wrong and what put it right"
        } else {
            "was left standing"
        };
        return Err(format!("none of {} exchanges {why}, by rules alone", exchanges.len()));
    }
    lessons.sort_by_key(|(n, _)| *n);
    Ok(lessons.into_iter().map(|(_, lesson)| lesson).collect())
}

/// Returns the rules that users state in a session, each once, without those that they take back later. They stay true
/// whatever became of the answers.
fn rules_of_users(exchanges: &[Exchange], objections: &Objections) -> Vec<Lesson> {
    let history = RuleHistory::of(exchanges);
    let mut rules: Vec<Lesson> = Vec::new();
    for (n, exchange) in exchanges.iter().enumerate() {
        let said = |is_unanswered: bool, message: &str, asked_first: Option<String>| Exchange {
            question: history.left(n, is_unanswered).unwrap_or_else(|| message.to_owned()),
            asked_first: history.taken_back_by(exchanges, n, is_unanswered).or(asked_first),
            ..exchange.clone()
        };
        let answered = said(false, &exchange.question, objections.asked_first(exchanges, n));
        let asked = &exchanges[objections.asked(n)].question;
        let unanswered = exchange.said_next.as_ref().map(|message| said(true, message, Some(asked.clone())));
        for rule in std::iter::once(answered).chain(unanswered).filter_map(|said| rule_of(&said)) {
            if rules.iter().all(|known| known.content != rule.content) {
                rules.push(rule);
            }
        }
    }
    rules.truncate(MAX_RULES);
    rules
}

/// Returns the lessons that rules would have drawn from the exchanges of a session that an objection or a failed check
/// takes back, and the rules that a later message takes back.
pub fn taken_back_by_rules(work: &Work) -> Vec<Lesson> {
    let Work::Distill { transcript, .. } = work else { return Vec::new() };
    let Ok((exchanges, failed)) = read_scrubbed(transcript) else { return Vec::new() };
    let objections = Objections::of(&exchanges, failed);
    let is_worth = |of: &Exchange| assess(&of.question, &of.answer, &Thresholds::default()).verdict.is_ok();
    let taken_back = exchanges.iter().enumerate().filter(|(n, of)| objections.has_taken_back(*n) && is_worth(of));
    let history = RuleHistory::of(&exchanges);
    let rules = exchanges.iter().enumerate().flat_map(|(n, exchange)| {
        let said = |is_unanswered: bool, message: &str| {
            let question = history.left(n, is_unanswered).map(|_| message.to_owned())?;
            let asked_first = history.taken_back_by(&exchanges, n, is_unanswered);
            rule_of(&Exchange { question, asked_first, ..exchange.clone() })
        };
        let unanswered = exchange.said_next.as_ref().and_then(|message| said(true, message));
        said(false, &exchange.question).into_iter().chain(unanswered)
    });
    taken_back.map(|(_, exchange)| lesson_of(exchange)).chain(rules).collect()
}

/// Reads the exchanges of a transcript without their secrets, and for each whether the work for it failed its checks.
fn read_scrubbed(transcript: &str) -> Result<(Vec<Exchange>, Vec<bool>), TranscriptError> {
    let read = transcript::read(transcript.as_bytes())?;
    let failed = failed_work(&read.exchanges, &read.requests);
    // An escaped secret shows once the text is read.
    Ok((read.exchanges.into_iter().map(|exchange| scrubbed(exchange).0).collect(), failed))
}

/// Makes the lesson of the exchange at `n`, which is worth keeping, by what was said before and after it. None where
/// the exchange was taken back, or teaches nothing because the session failed, or may have in a mixed one.
fn lesson_at(exchanges: &[Exchange], objections: &Objections, n: usize, outcome: MemoryOutcome) -> Option<Lesson> {
    let failed = outcome == MemoryOutcome::Failure;
    if objections.has_taken_back(n) {
        return None;
    }
    let exchange = &exchanges[n];
    match objections.corrected(n) {
        // In a session that failed, nobody knows whether the last answer was right.
        Some(_) if failed && n + 1 == exchanges.len() => None,
        Some(before) => Some(warning_of(&exchanges[before], &exchanges[objections.asked(n)], exchange)),
        None if failed || (outcome == MemoryOutcome::Mixed && Objections::is_in_doubt(exchanges, n)) => None,
        None => Some(match objections.goes_on_from(exchanges, n) {
            Some(asked) => {
                let asked_first = Some(exchanges[asked].question.clone());
                lesson_of(&Exchange { asked_first, ..exchange.clone() })
            }
            None => lesson_of(exchange),
        }),
    }
}

/// Makes the warning of an answer that was wrong, where a later exchange says how it was wrong and what is right.
/// `asked` has the question that both answer.
fn warning_of(before: &Exchange, asked: &Exchange, correction: &Exchange) -> Lesson {
    let shortened = |text: &str, max: usize| text.trim().chars().take(max).collect::<String>();
    let (topic, tried, right) = (lesson_of(asked), lesson_of(before), lesson_of(correction));
    let error_type = mentioned(&correction.question).map(|error| error.error().to_owned());
    let pattern = format!("{}\n\nWhat was said against it: {}", tried.content, said_against(correction));
    Lesson {
        title: topic.title,
        description: topic.description,
        content: right.content.clone(),
        pattern_tags: right.pattern_tags,
        domain_category: right.domain_category,
        difficulty_level: None,
        error_context: Some(LessonError {
            error_type: error_type.unwrap_or_else(|| "WrongAnswer".to_owned()),
            failure_pattern: shortened(&pattern, LESSON_CONTENT_MAX_CHARS),
            corrective_guidance: shortened(&right.content, LESSON_CONTENT_MAX_CHARS),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANSWER: &str = "Cargo compares modification times, and git renews them on checkout, because every file is \
        written again. Use a target directory for each branch:\n\n```sh\nexport CARGO_TARGET_DIR=target/$branch\n```\n\n\
        Then the fingerprints of each branch stay as they are.";

    fn session(exchanges: usize) -> Work {
        let exchange = |n: usize| {
            format!("## User\nWhy does cargo build everything again after checkout {n}?\n\n## Assistant\n{ANSWER}\n\n")
        };
        let transcript = (0..exchanges).map(exchange).collect();
        Work::Distill { session_id: "s".into(), outcome: MemoryOutcome::Success, transcript }
    }

    #[test]
    fn rules_draw_at_most_five_lessons_from_a_session_and_say_why_there_are_none() {
        assert_eq!(by_rules(&session(2)).0.len(), 2);
        assert_eq!(by_rules(&session(9)).0.len(), MAX_FROM_SESSION);
        let chat = "## User\nHello there, how are you?\n\n## Assistant\nI am fine, thank you for asking!\n";
        let chat = Work::Distill { session_id: "s".into(), outcome: MemoryOutcome::Mixed, transcript: chat.into() };
        let (lessons, why) = by_rules(&chat);
        assert_eq!(
            (lessons, why.as_deref()),
            (vec![], Some("none of 1 exchanges holds something to keep, by rules alone"))
        );
    }

    #[test]
    fn lessons_have_the_time_of_what_was_said_last_in_their_session() {
        let said = |role: &str, at: &str| format!(r#"{{"role": "{role}", "content": "{at}", "timestamp": "{at}"}}"#);
        let said_at = |transcript: String| {
            let work = Work::Distill { session_id: "s".into(), outcome: MemoryOutcome::Success, transcript };
            let now: Timestamp = "2026-11-20T10:00:00Z".parse().unwrap();
            let job = Job::queued(crate::memory::workspace::WorkspaceId::of_root("/p"), work.clone(), now);
            origin(&job, &work, now).said_at
        };
        let (asked, answered) = ("2026-01-05T10:00:00Z", "2026-01-05T10:09:00Z");
        let dated = [said("user", asked), said("assistant", answered)].join("\n");
        assert_eq!(said_at(dated), Some(answered.parse().unwrap()));
        assert_eq!(said_at("## User\nWhy?\n\n## Assistant\nBecause.\n".into()), None);
    }

    #[test]
    fn a_rule_of_a_user_is_a_lesson_of_any_session() {
        let rule = "No, we use plain pytest functions here, never unittest classes. Please remember that.";
        let transcript = format!(
            "## User\nWrite a test for the cart.\n\n## Assistant\nI wrote one.\n\n## User\n{rule}\n\n## Assistant\nDone.\n"
        );
        for outcome in [MemoryOutcome::Success, MemoryOutcome::Mixed, MemoryOutcome::Failure] {
            let transcript = transcript.clone();
            let (lessons, why) = by_rules(&Work::Distill { session_id: "s".into(), outcome, transcript });
            let said: Vec<&str> = lessons.iter().map(|lesson| lesson.content.as_str()).collect();
            assert_eq!((said, why), (vec!["We use plain pytest functions here, never unittest classes."], None));
            assert_eq!(lessons[0].description, "When this comes up: Write a test for the cart.");
        }
        let captured = Work::Capture { question: rule.into(), answer: "Done.".into(), session_id: None };
        assert_eq!(by_rules(&captured).0.len(), 1);
    }

    fn transcript(outcome: MemoryOutcome, questions: &[&str]) -> Work {
        let exchange = |question: &&str| format!("## User\n{question}\n\n## Assistant\n{ANSWER}\n\n");
        let transcript = questions.iter().map(exchange).collect();
        Work::Distill { session_id: "s".into(), outcome, transcript }
    }

    #[test]
    fn what_was_taken_back_is_no_strategy_and_with_what_put_it_right_a_warning() {
        let asked = "Why does cargo build everything again after checkout?";
        let wrong = "That did not work, it fails with LinkerError: no space.";
        let next = "And how do I share it with the others?";
        for (outcome, questions, warnings, strategies) in [
            (MemoryOutcome::Success, &[asked, next][..], 0, 2),
            (MemoryOutcome::Mixed, &[asked, wrong, next], 1, 1),
            (MemoryOutcome::Mixed, &[asked, wrong], 1, 0),
            (MemoryOutcome::Failure, &[asked, wrong, next], 1, 0),
            (MemoryOutcome::Failure, &[asked, wrong], 0, 0),
            (MemoryOutcome::Failure, &[asked, next], 0, 0),
            (MemoryOutcome::Failure, &[asked, wrong, wrong, next], 1, 0),
        ] {
            let (lessons, why) = by_rules(&transcript(outcome, questions));
            let warn = lessons.iter().filter(|lesson| lesson.error_context.is_some()).count();
            assert_eq!((warn, lessons.len() - warn), (warnings, strategies), "{outcome:?} {questions:?}");
            assert_eq!(why.is_some(), lessons.is_empty());
        }
        let (lessons, _) = by_rules(&transcript(MemoryOutcome::Failure, &[asked, wrong, next]));
        let error = lessons[0].error_context.as_ref().unwrap();
        assert_eq!(error.error_type, "linkererror");
        assert!(error.failure_pattern.contains("What was said against it: That did not work"), "{error:?}");
        assert!(!error.failure_pattern.contains("put right") && error.corrective_guidance.contains("CARGO_TARGET_DIR"));
    }

    #[test]
    fn a_warning_is_titled_by_the_question_and_never_by_an_objection() {
        let asked = "Why does cargo build everything again after checkout?";
        let (lessons, _) = by_rules(&transcript(
            MemoryOutcome::Mixed,
            &[
                asked,
                "Thanks, but that did not work.",
                "Hm. Still the same error.",
                "And how do I share it with others?",
            ],
        ));
        let titles: Vec<(&str, bool)> =
            lessons.iter().map(|lesson| (lesson.title.as_str(), lesson.error_context.is_some())).collect();
        assert_eq!(titles, [(asked, true), ("How do I share it with others?", false)]);
    }

    #[test]
    fn what_does_not_say_what_it_is_about_has_the_title_of_the_question_before() {
        let asked = "Why does cargo build everything again after checkout?";
        let (lessons, _) = by_rules(&transcript(MemoryOutcome::Success, &[asked, "Please go on."]));
        let titles: Vec<&str> = lessons.iter().map(|lesson| lesson.title.as_str()).collect();
        assert_eq!(titles, [asked; 2]);
    }

    #[test]
    fn in_doubt_a_mixed_session_gives_no_strategy() {
        let (asked, doubt) =
            ("Why does cargo build everything again after checkout?", "The tests run for ten minutes.");
        for (outcome, next, strategies) in [
            (MemoryOutcome::Mixed, doubt, 1),
            (MemoryOutcome::Mixed, "Thanks, that works. How do I share it with the others?", 2),
            (MemoryOutcome::Success, doubt, 2),
        ] {
            let (lessons, _) = by_rules(&transcript(outcome, &[asked, next]));
            assert_eq!(lessons.len(), strategies, "{outcome:?} {next}");
        }
    }

    #[test]
    fn an_objection_that_comes_last_or_behind_thanks_keeps_an_answer_from_being_a_strategy() {
        let asked = "Why does cargo build everything again after checkout?";
        let session = |rest: &str| Work::Distill {
            session_id: "s".into(),
            outcome: MemoryOutcome::Success,
            transcript: format!("## User\n{asked}\n\n## Assistant\n{ANSWER}\n\n{rest}"),
        };
        let (lessons, why) = by_rules(&session("## User\nThat did not work.\n"));
        let none = "none of 1 exchanges was left standing, by rules alone";
        assert_eq!((lessons, why.as_deref()), (vec![], Some(none)));
        let behind_thanks = format!(
            "## User\nThanks!\n\n## Assistant\nYou are welcome.\n\n## User\nThat was wrong.\n\n## Assistant\n{ANSWER}\n"
        );
        let (lessons, _) = by_rules(&session(&behind_thanks));
        let titles: Vec<(&str, bool)> =
            lessons.iter().map(|lesson| (lesson.title.as_str(), lesson.error_context.is_some())).collect();
        assert_eq!(titles, [(asked, true)]);
        assert_eq!(by_rules(&session("## User\nThanks, that worked!\n")).0.len(), 1);
    }

    #[test]
    fn what_the_assistant_takes_back_itself_is_no_strategy() {
        let asked = "Why does cargo build everything again after checkout?";
        let transcript = format!(
            "## User\n{asked}\n\n## Assistant\n{ANSWER}\n\n## User\nok\n\n## Assistant\nActually, I was wrong. {ANSWER}\n"
        );
        let work = Work::Distill { session_id: "s".into(), outcome: MemoryOutcome::Success, transcript };
        assert_eq!(by_rules(&work).0, Vec::new(), "an answer to a nod is not worth keeping by itself");
    }

    #[test]
    fn a_question_stays_within_what_a_days_tokens_allow() {
        let work = Work::Distill {
            session_id: "s".into(),
            outcome: MemoryOutcome::Failure,
            transcript: "something happened ".repeat(20_000),
        };
        assert_eq!(question(&Prompts::default(), &work, 32_000, 8_192, 10_000), None, "too little for one answer");
        for cap in [20_000, 40_000, 1_000_000] {
            let question = question(&Prompts::default(), &work, 32_000, 8_192, cap).unwrap();
            let prompt = &question.prompt;
            let tokens = question_tokens(question.purpose, &prompt.instructions, &prompt.input, 8_192);
            assert!(tokens <= cap, "{tokens} of {cap}");
            assert!(question.prompt.cut.is_some() && question.prompt.input.contains("failure"));
        }
    }

    #[test]
    fn from_a_failed_session_only_warnings_are_kept() {
        let lesson = lesson_of(&Exchange {
            question: "Why is it built again?".into(),
            answer: ANSWER.into(),
            session: None,
            asked_first: None,
            said_next: None,
            at: None,
        });
        let failed = Work::Distill { session_id: "s".into(), outcome: MemoryOutcome::Failure, transcript: "t".into() };
        assert!(keep(&Prompts::default(), &failed, vec![lesson.clone()]).lessons.is_empty());
        assert_eq!(keep(&Prompts::default(), &session(1), vec![lesson]).lessons.len(), 1);
    }
}
