//! Operational warnings: what earlier versions stored where our own limits ended a solve. They say nothing about a
//! task, so no search finds them. A trace has their place now.

use super::{Facts, Memory, SourceType};
use crate::note::Code;

/// The codes of failures that became warnings.
const OPERATIONAL: [Code; 2] = [Code::TokenBudgetExceeded, Code::LlmOutputInvalid];

impl Memory {
    /// Tells whether the memory is a warning about our own limits, as rules made them. A warning of the same error that
    /// somebody recorded is none.
    pub fn is_operational(&self) -> bool {
        let facts = Facts::from(self);
        let code = OPERATIONAL.into_iter().find(|code| facts.is_named(*code));
        let is_title = |code: Code| self.title == format!("A solve of a task like this ended with {}", code.as_str());
        self.source_type == SourceType::Solve && code.is_some_and(is_title)
    }
}

impl Facts {
    /// Tells whether the memory may be operational, which its body then decides.
    pub fn may_be_operational(&self) -> bool {
        OPERATIONAL.into_iter().any(|code| self.is_named(code))
    }

    fn is_named(&self, code: Code) -> bool {
        self.signature.as_ref().is_some_and(|signature| signature.error() == code.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::ErrorContext;
    use crate::memory::samples::{strategy, warning};

    fn ended_with(code: &str) -> Memory {
        let error = warning(1).error_context.map(|error| ErrorContext { error_type: code.into(), ..error });
        Memory {
            title: format!("A solve of a task like this ended with {code}"),
            error_context: error,
            source_type: SourceType::Solve,
            ..warning(1)
        }
    }

    #[test]
    fn what_rules_said_of_our_own_limits_is_operational_and_nothing_else() {
        for code in ["token_budget_exceeded", "llm_output_invalid"] {
            let memory = ended_with(code);
            assert!(memory.is_operational() && Facts::from(&memory).may_be_operational(), "{code}");
            let by_hand = Memory { source_type: SourceType::Explicit, ..memory.clone() };
            let titled = Memory { title: "Raise the budget of long tasks".into(), ..memory };
            for memory in [by_hand, titled] {
                assert!(!memory.is_operational() && Facts::from(&memory).may_be_operational(), "{memory:?}");
            }
        }
        for memory in [ended_with("timeout"), strategy(1)] {
            assert!(!memory.is_operational() && !Facts::from(&memory).may_be_operational());
        }
    }
}
