//! Whole networks in virtual time, compared with closed forms, with the link driven by
//! hand, and with repetitions of themselves.

mod aggregation;
mod flows;
mod gateway;
mod links;
mod network;
mod packets;
mod queueing;
mod rejections;
mod sameness;
