//! The kernel's settings of path MTU discovery in this namespace [ip(7)] [tcp(7)].

use std::fs;

/// The settings; one that this kernel does not have is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathMtuSettings {
    /// When TCP searches the path MTU itself [RFC4821]: 0 never, 1 after a black hole was
    /// noticed, 2 always.
    pub tcp_mtu_probing: Option<u32>,
    /// The MSS in bytes at which that search begins.
    pub tcp_base_mss: Option<u32>,
    /// 0: path MTU discovery over IPv4; 1: none; 2: none, and messages are ignored; 3: only
    /// messages about this host's own sockets count.
    pub ip_no_pmtu_disc: Option<u32>,
}

impl PathMtuSettings {
    /// The settings of the calling thread's namespace.
    pub fn here() -> Self {
        Self {
            tcp_mtu_probing: read("tcp_mtu_probing"),
            tcp_base_mss: read("tcp_base_mss"),
            ip_no_pmtu_disc: read("ip_no_pmtu_disc"),
        }
    }
}

fn read(name: &str) -> Option<u32> {
    let text = fs::read_to_string(format!("/proc/sys/net/ipv4/{name}")).ok()?;
    text.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_kernel_has_the_settings() {
        let settings = PathMtuSettings::here();
        assert!(settings.tcp_mtu_probing.is_some_and(|value| value <= 2));
        assert!(settings.tcp_base_mss.is_some_and(|mss| mss >= 48));
        assert!(settings.ip_no_pmtu_disc.is_some_and(|value| value <= 3));
        assert_eq!(read("no_such_setting"), None);
    }
}
