//! The parameters that not every endpoint takes. Reasoning models refuse a temperature, some servers metadata or a
//! schema. A parameter that is refused by name is left out of what the same model is asked from then on; the question
//! is the same without it.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::failure::ProviderFailure;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Parameter {
    Temperature,
    Reasoning,
    Metadata,
    Schema,
    /// OpenRouter then asks only models that know every parameter.
    RequireParameters,
    /// This is the name in Chat Completions that reasoning models no longer take.
    MaxTokens,
}

impl Parameter {
    /// The names that endpoints use. The first that is named counts; a name that is also one of models comes late.
    const NAMES: [(Self, &'static [&'static str]); 6] = [
        (Self::RequireParameters, &["no endpoints found", "require_parameters"]),
        (Self::MaxTokens, &["max_completion_tokens"]),
        (Self::Temperature, &["temperature"]),
        (Self::Schema, &["response_format", "text.format", "json_schema", "structured output"]),
        (Self::Reasoning, &["reasoning", "thinking"]),
        (Self::Metadata, &["metadata"]),
    ];

    fn named_in(text: &str) -> impl Iterator<Item = Self> {
        let text = text.to_lowercase();
        let is_named = move |names: &[&str]| names.iter().any(|name| text.contains(name));
        Self::NAMES.into_iter().filter(move |(_, names)| is_named(names)).map(|(parameter, _)| parameter)
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

    fn insert(&mut self, parameter: Parameter) {
        self.0 |= parameter.bit();
    }
}

/// The repetitions of one request, each without one parameter more.
#[derive(Debug)]
pub(super) struct Adaption {
    pub(super) without: Parameters,
    /// The parameter that was left out last, and the others that its refusal named.
    last: Option<(Parameter, Vec<Parameter>)>,
    /// The parameters that were left out, and after which the refusal was another one or none.
    helped: Parameters,
}

impl Adaption {
    /// Begins without the parameters that the model is known not to take.
    pub(super) fn new(known: Parameters) -> Self {
        Self { without: known, last: None, helped: Parameters::default() }
    }

    /// Leaves out the parameter that the refusal is about. It returns none where the refusal is about nothing that can
    /// be left out.
    pub(super) fn leave_out(&mut self, failure: &ProviderFailure) -> Option<Parameter> {
        if !matches!(failure.status, Some(400 | 404 | 422)) {
            return None;
        }
        let said = failure.parameter.as_deref().filter(|name| *name != "max_tokens").unwrap_or_default();
        let named: Vec<Parameter> = Parameter::named_in(said).chain(Parameter::named_in(&failure.said())).collect();
        // A status of 404 is about something else, unless it says that no endpoint takes the parameters.
        let may = |parameter| failure.status != Some(404) || parameter == Parameter::RequireParameters;
        let next = named.iter().copied().find(|parameter| !self.without.contains(*parameter) && may(*parameter))?;
        if let Some((last, _)) = self.last.as_ref().filter(|(_, earlier)| *earlier != named) {
            self.helped.insert(*last);
        }
        self.last = Some((next, named));
        self.without.insert(next);
        Some(next)
    }

    /// Returns what the model was found not to take, now that it has answered. A refusal may name what it is not about,
    /// such as a part of the model's name: a parameter that did not help to leave out is not among these.
    pub(super) fn learned(mut self) -> Parameters {
        if let Some((last, _)) = self.last {
            self.helped.insert(last);
        }
        self.helped
    }
}

/// The parameters that each model is known to refuse, for as long as the process lives. The settings name a handful of
/// models.
#[derive(Debug, Default)]
pub(super) struct RefusedParameters(Mutex<BTreeMap<String, Parameters>>);

impl RefusedParameters {
    pub(super) fn by(&self, model: &str) -> Parameters {
        self.lock().get(model).copied().unwrap_or_default()
    }

    pub(super) fn add(&self, model: &str, parameters: Parameters) {
        if parameters != Parameters::default() {
            self.lock().entry(model.to_owned()).or_default().0 |= parameters.0;
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Parameters>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::Parameter::{MaxTokens, Metadata, Reasoning, RequireParameters, Schema, Temperature};
    use super::*;
    use crate::llm::failure::FailureClass;

    fn refusal(status: u16, message: &str, parameter: Option<&str>) -> ProviderFailure {
        let parameter = parameter.map(str::to_owned);
        ProviderFailure { status: Some(status), parameter, ..ProviderFailure::new(FailureClass::Refused, message) }
    }

    #[rstest]
    #[case(400, "phi-4-reasoning does not support json_schema", None, Some(Schema))]
    #[case(400, "This response_format type is unavailable now", None, Some(Schema))]
    #[case(400, "In context ('properties', 'reasoning'), no.", Some("text.format.schema"), Some(Schema))]
    #[case(400, "Unsupported value: 'none' with this temperature", Some("reasoning.effort"), Some(Reasoning))]
    #[case(400, "Use 'max_completion_tokens' instead.", Some("max_tokens"), Some(MaxTokens))]
    #[case(400, "temperature is not supported", Some("None"), Some(Temperature))]
    #[case(422, "extra field: metadata", None, Some(Metadata))]
    #[case(404, "No endpoints found that can handle temperature.", None, Some(RequireParameters))]
    #[case(404, "no model phi-4-reasoning", None, None)]
    #[case(400, "the prompt is too long", None, None)]
    #[case(500, "temperature", None, None)]
    fn the_parameter_that_a_refusal_is_about_is_left_out(
        #[case] status: u16,
        #[case] message: &str,
        #[case] said: Option<&str>,
        #[case] expected: Option<Parameter>,
    ) {
        let mut adaption = Adaption::new(Parameters::default());
        assert_eq!(adaption.leave_out(&refusal(status, message, said)), expected);
        assert!(expected.is_none_or(|parameter| adaption.without.contains(parameter)));
    }

    #[test]
    fn every_name_in_a_refusal_is_tried_and_only_what_helped_is_learned() {
        let mut adaption = Adaption::new(Parameters::default());
        let stubborn = refusal(400, "acme-reasoning does not know metadata", None);
        assert_eq!(adaption.leave_out(&refusal(400, "no temperature", None)), Some(Temperature));
        assert_eq!(adaption.leave_out(&stubborn), Some(Reasoning));
        assert_eq!(adaption.leave_out(&stubborn), Some(Metadata));
        let learned = adaption.learned();
        assert_eq!(
            [Temperature, Reasoning, Metadata].map(|parameter| learned.contains(parameter)),
            [true, false, true]
        );
    }
}
