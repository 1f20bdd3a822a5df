//! The marks that Git leaves in a file where two branches changed the same lines. Whoever resolves such a conflict takes
//! lines away, and would take away what was filed between the marks.

use super::pieces::{ends_fence, fence_of};

const BEGIN: &str = "<<<<<<<";
const END: &str = ">>>>>>>";

/// Says whether a text has a conflict of Git that is not resolved. In code the marks may be an example.
pub fn has_conflict(text: &str) -> bool {
    let is_mark = |line: &str, mark: &str| {
        line.strip_prefix(mark).is_some_and(|rest| matches!(rest.chars().next(), None | Some(' ')))
    };
    let mut fence: Option<String> = None;
    let mut begun = false;
    for line in text.lines().map(str::trim_end) {
        if begun {
            if is_mark(line, END) {
                return true;
            }
            continue;
        }
        fence = match fence {
            Some(mark) => Some(mark).filter(|mark| !ends_fence(line, mark)),
            None => fence_of(line),
        };
        begun = fence.is_none() && is_mark(line, BEGIN);
    }
    false
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("# A\n\n<<<<<<< HEAD\n- a\n=======\n- b\n>>>>>>> other\n", true)]
    #[case("<<<<<<< HEAD\r\n```sh\r\n=======\r\n>>>>>>> other\r\n", true)]
    #[case("# A\n\n```\n<<<<<<< HEAD\n=======\n>>>>>>> other\n```\n", false)]
    #[case("- Git writes <<<<<<< and >>>>>>> into a file\n", false)]
    #[case("Title\n=======\n\n>>>>>>> quoted\n", false)]
    #[case("<<<<<<< HEAD\n", false)]
    #[case("  <<<<<<< HEAD\n  >>>>>>> other\n", false)]
    fn marks_at_the_beginning_of_lines_are_a_conflict_unless_they_are_code(#[case] text: &str, #[case] is_one: bool) {
        assert_eq!(has_conflict(text), is_one, "{text:?}");
    }
}
