//! Codes of failures and remarks, and notes: what clients are told beside an answer. Programs may act on a code; the
//! detail is for people and models.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::safety::secrets::{Removed, Scrub};

macro_rules! codes {
    ($($(#[$doc:meta])* $code:ident = $word:literal,)+) => {
        /// The code of a failure or of a remark. Clients rely on the words ([`Code::as_str`]).
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Code {
            $($(#[$doc])* $code,)+
        }

        impl Code {
            const ALL: &[Self] = &[$(Self::$code),+];

            /// Returns the word that clients see, such as `llm_unavailable`.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$code => $word),+ }
            }
        }
    };
}
codes! {
    // Failures. A failure that was survived leads to a note with the same code.
    Cancelled = "cancelled",
    ConfigurationInvalid = "configuration_invalid",
    Conflict = "conflict",
    ConsentRequired = "consent_required",
    DeadlineExceeded = "deadline_exceeded",
    Declined = "declined",
    EmbedderMismatch = "embedder_mismatch",
    EmbeddingUnavailable = "embedding_unavailable",
    Internal = "internal",
    InvalidArgument = "invalid_argument",
    LlmFailed = "llm_failed",
    LlmKeyMissing = "llm_key_missing",
    LlmOutputInvalid = "llm_output_invalid",
    LlmRejectedKey = "llm_rejected_key",
    LlmUnavailable = "llm_unavailable",
    MemoryInvalid = "memory_invalid",
    NotFound = "not_found",
    Overloaded = "overloaded",
    PermissionDenied = "permission_denied",
    ScopeDenied = "scope_denied",
    StoreUnavailable = "store_unavailable",
    TokenBudgetExceeded = "token_budget_exceeded",
    WorkspaceRequired = "workspace_required",
    WorkspaceUnknown = "workspace_unknown",

    // Remarks.
    /// Fewer attempts were made than were asked for, to keep to the budget of tokens.
    AttemptsReduced = "attempts_reduced",
    /// Invisible characters were removed from a text.
    Dropped = "dropped",
    LessonsRefused = "lessons_refused",
    /// Memories did not fit into the tokens of an answer.
    MaxTokens = "max_tokens",
    /// Memories did not fit into the prompts.
    MemoriesLeftOut = "memories_left_out",
    /// Not all that is stored was looked at.
    Narrowed = "narrowed",
    /// The caller's check gave no result.
    NotVerified = "not_verified",
    /// Memories were found, and none is relevant enough.
    NothingRelevant = "nothing_relevant",
    /// Secrets were removed from a text.
    Redacted = "redacted",
    RefinementSkipped = "refinement_skipped",
    /// Relevance rests on words alone.
    RelevanceByWords = "relevance_by_words",
    /// A prompt or an answer was cut.
    Truncated = "truncated",
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// A remark to a client beside an answer. It is written as text: `code: detail`, or the detail alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// The code of the note. It is None for plain prose, and for a code that this build does not know, which stays in
    /// the detail.
    pub code: Option<Code>,
    pub detail: String,
}

impl Note {
    pub fn new(code: Code, detail: impl Into<String>) -> Self {
        Self { code: Some(code), detail: detail.into() }
    }

    /// Makes a note without a code.
    pub fn plain(detail: impl Into<String>) -> Self {
        Self { code: None, detail: detail.into() }
    }

    fn read(text: String) -> Self {
        let coded = text.split_once(": ").and_then(|(word, detail)| {
            let code = Code::ALL.iter().find(|code| code.as_str() == word)?;
            Some(Self::new(*code, detail))
        });
        coded.unwrap_or_else(|| Self::plain(text))
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.code {
            Some(code) => write!(f, "{code}: {}", self.detail),
            None => f.write_str(&self.detail),
        }
    }
}

/// A note equals the text that it is written as.
impl PartialEq<&str> for Note {
    fn eq(&self, text: &&str) -> bool {
        let detail = match self.code {
            Some(code) => text.strip_prefix(code.as_str()).and_then(|rest| rest.strip_prefix(": ")),
            None => Some(*text),
        };
        detail == Some(&*self.detail)
    }
}

impl Serialize for Note {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Note {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::read)
    }
}

impl JsonSchema for Note {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        String::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        String::json_schema(generator)
    }
}

impl Scrub for Note {
    fn scrub(&mut self) -> Removed {
        self.detail.scrub()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    fn written(note: &Note) -> String {
        serde_json::to_value(note).unwrap().as_str().unwrap().to_owned()
    }

    fn read(text: &str) -> Note {
        serde_json::from_value(text.into()).unwrap()
    }

    #[test]
    fn every_code_is_a_word_of_its_own() {
        let words: HashSet<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
        assert_eq!(words.len(), Code::ALL.len());
        for word in words {
            assert!(word.chars().all(|sign| sign.is_ascii_lowercase() || sign == '_'), "{word}");
        }
    }

    #[test]
    fn a_note_is_written_with_its_code_and_read_again() {
        let note = Note::new(Code::ScopeDenied, "this workspace has no team: ask its user");
        assert_eq!(written(&note), "scope_denied: this workspace has no team: ask its user");
        assert_eq!(read(&written(&note)), note);
    }

    #[test]
    fn a_code_of_another_build_stays_in_the_text() {
        assert_eq!(read("too_late: the train left"), Note::plain("too_late: the train left"));
    }

    proptest! {
        #[test]
        fn a_note_that_was_read_is_written_as_it_was(text in "([a-z_]{0,12}(: )?)?.{0,20}") {
            prop_assert_eq!(written(&read(&text)), text);
        }
    }
}
