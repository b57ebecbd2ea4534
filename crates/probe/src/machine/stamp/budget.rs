//! Rate limits of packets, by token buckets.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};

use units::{Span, Time};

/// A rate of packets and the largest burst. Packets count, not bytes: a limit that drops
/// large packets sooner would look like a path that does not carry them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketRate {
    /// Packets at once.
    pub burst: u32,
    /// The time after which one more is allowed.
    pub every: Span,
}

/// A token bucket.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bucket {
    /// The time at which the bucket is full again.
    full_at: Time,
}

impl Bucket {
    /// A full bucket.
    pub(super) const FULL: Self = Self {
        full_at: Time::ZERO,
    };

    /// Takes a token at `now`, if there is one.
    pub(super) fn take(&mut self, now: Time, rate: PacketRate) -> bool {
        let full_at = self.full_at.max(now) + rate.every;
        let granted = full_at <= now + rate.every * u64::from(rate.burst);
        if granted {
            self.full_at = full_at;
        }
        granted
    }

    fn is_full(self, now: Time) -> bool {
        self.full_at <= now
    }
}

/// A bucket for each source.
#[derive(Debug)]
pub(super) struct Sources {
    rate: PacketRate,
    most: usize,
    buckets: BTreeMap<IpAddr, Bucket>,
}

impl Sources {
    pub(super) const fn new(rate: PacketRate, most: usize) -> Self {
        Self {
            rate,
            most,
            buckets: BTreeMap::new(),
        }
    }

    /// Takes a token of the source `from`, if there is one. A new source has none if all
    /// places are taken; a full bucket is forgotten first, because it limits nobody.
    pub(super) fn take(&mut self, now: Time, from: IpAddr) -> bool {
        let from = prefix(from);
        if let Some(bucket) = self.buckets.get_mut(&from) {
            return bucket.take(now, self.rate);
        }
        if self.buckets.len() >= self.most {
            self.buckets.retain(|_, bucket| !bucket.is_full(now));
        }
        if self.buckets.len() >= self.most {
            return false;
        }
        let mut bucket = Bucket::FULL;
        let granted = bucket.take(now, self.rate);
        self.buckets.insert(from, bucket);
        granted
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.buckets.len()
    }
}

/// The part of an address that its owner cannot choose freely: an IPv6 host may use any
/// interface identifier of 64 bits [RFC4291 s2.5.1].
fn prefix(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let upper = address.to_bits() >> 64 << 64;
            IpAddr::V6(Ipv6Addr::from_bits(upper))
        }
        four => four,
    }
}
