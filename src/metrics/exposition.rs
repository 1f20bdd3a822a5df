//! Writes the text format of Prometheus, version 0.0.4.

use std::fmt::Write;

use super::histogram::BOUNDS;
use super::names::Metric;

/// The media type of the text.
pub(super) const MEDIA_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The text as far as it is written.
#[derive(Debug, Default)]
pub(super) struct Exposition(String);

/// The numbers of a histogram: for each of [`BOUNDS`] how many were at most that large, then the count and the sum.
pub(super) struct HistogramNumbers {
    pub(super) within: Vec<u64>,
    pub(super) count: u64,
    pub(super) seconds: f64,
}

impl Exposition {
    pub(super) fn into_text(self) -> String {
        self.0
    }

    /// Writes a metric without labels.
    pub(super) fn value(&mut self, metric: &Metric<0>, value: impl Number) {
        self.values(metric, [([], value)]);
    }

    /// Writes a metric with a value for each set of labels. A metric without any is left out.
    pub(super) fn values<'a, const N: usize, V: Number>(
        &mut self,
        metric: &Metric<N>,
        values: impl IntoIterator<Item = ([&'a str; N], V)>,
    ) {
        let mut values = values.into_iter().peekable();
        if values.peek().is_none() {
            return;
        }
        self.head(metric);
        for (labels, value) in values {
            self.sample(metric.name, "", metric.labels.into_iter().zip(labels), value.as_f64());
        }
    }

    /// Writes a histogram for each set of labels.
    pub(super) fn histograms<'a, const N: usize>(
        &mut self,
        metric: &Metric<N>,
        histograms: impl IntoIterator<Item = ([&'a str; N], HistogramNumbers)>,
    ) {
        let mut histograms = histograms.into_iter().peekable();
        if histograms.peek().is_none() {
            return;
        }
        self.head(metric);
        for (labels, HistogramNumbers { within, count, seconds }) in histograms {
            let labels = metric.labels.into_iter().zip(labels);
            let bounds = BOUNDS.iter().map(|bound| bound.as_secs_f64().to_string());
            for (bound, within) in bounds.zip(within).chain([("+Inf".to_owned(), count)]) {
                let bucket = labels.clone().chain([("le", bound.as_str())]);
                self.sample(metric.name, "_bucket", bucket, within.as_f64());
            }
            self.sample(metric.name, "_sum", labels.clone(), seconds);
            self.sample(metric.name, "_count", labels, count.as_f64());
        }
    }

    fn head<const N: usize>(&mut self, metric: &Metric<N>) {
        let Metric { name, kind, help, .. } = metric;
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {}", kind.as_str());
    }

    fn sample<'a>(
        &mut self,
        name: &str,
        suffix: &str,
        labels: impl Iterator<Item = (&'static str, &'a str)>,
        value: f64,
    ) {
        let _ = write!(self.0, "{name}{suffix}");
        for (n, (label, value)) in labels.enumerate() {
            let begin = if n == 0 { '{' } else { ',' };
            let _ = write!(self.0, "{begin}{label}=\"{}\"", escaped(value));
        }
        if self.0.ends_with('"') {
            self.0.push('}');
        }
        let _ = writeln!(self.0, " {value}");
    }
}

fn escaped(value: &str) -> String {
    value.replace('\\', r"\\").replace('"', "\\\"").replace('\n', r"\n")
}

/// A number that a metric may have. Those that are not finite are never made.
pub(super) trait Number {
    fn as_f64(&self) -> f64;
}

impl Number for u64 {
    fn as_f64(&self) -> f64 {
        *self as f64
    }
}

impl Number for usize {
    fn as_f64(&self) -> f64 {
        *self as f64
    }
}

impl Number for f64 {
    fn as_f64(&self) -> f64 {
        *self
    }
}

impl Number for bool {
    fn as_f64(&self) -> f64 {
        f64::from(u8::from(*self))
    }
}
