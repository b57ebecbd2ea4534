//! Keys of `[hosts]`: the machines of the backend `hosts`.

use plan::Action;

use super::support::{SUPPORTED, backends, no_effect};
use super::{Backends, DefaultValue, Effect, Key, Section};

/// Keys that only the backend `hosts` has; others have hosts of their own.
const NAMED: Backends =
    backends(no_effect(OWN_HOSTS), no_effect(OWN_HOSTS)).between_hosts(SUPPORTED);

const OWN_HOSTS: &str = "this backend makes its own hosts";

pub(super) const SECTIONS: &[Section] = &[
    Section {
        tables: &["hosts"],
        kinds: &[],
        about: "The machines of the backend `hosts`, see [Two hosts](../start/hosts.md). They are not part of the plan.",
        backends: NAMED,
        keys: &[Key {
            name: "allow_management_interface",
            kind: "`true` or `false`",
            default: DefaultValue::Text("false"),
            meaning: "Whether a run may change the interface of the connection to its agent.",
            backends: NAMED,
            effect: Effect::Changes("false"),
        }],
    },
    Section {
        tables: &["hosts.ROLE"],
        kinds: &[],
        about: "A machine: `sender`, `receiver`, or `router` for a metered one between them. `--host ROLE=DESTINATION[,address=..,interface=..,become=..,secret_file=..]` overrides it.",
        backends: NAMED,
        keys: &[
            Key {
                name: "destination",
                kind: "destination of `ssh`, or `tcp://HOST[:PORT]`",
                default: DefaultValue::Required,
                meaning: "How it is reached: by `ssh` as `user@host`, a name of the configuration, or `ssh://user@host:port`; or by `tcp://host:port` where `jumbolab agent --listen` runs.",
                backends: NAMED,
                effect: Effect::Does(Action::Connect),
            },
            Key {
                name: "address",
                kind: "IP address",
                default: DefaultValue::Follows("the first one of `interface`"),
                meaning: "Its address in the measured network, of the version `network.ip`.",
                backends: NAMED,
                effect: Effect::Does(Action::SendTo),
            },
            Key {
                name: "interface",
                kind: "name of an interface",
                default: DefaultValue::Follows("the one that has `address`"),
                meaning: "Its interface in the measured network. Without this key and `address`: that of the connection to its agent; for a router those towards both ends.",
                backends: NAMED,
                effect: Effect::Does(Action::MeasureThrough),
            },
            Key {
                name: "become",
                kind: "command",
                default: DefaultValue::Absent,
                meaning: "The command that lets the agent change the interface, such as `\"sudo\"` without a password.",
                backends: NAMED,
                effect: Effect::Does(Action::RunOnHost),
            },
            Key {
                name: "secret_file",
                kind: "path of a file",
                default: DefaultValue::Absent,
                meaning: "The file with the secret of `jumbolab agent --listen`; only its owner may have access to it.",
                backends: NAMED,
                effect: Effect::Does(Action::Read),
            },
        ],
    },
];
