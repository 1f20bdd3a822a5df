//! The progress of a run, for whoever waits for it.

use jiff::Timestamp;

use super::AgentLoop;
use crate::solve::stage::Stage;
use crate::solve::task::Progress;

impl AgentLoop {
    pub fn progress(&self) -> &Progress {
        &self.progress
    }

    pub(super) fn reached(&mut self, stage: Stage) {
        self.progress.stages.push(stage);
    }

    pub(super) fn end_attempt(&mut self, index: usize, now: Timestamp) {
        let attempt = &mut self.attempts[index];
        attempt.ended = Some(now);
        let score = attempt.score;
        self.reached(Stage::AttemptDone { attempt: index as u32 + 1, score });
    }
}
