//! Closed-form answers: what a larger MTU must bring by arithmetic alone,
//! before any host, queue or loss has its say.
//!
//! Nothing here fails at run time but the reading of a [`Stack`]. Where a question has no answer, such as the
//! goodput of packets whose headers leave no room, the answer is `None`.
#![warn(missing_docs)]

mod bit_errors;
mod bundle;
mod check_sequence;
mod cost;
mod framing;
mod mathis;
mod optimum;
mod slow_start;
mod stack;
mod tandem;
mod timeouts;
mod transfer;
mod waiting;

pub use bit_errors::{best_payload, frame_error_rate, share_after_errors};
pub use bundle::{Pieces, bundle_cost, bundle_cost_as_printed, bundle_packets, bundle_wait};
pub use check_sequence::{hamming_distance, largest_frame, undetected};
pub use cost::Cost;
pub use framing::{
    datagram_goodput_limit, fragments, frames, goodput_limit, largest_message, message_wire_size,
    packets, payload_per_packet, serialisation,
};
pub use mathis::{Growth, cubic_window, path_loss, reno_window, sawtooth_utilisation, window_rate};
pub use optimum::{Expected, GoodputByMtu, Message, Path, Response};
pub use slow_start::slow_start;
pub use stack::{BadStack, Choice, DoesNotFit, Layer, PROTOCOLS, Protocol, Sizes, Stack};
pub use tandem::tandem;
pub use timeouts::segments_per_second;
pub use transfer::{ETHERNET_RATES, Transfer, frames_per_second, store_and_forward};
pub use waiting::{Service, mean_wait};
