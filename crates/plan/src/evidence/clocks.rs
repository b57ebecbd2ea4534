//! Clocks.

use super::fact::{Fact, Row};

facts! {
    "us", "how far the wall clock was moved during the trial; of ends on different machines the larger step of both"
    { CLOCK_STEP_US: i64 = "clock_step_us" }

    "us", "bound of the error of the offset between the clocks of ends on different machines, slews included; absent: both ends read one clock"
    { CLOCK_BOUND_US: f64 = "clock_bound_us" }

    "us", "the part of this bound that is for slews: what the wall clocks of both ends deviated from an even rate, twice"
    { CLOCK_SLEW_US: f64 = "clock_slew_us" }

    "us", "how far these clocks drifted apart from before until after the traffic; of transfers and latency breakdowns"
    { CLOCK_DRIFT_US: f64 = "clock_drift_us" }
}
