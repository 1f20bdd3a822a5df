//! Cuts a JSON array into its items. Each stays the bytes that it is written in, so that one item at a time is parsed.

use std::io::{self, BufRead};

/// The next thing in an array.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// A whole item is in the buffer.
    Item,
    /// The item has more bytes than allowed. Nothing can be read behind it.
    TooLong,
    /// The array is broken in this way. Nothing can be read behind it.
    Broken(&'static str),
    End,
}

/// A source that begins with an array.
pub(super) struct Items<R> {
    source: R,
    max_bytes: usize,
    place: ArrayPosition,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ArrayPosition {
    BeforeArray,
    /// The reader is behind the bracket that opens the array.
    First,
    /// The reader is behind a comma.
    Item,
    /// The reader is behind an item that the source ended with.
    NoEnd,
    Behind,
}

/// The place of a byte within an item.
#[derive(Default)]
struct ItemPosition {
    depth: usize,
    string: bool,
    escaped: bool,
}

impl ItemPosition {
    /// Says whether this byte ends the item.
    fn is_ended_by(&mut self, byte: u8) -> bool {
        if self.string {
            self.string = self.escaped || byte != b'"';
            self.escaped = !self.escaped && byte == b'\\';
            return false;
        }
        match byte {
            b'"' => self.string = true,
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' if self.depth > 0 => self.depth -= 1,
            b',' | b']' => return self.depth == 0,
            _ => {}
        }
        false
    }
}

impl<R: BufRead> Items<R> {
    /// `max_bytes` is the length of the longest item that is read.
    pub(super) fn new(source: R, max_bytes: usize) -> Self {
        Self { source, max_bytes, place: ArrayPosition::BeforeArray }
    }

    /// Puts the next item into `item`, which is emptied first.
    pub(super) fn next(&mut self, item: &mut Vec<u8>) -> io::Result<Next> {
        item.clear();
        if self.place == ArrayPosition::BeforeArray {
            match self.byte()? {
                Some(b'[') => self.place = ArrayPosition::First,
                _ => return Ok(Next::Broken("is no array")),
            }
        }
        if self.place == ArrayPosition::NoEnd {
            return Ok(Next::Broken("the array has no end"));
        }
        if self.place == ArrayPosition::Behind {
            let rest = self.byte()?;
            return Ok(if rest.is_none() { Next::End } else { Next::Broken("trailing characters behind the array") });
        }
        let mut position = ItemPosition::default();
        let end = loop {
            let seen = self.source.fill_buf()?;
            if seen.is_empty() {
                break None;
            }
            let end = seen.iter().position(|byte| position.is_ended_by(*byte));
            let part = end.unwrap_or(seen.len());
            item.extend_from_slice(&seen[..part]);
            let end = end.map(|at| seen[at]);
            self.source.consume(part + usize::from(end.is_some()));
            if item.trim_ascii().len() > self.max_bytes {
                return Ok(Next::TooLong);
            }
            if end.is_some() {
                break end;
            }
        };
        let (is_blank, is_first) = (item.trim_ascii().is_empty(), self.place == ArrayPosition::First);
        self.place = match end {
            Some(b',') => ArrayPosition::Item,
            Some(_) => ArrayPosition::Behind,
            None => ArrayPosition::NoEnd,
        };
        match (is_blank, end) {
            (false, _) => Ok(Next::Item),
            (true, None) => self.next(item),
            (true, Some(b']')) if is_first => self.next(item),
            (true, Some(_)) => Ok(Next::Broken("there is no value")),
        }
    }

    /// Finds the next byte that is no white space.
    fn byte(&mut self) -> io::Result<Option<u8>> {
        loop {
            let seen = self.source.fill_buf()?;
            if seen.is_empty() {
                return Ok(None);
            }
            let at = seen.iter().position(|byte| !byte.is_ascii_whitespace());
            let (found, length) = (at.map(|at| seen[at]), at.map_or(seen.len(), |at| at + 1));
            self.source.consume(length);
            if found.is_some() {
                return Ok(found);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    /// The items, and how it ended.
    fn items(text: &str, buffer: usize) -> (Vec<String>, Next) {
        let mut items = Items::new(BufReader::with_capacity(buffer, text.as_bytes()), 100);
        let (mut item, mut found) = (Vec::new(), Vec::new());
        loop {
            match items.next(&mut item).unwrap() {
                Next::Item => found.push(String::from_utf8(item.trim_ascii().to_vec()).unwrap()),
                end => return (found, end),
            }
        }
    }

    #[test]
    fn an_array_is_cut_at_its_own_commas() {
        let text = " [ {\"a\":[1,2]} ,\n\"],\\\",[\", [ [ ] ] , 7 ] \n";
        let expected = ["{\"a\":[1,2]}", "\"],\\\",[\"", "[ [ ] ]", "7"].map(String::from).to_vec();
        for buffer in 1..20 {
            assert_eq!(items(text, buffer), (expected.clone(), Next::End));
        }
        for empty in ["[]", " [ ] "] {
            assert_eq!(items(empty, 4), (Vec::new(), Next::End));
        }
    }

    #[test]
    fn what_is_no_whole_array_is_told() {
        let ends = |text: &str| items(text, 4).1;
        assert_eq!(ends("[1,2"), Next::Broken("the array has no end"));
        assert_eq!(ends("["), Next::Broken("the array has no end"));
        assert_eq!(ends("[1,]"), Next::Broken("there is no value"));
        assert_eq!(ends("[,1]"), Next::Broken("there is no value"));
        assert_eq!(ends("[1] x"), Next::Broken("trailing characters behind the array"));
        assert_eq!(ends("{}"), Next::Broken("is no array"));
        assert_eq!(ends(&format!("[\"{}\"]", "x".repeat(200))), Next::TooLong);
        assert_eq!(items(&format!("[{}1]", " ".repeat(50)), 4).1, Next::End);
    }

    proptest! {
        #[test]
        fn the_items_are_those_that_a_parser_finds(
            texts in prop::collection::vec("[\\PC\"\\\\,\\[\\]{}]{0,12}", 0..6),
            buffer in 1usize..9,
        ) {
            let array = Value::from(texts.clone()).to_string();
            let (found, end) = items(&array, buffer);
            let parsed: Vec<String> = found.iter().map(|item| serde_json::from_str(item).unwrap()).collect();
            prop_assert_eq!((parsed, end), (texts, Next::End));
        }
    }
}
