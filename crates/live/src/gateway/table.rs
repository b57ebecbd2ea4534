//! The egress table: prefixes of the configuration, and routes of the kernel whose next
//! hop is a peer. A thread follows the routes, so that a burst of them does not delay
//! packets.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{Builder, JoinHandle};

use nix::poll::PollFlags;
use proto::edge::Prefix;
use units::Span;

use super::{NextAs, TableSource};
use crate::clock;
use crate::error::{During, Result};
use crate::netlink::{Followed, KernelRoute, Route};
use crate::sockets::wait;

/// Interval of checks whether the thread is to end.
const LOOK: Span = Span::from_millis(100);

/// The time in which further changes are awaited: daemons announce many at once.
const QUIET: Span = Span::from_millis(20);

/// A network: its first address and the length of its prefix.
type Network = (IpAddr, u8);

/// The egress table, kept up to date while this value lives.
pub(super) struct EgressTable {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<Option<TunRoutes>>>,
    /// The routes of a table that does not change.
    routes: Option<TunRoutes>,
}

#[derive(Default)]
struct Shared {
    stop: AtomicBool,
    changed: AtomicBool,
    news: Mutex<News>,
}

#[derive(Default)]
struct News {
    rows: Vec<Prefix>,
    /// The errors since the last look.
    problems: Vec<String>,
}

const NO_PANIC: &str = "nobody panics with the table in hand";

impl EgressTable {
    /// Reads the table of `source`. Routes to its prefixes through the TUN interface `tun`
    /// follow it, if there is one.
    ///
    /// # Errors
    /// If the kernel does not list its routes, or the thread cannot be started.
    pub(super) fn open(source: TableSource, tun: Option<String>) -> Result<Self> {
        let routes = tun.map(TunRoutes::open).transpose()?;
        Self::with(source, routes)
    }

    /// The table of another source, with the routes of this one; those that both have stay
    /// where they are.
    ///
    /// # Errors
    /// As [`EgressTable::open`].
    pub(super) fn replace(&mut self, source: TableSource) -> Result<()> {
        let routes = self.close();
        *self = Self::with(source, routes)?;
        Ok(())
    }

    fn with(source: TableSource, routes: Option<TunRoutes>) -> Result<Self> {
        let followed = source.follow.map(|follow| Followed::open(follow.filter));
        let mut worker = Worker {
            followed: followed.transpose()?,
            routes,
            source,
        };
        let shared = Arc::<Shared>::default();
        worker.publish(&shared);
        if worker.followed.is_none() {
            return Ok(Self {
                shared,
                thread: None,
                routes: worker.routes,
            });
        }
        let thread = {
            let shared = Arc::clone(&shared);
            let run = move || {
                worker.follow(&shared);
                worker.routes
            };
            Builder::new().name("routes".into()).spawn(run)
        };
        Ok(Self {
            shared,
            thread: Some(thread.during(|| "starting a thread for routes")?),
            routes: None,
        })
    }

    /// Ends the thread. Returns the routes, which stay.
    fn close(&mut self) -> Option<TunRoutes> {
        self.shared.stop.store(true, Ordering::Relaxed);
        match self.thread.take() {
            // A thread that panicked has nothing left to do.
            Some(thread) => thread.join().unwrap_or(None),
            None => self.routes.take(),
        }
    }

    /// The rows and the problems, if something changed since the last call.
    pub(super) fn take(&self) -> Option<(Vec<Prefix>, Vec<String>)> {
        if !self.shared.changed.swap(false, Ordering::Acquire) {
            return None;
        }
        let mut news = self.shared.news.lock().expect(NO_PANIC);
        Some((news.rows.clone(), std::mem::take(&mut news.problems)))
    }
}

impl Drop for EgressTable {
    fn drop(&mut self) {
        self.close();
    }
}

/// The state of the thread.
struct Worker {
    followed: Option<Followed>,
    routes: Option<TunRoutes>,
    source: TableSource,
}

impl Worker {
    fn follow(&mut self, shared: &Shared) {
        while !shared.stop.load(Ordering::Relaxed) {
            let Some(followed) = &mut self.followed else {
                return;
            };
            if !is_ready(followed, LOOK) {
                continue;
            }
            let mut changed = false;
            // A daemon that never rests does not keep the table from changing.
            for _ in 0..10 {
                match followed.update() {
                    Ok(more) => changed |= more,
                    Err(error) => {
                        let mut news = shared.news.lock().expect(NO_PANIC);
                        news.problems.push(error.to_string());
                        drop(news);
                        shared.changed.store(true, Ordering::Release);
                        clock::sleep(LOOK);
                    }
                }
                if !is_ready(followed, QUIET) {
                    break;
                }
            }
            if changed {
                self.publish(shared);
            }
        }
    }

    fn publish(&mut self, shared: &Shared) {
        let mut rows = self.source.rows.clone();
        if let (Some(followed), Some(follow)) = (&self.followed, self.source.follow) {
            let routes = followed.routes();
            rows.extend(rows_of(routes, follow.next_as, &self.source.next_hops));
        }
        let problems = match &mut self.routes {
            Some(routes) => routes.follow(&rows),
            None => Vec::new(),
        };
        let mut news = shared.news.lock().expect(NO_PANIC);
        news.rows = rows;
        news.problems.extend(problems);
        drop(news);
        shared.changed.store(true, Ordering::Release);
    }
}

/// Waits for notifications, at most for `span`.
fn is_ready(followed: &Followed, span: Span) -> bool {
    #[expect(
        unsafe_code,
        reason = "the socket of this crate has no borrowed descriptor"
    )]
    // SAFETY: `followed` keeps the descriptor open during the call.
    let socket = unsafe { BorrowedFd::borrow_raw(followed.as_raw_fd()) };
    let ready = wait(socket, PollFlags::POLLIN, clock::monotonic() + span);
    ready.is_ok_and(|ready| !ready.is_empty())
}

/// The rows of routes: those whose next hop is a peer, the preferred one of each prefix.
fn rows_of<'a>(
    routes: impl Iterator<Item = &'a KernelRoute>,
    next_as: NextAs,
    next_hops: &[(IpAddr, usize)],
) -> Vec<Prefix> {
    let mut rows: Vec<Prefix> = Vec::new();
    let mut latest: Option<Network> = None;
    // Routes to one prefix come in the order of their metrics: the first counts, even if
    // it leads elsewhere.
    for route in routes {
        let network = (route.network, route.length);
        if latest.replace(network) == Some(network) {
            continue;
        }
        let peer = route.next_hops.iter().find_map(|hop| {
            let named = next_hops.iter().find(|(address, _)| address == hop);
            named.map(|(_, peer)| *peer)
        });
        rows.extend(peer.map(|egress| Prefix {
            network: route.network,
            length: route.length,
            next_as: match next_as {
                NextAs::Realm => route.realm,
                NextAs::Metric => route.metric,
            },
            egress,
        }));
    }
    rows
}

/// Routes of the main table to a TUN interface, with which the kernel hands over the
/// packets of the egress table. They vanish with the interface.
struct TunRoutes {
    name: String,
    route: Route,
    there: BTreeSet<Network>,
}

impl TunRoutes {
    fn open(name: String) -> Result<Self> {
        Ok(Self {
            route: Route::open()?,
            name,
            there: BTreeSet::new(),
        })
    }

    /// Adds and removes routes until they are those of `rows`. Returns what could not be
    /// done.
    fn follow(&mut self, rows: &[Prefix]) -> Vec<String> {
        let wanted: BTreeSet<Network> = rows.iter().map(|row| (row.network, row.length)).collect();
        let mut problems = Vec::new();
        let mut set = |network: Network, is_there| match self
            .route
            .set_network_route(&self.name, network, is_there)
        {
            Ok(()) => true,
            Err(error) => {
                problems.push(error.to_string());
                false
            }
        };
        let gone: Vec<Network> = self.there.difference(&wanted).copied().collect();
        let new: Vec<Network> = wanted.difference(&self.there).copied().collect();
        for network in gone {
            set(network, false);
            self.there.remove(&network);
        }
        for network in new {
            if set(network, true) {
                self.there.insert(network);
            }
        }
        problems
    }
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
        let next_hops = [("192.0.2.1", 0), ("192.0.2.2", 1)];
        let next_hops = next_hops.map(|(hop, peer)| (hop.parse().unwrap(), peer));
        let found = |next_as| -> Vec<(u8, u32, usize)> {
            let rows = rows_of(routes.iter(), next_as, &next_hops);
            let rows = rows.iter().map(|row| (row.length, row.next_as, row.egress));
            rows.collect()
        };
        assert_eq!(found(NextAs::Realm), [(16, 65_001, 1), (32, 65_001, 0)]);
        assert_eq!(found(NextAs::Metric), [(16, 10, 1), (32, 7, 0)]);
    }
}
