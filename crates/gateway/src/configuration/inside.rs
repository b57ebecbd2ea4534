//! The path to the hosts inside, as a configuration names it.

use anyhow::Result;
use keyfile::Section;

use super::mtu_of;
use crate::driver::{InsidePath, Sending};

/// The path to the inside, and whether the gateway installs routes to it.
pub(super) fn path(inside: &Section) -> Result<(InsidePath, bool)> {
    let interfaces = inside.texts("interfaces").to_vec();
    let sending = match inside.text("datapath")? {
        None => (!interfaces.is_empty()).then_some(Sending::PacketSocket),
        Some(_) => inside.word(
            "datapath",
            "tun",
            &[
                ("tun", None),
                ("packet", Some(Sending::PacketSocket)),
                ("xdp", Some(Sending::Ring)),
                ("auto", Some(Sending::Fastest)),
            ],
        )?,
    };
    let installs = inside.word("routes", "install", &[("install", true), ("leave", false)])?;
    if sending.is_some() && interfaces.is_empty() {
        let path = inside.text("datapath")?.unwrap_or_default();
        let problem = format!("{path} needs `interfaces`, for instance [\"eth1\"]");
        return Err(inside.reject("datapath", problem));
    }
    if sending.is_none() && !interfaces.is_empty() {
        return Err(inside.reject(
            "interfaces",
            "with datapath = \"tun\" the kernel routes packets from all interfaces; leave it out",
        ));
    }
    let name = inside.text("name")?.unwrap_or("jumbo0").to_owned();
    if name.is_empty() || name.len() > 15 || name.contains(['/', ' ', ':', '%']) {
        return Err(inside.reject(
            "name",
            "a name has 1 to 15 letters and digits, for instance jumbo0",
        ));
    }
    let mtu = mtu_of(inside, "mtu", 1_500)?;
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
