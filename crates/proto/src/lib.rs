//! Endpoints without I/O: the state of protocols and of measurements, driven
//! by whoever has the sockets and the clock.
//!
//! Trials of the kernel and of the simulator use the same [`FlowRecorder`];
//! `jumbolab recv` and the decoder of its packet logs use the same
//! [`streaming_recorder`]. A statistic therefore means the same wherever it
//! comes from.

pub mod clock_offset;
pub mod control;
pub mod ditg;
pub mod edge;
mod flow_recorder;
mod goodput_window;
pub mod latency_breakdown;
pub mod link;
mod message_plan;
pub mod request_response;
mod stream;
pub mod streaming_recorder;
pub mod tcp;
pub mod traffic;

pub use flow_recorder::{FlowRecorder, Summary};
pub use goodput_window::{Goodput, GoodputWindow, TOLERANCE};
pub use message_plan::MessagePlan;
pub use stream::MessageStream;
