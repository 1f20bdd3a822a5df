//! The texts of a pattern's part, which people and models wrote: they are scrubbed.

use super::{
    Applicability, FeatureValue, PatternAction, PatternApplication, PatternCondition, PatternContent, PatternGuidance,
    PatternLifecycle, PatternPart, PatternStep, PatternValidation,
};
use crate::safety::secrets::{Removed, Scrub, all};

impl Scrub for PatternPart {
    fn scrub(&mut self) -> Removed {
        all([&mut self.content, &mut self.applicability, &mut self.guidance, &mut self.lifecycle])
    }
}

impl Scrub for PatternContent {
    fn scrub(&mut self) -> Removed {
        match self {
            Self::Strategy { approach, key_principles, trade_offs } => all([approach, key_principles, trade_offs]),
            Self::Template { structure, parameters, instantiation_rules } => {
                all([structure, parameters, instantiation_rules])
            }
            Self::Heuristic { condition, action, rationale } => all([condition, action, rationale]),
            Self::Procedure { steps, branching, termination } => all([steps, branching, termination]),
        }
    }
}

impl Scrub for PatternStep {
    fn scrub(&mut self) -> Removed {
        all([&mut self.id, &mut self.title, &mut self.tool, &mut self.depends_on])
    }
}

impl Scrub for PatternAction {
    fn scrub(&mut self) -> Removed {
        all([&mut self.text, &mut self.tools])
    }
}

impl Scrub for Applicability {
    fn scrub(&mut self) -> Removed {
        all([
            &mut self.problem_types,
            &mut self.domains,
            &mut self.required_capabilities,
            &mut self.context_conditions,
            &mut self.anti_conditions,
        ])
    }
}

impl Scrub for PatternCondition {
    fn scrub(&mut self) -> Removed {
        all([&mut self.feature, &mut self.value])
    }
}

impl Scrub for FeatureValue {
    fn scrub(&mut self) -> Removed {
        match self {
            Self::Text(text) => text.scrub(),
            Self::Texts(texts) => texts.scrub(),
            Self::Truth(_) | Self::Number(_) => Removed::default(),
        }
    }
}

impl Scrub for PatternGuidance {
    fn scrub(&mut self) -> Removed {
        all([&mut self.when_to_apply, &mut self.how_to_apply, &mut self.expected_benefits, &mut self.potential_risks])
    }
}

impl Scrub for PatternLifecycle {
    fn scrub(&mut self) -> Removed {
        all([&mut self.validation, &mut self.deprecation_reason])
    }
}

impl Scrub for PatternValidation {
    fn scrub(&mut self) -> Removed {
        self.accepted_because.scrub()
    }
}

impl Scrub for PatternApplication {
    fn scrub(&mut self) -> Removed {
        self.session.scrub()
    }
}
