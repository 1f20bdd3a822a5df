//! The arguments of `context` and `recover`.

use clap::Args;
use reasoning_bank_domain::context::{BUDGET_DEFAULT, BUDGET_MAX, BUDGET_MIN};

#[derive(Debug, Args)]
pub(in crate::cli) struct ContextArgs {
    /// The task that is to be done
    pub(in crate::cli) task: String,
    /// Such as rust or sql: what is of this domain ranks higher
    #[arg(long)]
    pub(in crate::cli) domain: Option<String>,
    /// Such as debugging or feature [default: told from the task]
    #[arg(long, value_name = "TYPE")]
    pub(in crate::cli) task_type: Option<String>,
    /// Another feature of the task: language, framework, complexity, error, or any name that patterns ask for; may be
    /// given several times
    #[arg(long, value_name = "NAME=VALUE")]
    pub(in crate::cli) context: Vec<String>,
    /// The most tokens of the text, 100 to 20000
    #[arg(long, value_name = "N", default_value_t = BUDGET_DEFAULT, value_parser = budget)]
    pub(in crate::cli) budget_tokens: usize,
}

fn budget(text: &str) -> Result<usize, String> {
    let budget = text.parse().ok().filter(|budget| (BUDGET_MIN..=BUDGET_MAX).contains(budget));
    budget.ok_or_else(|| format!("it is a number from {BUDGET_MIN} to {BUDGET_MAX}"))
}

#[derive(Debug, Args)]
pub(in crate::cli) struct RecoverArgs {
    /// The error, as it was printed, or its type
    pub(in crate::cli) error: String,
    /// The task in which it was met: leaves out patterns for other types of tasks
    #[arg(long)]
    pub(in crate::cli) task: Option<String>,
}
