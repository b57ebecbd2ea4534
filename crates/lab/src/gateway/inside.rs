//! The path to the hosts inside, as a configuration names it.

use std::net::IpAddr;

use anyhow::Result;
use live::gateway::{InsidePath, Sending};
use units::IpMtu;

use super::mtu_of;
use super::section::Section;

/// The largest MTU of a TAP interface: an Ethernet header, too, fits what 16 bits count.
const LARGEST_TAP: u32 = 65_521;

/// The path to the inside, and whether the gateway installs routes to it.
pub(super) fn path(inside: &Section, addresses: &[IpAddr]) -> Result<(InsidePath, bool)> {
    let is_tap = inside.text("path")? == Some("tap");
    let interfaces = inside.texts("interfaces").to_vec();
    let sending = match inside.text("path")? {
        None => (!interfaces.is_empty()).then_some(Sending::PacketSocket),
        Some(_) => inside.word(
            "path",
            "tun",
            &[
                ("tun", None),
                ("tap", None),
                ("packet", Some(Sending::PacketSocket)),
                ("xdp", Some(Sending::Ring)),
                ("auto", Some(Sending::Fastest)),
            ],
        )?,
    };
    let installs = inside.word("routes", "install", &[("install", true), ("leave", false)])?;
    if sending.is_some() && interfaces.is_empty() {
        let path = inside.text("path")?.unwrap_or_default();
        let problem = format!("{path} needs `interfaces`, for instance [\"eth1\"]");
        return Err(inside.refuse("path", &problem));
    }
    if sending.is_none() && !interfaces.is_empty() {
        return Err(inside.refuse(
            "interfaces",
            "with path = \"tun\" the kernel routes packets from all interfaces, and with \"tap\" hosts are behind the TAP interface; leave it out",
        ));
    }
    let name = inside.text("name")?.unwrap_or("jumbo0").to_owned();
    if name.is_empty() || name.len() > 15 || name.contains(['/', ' ', ':', '%']) {
        return Err(inside.refuse(
            "name",
            "a name has 1 to 15 letters and digits, for instance jumbo0",
        ));
    }
    let mtu = mtu_of(inside, "mtu", 1_500)?;
    if is_tap {
        return Ok((tap(inside, addresses, name, mtu)?, false));
    }
    if inside.text("bridge")?.is_some() {
        return Err(inside.refuse(
            "bridge",
            "a TAP interface alone joins a bridge; write path = \"tap\"",
        ));
    }
    let path = match sending {
        None => InsidePath::Tun { name, mtu },
        Some(sending) => InsidePath::Packet {
            interfaces,
            name,
            mtu,
            sending,
        },
    };
    Ok((path, installs))
}

/// A TAP interface, with what it alone has and has not.
fn tap(inside: &Section, addresses: &[IpAddr], name: String, mtu: IpMtu) -> Result<InsidePath> {
    if addresses.is_empty() {
        return Err(inside.refuse(
            "path",
            "with tap the gateway is a router among the hosts; name its `addresses` there, for instance [\"10.1.0.1\"]",
        ));
    }
    if mtu.get() > LARGEST_TAP {
        return Err(inside.refuse("mtu", "a TAP interface carries at most 65521"));
    }
    if inside.text("routes")? == Some("install") {
        return Err(inside.refuse(
            "routes",
            "with tap hosts have one of `addresses` as their next hop; leave it out",
        ));
    }
    Ok(InsidePath::Tap {
        name,
        mtu,
        bridge: inside.text("bridge")?.map(str::to_owned),
        addresses: addresses.to_vec(),
    })
}
