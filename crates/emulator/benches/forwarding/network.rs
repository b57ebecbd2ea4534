//! Network interfaces of the benchmark: veth pairs, all in the namespace of this
//! program.

use std::error::Error;
use std::fs;
use std::os::fd::{AsRawFd, OwnedFd};

use netlink_packet_core::{
    NLM_F_ACK, NLM_F_CREATE, NLM_F_EXCL, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage,
    NetlinkPayload,
};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{
    InfoData, InfoKind, InfoVeth, LinkAttribute, LinkFlags, LinkInfo, LinkMessage,
};
use netlink_sys::{Socket, protocols::NETLINK_ROUTE};
use nix::net::if_::if_nametoindex;
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, SockaddrStorage, bind, send,
    setsockopt, socket, sockopt,
};

pub(crate) type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Creates the veth pair `near` and `far` with this MTU, and sets both up. They have no
/// addresses, and the kernel sends no packets of its own on them.
pub(crate) fn add_pair(near: &str, far: &str, mtu: u32) -> Result<()> {
    fs::write("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1")?;
    let attributes = |name: &str| {
        vec![
            LinkAttribute::IfName(name.to_owned()),
            LinkAttribute::Mtu(mtu),
        ]
    };
    let mut peer = LinkMessage::default();
    peer.attributes = attributes(far);
    let mut link = LinkMessage::default();
    link.attributes = attributes(near);
    link.attributes.push(LinkAttribute::LinkInfo(vec![
        LinkInfo::Kind(InfoKind::Veth),
        LinkInfo::Data(InfoData::Veth(InfoVeth::Peer(peer))),
    ]));
    ask(
        RouteNetlinkMessage::NewLink(link),
        NLM_F_CREATE | NLM_F_EXCL,
    )?;
    set_up(near)?;
    set_up(far)
}

/// A frame of `length` bytes with an experimental EtherType, which no host answers.
pub(crate) fn frame(length: usize) -> Vec<u8> {
    let mut frame = vec![0xff; 6];
    frame.extend([2, 0, 0, 0, 0, 1, 0x88, 0xb5]);
    frame.resize(length, 0);
    frame
}

/// Removes an interface and its peer.
pub(crate) fn remove(name: &str) -> Result<()> {
    ask(RouteNetlinkMessage::DelLink(named(name)?), 0)
}

/// Sets an interface up.
fn set_up(name: &str) -> Result<()> {
    let mut link = named(name)?;
    link.header.flags = LinkFlags::Up;
    link.header.change_mask = LinkFlags::Up;
    ask(RouteNetlinkMessage::SetLink(link), 0)
}

/// A packet socket at an interface.
pub(crate) struct Station {
    /// A non-blocking packet socket.
    pub(crate) socket: OwnedFd,
}

impl Station {
    pub(crate) fn open(interface: &str) -> Result<Self> {
        let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
        let socket = socket(
            AddressFamily::Packet,
            SockType::Raw,
            flags,
            SockProtocol::EthAll,
        )?;
        setsockopt(&socket, sockopt::RcvBuf, &(4 << 20))?;
        // struct sockaddr_ll: family, protocol, index; the kernel ignores the rest.
        let mut address = [0u8; size_of::<libc::sockaddr_ll>()];
        let family = u16::try_from(libc::AF_PACKET)?.to_ne_bytes();
        let protocol = u16::try_from(libc::ETH_P_ALL)?.to_be_bytes();
        address[..2].copy_from_slice(&family);
        address[2..4].copy_from_slice(&protocol);
        address[4..8].copy_from_slice(&if_nametoindex(interface)?.to_ne_bytes());
        #[expect(unsafe_code, reason = "nix has no constructor for it")]
        // SAFETY: the bytes are a whole sockaddr_ll, of the length given.
        let address = unsafe {
            use nix::sys::socket::SockaddrLike;
            let length = libc::socklen_t::try_from(address.len())?;
            SockaddrStorage::from_raw(address.as_ptr().cast(), Some(length))
        };
        bind(socket.as_raw_fd(), &address.ok_or("no address")?)?;
        Ok(Self { socket })
    }

    pub(crate) fn send(&self, frame: &[u8]) -> Result<()> {
        send(self.socket.as_raw_fd(), frame, MsgFlags::empty())?;
        Ok(())
    }
}

fn named(name: &str) -> Result<LinkMessage> {
    let mut link = LinkMessage::default();
    link.header.index = if_nametoindex(name)?;
    Ok(link)
}

/// Sends a request to the kernel and waits for its completion.
fn ask(message: RouteNetlinkMessage, flags: u16) -> Result<()> {
    let mut socket = Socket::new(NETLINK_ROUTE)?;
    socket.bind_auto()?;
    let mut header = NetlinkHeader::default();
    header.flags = NLM_F_REQUEST | NLM_F_ACK | flags;
    let mut request = NetlinkMessage::new(header, NetlinkPayload::from(message));
    request.finalize();
    let mut bytes = vec![0; request.buffer_len()];
    request.serialize(&mut bytes);
    socket.send(&bytes, 0)?;
    let (answer, _) = socket.recv_from_full()?;
    match NetlinkMessage::<RouteNetlinkMessage>::deserialize(&answer)?.payload {
        NetlinkPayload::Error(error) => match error.code {
            None => Ok(()),
            Some(_) => Err(error.to_io().into()),
        },
        other => Err(format!("the kernel answers {other:?}").into()),
    }
}
