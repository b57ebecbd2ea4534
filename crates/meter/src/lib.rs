//! Measured flows, without I/O: the departures and the division of what is sent, and the
//! records of what arrives.
//!
//! Trials between kernels and in the simulator use the same [`FlowRecorder`]; `jumbolab
//! recv` and the decoder of its packet logs use the same [`streaming_recorder`]. A
//! statistic therefore has one definition in all of them.

pub mod call_quality;
pub mod clock_offset;
pub mod departures;
pub mod ditg;
mod flow_recorder;
mod goodput_window;
pub mod latency_breakdown;
mod message_plan;
pub mod request_response;
mod stream;
pub mod streaming_recorder;
pub mod time_series;

pub use flow_recorder::{FlowRecorder, Summary};
pub use goodput_window::{Goodput, GoodputWindow, TOLERANCE};
pub use message_plan::MessagePlan;
pub use stream::{MessageStream, Received};
