//! Label switching of bundles: routers between the edges forward by label and look at
//! no address, neither in front of a bundle nor in it [RFC3031].

use std::collections::BTreeMap;

use super::Exit;

/// The labels of a domain. No two routers allocate the same label, so a label alone
/// identifies its router.
#[derive(Clone, Debug, Default)]
pub struct Labels {
    hops: Vec<Hop>,
    /// The first label of the path from an edge to an exit.
    first: BTreeMap<(usize, Exit), u32>,
}

/// The next-hop entry of a label [RFC3031 s3.10].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// The link that carries the bundle on, by the driver's number.
    pub link: usize,
    /// The label that replaces this one.
    pub next: u32,
}

impl Labels {
    /// Sets up a path from `edge` to `exit` along `links`.
    pub fn lay(&mut self, edge: usize, exit: Exit, links: impl IntoIterator<Item = usize>) {
        let first = u32::try_from(self.hops.len()).unwrap_or(u32::MAX);
        self.first.insert((edge, exit), first);
        let hops = links.into_iter().zip(first + 1..);
        self.hops
            .extend(hops.map(|(link, next)| Hop { link, next }));
    }

    /// The first label of each path of `edge`.
    pub fn of_edge(&self, edge: usize) -> BTreeMap<Exit, u32> {
        let paths = self.first.iter().filter(|((from, _), _)| *from == edge);
        paths.map(|((_, exit), label)| (*exit, *label)).collect()
    }

    /// The next hop of `label`; `None` if it was never allocated.
    pub fn hop(&self, label: u32) -> Option<Hop> {
        self.hops.get(label as usize).copied()
    }
}
