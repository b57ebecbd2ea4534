//! The program that holds a port, for errors about ports in use.

use std::fs;

use nix::unistd::{Uid, User};

use crate::processes::title;

/// The program that has a TCP or UDP socket at the local port, in words: `dnsmasq (process
/// 812)`, or its user if this user may not see more. `None` if no socket has the port.
pub(crate) fn port_owner(protocol: &str, port: u16) -> Option<String> {
    let tables = [protocol.to_owned(), format!("{protocol}6")];
    let mut holders = tables.iter().flat_map(|table| {
        let file = format!("/proc/thread-self/net/{table}");
        // A version of IP that this kernel lacks has no table.
        holders(&fs::read_to_string(file).unwrap_or_default(), port)
    });
    let (user, inode) = holders.next()?;
    Some(match process(inode) {
        Some(id) => {
            let name = title(id).unwrap_or_else(|| "a program without a name".to_owned());
            format!("{name} (process {id})")
        }
        None => {
            let name = User::from_uid(Uid::from_raw(user)).ok().flatten();
            let name = name.map_or_else(|| user.to_string(), |user| user.name);
            format!("a program of user {name}")
        }
    })
}

/// User and inode of the sockets at a local port, by the text of a table of the kernel
/// [proc_pid_net(5)]. A closed connection that waits for its last packets has no inode.
fn holders(table: &str, port: u16) -> Vec<(u32, u64)> {
    let holder = |line: &str| {
        let mut fields = line.split_whitespace();
        let (_, local) = fields.nth(1)?.rsplit_once(':')?;
        let user = fields.nth(5)?.parse().ok()?;
        let inode = fields.nth(1)?.parse().ok()?;
        (u16::from_str_radix(local, 16) == Ok(port) && inode > 0).then_some((user, inode))
    };
    table.lines().filter_map(holder).collect()
}

/// The process that has a socket with this inode open, among those that this user may see.
fn process(inode: u64) -> Option<u32> {
    let socket = format!("socket:[{inode}]");
    let ids = fs::read_dir("/proc").ok()?.flatten();
    let mut ids = ids.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    ids.find(|id: &u32| {
        let open = fs::read_dir(format!("/proc/{id}/fd"));
        let mut open = open.into_iter().flatten().flatten();
        open.any(|file| fs::read_link(file.path()).is_ok_and(|to| to.as_os_str() == &*socket))
    })
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use super::*;
    use crate::socket::{Kind, Options, address_of, open};

    #[test]
    fn the_holder_of_a_port_is_this_test() {
        let id = format!("(process {})", std::process::id());
        for (kind, protocol, at) in [
            (Kind::Stream, "tcp", "127.0.0.1:0"),
            (Kind::Datagram, "udp", "[::1]:0"),
        ] {
            let at: SocketAddr = at.parse().unwrap();
            let options = Options {
                bind: Some(at),
                ..Options::default()
            };
            let socket = open(kind, at.ip(), &options).unwrap();
            if kind == Kind::Stream {
                crate::socket::listen(&socket, 1).unwrap();
            }
            let port = address_of(&socket).unwrap().port();
            assert!(port_owner(protocol, port).unwrap().ends_with(&id));
        }
    }

    #[test]
    fn sockets_at_other_ports_and_connections_that_end_hold_none() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n   \
            0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4711 1 0 100 0 0 10 0\n   \
            1: 0100007F:1F91 0100007F:8124 06 00000000:00000000 03:00000000 00000000     0        0 0 3 0\n   \
            2: 00000000000000000000000001000000:1F92 00000000000000000000000000000000:0000 07 00000000:00000000 00:00000000 00000000     7        0 12 2 0 0\n";
        assert_eq!(holders(table, 0x1f90), [(1000, 4711)]);
        assert_eq!(holders(table, 0x1f91), []);
        assert_eq!(holders(table, 0x1f92), [(7, 12)]);
        assert_eq!(holders(table, 80), []);
    }
}
