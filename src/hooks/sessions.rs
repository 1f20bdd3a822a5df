//! What sessions were shown, so that each is shown a memory once.

use std::collections::{HashSet, VecDeque};

use reasoning_bank_domain::memory::ids::MemoryId;

/// Sessions that are remembered. The one that was shown something longest ago is forgotten first.
const SESSIONS: usize = 64;
/// Memories of one session that are remembered.
const MEMORIES: usize = 1_000;

/// The memories that each session was shown, the session of the last showing at the end.
#[derive(Debug, Default)]
pub(super) struct ShownSessions(VecDeque<(String, HashSet<MemoryId>)>);

impl ShownSessions {
    /// Tells whether a session was shown a memory.
    pub(super) fn has(&self, session: &str, memory: MemoryId) -> bool {
        self.0.iter().any(|(known, shown)| known == session && shown.contains(&memory))
    }

    /// Notes that a session was shown these memories.
    pub(super) fn note(&mut self, session: &str, memories: impl IntoIterator<Item = MemoryId>) {
        let known = self.0.iter().position(|(known, _)| known == session).and_then(|at| self.0.remove(at));
        let (session, mut shown) = known.unwrap_or_else(|| (session.to_owned(), HashSet::new()));
        if shown.len() > MEMORIES {
            shown.clear();
        }
        shown.extend(memories);
        self.0.push_back((session, shown));
        if self.0.len() > SESSIONS {
            self.0.pop_front();
        }
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
}
