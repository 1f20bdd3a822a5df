//! The progress of long work: one line on stderr, and only on a terminal that is not asked to be quiet. Whoever reads
//! stdout or a log never sees it.

use std::io::{self, IsTerminal};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::output::Output;

const REDRAW: Duration = Duration::from_millis(100);

/// A line of progress that is gone when it is dropped.
pub(super) struct ProgressIndicator(ProgressBar);

impl Output {
    /// Begins a line that counts `what`, in the plural: `model calls`.
    pub(super) fn progress(self, what: &'static str) -> ProgressIndicator {
        if self.json || self.quiet || !io::stderr().is_terminal() {
            return ProgressIndicator(ProgressBar::hidden());
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()).with_message(what);
        // The template is a constant; were it wrong, indicatif's own would do.
        if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {pos} {msg}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(REDRAW);
        ProgressIndicator(bar)
    }
}

impl ProgressIndicator {
    pub(super) fn done(&self, count: u64) {
        self.0.set_position(count);
    }

    /// Says what was done last, beside what is counted.
    pub(super) fn says(&self, done: String) {
        self.0.set_message(done);
    }

    /// Shows a bar from here on: how much of `most` is done.
    pub(super) fn most(&self, most: u64) {
        if self.0.length() == Some(most) || self.0.is_hidden() {
            return;
        }
        self.0.set_length(most);
        if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {wide_bar} {pos} of at most {len} {msg}") {
            self.0.set_style(style);
        }
    }
}

impl Drop for ProgressIndicator {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
