//! The kernel's token bucket, and the counters of the queue in front of it.

use netlink_packet_core::{DefaultNla, Emitable};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::tc::{TcAttribute, TcHandle, TcMessage, TcOption, TcStats2};
use units::{Bytes, Framing, IpMtu, Rate};

use super::{Mode, Route, missing};
use crate::error::Result;

/// The kernel's token bucket `tbf` in front of an interface.
pub struct TokenBucket {
    /// The rate, Ethernet framing included.
    pub rate: Rate,
    /// Depth of the bucket, in bytes with framing.
    pub burst: Bytes,
    /// Limit of the waiting packets, in bytes.
    pub limit: Bytes,
    /// The MTU to which it segments super-packets; `None`: they pass whole.
    pub segment_to: Option<IpMtu>,
}

// Attributes of tbf and the layout of its parameters: linux/pkt_sched.h, the
// kernel's public interface [LinuxUapi pkt_sched.h].
const TCA_TBF_PARMS: u16 = 1;
const TCA_TBF_RATE64: u16 = 4;
const TCA_TBF_PRATE64: u16 = 5;
const TCA_TBF_BURST: u16 = 6;
const TCA_TBF_PBURST: u16 = 7;
const LINK_LAYER_ETHERNET: u8 = 1;

impl TokenBucket {
    /// Bytes that the bucket must add to a packet as the kernel counts it (with its 14
    /// bytes of MAC header) to get its size on the wire: FCS, preamble and gap.
    const OVERHEAD: u16 = 24;

    /// The peak rate in multiples of the rate: so high that it never delays a packet.
    const PEAK: u64 = 1000;

    /// Room for TCP's options in the bucket of the peak rate, 40 bytes [RFC9293 s3.1].
    /// At MTUs above 32 768 a bucket without it drops nearly all segments; 12 bytes, as
    /// many as timestamps take, were enough on Linux 6.18.
    const TCP_OPTIONS: Bytes = Bytes::new(40);

    /// The peak rate in bytes per second, and the depth of its bucket in bytes;
    /// `None`: super-packets pass whole.
    ///
    /// TCP hands super-packets to the queue even if the interface has no offloads; the
    /// kernel segments them behind the queue. The bucket counts [`Self::OVERHEAD`] once
    /// for each, and would pass more than the rate. It segments packets that are larger
    /// than the bucket of the peak rate, before it counts them [tc-tbf(8)].
    fn peak(&self) -> Option<(u64, u32)> {
        let mtu = self.segment_to?;
        let packet = mtu.bytes() + Framing::MAC_HEADER + Self::TCP_OPTIONS;
        let rate = self.rate.bytes_per_second().saturating_mul(Self::PEAK);
        Some((rate, u32::try_from(packet.get()).unwrap_or(u32::MAX)))
    }

    /// `struct tc_tbf_qopt`: two `tc_ratespec`, limit, buffer, mtu.
    fn parameters(&self) -> Vec<u8> {
        let capped = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
        let mut bytes = Vec::with_capacity(36);
        // rate: cell_log, linklayer, overhead, cell_align, mpu, rate.
        bytes.extend([0, LINK_LAYER_ETHERNET]);
        bytes.extend(Self::OVERHEAD.to_ne_bytes());
        bytes.extend((-1i16).to_ne_bytes());
        bytes.extend([0; 2]);
        bytes.extend(capped(self.rate.bytes_per_second()).to_ne_bytes());
        // peakrate, likewise: 0 if there is none.
        bytes.extend([0, LINK_LAYER_ETHERNET, 0, 0]);
        bytes.extend((-1i16).to_ne_bytes());
        bytes.extend([0; 2]);
        bytes.extend(
            self.peak()
                .map_or(0, |(rate, _)| capped(rate))
                .to_ne_bytes(),
        );
        bytes.extend(capped(self.limit.get()).to_ne_bytes());
        // buffer and mtu in ticks: TCA_TBF_BURST and TCA_TBF_PBURST override them.
        bytes.extend([0; 8]);
        bytes
    }
}

impl Route {
    /// Adds a token bucket to `interface`.
    pub fn add_token_bucket(&self, interface: &str, bucket: &TokenBucket) -> Result<()> {
        debug_assert_eq!(
            u64::from(TokenBucket::OVERHEAD),
            (Framing::FCS + Framing::PREAMBLE + Framing::GAP).get(),
        );
        let burst = u32::try_from(bucket.burst.get()).unwrap_or(u32::MAX);
        let mut message = self.root_of(interface)?;
        let option = |kind, bytes: &[u8]| TcOption::Other(DefaultNla::new(kind, bytes.to_vec()));
        let rate = bucket.rate.bytes_per_second();
        let mut options = vec![
            option(TCA_TBF_PARMS, &bucket.parameters()),
            option(TCA_TBF_BURST, &burst.to_ne_bytes()),
            option(TCA_TBF_RATE64, &rate.to_ne_bytes()),
        ];
        if let Some((rate, depth)) = bucket.peak() {
            options.push(option(TCA_TBF_PRATE64, &rate.to_ne_bytes()));
            options.push(option(TCA_TBF_PBURST, &depth.to_ne_bytes()));
        }
        message.attributes = vec![
            TcAttribute::Kind("tbf".to_owned()),
            TcAttribute::Options(options),
        ];
        debug_assert!(message.buffer_len() > 0);
        self.apply(
            RouteNetlinkMessage::NewQueueDiscipline(message),
            Mode::Replace,
            || {
                format!(
                    "shaping {interface} to {} with a burst of {}",
                    bucket.rate, bucket.burst
                )
            },
        )
        .map_err(|error| {
            error.lacking(
                "sch_tbf",
                "load it, or leave links unshaped with rate = \"none\"",
            )
        })
    }

    /// Packets dropped by the queue in front of `interface`; a GSO super-packet counts
    /// as one.
    pub fn queue_drops(&self, interface: &str) -> Result<u32> {
        let wanted = self.root_of(interface)?;
        let mut found = None;
        self.dump(
            RouteNetlinkMessage::GetQueueDiscipline(TcMessage::default()),
            "listing queues",
            |entry| {
                if let RouteNetlinkMessage::NewQueueDiscipline(entry) = entry
                    && entry.header.index == wanted.header.index
                    && entry.header.parent == TcHandle::ROOT
                {
                    found = entry.attributes.iter().find_map(drops);
                }
            },
        )?;
        found.ok_or_else(|| missing(format!("reading the queue of {interface}")))
    }

    /// Whether the kernel has a queueing discipline of this kind. Tested by adding one
    /// to `interface` without options: the error of a discipline that needs options
    /// differs from that of a missing one.
    pub fn knows_queue(&self, interface: &str, kind: &str) -> Result<bool> {
        let mut message = self.root_of(interface)?;
        message.attributes = vec![TcAttribute::Kind(kind.to_owned())];
        let tried = self.apply(
            RouteNetlinkMessage::NewQueueDiscipline(message),
            Mode::Replace,
            || format!("trying the queue {kind} on {interface}"),
        );
        Ok(match tried {
            Ok(()) => true,
            Err(error) => error.source.raw_os_error() != Some(libc::ENOENT),
        })
    }

    fn root_of(&self, interface: &str) -> Result<TcMessage> {
        let index = self.index(interface)?;
        let mut message =
            TcMessage::with_index(i32::try_from(index).map_err(|_| missing("an interface index"))?);
        message.header.parent = TcHandle::ROOT;
        Ok(message)
    }
}

/// The drops in an attribute, if it is the right one.
fn drops(attribute: &TcAttribute) -> Option<u32> {
    let TcAttribute::Stats2(statistics) = attribute else {
        return None;
    };
    statistics.iter().find_map(|statistic| match statistic {
        TcStats2::Queue(queue) => Some(queue.drops),
        _ => None,
    })
}
