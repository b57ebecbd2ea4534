//! System calls that no crate wraps: each a few lines of `unsafe` behind a safe
//! function.
#![expect(unsafe_code, reason = "this is the folder for it")]

pub(crate) mod adjtimex;
pub(crate) mod allocator;
pub(crate) mod bpf;
pub(crate) mod datagrams;
pub(crate) mod ethtool;
pub(crate) mod inbox;
mod mapped;
pub(crate) mod option;
pub(crate) mod packet;
pub(crate) mod packet_ring;
pub(crate) mod queued;
pub(crate) mod scheduling;
pub(crate) mod socket;
pub(crate) mod tcp_info;
pub(crate) mod tun;
pub(crate) mod xdp_socket;
