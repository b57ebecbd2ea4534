use super::*;

const HOST: [u8; 6] = [2, 0, 0, 0, 0, 9];

fn at(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}

fn router() -> (Neighbours, IpAddr, IpAddr) {
    let own = "10.1.0.1".parse().unwrap();
    (
        Neighbours::new(vec![own], at(0)),
        own,
        "10.1.0.2".parse().unwrap(),
    )
}

fn said(by: Node, to: Node) -> Vec<u8> {
    let mut frame = vec![0; LARGEST];
    let length = emit_answer(by, Some(to), &mut frame).unwrap();
    frame.truncate(length);
    frame
}

#[test]
fn packets_wait_for_the_answer_and_leave_with_it_in_their_order() {
    let (mut router, own, host) = router();
    assert_eq!(router.find(at(0), host, b"one"), None);
    assert_eq!(router.take_due().len(), 1, "one question");
    assert_eq!(router.find(at(10), host, b"two"), None);
    assert_eq!((router.take_due().len(), router.take_dropped()), (0, 0));
    assert_eq!(router.waiting(), 2);
    let answer = said((host, HOST), (own, router.own()));
    assert_eq!(router.receive(at(20), &answer), Meaning::Neighbour);
    let expected = [b"one", b"two"].map(|packet| Due::Packet(HOST, packet.to_vec()));
    assert_eq!(router.take_due(), expected);
    assert_eq!(router.find(at(30), host, b"three"), Some(HOST));
    assert_eq!((router.waiting(), router.take_dropped()), (0, 0));
    // Another one is found too late.
    let late = "10.1.0.7".parse().unwrap();
    router.find(at(40), late, b"four");
    let answer = said((late, HOST), (own, router.own()));
    router.take_due();
    router.receive(at(3_040), &answer);
    assert_eq!((router.take_due(), router.take_dropped()), (vec![], 1));
}

#[test]
fn a_packet_waits_for_three_seconds_in_which_its_host_is_asked_for_each_second() {
    let (mut router, _, host) = router();
    router.find(at(500), host, b"one");
    assert_eq!(router.take_due().len(), 1);
    for (millis, asks) in [(1_499, 0), (1_500, 1), (2_499, 0), (2_500, 1), (3_499, 0)] {
        router.handle_timeout(at(millis));
        assert_eq!(router.take_due().len(), asks, "{millis}");
        assert_eq!((router.waiting(), router.take_dropped()), (1, 0));
    }
    // Nothing else comes.
    assert_eq!(router.next_timeout(), Some(at(3_500)));
    router.handle_timeout(at(3_500));
    assert_eq!((router.waiting(), router.take_dropped()), (0, 1));
    assert_eq!((router.take_due(), router.next_timeout()), (vec![], None));
}

#[test]
fn a_host_is_asked_again_before_it_is_forgotten() {
    let (mut router, own, host) = router();
    router.find(at(0), host, b"one");
    let answer = said((host, HOST), (own, router.own()));
    router.receive(at(0), &answer);
    router.take_due();
    assert_eq!(router.find(at(29_999), host, b""), Some(HOST));
    assert_eq!(router.take_due(), []);
    assert_eq!(router.find(at(30_000), host, b""), Some(HOST));
    assert_eq!(router.find(at(30_100), host, b""), Some(HOST));
    assert_eq!(router.take_due().len(), 1);
    assert_eq!(router.find(at(60_000), host, b""), None);
}

#[test]
fn it_answers_for_its_own_address_and_learns_from_nobody_else() {
    let (mut router, own, host) = router();
    let mut frame = vec![0; LARGEST];
    emit_question((host, HOST), own, &mut frame).unwrap();
    assert_eq!(router.receive(at(0), &frame), Meaning::Neighbour);
    let answer = said((own, router.own()), (host, HOST));
    assert_eq!(router.take_due(), [Due::Frame(answer)]);
    assert_eq!(router.find(at(1), host, b""), Some(HOST));
    // A question for another host, an answer that nobody wanted, and one in its name.
    let other: IpAddr = "10.1.0.3".parse().unwrap();
    emit_question((other, HOST), host, &mut frame).unwrap();
    router.receive(at(2), &frame);
    let unwanted = said((other, HOST), (own, router.own()));
    router.receive(at(2), &unwanted);
    let false_name = said((own, HOST), (own, router.own()));
    router.receive(at(2), &false_name);
    assert_eq!(router.take_due(), []);
    assert_eq!(router.find(at(3), other, b""), None);
}

#[test]
fn packets_for_one_host_and_for_all_take_bounded_room() {
    let (mut router, _, host) = router();
    let packet = vec![0; HELD / 4];
    for _ in 0..6 {
        router.find(at(0), host, &packet);
    }
    assert_eq!((router.waiting(), router.take_dropped()), (4, 2));
    for number in 0..100 {
        router.find(at(0), IpAddr::from([10, 1, 1, number]), &packet);
    }
    assert_eq!((router.waiting(), router.take_dropped()), (64, 40));
    router.find(at(3_000), host, &packet);
    assert_eq!((router.waiting(), router.take_dropped()), (1, 64));
}

#[test]
fn unknown_hosts_take_bounded_room_and_are_forgotten() {
    let (mut router, _, _) = router();
    let host = |number: usize| {
        let [high, low] = u16::try_from(number).unwrap().to_be_bytes();
        IpAddr::from([10, 2, high, low])
    };
    for number in 0..MOST + 10 {
        router.find(at(0), host(number), b"packet");
    }
    assert_eq!(router.waiting(), MOST as u64);
    assert_eq!(router.take_dropped(), 10);
    router.find(at(3_000), host(MOST), b"packet");
    assert_eq!((router.waiting(), router.take_dropped()), (1, MOST as u64));
}

mod fuzz {
    use proptest::prelude::*;

    use super::*;

    /// A step on the segment.
    #[derive(Clone, Debug)]
    enum Step {
        /// A packet to the host of this number.
        Find(u8, u16),
        /// A question or an answer of a host, with octets that are altered.
        Frame(u8, bool, Vec<(usize, u8)>),
    }

    fn steps() -> impl Strategy<Value = Vec<(u64, Step)>> {
        let changes = prop::collection::vec((0_usize..90, any::<u8>()), 0..3);
        let step = prop_oneof![
            (any::<u8>(), 0_u16..1_500).prop_map(|(host, length)| Step::Find(host, length)),
            (any::<u8>(), any::<bool>(), changes)
                .prop_map(|(host, asks, changes)| Step::Frame(host, asks, changes)),
        ];
        prop::collection::vec((0_u64..1_500, step), 1..120)
    }

    /// Hosts of both versions.
    fn host(number: u8) -> IpAddr {
        match number % 2 {
            0 => IpAddr::from([10, 1, 0, number]),
            _ => IpAddr::from([0xfd01, 0, 0, 0, 0, 0, 0, u16::from(number)]),
        }
    }

    proptest! {
        #[test]
        fn each_packet_waits_leaves_or_is_counted_whatever_hosts_say(steps in steps()) {
            let own = ["10.1.0.254", "fd01::fe"].map(|own| own.parse().unwrap());
            let mut router = Neighbours::new(own.to_vec(), at(0));
            let (mut millis, mut held, mut left) = (0, 0, 0);
            for (gap, step) in steps {
                millis += gap;
                match step {
                    Step::Find(number, length) => {
                        let packet = vec![0; usize::from(length)];
                        held += u64::from(router.find(at(millis), host(number), &packet).is_none());
                    }
                    Step::Frame(number, asks, changes) => {
                        let (node, own) = ((host(number), HOST), own[usize::from(number % 2)]);
                        let mut frame = vec![0; LARGEST];
                        let length = match asks {
                            true => emit_question(node, own, &mut frame),
                            false => emit_answer(node, Some((own, router.own())), &mut frame),
                        };
                        frame.truncate(length.unwrap());
                        for (place, octet) in changes {
                            let place = place.min(frame.len() - 1);
                            frame[place] = octet;
                        }
                        router.receive(at(millis), &frame);
                    }
                }
                let due = router.take_due();
                let packets = due.iter().filter(|due| matches!(due, Due::Packet(..)));
                left += packets.count() as u64;
                held -= router.take_dropped();
                prop_assert_eq!(held, router.waiting() + left);
                prop_assert!(router.held <= ALL_HELD && router.known.len() <= MOST);
            }
        }
    }
}
