use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;

use proptest::prelude::*;
use units::Span;

use super::super::setting::{ACTIVE, REQUESTED};
use super::super::{WantedCoalescing, WantedRings};
use super::*;
use crate::sys::ethtool::{CoalescingField, Ring};

const ETH0: u32 = 1;
const VLAN: u32 = 2;
const ROUTE: &[u8] = b"a route";

/// Interfaces in memory: `eth0` with a VLAN and an IPv6 route.
#[derive(Clone, Debug, PartialEq, Eq)]
struct State {
    values: BTreeMap<(u32, Setting), u32>,
    /// The MTU that `eth0` rejects, as its driver would.
    rejected: Option<u32>,
    ipv6: bool,
}

struct Host {
    state: RefCell<State>,
    /// Writes until the watchdog is killed.
    writes_left: RefCell<usize>,
}

fn host() -> Host {
    let offload = |name: &str| Setting::Offload(name.to_owned());
    let values = [
        (ETH0, Setting::Mtu, 1500),
        (ETH0, Setting::Ipv6Mtu, 1500),
        (ETH0, Setting::RouteMtu(ROUTE.to_vec()), 1400),
        (ETH0, offload("checksum"), REQUESTED | ACTIVE),
        (ETH0, offload("tso"), REQUESTED | ACTIVE),
        (ETH0, offload("lro"), 0),
        (ETH0, Setting::Ring(Ring::Receive), 256),
        (ETH0, Setting::Ring(Ring::Send), 512),
        (ETH0, Setting::Coalescing(CoalescingField::ReceiveDelay), 3),
        (ETH0, Setting::Coalescing(CoalescingField::Adaptive), 0),
        (VLAN, Setting::Mtu, 1496),
    ];
    Host {
        state: RefCell::new(State {
            values: values
                .into_iter()
                .map(|(index, setting, value)| ((index, setting), value))
                .collect(),
            rejected: None,
            ipv6: true,
        }),
        writes_left: RefCell::new(usize::MAX),
    }
}

impl Interfaces for Host {
    fn list(&self) -> Result<Vec<Listed>> {
        let interface = |index, name: &str, lower| Listed {
            index,
            name: name.to_owned(),
            up: true,
            carrier: true,
            lower,
            ..Listed::default()
        };
        Ok(vec![
            interface(ETH0, "eth0", None),
            interface(VLAN, "eth0.7", Some(ETH0)),
        ])
    }

    fn value(&self, interface: &Listed, setting: &Setting) -> Result<Option<u32>> {
        let key = (interface.index, setting.clone());
        Ok(self.state.borrow().values.get(&key).copied())
    }

    fn set(&self, interface: &Listed, setting: &Setting, value: u32) -> Result<()> {
        let reject = |number| {
            Err(Error {
                operation: format!("setting {}", interface.name),
                source: io::Error::from_raw_os_error(number),
            })
        };
        let mut left = self.writes_left.borrow_mut();
        *left = match left.checked_sub(1) {
            Some(left) => left,
            None => return reject(libc::ESRCH),
        };
        let state = &mut *self.state.borrow_mut();
        let index = interface.index;
        if *setting == Setting::Mtu && index == ETH0 && state.rejected == Some(value) {
            return reject(libc::EINVAL);
        }
        let parent = state.values[&(ETH0, Setting::Mtu)];
        let values = &mut state.values;
        let mut put = |index, setting: &Setting, value| {
            values.insert((index, setting.clone()), value).unwrap()
        };
        match setting {
            // As Linux: the VLAN shrinks with its parent, IPv6 follows, and the MTU of a
            // route follows where it was or becomes the lowest.
            Setting::Mtu if index == ETH0 => {
                let before = put(ETH0, &Setting::Mtu, value);
                put(ETH0, &Setting::Ipv6Mtu, value);
                let route = Setting::RouteMtu(ROUTE.to_vec());
                let old = put(ETH0, &route, value);
                if old < value && old != before {
                    put(ETH0, &route, old);
                }
                let old = put(VLAN, &Setting::Mtu, value);
                put(VLAN, &Setting::Mtu, old.min(value));
            }
            Setting::Mtu if parent < value => return reject(libc::ERANGE),
            // Without checksums there is no TSO, but it stays requested.
            Setting::Offload(_) => {
                put(index, setting, (value & REQUESTED) * (REQUESTED | ACTIVE));
                let offload = |name: &str| (ETH0, Setting::Offload(name.to_owned()));
                let checksum = values[&offload("checksum")] & ACTIVE;
                let tso = values.get_mut(&offload("tso")).unwrap();
                *tso &= REQUESTED;
                *tso |= *tso * checksum;
            }
            // The driver rounds.
            Setting::Ring(_) => {
                put(index, setting, value.next_power_of_two());
            }
            _ => {
                put(index, setting, value);
            }
        }
        Ok(())
    }

    fn followers(&self, interface: &Listed) -> Result<Vec<Setting>> {
        Ok(match interface.index {
            ETH0 => vec![Setting::Ipv6Mtu, Setting::RouteMtu(ROUTE.to_vec())],
            _ => Vec::new(),
        })
    }

    fn has_ipv6(&self, _: &Listed) -> bool {
        self.state.borrow().ipv6
    }
}

fn mtu(mtu: u32) -> Wanted {
    Wanted {
        interface: "eth0".to_owned(),
        mtu: Some(mtu),
        ..Wanted::default()
    }
}

fn any_wanted() -> impl Strategy<Value = Wanted> {
    let mtu = proptest::option::of(prop_oneof![
        Just(1280_u32),
        Just(1300),
        Just(1450),
        Just(1500),
        Just(9000)
    ]);
    let names = prop_oneof![Just("checksum"), Just("tso"), Just("lro")];
    let offloads = proptest::collection::vec((names.prop_map(str::to_owned), any::<bool>()), 0..3);
    let ring = || proptest::option::of(1_u32..2000);
    let coalescing = (
        proptest::option::of(0_u64..90),
        proptest::option::of(any::<bool>()),
    );
    (any::<bool>(), mtu, offloads, ring(), ring(), coalescing).prop_map(
        |(vlan, mtu, offloads, receive, send, (delay, adaptive))| match vlan {
            true => Wanted {
                interface: "eth0.7".to_owned(),
                mtu,
                ..Wanted::default()
            },
            false => Wanted {
                interface: "eth0".to_owned(),
                mtu,
                offloads,
                rings: WantedRings { receive, send },
                coalescing: WantedCoalescing {
                    receive_delay: delay.map(Span::from_micros),
                    receive_frames: None,
                    adaptive,
                },
                allow_management_interface: false,
            },
        },
    )
}

/// Puts back what the record holds, as the watchdog does, and expects no remark.
#[track_caller]
fn put_back(host: &Host, former_values: &mut FormerValues) {
    assert_eq!(former_values.give_up_foreign_values(host).unwrap(), [""; 0]);
    assert_eq!(former_values.restore(host), [""; 0]);
    assert!(former_values.is_empty());
}

proptest! {
    /// For any change of a run, and any time of the kill of the watchdog, the record that was
    /// saved last puts everything back.
    #[test]
    fn the_saved_values_put_everything_back_from_any_instant(
        steps in proptest::collection::vec(any_wanted(), 1..6),
        writes in 0_usize..20,
    ) {
        let host = host();
        let before = host.state.borrow().clone();
        *host.writes_left.borrow_mut() = writes;
        let (mut former_values, mut saved) = (FormerValues::default(), String::new());
        for wanted in &steps {
            // Some steps are rejected: rings are rounded, VLANs are too small.
            let _ = former_values.apply(&host, wanted, |former_values| {
                // A killed process saves nothing.
                if *host.writes_left.borrow() > 0 {
                    saved = serde_json::to_string(former_values).unwrap();
                }
                Ok(())
            });
        }
        *host.writes_left.borrow_mut() = usize::MAX;
        if !saved.is_empty() {
            put_back(&host, &mut serde_json::from_str(&saved).unwrap());
        }
        prop_assert_eq!(&*host.state.borrow(), &before);
    }
}

#[test]
fn a_value_of_another_program_is_reported_and_left_alone() {
    let (host, mut former_values) = (host(), FormerValues::default());
    former_values.apply(&host, &mtu(9000), |_| Ok(())).unwrap();
    let mtu_of = |host: &Host| host.state.borrow().values[&(ETH0, Setting::Mtu)];
    host.state
        .borrow_mut()
        .values
        .insert((ETH0, Setting::Mtu), 4000);
    let error = former_values
        .apply(&host, &mtu(3000), |_| Ok(()))
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("the MTU of eth0 is 4000, but this run set it to 9000"),
        "{error}"
    );
    assert_eq!(mtu_of(&host), 4000);
    let notes = former_values.give_up_foreign_values(&host).unwrap();
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(
        notes[0].contains("before this run it was 1500"),
        "{notes:?}"
    );
    assert_eq!(former_values.restore(&host), [""; 0]);
    assert_eq!(mtu_of(&host), 4000);
}

#[test]
fn a_value_that_another_program_put_back_needs_no_remark() {
    let (host, mut former_values) = (host(), FormerValues::default());
    former_values.apply(&host, &mtu(9000), |_| Ok(())).unwrap();
    host.state
        .borrow_mut()
        .values
        .insert((ETH0, Setting::Mtu), 1500);
    put_back(&host, &mut former_values);
}

#[test]
fn an_mtu_that_removes_an_ip_version_is_rejected_before_any_change() {
    let (host, mut former_values) = (host(), FormerValues::default());
    let before = host.state.borrow().clone();
    let mut reject = |mtu_wanted, words: &str| {
        let error = former_values
            .apply(&host, &mtu(mtu_wanted), |_| panic!("nothing is changed"))
            .unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
    };
    reject(1279, "IPv6 addresses and routes of eth0");
    reject(67, "IPv4 addresses and routes of eth0");
    assert_eq!(*host.state.borrow(), before);
    host.state.borrow_mut().ipv6 = false;
    former_values.apply(&host, &mtu(1279), |_| Ok(())).unwrap();
    put_back(&host, &mut former_values);
}

#[test]
fn what_a_driver_rejects_or_rounds_is_an_error_and_is_put_back() {
    let (host, mut former_values) = (host(), FormerValues::default());
    let before = host.state.borrow().clone();
    host.state.borrow_mut().rejected = Some(9000);
    let mut wanted = mtu(9000);
    wanted.offloads = vec![("tso".to_owned(), false)];
    let error = former_values.apply(&host, &wanted, |_| Ok(())).unwrap_err();
    assert!(error.to_string().starts_with("setting eth0"), "{error}");
    host.state.borrow_mut().rejected = None;
    wanted = mtu(1500);
    wanted.rings.receive = Some(100);
    let error = former_values.apply(&host, &wanted, |_| Ok(())).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("keeps the receive ring at 128 instead of 100"),
        "{error}"
    );
    for (interface, offload, words) in [
        ("eth7", "tso", "it has eth0, eth0.7"),
        ("eth0", "warp", "no setting for the offload warp"),
    ] {
        let wanted = Wanted {
            interface: interface.to_owned(),
            offloads: vec![(offload.to_owned(), true)],
            ..Wanted::default()
        };
        let error = former_values.apply(&host, &wanted, |_| Ok(())).unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
    }
    put_back(&host, &mut former_values);
    assert_eq!(*host.state.borrow(), before);
}

#[test]
fn a_value_that_cannot_be_put_back_stays_recorded_with_its_reason() {
    let (host, mut former_values) = (host(), FormerValues::default());
    former_values.apply(&host, &mtu(9000), |_| Ok(())).unwrap();
    host.state.borrow_mut().rejected = Some(1500);
    assert!(
        former_values
            .give_up_foreign_values(&host)
            .unwrap()
            .is_empty()
    );
    let failures = former_values.restore(&host);
    assert_eq!(failures.len(), 1, "{failures:?}");
    assert!(!former_values.is_empty());
    host.state.borrow_mut().rejected = None;
    assert_eq!(former_values.restore(&host), [""; 0]);
    assert!(former_values.is_empty());
}
