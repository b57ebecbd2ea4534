//! The egress table: prefixes of the configuration, and routes of the kernel whose next
//! hop is a peer. A thread follows the routes, so that a burst of them does not delay
//! packets.

mod routes;

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::thread::{Builder, JoinHandle};

use crate::machine::Table;
use link::edge::Prefix;
use nix::poll::PollFlags;
use units::Span;

use super::{NextAs, TableSource};
use os::clock;
use os::error::{Error, OperationContext, Result};
use os::netlink::{Followed, KernelRoute};
use os::socket::wait;
use routes::TunRoutes;

/// Interval of checks whether the thread is to end.
const LOOK: Span = Span::from_millis(100);

/// The time in which further changes are awaited: daemons announce many at once.
const QUIET: Span = Span::from_millis(20);

/// A network: its first address and the length of its prefix.
type Network = (IpAddr, u8);

/// The egress table, kept up to date while this value lives. A thread makes it, so that a
/// large one does not delay packets.
pub(super) struct EgressTable {
    news: Receiver<Result<News>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Option<TunRoutes>>>,
}

/// A new table.
pub(super) struct News {
    pub(super) table: Table,
    /// The number of its prefixes.
    pub(super) prefixes: usize,
    /// The errors since the table before.
    pub(super) problems: Vec<String>,
}

impl EgressTable {
    /// Makes the table of `source`. Routes to its prefixes through the TUN interface `tun`
    /// follow it, if there is one.
    ///
    /// # Errors
    /// If the kernel does not list its routes, or the thread cannot be started.
    pub(super) fn open(source: TableSource, tun: Option<String>) -> Result<(Self, News)> {
        let routes = tun.map(TunRoutes::open).transpose()?;
        let table = Self::start(source, move || routes)?;
        let news = table.news.recv();
        let news = news.map_err(|_| Error::new(MAKING, "its thread has ended"))??;
        Ok((table, news))
    }

    /// Makes the table of another source, with the routes of this one; those that both have
    /// stay where they are. [`EgressTable::take`] returns it when it is ready.
    ///
    /// # Errors
    /// If the thread cannot be started.
    pub(super) fn replace(&mut self, source: TableSource) -> Result<()> {
        self.stop.store(true, Ordering::Relaxed);
        let (handed, former) = channel::<JoinHandle<Option<TunRoutes>>>();
        let routes = move || {
            let former = former.recv().ok()?;
            // A thread that panicked has nothing left.
            former.join().unwrap_or(None)
        };
        let mut former = std::mem::replace(self, Self::start(source, routes)?);
        if let Some(thread) = former.thread.take() {
            // A thread that has not started yet takes it when it does.
            let _ = handed.send(thread);
        }
        Ok(())
    }

    fn start(
        source: TableSource,
        routes: impl FnOnce() -> Option<TunRoutes> + Send + 'static,
    ) -> Result<Self> {
        // One table at a time waits to be taken.
        let (published, news) = sync_channel(1);
        let stop = Arc::<AtomicBool>::default();
        let run = {
            let stop = Arc::clone(&stop);
            move || {
                let mut worker = Worker {
                    followed: None,
                    routes: routes(),
                    source,
                    left_out: BTreeMap::new(),
                    problems: Vec::new(),
                    published,
                };
                worker.run(&stop);
                worker.routes
            }
        };
        let thread = Builder::new().name("routes".into()).spawn(run);
        Ok(Self {
            news,
            stop,
            thread: Some(thread.during(|| MAKING)?),
        })
    }

    /// A table that is new since the last call, or the reason why there is none.
    pub(super) fn take(&self) -> Option<Result<News>> {
        self.news.try_recv().ok()
    }
}

/// The operation for messages.
const MAKING: &str = "making the egress table";

impl Drop for EgressTable {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// The state of the thread.
struct Worker {
    followed: Option<Followed>,
    routes: Option<TunRoutes>,
    source: TableSource,
    /// The routes that are left out, so that each is told once.
    left_out: BTreeMap<Network, IpAddr>,
    problems: Vec<String>,
    published: SyncSender<Result<News>>,
}

/// Whether the table is still wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    Yes,
    No,
}

impl Worker {
    fn run(&mut self, stop: &AtomicBool) {
        let filter = self.source.follow.map(|follow| follow.filter);
        let watched = self.routes.as_ref().map(TunRoutes::interface);
        let is_watching = filter.is_some() || watched.is_some();
        match is_watching
            .then(|| Followed::open(filter, watched))
            .transpose()
        {
            Ok(followed) => self.followed = followed,
            Err(error) => {
                // Nobody is left to be told.
                let _ = self.published.send(Err(error));
                return;
            }
        }
        // What happened before nobody told.
        self.renew();
        let mut wanted = self.publish();
        while wanted == Wanted::Yes && !stop.load(Ordering::Relaxed) {
            let Some(followed) = &mut self.followed else {
                return;
            };
            if !is_ready(followed, LOOK) {
                continue;
            }
            let (mut changed, mut watched) = (false, false);
            // A daemon that never rests does not keep the table from changing.
            for _ in 0..10 {
                match followed.update() {
                    Ok(more) => {
                        changed |= more.followed;
                        watched |= more.watched;
                    }
                    Err(error) => {
                        self.problems.push(error.to_string());
                        changed = true;
                        clock::sleep(LOOK);
                    }
                }
                if !is_ready(followed, QUIET) {
                    break;
                }
            }
            if watched {
                self.renew();
                changed |= !self.problems.is_empty();
            }
            if changed {
                wanted = self.publish();
            }
        }
    }

    /// Looks whether the routes to the TUN interface are still there.
    fn renew(&mut self) {
        if let Some(routes) = &mut self.routes {
            self.problems.extend(routes.renew());
        }
    }

    fn publish(&mut self) -> Wanted {
        let mut rows = self.source.rows.clone();
        if let (Some(followed), Some(follow)) = (&self.followed, self.source.follow) {
            let mut found = rows_of(followed.routes(), follow.next_as, &self.source);
            rows.append(&mut found.rows);
            for (network, hop) in &found.left_out {
                if !self.left_out.contains_key(network) {
                    let (network, length) = network;
                    self.problems.push(format!("the route to {network}/{length} is left out: it covers the peer {hop}, so that bundles to it would be aggregated again; name the interface toward the core (core.interface)"));
                }
            }
            self.left_out = found.left_out;
        }
        if let Some(routes) = &mut self.routes {
            self.problems.extend(routes.follow(&rows));
        }
        let news = News {
            table: Table::new(&rows),
            prefixes: rows.len(),
            problems: std::mem::take(&mut self.problems),
        };
        match self.published.send(Ok(news)) {
            Ok(()) => Wanted::Yes,
            Err(_) => Wanted::No,
        }
    }
}

/// Waits for notifications, at most for `span`.
fn is_ready(followed: &Followed, span: Span) -> bool {
    let ready = wait(
        followed.as_fd(),
        PollFlags::POLLIN,
        clock::monotonic() + span,
    );
    ready.is_ok_and(|ready| !ready.is_empty())
}

/// The rows that routes make.
struct Found {
    rows: Vec<Prefix>,
    /// The networks of routes through which bundles themselves would be aggregated, each with
    /// the next hop that it covers.
    left_out: BTreeMap<Network, IpAddr>,
}

/// The rows of routes: those whose next hop is a peer, the preferred one of each prefix.
fn rows_of<'a>(
    routes: impl Iterator<Item = &'a KernelRoute>,
    next_as: NextAs,
    source: &TableSource,
) -> Found {
    let peers: BTreeMap<IpAddr, usize> = source.next_hops.iter().rev().copied().collect();
    let mut found = Found {
        rows: Vec::new(),
        left_out: BTreeMap::new(),
    };
    let mut latest: Option<Network> = None;
    // Routes to one prefix come in the order of their metrics: the first counts, even if
    // it leads elsewhere.
    for route in routes {
        let network = (route.network, route.length);
        if latest.replace(network) == Some(network) {
            continue;
        }
        let peer = route.next_hops.iter().find_map(|hop| peers.get(hop));
        let Some(egress) = peer.copied() else {
            continue;
        };
        let row = Prefix {
            network: route.network,
            length: route.length,
            next_as: match next_as {
                NextAs::Realm => route.realm,
                NextAs::Metric => route.metric,
            },
            egress,
        };
        // A prefix that covers any next hop covers the first one behind its first address.
        let first = peers.range(row.network..).next().map(|(hop, _)| *hop);
        match first.filter(|hop| source.leaves_out_loops && row.covers(*hop)) {
            Some(hop) => {
                found.left_out.insert(network, hop);
            }
            None => found.rows.push(row),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(network: &str, length: u8, metric: u32, next_hops: &[&str]) -> KernelRoute {
        KernelRoute {
            network: network.parse().unwrap(),
            length,
            metric,
            next_hops: next_hops.iter().map(|hop| hop.parse().unwrap()).collect(),
            realm: 65_001,
        }
    }

    #[test]
    fn the_preferred_route_of_a_prefix_decides_even_if_it_leads_elsewhere() {
        let routes = [
            route("10.1.0.0", 16, 10, &["192.0.2.9"]),
            route("10.1.0.0", 16, 20, &["192.0.2.1"]),
            route("10.2.0.0", 16, 10, &["192.0.2.9", "192.0.2.2"]),
            route("2001:db8::", 32, 7, &["192.0.2.1"]),
        ];
        let source = source(false);
        let found = |next_as| -> Vec<(u8, u32, usize)> {
            let found = rows_of(routes.iter(), next_as, &source);
            let rows = found.rows.iter();
            rows.map(|row| (row.length, row.next_as, row.egress))
                .collect()
        };
        assert_eq!(found(NextAs::Realm), [(16, 65_001, 1), (32, 65_001, 0)]);
        assert_eq!(found(NextAs::Metric), [(16, 10, 1), (32, 7, 0)]);
    }

    #[test]
    fn a_route_that_covers_a_peer_is_left_out_unless_bundles_have_an_interface() {
        let routes = [
            route("0.0.0.0", 0, 5, &["192.0.2.1"]),
            route("10.1.0.0", 16, 5, &["192.0.2.1"]),
            route("192.0.2.0", 31, 5, &["192.0.2.2"]),
            route("192.0.2.1", 32, 5, &["192.0.2.1"]),
            // It leads elsewhere.
            route("192.0.2.2", 32, 5, &["192.0.2.9"]),
            route("192.0.2.4", 30, 5, &["192.0.2.1"]),
            route("255.0.0.0", 8, 5, &["192.0.2.1"]),
            route("2001:db8::", 32, 5, &["192.0.2.1"]),
            route("2001:db8:1::", 48, 5, &["192.0.2.1"]),
        ];
        let found = rows_of(routes.iter(), NextAs::Realm, &source(true));
        let lengths: Vec<u8> = found.rows.iter().map(|row| row.length).collect();
        assert_eq!(lengths, [16, 30, 8, 48]);
        let left_out = found.left_out.iter();
        let left_out: Vec<String> = left_out
            .map(|((network, length), hop)| format!("{network}/{length} {hop}"))
            .collect();
        assert_eq!(
            left_out,
            [
                "0.0.0.0/0 192.0.2.1",
                "192.0.2.0/31 192.0.2.1",
                "192.0.2.1/32 192.0.2.1",
                "2001:db8::/32 2001:db8::1",
            ]
        );
        let found = rows_of(routes.iter(), NextAs::Realm, &source(false));
        assert_eq!(found.rows.len(), 8);
        assert!(found.left_out.is_empty());
    }

    fn source(leaves_out_loops: bool) -> TableSource {
        let next_hops = [("192.0.2.1", 0), ("192.0.2.2", 1), ("2001:db8::1", 1)];
        TableSource {
            next_hops: next_hops
                .map(|(hop, peer)| (hop.parse().unwrap(), peer))
                .into(),
            leaves_out_loops,
            ..TableSource::default()
        }
    }
}
