//! Keys of `[tcp]` and `[flows.NAME.tcp]`: simulated connections.

use super::support::{
    SUPPORTED, Support, backends, everywhere, kernels, measured, no_effect, only, rejected, when,
};
use super::{Backends, DefaultValue, Effect, Key, Section};

/// The reason why kernels reject settings of TCP.
pub(crate) const KERNELS_TCP: &str =
    "the kernel's TCP does not let it be set, only the simulator's does; add --on sim";

/// The reason why hosts that the user names reject settings that namespaces have.
const HOSTS_TCP: &str =
    "the hosts' TCP stays as it is; only namespaces have one of their own: --on netns or --on sim";

/// The reason why simulated hosts reject what only Linux has.
const OF_LINUX: &str = "simulated senders detect losses without it; write \"off\", or --on netns";

const OWN_TCP: &str = "the TCP of kernels has no such key; remove it, or add --on sim";

pub(super) const SECTIONS: &[Section] = &[
    Section {
        tables: &["tcp"],
        kinds: &[],
        about: "Properties of connections. Between kernels the written keys are set in the namespaces: parameters of `net.ipv4`, and metrics of the routes between hosts. Defaults in brackets are those of the agents of ns-2.",
        backends: everywhere(),
        keys: &KEYS,
    },
    Section {
        tables: &["flows.NAME.tcp"],
        kinds: &["flows"],
        about: "Properties of one flow over TCP. Missing keys are those of `[tcp]`, or of the agent if it names one.",
        backends: everywhere(),
        keys: &OF_FLOWS,
    },
];

const SIMULATED: Backends = kernels(rejected(KERNELS_TCP));

/// Settings of simulated hosts and of namespaces.
const NAMESPACES: Backends = everywhere().between_hosts(rejected(HOSTS_TCP));

/// Switches of Linux's own.
const LINUX_SWITCH: Backends =
    backends(SUPPORTED, only(&["off"], OF_LINUX)).between_hosts(rejected(HOSTS_TCP));

/// Keys of what happens at losses and time-outs, which distributions of TCP do not ask for.
const OF_RECOVERY: Backends = SIMULATED.predicted(NO_RECOVERY);

const NO_RECOVERY: Support = no_effect("closed forms are of the steady state");

/// The keys of a flow: the same ones, rejected by kernels for a reason of their
/// own.
const OF_FLOWS: [Key; KEYS.len()] = {
    let mut keys = KEYS;
    let mut place = 0;
    while place < keys.len() {
        keys[place].backends = match place {
            PLACE_OF_WINDOW => WINDOW,
            _ => kernels(rejected(OWN_TCP)),
        }
        .predicted(no_effect("flows over TCP are not predicted"));
        place += 1;
    }
    keys
};

/// Kernels have it where a network has nodes of its own.
const WINDOW: Backends =
    kernels(when("in a `dumbbell` or an `explicit` network")).between_hosts(rejected(KERNELS_TCP));

/// The place of `window` in [`KEYS`].
const PLACE_OF_WINDOW: usize = 4;

const KEYS: [Key; 17] = [
    Key {
        name: "agent",
        kind: "`standard`, `linux`, `tahoe`, `reno`, `newreno` or `sack1`",
        default: DefaultValue::Text("standard"),
        meaning: "[TCP in the simulator](experiments.md#tcp-in-the-simulator): `standard` of the standards; `linux` of Linux 6.18; `tahoe`, `reno`, `newreno`, `sack1` the one-way agents of ns-2.35.",
        backends: kernels(only(&["linux"], KERNELS_TCP)),
        effect: Effect::None,
    },
    Key {
        name: "recovery",
        kind: "`reno`, `newreno` or `sack`",
        default: DefaultValue::Follows("`\"sack\"`"),
        meaning: "For `standard` and `linux` only: `reno` [RFC5681], `newreno` [RFC6582] or `sack` [RFC6675]. Between kernels it sets `tcp_sack`; without SACK Linux recovers as `newreno`.",
        backends: kernels(measured(
            &["newreno", "sack"],
            "not measured here: without SACK Linux recovers as NewReno",
        ))
        .between_hosts(rejected(HOSTS_TCP))
        .predicted(NO_RECOVERY),
        effect: Effect::None,
    },
    Key {
        name: "rack",
        kind: "boolean",
        default: DefaultValue::Follows("`\"off\"`; as the kernel has it"),
        meaning: "Time-based loss detection [RFC8985] (`tcp_recovery`). Linux from 6.17 on rejects `off`.",
        backends: LINUX_SWITCH,
        effect: Effect::None,
    },
    Key {
        name: "tail_loss_probe",
        kind: "boolean",
        default: DefaultValue::Follows("`\"off\"`; as the kernel has it"),
        meaning: "Tail loss probes [RFC8985 s7] (`tcp_early_retrans`).",
        backends: LINUX_SWITCH,
        effect: Effect::None,
    },
    Key {
        name: "window",
        kind: "segments, or `none`",
        default: DefaultValue::Follows("`\"none\"` (20)"),
        meaning: "Maximum receive window in segments; between kernels as bytes (TCP_WINDOW_CLAMP).",
        backends: WINDOW,
        effect: Effect::None,
    },
    Key {
        name: "initial_window",
        kind: "segments",
        default: DefaultValue::Follows("`10` (2)"),
        meaning: "Segments of the first window [RFC6928]; between kernels the metric `initcwnd`. A kernel's first receive window is at most 65535 bytes.",
        backends: NAMESPACES,
        effect: Effect::None,
    },
    Key {
        name: "initial_ssthresh",
        kind: "segments, `window` or `none`",
        default: DefaultValue::Follows("`\"none\"` (`\"window\"`)"),
        meaning: "Initial slow-start threshold in segments; `window`: that of `window`; `none`: until a loss.",
        backends: SIMULATED,
        effect: Effect::None,
    },
    Key {
        name: "limited_transmit",
        kind: "boolean",
        default: DefaultValue::Follows("`\"on\"`"),
        meaning: "Limited transmit: a new segment for each of the first two duplicate acknowledgements [RFC3042].",
        backends: OF_RECOVERY,
        effect: Effect::None,
    },
    Key {
        name: "acknowledge",
        kind: "`delayed` or `each`",
        default: DefaultValue::Follows("`\"delayed\"` (`\"each\"`)"),
        meaning: "`delayed`: every second segment, or one after `delayed_ack`; `each`: every segment at once (between kernels the metric `quickack`).",
        backends: NAMESPACES,
        effect: Effect::None,
    },
    Key {
        name: "delayed_ack",
        kind: "time",
        default: DefaultValue::Follows("`\"40ms\"` (`\"100ms\"`)"),
        meaning: "Maximum delay of an acknowledgement.",
        backends: OF_RECOVERY,
        effect: Effect::None,
    },
    Key {
        name: "ecn",
        kind: "boolean",
        default: DefaultValue::Follows("`\"off\"`"),
        meaning: "ECN at both ends [RFC3168]; `off` with the agents of ns-2.",
        backends: OF_RECOVERY,
        effect: Effect::None,
    },
    Key {
        name: "timestamps",
        kind: "boolean",
        default: DefaultValue::Follows("`\"on\"` (`\"off\"`)"),
        meaning: "TCP timestamps: 12 bytes of every segment.",
        backends: SIMULATED,
        effect: Effect::None,
    },
    Key {
        name: "initial_rto",
        kind: "time",
        default: DefaultValue::Follows("`\"1s\"` (`\"3s\"`)"),
        meaning: "The first retransmission timeout [RFC6298].",
        backends: OF_RECOVERY,
        effect: Effect::None,
    },
    Key {
        name: "min_rto",
        kind: "time",
        default: DefaultValue::Follows("`\"1s\"` (`\"200ms\"`)"),
        meaning: "Minimum retransmission timeout; between kernels the metric `rto_min`, in whole milliseconds.",
        backends: NAMESPACES.predicted(NO_RECOVERY),
        effect: Effect::None,
    },
    Key {
        name: "max_rto",
        kind: "time",
        default: DefaultValue::Follows("`\"60s\"`"),
        meaning: "Maximum retransmission timeout.",
        backends: OF_RECOVERY,
        effect: Effect::None,
    },
    Key {
        name: "clock_granularity",
        kind: "time",
        default: DefaultValue::Follows("`\"1ms\"` (`\"10ms\"`)"),
        meaning: "Resolution of the sender's clock.",
        backends: OF_RECOVERY,
        effect: Effect::None,
    },
    Key {
        name: "segment",
        kind: "size, or `mtu`",
        default: DefaultValue::Follows("`\"mtu\"`"),
        meaning: "Maximum payload of a segment; `mtu`: as much as fits into a packet of the first link.",
        backends: SIMULATED,
        effect: Effect::None,
    },
];
