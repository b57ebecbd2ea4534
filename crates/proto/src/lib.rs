//! Protocol endpoints and measurements without I/O: state machines that a driver with
//! sockets and a clock runs.
//!
//! Trials in the kernel and in the simulator use the same [`FlowRecorder`]; `jumbolab
//! recv` and the decoder of its packet logs use the same [`streaming_recorder`]. A
//! statistic therefore has one definition in all of them.

pub mod clock_offset;
pub mod control;
mod direction;
pub mod ditg;
pub mod edge;
mod flow_recorder;
pub mod gateway;
mod goodput_window;
pub mod latency_breakdown;
pub mod link;
mod message_plan;
pub mod middlebox;
pub mod pmtu;
pub mod probe;
mod protocol;
pub mod request_response;
pub mod stamp;
mod stream;
pub mod streaming_recorder;
pub mod tcp;
pub mod time_series;
mod timers;
pub mod traffic;
pub mod trial_token;

pub use direction::Direction;
pub use flow_recorder::{FlowRecorder, Summary};
pub use goodput_window::{Goodput, GoodputWindow, TOLERANCE};
pub use message_plan::MessagePlan;
pub use protocol::Protocol;
pub use stream::MessageStream;
