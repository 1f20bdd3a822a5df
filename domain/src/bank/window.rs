//! Files of a bank are read from any place on, as far as a number of tokens goes.

use std::sync::Arc;

use super::{BankFileReading, BankFiles, BankPath};

/// The part of some files that an answer has room for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BankWindow {
    pub content: BankFiles,
    /// None where everything was read to its end.
    pub rest: Option<RestOfFiles>,
}

/// The files that were not read to their end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestOfFiles {
    pub files: Vec<BankPath>,
    /// The byte of the first of them at which reading goes on.
    pub offset: usize,
}

/// Reads files, the first one from the byte `offset` on, until `max_tokens` are used up. There is always something to
/// read, so that whoever goes on comes to the end.
pub fn window(files: &[(BankPath, Arc<BankFileReading>)], offset: usize, max_tokens: usize) -> BankWindow {
    let (mut content, mut left) = (BankFiles::new(), max_tokens);
    for (index, (path, reading)) in files.iter().enumerate() {
        let begin = if index == 0 { offset } else { 0 };
        let part = reading.part(begin, left);
        let text = &reading.text()[part.range.clone()];
        let is_whole = part.range.end == reading.text().len();
        // A file that has no room for a line of it is read the next time.
        let is_shown = is_whole || index == 0 || text.ends_with('\n');
        if is_shown {
            content.insert(path.clone(), text.to_owned());
        }
        if !is_whole {
            let files = files[index..].iter().map(|(path, _)| path.clone()).collect();
            let rest = RestOfFiles { files, offset: if is_shown { part.range.end } else { 0 } };
            return BankWindow { content, rest: Some(rest) };
        }
        left = left.saturating_sub(part.tokens);
    }
    BankWindow { content, rest: None }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::text::tokens::estimate;

    fn read(files: &[(&str, &str)]) -> Vec<(BankPath, Arc<BankFileReading>)> {
        let read = |(path, text): &(&str, &str)| (path.parse().unwrap(), Arc::new(BankFileReading::of(text)));
        files.iter().map(read).collect()
    }

    #[test]
    fn a_part_ends_with_a_line_and_a_file_that_has_no_room_is_left_for_later() {
        let long = "A line of some words.\n".repeat(100);
        let files = read(&[("a.md", "# A\n"), ("b.md", &long), ("c.md", "# C\n")]);
        let first = window(&files, 0, 50);
        assert_eq!(first.content.keys().map(BankPath::as_str).collect::<Vec<_>>(), ["a.md", "b.md"]);
        assert!(first.content.values().all(|text| text.ends_with('\n')));
        let rest = first.rest.unwrap();
        assert_eq!(rest.files.iter().map(BankPath::as_str).collect::<Vec<_>>(), ["b.md", "c.md"]);
        assert_eq!(rest.offset, first.content[&rest.files[0]].len());
        let none = window(&files, 0, estimate("# A\n") + 1);
        assert_eq!((none.content.len(), none.rest.unwrap().offset), (1, 0));
        assert_eq!(window(&files, 0, usize::MAX).rest, None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn whoever_goes_on_reads_everything_once(
            one in "[a-zäß\u{1F600}\n ]{0,300}", other in "\\PC{0,200}", max_tokens in 0usize..60,
        ) {
            let mut files = read(&[("one.md", &one), ("other.md", &other)]);
            let (mut all, mut offset) = (String::new(), 0);
            loop {
                let window = window(&files, offset, max_tokens);
                let texts: Vec<&String> = window.content.values().collect();
                prop_assert!(texts.iter().map(|text| estimate(text)).sum::<usize>() <= max_tokens.max(1) * 2 + 8);
                texts.iter().for_each(|text| all.push_str(text));
                let Some(rest) = window.rest else { break };
                prop_assert!(rest.files.len() < files.len() || rest.offset > offset);
                files.retain(|(path, _)| rest.files.contains(path));
                offset = rest.offset;
            }
            prop_assert_eq!(all, format!("{one}{other}"));
        }
    }
}
