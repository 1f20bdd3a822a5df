//! The values of a clause: what is said of its subject, each with the kind of value it is.

use std::collections::BTreeSet;

use super::calendar;
use super::dotted;
use super::lexicon;
use super::token::Token;
use super::tools;
use super::units;

/// The thing that a number counts where it says how often something is done.
const TIMES: &str = "times";

/// The quotient of 1,024 and 1,000.
const SIZE_TOLERANCE: f64 = 1.024;

/// The kind of a value. Only values of one kind take each other's place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ValueKind {
    /// A number without a unit, or a version.
    Number,
    /// An amount of one dimension with a unit, such as seconds, bytes, percent, dollars.
    Amount(&'static str),
    /// A date, a part of one, or a day of the week.
    Date,
    /// A time of day.
    Time,
    /// A frequency: the time from one event to the next.
    Frequency,
    /// A path or an address.
    Path,
    /// The name of a person, a place, a tool, or a symbol of a program.
    Name,
    /// Any other words.
    Phrase,
}

impl ValueKind {
    /// Returns the noun for values of this kind.
    pub(super) fn noun(self) -> &'static str {
        match self {
            Self::Number => "number",
            Self::Amount("euro" | "pound" | "money") => "money",
            Self::Amount(kind) => kind,
            Self::Date => "date",
            Self::Time => "time",
            Self::Frequency => "duration",
            Self::Path => "path",
            Self::Name | Self::Phrase => "name",
        }
    }
}

/// A value in one spelling: the set of the words it consists of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ClauseValue {
    pub kind: ValueKind,
    pub words: BTreeSet<String>,
    /// The word beside a number that tells what it counts: `port`, `replica`.
    pub of: Option<String>,
}

impl ClauseValue {
    pub(super) fn new(kind: ValueKind, words: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { kind, words: words.into_iter().map(Into::into).collect(), of: None }
    }

    /// Tells whether one says what the other says, or part of it.
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        self.words.is_subset(&other.words) || other.words.is_subset(&self.words) || self.is_same_size(other)
    }

    /// Tells whether both are one size, counted in thousands or in 1,024s.
    fn is_same_size(&self, other: &Self) -> bool {
        let size = |value: &Self| value.words.first().and_then(|word| word.parse::<f64>().ok());
        self.kind == ValueKind::Amount("size")
            && self.kind == other.kind
            && size(self).zip(size(other)).is_some_and(|(a, b)| a.max(b) <= a.min(b) * SIZE_TOLERANCE)
    }

    /// Reads a duration as how often something happens.
    pub(super) fn recur(&mut self) {
        if self.kind == ValueKind::Amount("duration") {
            self.kind = ValueKind::Frequency;
        }
    }

    /// Tells whether it may be an hour: `at 6`.
    pub(super) fn is_hour(&self) -> bool {
        let hour = self.words.first().filter(|word| word.len() <= 2).and_then(|word| word.parse::<u32>().ok());
        self.kind == ValueKind::Number && self.of.is_none() && hour.is_some_and(|hour| hour <= 24)
    }

    /// Tells whether it and another value of the same clause tell one thing together: a day and an hour, two ends.
    pub(super) fn belongs_to(&self, other: &Self) -> bool {
        let is_when = |value: &Self| value.is_time() || value.kind == ValueKind::Date;
        let is_amount = matches!(self.kind, ValueKind::Amount(_) | ValueKind::Frequency);
        (is_when(self) && is_when(other)) || (is_amount && self.kind == other.kind)
    }

    /// Tells whether a value of another clause takes its place.
    pub(super) fn changes_with(&self, other: &Self) -> bool {
        let are_times = self.is_time() && other.is_time();
        (are_times || (self.may_replace(other) && !self.is_time() && !other.is_time())) && !self.overlaps(other)
    }

    /// Tells whether it is one day of a month, and not a day of the week or a longer time.
    pub(super) fn names_a_day(&self) -> bool {
        let has = |sign: char| self.words.iter().any(|word| word.starts_with(sign));
        self.kind == ValueKind::Date && has('d') && has('m')
    }

    fn is_time(&self) -> bool {
        self.kind == ValueKind::Time || self.is_hour()
    }

    /// Tells whether it is written as commands, files and names of symbols are.
    pub(super) fn is_written_name(&self) -> bool {
        let is_place = |word: &String| !word.starts_with(|c: char| c.is_ascii_digit()) && !dotted::is_host(word);
        self.kind == ValueKind::Name || (self.kind == ValueKind::Path && self.words.iter().any(is_place))
    }

    /// Tells whether one may stand in the place of the other, and says something else.
    pub(super) fn may_replace(&self, other: &Self) -> bool {
        let counts_any = |value: &Self| value.of.as_deref().is_none_or(|of| of == TIMES);
        let counts_same = counts_any(self) || counts_any(other) || self.of == other.of;
        self.kind == other.kind && counts_same && !self.overlaps(other)
    }
}

/// Reads the value that begins at `at`, and returns it with the number of words it takes. Plain words and names are no
/// such values.
pub(super) fn typed(tokens: &[Token], at: usize) -> Option<(ClauseValue, usize)> {
    let token = tokens.get(at)?;
    let next = tokens.get(at + 1).filter(|_| !token.pauses && !token.separates);
    date(tokens, at)
        .or_else(|| frequency(tokens, at))
        .or_else(|| time(token, next))
        .or_else(|| standard(token, next?))
        .or_else(|| spoken_time(tokens, at))
        .or_else(|| amount(tokens, at))
        .or_else(|| path(token).map(|value| (value, 1)))
}

fn date(tokens: &[Token], at: usize) -> Option<(ClauseValue, usize)> {
    let day = |token: Option<&Token>| {
        let digits = token?.lower.trim_end_matches(|c: char| c.is_alphabetic()).to_owned();
        let day: u32 = digits.parse().ok()?;
        (1..=31).contains(&day).then(|| format!("d{day}"))
    };
    let year = |token: Option<&Token>| {
        let year = token?.lower.parse::<u32>().ok().filter(|year| (1900..2100).contains(year))?;
        Some(format!("y{year}"))
    };
    let token = &tokens[at];
    let is_ordinal =
        matches!(&*token.lower, "first" | "second" | "third" | "fourth" | "last" | "1st" | "2nd" | "3rd" | "4th");
    if let Some(day) = tokens.get(at + 1).filter(|_| is_ordinal).and_then(|next| calendar::weekday(&next.lower)) {
        let behind: Vec<&str> = tokens[at + 2..].iter().take(3).map(|token| &*token.lower).collect();
        let taken = match behind[..] {
            ["of", "the" | "each" | "every" | "a", "month"] => 5,
            _ => 2,
        };
        return Some((ClauseValue::new(ValueKind::Date, [format!("w{day}"), token.lower.clone()]), taken));
    }
    let capital = token.text.starts_with(char::is_uppercase);
    if let Some(day) = calendar::weekday(&token.lower).filter(|_| capital || token.lower.len() > 3) {
        return Some((ClauseValue::new(ValueKind::Date, [format!("w{day}")]), 1));
    }
    let parts: Vec<&str> = token.lower.split('-').collect();
    if let [y, m, d] = parts[..]
        && y.len() == 4
        && let (Ok(y), Ok(m), Ok(d)) = (y.parse::<u32>(), m.parse::<u32>(), d.parse::<u32>())
    {
        return Some((ClauseValue::new(ValueKind::Date, [format!("y{y}"), format!("m{m}"), format!("d{d}")]), 1));
    }
    if let (Some(quarter), year) = (lower_quarter(&token.lower), year(tokens.get(at + 1))) {
        let taken = 1 + usize::from(year.is_some());
        return Some((ClauseValue::new(ValueKind::Date, [Some(quarter), year].into_iter().flatten()), taken));
    }
    // Dates are `12 May 2025`, `May 12`, `May 2025` and `May`. A small `may` or `march` is a verb.
    let month = |token: Option<&Token>| {
        let token = token?;
        let capital = token.text.starts_with(char::is_uppercase);
        capital.then(|| calendar::month(&token.lower)).flatten().map(|month| format!("m{month}"))
    };
    let (mut words, mut taken) = (Vec::new(), 0);
    if let Some((day, (month, behind))) = day(Some(token)).zip(foreign_month(tokens, at + 1)) {
        words.extend([day, month]);
        taken = 1 + behind;
    } else if let (Some(day), Some(month)) = (day(Some(token)), month(tokens.get(at + 1))) {
        words.extend([day, month]);
        taken = 2;
    } else if let Some(month) = month(Some(token)) {
        words.push(month);
        taken = 1;
        if let Some(day) = day(tokens.get(at + 1)) {
            words.push(day);
            taken = 2;
        }
    }
    if taken > 0 {
        if let Some(year) = year(tokens.get(at + taken)) {
            words.push(year);
            taken += 1;
        }
        return Some((ClauseValue::new(ValueKind::Date, words), taken));
    }
    let before = at.checked_sub(1).map(|at| tokens[at].lower.as_str());
    let is_year =
        before.is_some_and(|before| ["in", "since", "until", "by", "during", "of", "from", "around"].contains(&before));
    year(Some(token)).filter(|_| is_year).map(|year| (ClauseValue::new(ValueKind::Date, [year]), 1))
}

/// Reads the name of a month in another language, and returns it with the number of words: `mai`, `de mayo`.
fn foreign_month(tokens: &[Token], at: usize) -> Option<(String, usize)> {
    let taken = 1 + usize::from(tokens.get(at)?.lower == "de");
    let month = calendar::foreign_month(&tokens.get(at + taken - 1)?.lower)?;
    Some((format!("m{month}"), taken))
}

fn lower_quarter(word: &str) -> Option<String> {
    matches!(word, "q1" | "q2" | "q3" | "q4").then(|| word.to_owned())
}

/// Reads how often something happens. The value is the time between, where that is an amount, or else the day.
fn frequency(tokens: &[Token], at: usize) -> Option<(ClauseValue, usize)> {
    let word = tokens[at].lower.as_str();
    let every = |count: f64, period: &str| -> Option<ClauseValue> {
        if let Some(day) = calendar::weekday(period) {
            let words = (count != 1.0).then(|| count.to_string()).into_iter().chain([format!("w{day}")]);
            return Some(ClauseValue::new(ValueKind::Date, words));
        }
        let length = match period {
            "night" | "morning" | "evening" => units::unit("day"),
            "fortnight" => units::unit("week").map(|(kind, length)| (kind, 2.0 * length)),
            "quarter" => units::unit("month").map(|(kind, length)| (kind, 3.0 * length)),
            _ => units::unit(period),
        };
        let (_, length) = length.filter(|(kind, _)| *kind == "duration")?;
        Some(ClauseValue::new(ValueKind::Frequency, [(count * length).to_string()]))
    };
    if let Some((count, period)) = units::frequency(word) {
        return Some((every(count, period)?, 1));
    }
    let period = |offset: usize| tokens.get(at + offset).map(|token| token.lower.as_str());
    let next = period(1)?;
    match word {
        "every" if next == "second" && period(2).is_some_and(|period| every(2.0, period).is_some()) => {
            Some((every(2.0, period(2)?)?, 3))
        }
        "every" | "each" if every(1.0, next).is_some() => Some((every(1.0, next)?, 2)),
        "every" if next == "other" => Some((every(2.0, period(2)?)?, 3)),
        "every" => Some((every(number(next)?.parse().ok()?, period(2)?)?, 3)),
        "once" | "twice" if matches!(next, "a" | "per" | "every") => {
            Some((every(if word == "once" { 1.0 } else { 0.5 }, period(2)?)?, 3))
        }
        _ => None,
    }
}

fn time(token: &Token, next: Option<&Token>) -> Option<(ClauseValue, usize)> {
    let word = token.lower.as_str();
    let at = |hour: u32, minute: u32| ClauseValue::new(ValueKind::Time, [format!("{hour}:{minute:02}")]);
    let half = |word: &str| match word {
        "am" | "a.m" => Some(0),
        "pm" | "p.m" => Some(12),
        _ => None,
    };
    match word {
        "noon" => return Some((at(12, 0), 1)),
        "midnight" => return Some((at(0, 0), 1)),
        _ => {}
    }
    let digits = word.trim_end_matches(|c: char| c.is_alphabetic());
    let behind = &word[digits.len()..];
    let following = next.and_then(|next| half(&next.lower));
    let added = if behind.is_empty() { following } else { half(behind) };
    let has_clock = next.is_some_and(|next| next.lower == "uhr");
    let (hour, minute) = match digits.split_once(':') {
        Some((hour, minute)) if behind.is_empty() || added.is_some() => (hour.parse().ok()?, minute.parse().ok()?),
        None if added.is_some() || (has_clock && behind.is_empty()) => (digits.parse::<u32>().ok()?, 0),
        _ => return None,
    };
    if hour > 24 || minute > 59 {
        return None;
    }
    let taken = 1 + usize::from(behind.is_empty() && (following.is_some() || has_clock));
    Some((at(hour % 12 + added.unwrap_or(if hour >= 12 { 12 } else { 0 }), minute), taken))
}

/// Reads the name of a standard, which ends with its number: `ISO 8601`.
fn standard(token: &Token, number: &Token) -> Option<(ClauseValue, usize)> {
    let is_body =
        matches!(&*token.text, "ISO" | "RFC" | "IEEE" | "IEC" | "DIN" | "EN" | "ANSI" | "PEP" | "ECMA" | "NIST");
    let is_number = number.lower.starts_with(|c: char| c.is_ascii_digit());
    let words = || [token.lower.clone(), number.lower.clone()];
    (is_body && is_number).then(|| (ClauseValue::new(ValueKind::Name, words()), 2))
}

/// Reads a time of day in words: `half past ten`, `quarter to nine`, `eight o'clock`, `seven in the morning`.
fn spoken_time(tokens: &[Token], at: usize) -> Option<(ClauseValue, usize)> {
    let word = |offset: usize| tokens.get(at + offset).map_or("", |token| token.lower.as_str());
    let hour = |offset: usize| number(word(offset))?.parse::<u32>().ok().filter(|hour| *hour <= 24);
    let (minutes, from) = match (word(0), word(1)) {
        ("half", "past") => (30, 2),
        ("quarter", "past") => (15, 2),
        ("quarter", "to") => (-15, 2),
        _ => (0, 0),
    };
    let hour = hour(from)?;
    let mut taken = from + 1;
    let has_clock = word(taken) == "o'clock";
    taken += usize::from(has_clock);
    let (half, has_part) = match (word(taken), word(taken + 1), word(taken + 2)) {
        ("in", "the", "morning") => (0, true),
        ("in", "the", "afternoon" | "evening") | ("at", "night", _) => (12, true),
        _ => (if hour >= 12 { 12 } else { 0 }, false),
    };
    let minute = i64::from(hour % 12 + half) * 60 + minutes;
    // A thing that happens in the morning may happen in the evening, too, so the part of the day stays.
    (from > 0 || has_clock || has_part)
        .then(|| (ClauseValue::new(ValueKind::Time, [format!("{}:{:02}", minute / 60, minute.rem_euclid(60))]), taken))
}

/// Reads a number with its unit, where it has one, and with the period it is counted by: `100 requests per minute`.
fn amount(tokens: &[Token], at: usize) -> Option<(ClauseValue, usize)> {
    let token = &tokens[at];
    let word = token.lower.as_str();
    let sign = word.chars().next().filter(|sign| "$€£".contains(*sign));
    let digits_from = sign.map_or(0, char::len_utf8);
    let rest = &word[digits_from..];
    let digits = rest.trim_end_matches(|c: char| c.is_alphabetic() || c == '%' || c == '€' || c == '$');
    let behind = &rest[digits.len()..];
    if let Some(one) = one_unit(tokens, at) {
        return Some(one);
    }
    let (digits, behind) = if digits.is_empty() { (number(rest)?, "") } else { (number(digits)?, behind) };
    let next = tokens.get(at + 1).filter(|_| !token.pauses && !token.separates);
    let amount =
        |size: f64| digits.parse::<f64>().map_or_else(|_| digits.clone(), |number| (number * size).to_string());
    let mut money = String::new();
    if let Some(sign) = sign {
        money.push(sign);
        let size = match behind {
            "k" => 1e3,
            "m" => 1e6,
            "" => 1.0,
            _ => return None,
        };
        let (kind, _) = units::unit(&money)?;
        let (rate, taken) = rate(tokens, at + 1);
        return Some((ClauseValue::new(ValueKind::Amount(kind), [amount(size) + &rate]), 1 + taken));
    }
    if let Some((kind, size)) = units::unit(behind).filter(|_| !behind.is_empty()) {
        let (rate, taken) = rate(tokens, at + 1);
        return Some((ClauseValue::new(ValueKind::Amount(kind), [amount(size) + &rate]), 1 + taken));
    }
    let number = match behind {
        "" => digits.clone(),
        "k" => amount(1e3),
        "x" | "th" | "nd" | "rd" | "st" | "px" | "m" | "km" | "kg" | "g" | "cm" | "pt" | "vcpu" | "qps" | "rps" => {
            digits.clone() + behind
        }
        _ => return None,
    };
    if !behind.is_empty() {
        return Some((ClauseValue::new(ValueKind::Number, [number]), 1));
    }
    if let Some((kind, size)) = next.and_then(|next| units::unit(&next.lower)) {
        let (rate, taken) = rate(tokens, at + 2);
        return Some((ClauseValue::new(ValueKind::Amount(kind), [amount(size) + &rate]), 2 + taken));
    }
    let mut value = ClauseValue::new(ValueKind::Number, [number]);
    let has_times = next.is_some_and(|next| next.lower == "times");
    if has_times || word == "twice" {
        value.of = Some(TIMES.to_owned());
        return Some((value, 1 + usize::from(has_times)));
    }
    let is_plain = |token: &&Token| {
        !lexicon::is_filler(&token.lower)
            && !lexicon::is_preposition(&token.lower)
            && !lexicon::is_light_verb(&token.lower)
            && !lexicon::is_condition(&token.lower)
            && !token.is_name
            && token.lower.chars().all(char::is_alphabetic)
    };
    value.of = next.filter(is_plain).map(|next| lexicon::canonical(&next.lower));
    Some((value, 1))
}

/// Reads `an hour`, where nothing else is counted by it, and `half an hour`.
fn one_unit(tokens: &[Token], at: usize) -> Option<(ClauseValue, usize)> {
    let is_half = tokens[at].lower == "half";
    let article = tokens.get(at + usize::from(is_half)).filter(|article| matches!(&*article.lower, "a" | "an"))?;
    let (kind, size) = tokens.get(at + 1 + usize::from(is_half)).and_then(|unit| units::unit(&unit.lower))?;
    let before = &at.checked_sub(1).map(|before| &tokens[before])?.lower;
    let stands_alone =
        lexicon::is_preposition(before) || lexicon::is_light_verb(before) || lexicon::is_content_verb(before);
    let size = if is_half { size / 2.0 } else { size };
    let taken = 2 + usize::from(is_half);
    let is_counted = kind == "duration" || (kind == "share" && is_half);
    (is_counted && !article.pauses && (is_half || (stands_alone && before != "per")))
        .then(|| (ClauseValue::new(ValueKind::Amount(kind), [size.to_string()]), taken))
}

/// Reads what an amount is counted by, and returns it with the number of words that say so.
fn rate(tokens: &[Token], at: usize) -> (String, usize) {
    let Some(word) = tokens.get(at).map(|token| token.lower.as_str()) else { return (String::new(), 0) };
    let per = matches!(word, "per" | "a" | "an" | "each");
    match tokens.get(at + 1).filter(|_| per).and_then(|token| units::unit(&token.lower).map(|(_, size)| size)) {
        Some(size) => (format!("/{size}"), 2),
        None => (String::new(), 0),
    }
}

/// Returns a number or a version in one spelling. None for a word that is neither.
fn number(word: &str) -> Option<String> {
    if let Some(number) = units::number_word(word) {
        return Some(number.to_owned());
    }
    let bare = word.strip_prefix('v').unwrap_or(word).trim_start_matches(['~', '+', '<', '>', '≤', '≥', '=', '^']);
    let begins = bare.strip_prefix('-').unwrap_or(bare).starts_with(|c: char| c.is_ascii_digit());
    if !begins || !bare.chars().all(|c| c.is_ascii_digit() || ".,_-–x".contains(c)) {
        return None;
    }
    let plain: String = bare.chars().filter(|c| !",_".contains(*c)).collect();
    Some(plain.trim_end_matches(".x").to_owned())
}

fn path(token: &Token) -> Option<ClauseValue> {
    let word = token.lower.as_str();
    if tools::tool_kind(word).is_some() || dotted::is_name(&token.text) || dotted::is_date_pattern(&token.text) {
        return None;
    }
    let is_known = matches!(word, "ci/cd" | "and/or" | "tcp/ip" | "i/o" | "n/a" | "on/off" | "w/o" | "read/write");
    let is_path = (word.contains('/') && !is_known) || dotted::is_file_or_host(word) || word.contains("://");
    is_path.then(|| ClauseValue::new(ValueKind::Path, [token.text.trim_end_matches('/')]))
}
