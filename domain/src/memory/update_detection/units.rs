//! Units, number words and words for how often something happens.

/// The units of amounts: the kind of amount, the words for the unit, and how much of the base unit one is.
const UNITS: &[(&str, &str, f64)] = &[
    ("duration", "ms millisecond milliseconds msec", 0.001),
    ("duration", "s sec secs second seconds", 1.0),
    ("duration", "min mins minute minutes", 60.0),
    ("duration", "h hr hrs hour hours", 3_600.0),
    ("duration", "d day days", 86_400.0),
    ("duration", "week weeks", 604_800.0),
    ("duration", "month months", 2_629_800.0),
    ("duration", "year years", 31_557_600.0),
    ("size", "b byte bytes", 1.0),
    ("size", "kb kib kilobyte kilobytes", 1e3),
    ("size", "mb mib megabyte megabytes megs", 1e6),
    ("size", "gb gib gigabyte gigabytes gig gigs gi", 1e9),
    ("size", "tb tib terabyte terabytes", 1e12),
    ("share", "% percent", 1.0),
    ("money", "$ usd dollar dollars", 1.0),
    ("euro", "€ eur euro euros", 1.0),
    ("pound", "£ gbp pounds", 1.0),
];
const NUMBER_WORDS: &[(&str, &str)] = &[
    ("one", "1"),
    ("two", "2"),
    ("twice", "2"),
    ("three", "3"),
    ("four", "4"),
    ("five", "5"),
    ("six", "6"),
    ("seven", "7"),
    ("eight", "8"),
    ("nine", "9"),
    ("ten", "10"),
    ("eleven", "11"),
    ("twelve", "12"),
    ("thirteen", "13"),
    ("fourteen", "14"),
    ("fifteen", "15"),
    ("sixteen", "16"),
    ("seventeen", "17"),
    ("eighteen", "18"),
    ("nineteen", "19"),
    ("twenty", "20"),
    ("thirty", "30"),
    ("forty", "40"),
    ("fifty", "50"),
    ("sixty", "60"),
    ("seventy", "70"),
    ("eighty", "80"),
    ("ninety", "90"),
    ("hundred", "100"),
    ("thousand", "1000"),
    ("million", "1000000"),
    ("unlimited", "none"),
    ("infinite", "none"),
    ("half", "0.5"),
    ("zero", "0"),
];
const FREQUENCIES: &[(&str, f64, &str)] = &[
    ("hourly", 1.0, "hour"),
    ("daily", 1.0, "day"),
    ("weekly", 1.0, "week"),
    ("biweekly", 2.0, "week"),
    ("fortnightly", 2.0, "week"),
    ("monthly", 1.0, "month"),
    ("quarterly", 3.0, "month"),
    ("yearly", 1.0, "year"),
    ("annually", 1.0, "year"),
];

/// Returns the kind of amount that a unit measures, and how much of the base unit it is.
pub(super) fn unit(word: &str) -> Option<(&'static str, f64)> {
    UNITS
        .iter()
        .find(|(_, words, _)| words.split_whitespace().any(|unit| unit == word))
        .map(|(kind, _, size)| (*kind, *size))
}

pub(super) fn number_word(word: &str) -> Option<&'static str> {
    NUMBER_WORDS.iter().find(|(name, _)| *name == word).map(|(_, number)| *number)
}

/// Returns how often a word says that something happens: once in a number of a period.
pub(super) fn frequency(word: &str) -> Option<(f64, &'static str)> {
    FREQUENCIES.iter().find(|(name, ..)| *name == word).map(|(_, count, period)| (*count, *period))
}
