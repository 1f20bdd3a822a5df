//! The purpose of a model call.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The purpose of a call of a model, which is sent as `metadata.purpose`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Purpose {
    Think,
    Refine,
    Evaluate,
    Judge,
    Extract,
    Contrast,
    /// A call for lessons from an exchange of a conversation.
    Capture,
    /// A call for lessons from a session that is over.
    Distill,
    /// A call that files new content into a memory bank.
    Bank,
    /// A call for patterns from episodes that are alike and succeeded.
    Patterns,
}

impl Purpose {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Think => "think",
            Self::Refine => "refine",
            Self::Evaluate => "evaluate",
            Self::Judge => "judge",
            Self::Extract => "extract",
            Self::Contrast => "contrast",
            Self::Capture => "capture",
            Self::Distill => "distill",
            Self::Bank => "bank",
            Self::Patterns => "patterns",
        }
    }

    /// Tells whether a call is for a draft. Drafts are text, shall differ from each other, are never cached and never
    /// share a call that is under way.
    pub fn is_draft(self) -> bool {
        matches!(self, Self::Think | Self::Refine)
    }

    pub fn temperature(self) -> f32 {
        if self.is_draft() { 0.7 } else { 0.0 }
    }
}
