//! One message and its answer through a simulated network.
//!
//! Nothing else is under way meanwhile, so that each message of a size takes as
//! long as the first: one of each is enough.

use proto::traffic::Law;
use sim::{Datagrams, Flow, Messages, Tcp};
use units::{Bytes, Span, Time};

use super::{ECHO, TRANSFER, octets, place, slowest_gap, whole};
use crate::experiment::{self as spec, Answer, MESSAGE_HEADER, Setting};

/// How many times as long as the slowest link takes for a message anything may
/// take that is simulated of it, and the least of that.
const PATIENCE: f64 = 1_000.0;
const LEAST_PATIENCE: Span = Span::from_secs(600);

/// The flows of a message of `size` octets and of its answer, and when the last
/// source stops.
pub(super) fn of(
    setting: &Setting,
    graph: &spec::Graph,
    exchange: &spec::Exchange,
    size: u32,
) -> (Vec<Flow>, Time) {
    let size = Bytes::new(u64::from(size));
    let answer = match exchange.answer {
        Answer::Acknowledgement => MESSAGE_HEADER,
        Answer::Whole | Answer::Pieces => size,
    };
    let slowest = Span::from_picos(whole(PATIENCE * slowest_gap(setting, size)));
    let patience = slowest.max(LEAST_PATIENCE);
    let flow = |name: &str, [from, to]: [&str; 2], traffic| Flow {
        name: name.to_owned(),
        from: place(graph, from),
        to: place(graph, to),
        ip: setting.network.ip,
        start: Time::ZERO,
        stop: None,
        traffic,
    };
    let (forth, back) = (["sender", "receiver"], ["receiver", "sender"]);
    let flows = match &exchange.tcp {
        Some(settings) => {
            let connection = |messages: Messages| {
                sim::Traffic::Tcp(Tcp {
                    octets: messages.answers.is_none().then_some(messages.size),
                    messages: Some(messages),
                    ..Tcp::new(settings.clone())
                })
            };
            let messages = |size: Bytes, answers| Messages {
                size: size.get(),
                preroll: 0,
                answers,
            };
            // The kernel's answers share the connection of the messages; here
            // they have one of their own, whose headers are as long.
            vec![
                flow(TRANSFER, forth, connection(messages(size, None))),
                flow(ECHO, back, connection(messages(answer, Some(0)))),
            ]
        }
        None => {
            // A datagram is answered when it is there: on an idle path that is
            // the same as if its answer left long after it.
            let datagram = |size: Bytes, later: u64| {
                sim::Traffic::Datagrams(Datagrams {
                    limit: Some(1),
                    ..Datagrams::new(
                        Law::Constant(octets(Bytes::new(patience.as_picos() * later))),
                        Law::Constant(octets(size)),
                    )
                })
            };
            vec![
                flow(TRANSFER, forth, datagram(size, 1)),
                flow(ECHO, back, datagram(answer, 2)),
            ]
        }
    };
    (flows, Time::ZERO + patience * 4)
}
