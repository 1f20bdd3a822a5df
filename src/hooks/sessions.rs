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

/// The notes that a session is about to be told.
pub(super) struct SessionTold {
    pub(super) session: String,
    pub(super) memories: Vec<MemoryId>,
    /// The command that failed.
    pub(super) command: Option<String>,
    /// The text that says what had ended the failure.
    pub(super) resolutions: Option<String>,
}

/// The part of its notes that a session had not been told before.
pub(super) struct NewlyTold {
    session: String,
    memories: Vec<MemoryId>,
    /// The command that failed, with the warnings that were shown when it failed before.
    command: Option<(String, Option<Vec<MemoryId>>)>,
    resolutions: Option<String>,
}

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

    /// Notes that a session was shown these memories. Returns those that it had not been shown before.
    pub(super) fn note(&mut self, session: &str, memories: impl IntoIterator<Item = MemoryId>) -> Vec<MemoryId> {
        let shown = self.latest(session);
        if shown.memories.len() > MEMORIES {
            shown.memories.clear();
        }
        memories.into_iter().filter(|memory| shown.memories.insert(*memory)).collect()
    }

    /// Returns a session, which is the last one from now on.
    fn latest(&mut self, session: &str) -> &mut ShownSession {
        let known = self.0.iter().position(|(known, _)| known == session).and_then(|at| self.0.remove(at));
        if known.is_none() && self.0.len() >= SESSIONS {
            self.0.pop_front();
        }
        self.0.push_back(known.unwrap_or_else(|| (session.to_owned(), ShownSession::default())));
        let last = self.0.len() - 1;
        &mut self.0[last].1
    }

    /// Notes what a session is about to be told. Returns what is new in it.
    pub(super) fn note_told(&mut self, told: &SessionTold) -> NewlyTold {
        let memories = self.note(&told.session, told.memories.iter().copied());
        let shown = self.latest(&told.session);
        let command = told.command.clone().map(|command| {
            let before = shown.take_failed(&command);
            shown.failed.push_back((command.clone(), told.memories.clone()));
            keep_last(&mut shown.failed);
            (command, before)
        });
        let resolutions = told.resolutions.clone();
        shown.resolutions.extend(resolutions.clone());
        keep_last(&mut shown.resolutions);
        NewlyTold { session: told.session.clone(), memories, command, resolutions }
    }

    /// Tells whether a session was told what had ended a failure, in these words.
    pub(super) fn has_resolutions(&self, session: &str, told: &str) -> bool {
        self.0.iter().any(|(known, shown)| known == session && shown.resolutions.iter().any(|known| known == told))
    }

    /// Notes that a session was not told this after all. What it had been told before stays.
    pub(super) fn take_back(&mut self, told: NewlyTold) {
        let Some((_, shown)) = self.0.iter_mut().find(|(known, _)| *known == told.session) else { return };
        shown.memories.retain(|memory| !told.memories.contains(memory));
        if let Some((command, before)) = told.command {
            shown.failed.retain(|(known, _)| *known != command);
            shown.failed.extend(before.map(|warnings| (command, warnings)));
        }
        shown.resolutions.retain(|known| Some(known) != told.resolutions.as_ref());
    }

    /// Takes the warnings that a session was shown when a command failed that has succeeded now. They are not given
    /// again before it fails again.
    pub(super) fn take_succeeded(&mut self, session: &str, command: &str) -> Vec<MemoryId> {
        let Some((_, shown)) = self.0.iter_mut().find(|(known, _)| known == session) else { return Vec::new() };
        shown.take_failed(command).unwrap_or_default()
    }
}

impl ShownSession {
    fn take_failed(&mut self, command: &str) -> Option<Vec<MemoryId>> {
        let at = self.failed.iter().position(|(known, _)| known == command)?;
        self.failed.remove(at).map(|(_, warnings)| warnings)
    }
}

fn keep_last<T>(entries: &mut VecDeque<T>) {
    if entries.len() > COMMANDS {
        entries.pop_front();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(command: &str, memory: MemoryId) -> SessionTold {
        let command = Some(command.to_owned());
        SessionTold { session: "one".to_owned(), memories: vec![memory], command, resolutions: None }
    }

    #[test]
    fn the_session_of_the_longest_pause_is_forgotten() {
        let mut sessions = ShownSessions::default();
        let memory = MemoryId::from(uuid::Uuid::now_v7());
        sessions.note("first", [memory]);
        for number in 0..SESSIONS - 1 {
            sessions.note(&number.to_string(), []);
        }
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
        sessions.note_told(&failed("make", memory));
        assert!(sessions.has("one", memory));
        assert_eq!(sessions.take_succeeded("one", "make test"), []);
        assert_eq!(sessions.take_succeeded("two", "make"), []);
        assert_eq!(sessions.take_succeeded("one", "make"), [memory]);
        assert_eq!(sessions.take_succeeded("one", "make"), []);
        for number in 0..=COMMANDS {
            sessions.note_told(&failed(&number.to_string(), memory));
        }
        assert_eq!(sessions.take_succeeded("one", "0"), []);
        assert_eq!(sessions.take_succeeded("one", "1"), [memory]);
    }

    #[test]
    fn what_is_taken_back_was_not_shown_and_what_was_shown_before_stays() {
        let mut sessions = ShownSessions::default();
        let [before, late] = [(); 2].map(|()| MemoryId::from(uuid::Uuid::now_v7()));
        let resolved = |told: &str| Some(told.to_owned());
        sessions.note_told(&SessionTold { resolutions: resolved("make clean"), ..failed("make", before) });
        let again =
            SessionTold { memories: vec![before, late], resolutions: resolved("make all"), ..failed("make", before) };
        let newly = sessions.note_told(&again);
        sessions.take_back(newly);
        assert!(sessions.has_resolutions("one", "make clean") && !sessions.has_resolutions("one", "make all"));
        assert!(sessions.has("one", before) && !sessions.has("one", late));
        assert_eq!(sessions.take_succeeded("one", "make"), [before]);
        let newly = sessions.note_told(&failed("make", late));
        sessions.take_back(newly);
        assert_eq!(sessions.take_succeeded("one", "make"), []);
    }
}
