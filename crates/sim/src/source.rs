//! The sending end of a flow.
//!
//! The engine asks [`Source::next_timeout`], and at that time sends the output of
//! [`Source::emit`]. The endpoints of TCP (`connection.rs`) are driven in the same way,
//! and also take arriving segments.

use meter::departures::{BadDistribution, Schedule};
use units::{Bytes, IpVersion, Seed, Time};

use crate::fragments::{UDP_HEADER, fragment_header, header, largest_payload, may_be_cut, pieces};
use crate::packet::{Body, Content, Contents, Header, Piece};
use crate::{Datagrams, Flow};

/// A sender of datagrams on a schedule.
pub(crate) struct Source {
    schedule: Schedule,
    /// The next message, if there is one: its time and its payload.
    next: Option<(Time, Bytes)>,
    /// The common header fields of all packets.
    template: Header,
    dont_fragment: bool,
    discovers: bool,
    first_mtu: u32,
    path_mtu: Option<u32>,
    pub(crate) counts: Counts,
}

/// The counters of a source.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    /// Messages sent; also the number of the next one.
    pub(crate) sent: u64,
    pub(crate) bytes: u64,
    pub(crate) rejected: u64,
    pub(crate) packets: u64,
    /// The time at which the first message was due.
    pub(crate) first: Option<Time>,
}

impl Source {
    /// The source of `flow`, which sends `datagrams`. Its packets are made from
    /// `template`; the first link carries packets of `first_mtu` bytes.
    pub(crate) fn new(
        flow: &Flow,
        datagrams: &Datagrams,
        template: Header,
        first_mtu: u32,
        end: Time,
        seed: Seed,
    ) -> Self {
        let mut schedule = schedule(flow, datagrams, first_mtu, end, seed)
            .expect("a scenario that was checked has no other distributions");
        Self {
            next: schedule.next(),
            schedule,
            template,
            dont_fragment: datagrams.dont_fragment,
            discovers: datagrams.discovers || flow.ip == IpVersion::V6,
            first_mtu,
            path_mtu: None,
            counts: Counts::default(),
        }
    }

    /// The time of the next message, if there is one.
    pub(crate) fn next_timeout(&self) -> Option<Time> {
        self.next.map(|(at, _)| at)
    }

    /// Sends the next message: its packets go to the outbox of `contents`.
    pub(crate) fn emit(&mut self, contents: &mut Contents) {
        let Some((at, payload)) = self.next else {
            return;
        };
        self.next = self.schedule.next();
        self.counts.first.get_or_insert(at);
        let ip = self.template.ip;
        let mtu = self.path_mtu.unwrap_or(u32::MAX).min(self.first_mtu);
        let payload = u32::try_from(payload.get()).unwrap_or(u32::MAX);
        if payload > largest_payload(ip, mtu) {
            self.counts.rejected += 1;
            return;
        }
        let whole = payload + UDP_HEADER;
        let fits = header(ip, whole).saturating_add(whole) <= mtu;
        if !fits && (self.dont_fragment || !may_be_cut(whole)) {
            self.counts.rejected += 1;
            return;
        }
        if fits {
            let (packet, content) = self.packet(at, header(ip, whole), 0, whole, whole);
            contents.post(packet, content);
            self.counts.packets += 1;
        } else {
            let header = fragment_header(ip);
            for (offset, length) in pieces(ip, mtu, 0, whole) {
                let (packet, content) = self.packet(at, header, offset, length, whole);
                contents.post(packet, content);
                self.counts.packets += 1;
            }
        }
        self.counts.sent += 1;
        self.counts.bytes += u64::from(payload);
    }

    /// Takes a router's notification that packets above `mtu` do not pass. The path MTU
    /// never increases within a run, and never falls below the protocol's minimum
    /// [RFC8201 s4] [RFC1191 s3].
    pub(crate) fn too_big(&mut self, mtu: u32) {
        let smallest = self.template.ip.smallest_mtu();
        let before = self.path_mtu.unwrap_or(self.first_mtu);
        self.path_mtu = Some(before.min(mtu.max(smallest)));
    }

    /// The path MTU learnt from notifications.
    pub(crate) const fn path_mtu(&self) -> Option<u32> {
        self.path_mtu
    }

    /// A packet of the message sent at `sent`.
    fn packet(
        &self,
        sent: Time,
        header: u32,
        offset: u32,
        length: u32,
        whole: u32,
    ) -> (Header, Content) {
        let packet = Header {
            size: header + length,
            ..self.template
        };
        let content = Content {
            sequence: self.counts.sent,
            sent,
            marks: 0,
            body: Body::Datagram(Piece {
                offset,
                length,
                whole,
                dont_fragment: self.dont_fragment || self.discovers,
            }),
        };
        (packet, content)
    }
}

/// The schedule of `flow`.
fn schedule(
    flow: &Flow,
    datagrams: &Datagrams,
    first_mtu: u32,
    end: Time,
    seed: Seed,
) -> Result<Schedule, BadDistribution> {
    let (gaps, payloads) = (datagrams.gaps.clone(), datagrams.payloads.clone());
    let largest = Bytes::new(largest_payload(flow.ip, first_mtu).into());
    let mut schedule = Schedule::new(flow.start, gaps, payloads, seed)
        .until(flow.stop.map_or(end, |stop| stop.min(end)))
        .carried(Bytes::ZERO..=largest);
    if let Some(packets) = datagrams.limit {
        schedule = schedule.packets(packets);
    }
    if let Some(bytes) = datagrams.bytes {
        schedule = schedule.bytes(bytes);
    }
    match datagrams.bursts.clone() {
        Some(bursts) => schedule.bursts(bursts),
        None => Ok(schedule),
    }
}
