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
        about: "The machines of the backend `hosts`, see [hosts.md](../start/hosts.md). They are not part of the experiment: its results folder and `--resume` do not depend on them.",
        backends: NAMED,
        keys: &[Key {
            name: "allow_management_interface",
            kind: "`true` or `false`",
            default: DefaultValue::Text("false"),
            meaning: "Whether the interface may be changed through which `ssh` reaches its host.",
            backends: NAMED,
            effect: Effect::Changes("false"),
        }],
    },
    Section {
        tables: &["hosts.ROLE"],
        kinds: &[],
        about: "A machine as `sender` or `receiver`, or, if there is one to be metered, as `router` between them. `--host ROLE=DESTINATION[,address=..,interface=..,become=..]` has the same keys and counts more.",
        backends: NAMED,
        keys: &[
            Key {
                name: "ssh",
                kind: "destination of `ssh`",
                default: DefaultValue::Required,
                meaning: "How `ssh` reaches it: `user@host`, a name of its configuration, or `ssh://user@host:port`.",
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
                meaning: "Its interface in the measured network. Without this key and `address`: the interface to which `ssh` connects, and of a router those towards both ends.",
                backends: NAMED,
                effect: Effect::Does(Action::MeasureThrough),
            },
            Key {
                name: "become",
                kind: "command",
                default: DefaultValue::Absent,
                meaning: "What gives the agent the privilege to change the interface, for instance `\"sudo\"`, which must not ask for a password.",
                backends: NAMED,
                effect: Effect::Does(Action::RunOnHost),
            },
        ],
    },
];
