//! Lists a page at a time. A page says in its `next` behind which of its things the next page begins.

use std::fmt::Display;

use reasoning_bank_domain::memory::check_range;

use crate::error::Error;

/// The most things on a page.
pub const MAX_LISTED: usize = 500;

/// Cuts a page out of a list that is there as a whole: at most `limit` things behind the one with the id `after`.
/// Returns them with the `after` of the next page, which is None on the last page.
///
/// # Errors
/// `InvalidArgument` for a limit that is not in 1..=500. `NotFound` where `after`, which the caller knows as a `what`,
/// is not on the list. Nothing is known of its place then, and no page may pass for the last one.
pub fn page_of<T, Id: PartialEq + Display>(
    mut all: Vec<T>,
    what: &str,
    id: impl Fn(&T) -> Id,
    after: Option<&Id>,
    limit: usize,
) -> Result<(Vec<T>, Option<Id>), Error> {
    check_range("limit", limit, 1..=MAX_LISTED)?;
    if let Some(after) = after {
        let place = all.iter().position(|one| id(one) == *after);
        let place = place.ok_or_else(|| Error::NotFound(format!("{what} {after} here; list again without `after`")))?;
        all.drain(..=place);
    }
    let next = cut_to(limit, &mut all).map(id);
    Ok((all, next))
}

/// Cuts what was read, which may be one more, to the length of a page. Returns the last one on the page, after which
/// the next page begins. None where there is no next page.
pub(crate) fn cut_to<T>(limit: usize, found: &mut Vec<T>) -> Option<&T> {
    let is_more = found.len() > limit;
    found.truncate(limit);
    found.last().filter(|_| is_more)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_follow_each_other_and_have_all_of_the_list() {
        let page = |after: Option<u32>, limit| page_of((1..=5).collect(), "number", |one| *one, after.as_ref(), limit);
        assert_eq!(page(None, 2).unwrap(), (vec![1, 2], Some(2)));
        assert_eq!(page(Some(2), 2).unwrap(), (vec![3, 4], Some(4)));
        assert_eq!(page(Some(4), 2).unwrap(), (vec![5], None));
        assert_eq!(page(None, 5).unwrap(), ((1..=5).collect(), None));
        assert_eq!(page(Some(5), 1).unwrap(), (vec![], None));
        assert!(matches!(page(Some(9), 1), Err(Error::NotFound(_))), "it is gone");
        for limit in [0, MAX_LISTED + 1] {
            assert!(page(None, limit).is_err(), "{limit}");
        }
    }
}
