//! A range of time as people write it: an instant, a day, or how long ago. The zone is UTC throughout.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, ToSpan};

/// A range of time as a caller writes it. Either end may be open.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TimeRange {
    /// The beginning: RFC 3339, a date (from its beginning), or how long ago: `7d`, `2w`, `3 hours`.
    pub since: Option<String>,
    /// The end, in the same forms. A date counts until its end.
    pub until: Option<String>,
}

/// The end of a range that is wrong, and what is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{end}: {problem}")]
pub struct BadRange {
    pub end: &'static str,
    pub problem: String,
}

impl TimeRange {
    /// Reads the range as two moments: it goes from the first on, and ends before the second.
    pub fn read(&self, now: Timestamp) -> Result<(Option<Timestamp>, Option<Timestamp>), BadRange> {
        let end = |end: &'static str, text: &Option<String>, of_day: Day| {
            let read = |text: &String| instant(text, of_day, now).ok_or_else(|| BadRange { end, problem: no_time() });
            text.as_ref().map(read).transpose()
        };
        let (since, until) = (end("since", &self.since, Day::Begins)?, end("until", &self.until, Day::Ends)?);
        match (since, until) {
            (Some(since), Some(until)) if until <= since => {
                let problem = format!("{until} is not after since, {since}; swap the two, or leave one of them out");
                Err(BadRange { end: "until", problem })
            }
            ends => Ok(ends),
        }
    }
}

/// Reads a moment as people write it: RFC 3339, a date (its beginning), or how long ago.
///
/// # Errors
///
/// The text is no moment. The error says so in words that follow a field's name.
pub fn moment(text: &str, now: Timestamp) -> Result<Timestamp, String> {
    instant(text, Day::Begins, now).ok_or_else(no_time)
}

/// Returns the problem in words. They do not repeat what the caller wrote, which may be anything.
fn no_time() -> String {
    "is no time; it is RFC 3339 (2026-11-20T09:30:00Z), a date (2026-11-20) or how long ago (12h, 7d, 2w)".into()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Day {
    Begins,
    Ends,
}

fn instant(text: &str, of_day: Day, now: Timestamp) -> Option<Timestamp> {
    let text = text.trim();
    if let Ok(instant) = text.parse() {
        return Some(instant);
    }
    if let Ok(written) = text.parse::<DateTime>() {
        let is_day = !text.contains(':');
        let ends = is_day && of_day == Day::Ends;
        let written = if ends { written.checked_add(1.day()).ok()? } else { written };
        return Some(written.to_zoned(TimeZone::UTC).ok()?.timestamp());
    }
    let ago = text.parse::<Span>().ok()?.abs();
    Some(now.to_zoned(TimeZone::UTC).checked_sub(ago).ok()?.timestamp())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;
    use crate::memory::samples::now;

    fn range(since: &str, until: &str) -> TimeRange {
        let end = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        TimeRange { since: end(since), until: end(until) }
    }

    #[rstest]
    #[case("2026-11-18T10:30:00Z", "2026-11-18T10:30:00Z")]
    #[case("2026-11-18T10:30:00+02:00", "2026-11-18T08:30:00Z")]
    #[case(" 2026-11-18T10:30:00 ", "2026-11-18T10:30:00Z")]
    #[case("2026-11-18 10:30", "2026-11-18T10:30:00Z")]
    #[case("2026-11-18", "2026-11-18T00:00:00Z")]
    #[case("7d", "2026-11-13T12:00:00Z")]
    #[case("7d ago", "2026-11-13T12:00:00Z")]
    #[case("-7d", "2026-11-13T12:00:00Z")]
    #[case("2w", "2026-11-06T12:00:00Z")]
    #[case("2 weeks", "2026-11-06T12:00:00Z")]
    #[case("36h", "2026-11-19T00:00:00Z")]
    #[case("1mo", "2026-10-20T12:00:00Z")]
    #[case("1y", "2025-11-20T12:00:00Z")]
    #[case("P1W", "2026-11-13T12:00:00Z")]
    #[case("0d", "2026-11-20T12:00:00Z")]
    fn a_time_is_written_in_many_ways(#[case] text: &str, #[case] instant: &str) {
        assert_eq!(range(text, "").read(now()).unwrap(), (Some(instant.parse().unwrap()), None));
    }

    #[test]
    fn a_date_is_the_whole_day() {
        let (since, until) = range("2026-11-18", "2026-11-18").read(now()).unwrap();
        assert_eq!(since, Some("2026-11-18T00:00:00Z".parse().unwrap()));
        assert_eq!(until, Some("2026-11-19T00:00:00Z".parse().unwrap()));
        let exact = range("", "2026-11-18T00:00").read(now()).unwrap();
        assert_eq!(exact, (None, Some("2026-11-18T00:00:00Z".parse().unwrap())));
    }

    #[rstest]
    #[case("yesterday", "", "since")]
    #[case("", "2026-13-01", "until")]
    #[case("7", "", "since")]
    #[case("", "  ", "until")]
    #[case("99999999999y", "", "since")]
    #[case("1d", "2d", "until")]
    #[case("2026-11-18T10:00:00Z", "2026-11-18T10:00:00Z", "until")]
    fn what_is_no_range_is_refused_with_its_end(#[case] since: &str, #[case] until: &str, #[case] end: &str) {
        assert_eq!(range(since, until).read(now()).unwrap_err().end, end);
    }

    #[test]
    fn a_range_that_ends_before_it_begins_is_refused_with_both_ends() {
        assert_eq!(
            range("2026-11-18", "2026-11-16").read(now()).unwrap_err().to_string(),
            "until: 2026-11-17T00:00:00Z is not after since, 2026-11-18T00:00:00Z; swap the two, or leave one of them out"
        );
    }

    proptest! {
        #[test]
        fn any_text_is_a_time_or_is_refused_without_being_repeated(text in "\\PC{1,40}") {
            if let Err(error) = range(&text, "").read(now()) {
                prop_assert_eq!(error.problem, no_time());
            }
        }
    }
}
