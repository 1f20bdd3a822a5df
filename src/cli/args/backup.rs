//! The arguments of `backup` and its commands.

use std::path::PathBuf;

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum BackupCommand {
    /// Make a backup of the bank as it is now, whether it is in use or not
    #[command(
        long_about = "Make a backup of the bank as it is at one moment, whether it is in use or not. It has all that the \
            data directory has: memories, traces, evidence, jobs, workspaces, tokens, the audit log. On the same file \
            system, files that never change are shared with the bank; a backup on another disk is copied.",
        after_help = "Examples:\n  \
            reasoning-bank backup create /backups/monday\n  \
            reasoning-bank backup create - | ssh vault 'cat > bank.tar'"
    )]
    Create {
        /// The directory to make, which must not be there yet; `-` writes a file of tar to stdout
        #[arg(value_name = "DIR")]
        to: PathBuf,
    },
    /// Read all of a backup, and say whether it is as it was made
    #[command(
        long_about = "Read all of a backup, and say whether it is as it was made. Exits with 1 when a file is missing or \
            changed, and names it.",
        after_help = "Examples:\n  \
            reasoning-bank backup verify /backups/monday\n  \
            ssh vault 'cat bank.tar' | reasoning-bank backup verify -"
    )]
    Verify {
        /// The directory of the backup; `-` reads a file of tar from stdin
        #[arg(value_name = "DIR")]
        from: PathBuf,
    },
    /// Restore a backup into a data directory that is empty or not there
    #[command(
        long_about = "Restore a backup into the data directory, which must be empty or not be there. What was erased after \
            the backup was made, as newer backups beside it or the directory of --erasures-of know, is erased again.",
        after_help = "Examples:\n  \
            reasoning-bank --data-dir /var/lib/bank backup restore /backups/monday --erasures-of /var/lib/bank.broken\n  \
            ssh vault 'cat bank.tar' | reasoning-bank --data-dir ./bank backup restore - --with-tokens"
    )]
    Restore {
        /// The directory of the backup; `-` reads a file of tar from stdin
        #[arg(value_name = "DIR")]
        from: PathBuf,
        /// Restore the tokens of the team's server as well
        #[arg(long)]
        with_tokens: bool,
        /// Erase again what this data directory, or this backup, knows to be erased
        #[arg(long, value_name = "DIR")]
        erasures_of: Option<PathBuf>,
    },
}
