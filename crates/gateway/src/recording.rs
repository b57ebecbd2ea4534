//! Recordings of a gateway: what came to be gathered, and each decision toward the core,
//! as lines of a file for replay (docs/formats.md).

mod described;
mod read;
mod write;

use queue::Reason;
use units::Time;

use crate::machine::{Decision, Event, RecordedArrival as Arrival};

pub(crate) use described::DescribedUplink;
pub use described::{Described, DescribedPeer};
pub use read::{Recording, Section};
pub use write::RecordingFile;

/// The version of the format.
const FORMAT: u32 = 2;

/// The prefix of lines with settings.
const SETTINGS: &str = "# settings ";

/// The last line of a whole recording.
const END: &str = "# end";

/// The reasons of drops, by their words.
const REASONS: [(&str, Reason); 4] = [
    ("full", Reason::Full),
    ("early", Reason::Early),
    ("forced", Reason::Forced),
    ("late", Reason::Late),
];

/// The first line of a file.
#[derive(serde::Serialize, serde::Deserialize)]
struct FirstLine {
    format: u32,
    /// The instant from which all others count, on a clock that is never set.
    origin_ps: u64,
}

/// Appends the line of an event, with instants from `origin` on.
fn write_event(event: &Event, origin: Time, line: &mut String) {
    use std::fmt::Write as _;
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
        Event::Mtu {
            at,
            peer,
            bundle,
            alone,
        } => writeln!(
            line,
            "mtu,{},{peer},{},{}",
            since(*at),
            bundle.get(),
            alone.get()
        ),
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

#[cfg(test)]
mod tests;
