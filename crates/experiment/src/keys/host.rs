//! Keys of `[host]`.

use super::support::{
    SUPPORTED, backends, everywhere, kernels, measured, only, refused, simulator, when,
};
use super::{Backends, DefaultValue, Effect, Key, Section};

/// Settings of network cards.
const NIC: Backends = backends(
    refused("interfaces of namespaces have neither rings nor coalescing: --on hosts"),
    refused("simulated hosts have no network cards: --on hosts"),
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
    about: "The properties of sender and receiver.",
    backends: everywhere(),
    keys: &[
        Key {
            name: "scenario",
            kind: "`LU-LU`, `LU-WS`, `WS-LU` or `WS-WS`",
            default: DefaultValue::Text("LU-LU"),
            meaning: "Systems of sender and receiver, `LU` Linux or `WS` Windows Server.",
            backends: backends(
                measured(&["LU-LU"], "not measured here: needs a Windows host"),
                measured(
                    &["LU-LU"],
                    "not simulated: hosts have costs, no operating system",
                ),
            )
            .between_hosts(measured(
                &["LU-LU"],
                "not measured here: agents run on Linux alone",
            ))
            .predicted(measured(
                &["LU-LU"],
                "not predicted: hosts have costs, no operating system",
            )),
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
            meaning: "The largest number of TCP segments in a packet at an interface. It needs links with `offloads = \"off\"` and `rate = \"none\"`. 1: the kernel makes each packet by itself; it otherwise makes up to 64 kB at once and cuts them in front of the interface. Above 1: packets of so many segments cross whole, as large as those of a larger MTU (`gso_max_segs`). Without this key, or with `any`: as `offloads` says.",
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
            meaning: "The processor on which the agents of both hosts run during a transfer; between namespaces the kernel's work on their packets is there, too. Without this key, or with `any`: the scheduler chooses.",
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
            meaning: "Frames in the ring of arriving frames of both hosts' network cards. Without this key the rings stay as they are.",
            backends: NIC,
            effect: Effect::Changes(""),
        },
        Key {
            name: "send_ring",
            kind: "number, 1 to 1000000",
            default: DefaultValue::Absent,
            meaning: "Likewise in the ring of departing frames.",
            backends: NIC,
            effect: Effect::Changes(""),
        },
        Key {
            name: "coalescing",
            kind: "time, or `adaptive`",
            default: DefaultValue::Absent,
            meaning: "The longest delay of an interrupt after an arrival, in whole microseconds, or `adaptive`: the driver adapts it to the traffic.",
            backends: NIC,
            effect: Effect::Changes(""),
        },
        Key {
            name: "coalescing_frames",
            kind: "number, 0 to 1000000",
            default: DefaultValue::Absent,
            meaning: "The number of arrivals that trigger an interrupt in any case; drivers take 0 for no such number.",
            backends: NIC,
            effect: Effect::Changes(""),
        },
        Key {
            name: "send_per_packet",
            kind: "time",
            default: DefaultValue::Text("0s"),
            meaning: "Time that a simulated host's processor takes to send an IP packet; packets are worked on one by one.",
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
            meaning: "Likewise to receive an IP packet.",
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
            meaning: "The study to whose figures these costs are fitted, as a key of docs/sources.md. The answer of a run names it. `--set` of a cost takes it away.",
            backends: kernels(refused("only simulated hosts cost what is written: --on sim")),
            effect: Effect::None,
        },
        Key {
            name: "receive_buffer",
            kind: "size, or `none`",
            default: DefaultValue::Text("none"),
            meaning: "Bytes of frames that may wait to be received by a simulated host; a frame that finds no room is dropped. `none`: no limit.",
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
