//! The catalogue of metrics: what each is called, what it means, and how fine
//! the instrument can tell it.

mod catalogue;
mod flow;
mod latency_breakdown;
mod order;
mod page;
mod window;

pub use catalogue::METRICS;
pub use flow::of_flow;
pub use latency_breakdown::{OF_LATENCY_BREAKDOWN, part_metric};
pub use order::{measured, position};
pub use page::documented;
pub use window::{LONGEST as LONGEST_WINDOW, of_window};

/// One thing that a trial measures.
#[derive(Debug, PartialEq)]
pub struct Metric {
    /// Its name in journals, experiments and JSON.
    pub name: &'static str,
    /// The unit of its figures.
    pub unit: &'static str,
    /// What tables call it.
    pub title: &'static str,
    /// How it is measured, in one sentence.
    pub definition: &'static str,
    /// Which direction is an improvement.
    pub better: Better,
    /// Where a report shows it.
    pub shown: Shown,
    /// The smallest difference that the instrument can tell, where known.
    pub resolution: Option<Resolution>,
    /// Whether it is also stated of each flow of a trial alone.
    pub of_flows: bool,
}

/// Which direction is an improvement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// Less is better.
    Lower,
    /// More is better.
    Higher,
}

/// Where a report shows a metric that the experiment does not name. JSON and
/// `trials.parquet` hold every metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// In a table of its own, one of the 2019 study [Praptodiyono2019], and in
    /// the sentences of the answer.
    Table(Table),
    /// In the compact table of other metrics.
    Compact,
    /// In JSON alone, until an experiment names it in `compare.metrics`.
    Json,
}

/// The results of the 2019 study that print figures [Praptodiyono2019].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Table {
    /// Table 2.
    Rtt = 2,
    /// Table 3.
    Jitter = 3,
    /// Table 4.
    Throughput = 4,
    /// Table 5.
    Cpu = 5,
}

impl Table {
    /// The tables in the study's order.
    pub const ALL: [Self; 4] = [Self::Rtt, Self::Jitter, Self::Throughput, Self::Cpu];

    /// Its number in the study.
    pub const fn number(self) -> u8 {
        self as u8
    }
}

/// The smallest difference that the instrument can tell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Resolution {
    /// So many per cent of the figure.
    Percent(f64),
    /// So much in the metric's unit.
    Absolute(f64),
    /// One tick of the machine's CPU accounting over the octets that were metered.
    CpuTick,
}

/// A kernel or monotonic stamp is kept in nanoseconds but taken by software;
/// a microsecond is what two stamps of one event agree on, and what TCP_INFO
/// counts in [tcp(7)]. In milliseconds.
const STAMP: Resolution = Resolution::Absolute(0.001);

impl Metric {
    /// Its table in the 2019 study [Praptodiyono2019], if it has one.
    pub const fn table(&self) -> Option<Table> {
        match self.shown {
            Shown::Table(table) => Some(table),
            Shown::Compact | Shown::Json => None,
        }
    }

    /// Whether it is of a single flow, which has a name of its own.
    pub fn is_of_flow(&self) -> bool {
        flow::split(self.name).is_some()
    }

    /// Whether it is of a part of the trial, which has a name of its own.
    pub fn is_of_window(&self) -> bool {
        window::base(self.name).is_some()
    }

    const fn new(
        name: &'static str,
        unit: &'static str,
        title: &'static str,
        definition: &'static str,
        better: Better,
    ) -> Self {
        Self {
            name,
            unit,
            title,
            definition,
            better,
            shown: Shown::Compact,
            resolution: None,
            of_flows: false,
        }
    }

    /// The same in a table of the 2019 study.
    const fn of_table(self, table: Table) -> Self {
        Self {
            shown: Shown::Table(table),
            ..self
        }
    }

    /// The same in JSON alone.
    const fn in_json(self) -> Self {
        Self {
            shown: Shown::Json,
            ..self
        }
    }

    /// The same with the resolution of the instrument.
    const fn with_resolution(self, resolution: Resolution) -> Self {
        Self {
            resolution: Some(resolution),
            ..self
        }
    }

    /// The same, where it is also stated of each flow of a trial alone.
    const fn of_flows(self) -> Self {
        Self {
            of_flows: true,
            ..self
        }
    }

    /// The metric called `name`, or of one flow, e.g. `delay/NAME`, or over one
    /// part of a trial, e.g. `mean_queue_NAME`.
    pub fn named(name: &str) -> Option<&'static Self> {
        let mut of_catalogue = METRICS.iter().chain(&OF_LATENCY_BREAKDOWN);
        of_catalogue
            .find(|metric| metric.name == name)
            .or_else(|| flow::named(name))
            .or_else(|| window::named(name))
    }

    /// For a per-end CPU metric, the one at the other end of its attribution
    /// interval: the process plus all softirq.
    pub fn attribution(&self) -> Option<&'static Self> {
        match self.name {
            "cpu_sender" => Self::named("cpu_sender_high"),
            "cpu_receiver" => Self::named("cpu_receiver_high"),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
