//! Whole networks in virtual time, held against closed forms, against the
//! link machine driven by hand, and against themselves.

mod flows;
mod gathering;
mod links;
mod network;
mod packets;
mod queueing;
mod refusals;
mod sameness;
