//! Labels by which bundles are switched: no router between the edges looks at
//! an address, in front of a bundle or in it [RFC3031].

use std::collections::BTreeMap;

use super::Exit;

/// The labels of a domain. No two routers give out the same, so that a label
/// alone says who knows it.
#[derive(Clone, Debug, Default)]
pub struct Labels {
    hops: Vec<Hop>,
    /// The label with which each edge sends what leaves at an exit.
    first: BTreeMap<(usize, Exit), u32>,
}

/// The next hop of a label [RFC3031 s3.10].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// The link on which it sends the bundle, by the driver's number.
    pub link: usize,
    /// The label in place of this one.
    pub next: u32,
}

impl Labels {
    /// Lays a path for what `edge` sends to `exit`, along `links`.
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

    /// The next hop of `label`; `None` where nobody gave it out.
    pub fn hop(&self, label: u32) -> Option<Hop> {
        self.hops.get(label as usize).copied()
    }
}
