//! A machine that was reached: its agent, and its end of the measured network.

use std::collections::BTreeSet;
use std::net::IpAddr;

use anyhow::{Context, Result, anyhow, bail};
use os::host_changes::{Wanted, mtu_command, offloads_command};
use os::interfaces::Interface;
use os::nic::Nic;
use os::request::Request;
use os::ssh::{Become, Destination, Ssh};
use os::worker::Command;
use plan::setting::Host;
use plan::{HostRole, NamedHost, RoleFacts};
use units::{IpVersion, Span};

use super::nic_change;
use crate::facts;
use crate::host_agent::dial::AgentServer;
use crate::host_agent::{
    BeginCapture, BeginChanges, Change, Describe, DescribeNics, Description, FindInterface,
    HostAgent, ListInterfaces, Restore,
};

/// The time for an agent to end after its input has ended.
const GRACE: Span = Span::from_millis(500);

/// A machine with its agent.
pub(super) struct Machine {
    pub(super) role: HostRole,
    /// The agent that answers requests about it.
    pub(super) agent: HostAgent,
    pub(super) description: Description,
    /// Its interface in the measured network; a router may have several.
    nics: Vec<Nic>,
    /// The address that the user gave.
    address: Option<IpAddr>,
    /// The offloads that were on when the run began.
    offloads: Vec<String>,
    /// Whether it is locked because the run changes the interface.
    is_locked: bool,
    /// Whether the run changes rings or coalescing.
    changes_nic: bool,
    /// Sentences about what an earlier run had left.
    notes: Vec<String>,
    // Dropped last: its connection carries those of the agents.
    reach: Reach,
}

/// How agents are started on a machine.
enum Reach {
    Ssh {
        ssh: Ssh,
        /// The path of this program there.
        program: String,
    },
    Server(AgentServer),
}

impl Reach {
    /// # Errors
    /// One line with the remedy.
    fn to(named: &NamedHost) -> Result<Self> {
        let secret_file = named.secret_file.as_deref();
        if let Some(server) = AgentServer::of(&named.destination, secret_file)? {
            return match named.privilege {
                Some(_) => Err(anyhow!(
                    "become is for ssh; start `jumbolab agent --listen` there with the privilege"
                )),
                None => Ok(Self::Server(server)),
            };
        }
        if secret_file.is_some() {
            bail!("secret_file is for a destination tcp://HOST; ssh has keys of its own");
        }
        let destination: Destination =
            { named.destination.parse() }.map_err(|why: String| anyhow!(why))?;
        let privilege = named.privilege.as_deref().map(str::parse::<Become>);
        let privilege = privilege.transpose().map_err(|why| anyhow!(why))?;
        let ssh = Ssh::connect(&destination, privilege.as_ref())?;
        let program = ssh.program()?;
        Ok(Self::Ssh { ssh, program })
    }

    /// The command that starts another agent.
    fn command(&self) -> Result<Command<'static>> {
        match self {
            Self::Ssh { ssh, program } => Ok(ssh.command(&[program, "agent"], GRACE)?),
            Self::Server(server) => server.command(),
        }
    }
}

impl Machine {
    /// Reaches the machine of an end and starts its agent.
    ///
    /// # Errors
    /// One line with the remedy.
    pub(super) fn reach(role: HostRole, named: &NamedHost) -> Result<Self> {
        Self::reach_through(role, named, |_, description| {
            Ok(vec![chosen(description, named)?.name.clone()])
        })
    }

    /// Reaches the machine on the path to `ends`, addresses of both ends, and starts its agent.
    /// Its interfaces are the one that the user names, or those towards the ends.
    ///
    /// # Errors
    /// One line with the remedy.
    pub(super) fn reach_router(named: &NamedHost, ends: &BTreeSet<IpAddr>) -> Result<Self> {
        Self::reach_through(HostRole::Router, named, |agent, description| {
            if named.interface.is_some() || named.address.is_some() {
                return Ok(vec![chosen(description, named)?.name.clone()]);
            }
            let mut names = Vec::new();
            for end in ends {
                let name = agent.call(&FindInterface(*end))?;
                if !names.contains(&name) {
                    names.push(name);
                }
            }
            Ok(names)
        })
    }

    /// Reaches a machine with the interfaces that `choose` names.
    fn reach_through(
        role: HostRole,
        named: &NamedHost,
        choose: impl FnOnce(&HostAgent, &Description) -> Result<Vec<String>>,
    ) -> Result<Self> {
        let place = || format!("--host {}={}", role.name(), named.destination);
        let reach = Reach::to(named).with_context(place)?;
        let command = reach.command()?;
        let agent = HostAgent::start(command, named.destination.clone())?;
        let description = agent.call(&Describe())?;
        let ours = env!("CARGO_PKG_VERSION");
        if description.version != ours {
            bail!(
                "host {}: its jumbolab has version {}, this one {ours}; install this version there",
                named.destination,
                description.version
            );
        }
        let names =
            choose(&agent, &description).with_context(|| format!("host {}", named.destination))?;
        let nics = agent.call(&DescribeNics(names))?;
        let offloads = nics
            .first()
            .map_or_else(Vec::new, |nic| nic.offloads.clone());
        Ok(Self {
            role,
            agent,
            description,
            nics,
            address: named.address,
            offloads,
            is_locked: false,
            changes_nic: false,
            notes: Vec::new(),
            reach,
        })
    }

    /// The command that starts another agent there.
    pub(super) fn command(&self) -> Result<Command<'static>> {
        self.reach.command()
    }

    /// Whether the agent has the privilege to change the interface, on Linux.
    pub(super) fn can_change(&self) -> bool {
        self.description.facts.root && self.is_linux()
    }

    /// Whether it runs Linux: this program changes the interfaces of no other system.
    pub(super) fn is_linux(&self) -> bool {
        self.description.system == "Linux"
    }

    /// The command by which its user gives the interface this MTU.
    pub(super) fn mtu_command(&self, mtu: u32) -> String {
        mtu_command(&self.description.system, self.interface_name(), mtu)
    }

    /// How its user turns the offloads of the interface on or off.
    pub(super) fn remedy_of_offloads(&self, on: bool) -> String {
        match self.is_linux() {
            true => "add become=sudo to --host".to_owned(),
            false => format!(
                "type there {}",
                offloads_command(&self.description.system, self.interface_name(), on)
            ),
        }
    }

    /// Whether its system states the offloads of interfaces.
    pub(super) fn states_offloads(&self) -> bool {
        self.description.states_offloads
    }

    /// Whether its agent supports the request `R`.
    pub(super) fn supports<R: Request>(&self) -> bool {
        !self.description.absent.iter().any(|name| name == R::NAME)
    }

    /// Locks the machine for the run of this name, to change the interface; `changes_nic`: its
    /// rings or coalescing, too.
    ///
    /// # Errors
    /// Another run has locked it.
    pub(super) fn begin_changes(&mut self, run: &str, changes_nic: bool) -> Result<()> {
        self.notes = self.agent.call(&BeginChanges(run.to_owned()))?;
        self.is_locked = true;
        self.changes_nic = changes_nic;
        Ok(())
    }

    /// The interface in the measured network as it was before the run.
    pub(super) fn nic_before(&self) -> Option<&Nic> {
        self.nics.first()
    }

    /// Gives the interface an MTU, and makes it as `host` asks.
    ///
    /// # Errors
    /// The machine rejects, or is lost.
    pub(super) fn change(&self, mtu: Option<u32>, host: &Host, allow: bool) -> Result<()> {
        let Some(before) = self.nic_before().filter(|_| self.is_locked) else {
            return Ok(());
        };
        let now = self.agent.call(&DescribeNics(vec![before.name.clone()]))?;
        let now = now
            .first()
            .context("its interface is gone; check it with `ip link`")?;
        let mtu = mtu.filter(|mtu| *mtu != now.mtu);
        let offloads: Vec<(String, bool)> = match (host.offloads, now.offloads.is_empty()) {
            (false, false) => now
                .offloads
                .iter()
                .map(|name| (name.clone(), false))
                .collect(),
            (true, true) => self
                .offloads
                .iter()
                .map(|name| (name.clone(), true))
                .collect(),
            _ => Vec::new(),
        };
        let mut wanted = Wanted {
            interface: before.name.clone(),
            mtu,
            offloads,
            allow_management_interface: allow,
            ..Wanted::default()
        };
        if self.changes_nic {
            wanted.rings = nic_change::rings(&host.nic, before, now);
            wanted.coalescing = nic_change::coalescing(&host.nic, before, now);
        }
        match wanted.is_empty() {
            true => Ok(()),
            false => self.agent.call(&Change(wanted)),
        }
    }

    /// Puts everything back. Returns a sentence for each setting that is not as before, and
    /// for what an earlier run had left.
    ///
    /// # Errors
    /// The machine is lost; it puts everything back by itself.
    pub(super) fn restore(&mut self) -> Result<Vec<String>> {
        let mut notes = std::mem::take(&mut self.notes);
        if std::mem::take(&mut self.is_locked) {
            notes.extend(self.agent.call(&Restore())?);
        }
        let host = self.agent.host();
        Ok(notes
            .into_iter()
            .map(|note| format!("host {host}: {note}"))
            .collect())
    }

    /// The name of the interface in the measured network.
    pub(super) fn interface_name(&self) -> &str {
        self.nics.first().map_or("", |nic| &nic.name)
    }

    /// The names of all its interfaces there.
    pub(super) fn interface_names(&self) -> Vec<String> {
        self.nics.iter().map(|nic| nic.name.clone()).collect()
    }

    /// That interface as it is now.
    pub(super) fn interface(&self) -> Result<Interface> {
        let interfaces = self.agent.call(&ListInterfaces())?.into_iter();
        let name = self.interface_name();
        let mut named = interfaces.filter(|interface| interface.name == name);
        named.next().with_context(|| {
            let host = self.agent.host();
            format!("host {host}: the interface {name} is gone; check it with `ip link`")
        })
    }

    /// The address in the measured network.
    ///
    /// # Errors
    /// It has none of this version of IP.
    pub(super) fn address(&self, ip: IpVersion) -> Result<IpAddr> {
        let fits = |address: &IpAddr| address.is_ipv4() == (ip == IpVersion::V4);
        if let Some(address) = self.address.filter(fits) {
            return Ok(address);
        }
        let interfaces = self.description.interfaces.iter();
        let mut ours = interfaces.filter(|interface| interface.name == self.interface_name());
        let addresses = ours
            .next()
            .map_or(&[][..], |interface| &interface.addresses);
        let by_ssh = self.description.ssh_address.filter(fits);
        let found = by_ssh.filter(|address| addresses.contains(address));
        let found = found.or_else(|| addresses.iter().copied().find(fits));
        found.filter(|_| self.address.is_none()).with_context(|| {
            let (version, other) = match ip {
                IpVersion::V4 => (4, 6),
                IpVersion::V6 => (6, 4),
            };
            let place = match self.address {
                Some(address) => format!("the address {address} is none of"),
                None => format!("{} has no address of", self.interface_name()),
            };
            format!(
                "host {}: {place} IPv{version}, which network.ip = {version} needs; add --set network.ip={other}, or name another address: --host {}={},address=..",
                self.agent.host(),
                self.role.name(),
                self.agent.host()
            )
        })
    }

    /// Whether two machines are one.
    pub(super) fn is(&self, other: &Self) -> bool {
        self.description.clock == other.description.clock
    }

    /// Begins to capture the frames between two addresses, if the agent may.
    pub(super) fn begin_capture(&self, ends: [IpAddr; 2]) -> bool {
        let interface = self.interface_name().to_owned();
        self.agent.call(&BeginCapture(interface, ends)).is_ok()
    }

    /// The reason for which the machine was lost, if it was.
    pub(super) fn lost(&mut self) -> Option<anyhow::Error> {
        match &mut self.reach {
            Reach::Ssh { ssh, .. } => ssh.lost().map(Into::into),
            // The worker that carries the connection says why it was lost.
            Reach::Server(_) => None,
        }
    }

    /// The facts for the record of the run.
    pub(super) fn facts(&self) -> RoleFacts {
        RoleFacts {
            role: self.role.name().to_owned(),
            name: self.description.name.clone(),
            interface: self.interface_names().join(" and "),
            system: self.description.system.clone(),
            interfaces: { self.nics.iter() }
                .map(|nic| {
                    let mut facts = facts::of_interface(nic);
                    if !self.states_offloads() {
                        facts.remove("offloads");
                    }
                    (nic.name.clone(), facts)
                })
                .collect(),
            host: self.description.facts.clone(),
        }
    }
}

/// The interface of a machine in the measured network.
fn chosen<'a>(description: &'a Description, named: &NamedHost) -> Result<&'a Interface> {
    let all = &description.interfaces;
    let listed = || {
        let names = all
            .iter()
            .filter(|interface| !interface.addresses.is_empty());
        let names: Vec<String> = names
            .map(|interface| {
                let addresses = interface.addresses.iter().map(IpAddr::to_string);
                let addresses: Vec<String> = addresses.collect();
                format!("{} ({})", interface.name, addresses.join(", "))
            })
            .collect();
        names.join(", ")
    };
    let having = |address: IpAddr| {
        let mut all = all.iter();
        all.find(|interface| interface.addresses.contains(&address))
    };
    let found = match (&named.interface, named.address) {
        (Some(name), address) => {
            let found = all.iter().find(|interface| interface.name == *name);
            let Some(found) = found else {
                bail!("it has no interface {name}; there are {}", listed());
            };
            if let Some(address) = address
                && !found.addresses.contains(&address)
            {
                bail!(
                    "its interface {name} does not have the address {address}; there are {}",
                    listed()
                );
            }
            found
        }
        (None, Some(address)) => having(address).with_context(|| {
            format!(
                "none of its interfaces has the address {address}; there are {}",
                listed()
            )
        })?,
        (None, None) => {
            let by_ssh = description.ssh_address.and_then(having);
            by_ssh.with_context(|| {
                format!(
                    "which interface is measured? Add interface=.. to --host; there are {}",
                    listed()
                )
            })?
        }
    };
    match found.up {
        true => Ok(found),
        false => bail!(
            "its interface {} is down; `ip link set {} up`",
            found.name,
            found.name
        ),
    }
}
