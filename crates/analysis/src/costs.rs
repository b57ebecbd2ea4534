//! Fits the costs of packets and bytes to trials of bulk transfers, and predicts other
//! MTUs from them.
//!
//! The time of a byte of payload is `per_byte + per_packet / segment`, linear in one
//! over the payload of a segment; so is the CPU time, and so is the round trip of a
//! sender whose bytes in flight are limited. [`fit`] estimates these costs by least
//! squares with their covariance and tests whether the trials have this form.
//! [`series_of`] finds the trials of a run that differ in segments and sizes only.

mod fit;
mod least_squares;
mod prediction;
mod quantity;
mod series;

pub use fit::{CannotFit, CostFit, LackOfFit, Observation, Spread, fit};
pub use prediction::{Asked, Figure, Predicted, Warning, p_value, predict};
pub use quantity::{QUANTITIES, Quantity, THROUGHPUT};
pub use series::{Offloads, Point, Series, series_of};
