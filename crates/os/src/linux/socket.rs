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
mod receive;
mod smoothed_rtt;
mod stamps;
mod state;
mod wait;

pub use address::{address_of, begin_to_connect, bind_to, connect, peer_of, plain};
pub use buffers::UDP_RECEIVE_BUFFER;
pub use buffers::{receive_buffer, send_buffer, set_receive_buffer};
pub use congestion::available_congestion_controls;
pub use congestion::{default_congestion_control, try_congestion_control};
pub use errors::{next_error, reported};
pub use ip_option::IpOption;
pub use kind::Kind;
pub use open::{NO_ECHOES, control, listen, open, open_for_echoes, receive_icmp_only};
pub use options::Options;
pub use options::{reset_on_close, set_code_point, set_timeout};
pub use receive::{receive, receive_from};
pub use smoothed_rtt::SmoothedRtt;
pub use stamps::{
    ACKNOWLEDGED, ARRIVALS, COUNT_WRITTEN, LEFT, NUMBERS, QUEUED, read_departures, stamp_arrivals,
    stamp_departures,
};
pub use stamps::{Stamp, keep_stamping};
pub use state::TcpState;
pub use state::{TCP_HEADER, full_segment, take_error, tcp_state};
pub use wait::is_readable;
pub use wait::{is_of_connection, stalled, wait};

pub use crate::sys::socket::{accept, reset};
