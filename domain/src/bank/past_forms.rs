//! The past forms of English verbs.

/// Forms of verbs that stemming does not bring together.
const PAST_FORMS: [(&str, &str); 36] = [
    ("became", "become"),
    ("began", "begin"),
    ("bought", "buy"),
    ("brought", "bring"),
    ("built", "build"),
    ("came", "come"),
    ("chose", "choose"),
    ("chosen", "choose"),
    ("drawn", "draw"),
    ("drew", "draw"),
    ("found", "find"),
    ("gave", "give"),
    ("given", "give"),
    ("got", "get"),
    ("held", "hold"),
    ("hid", "hide"),
    ("hidden", "hide"),
    ("kept", "keep"),
    ("left", "leave"),
    ("lost", "lose"),
    ("made", "make"),
    ("met", "meet"),
    ("paid", "pay"),
    ("ran", "run"),
    ("rebuilt", "rebuild"),
    ("rewritten", "rewrite"),
    ("rewrote", "rewrite"),
    ("said", "say"),
    ("sent", "send"),
    ("taken", "take"),
    ("told", "tell"),
    ("took", "take"),
    ("went", "go"),
    ("won", "win"),
    ("written", "write"),
    ("wrote", "write"),
];

/// Returns the base form of a verb whose past form is irregular, and any other word as it is.
pub(super) fn base_form(word: &str) -> &str {
    PAST_FORMS.iter().find(|(past, _)| *past == word).map_or(word, |(_, base)| base)
}

/// Says whether a word in lower case is the past form of a verb by its end, or an irregular one.
pub(super) fn is_past_form(word: &str) -> bool {
    let is_regular = word.len() > 3 && word.ends_with("ed") && (!word.ends_with("eed") || word == "agreed");
    is_regular || base_form(word) != word
}
