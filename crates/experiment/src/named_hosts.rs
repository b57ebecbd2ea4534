//! Reads `[hosts]` and `--host`: the machines of the backend `hosts`.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use keyfile::{Node, Origin, Table, Value, did_you_mean, fault, one_line, rejection};
use plan::{HostRole, NamedHost, NamedHosts, SideEffect};

use super::keys::find;

/// The name of the table.
pub(super) const ROOT: &str = "hosts";

const KEYS: [&str; 4] = ["address", "interface", "become", "secret_file"];
const DESTINATION: &str = "destination";
const ALLOW: &str = "allow_management_interface";

/// The keys of one machine, each with its place.
type Written = BTreeMap<String, Node>;

/// The machines in `tree` and `arguments`; an argument takes precedence.
pub(super) fn read(tree: &Table, arguments: &[String]) -> Result<NamedHosts> {
    let mut allowed = false;
    let mut side_effects = BTreeSet::new();
    let mut machines: BTreeMap<&'static str, Written> = BTreeMap::new();
    for (name, node) in tree.table(ROOT).into_iter().flat_map(Table::iter) {
        let path = format!("{ROOT}.{name}");
        let Node { value, origin } = node;
        side_effects.extend(side_effect(&path, node));
        match (name, value) {
            (ALLOW, Value::Boolean(truth)) => allowed = *truth,
            (ALLOW, value) => {
                return Err(rejection(origin, &path, value, "write true or false"));
            }
            (name, Value::Table(keys)) => {
                let role = role(name).map_err(|why| fault(origin, format!("{path}: {why}")))?;
                let keys = keys
                    .iter()
                    .map(|(key, node)| (key.to_owned(), node.clone()));
                machines.insert(role.name(), keys.collect());
            }
            (_, value) => return Err(rejection(origin, &path, value, "write a table")),
        }
    }
    let mut given = Vec::new();
    for argument in arguments {
        let (role, keys) = argued(argument)?;
        if given.contains(&role) {
            bail!("--host {}: named twice; keep one", role.name());
        }
        given.push(role);
        // A machine that an argument names has nothing of another one.
        machines.insert(role.name(), keys);
    }
    for (role, keys) in &machines {
        let path = |key: &str| format!("{ROOT}.{role}.{key}");
        let of_keys = keys.iter();
        side_effects.extend(of_keys.filter_map(|(key, node)| side_effect(&path(key), node)));
    }
    let machine = |role: HostRole| {
        let keys = machines.get(role.name());
        keys.map(|keys| named(role.name(), keys)).transpose()
    };
    let end = |role: HostRole| {
        let (machine, role) = (machine(role)?, role.name());
        machine.with_context(|| format!(
            "--on hosts needs the machine that is the {role}; write --host {role}=user@machine, or [{ROOT}.{role}] with `{DESTINATION}` in the experiment"
        ))
    };
    Ok(NamedHosts {
        sender: end(HostRole::Sender)?,
        receiver: end(HostRole::Receiver)?,
        router: machine(HostRole::Router)?,
        allow_management_interface: allowed,
        side_effects,
    })
}

/// What the value at `path` does outside of a run.
fn side_effect(path: &str, node: &Node) -> Option<SideEffect> {
    find(path)?.key(None)?.side_effect(path, node, false)
}

/// The role and the keys of an argument `ROLE=DESTINATION[,KEY=VALUE..]`.
fn argued(argument: &str) -> Result<(HostRole, Written)> {
    let node = |value: &str| Node {
        value: value.trim().into(),
        origin: Origin::option("host", argument),
    };
    let bad = |why: String| fault(&node("").origin, why);
    let example = "write for instance sender=user@machine,interface=eth1";
    let Some((name, rest)) = argument.split_once('=') else {
        return Err(bad(example.to_owned()));
    };
    let role = role(name.trim()).map_err(bad)?;
    let mut parts = rest.split(',');
    let mut keys = Written::new();
    let destination = parts.next().unwrap_or_default();
    if destination.trim().is_empty() {
        return Err(bad(format!("the destination is missing; {example}")));
    }
    keys.insert(DESTINATION.to_owned(), node(destination));
    for part in parts {
        let key = part.split('=').next().unwrap_or_default().trim();
        match part.split_once('=') {
            Some((_, value)) if KEYS.contains(&key) && !keys.contains_key(key) => {
                keys.insert(key.to_owned(), node(value));
            }
            Some(_) if KEYS.contains(&key) => {
                return Err(bad(format!("`{key}` is written twice; keep one")));
            }
            _ => {
                let hint = did_you_mean(key, KEYS);
                return Err(bad(format!(
                    "`{}` is none of {}{hint}; {example}",
                    one_line(part),
                    KEYS.map(|key| format!("{key}=..")).join(", "),
                )));
            }
        }
    }
    Ok((role, keys))
}

fn role(name: &str) -> Result<HostRole, String> {
    let mut all = HostRole::ALL.into_iter();
    all.find(|role| role.name() == name).ok_or_else(|| {
        let hint = did_you_mean(name, HostRole::ALL.map(HostRole::name));
        format!("a machine is the sender, the receiver or the router; write one of these{hint}")
    })
}

fn named(role: &str, keys: &Written) -> Result<NamedHost> {
    let path = |key: &str| format!("{ROOT}.{role}.{key}");
    for (key, node) in keys {
        if find(&path(key)).is_none() {
            let hint = did_you_mean(key, KEYS.into_iter().chain([DESTINATION]));
            return Err(fault(
                &node.origin,
                format!("unknown key `{}`{hint}", path(key)),
            ));
        }
    }
    let text = |key: &str| -> Result<Option<&str>> {
        let Some(Node { value, origin }) = keys.get(key) else {
            return Ok(None);
        };
        match value {
            Value::Text(text) if !text.trim().is_empty() => Ok(Some(text)),
            value => Err(rejection(origin, &path(key), value, "write a text")),
        }
    };
    let Some(destination) = text(DESTINATION)? else {
        bail!(
            "{ROOT}.{role}: `{DESTINATION}` is missing; write for instance {DESTINATION} = \"user@machine\", or --host {role}=user@machine"
        );
    };
    let address = match (text("address")?, keys.get("address")) {
        (Some(text), Some(Node { value, origin })) => {
            Some(text.parse::<IpAddr>().map_err(|_| {
                let why = "write an IP address, for instance \"192.0.2.1\"";
                rejection(origin, &path("address"), value, why)
            })?)
        }
        _ => None,
    };
    Ok(NamedHost {
        destination: destination.to_owned(),
        address,
        interface: text("interface")?.map(str::to_owned),
        privilege: text("become")?.map(str::to_owned),
        secret_file: text("secret_file")?.map(PathBuf::from),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Experiment;

    const FILE: &str = r#"
        format = 1
        name = "x"
        [hosts]
        allow_management_interface = true
        [hosts.sender]
        destination = "a"
        interface = "eth1"
        become = "sudo -u root"
        [hosts.receiver]
        destination = "user@b"
        address = "2001:db8::2"
        [hosts.router]
        destination = "r"
    "#;

    fn hosts(text: &str, arguments: &[&str]) -> Result<NamedHosts, String> {
        let arguments: Vec<String> = arguments.iter().map(|&word| word.to_owned()).collect();
        let experiment = Experiment::parse(text, "x.toml").unwrap();
        let hosts = experiment.named_hosts(&arguments);
        hosts.map_err(|error| format!("{error:#}"))
    }

    #[test]
    fn machines_are_named_in_the_file_and_arguments_count_more() {
        let found = hosts(FILE, &[]).unwrap();
        assert!(found.allow_management_interface);
        assert_eq!(found.sender.interface.as_deref(), Some("eth1"));
        assert_eq!(found.sender.privilege.as_deref(), Some("sudo -u root"));
        assert_eq!(found.receiver.address, "2001:db8::2".parse().ok());
        let other = hosts(FILE, &["sender=c,address=192.0.2.7,become=sudo"]).unwrap();
        assert_eq!(other.sender.destination, "c");
        assert_eq!(other.sender.interface, None, "nothing of another machine");
        assert_eq!(other.sender.address, "192.0.2.7".parse().ok());
        assert_eq!(other.receiver, found.receiver);
        let router =
            |hosts: &NamedHosts| hosts.router.as_ref().map(|host| host.destination.clone());
        assert_eq!(router(&found).as_deref(), Some("r"));
        let other = hosts(FILE, &["sender=tcp://[::1]:7,secret_file=/a b"]).unwrap();
        assert_eq!(other.sender.destination, "tcp://[::1]:7");
        assert_eq!(other.sender.secret_file, Some(PathBuf::from("/a b")));
        let other = hosts(FILE, &["router=s,interface=br0"]).unwrap();
        assert_eq!(router(&other).as_deref(), Some("s"));
        let bare = "format = 1\nname = \"x\"\n";
        assert_eq!(
            hosts(bare, &["sender=a", "receiver=b"]).unwrap().router,
            None
        );
    }

    #[test]
    fn a_machine_that_is_missing_or_misspelt_is_rejected_with_what_to_write() {
        let bare = "format = 1\nname = \"x\"\n";
        for (arguments, told) in [
            (&[][..], "write --host sender=user@machine"),
            (&["sender=a"], "write --host receiver=user@machine"),
            (&["sender=a", "sender=b"], "--host sender: named twice"),
            (&["sendr=a"], "did you mean `sender`?"),
            (&["sender"], "write for instance sender=user@machine"),
            (&["sender="], "the destination is missing"),
            (&["sender=a,eth0"], "`eth0` is none of address=.."),
            (&["sender=a,adress=1.2.3.4"], "did you mean `address`?"),
            (&["sender=a,address=b", "receiver=b"], "write an IP address"),
            (&["sender=a,interface=x,interface=y"], "written twice"),
        ] {
            let error = hosts(bare, arguments).unwrap_err();
            assert!(error.contains(told), "{arguments:?}: {error}");
            assert!(!error.contains('\n'), "{error}");
        }
        for (text, told) in [
            (
                "[hosts.switch]\ndestination = \"a\"",
                "the sender, the receiver or",
            ),
            (
                "[hosts.router]\naddress = \"1.2.3.4\"",
                "the machine that is the sender",
            ),
            (
                "[hosts.sender]\naddress = \"1.2.3.4\"",
                "`destination` is missing",
            ),
            ("[hosts.sender]\ndestination = 3", "write a text"),
            (
                "[hosts.sender]\ndestination = \"a\"\nport = 3",
                "unknown key",
            ),
            ("[hosts]\nallow_management_interface = 1", "true or false"),
        ] {
            let error = hosts(&format!("{bare}{text}"), &["receiver=b"]).unwrap_err();
            assert!(error.contains(told), "{text}: {error}");
        }
    }
}
