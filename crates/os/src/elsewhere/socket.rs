//! Sockets of systems other than Linux, with the names that they have on Linux.
//!
//! A socket here never waits in the system: a call that may wait polls. So one call can wait
//! and another one not, on every system, and a call ends at its time: Windows leaves a socket
//! undefined after SO_RCVTIMEO.
//!
//! Arrivals have no stamps of the kernel, so the program's own count, and results say so.

mod calls;
mod datagrams;
mod error_number;
mod inbox;
mod open;
mod option;
mod segments;
mod tcp;
mod waiting;
mod whole;

pub use crate::portable::socket_parts::{
    InboxEntry, KeepAlive, Kind, Options, SegmentState, TcpProgress, TcpState, UDP_RECEIVE_BUFFER,
    stalled,
};
pub use calls::{MsgFlags, Socket, SocketRef};
pub use calls::{
    accept, address_of, begin_to_connect, borrowed, connect, end_stream, listen, peer_of, receive,
    receive_from, reset, send, send_to, take_error,
};
pub use datagrams::{STAMPS_ARRIVALS, cut, merge, stamp_arrivals, stated_drops};
pub use error_number::{Errno, is_of_connection};
pub use inbox::{Inbox, receive_stamped};
pub use open::{
    apply, bind_to, keep_alive, missing, open, receive_buffer, reset_on_close, reuse_address,
    send_buffer, set_code_point, set_no_delay, set_non_blocking, set_timeout,
};
#[cfg(not(target_os = "linux"))]
pub use segments::segment_state;
pub use tcp::{
    CHOOSES_CONGESTION_CONTROL, LIMITS_SEGMENTS, SmoothedRtt, arrived_at_most,
    available_congestion_controls, stated_tcp_state, stated_unacknowledged, stated_unread,
    stuck_segment, tcp_progress,
};
pub use waiting::{readable, ready_to_write, wait_to_read, wait_to_read_or_write, wait_to_write};
pub use whole::{has_path_mtu, set_hop_limit};

/// The remedy where echo requests are not allowed.
pub const NO_ECHOES: &str = "the program cannot send echo requests of this version of IP on this system; name another --protocol";

#[cfg(test)]
mod tests;
