//! The arguments of `bank`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use jiff::Timestamp;
use reasoning_bank_domain::bank::BankPath;

/// The bank that a command is about.
#[derive(Debug, Args)]
pub(in crate::cli) struct BankArgs {
    /// The bank as type:id, such as global:default or project:my-app [default: that of the workspace]
    #[arg(long, value_name = "TYPE:ID")]
    pub(in crate::cli) bank: Option<String>,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct ActivateBankArgs {
    /// global, general, chat, project, planning, code, coding or development
    pub(in crate::cli) conversation_type: String,
    /// The name of the project, for project and planning
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) project_name: Option<String>,
    /// The description of the project, which fills an empty projectbrief
    #[arg(long, value_name = "TEXT")]
    pub(in crate::cli) project_description: Option<String>,
    /// Read this file alone; may be given several times
    #[arg(long = "file", value_name = "FILE")]
    pub(in crate::cli) files: Vec<BankPath>,
    /// Begin at this byte of the first file, where the answer before says that the rest begins
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(in crate::cli) offset: usize,
    /// The most tokens of the files
    #[arg(long, value_name = "N", default_value_t = 8_000)]
    pub(in crate::cli) max_tokens: usize,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct UpdateBankArgs {
    #[command(flatten)]
    pub(in crate::cli) of: BankArgs,
    /// The text to file; `-` reads it from stdin
    #[arg(required_unless_present = "from", allow_hyphen_values = true)]
    pub(in crate::cli) content: Option<String>,
    /// Read the text from this file, or from stdin where it is -
    #[arg(long, value_name = "FILE", conflicts_with = "content")]
    pub(in crate::cli) from: Option<PathBuf>,
    /// The conversation that the text comes from; with --update-count, the same update again adds nothing
    #[arg(long, value_name = "ID")]
    pub(in crate::cli) conversation_id: Option<String>,
    /// The number of the update in its conversation
    #[arg(long, value_name = "N", requires = "conversation_id")]
    pub(in crate::cli) update_count: Option<u64>,
}

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum BankCommand {
    /// List the memory banks
    #[command(after_help = "Example:\n  reasoning-bank bank list")]
    List,
    /// Show the files of a bank
    #[command(after_help = "Example:\n  reasoning-bank bank show --file progress.md")]
    Show {
        #[command(flatten)]
        of: BankArgs,
        /// Show this file alone; may be given several times
        #[arg(long = "file", value_name = "FILE")]
        files: Vec<BankPath>,
    },
    /// Begin with a bank, as an agent does
    #[command(after_help = "Example:\n  reasoning-bank bank activate code")]
    Activate(ActivateBankArgs),
    /// File text in a bank
    #[command(
        after_help = "Example:\n  reasoning-bank bank update \"We decided to use SQLite because it needs no server.\""
    )]
    Update(UpdateBankArgs),
    /// List the versions of a bank that are kept
    #[command(after_help = "Example:\n  reasoning-bank bank history")]
    History {
        #[command(flatten)]
        of: BankArgs,
    },
    /// Bring a version of a bank back
    #[command(after_help = "Example:\n  reasoning-bank bank restore 2026-11-20T10:00:00.123Z")]
    Restore {
        /// The version, as `bank history` lists it
        #[arg(value_parser = bank_version)]
        version: Timestamp,
        #[command(flatten)]
        of: BankArgs,
    },
    /// Keep the bank of the workspace in a folder of its checkout that is there
    #[command(after_help = "Example:\n  reasoning-bank bank adopt memory-bank")]
    Adopt {
        /// The folder
        path: PathBuf,
    },
    /// Make the bank of the workspace
    #[command(after_help = "Example:\n  reasoning-bank bank init --in-repo")]
    Init {
        /// In the folder memory-bank of the checkout, so that it can be committed
        #[arg(long)]
        in_repo: bool,
    },
    /// Make a bank shorter; the version before stays in its history
    #[command(after_help = "Example:\n  reasoning-bank bank optimize")]
    Optimize {
        #[command(flatten)]
        of: BankArgs,
    },
    /// Write what is stored and in no file yet
    #[command(after_help = "Example:\n  reasoning-bank bank sync")]
    Sync {
        #[command(flatten)]
        of: BankArgs,
    },
}

fn bank_version(text: &str) -> Result<Timestamp, &'static str> {
    text.parse().map_err(|_| "it is no version; `bank history` lists them")
}
