//! The meters of machines that the user named: processors of a router, energy, counters of
//! interfaces, and slews of clocks.

use os::nic::{Counters, Directed};
use plan::evidence::{self, Fact, NicCounts, NicUse};
use plan::{Flag, HostRole as Role, metric};
use units::{Bytes, Span};

use super::passes::{per_gigabyte, ratio};
use crate::host_agent::HostUse;
use crate::measurements::Measurements;

/// The use of a machine during a pass.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RoleUse {
    pub(crate) role: Role,
    /// Whether it is a machine of an earlier role, too: its processors count once.
    pub(crate) is_shared: bool,
    pub(crate) used: HostUse,
}

/// Adds a later pass of the same trial.
pub(super) fn add(all: &mut [RoleUse], later: &[RoleUse]) {
    for (one, more) in all.iter_mut().zip(later) {
        one.used.add(&more.used);
    }
}

/// By how much the offset of the ends' clocks may differ from a line through two
/// comparisons within a pass.
///
/// Each clock was at most d from a line over the whole pass. So both comparisons are, and
/// with them the line through them: a reading in between is at most 2 d from that. Both
/// clocks add up.
pub(super) fn slewed(hosts: &[RoleUse]) -> Span {
    let ends = hosts.iter().filter(|host| host.role != Role::Router);
    ends.fold(Span::ZERO, |sum, host| sum + host.used.slewed * 2)
}

impl Measurements {
    /// The processors of a router, and the energy of the ends, over a pass in which `bytes`
    /// of payload arrived, if their number is known.
    pub(super) fn take_host_use(&mut self, hosts: &[RoleUse], bytes: Option<Bytes>) {
        let bytes = bytes.filter(|bytes| *bytes > Bytes::ZERO);
        if let Some(router) = hosts.iter().find(|host| host.role == Role::Router) {
            let used = &router.used;
            self.put(
                &metric::CPU_ROUTER,
                Some(100.0 * ratio(used.busy, used.elapsed)),
            );
            let tick = 100.0 * ratio(used.tick, used.elapsed);
            self.note(evidence::resolution(&metric::CPU_ROUTER), tick);
            if let Some(bytes) = bytes {
                self.put(
                    &metric::CPU_FORWARDING,
                    Some(per_gigabyte(used.busy, bytes)),
                );
                let tick = per_gigabyte(used.tick, bytes);
                self.note(evidence::resolution(&metric::CPU_FORWARDING), tick);
                // Sent alone by an interface towards the receiver.
                let each = used.nics.iter();
                let both = each.map(|(_, nic)| nic.received.bytes.max(nic.sent.bytes));
                let carried = both.sum::<u64>() >= bytes.get();
                self.note(evidence::ROUTER_CARRIED, carried);
            }
        }
        let ends = hosts.iter().filter(|host| host.role != Role::Router);
        let ends = ends.filter(|host| !host.is_shared);
        let joules = ends
            .map(|host| host.used.joules)
            .collect::<Option<Vec<_>>>();
        let joules = joules.filter(|each| !each.is_empty());
        let gigabytes = bytes.map(|bytes| bytes.get() as f64 / 1e9);
        let energy = joules.map(|each| each.iter().sum::<f64>());
        self.put(
            &metric::ENERGY,
            energy.zip(gigabytes).map(|(joules, of)| joules / of),
        );
    }

    /// Evidence of all meters over a trial.
    pub(super) fn take_hosts(&mut self, hosts: &[RoleUse]) {
        if hosts.is_empty() {
            return;
        }
        self.note(evidence::HOSTS, hosts.iter().map(shown).collect::<Vec<_>>());
        let nics = || hosts.iter().flat_map(|host| &host.used.nics);
        let directions = || nics().flat_map(|(_, counters)| [counters.received, counters.sent]);
        let sum = |of: fn(&Directed) -> u64| directions().map(|one| of(&one)).sum::<u64>();
        self.note(evidence::NIC_DROPPED, sum(|one| one.dropped));
        self.note(evidence::NIC_ERRORS, sum(|one| one.errors));
        let pauses: Vec<u64> = directions().filter_map(|one| one.pauses).collect();
        let counted = (!pauses.is_empty()).then(|| pauses.iter().sum::<u64>());
        self.note(evidence::NIC_PAUSES, counted);
    }

    /// Flags a trial in which an interface dropped or damaged packets, or the router carried
    /// no traffic.
    pub(super) fn judge_hosts(&mut self) {
        let above_zero = |fact: Fact<u64>| self.evidence.get(fact) > Some(0);
        if above_zero(evidence::NIC_DROPPED) || above_zero(evidence::NIC_ERRORS) {
            self.flags.push(Flag::NicDrops);
        }
        let carried = self.evidence.get(evidence::ROUTER_CARRIED);
        if carried == Some(false) {
            self.flags.push(Flag::RouterBypassed);
        }
    }
}

/// The readings of one machine's meters, as evidence.
fn shown(host: &RoleUse) -> evidence::HostUse {
    let used = &host.used;
    let nic = |(name, counters): &(String, Counters)| NicUse {
        interface: name.clone(),
        received: counts(&counters.received),
        sent: counts(&counters.sent),
    };
    evidence::HostUse {
        role: host.role.name().to_owned(),
        seconds: used.elapsed.as_secs_f64(),
        cpu_seconds: used.busy.as_secs_f64(),
        joules: used.joules,
        clock_slew_us: used.slewed.as_secs_f64() * 1e6,
        nics: used.nics.iter().map(nic).collect(),
    }
}

const fn counts(one: &Directed) -> NicCounts {
    NicCounts {
        packets: one.packets,
        bytes: one.bytes,
        dropped: one.dropped,
        errors: one.errors,
        pauses: one.pauses,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(role: Role, joules: Option<f64>) -> RoleUse {
        RoleUse {
            role,
            is_shared: false,
            used: HostUse {
                elapsed: Span::from_secs(2),
                busy: Span::from_millis(500),
                tick: Span::from_millis(10),
                joules,
                nics: vec![("eth1".to_owned(), carried(600_000_000))],
                slewed: Span::from_micros(3),
            },
        }
    }

    fn carried(bytes: u64) -> Counters {
        let received = Directed {
            bytes,
            ..Directed::default()
        };
        Counters {
            received,
            ..Counters::default()
        }
    }

    fn all() -> Vec<RoleUse> {
        vec![
            host(Role::Sender, Some(30.0)),
            host(Role::Receiver, Some(10.0)),
            host(Role::Router, Some(500.0)),
        ]
    }

    fn of(hosts: &[RoleUse]) -> Measurements {
        let mut measurements = Measurements::default();
        measurements.take_host_use(hosts, Some(Bytes::new(500_000_000)));
        measurements.take_hosts(hosts);
        measurements.judge_hosts();
        measurements
    }

    #[test]
    fn the_router_has_its_own_metrics_and_the_ends_share_one_of_energy() {
        let found = of(&all());
        assert_eq!(found.metrics["cpu_router"], 25.0);
        assert_eq!(found.metrics["cpu_forwarding"], 1.0);
        assert_eq!(found.metrics["energy"], 80.0);
        assert_eq!(found.evidence["resolution_cpu_router"], 0.5);
        assert_eq!(found.evidence["resolution_cpu_forwarding"], 0.02);
        assert_eq!(found.evidence["hosts"][2]["joules"], 500.0);
        assert!(found.flags.is_empty());
    }

    #[test]
    fn energy_that_one_end_cannot_meter_is_absent_and_one_machine_counts_once() {
        let mut hosts = all();
        hosts[1].used.joules = None;
        assert!(!of(&hosts).metrics.contains_key("energy"));
        hosts[1].is_shared = true;
        assert_eq!(of(&hosts).metrics["energy"], 60.0);
        assert!(!of(&[]).metrics.contains_key("energy"));
    }

    #[test]
    fn a_trial_with_drops_of_an_interface_says_so() {
        for change in [
            (|one: &mut Counters| one.received.dropped = 1) as fn(&mut Counters),
            |one| one.sent.dropped = 1,
            |one| one.received.errors = 1,
        ] {
            let mut hosts = all();
            change(&mut hosts[2].used.nics[0].1);
            assert_eq!(of(&hosts).flags, [Flag::NicDrops]);
        }
        let mut paused = all();
        paused[0].used.nics[0].1.sent.pauses = Some(7);
        let found = of(&paused);
        assert_eq!(
            (found.evidence["nic_pauses"].as_u64(), found.flags),
            (Some(7), vec![])
        );
    }

    #[test]
    fn a_router_that_carried_less_than_the_payload_was_not_on_the_path() {
        let mut hosts = all();
        let nic = &mut hosts[2].used.nics[0].1;
        *nic = Counters {
            received: nic.sent,
            sent: nic.received,
        };
        assert!(of(&hosts).flags.is_empty(), "an interface to the receiver");
        hosts[2].used.nics[0].1 = carried(400_000_000);
        assert_eq!(of(&hosts).flags, [Flag::RouterBypassed]);
        hosts.remove(2);
        assert!(of(&hosts).flags.is_empty());
    }

    #[test]
    fn slews_of_both_ends_add_up_and_those_of_a_router_do_not_matter() {
        assert_eq!(slewed(&all()), Span::from_micros(12));
    }

    #[test]
    fn passes_add_up() {
        let mut hosts = all();
        let mut later = all();
        later[0].used.nics[0].1.sent.pauses = Some(2);
        later[0].used.nics[0].1.sent.dropped = 2;
        add(&mut hosts, &later);
        let [sender, ..] = &hosts[..] else { panic!() };
        assert_eq!(sender.used.elapsed, Span::from_secs(4));
        assert_eq!(sender.used.joules, Some(60.0));
        assert_eq!(sender.used.slewed, Span::from_micros(3));
        assert_eq!(sender.used.nics[0].1.sent.dropped, 2);
    }
}
