//! The file with the hosts of a mesh.

#[cfg(test)]
mod fuzz;

use std::collections::BTreeSet;
use std::fs::Metadata;
use std::net::{IpAddr, ToSocketAddrs};
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail, ensure};
use os::ssh::{self, Become, Destination};

/// The largest file, in bytes.
const LARGEST: u64 = 1 << 20;

/// The most hosts: ten thousand paths.
const MOST: usize = 100;

const LONGEST_NAME: usize = 64;

/// The port of a reflector unless the line says another one: that of `jumbolab recv`.
const PORT: u16 = 7770;

/// The keys of a line.
const KEYS: [&str; 4] = ["ssh", "address", "port", "become"];

/// A line of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostLine {
    /// The name in results.
    pub name: String,
    /// How the host is reached; `None`: it is only probed.
    pub ssh: Option<Destination>,
    /// The address that is probed.
    pub address: IpAddr,
    /// The port of its reflector, if the host is only probed.
    pub port: u16,
    /// How this program becomes another user there.
    pub privilege: Option<Become>,
}

/// Reads the file. Also returns its owner and permissions.
///
/// # Errors
/// It cannot be read, or one line of text: the file, the line, the error, and what would
/// be right.
pub fn read(path: &Path) -> Result<(Vec<HostLine>, Metadata)> {
    let (text, opened) = files::read_text_of(path, LARGEST)
        .with_context(|| format!("{}: cannot read the hosts", path.display()))?;
    let hosts = parse(&text, resolve).map_err(|(line, why)| match line {
        Some(line) if files::may_be_secret(path, &text) => anyhow!(
            "{}:{line}: this is no host, and is not shown, as it may be a secret; name a file with a host on each line",
            path.display()
        ),
        Some(line) => anyhow!("{}:{line}: {why}", path.display()),
        None => anyhow!("{}: {why}", path.display()),
    })?;
    Ok((hosts, opened))
}

/// The hosts of a text, or the line and the error.
fn parse(
    text: &str,
    resolve: impl Fn(&Written) -> Result<IpAddr>,
) -> Result<Vec<HostLine>, (Option<usize>, anyhow::Error)> {
    let mut hosts: Vec<HostLine> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split('#').next().unwrap_or_default();
        let words: Vec<&str> = line.split_whitespace().collect();
        let Some((name, words)) = words.split_first() else {
            continue;
        };
        let at = |error| (Some(number), error);
        let written = written(name, words).map_err(at)?;
        if hosts.iter().any(|host| host.name == *name) {
            return Err(at(anyhow!(
                "a host is called {name} already; write another name"
            )));
        }
        if hosts.len() == MOST {
            return Err(at(anyhow!(
                "a mesh has at most {MOST} hosts; leave some out"
            )));
        }
        let address = resolve(&written).map_err(at)?;
        if let Some(other) = hosts.iter().find(|host| host.address == address) {
            let why = anyhow!(
                "{} has the address {address} already; write address=",
                other.name
            );
            return Err(at(why));
        }
        hosts.push(HostLine {
            name: written.name,
            ssh: written.ssh,
            address,
            port: written.port.unwrap_or(PORT),
            privilege: written.privilege,
        });
    }
    let whole = || -> Result<()> {
        ensure!(
            hosts.len() > 1,
            "a mesh has at least two hosts; write a line for each"
        );
        ensure!(
            hosts.iter().any(|host| host.ssh.is_some()),
            "no host can probe; write ssh=DESTINATION behind the name of one"
        );
        Ok(())
    };
    whole().map_err(|error| (None, error))?;
    Ok(hosts)
}

/// A line as it is written.
struct Written {
    name: String,
    ssh: Option<Destination>,
    address: Option<String>,
    port: Option<u16>,
    privilege: Option<Become>,
}

fn written(name: &str, words: &[&str]) -> Result<Written> {
    let is_name = |c: char| c.is_ascii_graphic() && c != '=';
    ensure!(
        name.len() <= LONGEST_NAME && name.chars().all(is_name),
        "{name}: a line begins with a name of at most {LONGEST_NAME} letters, digits and signs, without `=`"
    );
    let mut found = Written {
        name: name.to_owned(),
        ssh: None,
        address: None,
        port: None,
        privilege: None,
    };
    let mut seen = BTreeSet::new();
    for word in words {
        let Some((key, value)) = word.split_once('=') else {
            bail!("{word}: write KEY=VALUE; the keys are {}", KEYS.join(", "));
        };
        ensure!(seen.insert(key), "{key} is written twice; write it once");
        match key {
            "ssh" => found.ssh = Some(value.parse().map_err(|why| anyhow!("ssh={value}: {why}"))?),
            "address" => found.address = Some(value.to_owned()),
            "port" => {
                let port = value.parse().ok().filter(|port| *port > 0);
                found.port = Some(port.with_context(|| format!("port={value}: write 1 to 65535"))?);
            }
            "become" => {
                let privilege = value
                    .parse()
                    .map_err(|why| anyhow!("become={value}: {why}"))?;
                found.privilege = Some(privilege);
            }
            _ => {
                bail!("{key} is no key{}", keyfile::meant(key, KEYS));
            }
        }
    }
    ensure!(
        found.ssh.is_some() || found.privilege.is_none(),
        "become={}: nothing is started on a host without ssh; write ssh=, or leave become out",
        found
            .privilege
            .as_ref()
            .map_or_else(String::new, ToString::to_string)
    );
    ensure!(
        found.ssh.is_none() || found.port.is_none(),
        "port: a host with ssh has a reflector of its own; leave port out"
    );
    Ok(found)
}

/// The address to be probed: the given one, or that of the host as `ssh` knows it, or that
/// of the name.
fn resolve(written: &Written) -> Result<IpAddr> {
    let name = match (&written.address, &written.ssh) {
        (Some(address), _) => address.clone(),
        (None, Some(destination)) => ssh::host_name(destination)?,
        (None, None) => written.name.clone(),
    };
    let addresses = (name.as_str(), 0).to_socket_addrs();
    let address = addresses.ok().and_then(|mut addresses| addresses.next());
    address.map(|address| address.ip()).with_context(|| {
        format!("{name} has no known address; write address= with the one that is to be probed")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbered(written: &Written) -> Result<IpAddr> {
        let text = written.address.as_deref().unwrap_or("10.0.0.1");
        text.parse().context("no address")
    }

    fn why(text: &str) -> String {
        let (line, why) = parse(text, numbered).unwrap_err();
        line.map_or_else(|| why.to_string(), |line| format!("{line}: {why}"))
    }

    #[test]
    fn lines_have_names_keys_and_comments() {
        let text = "# hosts\n\na ssh=u@a address=10.0.0.1 become=sudo # first\nb address=10.0.0.2 port=9\n";
        let hosts = parse(text, numbered).unwrap();
        assert_eq!(hosts.len(), 2);
        assert_eq!(hosts[0].ssh.as_ref().unwrap().as_str(), "u@a");
        assert_eq!(
            hosts[0].privilege.as_ref().unwrap().to_string(),
            "sudo -n -H --"
        );
        assert_eq!(hosts[0].port, PORT);
        assert_eq!((hosts[1].name.as_str(), hosts[1].port), ("b", 9));
        assert_eq!(hosts[1].address.to_string(), "10.0.0.2");
    }

    #[test]
    fn each_error_names_its_line_and_what_would_be_right() {
        let two = "a ssh=a address=10.0.0.1\nb address=10.0.0.2";
        for (text, words) in [
            (
                "",
                "a mesh has at least two hosts; write a line for each".to_owned(),
            ),
            (
                "a\nb address=10.0.0.2",
                "no host can probe; write ssh=DESTINATION".to_owned(),
            ),
            (
                &format!("{two}\na address=10.0.0.3"),
                "3: a host is called a already".to_owned(),
            ),
            (
                &format!("{two}\nc address=10.0.0.2"),
                "3: b has the address 10.0.0.2 already".to_owned(),
            ),
            (
                &format!("{two}\nc adress=10.0.0.3"),
                "3: adress is no key; did you mean `address`?".to_owned(),
            ),
            (
                &format!("{two}\nc d"),
                "3: d: write KEY=VALUE; the keys are ssh, address".to_owned(),
            ),
            (
                &format!("{two}\nc ssh=-x"),
                "3: ssh=-x: the name of a host begins with a dash".to_owned(),
            ),
            (
                &format!("{two}\nc port=0"),
                "3: port=0: write 1 to 65535".to_owned(),
            ),
            (
                &format!("{two}\nc port=1 port=2"),
                "3: port is written twice".to_owned(),
            ),
            (
                &format!("{two}\nc become=sudo"),
                "3: become=sudo -n -H --: nothing is started".to_owned(),
            ),
            (
                &format!("{two}\nc ssh=c port=1"),
                "3: port: a host with ssh".to_owned(),
            ),
            (
                &format!("{two}\nssh=c"),
                "3: ssh=c: a line begins with a name".to_owned(),
            ),
        ] {
            let why = why(text);
            assert!(why.starts_with(&words), "{text}: {why}");
        }
    }

    #[test]
    fn a_host_has_the_address_that_is_written_or_that_of_its_name() {
        let of = |address: Option<&str>| {
            resolve(&Written {
                name: "127.0.0.3".to_owned(),
                ssh: None,
                address: address.map(str::to_owned),
                port: None,
                privilege: None,
            })
        };
        assert_eq!(of(None).unwrap().to_string(), "127.0.0.3");
        assert_eq!(of(Some("127.0.0.4")).unwrap().to_string(), "127.0.0.4");
        let why = of(Some("no..such")).unwrap_err().to_string();
        assert!(
            why.contains("no..such has no known address; write address="),
            "{why}"
        );
    }
}
