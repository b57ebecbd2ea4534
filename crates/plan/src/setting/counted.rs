//! Counters of a link over parts of a trial.

use units::Span;

/// The counters in the direction from a link's first end to its second. They do
/// not affect other results.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Parts of a trial with metrics of their own.
    pub windows: Vec<Window>,
    /// The interval of the time series, if one is recorded.
    pub series: Option<Span>,
    /// The name of the window that is open while a transfer is counted.
    pub transfer: Option<String>,
    /// The period in which losses are attributed to flows, if any.
    pub losses: Option<Losses>,
}

/// The period in which drops in front of a link are attributed to flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Losses {
    /// The begin of the period, from the start of the trial.
    pub from: Span,
    /// The end of the period, exclusive.
    pub to: Span,
    /// Losses within this time of a first loss belong to one congestion epoch.
    pub epoch: Span,
}

/// A part of a trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// The suffix of the window's metrics: `mean_queue_NAME`.
    pub name: String,
    /// The begin of the window, from the start of the trial.
    pub from: Span,
    /// The end of the window, exclusive.
    pub to: Span,
}

impl Counted {
    /// Whether anything is counted.
    pub fn is_any(&self) -> bool {
        !self.windows.is_empty()
            || self.series.is_some()
            || self.transfer.is_some()
            || self.losses.is_some()
    }
}
