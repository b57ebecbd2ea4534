//! Requests and responses.

use meter::request_response::{Broken, Stall};
use serde::{Deserialize, Serialize};

use super::fact::{Fact, Row};

facts! {
    "", "requests and responses: texts of numbers separated by spaces, by ascending size: `size` (bytes), answered `messages`, `mean_us`, `deviation_us` (standard) and `least_us` of a message, `whole_us` of all bytes; between kernels also the mean by other clocks: `processor_us`, `clock_1ms_us`, `clock_10ms_us`, `clock_55ms_us`"
    { SIZES: Sizes = "sizes" }

    "", "requests and responses, by stall: `size`, `message` (number), `at` (step), bytes `written` and `read`, bytes in `send_queue` and `receive_queue`, and parts of TCP_INFO (`tcp`)"
    { STALLED: Vec<Stall> = "stalled" }

    "", "requests and responses: messages whose connection ended: `size`, bytes `read` of it and `written` of its answer"
    { BROKEN: Vec<Broken> = "broken" }
}

/// Times by size: texts of numbers, one for each size in ascending order, in microseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Sizes {
    /// Bytes of a message.
    pub size: String,
    /// Messages that were answered.
    pub messages: String,
    pub mean_us: String,
    pub deviation_us: String,
    pub least_us: String,
    /// Times of all bytes.
    pub whole_us: String,
    /// Means by other clocks, between kernels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processor_us: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock_1ms_us: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock_10ms_us: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock_55ms_us: Option<String>,
}
