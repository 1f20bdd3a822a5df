//! Words with a dot in them: names of tools such as `Fly.io` and `Next.js`, hosts such as `api.acme.example`, and files.

use super::tools;

/// Endings that the name of a tool or a firm may have.
const NAME_ENDINGS: [&str; 16] =
    ["js", "io", "com", "net", "org", "ai", "app", "dev", "so", "sh", "gg", "fm", "tv", "co", "cloud", "tech"];
/// Endings of hosts that nobody can register.
const HOST_ENDINGS: [&str; 5] = ["example", "internal", "localhost", "invalid", "intranet"];

/// Tells whether a word is the name of a tool or a firm: `Socket.IO`. A small letter tells of a file (`index.js`) or a
/// host, unless a tool has the name without the ending.
pub(super) fn is_name(text: &str) -> bool {
    let Some((stem, ending)) = text.rsplit_once('.') else { return false };
    let is_capital = stem.starts_with(char::is_uppercase);
    let is_plain = stem.len() > 1 && stem.chars().all(|c| c.is_alphanumeric() || c == '-');
    is_plain
        && NAME_ENDINGS.contains(&&*ending.to_lowercase())
        && (is_capital || tools::tool_kind(&stem.to_lowercase()).is_some())
}

/// Tells whether a word is a pattern of dates or times: `DD.MM.YYYY`, `hh:mm`.
pub(super) fn is_date_pattern(word: &str) -> bool {
    let groups: Vec<&str> = word.split(['.', '/', '-', ':', '_']).collect();
    let is_group = |group: &&str| {
        let first = group.chars().next().filter(|sign| "ymdhs".contains(sign.to_ascii_lowercase()));
        first.is_some_and(|first| group.len() > 1 && group.chars().all(|sign| sign == first))
    };
    groups.len() > 1 && groups.iter().all(is_group)
}

/// Returns a name, in small letters, without the ending that may be left out: `next.js`, and `fly.io` where the rest is
/// the name of a tool. What is left of another host is not its name.
pub(super) fn bare_name(word: &str) -> &str {
    let Some((stem, ending)) = word.rsplit_once('.').filter(|_| tools::tool_kind(word).is_none()) else { return word };
    let may_be_left_out = match ending {
        "js" => stem.len() > 1,
        _ => NAME_ENDINGS.contains(&ending) && tools::tool_kind(stem).is_some(),
    };
    if may_be_left_out { stem } else { word }
}

/// Tells whether a word is a host: its name has several parts or an ending that nobody can register.
pub(super) fn is_host(word: &str) -> bool {
    let ends = |(stem, ending): (&str, &str)| HOST_ENDINGS.contains(&ending) || stem.contains('.');
    !word.contains('/') && word.rsplit_once('.').is_some_and(ends)
}

/// Tells whether a word is a file or a host, which has the parts of its name between dots.
pub(super) fn is_file_or_host(word: &str) -> bool {
    let Some((stem, ending)) = word.rsplit_once('.').filter(|_| !word.contains('@')) else { return false };
    let is_host = is_host(word);
    let has_letter = stem.contains(|c: char| c.is_alphabetic());
    let longest = if is_host { 12 } else { 6 };
    let is_ending = (2..=longest).contains(&ending.len()) && ending.chars().all(|c| c.is_ascii_alphabetic());
    !stem.is_empty() && is_ending && (has_letter || !is_host)
}
