//! The division of a transfer into messages.

use units::Bytes;
use wire::message::HEADER_LEN;

/// The messages of one transfer: first the warm-up, which does not count, then the
/// counted bytes. Both ends derive the plan from the same numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessagePlan {
    warmup: Part,
    counted: Part,
}

/// A number of messages with a total number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Part {
    messages: u64,
    bytes: u64,
    /// Bytes of every message but the last.
    message: u64,
}

impl MessagePlan {
    /// A transfer of `size` counted bytes in messages of `message` bytes, after a
    /// warm-up of `warmup` bytes in messages of `warmup_message` bytes. The last
    /// message of a part may be shorter.
    ///
    /// Messages of less than two headers are raised to that, and a `size` of zero to
    /// one byte.
    pub fn new(warmup: Bytes, warmup_message: Bytes, size: Bytes, message: Bytes) -> Self {
        let part = |bytes: u64, message: Bytes| {
            let message = message.get().max(2 * header());
            Part {
                messages: bytes.div_ceil(message),
                bytes,
                message,
            }
        };
        let before = match warmup.get() {
            0 => 0,
            bytes => bytes.max(header()),
        };
        Self {
            warmup: part(before, warmup_message),
            counted: part(size.get().max(header()), message),
        }
    }

    /// The length of message number `sequence`, header included.
    pub fn length(&self, sequence: u64) -> Bytes {
        let (part, position) = match sequence.checked_sub(self.warmup.messages) {
            Some(position) => (self.counted, position),
            None => (self.warmup, sequence),
        };
        Bytes::new(part.length(position))
    }

    /// Whether message number `sequence` belongs to the warm-up.
    pub const fn is_warmup(&self, sequence: u64) -> bool {
        sequence < self.warmup.messages
    }

    /// The index of a message among the counted ones; `None` in the warm-up.
    pub const fn counted_position(&self, sequence: u64) -> Option<u64> {
        sequence.checked_sub(self.warmup.messages)
    }

    /// Total number of messages.
    pub const fn messages(&self) -> u64 {
        self.warmup.messages + self.counted.messages
    }

    /// Number of counted messages.
    pub const fn counted_messages(&self) -> u64 {
        self.counted.messages
    }

    /// Bytes of the warm-up.
    pub const fn warmup(&self) -> Bytes {
        Bytes::new(self.warmup.bytes)
    }

    /// Total number of bytes.
    pub const fn bytes(&self) -> Bytes {
        Bytes::new(self.warmup.bytes + self.counted.bytes)
    }
}

impl Part {
    /// Full messages, then the rest. A rest too short for a header takes bytes from
    /// the message before.
    fn length(self, position: u64) -> u64 {
        let rest = self.bytes - (self.messages - 1) * self.message;
        let missing = header().saturating_sub(rest);
        match self.messages - 1 - position.min(self.messages - 1) {
            0 => rest + missing,
            1 => self.message - missing,
            _ => self.message,
        }
    }
}

/// Bytes of the header that every message holds.
const fn header() -> u64 {
    HEADER_LEN as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn five_megabytes_at_mtu_1500_are_3502_messages() {
        let message_plan = MessagePlan::new(
            Bytes::ZERO,
            Bytes::ZERO,
            Bytes::new(5_000_000),
            Bytes::new(1428),
        );
        assert_eq!(message_plan.messages(), 3502);
        assert_eq!(message_plan.length(3500), Bytes::new(1428));
        assert_eq!(message_plan.length(3501), Bytes::new(572));
    }

    proptest! {
        #[test]
        fn the_lengths_add_up_and_each_holds_its_header(
            warmup in 0u64..100_000, warmup_message in 0u64..70_000,
            size in 28u64..200_000, message in 56u64..70_000,
        ) {
            let [warmup, warmup_message, counted, longest] =
                [warmup, warmup_message, size, message].map(Bytes::new);
            let message_plan = MessagePlan::new(warmup, warmup_message, counted, longest);
            let lengths: Vec<u64> = (0..message_plan.messages()).map(|n| message_plan.length(n).get()).collect();
            let fits = |(n, &length): (u64, &u64)| {
                length >= header() && (length <= message || message_plan.is_warmup(n))
            };
            prop_assert!((0..).zip(&lengths).all(fits));
            prop_assert_eq!(lengths.iter().sum::<u64>(), message_plan.bytes().get());
            let before: u64 = (0..message_plan.messages())
                .filter(|&n| message_plan.is_warmup(n))
                .map(|n| message_plan.length(n).get())
                .sum();
            prop_assert_eq!(before, message_plan.warmup().get());
        }
    }
}
