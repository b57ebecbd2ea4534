//! Messages of many sizes, each sent once the one before it was answered.

pub use proto::request_response::{Answer, ReadMode, WriteMode};
use proto::tcp;
use units::{Bytes, Span, Transport};

/// Messages of many sizes, one at a time.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestResponse {
    /// The transport.
    pub protocol: Transport,
    /// The sizes of messages.
    pub sizes: Sizes,
    /// Octets sent of each size.
    pub octets: Bytes,
    /// What comes back of a message.
    pub answer: Answer,
    /// How the sender's program takes what comes back.
    pub read_mode: ReadMode,
    /// How it writes a message.
    pub write_mode: WriteMode,
    /// SO_SNDBUF of both ends; `None` leaves it to the kernel.
    pub send_buffer: Option<Bytes>,
    /// SO_RCVBUF of both ends; `None` leaves it to the kernel.
    pub receive_buffer: Option<Bytes>,
    /// Whether Nagle's algorithm is on [RFC9293 s3.7.4].
    pub nagle: bool,
    /// For how long the receiver's kernel may delay acknowledgements at most;
    /// `None` leaves it to the kernel.
    pub delayed_ack: Option<Span>,
    /// How long the receiver's program waits before it reads, each time.
    pub pause: Span,
    /// How long a message may take before it counts as stalled.
    pub deadline: Span,
    /// How long a datagram is waited for before it is sent again.
    pub retransmit_after: Span,
    /// How long one trial may take before it is given up.
    pub timeout: Span,
    /// What a simulated connection is like; `None` over UDP, and where the
    /// kernel's carries it.
    pub tcp: Option<tcp::Settings>,
}

/// Sizes in equal steps, and one that is looked at by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// The smallest, in octets.
    pub from: u32,
    /// None is larger.
    pub to: u32,
    /// From one to the next.
    pub step: u32,
    /// The one whose time is a metric of its own.
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
