//! The assessment of an exchange: whether it is worth keeping. A small sum of named features over what remains of the
//! answer without noise has to be large enough, and the share of noise small enough.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::analysis::{AnalysedBlock, CodeKind, analyse};
use super::blocks::TextKind;
use super::classify::SentenceClass;
use super::words::{Cue, Cues, has_quantity, is_specific, length, subjects, terms};
use super::{CaptureRefusal, Thresholds};
use crate::memory::signature::{mentions_error, names_error};

/// The least sum of the features of an exchange that is kept.
const ENOUGH: f64 = 2.25;
/// The number of characters of prose that a character of code counts as, where shares are compared.
const CODE_SHARE: f64 = 0.5;
/// An answer says little more than the question where its echo is above this.
const MUCH_ECHO: f64 = 0.35;
/// An answer is a report of figures where its share of numbers is above this.
const MUCH_FIGURES: f64 = 0.12;
/// The most characters that one block of code counts as.
const CODE_MOST: f64 = 800.0;

/// The traits of an exchange that is kept: what its answer has, or that its question states a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Traits {
    pub code: bool,
    pub explanation: bool,
    pub steps: bool,
    /// True where nothing but a rule of the user is kept.
    pub rule: bool,
}

impl fmt::Display for Traits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let traits = [
            (self.code, "code"),
            (self.explanation, "an explanation"),
            (self.steps, "steps"),
            (self.rule, "a rule of the user"),
        ];
        let named: Vec<&str> = traits.into_iter().filter_map(|(there, name)| there.then_some(name)).collect();
        f.write_str(&named.join(" and "))
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Assessment {
    pub verdict: Result<Traits, CaptureRefusal>,
    /// The sum of the features, of which an exchange needs at least 2.25. It is zero where the exchange was refused for
    /// a length.
    pub score: f64,
}

/// Assesses an exchange that holds no secrets any more. The same exchange always gets the same assessment.
pub fn assess(question: &str, answer: &str, thresholds: &Thresholds) -> Assessment {
    let refused = |reason| Assessment { verdict: Err(reason), score: 0.0 };
    if length(question.trim()) < thresholds.min_question_length {
        return refused(CaptureRefusal::QuestionTooShort);
    }
    if length(answer.trim()) < thresholds.min_answer_length {
        return refused(CaptureRefusal::AnswerTooShort);
    }
    let features = ExchangeFeatures::of(question, &analyse(answer));
    let score = features.score();
    Assessment { verdict: features.verdict(score, thresholds), score }
}

/// The features of an exchange, which are counted to assess it.
#[derive(Debug, Default)]
struct ExchangeFeatures {
    /// The characters of the sentences of each class.
    mass: BTreeMap<SentenceClass, f64>,
    explains: usize,
    instructs: usize,
    findings: usize,
    /// The number of sentences that only state something specific.
    states: usize,
    /// The number of steps that say something.
    steps: usize,
    code: usize,
    code_mass: f64,
    other_blocks: usize,
    output_mass: f64,
    /// The number of different technical terms that remain.
    terms: usize,
    /// The number of different words of computing that remain and that the question does not have.
    subjects: usize,
    /// True where the question and what remains have at most one technical term or word of computing, and what remains
    /// has no number with a unit.
    is_abstract: bool,
    /// True where the question names something of computing or something that went wrong, or has a number with a unit.
    has_topic: bool,
    /// The share of the words that are the question's, where each occurrence counts. It is zero where the answer has at
    /// least two technical terms that the question does not have.
    echo: f64,
    /// True where the answer is prose that tells a cause, or what to do, in general.
    is_finding: bool,
    /// The share of the words that are numbers.
    figures: f64,
    plans: bool,
    /// True where the question speaks of something that went wrong.
    error: bool,
    question: Cues,
}

impl ExchangeFeatures {
    fn of(question: &str, parts: &[AnalysedBlock]) -> Self {
        let mut features = Self {
            question: Cues::of(question_head(question)),
            error: mentions_error(question) || names_error(question),
            ..Self::default()
        };
        let mut found = BTreeSet::new();
        let mut remaining = String::new();
        for part in parts {
            match part {
                AnalysedBlock::Code(code, kind) => features.take_code(&code.body, *kind),
                AnalysedBlock::Text(text, classes) => {
                    for (sentence, class) in text.sentences.iter().zip(classes) {
                        *features.mass.entry(*class).or_default() += length(sentence) as f64;
                        match class {
                            SentenceClass::Explains => features.explains += 1,
                            SentenceClass::Instructs => features.instructs += 1,
                            SentenceClass::Finding => features.findings += 1,
                            SentenceClass::Neutral if text.kind != TextKind::Heading && is_specific(sentence) => {
                                features.states += 1;
                            }
                            _ => {}
                        }
                        features.plans |= *class == SentenceClass::Plans;
                        if class.is_substance() && text.kind != TextKind::Heading {
                            found.extend(terms(sentence));
                            remaining.push_str(sentence);
                            remaining.push(' ');
                        }
                    }
                    let says = classes.iter().any(|class| class.is_knowledge())
                        || text
                            .sentences
                            .iter()
                            .zip(classes)
                            .any(|(sentence, class)| *class == SentenceClass::Neutral && is_specific(sentence));
                    features.steps += usize::from(text.kind == TextKind::Step && says);
                }
            }
        }
        features.terms = found.len();
        let said = subjects(&remaining);
        let asked = subjects(question);
        features.subjects = said.difference(&asked).count();
        features.is_abstract = features.terms + said.len() + asked.len() < 2 && !has_quantity(&remaining);
        features.has_topic = is_specific(question) || features.error;
        let new_terms = found.iter().filter(|term| !question.contains(**term)).count();
        features.echo = if new_terms < 2 { echo(question, &remaining) } else { 0.0 };
        features.figures = figures(&remaining);
        features.is_finding = features.echo <= MUCH_ECHO && features.figures <= MUCH_FIGURES && is_finding(parts);
        features
    }

    fn take_code(&mut self, body: &str, kind: CodeKind) {
        let chars = (body.chars().count() as f64).min(CODE_MOST);
        match kind {
            CodeKind::Code => {
                self.code += 1;
                self.code_mass += chars * CODE_SHARE;
            }
            CodeKind::Other => {
                self.other_blocks += 1;
                self.code_mass += chars * CODE_SHARE / 2.0;
            }
            CodeKind::Reported => *self.mass.entry(SentenceClass::Reports).or_default() += chars * CODE_SHARE / 2.0,
            CodeKind::Output => self.output_mass += chars * CODE_SHARE,
        }
    }

    fn mass(&self, classes: &[SentenceClass]) -> f64 {
        classes.iter().filter_map(|class| self.mass.get(class)).sum()
    }

    fn substance(&self) -> f64 {
        self.mass(&[SentenceClass::Explains, SentenceClass::Instructs, SentenceClass::Finding, SentenceClass::Neutral])
            + self.code_mass
    }

    fn noise(&self) -> f64 {
        self.mass(&NOISE) + self.output_mass
    }

    fn noise_share(&self) -> f64 {
        let (noise, substance) = (self.noise(), self.substance());
        noise / (noise + substance).max(1.0)
    }

    fn asks(&self, cue: Cue) -> bool {
        self.question.has(cue)
    }

    /// Tells whether the question asks for what holds on one occasion: a fact of the day, small talk, what comes next.
    /// A number that is asked for counts as one of the day, unless the answer speaks of computing.
    fn is_occasion(&self) -> bool {
        let technical = self.terms + self.subjects >= 3;
        let for_once = self.asks(Cue::AskOneOff) || self.asks(Cue::AskChat);
        (for_once && !self.asks(Cue::AskHow)) || self.asks(Cue::AskPlan) || (self.asks(Cue::AskQuantity) && !technical)
    }

    fn score(&self) -> f64 {
        let most = |count: usize, most: f64, each: f64| (count as f64 * each).min(most);
        let occasion = self.is_occasion();
        let asks_knowledge = self.asks(Cue::AskKnowledge) && !occasion;
        let is_open = (asks_knowledge || (self.has_topic && !occasion && !self.asks(Cue::AskAction)))
            && self.figures <= MUCH_FIGURES;
        let mut score = 0.0;
        score += most(self.explains, 2.5, 1.0);
        score += most(self.instructs, 1.5, 0.75);
        score += most(self.findings, 1.5, 0.75);
        score += if is_open { most(self.states, 2.0, 0.5) } else { most(self.states, 0.5, 0.25) };
        let stated = self.mass(&[SentenceClass::Neutral]) / 160.0;
        score += if is_open { (stated * 0.25).min(0.75) } else { 0.0 };
        score += most(self.code, 2.0, 2.0) + most(self.other_blocks, 1.0, 1.0);
        score += if self.steps >= 2 { 1.0 } else { 0.0 };
        score += (most(self.terms, 1.5, 0.5) + most(self.subjects, 1.0, 0.25)).min(1.5);
        score += if self.is_finding { 1.5 } else { 0.0 };
        score += match () {
            () if occasion && !self.is_finding => -1.5,
            () if asks_knowledge => 1.0,
            () if is_open || (self.error && self.explains > 0) => 0.75,
            () => 0.0,
        };
        // An answer that explains may also report what was done about it.
        let (steep, free) = if self.explains > 0 { (3.0, 0.25) } else { (4.0, 0.15) };
        score -= steep * (self.noise_share() - free).max(0.0);
        score -= if self.mass(&[SentenceClass::OneOff]) > 0.15 * self.substance() { 1.0 } else { 0.0 };
        score -= if self.is_abstract && self.code == 0 && !self.is_finding { 1.5 } else { 0.0 };
        score -= if self.figures > MUCH_FIGURES && self.code == 0 { 1.5 } else { 0.0 };
        score -= if self.plans && self.code == 0 { 1.5 } else { 0.0 };
        score -= if self.echo > MUCH_ECHO && self.code == 0 { 2.5 } else { 0.0 };
        score
    }

    fn verdict(&self, score: f64, thresholds: &Thresholds) -> Result<Traits, CaptureRefusal> {
        let traits = Traits {
            code: self.code > 0,
            explanation: self.explains + self.findings + self.instructs > 0 || self.states >= 2,
            steps: self.steps >= 2,
            rule: false,
        };
        if thresholds.require_code_blocks && !traits.code {
            return Err(CaptureRefusal::NoCodeBlock);
        }
        if thresholds.require_explanations && !traits.explanation {
            return Err(CaptureRefusal::NoExplanation);
        }
        let any = traits.code || traits.explanation || traits.steps;
        let remains = self.substance() >= thresholds.min_answer_length as f64 * 0.6;
        if any && remains && score >= ENOUGH && self.noise_share() < 0.75 {
            return Ok(traits);
        }
        Err(self.reason(any))
    }

    /// Finds the reason to refuse the exchange: the kind of noise that there is most of or, where there is little
    /// noise, what is missing.
    fn reason(&self, any: bool) -> CaptureRefusal {
        let kinds = [
            (CaptureRefusal::Chat, self.mass(&[SentenceClass::Chat])),
            (CaptureRefusal::Refusal, 3.0 * self.mass(&[SentenceClass::Declines])),
            (CaptureRefusal::ClarifyingQuestion, self.mass(&[SentenceClass::AsksBack])),
            (CaptureRefusal::StatusReport, self.mass(&[SentenceClass::Reports])),
            (CaptureRefusal::Narration, self.mass(&[SentenceClass::Announces])),
            (CaptureRefusal::Plan, self.mass(&[SentenceClass::Plans]) * 2.0),
            (CaptureRefusal::Output, self.mass(&[SentenceClass::Output]) + self.output_mass),
            (CaptureRefusal::OneOff, self.mass(&[SentenceClass::OneOff])),
        ];
        let (reason, mass) =
            kinds.into_iter().max_by(|(_, a), (_, b)| a.total_cmp(b)).unwrap_or((CaptureRefusal::TooThin, 0.0));
        match () {
            () if self.asks(Cue::AskChat) && !self.asks(Cue::AskKnowledge) => CaptureRefusal::Chat,
            () if mass > 0.3 * self.substance() => reason,
            () if self.echo > MUCH_ECHO => CaptureRefusal::RestatesQuestion,
            () if self.asks(Cue::AskOneOff) => CaptureRefusal::OneOff,
            () if !any => CaptureRefusal::NothingToLearn,
            () => CaptureRefusal::TooThin,
        }
    }
}

/// The classes of sentences that no lesson holds.
const NOISE: [SentenceClass; 9] = [
    SentenceClass::Thin,
    SentenceClass::Chat,
    SentenceClass::Declines,
    SentenceClass::AsksBack,
    SentenceClass::Announces,
    SentenceClass::Plans,
    SentenceClass::Reports,
    SentenceClass::Output,
    SentenceClass::OneOff,
];

/// Tells whether an answer is prose that states a finding or gives advice, and nothing else: at least one sentence says
/// why, when, or what to do, and no sentence speaks of one person or of one day. Such an answer needs no word of
/// computing. The cues for persons and days are English, so this tells nothing of other languages.
fn is_finding(parts: &[AnalysedBlock]) -> bool {
    let (mut tells, mut is_english) = (false, false);
    for part in parts {
        let AnalysedBlock::Text(text, classes) = part else { return false };
        for (sentence, class) in text.sentences.iter().zip(classes) {
            let cues = Cues::of(sentence);
            let is_general = !cues.has(Cue::Personal) && !cues.has(Cue::Dated);
            if !class.is_substance() || !is_general || text.kind != TextKind::Paragraph {
                return false;
            }
            let has_reason = [Cue::Cause, Cue::Condition, Cue::Directive].iter().any(|cue| cues.has(*cue));
            tells |= class.is_knowledge() && has_reason;
            is_english |= cues.has(Cue::English);
        }
    }
    tells && is_english
}

/// Returns the first 400 bytes of a question. A long question says there what it asks, and the rest is what it is
/// about.
fn question_head(question: &str) -> &str {
    &question[..question.floor_char_boundary(400)]
}

/// Returns how much of an answer only repeats the question: the share of its content words, counted at each occurrence,
/// whose beginnings the question has. It is zero where there are too few words to say so.
fn echo(question: &str, answer: &str) -> f64 {
    let stems = |text: &str| -> Vec<String> {
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.chars().count() > 3);
        words.map(|word| word.chars().take(4).flat_map(char::to_lowercase).collect()).collect()
    };
    let asked: BTreeSet<String> = stems(question_head(question)).into_iter().collect();
    let said = stems(answer);
    let again = said.iter().filter(|stem| asked.contains(*stem)).count();
    if said.len() < 20 { 0.0 } else { again as f64 / said.len() as f64 }
}

/// Returns the share of numbers among the words of a text.
fn figures(text: &str) -> f64 {
    let is_number = |word: &&str| word.trim_start_matches(['(', '$', '€']).starts_with(|c: char| c.is_ascii_digit());
    let words = text.split_whitespace().count();
    text.split_whitespace().filter(is_number).count() as f64 / words.max(1) as f64
}
