use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::socket::{MsgFlags, getsockopt};
use units::Bytes;

use super::super::kind::missing;
use super::super::open::open;
use super::super::receive::receive;
use super::*;
use crate::deadline::Deadline;

const ADDRESSES: [IpAddr; 2] = [
    IpAddr::V4(Ipv4Addr::LOCALHOST),
    IpAddr::V6(Ipv6Addr::LOCALHOST),
];

/// The sockets of both versions and both transports that have an option, without and with it.
fn both(options: &Options, read: impl Fn(&OwnedFd, IpAddr, [bool; 2])) {
    for address in ADDRESSES {
        for kind in [Kind::Stream, Kind::Datagram] {
            for (options, is_set) in [(&Options::default(), false), (options, true)] {
                let socket = open(kind, address, options).unwrap();
                read(&socket, address, [kind == Kind::Stream, is_set]);
            }
        }
    }
}

fn number(socket: &OwnedFd, level: libc::c_int, name: libc::c_int) -> libc::c_int {
    option::number(socket.as_fd(), level, name).unwrap()
}

#[test]
fn code_point_hop_limit_and_path_mtu_of_ip_are_what_the_kernel_has() {
    let options = Options {
        dscp: 46,
        ttl: Some(3),
        path_mtu: PathMtu::Probe,
        path_errors: true,
        ..Options::default()
    };
    both(&options, |socket, address, [_, is_set]| {
        let value = |option: IpOption| option.value(socket.as_fd(), address).unwrap();
        let values = [
            value(IpOption::SERVICE),
            value(IpOption::HOP_LIMIT),
            value(IpOption::MTU_DISCOVERY),
            value(IpOption::ERRORS),
        ];
        let set = [46 << 2, 3, libc::IP_PMTUDISC_PROBE, 1];
        match is_set {
            true => assert_eq!(values, set),
            false => assert!(values.iter().zip(set).all(|(value, set)| *value != set)),
        }
    });
}

#[test]
fn each_treatment_of_the_path_mtu_is_what_the_kernel_has() {
    for (path_mtu, value) in [
        (PathMtu::Dont, 0),
        (PathMtu::Want, 1),
        (PathMtu::Do, 2),
        (PathMtu::Probe, 3),
    ] {
        let options = Options {
            path_mtu,
            ..Options::default()
        };
        for address in ADDRESSES {
            let socket = open(Kind::Datagram, address, &options).unwrap();
            let kernel = IpOption::MTU_DISCOVERY.value(socket.as_fd(), address);
            assert_eq!(kernel.unwrap(), value);
        }
    }
}

#[test]
fn options_of_ipv6_alone_are_what_the_kernel_has_and_ipv4_goes_without() {
    let options = Options {
        unfragmented: true,
        v6_only: true,
        ..Options::default()
    };
    both(&options, |socket, address, [_, is_set]| {
        if address.is_ipv6() {
            let value = |name| number(socket, libc::IPPROTO_IPV6, name);
            assert_eq!(value(libc::IPV6_DONTFRAG), i32::from(is_set));
            assert!(!is_set || value(libc::IPV6_V6ONLY) == 1);
        }
    });
}

#[test]
fn buffers_are_what_the_kernel_has_and_the_largest_is_no_error() {
    let size = Some(Bytes::new(100_000));
    let options = Options {
        send_buffer: size,
        receive_buffer: size,
        ..Options::default()
    };
    both(&options, |socket, _, [_, is_set]| {
        let sizes = [libc::SO_SNDBUF, libc::SO_RCVBUF];
        let sizes = sizes.map(|name| number(socket, libc::SOL_SOCKET, name));
        // The kernel doubles the requested size [socket(7)].
        assert_eq!(sizes == [200_000; 2], is_set, "{sizes:?}");
    });
    let options = Options {
        receive_buffer: Some(Bytes::new(u64::MAX)),
        ..Options::default()
    };
    let socket = open(Kind::Datagram, ADDRESSES[0], &options).unwrap();
    let default = open(Kind::Datagram, ADDRESSES[0], &Options::default()).unwrap();
    let size = |socket| number(socket, libc::SOL_SOCKET, libc::SO_RCVBUF);
    assert!(size(&socket) >= size(&default));
}

#[test]
fn options_of_tcp_are_what_the_kernel_has_and_datagrams_go_without() {
    let options = Options {
        congestion: Some("reno".to_owned()),
        segment: Some(1_000),
        no_delay: true,
        ..Options::default()
    };
    both(&options, |socket, _, [is_stream, is_set]| {
        if is_stream {
            let value = |name| number(socket, libc::IPPROTO_TCP, name);
            assert_eq!(value(libc::TCP_NODELAY), i32::from(is_set));
            assert_eq!(value(libc::TCP_MAXSEG) == 1_000, is_set);
            let name = getsockopt(socket, sockopt::TcpCongestion).unwrap();
            let name = name.to_string_lossy();
            assert!(!is_set || name.trim_end_matches('\0') == "reno", "{name}");
        }
    });
}

#[test]
fn waiting_and_closing_are_what_the_kernel_has() {
    let options = Options {
        non_blocking: true,
        timeout: Some(Span::from_millis(1_500)),
        reuse_address: true,
        reset_on_close: true,
        ..Options::default()
    };
    both(&options, |socket, _, [_, is_set]| {
        let flags = OFlag::from_bits_retain(fcntl(socket, FcntlArg::F_GETFL).unwrap());
        assert_eq!(flags.contains(OFlag::O_NONBLOCK), is_set);
        let timeouts = [
            getsockopt(socket, sockopt::ReceiveTimeout).unwrap(),
            getsockopt(socket, sockopt::SendTimeout).unwrap(),
        ];
        let set = TimeVal::new(1, 500_000);
        assert_eq!(timeouts == [set; 2], is_set, "{timeouts:?}");
        assert_eq!(getsockopt(socket, sockopt::ReuseAddr).unwrap(), is_set);
        let linger = getsockopt(socket, sockopt::Linger).unwrap();
        assert_eq!((linger.l_onoff, linger.l_linger), (i32::from(is_set), 0));
    });
}

#[test]
fn a_timeout_of_less_than_a_microsecond_is_one() {
    let options = Options {
        timeout: Some(Span::ZERO),
        ..Options::default()
    };
    let socket = open(Kind::Datagram, ADDRESSES[0], &options).unwrap();
    let timeout = getsockopt(&socket, sockopt::ReceiveTimeout).unwrap();
    assert!(timeout != TimeVal::new(0, 0), "{timeout:?}");
}

#[test]
fn stamps_interface_and_address_are_what_the_kernel_has() {
    for address in ADDRESSES {
        let options = Options {
            bind: Some(SocketAddr::new(address, 0)),
            device: Some("lo".to_owned()),
            stamps: true,
            ..Options::default()
        };
        for kind in [Kind::Stream, Kind::Datagram] {
            let socket = open(kind, address, &options).unwrap();
            let bound = address::address_of(socket.as_fd()).unwrap();
            assert!(bound.ip() == address && bound.port() > 0, "{bound}");
            let device = getsockopt(&socket, sockopt::BindToDevice).unwrap();
            assert_eq!(device.to_string_lossy().trim_end_matches('\0'), "lo");
            let stamps = getsockopt(&socket, sockopt::Timestamping).unwrap();
            assert_eq!(stamps, stamps::ARRIVALS);
        }
    }
}

#[test]
fn an_address_of_another_host_is_rejected_with_the_remedy() {
    let options = Options {
        bind: Some(SocketAddr::from(([192, 0, 2, 1], 0))),
        ..Options::default()
    };
    let error = open(Kind::Datagram, ADDRESSES[0], &options).unwrap_err();
    assert!(error.to_string().contains("`ip address` shows"), "{error}");
}

/// Whether this kernel has a protocol, by its own list.
fn has(protocol: &str) -> bool {
    let listed = std::fs::read_to_string("/proc/net/protocols").unwrap();
    listed.lines().any(|line| line.starts_with(protocol))
}

#[test]
fn a_kind_of_sockets_is_missing_where_the_kernel_does_not_list_it() {
    let lite = missing(Kind::UdpLite { coverage: 0 });
    assert_eq!(lite.is_none(), has("UDP-Lite"), "{lite:?}");
    let sctp = missing(Kind::Sctp { streams: 1 });
    // The attempt has made the kernel load its module.
    assert_eq!(sctp.is_none(), has("SCTP"), "{sctp:?}");
    for why in [lite, sctp].into_iter().flatten() {
        assert!(why.starts_with("this kernel has no "), "{why}");
    }
    assert_eq!(missing(Kind::Datagram), None);
}

#[test]
fn packets_of_udp_lite_whose_checksum_covers_too_little_are_dropped() {
    if missing(Kind::UdpLite { coverage: 0 }).is_some() {
        return;
    }
    for address in ADDRESSES {
        let bound = |coverage| {
            let options = Options {
                bind: Some(SocketAddr::new(address, 0)),
                ..Options::default()
            };
            open(Kind::UdpLite { coverage }, address, &options).unwrap()
        };
        // The coverage of the receiver, and whether packets of 1008 bytes arrive of which the
        // checksum covers 0 (all), 8, 500 and 2000 (all) bytes.
        for (wanted, arrive) in [
            (0, [true, false, false, true]),
            (8, [true; 4]),
            (500, [true, false, true, true]),
            (501, [true, false, false, true]),
        ] {
            let far = bound(wanted);
            let to = crate::socket::address_of(&far).unwrap();
            let sent = [0, 8, 500, 2000].map(|coverage| {
                let near = bound(coverage);
                crate::socket::connect(&near, to).unwrap();
                let bytes = [u8::try_from(coverage % 251).unwrap(); 1000];
                crate::socket::send(&near, &bytes, MsgFlags::empty()).unwrap();
                bytes[0]
            });
            let mut arrived = Vec::new();
            let mut room = [0; 1000];
            let deadline = Deadline::fixed(Span::from_secs(60));
            let mut take = || {
                let permit = deadline.permit().unwrap();
                receive(&far, &mut room, MsgFlags::MSG_DONTWAIT, permit).map(|_| room[0])
            };
            while let Ok(first) = take() {
                arrived.push(first);
            }
            let expected = sent.iter().zip(arrive).filter(|(_, arrives)| *arrives);
            let expected: Vec<u8> = expected.map(|(first, _)| *first).collect();
            assert_eq!(arrived, expected, "{wanted}, {address}");
        }
    }
}
