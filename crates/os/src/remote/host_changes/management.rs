//! The interface that carries the ssh connection of this process.

use std::fs;
use std::net::IpAddr;

use super::Wanted;
use crate::error::{Error, Result};
use crate::netlink::{Listed, Route};

/// The most ancestors of a process that are looked at.
const ANCESTORS: usize = 64;

/// The name of the interface that carries the ssh connection through which this process
/// was started; `None` without one, or if none of this namespace does.
///
/// # Errors
/// If the kernel does not list its interfaces.
pub fn management_interface() -> Result<Option<String>> {
    let Some(connection) = connection() else {
        return Ok(None);
    };
    let route = Route::open()?;
    match local_address(&connection) {
        Some((_, Some(scope))) => Ok(Some(scope)),
        Some((address, None)) => {
            let interfaces = route.interfaces()?;
            let holder = route.holder_of(address)?;
            Ok(interfaces
                .into_iter()
                .find(|one| Some(one.index) == holder)
                .map(|one| one.name))
        }
        None => Ok(None),
    }
}

/// Rejects a change of the management interface or of one below it, unless it is
/// allowed.
pub(super) fn reject(wanted: &Wanted) -> Result<()> {
    if wanted.allow_management_interface {
        return Ok(());
    }
    let Some(management) = management_interface()? else {
        return Ok(());
    };
    let interfaces = Route::open()?.interfaces()?;
    if !carriers(&interfaces, &management).contains(&wanted.interface.as_str()) {
        return Ok(());
    }
    let through = match management == wanted.interface {
        true => String::new(),
        false => format!(" of {management}"),
    };
    Err(Error::new(
        format!("changing {}", wanted.interface),
        format!(
            "it is used by the ssh connection{through}; name another interface, or state \
             allow_management_interface = true"
        ),
    ))
}

/// `management` and every interface below it: the parent of a VLAN, the ports of a
/// bridge or bond.
fn carriers<'a>(interfaces: &'a [Listed], management: &'a str) -> Vec<&'a str> {
    let mut found = vec![management];
    let mut next = 0;
    while let Some(name) = found.get(next).copied() {
        next += 1;
        let Some(upper) = interfaces.iter().find(|one| one.name == name) else {
            continue;
        };
        for lower in interfaces {
            let below = upper.lower == Some(lower.index) || lower.controller == Some(upper.index);
            if below && !found.contains(&lower.name.as_str()) {
                found.push(&lower.name);
            }
        }
    }
    found
}

/// `SSH_CONNECTION` of this process or the nearest ancestor that has it: `sudo` removes
/// it from the environment.
fn connection() -> Option<String> {
    if let Ok(own) = std::env::var("SSH_CONNECTION") {
        return Some(own);
    }
    let mut process = parent(std::process::id())?;
    for _ in 0..ANCESTORS {
        let environment = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
        let found = environment
            .split(|&byte| byte == 0)
            .find_map(|entry| entry.strip_prefix(b"SSH_CONNECTION="));
        if let Some(found) = found {
            return Some(String::from_utf8_lossy(found).into_owned());
        }
        process = parent(process)?;
    }
    None
}

fn parent(process: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("PPid:"))?;
    line.trim().parse().ok().filter(|&parent| parent > 0)
}

/// The address of this host, and its interface if the address has a scope: the third of
/// the four words of `SSH_CONNECTION` [ssh(1)].
fn local_address(connection: &str) -> Option<(IpAddr, Option<String>)> {
    let word = connection.split_whitespace().nth(2)?;
    let (address, scope) = match word.split_once('%') {
        Some((address, scope)) => (address, Some(scope.to_owned())),
        None => (word, None),
    };
    let address: IpAddr = address.parse().ok()?;
    Some((address.to_canonical(), scope))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_local_address_of_an_ssh_connection_is_its_third_word() {
        let v4 = local_address("192.0.2.7 50122 192.0.2.9 22").unwrap();
        assert_eq!(v4, ("192.0.2.9".parse().unwrap(), None));
        let mapped = local_address("::ffff:192.0.2.7 50122 ::ffff:192.0.2.9 22").unwrap();
        assert_eq!(mapped, v4);
        let scoped = local_address("fe80::1%eth1 50122 fe80::2%eth1 22").unwrap();
        assert_eq!(scoped.1.as_deref(), Some("eth1"));
        for bad in ["", "192.0.2.7 1", "a b c d"] {
            assert_eq!(local_address(bad), None, "{bad}");
        }
    }

    #[test]
    fn whatever_is_below_the_management_interface_carries_the_connection() {
        let interface = |index, name: &str, lower, controller| Listed {
            index,
            name: name.to_owned(),
            mtu: 1500,
            up: true,
            carrier: true,
            lower,
            controller,
            ..Listed::default()
        };
        let interfaces = [
            interface(1, "eth0", None, Some(3)),
            interface(2, "eth1", None, None),
            interface(3, "br0", None, None),
            interface(4, "br0.7", Some(3), None),
            interface(5, "eth1.7", Some(2), None),
        ];
        assert_eq!(carriers(&interfaces, "br0.7"), ["br0.7", "br0", "eth0"]);
        assert_eq!(carriers(&interfaces, "eth1"), ["eth1"]);
        assert_eq!(carriers(&interfaces, "gone"), ["gone"]);
    }
}
