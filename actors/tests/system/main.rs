//! The system over fakes: what callers of its handles see, when all goes well and when actors die.

#![allow(clippy::panic, clippy::unwrap_used)] // a test that cannot go on has failed

mod backups;
mod bank_folders;
mod bank_updates;
mod banks;
mod consolidating;
mod context;
mod distilling;
mod editing;
mod episode_evidence;
mod faults;
mod feedback;
mod filing;
mod genealogy;
mod growing_episodes;
mod health;
mod isolation;
mod learner;
mod listing;
mod memories;
mod merging_sources;
mod numbering;
mod promotion;
mod proposing;
mod provider;
mod recalling;
mod reliability;
mod repeat;
mod repeated_lessons;
mod reported;
mod restore;
mod shutdown;
mod solving;
mod stability;
mod statistics;
mod superseding;
mod support;
mod targets;
mod verdict_override;
mod verifying;
mod worked;
mod working;
mod workspaces;
