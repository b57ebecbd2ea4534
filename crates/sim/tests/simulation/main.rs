//! Whole networks in virtual time, compared with closed forms, with the link driven by
//! hand, and with repetitions of themselves.

mod flows;
mod gateway;
mod gathering;
mod links;
mod network;
mod packets;
mod queueing;
mod refusals;
mod sameness;
