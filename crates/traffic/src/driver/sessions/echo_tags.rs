//! Tags of messages, by which a sender recognizes echoes: the other host may neither
//! change a time of sending or the mark of the warm-up, nor answer a message that has not
//! left.

use std::hash::{BuildHasher, RandomState};

use wire::message::Message;

/// The key of the tags of one flow, which the other host does not know.
#[derive(Clone, Debug, Default)]
pub(super) struct EchoTags(RandomState);

impl EchoTags {
    /// The message with its tag.
    pub(super) fn tagged(&self, message: Message) -> Message {
        Message {
            tag: self.of(&message),
            ..message
        }
    }

    /// Whether this message, or the one that it is the echo of, has its tag.
    pub(super) fn has_made(&self, message: &Message) -> bool {
        message.tag == self.of(message)
    }

    fn of(&self, message: &Message) -> u16 {
        let sent = message.sent.as_nanos();
        let hash = self.0.hash_one((message.sequence, sent, message.warmup));
        let [high, low, ..] = hash.to_be_bytes();
        u16::from_be_bytes([high, low])
    }
}
