//! Routes to a TUN interface, which follow the egress table.

use std::collections::BTreeSet;

use link::edge::Prefix;

use super::Network;
use os::error::Result;
use os::netlink::Route;

/// Routes of the main table to a TUN interface, with which the kernel hands over the
/// packets of the egress table. They vanish with the interface.
pub(super) struct TunRoutes {
    name: String,
    interface: u32,
    route: Route,
    wanted: BTreeSet<Network>,
    /// Those that are there as far as this value knows; other programs remove some, too.
    there: BTreeSet<Network>,
    state: State,
}

/// The state of the interface.
#[derive(Clone, Debug, PartialEq, Eq)]
enum State {
    Up,
    Down,
    /// It has another name, or is in another namespace.
    Lost(Option<String>),
}

impl TunRoutes {
    pub(super) fn open(name: String) -> Result<Self> {
        let route = Route::open()?;
        Ok(Self {
            interface: route.index(&name)?,
            route,
            name,
            wanted: BTreeSet::new(),
            there: BTreeSet::new(),
            state: State::Up,
        })
    }

    /// Index of the interface.
    pub(super) const fn interface(&self) -> u32 {
        self.interface
    }

    /// Adds and removes routes until they are those of `rows`. Returns what could not be
    /// done.
    pub(super) fn follow(&mut self, rows: &[Prefix]) -> Vec<String> {
        self.wanted = rows.iter().map(|row| (row.network, row.length)).collect();
        self.set()
    }

    /// Looks at the interface and its routes again, and enters what is gone. Returns what
    /// was the matter.
    pub(super) fn renew(&mut self) -> Vec<String> {
        match self.look() {
            Ok(mut problems) => {
                problems.extend(self.set());
                problems
            }
            Err(error) => vec![error.to_string()],
        }
    }

    fn look(&mut self) -> Result<Vec<String>> {
        let mut problems = Vec::new();
        let state = self.state_now()?;
        let name = &self.name;
        if state != self.state {
            problems.push(match &state {
                State::Up => format!("the interface {name} is there again"),
                State::Down => format!("the interface {name} is down: nothing is aggregated; set it up"),
                State::Lost(Some(other)) => format!(
                    "the interface {name} has the name {other} now: its routes do not follow the egress table; give it its name, or start the gateway again"
                ),
                State::Lost(None) => format!(
                    "the interface {name} has left this network namespace: nothing is aggregated; start the gateway again"
                ),
            });
            self.state = state;
        }
        if self.state == State::Up {
            let held = self.route.networks_to(self.interface)?;
            let gone = self.there.difference(&held).count();
            let (routes, had) = match gone {
                1 => ("route", "is"),
                _ => ("routes", "are"),
            };
            if gone > 0 {
                problems.push(format!(
                    "{gone} {routes} to {name} had been removed, and {had} entered again"
                ));
            }
            let known: BTreeSet<Network> = self.there.union(&self.wanted).copied().collect();
            self.there = known.intersection(&held).copied().collect();
        }
        Ok(problems)
    }

    fn state_now(&self) -> Result<State> {
        let interfaces = self.route.interfaces()?;
        let own = interfaces
            .into_iter()
            .find(|interface| interface.index == self.interface);
        Ok(match own {
            Some(own) if own.name != self.name => State::Lost(Some(own.name)),
            Some(own) if own.up => State::Up,
            Some(_) => State::Down,
            None => State::Lost(None),
        })
    }

    /// Adds and removes routes until they are those that are wanted, if there can be any.
    fn set(&mut self) -> Vec<String> {
        let mut problems = Vec::new();
        if self.state != State::Up {
            return problems;
        }
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
        let gone: Vec<Network> = self.there.difference(&self.wanted).copied().collect();
        let new: Vec<Network> = self.wanted.difference(&self.there).copied().collect();
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
