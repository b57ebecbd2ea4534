//! The line of an event in a recording.

use std::fmt::Write as _;

use units::Time;

use super::REASONS;
use crate::machine::{Decision, Event, RecordedArrival as Arrival};

/// Appends the line of an event, with times from `origin` on.
pub(super) fn write_event(event: &Event, origin: Time, line: &mut String) {
    let since = |at: Time| at.since(origin).unwrap_or_default().as_picos();
    // Writing to a string does not fail.
    let _ = match event {
        Event::Arrived(Arrival {
            at,
            number,
            exit,
            size,
            flow,
            service,
        }) => writeln!(
            line,
            "arrived,{},{number},{},{},{},{flow},{service}",
            since(*at),
            exit.egress,
            exit.next_as,
            size.get()
        ),
        Event::Checked(at) => writeln!(line, "checked,{}", since(*at)),
        Event::Polled(at) => writeln!(line, "polled,{}", since(*at)),
        Event::Flushed(at) => writeln!(line, "flushed,{}", since(*at)),
        Event::Mtu { at, peer, mtu } => writeln!(line, "mtu,{},{peer},{}", since(*at), mtu.get()),
        Event::Decided(Decision::Sent {
            at,
            peer,
            bundle,
            packets,
        }) => {
            let _ = write!(line, "sent,{},{peer},{bundle},", since(*at));
            for (place, (number, waited, marked)) in packets.iter().enumerate() {
                let (space, mark) = (["", " "][usize::from(place > 0)], u8::from(*marked));
                let _ = write!(line, "{space}{number}:{waited}:{mark}");
            }
            writeln!(line)
        }
        Event::Decided(Decision::Dropped {
            at,
            peer,
            reason,
            taken_out,
            packets,
        }) => {
            let found = REASONS.iter().find(|(_, known)| known == reason);
            let word = found.map_or("", |(word, _)| word);
            let taken_out = u8::from(*taken_out);
            let _ = write!(line, "dropped,{},{peer},{word},{taken_out},", since(*at));
            for (place, number) in packets.iter().enumerate() {
                let _ = write!(line, "{}{number}", ["", " "][usize::from(place > 0)]);
            }
            writeln!(line)
        }
    };
}
