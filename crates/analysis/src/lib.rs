//! Derives findings from trials: intervals, comparisons, verdicts, claims. The
//! crate accesses neither files nor clocks.
//!
//! [`mod@compare`] holds each cell against its baseline, [`verdict`] holds the
//! change against what a study printed, and [`claims`], [`paired`]
//! and [`sizes`] against what it asserts otherwise; [`scores`] counts how often a prober was
//! right; [`latency_breakdown`] groups round trips that were taken apart, [`decomposition`] tells
//! what a gain is made of, [`details`] has time series and distributions, [`quality_check`] whether the trials can be trusted,
//! [`completion`] whether there are enough of them, [`disturbances`] how many
//! of them other work disturbed, [`passes`] which of these count, and [`outliers`] which of
//! them stand apart. [`Findings`] is all of that of one run, [`across_backends`] lays
//! several side by side. [`statistics`] has the arithmetic.

pub mod across_backends;
pub mod answer;
pub mod claims;
pub mod compare;
pub mod completion;
pub mod costs;
pub mod decomposition;
pub mod details;
pub mod digits;
pub mod disturbances;
mod findings;
pub mod latency_breakdown;
pub mod outliers;
pub mod paired;
pub mod passes;
pub mod predicted;
pub mod prober_accuracy;
pub mod quality_check;
mod resolution;
pub mod sensitivity;
pub mod sizes;
pub mod statistics;
pub mod verdict;

pub use findings::Findings;
