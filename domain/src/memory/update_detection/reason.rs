//! Reasons: what a clause tells about why and since when something holds. It says nothing about the subject.

use super::lexicon;
use super::token::Token;

/// Splits words into those without reasons, and the words of the reasons: `because of the outage`, `since March`,
/// `after the review`, `as of version 2`.
pub(super) fn split(tokens: &[Token]) -> (Vec<Token>, Vec<Token>) {
    let (mut rest, mut reasons) = (Vec::with_capacity(tokens.len()), Vec::new());
    let mut at = 0;
    while at < tokens.len() {
        let end = reason(tokens, at).unwrap_or(at);
        if end > at {
            // A pause behind the reason now stands behind the word before it.
            if let Some(last) = rest.last_mut() {
                let last: &mut Token = last;
                last.pauses |= tokens[end - 1].pauses;
            }
            reasons.extend_from_slice(&tokens[at..end]);
            at = end;
        } else {
            rest.push(tokens[at].clone());
            at += 1;
        }
    }
    // A clause that consists of a reason alone is left as it is.
    if rest.is_empty() { (tokens.to_vec(), Vec::new()) } else { (rest, reasons) }
}

/// Returns the end of the reason that begins at `at`. None where no reason begins there.
fn reason(tokens: &[Token], at: usize) -> Option<usize> {
    let (token, next) = (&tokens[at], tokens.get(at + 1)?);
    let behind_pause = at > 0 && tokens[at - 1].pauses;
    let end = end(tokens, at);
    let is_occasion = || tokens[at..end].iter().any(|token| lexicon::is_occasion(&token.lower));
    let is_reason = match token.lower.as_str() {
        "because" | "since" | "thanks" => true,
        "given" => at == 0 || behind_pause,
        "due" | "owing" => next.lower == "to",
        // A version behind `as of` tells for what something holds.
        "as" if next.lower == "of" => {
            (at == 0 || end == tokens.len()) && !tokens.get(at + 2).is_some_and(|next| is_version(&next.lower))
        }
        "as" => behind_pause,
        "so" => at > 0 && (behind_pause || next.lower == "that" || lexicon::is_pronoun(&next.lower)),
        "after" | "following" | "with" => (at == 0 || end == tokens.len()) && is_occasion(),
        // What a rule is for: `need two approvals before they can be merged`.
        "before" => {
            let is_possible = tokens.get(at + 2).is_some_and(|token| matches!(&*token.lower, "can" | "may"));
            at > 0 && is_possible && matches!(&*next.lower, "they" | "it" | "you" | "we")
        }
        "effective" | "starting" | "beginning" => at == 0,
        _ => false,
    };
    (is_reason && !token.is_name).then_some(end)
}

fn is_version(word: &str) -> bool {
    word.contains('.') && word.trim_start_matches('v').starts_with(|c: char| c.is_ascii_digit())
}

/// Returns the end of a reason: behind the next pause, or before the words that begin the main clause.
fn end(tokens: &[Token], at: usize) -> usize {
    let rest = &tokens[at..];
    let pause = rest.iter().position(|token| token.pauses).map_or(rest.len(), |pause| pause + 1);
    let is_start = |token: &Token| lexicon::is_pronoun(&token.lower) || matches!(&*token.lower, "the" | "our");
    let start = (2..rest.len()).find(|place| {
        let before = &rest[place - 1].lower;
        is_start(&rest[*place])
            && !lexicon::is_preposition(before)
            && !lexicon::is_light_verb(before)
            && before != "and"
    });
    at + if at == 0 { pause.min(start.unwrap_or(rest.len())) } else { pause }
}
