//! Closed-form answers: what a larger MTU must bring by arithmetic alone,
//! before any host, queue or loss has its say.
//!
//! Nothing here fails at run time. Where a question has no answer, such as the
//! goodput of packets whose headers leave no room, the answer is `None`.

mod framing;
mod mathis;

pub use framing::{
    datagram_goodput_limit, fragments, frames, goodput_limit, largest_message, message_wire_size,
    packets, payload_per_packet, serialisation,
};
pub use mathis::{Growth, cubic_window, path_loss, reno_window, sawtooth_utilisation, window_rate};
