//! What is counted of a simulated link, over parts of a trial.

use units::Span;

/// What is counted in the direction from a link's first end to its second. Whatever
/// it is, it changes no other figure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Parts of a trial that have figures of their own.
    pub windows: Vec<Window>,
    /// How long each interval of a time series is, if there is one.
    pub series: Option<Span>,
    /// The window, by name, that is open while a transfer is counted.
    pub transfer: Option<String>,
    /// When it is looked at who loses, if at all.
    pub losses: Option<Losses>,
}

/// When it is looked at which flows lose packets in front of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Losses {
    /// When that begins, from the beginning of the trial on.
    pub from: Span,
    /// When it is over; what happens at this instant is not counted.
    pub to: Span,
    /// Losses that follow the first one within this time are one congestion.
    pub epoch: Span,
}

/// A part of a trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// What its metrics are called by: `mean_queue_NAME`.
    pub name: String,
    /// When it begins, from the beginning of the trial on.
    pub from: Span,
    /// When it is over; what happens at this instant is not counted.
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
