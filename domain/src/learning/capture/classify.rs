//! The class of a sentence of an answer: what it does.

use std::sync::LazyLock;

use regex::RegexSet;

use super::words::{Cue, Cues, is_specific, length, terms};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SentenceClass {
    /// It says why, when, or how something is in general.
    Explains,
    /// It says what to do.
    Instructs,
    /// It reports what was done or found, with the reason.
    Finding,
    Neutral,
    /// It is an instruction without anything to hold on to.
    Thin,
    Chat,
    Declines,
    AsksBack,
    Announces,
    Plans,
    Reports,
    Output,
    OneOff,
}

impl SentenceClass {
    /// Tells whether a lesson may hold such a sentence.
    pub(super) fn is_substance(self) -> bool {
        matches!(self, Self::Explains | Self::Instructs | Self::Finding | Self::Neutral)
    }

    pub(super) fn is_knowledge(self) -> bool {
        matches!(self, Self::Explains | Self::Instructs | Self::Finding)
    }
}

/// The announcement that a sentence stands under, which decides how the sentence is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Announcement {
    #[default]
    Nothing,
    /// The sentence stands under a line that announces a report.
    Report,
    /// The sentence stands under a line that announces a plan.
    Plan,
}

/// The phrases that look like reports and are none, each with what replaces it. "Here is" explains nothing yet, and
/// "that was" only says which thing is meant.
const NO_REPORT: [(&str, &str); 6] = [
    ("here is ", "here "),
    ("here are ", "here "),
    (" that was ", " that "),
    (" that were ", " that "),
    (" which was ", " which "),
    (" which were ", " which "),
];

pub(super) fn class(sentence: &str, is_item: bool, under: Announcement) -> SentenceClass {
    if is_output_line(sentence) {
        return SentenceClass::Output;
    }
    let text = NO_REPORT.iter().fold(plain(sentence).to_owned(), |text, (said, left)| text.replace(said, left));
    let cues = Cues::of(&text);
    // In a list, the report of work done mostly stands behind the name of a file and a colon.
    let labelled = text.split_once(": ").filter(|(label, _)| is_item && label.chars().count() < 60);
    let labelled_done = labelled.is_some_and(|(_, rest)| Cues::of(rest).has(Cue::Done));
    let terms = terms(sentence).count();
    let specific = is_specific(sentence);
    let chars = length(sentence);
    if cues.has(Cue::Declines) && !cues.has(Cue::Cause) {
        return SentenceClass::Declines;
    }
    if is_question(sentence) {
        return if cues.has(Cue::Offer) { SentenceClass::Chat } else { SentenceClass::AsksBack };
    }
    if cues.has(Cue::Apology) || cues.has(Cue::Offer) {
        return SentenceClass::Chat;
    }
    let reason = cues.has(Cue::Cause);
    if cues.has(Cue::Announces) {
        return SentenceClass::Announces;
    }
    let general = cues.has(Cue::Directive) || cues.has(Cue::Condition);
    let done = cues.has(Cue::Done) || labelled_done || cues.has(Cue::FirstPersonDone);
    let passive = cues.has(Cue::DonePassive) && !general;
    // A report that tells the reason is worth something beyond its day.
    if cues.has(Cue::FirstPersonDone)
        || passive
        || ((cues.has(Cue::Done) || labelled_done) && !cues.has(Cue::Directive))
    {
        return if reason && chars >= 60 { SentenceClass::Finding } else { SentenceClass::Reports };
    }
    if cues.has(Cue::FirstPerson) && !reason {
        return SentenceClass::Announces;
    }
    // Knowledge is seldom shouted.
    if sentence.ends_with(['!', '！']) && !specific && chars < 120 {
        return SentenceClass::Chat;
    }
    match under {
        Announcement::Report if !reason => return SentenceClass::Reports,
        Announcement::Plan if !reason && terms == 0 => return SentenceClass::Plans,
        _ => {}
    }
    if cues.has(Cue::PlanLead) && !reason && terms == 0 {
        return SentenceClass::Plans;
    }
    if cues.has(Cue::ReportLead) && (chars < 60 || done) {
        return SentenceClass::Reports;
    }
    if cues.has(Cue::Thanks) && terms == 0 && chars < 120 {
        return SentenceClass::Chat;
    }
    if cues.has(Cue::Dated) && !reason && terms == 0 {
        return SentenceClass::OneOff;
    }
    let vague = cues.has(Cue::Vague) && terms == 0;
    if reason && !vague {
        return SentenceClass::Explains;
    }
    if cues.has(Cue::Imperative) || cues.has(Cue::Directive) {
        let holds = specific || (chars >= 30 && !is_item) || chars >= 70 || cues.has(Cue::Condition);
        return if holds && !vague { SentenceClass::Instructs } else { SentenceClass::Thin };
    }
    if vague {
        return SentenceClass::Thin;
    }
    let tells = cues.has(Cue::Condition) || cues.has(Cue::General);
    if tells && (terms > 0 || (cues.has(Cue::Condition) && chars >= 50) || chars >= 80) {
        return SentenceClass::Explains;
    }
    SentenceClass::Neutral
}

/// Tells whether a text ends as a question does: with a question mark, or with the word that Japanese has for it.
fn is_question(text: &str) -> bool {
    let end = text.trim().trim_end_matches(['*', '_', ')', '"']);
    end.ends_with(['?', '？', '؟']) || end.ends_with("か。")
}

/// Returns the sentence without the signs before it that are only form.
fn plain(sentence: &str) -> &str {
    sentence.trim_start_matches(['*', '_', '>', '"', ' ', '✅', '✓', '✔', '🎉', '-'])
}

/// Finds what a line announces about the lines below it. None where the line is no heading and does not end with a
/// colon.
pub(super) fn leads(sentence: &str, is_heading: bool) -> Option<Announcement> {
    if !is_heading && !sentence.trim_end_matches(['*', '_']).ends_with([':', '：']) {
        return None;
    }
    let cues = Cues::of(plain(sentence));
    if cues.has(Cue::ReportLead) || cues.has(Cue::FirstPersonDone) || cues.has(Cue::Done) {
        return Some(Announcement::Report);
    }
    if cues.has(Cue::PlanLead) || cues.has(Cue::Announces) {
        return Some(Announcement::Plan);
    }
    Some(Announcement::Nothing)
}

const OUTPUT: [&str; 22] = [
    r"^\s*\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d",
    r"^\s*\[?\d\d:\d\d:\d\d[\]., ]",
    r"^\s*\[?(INFO|WARN|WARNING|ERROR|DEBUG|TRACE|FATAL|NOTICE)\]?[: ]",
    r"^(diff --git|@@ -\d|\+\+\+ |--- [ab/]|index [0-9a-f]{7})",
    r"^\s*test \S+ \.\.\. |^test result:|^running \d+ tests?|^\s*(Compiling|Finished|Downloading|Downloaded|Checking|Updating|Installing|Unpacking|Fetching) \S+ ?(v\d|\[|`|crates|index)",
    r"^\s*(PASS|FAIL|ok|not ok|✓|✔|✗|✕|√|×)\s+\S+(\s+\(?\d|$|\s*[./])",
    r"^npm (WARN|ERR!|notice)|^(added|removed|changed|audited) \d+ packages|^Collecting \S+( \(.*)?$|^Requirement already|^Successfully (installed|built|tagged)",
    r"^[-dlbcps][-rwxsStT]{9}[ .+@]|^total \d+$",
    r"^\s+at \S+.*:\d+(:\d+)?\)?$|^\s*at [\w$.<>]+\(.*\)$",
    r#"^\s*File ".*", line \d+"#,
    r"^[=_*-]{5,}.*[=_*-]{5,}$|^[=-]{8,}$",
    r"^\S+\.\w{1,4}:\d+(:\d+)?:? ",
    r"^( M|M |A |D |R |\?\?|UU) \S+$|^On branch |^Your branch |^Changes (not )?(staged|to be)|^\s+(modified|new file|deleted|renamed): ",
    r"^[0-9a-f]{7,40} \S|^commit [0-9a-f]{7,40}|^Author: |^\[\w[\w/.-]* [0-9a-f]{7,}\]",
    r"^\s*\d+ (files? changed|insertions?|deletions?|passed|failed|passing|failing|tests?|problems?|warnings?|errors?)\b",
    r"^HTTP/\d|^[<>*] [A-Za-z-]+: |^\* (Connected|Trying|TLS)",
    r"^(CONTAINER ID|NAME\s{2,}|REPOSITORY\s{2,}|USER\s+PID|PID\s+|NAMESPACE\s{2,}|Filesystem\s+|Proto\s+|Mem:|Swap:)",
    r"^\s*(\S+\s+)?[\d.,]+[KMGT%]?(\s+[\d.,]+[KMGT%]?){2,}(\s+\S+)?$",
    r"^(\./|/|~/|[\w-]+/)[\w./@-]+$",
    r"^\S+@\S+:\S*[$#] ",
    r"^\s*(Traceback \(most recent call last\):|Caused by:|thread '.*' panicked at|goroutine \d+ \[|Exit code:?|exit status|Process exited|Wall time|Total output lines)",
    r"^\s*\d+[→│|]\s",
];

#[allow(clippy::expect_used, reason = "the patterns are constant, and the tests compile them")]
static OUTPUT_LINES: LazyLock<RegexSet> = LazyLock::new(|| RegexSet::new(OUTPUT).expect("valid patterns"));

/// Tells whether a program wrote this line: a log, a listing, a diff, the result of a test.
pub(super) fn is_output_line(line: &str) -> bool {
    !line.is_empty() && OUTPUT_LINES.is_match(line)
}
