//! Clocks.

use super::fact::{Fact, Row};

facts! {
    "us", "step of the wall clock during the trial; of two machines the larger one"
    { CLOCK_STEP_US: i64 = "clock_step_us" }

    "us", "bound of the error of the clock offset between machines, with slews; absent: one clock"
    { CLOCK_BOUND_US: f64 = "clock_bound_us" }

    "us", "the part of this bound for slews: twice the deviation of both wall clocks from an even rate"
    { CLOCK_SLEW_US: f64 = "clock_slew_us" }

    "us", "how late the programs of receiver and sender stamp arrivals (99th percentile over loopback, before the traffic); absent where the kernel stamps them"
    { STAMP_LATE_US: f64 = "stamp_late_us", ECHO_STAMP_LATE_US: f64 = "echo_stamp_late_us" }

    "us", "drift of these clocks during the traffic; of transfers and latency breakdowns"
    { CLOCK_DRIFT_US: f64 = "clock_drift_us" }
}
