use std::net::IpAddr;

use units::Span;

use super::*;
use crate::clock;
use crate::deadline::{Deadline, Permit};

const ADDRESSES: [&str; 2] = ["127.0.0.1", "::1"];

fn permit() -> Permit {
    Deadline::fixed(Span::from_secs(1_000)).permit().unwrap()
}

fn soon() -> units::Time {
    clock::monotonic() + Span::from_secs(60)
}

fn bound(kind: Kind, address: &str, options: &Options) -> Socket {
    let address: IpAddr = address.parse().unwrap();
    let options = Options {
        bind: Some((address, 0).into()),
        ..options.clone()
    };
    open(kind, address, &options).unwrap()
}

/// Both ends of a connection.
fn stream(address: &str) -> [Socket; 2] {
    let listener = bound(Kind::Stream, address, &Options::default());
    listen(&listener, 1).unwrap();
    let none = accept(&listener, false).err();
    assert_eq!(none, Some(Errno::EAGAIN), "it does not wait");
    let near = open(Kind::Stream, address.parse().unwrap(), &Options::default()).unwrap();
    connect(&near, address_of(&listener).unwrap()).unwrap();
    assert!(readable(&[borrowed(&listener)], Some(soon())).unwrap()[0]);
    let far = accept(&listener, false).unwrap();
    assert_eq!(peer_of(&far).unwrap(), address_of(&near).unwrap());
    [near, far]
}

#[test]
fn datagrams_arrive_in_order_with_their_lengths_and_without_stamps() {
    for address in ADDRESSES {
        let options = Options {
            receive_buffer: Some(UDP_RECEIVE_BUFFER),
            ..Options::default()
        };
        let far = bound(Kind::Datagram, address, &options);
        let near = bound(Kind::Datagram, address, &Options::default());
        connect(&near, address_of(&far).unwrap()).unwrap();
        let lengths = [0, 1, 100, 1_400];
        for length in lengths {
            let bytes = vec![7; length];
            assert_eq!(send(&near, &bytes, MsgFlags::empty()), Ok(length));
        }
        let mut room = [0; 2_000];
        let from = Some(address_of(&near).unwrap());
        for flags in [MsgFlags::MSG_PEEK, MsgFlags::empty()] {
            let first = receive_from(&far, &mut room, flags, permit()).unwrap();
            assert_eq!(first, (0, from), "the first call has left it");
        }
        let mut inbox = Inbox::of_datagrams(30);
        let mut got = Vec::new();
        while got.len() < 3 {
            inbox.take(&far, false, permit()).unwrap();
            for (place, entry) in inbox.taken().iter().enumerate() {
                assert_eq!((entry.stamp, entry.merged), (None, None));
                assert_eq!(inbox.bytes(place).len(), entry.length.min(30));
                got.push(entry.length);
            }
        }
        assert_eq!(got, lengths[1..]);
        assert!(!inbox.is_full());
        let nothing = inbox.take(&far, true, permit()).err();
        assert_eq!(nothing, Some(Errno::EAGAIN));
    }
}

#[test]
fn a_stream_ends_for_the_other_end_and_is_reset_for_it() {
    for address in ADDRESSES {
        let [near, far] = stream(address);
        set_no_delay(&near).unwrap();
        let wanted = KeepAlive {
            idle: 10,
            interval: 5,
            probes: 4,
            unacknowledged: Span::from_secs(30),
        };
        keep_alive(&near, wanted).unwrap();
        assert!(wait_to_write(&near, soon()).unwrap());
        send(&near, b"some", MsgFlags::MSG_NOSIGNAL).unwrap();
        end_stream(&near).unwrap();
        assert!(wait_to_read(&far, soon()).unwrap());
        let mut room = [0; 100];
        let flags = MsgFlags::MSG_NOSIGNAL | MsgFlags::MSG_DONTWAIT;
        assert_eq!(receive(&far, &mut room, flags, permit()), Ok(4));
        let end = receive_stamped(&far, &mut room, MsgFlags::empty(), permit());
        assert_eq!(end.unwrap().length, 0);
        reset(&far).unwrap();
        drop(far);
        // The end was read before; the reset follows it.
        let read = receive(&near, &mut room, MsgFlags::empty(), permit());
        assert!(matches!(read, Ok(0) | Err(Errno::ECONNRESET)), "{read:?}");
    }
}

#[test]
fn a_call_waits_as_long_as_its_socket_does() {
    let socket = bound(Kind::Datagram, ADDRESSES[0], &Options::default());
    let other = socket.try_clone().unwrap();
    let mut room = [0; 10];
    for span in [Span::from_millis(1), Span::from_millis(30)] {
        set_timeout(&other, span).unwrap();
        let before = clock::monotonic();
        let read = receive(&socket, &mut room, MsgFlags::empty(), permit());
        assert_eq!(read, Err(Errno::EAGAIN));
        assert!(clock::monotonic() >= before + span);
    }
    set_non_blocking(&other).unwrap();
    let read = receive(&socket, &mut room, MsgFlags::empty(), permit());
    assert_eq!(read, Err(Errno::EAGAIN));
    let deadline = clock::monotonic() + Span::from_millis(5);
    assert!(!wait_to_read(&socket, deadline).unwrap());
    assert!(clock::monotonic() >= deadline);
}

#[test]
fn nobody_listens_and_one_port_has_one_owner() {
    let closed = address_of(&bound(Kind::Stream, ADDRESSES[0], &Options::default())).unwrap();
    let socket = open(Kind::Stream, closed.ip(), &Options::default()).unwrap();
    assert_eq!(connect(&socket, closed), Err(Errno::ECONNREFUSED));
    let owner = bound(Kind::Datagram, ADDRESSES[0], &Options::default());
    let taken = Options {
        bind: Some(address_of(&owner).unwrap()),
        ..Options::default()
    };
    let error = open(Kind::Datagram, closed.ip(), &taken).unwrap_err();
    assert_eq!(error.source.kind(), std::io::ErrorKind::AddrInUse);
    assert!(error.to_string().contains("in use"), "{error}");
}

#[test]
fn an_icmp_error_to_a_datagram_says_that_nobody_listens() {
    let closed = address_of(&bound(Kind::Datagram, ADDRESSES[0], &Options::default())).unwrap();
    let socket = bound(Kind::Datagram, ADDRESSES[0], &Options::default());
    connect(&socket, closed).unwrap();
    send(&socket, b"any", MsgFlags::empty()).unwrap();
    let read = receive(&socket, &mut [0; 10], MsgFlags::empty(), permit());
    assert_eq!(read, Err(Errno::ECONNREFUSED));
}

#[test]
fn an_option_of_linux_is_rejected_by_name() {
    let options = Options {
        device: Some("eth0".to_owned()),
        ..Options::default()
    };
    let error = open(Kind::Stream, "::1".parse().unwrap(), &options).unwrap_err();
    let text = error.to_string();
    assert!(
        text.starts_with("binding to an interface: it needs Linux"),
        "{text}"
    );
    let error = open(Kind::Raw(58), "::1".parse().unwrap(), &Options::default()).unwrap_err();
    assert!(error.to_string().contains("needs Linux"), "{error}");
}

#[test]
fn datagrams_leave_whole_or_are_rejected_where_that_is_asked_for() {
    use meter::departures::PathMtu;

    for address in ADDRESSES {
        let far = bound(Kind::Datagram, address, &Options::default());
        let whole = Options {
            path_mtu: PathMtu::Do,
            ..Options::default()
        };
        let near = bound(Kind::Datagram, address, &whole);
        connect(&near, address_of(&far).unwrap()).unwrap();
        set_hop_limit(&near, address.parse().unwrap(), Some(1)).unwrap();
        assert_eq!(send(&near, &[7; 1_400], MsgFlags::empty()), Ok(1_400));
        let mut room = [0; 2_000];
        let arrived = receive(&far, &mut room, MsgFlags::empty(), permit());
        assert_eq!(arrived, Ok(1_400));
        // No packet of IP has so many bytes.
        let too_large = send(&near, &[7; 65_535], MsgFlags::empty());
        assert_eq!(too_large, Err(Errno::EMSGSIZE));
    }
    for (mode, kind, is_there) in [
        (PathMtu::Machine, Kind::Stream, true),
        (PathMtu::Do, Kind::Datagram, true),
        (PathMtu::Do, Kind::Stream, false),
        (PathMtu::Want, Kind::Datagram, false),
    ] {
        assert_eq!(has_path_mtu(mode, kind), is_there, "{mode:?} {kind:?}");
        let options = Options {
            path_mtu: mode,
            ..Options::default()
        };
        let opened = open(kind, ADDRESSES[0].parse().unwrap(), &options);
        assert_eq!(opened.is_ok(), is_there, "{mode:?} {kind:?}");
    }
}

#[test]
fn a_connection_begins_and_its_rejection_waits_in_the_socket() {
    let listener = bound(Kind::Stream, ADDRESSES[0], &Options::default());
    let to = address_of(&listener).unwrap();
    for is_open in [false, true] {
        if is_open {
            listen(&listener, 1).unwrap();
        }
        let options = Options {
            non_blocking: true,
            ..Options::default()
        };
        let near = open(Kind::Stream, ADDRESSES[0].parse().unwrap(), &options).unwrap();
        begin_to_connect(&near, to).unwrap();
        assert!(wait_to_write(&near, soon()).unwrap());
        assert_eq!(ready_to_write(&[borrowed(&near)]).unwrap(), [true]);
        let ended = take_error(&near).map_err(Errno::from);
        let expected = if is_open {
            Ok(())
        } else {
            Err(Errno::ECONNREFUSED)
        };
        assert_eq!(ended, expected);
    }
}
