//! Arguments that several commands take.

use clap::Args;
use reasoning_bank_domain::memory::ids::parsed;
use uuid::Uuid;

/// The consent that a command asks for before it destroys something.
#[derive(Debug, Clone, Copy, Args)]
pub(in crate::cli) struct Sure {
    /// Do not ask
    #[arg(long)]
    pub(in crate::cli) yes: bool,
}

/// The page of a list, the newest first.
#[derive(Debug, Clone, Copy, Args)]
pub(in crate::cli) struct PageArgs {
    /// The most that are listed, 1 to 500
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..=500))]
    pub(in crate::cli) limit: u16,
    /// Go on behind this id, which the page before names
    #[arg(long, value_name = "ID", value_parser = parsed)]
    pub(in crate::cli) after: Option<Uuid>,
}
