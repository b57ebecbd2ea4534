//! How packets are aggregated, as a configuration and the variants of a replay write it.

use anyhow::Result;
use keyfile::Section;
use link::written::{buffer, queue_of};
use queue::{Limit, Tick, Trigger};
use units::{Bytes, Framing, IpMtu, IpVersion, Rate, Seed, Span};

use crate::machine::{Aggregation, Uplink};

pub(crate) fn mtu_of(section: &Section, key: &str, usual: u64) -> Result<IpMtu> {
    let bytes = section.parsed(key, "a number of bytes, for instance 9000")?;
    IpMtu::new(bytes.unwrap_or(usual), IpVersion::V6)
        .map_err(|_| section.reject(key, "write an MTU from 1280 to 65535"))
}

pub(crate) fn aggregation(aggregate: &Section) -> Result<Aggregation> {
    let wait = aggregate
        .quantity("max_wait")?
        .unwrap_or(Span::from_millis(1));
    if wait == Span::ZERO || wait > Span::from_millis(500) {
        return Err(aggregate.reject(
            "max_wait",
            "write a time above 0 and at most 500ms, for instance 1ms",
        ));
    }
    let share = aggregate
        .parsed("share", "a number above 0 and at most 1")?
        .unwrap_or(1.0);
    if !(share > 0.0 && share <= 1.0) {
        return Err(aggregate.reject("share", "write a number above 0 and at most 1"));
    }
    Ok(Aggregation {
        trigger: aggregate.word(
            "trigger",
            "timer",
            &[
                ("timer", Trigger::Timer(wait)),
                ("busy", Trigger::EgressBusy(wait)),
                ("full", Trigger::Full),
            ],
        )?,
        tick: aggregate.word(
            "unit",
            "1us",
            &[("1us", Tick::Micro), ("10us", Tick::TenMicros)],
        )?,
        share,
    })
}

pub(crate) fn uplink(uplink: &Section, largest: Bytes) -> Result<Uplink> {
    let rate: Option<Rate> = uplink.quantity("rate")?;
    let rate = rate.ok_or_else(|| {
        uplink.reject(
            "rate",
            "write the rate toward the core, for instance \"1gbit\"",
        )
    })?;
    let limit = uplink.read_by("buffer", buffer)?;
    let limit = limit.unwrap_or(Limit::Bytes(Bytes::new(500_000)));
    let frame = Framing::Ethernet.frame_size(largest);
    if let Limit::Bytes(size) = limit
        && size < frame
    {
        return Err(uplink.reject(
            "buffer",
            format!(
                "a bundle of {} bytes does not fit; write a larger buffer",
                frame.get()
            ),
        ));
    }
    let queue = uplink.text("queue")?.unwrap_or("droptail");
    Ok(Uplink {
        rate,
        queue: queue_of(queue, limit, Some(rate), frame)
            .map_err(|why| uplink.reject("queue", why))?,
        framing: Framing::Ethernet,
        seed: Seed::new(uplink.parsed("seed", "a whole number")?.unwrap_or(1)),
    })
}
