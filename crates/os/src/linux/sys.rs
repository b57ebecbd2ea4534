//! System calls that no crate wraps: each a few lines of `unsafe` behind a safe
//! function.
#![expect(unsafe_code, reason = "this is the folder for it")]

pub(crate) mod adjtimex;
pub(crate) mod allocator;
pub mod bpf;
pub mod datagrams;
pub mod ethtool;
pub(crate) mod flow_label;
pub mod inbox;
mod mapped;
mod messages;
pub mod option;
pub mod packet;
pub(crate) mod packet_ring;
pub mod queued;
pub(crate) mod scheduling;
pub mod sctp;
pub(crate) mod socket;
pub mod tcp_info;
pub(crate) mod tun;
pub mod xdp_socket;
