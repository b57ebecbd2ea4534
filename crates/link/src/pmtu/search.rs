//! The choice of sizes to probe.
//!
//! The path carries every size up to the confirmed one. A size above it whose probes
//! were lost is suspected, and excluded once the losses decide or a router rejected it.
//! The search goes from likely sizes to unlikely ones [RFC8899 s5.3.2]: the largest
//! asked for, the sizes of most links, the byte above a common size that was
//! confirmed, the other common sizes, and then the middle of what is left.

use std::collections::BTreeMap;

use super::Tried;

/// The sizes that most links have: jumbo frames and Ethernet.
const FIRST: [u32; 2] = [9000, 1500];

/// Sizes of links and tunnels, sorted: IPv6's smallest; WireGuard over IPv6; PPPoE with
/// room for L2TP; VXLAN over IPv4; GRE; IPv6 in IPv4; PPPoE [RFC2516 s7]; Ethernet;
/// VLAN tags counted in; FDDI [RFC1390]; jumbo frames of vendors; the largest packet.
const COMMON: [u32; 15] = [
    1280, 1400, 1420, 1450, 1476, 1480, 1492, 1500, 1508, 4000, 4352, 9000, 9216, 16_000, 65_535,
];

/// The next step of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Probe this size for the first time, or again.
    Probe(u32),
    /// Probe the confirmed size, to tell loss from a limit.
    Control,
    /// The limit is found.
    Done,
}

/// Losses of a size that is not confirmed.
#[derive(Clone, Copy, Debug, Default)]
struct Suspect {
    /// Probes lost in a row.
    losses: u32,
    /// Whether a smaller size passed since the first loss.
    path_works: bool,
}

/// Knowledge about sizes above the confirmed one.
#[derive(Clone, Debug)]
pub(super) struct Search {
    up_to: u32,
    confirmed: u32,
    suspects: BTreeMap<u32, Suspect>,
    /// The smallest size that the path does not carry, and whether a router said so.
    excluded: Option<(u32, bool)>,
    /// A size that a router announced.
    announced: Option<u32>,
    tried: BTreeMap<u32, Tried>,
}

impl Search {
    /// A search above the confirmed size, up to `up_to`.
    pub(super) const fn new(confirmed: u32, up_to: u32) -> Self {
        Self {
            up_to,
            confirmed,
            suspects: BTreeMap::new(),
            excluded: None,
            announced: None,
            tried: BTreeMap::new(),
        }
    }

    /// The same with a size that a router announced, to be probed early.
    pub(super) const fn with_announced(mut self, announced: Option<u32>) -> Self {
        self.announced = announced;
        self
    }

    /// The same with a size that is known not to pass, and whether a router said so.
    pub(super) const fn with_excluded(mut self, excluded: Option<(u32, bool)>) -> Self {
        self.excluded = excluded;
        self
    }

    pub(super) const fn excluded(&self) -> Option<(u32, bool)> {
        self.excluded
    }

    /// The outcomes of the probes, by size.
    pub(super) fn tried(&self) -> impl Iterator<Item = (u32, Tried)> {
        self.tried.iter().map(|(&size, &tried)| (size, tried))
    }

    /// The next step, if this number of losses decides.
    pub(super) fn step(&self, needed: u32) -> Step {
        let low = self.confirmed;
        if low >= self.largest() {
            return Step::Done;
        }
        let Some((&top, suspect)) = self.suspects.first_key_value() else {
            return Step::Probe(self.pick(low, self.largest() + 1));
        };
        // A common size was confirmed because a larger one was lost; the byte above it
        // passed, so that it is no limit after all: the loss may have been chance.
        let retries = suspect.losses == 1 && is_common(low.saturating_sub(1));
        match (top > low + 1, suspect.losses >= needed) {
            (true, _) if !retries => Step::Probe(self.pick(low, top)),
            (false, true) if suspect.path_works => Step::Done,
            _ if suspect.path_works => Step::Probe(top),
            _ => Step::Control,
        }
    }

    /// The path carries this size: all losses up to it were ordinary. Their number.
    pub(super) fn acknowledged(&mut self, size: u32) -> u32 {
        self.arrived(size);
        self.confirmed = self.confirmed.max(size);
        self.announced = self.announced.filter(|&announced| announced >= size);
        self.excluded = self.excluded.filter(|&(excluded, _)| excluded > size);
        let above = self.suspects.split_off(&(size + 1));
        let refuted = std::mem::replace(&mut self.suspects, above);
        for suspect in self.suspects.values_mut() {
            suspect.path_works = true;
        }
        refuted.values().map(|suspect| suspect.losses).sum()
    }

    /// A probe of this size was lost. Whether it is larger than the confirmed one.
    pub(super) fn lost(&mut self, size: u32) -> bool {
        self.tried.entry(size).or_default().lost += 1;
        if size <= self.confirmed {
            return false;
        }
        self.suspects.entry(size).or_default().losses += 1;
        true
    }

    /// The losses of the smallest suspected size, which becomes the limit.
    pub(super) fn conclude(&mut self) -> Option<u32> {
        let (size, suspect) = self.suspects.pop_first()?;
        self.suspects.clear();
        self.excluded = Some((size, false));
        Some(suspect.losses)
    }

    /// The size to verify next where large packets are lossy: the middle of the common ones
    /// that may pass. Exact limits are not worth the probes.
    pub(super) fn candidate(&self) -> Option<u32> {
        let all = COMMON.into_iter().chain(self.announced).chain([self.up_to]);
        let mut sizes: Vec<u32> = all
            .filter(|&size| size > self.confirmed && size <= self.largest())
            .collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes.get(sizes.len() / 2).copied()
    }

    /// Packets of this size are lossy.
    pub(super) fn lossy(&mut self, size: u32) {
        if size > self.confirmed && size <= self.largest() {
            self.excluded = Some((size, false));
        }
    }

    /// A probe of this size arrived, which alone does not confirm it.
    pub(super) fn arrived(&mut self, size: u32) {
        self.tried.entry(size).or_default().acknowledged += 1;
    }

    /// A router rejected a probe of `size` and announced a smaller size.
    pub(super) fn rejected(&mut self, size: u32, announced: u32) {
        self.tried.entry(size).or_default().rejected += 1;
        self.exclude(size);
        self.announced = Some(announced).filter(|&announced| announced >= self.confirmed);
    }

    /// The path does not carry packets of this size, says a router.
    pub(super) fn exclude(&mut self, size: u32) {
        self.suspects.split_off(&size);
        if self.excluded.is_none_or(|(excluded, _)| size <= excluded) {
            self.excluded = Some((size, true));
        }
    }

    /// The largest size that may pass.
    fn largest(&self) -> u32 {
        self.excluded.map_or(self.up_to, |(size, _)| size - 1)
    }

    /// A size above `low` and below `top`, of which there is one.
    fn pick(&self, low: u32, top: u32) -> u32 {
        if self.announced == Some(low) {
            return low + 1;
        }
        let within = |size: &u32| *size > low && *size < top;
        let first = [self.up_to].into_iter().chain(self.announced).chain(FIRST);
        if let Some(size) = first.into_iter().find(within) {
            return size;
        }
        // The start of a search may be common as well, but nothing was lost above it.
        if is_common(low) && top <= self.up_to {
            return low + 1;
        }
        let middle = low + (top - low) / 2;
        let common = COMMON.into_iter().filter(within);
        common
            .min_by_key(|size| size.abs_diff(middle))
            .unwrap_or(middle)
    }
}

fn is_common(size: u32) -> bool {
    COMMON.binary_search(&size).is_ok()
}
