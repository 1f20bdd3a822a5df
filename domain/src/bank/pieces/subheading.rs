//! Headings that people and agents write as lines of a paragraph: bold lines such as `**Done**`, and labels such as
//! `Blockers:` above a paragraph.

use super::PieceForm;
use crate::bank::signs::heading_of;

/// A bold line of more words is a sentence.
const TITLE_MAX_WORDS: usize = 6;

/// Returns the title of a line that is nothing but bold and has something below it: it names a category, or a list
/// follows.
pub(super) fn bold_title(form: PieceForm, text: &str, next: Option<PieceForm>) -> Option<String> {
    let next = next.filter(|_| form == PieceForm::Paragraph && !text.contains('\n'))?;
    let line = text.trim().trim_end_matches(':').trim_end();
    let (mark, from) = ["**", "__"].into_iter().filter_map(|mark| Some((mark, line.find(mark)?))).next()?;
    let inner = line[from..].strip_prefix(mark)?.strip_suffix(mark)?;
    let title = inner.trim().trim_end_matches(':').trim_end();
    let is_of_signs = |around: &str| !around.contains(char::is_alphanumeric);
    let is_title = is_of_signs(&line[..from])
        && title.contains(char::is_alphanumeric)
        && !inner.contains(mark)
        && !title.contains(':')
        && !title.ends_with(['.', '!', '?'])
        && title.split_whitespace().count() <= TITLE_MAX_WORDS;
    (is_title && (heading_of(title).is_some() || next.is_item())).then(|| title.to_owned())
}

/// Says whether a line introduces what follows: a list, or a paragraph below the name of a category.
pub(super) fn introduces(text: &str, next: Option<PieceForm>) -> bool {
    let is_label = || !text.contains('\n') && heading_of(text).is_some();
    text.ends_with(':') && next.is_some_and(|next| next.is_item() || is_label())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use crate::bank::text_pieces;

    #[rstest]
    #[case("**Done**\n\n- a b\n- c d\n\n**Next:**\n- e f", &["Done|a b", "Done|c d", "Next|e f"])]
    #[case("## Week\n\n**✅ Completed**\n\nWe moved.\n\nAll of it.", &["Week/✅ Completed|We moved.", "Week/✅ Completed|All of it."])]
    #[case("✅ **Done**:\n1. a b", &["Done|a b"])]
    #[case("**Printer migration**\n- a b", &["Printer migration|a b"])]
    #[case("**Never deploy on Fridays.**\n\n- a b", &["|**Never deploy on Fridays.**", "|a b"])]
    #[case("**Printer migration**\n\nIt works.", &["|**Printer migration**", "|It works."])]
    #[case("**Done** and **dusted**\n- a b", &["|**Done** and **dusted**", "|a b"])]
    #[case("a b\n\n**Done**", &["|a b", "|**Done**"])]
    #[case("Blockers:\n\nThe VPN is down.\n\nIt rains.", &["Blockers:|The VPN is down.", "|It rains."])]
    #[case("As follows:\n\nThe VPN is down.", &["|As follows:", "|The VPN is down."])]
    fn a_bold_line_or_a_label_above_something_is_a_heading(#[case] text: &str, #[case] wanted: &[&str]) {
        let pieces = text_pieces(text).into_iter();
        let told: Vec<String> = pieces.map(|piece| format!("{}|{}", piece.headings.join("/"), piece.text)).collect();
        assert_eq!(told, wanted);
    }
}
