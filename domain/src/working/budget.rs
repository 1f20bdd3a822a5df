//! The tokens that each part of a working memory may take.

/// The newest result is shown with at most this many tokens of its head and its tail.
pub(super) const HOT_RESULT_TOKENS: usize = 4_000;
/// An entry as one line has at most this many tokens.
pub(super) const LINE_TOKENS: usize = 40;

/// The headings, and the line that counts what is not shown, have at most this many tokens.
pub(super) const FRAME_TOKENS: usize = 60;

/// A section of what is shown, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Section {
    System,
    Task,
    Execution,
    Results,
    Retrieved,
}

impl Section {
    pub const ALL: [Self; 5] = [Self::System, Self::Task, Self::Execution, Self::Results, Self::Retrieved];

    /// Returns the tokens of the section when 20,000 are shown in all. Others may use what it leaves.
    pub fn budget(self) -> usize {
        match self {
            Self::System | Self::Retrieved => 2_000,
            Self::Task => 5_000,
            Self::Execution => 3_000,
            Self::Results => 8_000,
        }
    }

    pub fn title(self) -> &'static str {
        match self {
            Self::System => "System",
            Self::Task => "Task",
            Self::Execution => "State",
            Self::Results => "Results and values",
            Self::Retrieved => "Retrieved",
        }
    }
}
