//! Keys of `[host]`.

use super::support::{
    SUPPORTED, backends, everywhere, kernels, measured, only, rejected, simulator, when,
};
use super::{Backends, DefaultValue, Effect, Key, Section};

/// Settings of network cards.
const NIC: Backends = backends(
    rejected("interfaces of namespaces have neither rings nor coalescing: --on hosts"),
    rejected("simulated hosts have no network cards: --on hosts"),
)
.between_hosts(when(", with the privilege to change interfaces"));

/// Processing times of simulated hosts.
const COST: Backends = kernels(only(
    &["0s"],
    "only simulated hosts cost what is written: --on sim, or write 0s",
));

pub(super) const SECTIONS: &[Section] = &[Section {
    tables: &["host"],
    kinds: &[],
    about: "Properties of sender and receiver.",
    backends: everywhere(),
    keys: &[
        Key {
            name: "scenario",
            kind: "`LU-LU`, `LU-WS`, `WS-LU` or `WS-WS`",
            default: DefaultValue::Absent,
            meaning: "Systems of sender and receiver, `LU` Linux or `WS` Windows Server. Without this key: those of the hosts, whatever they are.",
            backends: backends(
                measured(&["LU-LU"], "not measured here: needs a Windows host"),
                when("; with `WS` of fitted hosts alone (`fitted_to`)"),
            )
            .between_hosts(when(", where the agents find these systems")),
            effect: Effect::None,
        },
        Key {
            name: "offloads",
            kind: "boolean",
            default: DefaultValue::Text("off"),
            meaning: "Segmentation and receive offloads.",
            backends: simulator(measured(&["off"], "not simulated: hosts have no offloads"))
                .predicted(measured(&["off"], "not predicted: hosts have no offloads")),
            effect: Effect::Changes("on"),
        },
        Key {
            name: "segments_per_packet",
            kind: "number, 1 to 64, or `any`",
            default: DefaultValue::Absent,
            meaning: "Maximum TCP segments in a packet at an interface (`gso_max_segs`), with `offloads = \"off\"` and `rate = \"none\"`. 1: the kernel builds each packet by itself, instead of up to 64 kB at once; more: packets of several segments cross whole, like those of a larger MTU. `any`: as `offloads` sets it.",
            backends: backends(
                SUPPORTED,
                only(&["any"], "only kernels make packets of segments; write \"any\", or --on netns"),
            )
            .between_hosts(only(
                &["any"],
                "only interfaces of namespaces send packets of several segments; write \"any\", or --on netns",
            )),
            effect: Effect::None,
        },
        Key {
            name: "processor",
            kind: "number, 0 to 1023, or `any`",
            default: DefaultValue::Absent,
            meaning: "The processor for the agents of both hosts during a transfer, and between namespaces for the kernel's work. `any`: the scheduler chooses.",
            backends: backends(
                SUPPORTED.if_(", of transfers alone"),
                only(&["any"], "the hosts have no processors of a machine; write \"any\", or --on netns"),
            ),
            effect: Effect::None,
        },
        Key {
            name: "congestion",
            kind: "name of a congestion control",
            default: DefaultValue::Follows("`\"cubic\"`; beside an agent of ns-2 `\"reno\"`"),
            meaning: "TCP congestion control by its kernel name.",
            backends: backends(
                SUPPORTED.if_(", of TCP alone"),
                measured(
                    &["reno", "cubic"],
                    "not simulated: TCP's control is reno or cubic there",
                )
                .if_(", of TCP alone"),
            )
            .predicted(
                measured(
                    &["reno", "cubic"],
                    "not predicted: closed forms of TCP are those of reno and cubic",
                )
                .if_(", of TCP alone"),
            ),
            effect: Effect::None,
        },
        Key {
            name: "receive_ring",
            kind: "number, 1 to 1000000",
            default: DefaultValue::Absent,
            meaning: "Frames in the receive rings of both network cards. Without it the rings stay unchanged.",
            backends: NIC,
            effect: Effect::Changes(""),
        },
        Key {
            name: "send_ring",
            kind: "number, 1 to 1000000",
            default: DefaultValue::Absent,
            meaning: "Frames in the send rings.",
            backends: NIC,
            effect: Effect::Changes(""),
        },
        Key {
            name: "coalescing",
            kind: "time, or `adaptive`",
            default: DefaultValue::Absent,
            meaning: "Maximum delay of an interrupt after an arrival, in whole microseconds, or `adaptive` by the driver.",
            backends: NIC,
            effect: Effect::Changes(""),
        },
        Key {
            name: "coalescing_frames",
            kind: "number, 0 to 1000000",
            default: DefaultValue::Absent,
            meaning: "Number of arrivals that trigger an interrupt; drivers take 0 as no such number.",
            backends: NIC,
            effect: Effect::Changes(""),
        },
        Key {
            name: "send_per_packet",
            kind: "time",
            default: DefaultValue::Text("0s"),
            meaning: "CPU time of a simulated host to send an IP packet, one after the other.",
            backends: COST,
            effect: Effect::None,
        },
        Key {
            name: "send_per_byte",
            kind: "time",
            default: DefaultValue::Text("0s"),
            meaning: "Besides, for each byte of it.",
            backends: COST,
            effect: Effect::None,
        },
        Key {
            name: "receive_per_packet",
            kind: "time",
            default: DefaultValue::Text("0s"),
            meaning: "CPU time to receive an IP packet.",
            backends: COST,
            effect: Effect::None,
        },
        Key {
            name: "receive_per_byte",
            kind: "time",
            default: DefaultValue::Text("0s"),
            meaning: "Besides, for each byte of it.",
            backends: COST,
            effect: Effect::None,
        },
        Key {
            name: "fitted_to",
            kind: "text",
            default: DefaultValue::Absent,
            meaning: "The study to which these costs are fitted, as a key of docs/sources.md. Reports name it. `--set` of a cost removes it.",
            backends: kernels(rejected("only simulated hosts cost what is written: --on sim")),
            effect: Effect::None,
        },
        Key {
            name: "receive_buffer",
            kind: "size, or `none`",
            default: DefaultValue::Text("none"),
            meaning: "Receive buffer of a simulated host for frames; a frame that finds no room is dropped. `none`: no limit.",
            backends: kernels(only(
                &["none"],
                "only simulated hosts cost what is written: --on sim, or write \"none\"",
            ))
            .predicted(only(
                &["none"],
                "no closed form predicts what is dropped; write \"none\", or --on sim",
            )),
            effect: Effect::None,
        },
    ],
}];
