//! Changes of a host's interfaces, which its user makes on systems other than Linux: this
//! program prints the commands.

use crate::error::{Error, Result};
pub use crate::portable::wanted::{
    Wanted, WantedCoalescing, WantedRings, mtu_command, offloads_command,
};

/// A host of whose interfaces nothing is changed.
#[derive(Debug, Default)]
pub struct HostChanges(());

/// Tells a watchdog that the controller is alive. Here nothing is to be put back.
#[derive(Clone, Debug)]
pub struct Heartbeat(());

impl HostChanges {
    /// Begins without changes.
    ///
    /// # Errors
    /// None on these systems.
    pub fn begin(_: &str) -> Result<Self> {
        Ok(Self::default())
    }

    /// Sentences about changes of an earlier run: none.
    pub const fn notes(&self) -> &[String] {
        &[]
    }

    /// The heartbeat.
    pub const fn heartbeat(&self) -> Heartbeat {
        Heartbeat(())
    }

    /// Rejects what is to be changed, with the commands that do it.
    ///
    /// # Errors
    /// Something is to be changed.
    pub fn apply(&mut self, wanted: &Wanted) -> Result<()> {
        match wanted.is_empty() {
            true => Ok(()),
            false => Err(Error::new(
                format!("changing {}", wanted.interface),
                remedy(wanted, &super::machine::system()),
            )),
        }
    }

    /// Ends without changes.
    ///
    /// # Errors
    /// None on these systems.
    pub fn restore(self) -> Result<Vec<String>> {
        Ok(Vec::new())
    }
}

impl Heartbeat {
    /// Extends the lease of nothing.
    ///
    /// # Errors
    /// None on these systems.
    pub const fn beat(&self) -> Result<()> {
        Ok(())
    }
}

/// What the user does instead on `system`.
fn remedy(wanted: &Wanted, system: &str) -> String {
    let (interface, rest) = (
        &wanted.interface,
        Wanted {
            mtu: None,
            offloads: Vec::new(),
            ..wanted.clone()
        },
    );
    if !rest.is_empty() {
        return "rings and coalescing are changed on Linux alone; leave host.nic out, or change them there by hand".to_owned();
    }
    let mtu = { wanted.mtu }.map(|mtu| mtu_command(system, interface, mtu));
    let offloads =
        { wanted.offloads.first() }.map(|(_, on)| offloads_command(system, interface, *on));
    let commands: Vec<String> = mtu.into_iter().chain(offloads).collect();
    format!(
        "this program changes interfaces of Linux alone; type there {}",
        commands.join(" and ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(mtu: Option<u32>) -> Wanted {
        Wanted {
            interface: "Ethernet 2".to_owned(),
            mtu,
            ..Wanted::default()
        }
    }

    #[test]
    fn nothing_is_changed_and_the_user_gets_the_command() {
        let mut changes = HostChanges::begin("a run").unwrap();
        assert!(changes.apply(&wanted(None)).is_ok());
        let why = changes.apply(&wanted(Some(9_000))).unwrap_err().to_string();
        assert!(why.starts_with("changing Ethernet 2: "), "{why}");
        assert!(changes.restore().unwrap().is_empty());
        let windows = remedy(&wanted(Some(9_000)), "Windows_NT");
        let command = "netsh interface ipv6 set subinterface \"Ethernet 2\" mtu=9000 store=active";
        assert!(windows.contains(command), "{windows}");
        let macos = remedy(&wanted(Some(1_500)), "Darwin");
        assert!(macos.ends_with("ifconfig Ethernet 2 mtu 1500"), "{macos}");
        let offloads = Wanted {
            offloads: vec![("rx-gro".to_owned(), false)],
            ..wanted(Some(1_500))
        };
        let windows = remedy(&offloads, "Windows_NT");
        let command = "Disable-NetAdapterLso -Name \"Ethernet 2\" and Disable-NetAdapterRsc";
        assert!(
            windows.contains(command) && windows.contains("mtu=1500"),
            "{windows}"
        );
        let freebsd = remedy(&offloads, "FreeBSD");
        let command = "ifconfig Ethernet 2 mtu 1500 and ifconfig Ethernet 2 -tso -lro";
        assert!(freebsd.ends_with(command), "{freebsd}");
        let rings = Wanted {
            rings: WantedRings {
                receive: Some(256),
                send: None,
            },
            ..wanted(None)
        };
        assert!(remedy(&rings, "FreeBSD").contains("host.nic"));
    }
}
