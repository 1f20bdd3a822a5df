//! Days of the week and months, in English and in four other languages.

/// The days of the week from Monday on, each in English, German, French, Spanish and Italian.
const WEEKDAYS: [&str; 7] = [
    "monday montag lundi lunes lunedì",
    "tuesday dienstag mardi martes martedì",
    "wednesday mittwoch mercredi miércoles mercoledì",
    "thursday donnerstag jeudi jueves giovedì",
    "friday freitag vendredi viernes venerdì",
    "saturday samstag samedi sábado sabato",
    "sunday sonntag dimanche domingo domenica",
];
const MONTHS: &str = "january february march april may june july august september october november december";
/// The months in German, French, Spanish and Italian. Some of them are other words in English.
const FOREIGN_MONTHS: [&str; 12] = [
    "januar janvier enero gennaio",
    "februar février febrero febbraio",
    "märz mars marzo",
    "april avril abril aprile",
    "mai mayo maggio",
    "juni juin junio giugno",
    "juli juillet julio luglio",
    "august août agosto",
    "september septembre septiembre settembre",
    "oktober octobre octubre ottobre",
    "november novembre noviembre",
    "dezember décembre diciembre dicembre",
];

/// Returns the number of a month from 1, by its English name or the first three letters of it.
pub(super) fn month(word: &str) -> Option<usize> {
    MONTHS.split_whitespace().position(|name| is_name(name, word)).map(|at| at + 1)
}

/// Returns the number of a month from 1, by its name in another language.
pub(super) fn foreign_month(word: &str) -> Option<usize> {
    FOREIGN_MONTHS.iter().position(|names| names.split_whitespace().any(|name| name == word)).map(|at| at + 1)
}

/// Returns the number of a day of the week from 0, by its name, its plural or the first three letters of its English
/// name.
pub(super) fn weekday(word: &str) -> Option<usize> {
    let of = |word: &str| {
        WEEKDAYS.iter().position(|names| {
            let mut names = names.split_whitespace();
            names.next().is_some_and(|english| is_name(english, word)) || names.any(|name| name == word)
        })
    };
    of(word).or_else(|| of(word.strip_suffix('s').filter(|day| day.len() > 3)?))
}

fn is_name(name: &str, word: &str) -> bool {
    name == word || (word.len() == 3 && name.starts_with(word))
}
