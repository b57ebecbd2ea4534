//! Sockets: the one place that opens them, with one set of [`Options`]. It also has what
//! several tools ask of a socket: addresses, waiting, the kernel's timestamps, and TCP's state.

mod address;
mod buffers;
mod congestion;
mod errors;
mod ip_option;
mod kind;
mod open;
mod options;
mod smoothed_rtt;
mod stamps;
mod state;
mod wait;

pub(crate) use address::{address_of, begin_to_connect, bind_to, connect, peer_of, plain};
pub use buffers::UDP_RECEIVE_BUFFER;
pub(crate) use buffers::{receive_buffer, send_buffer, set_receive_buffer};
pub(crate) use congestion::available_congestion_controls;
pub use congestion::{default_congestion_control, try_congestion_control};
pub(crate) use errors::{next_error, reported};
pub(crate) use ip_option::IpOption;
pub(crate) use kind::Kind;
pub(crate) use open::{NO_ECHOES, control, listen, open, open_for_echoes};
pub use options::Options;
pub(crate) use options::{reset_on_close, set_code_point, set_timeout};
pub(crate) use smoothed_rtt::SmoothedRtt;
pub use stamps::keep_stamping;
pub(crate) use stamps::{
    ACKNOWLEDGED, ARRIVALS, COUNT_WRITTEN, LEFT, NUMBERS, QUEUED, read_departures, stamp_arrivals,
    stamp_departures, stamp_of,
};
pub use state::TcpState;
pub(crate) use state::{TCP_HEADER, full_segment, take_error, tcp_state};
pub use wait::is_readable;
pub(crate) use wait::{is_of_connection, stalled, wait};

pub(crate) use crate::sys::socket::{accept, reset};
