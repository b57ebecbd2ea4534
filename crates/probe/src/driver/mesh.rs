//! Investigates the paths between all hosts of a file: this program is started on the
//! hosts that are reached by `ssh`, and probes the others from there.

mod connect;
mod hosts;
mod prober;
mod schedule;

use crate::driver::{Effort, Investigated, Task};
use crate::machine::{MeshHost, MeshOutcome, MeshPath};
use link::Protocol;
use os::request::{Reply, Request};
use os::{clock, interrupt};
use serde::de::DeserializeOwned;
use units::{Bytes, IpMtu, Span, Time};

use connect::{Connected, connect};
use prober::{Open, Opened, Probe};
use schedule::Schedule;

pub use hosts::{HostLine, read};
pub use prober::{ROLE, serve};

/// The longest that an investigation takes, and the time after which a host that says
/// nothing is given up.
const LONGEST: Span = Span::from_secs(60);
const SILENCE: Span = Span::from_secs(75);

/// The time for the first answer of the program on a host.
const FIRST_ANSWER: Span = Span::from_secs(20);

/// The time to listen to one host before the next.
const LISTEN: Span = Span::from_millis(10);

/// The settings of all paths.
#[derive(Clone, Debug)]
pub struct MeshTask {
    pub hosts: Vec<HostLine>,
    /// The size that each path should carry; `None`: the largest MTU of the interfaces.
    pub up_to: Option<Bytes>,
    /// The smallest size to take from the interfaces, in bytes.
    pub at_least: Bytes,
    /// The protocols to probe with.
    pub protocols: Vec<Protocol>,
    /// Whether cached path MTUs are no finding: earlier probes of the paths left them.
    pub ignores_cache: bool,
    /// How much is sent on each path.
    pub effort: Effort,
}

/// The state of the investigations.
#[derive(Clone, Debug)]
pub struct MeshProgress {
    /// The number of paths.
    pub paths: usize,
    /// The number of those that are done.
    pub done: usize,
    /// The names of the hosts of paths that are being investigated.
    pub running: Vec<(String, String)>,
}

/// Investigates all paths, or those until the user stops the program. A host that drops
/// out costs its paths. `show` gets the progress.
pub fn run(task: &MeshTask, show: impl FnMut(&MeshProgress)) -> MeshOutcome {
    let mut mesh = Running::open(task);
    mesh.investigate(show);
    mesh.finish()
}

/// A mesh under way.
struct Running<'a> {
    task: &'a MeshTask,
    asked: Bytes,
    hosts: Vec<MeshHost>,
    /// The program on each host that probes.
    probers: Vec<Option<Connected>>,
    /// The port of each host's reflector.
    reflectors: Vec<u16>,
    schedule: Schedule,
    paths: Vec<MeshPath>,
}

impl<'a> Running<'a> {
    fn open(task: &'a MeshTask) -> Self {
        let (mut probers, mut lost) = connect(&task.hosts);
        let reflectors = task.hosts.iter().map(|host| host.port).collect();
        let hosts = task
            .hosts
            .iter()
            .zip(&mut lost)
            .map(|(host, lost)| MeshHost {
                name: host.name.clone(),
                address: host.address,
                probes: host.ssh.is_some(),
                interface: None,
                lost: lost.take(),
            });
        let mut mesh = Self {
            task,
            asked: Bytes::ZERO,
            hosts: hosts.collect(),
            schedule: Schedule::new(0, |_| false),
            probers: Vec::new(),
            reflectors,
            paths: Vec::new(),
        };
        mesh.probers.append(&mut probers);
        mesh.prepare();
        let mtus = mesh.hosts.iter().filter_map(|host| host.interface.as_ref());
        let largest = mtus.map(|(_, mtu)| *mtu).max().unwrap_or_default();
        let limit = Bytes::new(IpMtu::LARGEST.into());
        let of_interfaces = largest.min(limit).max(task.at_least);
        mesh.asked = task.up_to.unwrap_or(of_interfaces);
        mesh.schedule = Schedule::new(mesh.hosts.len(), |host| mesh.probers[host].is_some());
        let lost: Vec<usize> = (0..mesh.hosts.len())
            .filter(|host| mesh.hosts[*host].lost.is_some())
            .collect();
        lost.into_iter().for_each(|host| mesh.schedule.forget(host));
        mesh
    }

    /// Opens the reflectors.
    fn prepare(&mut self) {
        for host in 0..self.hosts.len() {
            let address = self.hosts[host].address;
            let mut others = self.task.hosts.iter().map(|other| other.address);
            let toward =
                others.find(|other| *other != address && other.is_ipv4() == address.is_ipv4());
            self.ask(host, &Open(address, toward));
        }
        let deadline = clock::monotonic() + FIRST_ANSWER;
        for host in 0..self.hosts.len() {
            match self.hear::<Opened>(host, deadline) {
                Some(Ok((port, outgoing))) => {
                    self.reflectors[host] = port;
                    let interface = outgoing.map(|one| (one.interface, one.mtu));
                    self.hosts[host].interface = interface;
                }
                Some(Err(why)) => self.lose(host, why),
                _ if self.probers[host].is_some() => {
                    let why =
                        "the program there does not answer; see whether the host is overloaded";
                    self.lose(host, why.to_owned());
                }
                _ => {}
            }
        }
    }

    fn investigate(&mut self, mut show: impl FnMut(&MeshProgress)) {
        loop {
            while let Some((from, to)) = self.schedule.begin(clock::monotonic() + SILENCE) {
                self.begin(from, to);
            }
            show(&self.progress());
            if interrupt::asked() || self.schedule.is_done() {
                return;
            }
            self.listen();
        }
    }

    fn begin(&mut self, from: usize, to: usize) {
        let (own, other) = (self.hosts[from].address, self.hosts[to].address);
        let task = Task {
            to: (other, 0).into(),
            protocols: self.task.protocols.clone(),
            port: None,
            reflector: Some(self.reflectors[to]),
            up_to: Some(self.asked),
            interface: None,
            address: (own.is_ipv4() == other.is_ipv4()).then_some(own),
            is_short: true,
            ignores_cache: self.task.ignores_cache,
            capture: None,
            most_time: Some(LONGEST),
            effort: self.task.effort,
        };
        self.ask(from, &Probe(task));
    }

    /// Hears the hosts that probe, busy ones longer than idle ones.
    fn listen(&mut self) {
        for host in 0..self.hosts.len() {
            let is_busy = self.schedule.running(host).is_some();
            let now = clock::monotonic();
            let heard = self.hear(host, if is_busy { now + LISTEN } else { now });
            // The host may have been lost, and its paths with it.
            let Some(running) = self.schedule.running(host) else {
                continue;
            };
            let result = match heard {
                Some(result) => result.map(|found: Investigated| found.report),
                _ if now > running.until => {
                    self.lose(
                        host,
                        "it stopped answering; see whether it is up".to_owned(),
                    );
                    continue;
                }
                _ => continue,
            };
            if let Some((from, to)) = self.schedule.end(host) {
                self.paths.push(MeshPath { from, to, result });
            }
        }
    }

    fn ask<R: Request>(&mut self, host: usize, request: &R) {
        let Some(prober) = &mut self.probers[host] else {
            return;
        };
        if let Err(why) = prober.ask(request) {
            self.lose(host, why);
        }
    }

    /// The next reply of a host until `deadline`.
    fn hear<T: DeserializeOwned>(&mut self, host: usize, deadline: Time) -> Option<Reply<T>> {
        match self.probers[host].as_mut()?.hear(deadline) {
            Ok(reply) => reply,
            Err(why) => {
                self.lose(host, why);
                None
            }
        }
    }

    /// Gives up a host and its paths that are not done.
    fn lose(&mut self, host: usize, why: String) {
        self.probers[host] = None;
        self.hosts[host].lost.get_or_insert(why);
        self.schedule.forget(host);
    }

    fn progress(&self) -> MeshProgress {
        let name = |host: usize| self.hosts[host].name.clone();
        let (left, running) = self.schedule.progress();
        MeshProgress {
            paths: self.paths.len() + left,
            done: self.paths.len(),
            running: running
                .into_iter()
                .map(|(from, to)| (name(from), name(to)))
                .collect(),
        }
    }

    fn finish(mut self) -> MeshOutcome {
        self.paths.sort_by_key(|path| (path.from, path.to));
        MeshOutcome {
            asked: self.asked,
            hosts: self.hosts,
            paths: self.paths,
            is_stopped: interrupt::asked(),
        }
    }
}
