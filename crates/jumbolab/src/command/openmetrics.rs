//! The text format of OpenMetrics [OpenMetrics].

use std::fmt::{Display, Write as _};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Counter,
    Gauge,
}

/// The text of metrics whose names begin alike.
pub(super) struct Exposition {
    prefix: &'static str,
    text: String,
    /// The name of the latest metric's samples.
    samples: String,
}

impl Exposition {
    pub(super) const fn new(prefix: &'static str) -> Self {
        Self {
            prefix,
            text: String::new(),
            samples: String::new(),
        }
    }

    /// Begins a metric; `name` lacks the prefix.
    pub(super) fn begin(&mut self, kind: Kind, name: &str, help: &str) {
        let (kind, suffix) = match kind {
            Kind::Counter => ("counter", "_total"),
            Kind::Gauge => ("gauge", ""),
        };
        let name = format!("{}{name}", self.prefix);
        let _ = writeln!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}");
        self.samples = name + suffix;
    }

    /// Adds a sample of the latest metric.
    pub(super) fn sample(&mut self, labels: &[(&str, &str)], value: impl Display) {
        self.text.push_str(&self.samples);
        for (place, (label, value)) in labels.iter().enumerate() {
            let before = if place == 0 { '{' } else { ',' };
            let _ = write!(self.text, "{before}{label}=\"{}\"", escaped(value));
        }
        let end = if labels.is_empty() { "" } else { "}" };
        let _ = writeln!(self.text, "{end} {value}");
    }

    pub(super) fn end(self) -> String {
        self.text + "# EOF\n"
    }
}

/// The value of a label.
fn escaped(value: &str) -> String {
    value
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_end_in_total_and_labels_are_escaped() {
        let mut text = Exposition::new("x_");
        text.begin(Kind::Counter, "packets", "Packets.");
        text.sample(&[("peer", "a\"b\\c\nd"), ("way", "out")], 3);
        text.begin(Kind::Gauge, "share", "A share.");
        text.sample(&[], 0.5);
        assert_eq!(
            text.end(),
            "# HELP x_packets Packets.\n# TYPE x_packets counter\n\
             x_packets_total{peer=\"a\\\"b\\\\c\\nd\",way=\"out\"} 3\n\
             # HELP x_share A share.\n# TYPE x_share gauge\nx_share 0.5\n# EOF\n"
        );
    }
}
