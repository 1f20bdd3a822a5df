//! The content of a pattern, in a form that rules can read.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The kind of knowledge in a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PatternCategory {
    /// An approach to a class of problems.
    Strategy,
    /// A way to cut a kind of task into subtasks.
    Decomposition,
    /// Steps that work well in this order.
    Sequence,
    /// Tools that work well for a kind of task.
    ToolSelection,
    /// A way in which something fails.
    Failure,
    /// A way to recover when something fails.
    Recovery,
    /// A way to need less time or fewer resources.
    Optimization,
    /// A convention of a domain.
    Domain,
}

impl PatternCategory {
    pub const ALL: [Self; 8] = [
        Self::Strategy,
        Self::Decomposition,
        Self::Sequence,
        Self::ToolSelection,
        Self::Failure,
        Self::Recovery,
        Self::Optimization,
        Self::Domain,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Strategy => "strategy",
            Self::Decomposition => "decomposition",
            Self::Sequence => "sequence",
            Self::ToolSelection => "tool_selection",
            Self::Failure => "failure",
            Self::Recovery => "recovery",
            Self::Optimization => "optimization",
            Self::Domain => "domain",
        }
    }
}

/// The content of a pattern, by its type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum PatternContent {
    Strategy {
        approach: String,
        #[serde(default)]
        key_principles: Vec<String>,
        #[serde(default)]
        trade_offs: String,
    },
    /// Subtasks, with what may differ from case to case.
    Template {
        structure: Vec<PatternStep>,
        #[serde(default)]
        parameters: Vec<String>,
        #[serde(default)]
        instantiation_rules: Vec<String>,
    },
    Heuristic {
        /// The cue to act, in words. Rules check the applicability instead.
        condition: String,
        action: PatternAction,
        #[serde(default)]
        rationale: String,
    },
    Procedure {
        steps: Vec<PatternStep>,
        /// Alternatives, by condition.
        #[serde(default)]
        branching: Vec<String>,
        /// Cues to stop.
        #[serde(default)]
        termination: Vec<String>,
    },
}

/// One step of a template or a procedure.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct PatternStep {
    /// The name by which other steps refer to it. It may be left out where none does.
    #[serde(default)]
    pub id: String,
    pub title: String,
    /// The tool, named as episodes name tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    #[serde(default)]
    pub depends_on: Vec<String>,
}

/// The action of a heuristic.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct PatternAction {
    pub text: String,
    /// The tools to use, named as episodes name tools.
    #[serde(default)]
    pub tools: Vec<String>,
}

impl PatternContent {
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Strategy { .. } => "strategy",
            Self::Template { .. } => "template",
            Self::Heuristic { .. } => "heuristic",
            Self::Procedure { .. } => "procedure",
        }
    }

    /// Returns the steps of a template or a procedure.
    pub fn steps(&self) -> &[PatternStep] {
        match self {
            Self::Template { structure: steps, .. } | Self::Procedure { steps, .. } => steps,
            Self::Strategy { .. } | Self::Heuristic { .. } => &[],
        }
    }

    /// Returns the action of a heuristic.
    pub fn action(&self) -> Option<&PatternAction> {
        match self {
            Self::Heuristic { action, .. } => Some(action),
            _ => None,
        }
    }

    /// Returns the tools that it names, in their order.
    pub fn tools(&self) -> impl Iterator<Item = &str> {
        let of_steps = self.steps().iter().filter_map(|step| step.tool.as_deref());
        let of_action = self.action().into_iter().flat_map(|action| action.tools.iter().map(String::as_str));
        of_steps.chain(of_action)
    }

    /// Returns the tools that it names, to name them otherwise.
    pub fn tools_mut(&mut self) -> Vec<&mut String> {
        match self {
            Self::Template { structure: steps, .. } | Self::Procedure { steps, .. } => {
                steps.iter_mut().filter_map(|step| step.tool.as_mut()).collect()
            }
            Self::Heuristic { action, .. } => action.tools.iter_mut().collect(),
            Self::Strategy { .. } => Vec::new(),
        }
    }

    /// Returns all of its texts.
    pub fn texts(&self) -> Vec<&str> {
        let mut texts: Vec<&String> = Vec::new();
        match self {
            Self::Strategy { approach, key_principles, trade_offs } => {
                texts.push(approach);
                texts.extend(key_principles);
                texts.push(trade_offs);
            }
            Self::Heuristic { condition, action, rationale } => {
                texts.extend([condition, &action.text]);
                texts.extend(&action.tools);
                texts.push(rationale);
            }
            Self::Template { structure: steps, parameters: more, instantiation_rules: last }
            | Self::Procedure { steps, branching: more, termination: last } => {
                texts.extend(steps.iter().flat_map(|step| [&step.title].into_iter().chain(&step.tool)));
                texts.extend(more.iter().chain(last));
            }
        }
        texts.into_iter().map(String::as_str).collect()
    }
}
