//! Hostile headers of messages and of ICMP echoes, passed to a receiver's statistics.

use meter::MessageStream;
use meter::streaming_recorder::{Arrival, StreamingFlowRecorder};
use units::{IpVersion, Time};
use wire::message::{Echo, HEADER_LEN, Message};
use wire::protocol::icmp::{EchoHeader, HEADER_LEN as ECHO_HEADER};

use super::{Chance, in_a_process_of_its_own, try_all};

/// The state of a receiver of one flow.
struct Receiver {
    recorder: StreamingFlowRecorder,
    stream: MessageStream,
    distinct: u64,
}

#[test]
fn datagrams_and_echoes_of_any_structure_harm_no_receiver() {
    let name = "datagrams::datagrams_and_echoes_of_any_structure_harm_no_receiver";
    in_a_process_of_its_own(name, any_structure);
}

fn any_structure() {
    let mut chance = Chance::new();
    let mut receiver = Receiver::new();
    try_all("datagrams", |number| {
        if number % 100_000 == 99_999 {
            receiver.closes();
            receiver = Receiver::new();
        }
        match chance.below(3) {
            0 => an_echo(&mut chance),
            1 => receiver.takes_a_stream(&mut chance),
            _ => receiver.takes_a_datagram(&mut chance),
        }
    });
}

impl Receiver {
    fn new() -> Self {
        Self {
            recorder: StreamingFlowRecorder::new(None),
            stream: MessageStream::new(),
            distinct: 0,
        }
    }

    /// Reads a datagram like the receiving end of a flow. Returns whether it counts.
    fn takes_a_datagram(&mut self, chance: &mut Chance) -> bool {
        let mut datagram = message(chance);
        if chance.below(2) == 0 {
            chance.damage(&mut datagram);
        }
        let Ok(message) = Message::parse(&datagram) else {
            return false;
        };
        let whole = usize::try_from(message.length) == Ok(datagram.len());
        if let Some(reply) = message.reply_in_full() {
            assert_eq!(message.echo, Echo::Wanted);
            assert_eq!(reply.length, message.length, "no more than came");
            assert_eq!(reply.reply_in_full(), None, "echoes have no echo");
            reply.emit(&mut datagram).unwrap();
            assert_eq!(Message::parse(&datagram), Ok(reply));
        }
        if whole {
            let delay = chance.extreme().wrapping_sub(message.sent.as_nanos());
            let place = self.recorder.record(Arrival {
                sequence: message.sequence,
                at: chance.extreme(),
                delay: Some(delay.cast_signed()),
                size: message.length,
            });
            self.distinct += u64::from(place.counts());
        }
        whole
    }

    /// Reads a piece of a stream likewise; the stream ends at the first invalid
    /// message.
    fn takes_a_stream(&mut self, chance: &mut Chance) -> bool {
        let mut bytes = message(chance);
        if chance.below(3) == 0 {
            chance.damage(&mut bytes);
        }
        let cut = chance.below(bytes.len() + 1);
        let (mut count, mut fine) = (0, true);
        for piece in [&bytes[..cut], &bytes[cut..]] {
            fine = fine && self.stream.receive(piece, |_| count += 1).is_ok();
        }
        if !fine || count == 0 {
            self.stream = MessageStream::new();
        }
        fine && count > 0
    }

    /// Checks invariants of the statistics, which hold for any input.
    fn closes(&self) {
        let summary = self.recorder.summary(None);
        assert_eq!(summary.order.distinct, self.distinct);
        assert!(summary.order.lost + summary.order.distinct >= self.distinct);
    }
}

/// Reads a reply to an ICMP echo, like its sender.
fn an_echo(chance: &mut Chance) -> bool {
    let version = [IpVersion::V4, IpVersion::V6][chance.below(2)];
    let mut bytes = vec![0; ECHO_HEADER];
    bytes.extend(message(chance));
    let [high, low] = [chance.byte(), chance.byte()];
    let header = EchoHeader {
        reply: chance.below(2) == 0,
        identifier: u16::from_be_bytes([high, low]),
        sequence: u16::from_be_bytes([low, high]),
    };
    header.emit(&mut bytes, version).unwrap();
    if chance.below(2) == 0 {
        chance.damage(&mut bytes);
    }
    let Ok(parsed) = EchoHeader::parse(&bytes, version) else {
        return false;
    };
    let mut again = bytes.clone();
    assert!(parsed.emit(&mut again, version).is_ok());
    assert_eq!(EchoHeader::parse(&again, version), Ok(parsed));
    Message::parse(&bytes[ECHO_HEADER..]).is_ok()
}

/// A valid message with any fields.
fn message(chance: &mut Chance) -> Vec<u8> {
    let length = HEADER_LEN + chance.below(80);
    let mut bytes = vec![0; length];
    let message = Message {
        echo: [Echo::Unwanted, Echo::Wanted, Echo::Reply][chance.below(3)],
        warmup: chance.below(2) == 0,
        tag: 0,
        length: u32::try_from(length).unwrap(),
        sequence: chance.extreme(),
        sent: Time::from_nanos(chance.extreme() / 1_000),
    };
    message.emit(&mut bytes).unwrap();
    bytes
}
