//! A word of the subject of a clause, and what it does there.

/// The role of a word in the subject of a clause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// It says what the clause is about.
    Topic,
    /// A verb that says what the clause is about: `listens`, `expires`.
    Action,
    /// It narrows the subject: a name, an environment, a word of a condition or behind a preposition.
    Qualifier,
    /// It adds nothing that tells one subject from another: `service`, `version`.
    Detail,
}

/// A word of the subject, in the spelling that is compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Term {
    pub word: String,
    pub role: Role,
}
