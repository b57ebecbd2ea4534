//! Counters of a link over windows of a trial and over time, for simulated and emulated
//! links.

#[cfg(target_os = "linux")]
mod emulated;
mod losses;
mod series;
mod window;

#[cfg(target_os = "linux")]
pub(crate) use emulated::EmulatedCounts;
pub(crate) use losses::{Attributed, Losses};
pub(crate) use series::Series;
pub(crate) use window::{AggregatorMetrics, Window};
