//! The settings that a run wants of an interface.

use serde::{Deserialize, Serialize};
use units::Span;

/// The settings that a run wants of an interface; absent settings stay as they are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wanted {
    /// The name of the interface.
    pub interface: String,
    /// The MTU in bytes.
    pub mtu: Option<u32>,
    /// Offloads by the kernel's names, such as those of [`Nic`](crate::nic::Nic), and
    /// whether they are to be on.
    pub offloads: Vec<(String, bool)>,
    /// Sizes of the rings.
    pub rings: WantedRings,
    /// Interrupt coalescing.
    pub coalescing: WantedCoalescing,
    /// Whether the interface may carry the ssh connection of the run.
    pub allow_management_interface: bool,
}

impl Wanted {
    /// Whether nothing is to be changed.
    pub fn is_empty(&self) -> bool {
        let nothing = Self {
            interface: self.interface.clone(),
            allow_management_interface: self.allow_management_interface,
            ..Self::default()
        };
        *self == nothing
    }
}

/// Sizes of rings in frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WantedRings {
    /// That of arriving frames.
    pub receive: Option<u32>,
    /// That of departing frames.
    pub send: Option<u32>,
}

/// Interrupt coalescing; see [`Coalescing`](crate::nic::Coalescing).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WantedCoalescing {
    /// The longest delay of an interrupt, in whole microseconds.
    pub receive_delay: Option<Span>,
    /// The number of arrivals that trigger an interrupt.
    pub receive_frames: Option<u32>,
    /// Whether the driver adapts the settings to the traffic.
    pub adaptive: Option<bool>,
}

/// What a user types to give an interface of another system than Linux this MTU [NetshInterface].
/// The system is named as `uname -s` prints it.
pub fn mtu_command(system: &str, interface: &str, mtu: u32) -> String {
    match system.starts_with("Windows") {
        true => ["ipv4", "ipv6"]
            .map(|ip| {
                format!(
                    "netsh interface {ip} set subinterface \"{interface}\" mtu={mtu} store=active"
                )
            })
            .join(" and "),
        false => format!("ifconfig {interface} mtu {mtu}"),
    }
}

/// What a user types to turn the segmentation and receive offloads of an interface of another
/// system than Linux on or off [NetAdapter] [ifconfig(8)].
pub fn offloads_command(system: &str, interface: &str, on: bool) -> String {
    match (system.starts_with("Windows"), on) {
        (true, true) => format!(
            "Enable-NetAdapterLso -Name \"{interface}\" and Enable-NetAdapterRsc -Name \"{interface}\""
        ),
        (true, false) => format!(
            "Disable-NetAdapterLso -Name \"{interface}\" and Disable-NetAdapterRsc -Name \"{interface}\""
        ),
        (false, true) => format!("ifconfig {interface} tso lro"),
        (false, false) => format!("ifconfig {interface} -tso -lro"),
    }
}
