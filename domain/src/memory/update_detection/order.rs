//! The order of newest first. Results that speak of the same thing are reordered in a ranking by relevance, and none is
//! hidden.

use std::cmp::Reverse;

use jiff::Timestamp;

/// A result of a search, as far as its age counts.
#[derive(Debug, Clone, Copy)]
pub struct DatedResult<Trust, Owner> {
    /// The time when the result was said.
    pub at: Timestamp,
    pub trust: Trust,
    pub owner: Owner,
}

/// The order in which results are shown, and which of them newer ones outdate. Numbers are places in the given ranking.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NewestFirst {
    /// The places in the order in which they are shown, each once.
    pub order: Vec<usize>,
    /// The newest result that outdates the result at each place. None where nothing outdates it.
    pub outdated_by: Vec<Option<usize>>,
    /// The newest result that contradicts the result at each place, but is of lower trust or of another owner. None
    /// where there is no such result.
    pub contested_by: Vec<Option<usize>>,
}

/// Orders results, which are given best first, so that newer ones come first where they are linked. `links` are pairs
/// of the place of a newer and of an older result, the newer of which updates the older.
///
/// A result moves only before what it outdates. What is outdated stays where it is.
pub fn newest_first<T: PartialOrd, O: PartialEq>(
    ranked: &[DatedResult<T, O>],
    links: &[(usize, usize)],
) -> NewestFirst {
    let count = ranked.len();
    let (mut precede, mut contest) = (vec![Vec::new(); count], vec![None::<usize>; count]);
    let is_known =
        |(newer, older): &&(usize, usize)| *newer < count && *older < count && ranked[*newer].at > ranked[*older].at;
    for (newer, older) in links.iter().filter(is_known).copied() {
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
        // A result that outdates this one only through others may say nothing of it.
        shown.outdated_by[place] = precede[place].iter().copied().min_by_key(|newer| age(ranked, *newer));
        for place in newer.into_iter().chain([place]) {
            if !std::mem::replace(&mut is_placed[place], true) {
                shown.order.push(place);
            }
        }
    }
    shown
}

/// Returns the key that puts the newest first and, of the same age, the better one.
fn age<T, O>(ranked: &[DatedResult<T, O>], place: usize) -> (Reverse<Timestamp>, usize) {
    (Reverse(ranked[place].at), place)
}

/// Finds all places that come before one, directly or through others.
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
