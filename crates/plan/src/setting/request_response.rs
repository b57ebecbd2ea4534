//! Request-response traffic: messages of many sizes, each sent after the
//! previous one was answered.

pub use meter::request_response::{Answer, ReadMode, WriteMode};

use units::{Bytes, Span, Transport};

/// Request-response messages of many sizes, one at a time.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestResponse {
    pub protocol: Transport,
    /// The sizes of messages.
    pub sizes: Sizes,
    /// Bytes sent of each size.
    pub bytes: Bytes,
    /// The form of an answer.
    pub answer: Answer,
    /// The way the sender's program reads an answer.
    pub read_mode: ReadMode,
    /// The way the sender's program writes a message.
    pub write_mode: WriteMode,
    /// SO_SNDBUF of both ends; `None` leaves it to the kernel.
    pub send_buffer: Option<Bytes>,
    /// SO_RCVBUF of both ends; `None` leaves it to the kernel.
    pub receive_buffer: Option<Bytes>,
    /// Whether Nagle's algorithm is on [RFC9293 s3.7.4].
    pub nagle: bool,
    /// The maximum delay of acknowledgements in the receiver's kernel; `None`
    /// leaves it to the kernel.
    pub delayed_ack: Option<Span>,
    /// The pause of the receiver's program before each read.
    pub pause: Span,
    /// The time after which a message counts as stalled.
    pub deadline: Span,
    /// The time without an answer after which a datagram is sent again.
    pub retransmit_after: Span,
    /// The time limit of one trial.
    pub timeout: Span,
    /// The settings of a simulated connection; `None` over UDP and for
    /// connections of the kernel.
    pub tcp: Option<tcp::Settings>,
}

/// Sizes in equal steps, and one size with a metric of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// The smallest, in bytes.
    pub from: u32,
    /// The upper bound, in bytes.
    pub to: u32,
    /// The step between sizes, in bytes.
    pub step: u32,
    /// The size with a metric of its own, in bytes.
    pub at: u32,
}

impl Sizes {
    /// All of them in ascending order, [`Sizes::at`] among them.
    pub fn all(&self) -> Vec<u32> {
        let step = usize::try_from(self.step).unwrap_or(1).max(1);
        let mut all: Vec<u32> = (self.from..=self.to).step_by(step).collect();
        if let Err(place) = all.binary_search(&self.at) {
            all.insert(place, self.at);
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_that_is_looked_at_is_among_the_sizes() {
        let sizes = |from, to, step, at| Sizes { from, to, step, at }.all();
        assert_eq!(sizes(1_000, 2_000, 500, 1_500), [1_000, 1_500, 2_000]);
        assert_eq!(
            sizes(1_000, 2_100, 500, 1_600),
            [1_000, 1_500, 1_600, 2_000]
        );
        assert_eq!(sizes(1_000, 1_000, 10, 1_000), [1_000]);
    }
}
