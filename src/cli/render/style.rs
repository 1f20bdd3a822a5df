//! Colours, which are few, for what the eye looks for first. They are always written; where stdout is no terminal, or
//! NO_COLOR asks for it, the stream takes them out again.

use std::fmt::Display;

use clap::builder::styling::{AnsiColor, Style};

fn styled(style: Style, text: impl Display) -> String {
    format!("{style}{text}{style:#}")
}

pub(in crate::cli) fn bold(text: impl Display) -> String {
    styled(Style::new().bold(), text)
}

pub(in crate::cli) fn dim(text: impl Display) -> String {
    styled(Style::new().dimmed(), text)
}

pub(in crate::cli) fn good(text: impl Display) -> String {
    styled(AnsiColor::Green.on_default(), text)
}

pub(in crate::cli) fn doubtful(text: impl Display) -> String {
    styled(AnsiColor::Yellow.on_default(), text)
}

pub(in crate::cli) fn bad(text: impl Display) -> String {
    styled(AnsiColor::Red.on_default().bold(), text)
}
