//! Fenced code in markdown. This file tells which lines are inside a fence.

/// The state of the fences in a text that is followed line by line.
#[derive(Debug, Default)]
pub(crate) struct Fences {
    /// The sign of the open fence, and how often it stands there.
    open: Option<(char, usize)>,
}

/// The relation of a line to the fences around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FenceLine<'a> {
    Outside,
    Opens {
        /// The text behind the fence, which is mostly the language.
        info: &'a str,
    },
    Inside,
    Closes,
}

impl Fences {
    pub(crate) fn next<'a>(&mut self, line: &'a str) -> FenceLine<'a> {
        let text = line.trim_start();
        let sign = text.chars().next().filter(|sign| matches!(sign, '`' | '~'));
        let count = sign.map_or(0, |sign| text.chars().take_while(|c| *c == sign).count());
        match self.open {
            Some((open, least)) => {
                let closes = sign == Some(open) && count >= least && text[count..].trim().is_empty();
                if closes {
                    self.open = None;
                }
                if closes { FenceLine::Closes } else { FenceLine::Inside }
            }
            None => match sign {
                Some(sign) if count >= 3 && !(sign == '`' && text[count..].contains('`')) => {
                    self.open = Some((sign, count));
                    FenceLine::Opens { info: text[count..].trim() }
                }
                _ => FenceLine::Outside,
            },
        }
    }
}
