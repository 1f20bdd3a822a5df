//! The newest first of what speaks of the same thing, in a ranking by relevance: reordered, never hidden.

use std::cmp::Reverse;

use jiff::Timestamp;

use super::Statement;

/// Scores from this share of the best one on are near ties.
const NEAR_TIE: f64 = 0.8;

/// A result of a search, as far as its age counts.
#[derive(Debug, Clone, Copy)]
pub struct Placed<'a, Trust, Owner> {
    /// How well it matches; comparable within one ranking.
    pub score: f64,
    /// When it was said.
    pub at: Timestamp,
    pub trust: Trust,
    pub owner: Owner,
    pub statement: &'a Statement,
}

/// The order in which results are shown, and which of them newer ones outdate. Numbers are places in the ranking given.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NewestFirst {
    /// Each place once.
    pub order: Vec<usize>,
    /// For each place, the newest result that outdates it.
    pub outdated_by: Vec<Option<usize>>,
    /// For each place, the newest result that would outdate it, were that not of lower trust or of another owner.
    pub contested_by: Vec<Option<usize>>,
}

/// Orders results, given best first, newest first where they are linked or near ties about the same subject. `links` are
/// pairs of the place of a newer and of an older result, the newer of which updates the older.
///
/// A result moves only before what it outdates; what is outdated stays where it is.
pub fn newest_first<T: PartialOrd, O: PartialEq>(ranked: &[Placed<'_, T, O>], links: &[(usize, usize)]) -> NewestFirst {
    let count = ranked.len();
    let (mut precede, mut contest) = (vec![Vec::new(); count], vec![None::<usize>; count]);
    for (newer, older) in pairs(ranked, links) {
        let (new, old) = (&ranked[newer], &ranked[older]);
        if new.trust >= old.trust && new.owner == old.owner {
            precede[older].push(newer);
        } else if contest[older].is_none_or(|other| age(ranked, newer) < age(ranked, other)) {
            contest[older] = Some(newer);
        }
    }
    let mut shown =
        NewestFirst { order: Vec::with_capacity(count), outdated_by: vec![None; count], contested_by: contest };
    let mut is_placed = vec![false; count];
    for place in 0..count {
        let mut newer = reachable(&precede, place);
        newer.sort_by_key(|newer| age(ranked, *newer));
        shown.outdated_by[place] = newer.first().copied();
        for place in newer.into_iter().chain([place]) {
            if !std::mem::replace(&mut is_placed[place], true) {
                shown.order.push(place);
            }
        }
    }
    shown
}

/// The newest first; of the same age, the better one.
fn age<T, O>(ranked: &[Placed<'_, T, O>], place: usize) -> (Reverse<Timestamp>, usize) {
    (Reverse(ranked[place].at), place)
}

/// Pairs of a newer and an older place that speak of the same thing.
fn pairs<T, O>(ranked: &[Placed<'_, T, O>], links: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let is_newer = |newer: usize, older: usize| ranked[newer].at > ranked[older].at;
    let known =
        |(newer, older): &(usize, usize)| *newer < ranked.len() && *older < ranked.len() && is_newer(*newer, *older);
    let mut pairs: Vec<(usize, usize)> = links.iter().copied().filter(known).collect();
    let best = ranked.iter().map(|placed| placed.score).fold(0.0, f64::max);
    let near: Vec<usize> = (0..ranked.len()).filter(|place| ranked[*place].score >= NEAR_TIE * best).collect();
    for (at, a) in near.iter().enumerate() {
        for b in &near[at + 1..] {
            let (newer, older) = if is_newer(*a, *b) { (*a, *b) } else { (*b, *a) };
            if is_newer(newer, older) && super::same_subject(ranked[newer].statement, ranked[older].statement) {
                pairs.push((newer, older));
            }
        }
    }
    pairs
}

/// All places that come before one, directly or by others.
fn reachable(precede: &[Vec<usize>], from: usize) -> Vec<usize> {
    let (mut seen, mut open, mut all) = (vec![false; precede.len()], vec![from], Vec::new());
    seen[from] = true;
    while let Some(place) = open.pop() {
        for newer in &precede[place] {
            if !std::mem::replace(&mut seen[*newer], true) {
                all.push(*newer);
                open.push(*newer);
            }
        }
    }
    all
}
