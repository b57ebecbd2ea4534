//! Sockets: the one place that opens them, with one set of [`Options`]. It also has what
//! several tools ask of a socket: addresses, waiting, the kernel's timestamps, and TCP's state.

mod address;
mod buffers;
mod calls;
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
pub use buffers::{receive_buffer, send_buffer, set_receive_buffer};
pub use calls::{Socket, SocketRef};
pub use calls::{
    borrowed, end_stream, keep_alive, readable, reuse_address, send, set_no_delay,
    set_non_blocking, stated_drops,
};
pub use congestion::{CHOOSES_CONGESTION_CONTROL, LIMITS_SEGMENTS, available_congestion_controls};
pub use congestion::{default_congestion_control, try_congestion_control};
pub use errors::{next_error, reported};
pub use ip_option::IpOption;
pub use kind::missing;
pub use open::{NO_ECHOES, control, listen, open, open_for_echoes, receive_icmp_only};
pub use options::{apply, has_path_mtu, reset_on_close, set_code_point, set_timeout};
pub use receive::{receive, receive_from};
pub use smoothed_rtt::SmoothedRtt;
pub use stamps::{
    ACKNOWLEDGED, ARRIVALS, COUNT_WRITTEN, LEFT, NUMBERS, QUEUED, read_departures, stamp_arrivals,
    stamp_departures,
};
pub use stamps::{STAMPS_ARRIVALS, Stamp, keep_stamping};
pub use state::{TCP_HEADER, full_segment, take_error, tcp_state};
pub use state::{
    arrived_at_most, stated_tcp_state, stated_unacknowledged, stated_unread, tcp_progress,
};
pub use wait::is_readable;
pub use wait::{is_of_connection, wait};
pub use wait::{wait_to_read, wait_to_read_or_write, wait_to_write};

pub use crate::portable::socket_parts::{
    InboxEntry, KeepAlive, Kind, Options, SegmentState, TcpProgress, TcpState, UDP_RECEIVE_BUFFER,
    stalled,
};
pub use crate::sys::datagrams::{cut, merge};
pub use crate::sys::inbox::{Inbox, receive_piece, receive_stamped};
pub use crate::sys::sctp::send_on_stream;
pub use crate::sys::socket::{accept, reset};
pub use crate::sys::tcp_info::stuck_segment;

pub use nix::errno::Errno;
pub use nix::sys::socket::MsgFlags;
