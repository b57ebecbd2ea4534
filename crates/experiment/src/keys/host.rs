//! Keys of `[host]`.

use super::support::{HONOURED, everywhere, kernels, measured, only, simulator, worlds};
use super::{DefaultValue, Key, Section, Worlds};

/// Processing times of simulated hosts.
const COST: Worlds = kernels(only(
    &["0s"],
    "only simulated hosts cost what is written: --on sim, or write 0s",
));

pub(super) const SECTIONS: &[Section] = &[Section {
    tables: &["host"],
    kinds: &[],
    about: "The properties of sender and receiver.",
    worlds: everywhere(),
    keys: &[
        Key {
            name: "scenario",
            kind: "`LU-LU`, `LU-WS`, `WS-LU` or `WS-WS`",
            default: DefaultValue::Text("LU-LU"),
            meaning: "Systems of sender and receiver, `LU` Linux or `WS` Windows Server.",
            worlds: worlds(
                measured(&["LU-LU"], "not measured here: needs a Windows host"),
                measured(
                    &["LU-LU"],
                    "not simulated: hosts have costs, no operating system",
                ),
            ),
        },
        Key {
            name: "offloads",
            kind: "switch",
            default: DefaultValue::Text("off"),
            meaning: "Segmentation and receive offloads.",
            worlds: simulator(measured(&["off"], "not simulated: hosts have no offloads")),
        },
        Key {
            name: "congestion",
            kind: "name of a congestion control",
            default: DefaultValue::Follows("`\"cubic\"`; beside an agent of ns-2 `\"reno\"`"),
            meaning: "TCP congestion control by its kernel name.",
            worlds: worlds(
                HONOURED.if_(", of TCP alone"),
                measured(
                    &["reno", "cubic"],
                    "not simulated: TCP's control is reno or cubic there",
                )
                .if_(", of TCP alone"),
            ),
        },
        Key {
            name: "send_per_packet",
            kind: "time",
            default: DefaultValue::Text("0s"),
            meaning: "Time that a simulated host's processor takes to send an IP packet; packets are worked on one by one.",
            worlds: COST,
        },
        Key {
            name: "send_per_octet",
            kind: "time",
            default: DefaultValue::Text("0s"),
            meaning: "Besides, for each octet of it.",
            worlds: COST,
        },
        Key {
            name: "receive_per_packet",
            kind: "time",
            default: DefaultValue::Text("0s"),
            meaning: "Likewise to receive an IP packet.",
            worlds: COST,
        },
        Key {
            name: "receive_per_octet",
            kind: "time",
            default: DefaultValue::Text("0s"),
            meaning: "Besides, for each octet of it.",
            worlds: COST,
        },
        Key {
            name: "receive_buffer",
            kind: "size, or `none`",
            default: DefaultValue::Text("none"),
            meaning: "Octets of frames that may wait to be received by a simulated host; a frame that finds no room is dropped. `none`: no limit.",
            worlds: kernels(only(
                &["none"],
                "only simulated hosts cost what is written: --on sim, or write \"none\"",
            )),
        },
    ],
}];
