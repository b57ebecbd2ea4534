//! Sizes and gaps of the IP packets in a capture.

use std::io::{BufReader, Read, copy, sink};

use wire::Error;
use wire::capture::{Capture, Packet};

use super::Seen;
use super::values::{MOST_VALUES, too_many};
use super::written::Measure;

/// Bytes of the UDP header of a message [RFC768].
const UDP_HEADER: u32 = 8;

/// The sizes or gaps of the packets of a capture, in their order: the payload of a datagram
/// that is as large as the packet, or the gap before the packet. Before the first packet is
/// the mean gap, so that repetitions keep the rate.
pub(super) fn read(
    capture: Capture,
    file: impl Read,
    name: &str,
    measure: Measure,
) -> Result<Seen, String> {
    let mut values = Vec::new();
    let mut last: Option<u64> = None;
    for packet in packets(capture, file, name) {
        let (record, packet) = packet?;
        if values.len() == MOST_VALUES {
            return Err(format!("{name}, record {record}: {}", too_many()));
        }
        values.push(match measure {
            Measure::Sizes => f64::from(message(packet)),
            Measure::Gaps => {
                let nanos = packet.nanos.ok_or_else(|| {
                    format!(
                        "{name}, record {record}: the packet has no time; name a capture with times"
                    )
                })?;
                // Packets of several interfaces may be slightly out of order.
                let before = last.unwrap_or(nanos);
                last = Some(nanos.max(before));
                nanos.saturating_sub(before) as f64 * 1_000.0
            }
        });
    }
    let count = values.len();
    match (measure, values.split_first_mut()) {
        (_, None) => Err(format!("{name} holds no IP packets")),
        (Measure::Gaps, Some((_, []))) => Err(format!(
            "{name} holds one IP packet; gaps are between two at least"
        )),
        (Measure::Gaps, Some((first, rest))) => {
            *first = rest.iter().sum::<f64>() / (count - 1) as f64;
            Ok(values.into())
        }
        (Measure::Sizes, Some(_)) => Ok(values.into()),
    }
}

/// Bytes of a message whose datagram is as large as `packet`; one at least.
fn message(packet: Packet) -> u32 {
    let payload = packet.size.saturating_sub(packet.header + UDP_HEADER);
    payload.max(1)
}

/// The IP packets of a capture with the numbers of their records.
fn packets(
    mut capture: Capture,
    file: impl Read,
    name: &str,
) -> impl Iterator<Item = Result<(u64, Packet), String>> {
    let mut file = BufReader::with_capacity(1 << 20, file);
    let mut begin = Vec::new();
    let mut record = 0u64;
    let mut next = move || -> Result<Option<(u64, Packet)>, String> {
        loop {
            let found = loop {
                match capture.next(&begin) {
                    Err(Error::Truncated { need, have }) => {
                        let more = (need - have) as u64;
                        let got = (&mut file).take(more).read_to_end(&mut begin);
                        let got = got.map_err(|error| format!("cannot read {name}: {error}"))?;
                        if (got as u64) < more {
                            return match begin.is_empty() {
                                true => Ok(None),
                                false => Err(cut_short(name, record)),
                            };
                        }
                    }
                    Err(error) => return Err(format!("{name}, record {record}: {error}")),
                    Ok(found) => break found,
                }
            };
            let rest = found.length.saturating_sub(begin.len() as u64);
            let skipped = copy(&mut (&mut file).take(rest), &mut sink());
            if skipped.map_err(|error| format!("cannot read {name}: {error}"))? < rest {
                return Err(cut_short(name, record));
            }
            begin.clear();
            record += 1;
            if let Some(packet) = found.packet {
                return Ok(Some((record - 1, packet)));
            }
        }
    };
    std::iter::from_fn(move || next().transpose())
}

fn cut_short(name: &str, record: u64) -> String {
    format!("{name} ends within record {record}; write the whole ones to a new file with editcap")
}

#[cfg(test)]
mod tests;
