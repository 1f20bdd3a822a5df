//! Parameters that not every endpoint takes. One that is refused by name is left out from then on: reasoning models
//! refuse a temperature, some servers metadata or a schema. What is asked is the same without it.

use std::sync::atomic::{AtomicU8, Ordering};

use super::failure::Failure;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Parameter {
    Temperature,
    Reasoning,
    Metadata,
    Schema,
    /// OpenRouter: only models that know every parameter.
    RequireParameters,
    /// Chat Completions: the name that reasoning models no longer take.
    MaxTokens,
}

impl Parameter {
    /// How endpoints name it. The first that is named counts.
    const NAMES: [(Self, &'static [&'static str]); 6] = [
        (Self::RequireParameters, &["no endpoints found", "require_parameters"]),
        (Self::MaxTokens, &["max_completion_tokens"]),
        (Self::Temperature, &["temperature"]),
        (Self::Reasoning, &["reasoning", "thinking"]),
        (Self::Schema, &["response_format", "text.format", "json_schema", "structured output"]),
        (Self::Metadata, &["metadata"]),
    ];

    /// The parameter that a refusal is about.
    pub(super) fn refused_in(failure: &Failure) -> Option<Self> {
        if !matches!(failure.status, Some(400 | 404 | 422)) {
            return None;
        }
        let named = |text: &str| {
            let text = text.to_lowercase();
            Self::NAMES.into_iter().find(|(_, names)| names.iter().any(|name| text.contains(name)))
        };
        let parameter = failure.parameter.as_deref().filter(|name| *name != "max_tokens").and_then(named);
        let (parameter, _) = parameter.or_else(|| named(&failure.message))?;
        // Not found is something else, unless it is a model that knows the parameters.
        (failure.status != Some(404) || parameter == Self::RequireParameters).then_some(parameter)
    }

    fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// A set of parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Parameters(u8);

impl Parameters {
    pub(super) fn contains(self, parameter: Parameter) -> bool {
        self.0 & parameter.bit() != 0
    }

    /// False if it was in the set.
    pub(super) fn insert(&mut self, parameter: Parameter) -> bool {
        let new = !self.contains(parameter);
        self.0 |= parameter.bit();
        new
    }
}

/// The parameters that an endpoint is known to refuse, for as long as the process lives.
#[derive(Debug, Default)]
pub(super) struct Refused(AtomicU8);

impl Refused {
    pub(super) fn get(&self) -> Parameters {
        Parameters(self.0.load(Ordering::Relaxed))
    }

    pub(super) fn add(&self, parameters: Parameters) {
        self.0.fetch_or(parameters.0, Ordering::Relaxed);
    }
}
