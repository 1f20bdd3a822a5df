//! Figures with their bars, and the machine that they are of.

use std::fs;
use std::num::NonZero;
use std::thread::available_parallelism;

use serde::Serialize;

use crate::eval::report::BUILD;

/// The findings of a measurement.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct BarsReport {
    /// The measurement, in a sentence.
    pub(crate) about: String,
    pub(crate) figures: Vec<Figure>,
    /// Some of the failures that clients met, each as they saw it.
    pub(crate) failures: Vec<String>,
    pub(crate) machine: Machine,
    /// `debug` or `release`. The times of a debug build are longer.
    pub(crate) build: &'static str,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Figure {
    /// The name for programs.
    pub(crate) name: &'static str,
    /// The name of the figure, for people.
    pub(crate) what: &'static str,
    /// None where the system does not say.
    pub(crate) value: Option<f64>,
    pub(crate) unit: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) bar: Option<Bar>,
    /// None where there is no bar.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) met: Option<bool>,
}

/// The values that are good enough.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Bar {
    Below(f64),
    AtMost(f64),
    AtLeast(f64),
}

impl Bar {
    fn is_met_by(self, value: f64) -> bool {
        match self {
            Self::Below(bound) => value < bound,
            Self::AtMost(bound) => value <= bound,
            Self::AtLeast(bound) => value >= bound,
        }
    }
}

impl Figure {
    pub(super) fn new(
        name: &'static str,
        what: &'static str,
        value: impl Into<Option<f64>>,
        unit: &'static str,
    ) -> Self {
        Self { name, what, value: value.into(), unit, bar: None, met: None }
    }

    /// Holds the figure against a bar. One that is not known does not meet it.
    pub(super) fn held_to(self, bar: Bar) -> Self {
        let met = self.value.is_some_and(|value| bar.is_met_by(value));
        Self { bar: Some(bar), met: Some(met), ..self }
    }
}

impl BarsReport {
    pub(super) fn new(about: String, figures: Vec<Figure>, failures: Vec<String>) -> Self {
        Self { about, figures, failures, machine: Machine::this(), build: BUILD }
    }

    /// Says whether all bars are met.
    pub(crate) fn is_met(&self) -> bool {
        self.figures.iter().all(|figure| figure.met != Some(false))
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Machine {
    pub(crate) cores: usize,
    /// The name of the processor, and the memory in bytes. None where the system does not say.
    pub(crate) processor: Option<String>,
    pub(crate) memory_bytes: Option<u64>,
}

impl Machine {
    fn this() -> Self {
        let processors = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let memory = fs::read_to_string("/proc/meminfo").unwrap_or_default();
        let kilobytes = field(&memory, "MemTotal").and_then(|text| text.trim_end_matches("kB").trim().parse().ok());
        Self {
            cores: available_parallelism().map_or(1, NonZero::get),
            processor: field(&processors, "model name").map(str::to_owned),
            memory_bytes: kilobytes.map(|kilobytes: u64| kilobytes * 1024),
        }
    }
}

/// Returns the first field of this name in a text of lines `name: value`.
fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let mut fields = text.lines().filter_map(|line| line.split_once(':'));
    fields.find(|(field, _)| field.trim() == name).map(|(_, value)| value.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_met_where_every_figure_with_a_bar_meets_it() {
        let figure = |value: Option<f64>| Figure::new("n", "what", value, "ms");
        let met = |figures: Vec<Figure>| BarsReport::new(String::new(), figures, Vec::new()).is_met();
        assert!(met(vec![figure(Some(9.0)), figure(None)]), "without bars");
        assert!(met(vec![figure(Some(9.0)).held_to(Bar::Below(10.0)), figure(Some(9.0)).held_to(Bar::AtLeast(9.0))]));
        assert!(!met(vec![figure(Some(10.0)).held_to(Bar::Below(10.0))]));
        assert!(!met(vec![figure(Some(10.1)).held_to(Bar::AtMost(10.0))]));
        assert!(!met(vec![figure(Some(94.9)).held_to(Bar::AtLeast(95.0))]));
        assert!(!met(vec![figure(None).held_to(Bar::AtMost(10.0))]), "what is not known");
    }

    #[test]
    fn fields_are_found_by_their_names() {
        let text = "processor\t: 0\nmodel name\t: A processor: two\nmodel name\t: other\n";
        assert_eq!(field(text, "model name"), Some("A processor: two"));
        assert_eq!(field(text, "model"), None);
    }
}
