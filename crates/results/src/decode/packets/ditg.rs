//! Packets as a log of D-ITG.

use std::io::{BufWriter, Write as _};
use std::net::{Ipv6Addr, SocketAddr};
use std::path::Path;

use anyhow::{Result, bail};
use wire::log::ditg::DitgRecord;

use super::row::{Packet, PacketRows};
use super::{Log, Packets};

/// Nanoseconds of a day.
const DAY: i64 = 86_400_000_000_000;

impl Packets {
    /// Writes the packets of the only log to a log of D-ITG at `path`, atomically. Times of the
    /// sender are on the clock of the receiver, and all are in UTC.
    ///
    /// # Errors
    /// The log cannot be read, has numbers that a log of D-ITG has not, or the file cannot be
    /// written.
    pub fn write_ditg(&mut self, path: &Path, watch: &mut dyn FnMut(u64, u64)) -> Result<()> {
        files::replace(path, |file| {
            let mut file = BufWriter::with_capacity(1 << 18, file);
            while let Some(rows) = self.next(watch)? {
                for record in rows.ditg_records() {
                    file.write_all(&record?.emit())?;
                }
            }
            Ok(file.flush()?)
        })
    }
}

impl PacketRows<'_> {
    /// The rows that D-ITG writes: those of packets that arrived, or that a sender sent.
    fn ditg_records(&self) -> impl Iterator<Item = Result<DitgRecord>> {
        let logged = self
            .packets
            .iter()
            .filter(|packet| packet.lost != Some(true));
        logged.map(|packet| ditg_record(&self.logs[packet.place.log], packet))
    }
}

fn ditg_record(log: &Log, packet: &Packet) -> Result<DitgRecord> {
    let flow = &log.flows[packet.place.flow];
    // Both begin with one in a log of D-ITG.
    let number = flow
        .number
        .checked_add(u32::from(!log.reading.is_of_ditg()));
    let sequence = u32::try_from(packet.sequence).ok();
    let sequence = sequence.and_then(|sequence| sequence.checked_add(1));
    let (Some(number), Some(sequence)) = (number, sequence) else {
        bail!(
            "{}: packet {} of flow {} has a number of more than 32 bits, which D-ITG has not; this \
             log cannot be converted",
            log.name,
            packet.sequence,
            flow.number
        );
    };
    let unknown = SocketAddr::new(Ipv6Addr::UNSPECIFIED.into(), 0);
    let known = log.known.flow(packet.place.flow).flow.as_ref();
    let time = |at: i64| at.rem_euclid(DAY).cast_unsigned();
    Ok(DitgRecord {
        flow: number,
        sequence,
        source: known.map_or(unknown, |flow| flow.source),
        destination: known.map_or(unknown, |flow| flow.destination),
        sent: time(packet.sent),
        // A sender repeats the time of sending.
        received: time(packet.received.unwrap_or(packet.sent)),
        size: packet.size,
    })
}
