//! Listening sockets of a namespace: the sign that a server is ready.

use std::fs;

use crate::error::Result;
use crate::namespace::Namespace;

/// The kernel's tables of sockets below `/proc/PID/net` [proc_pid_net(5)].
const TABLES: [&str; 4] = ["tcp", "tcp6", "udp", "udp6"];

/// States in these tables [LinuxUapi tcp.h]: TCP_LISTEN, and TCP_CLOSE, the state of a
/// bound, unconnected datagram socket.
const LISTENING: &str = "0A";
const UNCONNECTED: &str = "07";

impl Namespace {
    /// The number of sockets of this namespace that wait for a peer.
    ///
    /// # Errors
    /// If the namespace cannot be entered.
    pub fn listeners(&self) -> Result<usize> {
        self.within(|| Ok(listeners()))
    }
}

/// The number of sockets that wait for a peer, in the network namespace of the caller.
pub fn listeners() -> usize {
    let tables = TABLES.map(|table| {
        // A protocol that this kernel lacks has no table.
        let file = format!("/proc/thread-self/net/{table}");
        waiting(table, &fs::read_to_string(file).unwrap_or_default())
    });
    tables.iter().sum()
}

/// The number of waiting sockets in the text of a table.
fn waiting(table: &str, text: &str) -> usize {
    let state = match table.starts_with("tcp") {
        true => LISTENING,
        false => UNCONNECTED,
    };
    text.lines()
        .filter(|line| line.split_whitespace().nth(3) == Some(state))
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sockets_that_wait_for_somebody_are_counted() {
        let text = "  sl  local_address rem_address   st tx_queue rx_queue\n   \
                    0: 00000000:1451 00000000:0000 0A 00000000:00000000 00:00000000\n   \
                    1: 0100007F:1451 0100007F:8124 01 00000000:00000000 00:00000000\n   \
                    2: 0100007F:1452 00000000:0000 07 00000000:00000000 00:00000000\n";
        assert_eq!(waiting("tcp", text), 1);
        assert_eq!(waiting("udp6", text), 1);
        assert_eq!(waiting("tcp6", ""), 0);
    }
}
