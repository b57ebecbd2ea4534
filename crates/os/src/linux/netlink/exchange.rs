//! A request over a netlink socket and its answers [RFC3549 s2].

use std::io;

use netlink_packet_core::{
    NLM_F_REQUEST, NetlinkDeserializable, NetlinkHeader, NetlinkMessage, NetlinkPayload,
    NetlinkSerializable,
};
use netlink_sys::{Socket, SocketAddr};

/// Opens a socket of a netlink protocol in the calling thread's namespace.
pub(super) fn open(protocol: isize) -> io::Result<Socket> {
    let mut socket = Socket::new(protocol)?;
    socket.bind_auto()?;
    socket.connect(&SocketAddr::new(0, 0))?;
    Ok(socket)
}

/// Sends `message` and passes each answer to `entry`, up to the last one or an error.
pub(super) fn exchange<M: NetlinkSerializable + NetlinkDeserializable>(
    socket: &Socket,
    message: M,
    flags: u16,
    mut entry: impl FnMut(M),
) -> io::Result<()> {
    let mut header = NetlinkHeader::default();
    header.flags = NLM_F_REQUEST | flags;
    let mut request = NetlinkMessage::new(header, NetlinkPayload::InnerMessage(message));
    request.finalize();
    let mut bytes = vec![0; request.buffer_len()];
    request.serialize(&mut bytes);
    socket.send(&bytes, 0)?;
    loop {
        let (answers, _) = socket.recv_from_full()?;
        let mut rest = answers.as_slice();
        while !rest.is_empty() {
            let answer = NetlinkMessage::<M>::deserialize(rest).map_err(io::Error::other)?;
            let length = usize::try_from(answer.header.length).map_err(io::Error::other)?;
            // Netlink pads every message to four bytes [RFC3549 s2.2].
            rest = rest
                .get(length.next_multiple_of(4).max(4)..)
                .unwrap_or_default();
            match answer.payload {
                NetlinkPayload::Error(error) => {
                    return match error.code {
                        None => Ok(()),
                        Some(code) => Err(io::Error::from_raw_os_error(-code.get())),
                    };
                }
                NetlinkPayload::Done(_) => return Ok(()),
                NetlinkPayload::InnerMessage(message) => entry(message),
                _ => {}
            }
        }
    }
}
