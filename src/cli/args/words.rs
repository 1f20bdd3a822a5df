//! Words that arguments may be: those of enums of the domain.

use clap::ValueEnum;
use reasoning_bank_domain::matts::MattsMode;
use reasoning_bank_domain::memory::{MemoryOutcome, Scope, Status};
use reasoning_bank_domain::score::ProfileName;

/// The words of a domain enum as values of an argument.
macro_rules! words {
    ($($name:ident for $target:ident { $($variant:ident),+ })+) => {$(
        #[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
        pub(in crate::cli) enum $name { $($variant),+ }

        impl From<$name> for $target {
            fn from(word: $name) -> Self {
                match word { $($name::$variant => Self::$variant),+ }
            }
        }
    )+};
}
words! {
    ModeArg for MattsMode { Parallel, Sequential }
    ProfileArg for ProfileName { Composite, Paper, Cascade, Episodic }
    OutcomeArg for MemoryOutcome { Success, Failure, Mixed }
    ScopeArg for Scope { Project, Team, Org }
    StatusArg for Status { Active, Archived, Superseded, Quarantined }
}
