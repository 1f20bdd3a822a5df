//! The memories that sessions were shown: each session is shown one once, and a command that succeeds confirms the
//! warnings that were shown when it failed.

use std::collections::{HashSet, VecDeque};

use reasoning_bank_domain::memory::ids::MemoryId;

/// Sessions that are remembered. The one that was shown something longest ago is forgotten first.
const SESSIONS: usize = 64;
/// Memories of one session that are remembered.
const MEMORIES: usize = 1_000;
/// Failed commands of one session that are remembered.
const COMMANDS: usize = 100;

/// The sessions that were shown something, the one of the last showing at the end.
#[derive(Debug, Default)]
pub(super) struct ShownSessions(VecDeque<(String, ShownSession)>);

#[derive(Debug, Default)]
struct ShownSession {
    memories: HashSet<MemoryId>,
    /// The commands that failed in a way that is known, each with the warnings that were shown then.
    failed: VecDeque<(String, Vec<MemoryId>)>,
    /// The texts that told what had ended a failure.
    resolutions: VecDeque<String>,
}

impl ShownSessions {
    /// Tells whether it is known what a session was shown.
    pub(super) fn knows(&self, session: &str) -> bool {
        self.0.iter().any(|(known, _)| known == session)
    }

    /// Tells whether a session was shown a memory.
    pub(super) fn has(&self, session: &str, memory: MemoryId) -> bool {
        self.0.iter().any(|(known, shown)| known == session && shown.memories.contains(&memory))
    }

    /// Notes that a session was shown these memories.
    pub(super) fn note(&mut self, session: &str, memories: impl IntoIterator<Item = MemoryId>) {
        let known = self.0.iter().position(|(known, _)| known == session).and_then(|at| self.0.remove(at));
        let (session, mut shown) = known.unwrap_or_else(|| (session.to_owned(), ShownSession::default()));
        if shown.memories.len() > MEMORIES {
            shown.memories.clear();
        }
        shown.memories.extend(memories);
        self.0.push_back((session, shown));
        if self.0.len() > SESSIONS {
            self.0.pop_front();
        }
    }

    /// Notes that a session was shown these warnings when a command failed.
    pub(super) fn note_failed(&mut self, session: &str, command: &str, warnings: Vec<MemoryId>) {
        self.note(session, warnings.iter().copied());
        let Some((_, shown)) = self.0.back_mut() else { return };
        shown.failed.retain(|(known, _)| known != command);
        shown.failed.push_back((command.to_owned(), warnings));
        if shown.failed.len() > COMMANDS {
            shown.failed.pop_front();
        }
    }

    /// Tells whether a session was told what had ended a failure, in these words.
    pub(super) fn has_resolutions(&self, session: &str, told: &str) -> bool {
        self.0.iter().any(|(known, shown)| known == session && shown.resolutions.iter().any(|known| known == told))
    }

    /// Notes that a session was told what had ended a failure.
    pub(super) fn note_resolutions(&mut self, session: &str, told: String) {
        self.note(session, []);
        let Some((_, shown)) = self.0.back_mut() else { return };
        shown.resolutions.push_back(told);
        if shown.resolutions.len() > COMMANDS {
            shown.resolutions.pop_front();
        }
    }

    /// Notes that a session was not shown these memories after all, nor told what had ended a failure.
    pub(super) fn take_back(
        &mut self,
        session: &str,
        memories: &[MemoryId],
        command: Option<&str>,
        resolutions: Option<&str>,
    ) {
        let Some((_, shown)) = self.0.iter_mut().find(|(known, _)| known == session) else { return };
        shown.memories.retain(|memory| !memories.contains(memory));
        shown.failed.retain(|(known, _)| Some(known.as_str()) != command);
        shown.resolutions.retain(|known| Some(known.as_str()) != resolutions);
    }

    /// Takes the warnings that a session was shown when a command failed that has succeeded now. They are not given
    /// again before it fails again.
    pub(super) fn take_succeeded(&mut self, session: &str, command: &str) -> Vec<MemoryId> {
        let Some((_, shown)) = self.0.iter_mut().find(|(known, _)| known == session) else { return Vec::new() };
        let at = shown.failed.iter().position(|(known, _)| known == command);
        at.and_then(|at| shown.failed.remove(at)).map(|(_, warnings)| warnings).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_session_of_the_longest_pause_is_forgotten() {
        let mut sessions = ShownSessions::default();
        let memory = MemoryId::from(uuid::Uuid::now_v7());
        sessions.note("first", [memory]);
        (0..SESSIONS - 1).for_each(|number| sessions.note(&number.to_string(), []));
        assert!(sessions.has("first", memory) && !sessions.has("0", memory));
        sessions.note("first", []);
        sessions.note("last", [memory]);
        assert!(sessions.has("first", memory) && sessions.has("last", memory));
        assert_eq!(sessions.0.len(), SESSIONS);
        assert!(sessions.0.iter().all(|(session, _)| session != "0"));
    }

    #[test]
    fn a_command_that_succeeds_gives_the_warnings_of_its_own_session_once() {
        let mut sessions = ShownSessions::default();
        let memory = MemoryId::from(uuid::Uuid::now_v7());
        sessions.note_failed("one", "make", vec![memory]);
        assert!(sessions.has("one", memory));
        assert_eq!(sessions.take_succeeded("one", "make test"), []);
        assert_eq!(sessions.take_succeeded("two", "make"), []);
        assert_eq!(sessions.take_succeeded("one", "make"), [memory]);
        assert_eq!(sessions.take_succeeded("one", "make"), []);
        (0..=COMMANDS).for_each(|number| sessions.note_failed("one", &number.to_string(), vec![memory]));
        assert_eq!(sessions.take_succeeded("one", "0"), []);
        assert_eq!(sessions.take_succeeded("one", "1"), [memory]);
    }

    #[test]
    fn what_is_taken_back_was_not_shown() {
        let mut sessions = ShownSessions::default();
        let [before, late] = [(); 2].map(|()| MemoryId::from(uuid::Uuid::now_v7()));
        sessions.note("one", [before]);
        sessions.note_failed("one", "make", vec![late]);
        for told in ["make clean", "make all"] {
            sessions.note_resolutions("one", told.to_owned());
        }
        sessions.take_back("one", &[late], Some("make"), Some("make all"));
        sessions.take_back("two", &[before], None, Some("make clean"));
        assert!(sessions.has_resolutions("one", "make clean") && !sessions.has_resolutions("one", "make all"));
        assert!(sessions.has("one", before) && !sessions.has("one", late));
        assert_eq!(sessions.take_succeeded("one", "make"), []);
    }
}
