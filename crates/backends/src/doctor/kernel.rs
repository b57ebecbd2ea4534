//! Checks of the kernel's features and of its limits for sockets.

use os::socket::UDP_RECEIVE_BUFFER;
use units::Bytes;

use super::attempt::{Ability, Attempt, CONGESTION_CONTROLS, Inside, QUEUES};
use super::check::{Check, Group};
use super::facts::{Facts, as_root};

const GROUP: Group = Group::Kernel;

pub(super) fn judge(facts: &Facts) -> Vec<Check> {
    let inside = match &facts.attempt {
        Attempt::Inside(inside) => Some(inside),
        Attempt::Rejected { .. } | Attempt::Lost(_) => None,
    };
    let release = facts.machine.kernel.split(' ').next().unwrap_or_default();
    let mut checks = vec![Check::ok(GROUP, "release", format!("Linux {release}"))];
    checks.extend(FEATURES.iter().map(|feature| feature.judge(facts, inside)));
    checks.push(congestion_controls(facts, inside));
    checks.push(queues(inside));
    checks.push(udp_buffer(facts, inside));
    checks.push(tcp_buffers(facts));
    checks.push(peer(facts));
    checks
}

/// A kernel feature that is tested by use.
struct Feature {
    ability: Ability,
    name: &'static str,
    use_of_it: &'static str,
    remedy: Remedy,
    /// Additional advice.
    otherwise: &'static str,
}

/// A way to get a kernel feature or to do without it.
enum Remedy {
    /// Load this module, as root.
    Load(&'static str),
    /// Type this command.
    Type(&'static str),
}

const FEATURES: [Feature; 6] = [
    Feature {
        ability: Ability::Veth,
        name: "veth",
        use_of_it: "links between namespaces",
        remedy: Remedy::Load("veth"),
        otherwise: "without it no test network can be built",
    },
    Feature {
        ability: Ability::TokenBucket,
        name: "token bucket",
        use_of_it: "links with a rate (tbf)",
        remedy: Remedy::Load("sch_tbf"),
        otherwise: "or run without a rate: --set rate=none",
    },
    Feature {
        ability: Ability::Bridge,
        name: "bridge",
        use_of_it: "switches",
        remedy: Remedy::Load("bridge"),
        otherwise: "or choose another network.shape",
    },
    Feature {
        ability: Ability::Ipv6,
        name: "IPv6",
        use_of_it: "the protocol of most experiments",
        remedy: Remedy::Load("ipv6"),
        otherwise: "or use IPv4 with --set ip=4; the kernel may have been booted with ipv6.disable=1",
    },
    Feature {
        ability: Ability::Offloads,
        name: "offloads",
        use_of_it: "all segmentation offloads of a veth can be switched off",
        remedy: Remedy::Type("jumbolab run os-comparison --set offloads=on"),
        otherwise: "measures with offloads on; measuring without them needs a kernel that can switch them off",
    },
    Feature {
        ability: Ability::PacketSocket,
        name: "packet sockets",
        use_of_it: "capture of frames (AF_PACKET)",
        remedy: Remedy::Load("af_packet"),
        otherwise: "without it no run can check its frames",
    },
];

impl Feature {
    fn judge(&self, facts: &Facts, inside: Option<&Inside>) -> Check {
        let check = |finding: &str| Check::ok(GROUP, self.name, finding);
        let step = inside.and_then(|inside| {
            let mut steps = inside.steps.iter();
            steps.find(|step| step.ability == self.ability)
        });
        match step.map(|step| &step.problem) {
            Some(None) => check(self.use_of_it),
            Some(Some(problem)) => {
                let remedy = match self.remedy {
                    Remedy::Load(module) => as_root(facts, &format!("modprobe {module}")),
                    Remedy::Type(command) => command.to_owned(),
                };
                check(problem).missing(remedy, self.otherwise)
            }
            None => check("not tested: no test network could be built").noted(),
        }
    }
}

/// Inside the test network if there is one; otherwise the loaded ones.
fn congestion_controls(facts: &Facts, inside: Option<&Inside>) -> Check {
    let there = inside
        .map(|inside| &inside.congestion_controls)
        .filter(|names| !names.is_empty())
        .unwrap_or(&facts.machine.congestion_controls);
    let (here, absent): (Vec<&str>, Vec<&str>) = CONGESTION_CONTROLS
        .into_iter()
        .partition(|name| there.iter().any(|other| other == name));
    let check = |finding: String| {
        Check::ok(GROUP, "congestion", finding).value("congestion_controls", there.clone())
    };
    if absent.is_empty() {
        return check(here.join(", "));
    }
    let modules: Vec<String> = absent.iter().map(|name| format!("tcp_{name}")).collect();
    let finding = format!("{}; not available: {}", here.join(", "), absent.join(", "));
    let command = format!("modprobe -a {}", modules.join(" "));
    check(finding).missing(
        as_root(facts, &command),
        "or do without: host.congestion is cubic by default",
    )
}

/// Information only: Jumbolab has its own queues.
fn queues(inside: Option<&Inside>) -> Check {
    let Some(inside) = inside else {
        return Check::ok(
            GROUP,
            "queues",
            "not tested: no test network could be built",
        )
        .noted();
    };
    let has = |name: &&str| inside.queues.iter().any(|known| known == name);
    let (here, absent): (Vec<&str>, Vec<&str>) = QUEUES.into_iter().partition(has);
    let list = |names: &[&str]| match names {
        [] => "none".to_owned(),
        names => names.join(", "),
    };
    let finding = match absent.as_slice() {
        [] => format!("{} (none is required)", list(&here)),
        absent => format!(
            "{}; not available and not required: {}",
            list(&here),
            list(absent)
        ),
    };
    Check::ok(GROUP, "queues", finding).value("queues", inside.queues.clone())
}

fn udp_buffer(facts: &Facts, inside: Option<&Inside>) -> Check {
    let asked = UDP_RECEIVE_BUFFER;
    let limit = memory(facts, "rmem_max").and_then(|text| text.parse().ok());
    // The kernel includes its overhead in a buffer and doubles it [socket(7)].
    let tried = inside.and_then(|inside| inside.udp_buffer);
    let granted = match (tried, limit) {
        (Some(bytes), _) => Bytes::new(bytes / 2).min(asked),
        (None, _) if facts.privileged => asked,
        (None, limit) => Bytes::new(limit.unwrap_or(0)).min(asked),
    };
    let check = |finding: String| {
        Check::ok(GROUP, "UDP buffer", finding).value("udp_receive_buffer_bytes", granted.get())
    };
    if granted >= asked {
        let limit = limit.unwrap_or(0);
        let how = if limit < asked.get() {
            format!(", which root may set beyond rmem_max of {limit} B")
        } else {
            String::new()
        };
        return check(format!(
            "a receiver gets the {} B that it requests{how}",
            asked.get()
        ));
    }
    let command = format!("sysctl net.core.rmem_max={}", asked.get());
    check(format!(
        "a receiver gets {} B of the {} B that it requests, and may lose datagrams at full rate",
        granted.get(),
        asked.get()
    ))
    .noted_with(
        as_root(facts, &command),
        "or run as root, which may exceed the limit",
    )
}

fn tcp_buffers(facts: &Facts) -> Check {
    let words: Vec<String> = ["tcp_rmem", "tcp_wmem", "wmem_max"]
        .into_iter()
        .filter_map(|name| Some(format!("{name} {}", memory(facts, name)?)))
        .collect();
    Check::ok(GROUP, "TCP buffers", format!("{} (B)", words.join(", ")))
}

fn memory<'a>(facts: &'a Facts, name: &str) -> Option<&'a str> {
    let mut entries = facts.machine.socket_memory.iter();
    let (_, text) = entries.find(|(other, _)| *other == name)?;
    (!text.is_empty()).then_some(text)
}

fn peer(facts: &Facts) -> Check {
    if facts.iperf3 {
        Check::ok(GROUP, "iperf3", "installed; used for comparison only")
    } else {
        Check::ok(GROUP, "iperf3", "not installed; used for comparison only")
            .noted_with(as_root(facts, "apt-get install iperf3"), "")
    }
}
