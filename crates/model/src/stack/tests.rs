use proptest::prelude::*;

use super::*;

fn stack(text: &str) -> Stack {
    text.parse()
        .unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// The largest payload of a stack at an MTU.
fn payload(text: &str, mtu: u64) -> u64 {
    let sizes = stack(text).largest(Bytes::new(mtu));
    sizes
        .unwrap_or_else(|error| panic!("{text}: {error}"))
        .payload
        .get()
}

/// Sizes that standards, or the defaults of well-known systems, state.
#[test]
fn tunnels_leave_the_mtus_that_are_known_of_them() {
    for (text, mtu, left) in [
        ("eth,ipv4,udp,vxlan,eth", 1500, 1450),
        ("eth,ipv6,udp,vxlan,eth", 1500, 1430),
        ("eth,vlan,ipv4,udp,vxlan,eth", 1500, 1450),
        ("eth,ipv4,udp,vxlan,eth,vlan", 1500, 1446),
        ("eth,ipv4,udp,geneve,eth", 1500, 1450),
        ("eth,ipv4,udp,geneve+options=8,eth", 1500, 1442),
        ("eth,ipv4,gre", 1500, 1476),
        ("eth,ipv4,gre+key", 1500, 1472),
        ("eth,ipv4,gre+key+csum+seq", 1500, 1464),
        ("eth,ipv4,gre,eth", 1500, 1462),
        ("eth,ipv6,gre", 1500, 1456),
        ("eth,ipv4", 1500, 1480),
        ("eth,pppoe", 1500, 1492),
        ("eth,mpls,mpls", 1500, 1492),
        ("eth,mpls+cw,eth", 1500, 1478),
        ("eth,ipv4,udp,wireguard", 1500, 1440),
        ("eth,ipv6,udp,wireguard", 1500, 1420),
        ("eth,ipv4,udp,gtpu", 1500, 1464),
        ("eth,ipv6,udp,gtpu+seq+pdu", 1500, 1436),
        // The largest packet in a tunnel: 1438 with AES-CBC and SHA-1, 1446 with AES-GCM.
        ("eth,ipv4,esp+aes-cbc-sha1", 1500, 1438),
        ("eth,ipv4,esp+aes-cbc-sha256", 1500, 1438),
        ("eth,ipv4,esp", 1500, 1446),
        ("eth,ipv4,esp+chacha20", 1500, 1446),
        ("eth,ipv4,udp,esp", 1500, 1438),
        ("eth,ipv4,udp,quic", 1500, 1445),
        ("eth,ipv6,udp,quic+cid=0+pn=1", 1280, 1214),
        ("eth,ipv6+srh=2,ipv6", 1500, 1380),
        ("eth,ipv6,tcp", 1500, 1440),
        ("eth,ipv4,tcp", 1500, 1460),
        ("eth,ipv6,tcp+ts", 1500, 1428),
        ("eth,ipv6,tcp+ts+sack=3", 1500, 1400),
        ("eth,ipv4+options=3,tcp", 1500, 1456),
        ("eth,ipv6+frag,udp", 1500, 1444),
        ("eth,pppoe,ipv4,tcp", 1500, 1452),
        ("eth,ipv4,jumbogen", 9000, 4483),
        ("ipv4,udp,rtp", 1500, 1460),
        // Linux gives a MACsec device 32 bytes less than the device below.
        ("eth,macsec", 1500, 1468),
        ("eth,macsec+no-sci,vlan", 1500, 1472),
        // The usual MTU of L2TP over IPv4.
        ("eth,ipv4,udp,l2tp+length,ppp", 1500, 1460),
        ("eth,ipv6,udp,l2tp+seq,ppp+acfc", 1500, 1440),
        ("eth,ipv4,udp,openvpn", 1500, 1448),
        ("eth,ipv6,udp,openvpn,eth", 1500, 1414),
        ("eth,ipv4,udp,gue", 1500, 1468),
        ("eth,ipv6,udp,gue+options=5,gre", 9000, 8936),
        ("eth,ipv4,sctp", 1500, 1452),
        ("eth,ipv6,sctp+i-data", 1501, 1428),
        ("eth,ipv4,udp,sctp", 9000, 8944),
        ("eth,ipv4,esp,aggfrag", 1500, 1442),
        ("eth,ipv6,esp,aggfrag+cc", 1500, 1402),
        ("eth,rocev1", 4200, 4144),
        // The payload of 4096 bytes, with the largest headers of a write.
        ("eth,ipv6,udp,rocev2+reth+imm", 4180, 4096),
        ("eth,ipv4,udp,rocev2", 1070, 1024),
    ] {
        assert_eq!(payload(text, mtu), left, "{text}");
    }
}

#[test]
fn frames_count_tags_and_check_sequence_and_the_wire_preamble_and_gap() {
    for (text, payload, packet, frame, wire) in [
        ("eth,ipv6,tcp+ts", 1428, 1500, 1518, 1538),
        ("eth,vlan,ipv6,tcp+ts", 1428, 1500, 1522, 1542),
        ("eth,qinq,ipv6,tcp+ts", 1428, 1500, 1526, 1546),
        ("eth,ipv4,udp", 1, 29, 64, 84),
        ("eth,vlan,ipv4,udp", 1, 29, 64, 84),
        ("eth,vlan,ipv4,udp", 15, 43, 65, 85),
        ("ipv4,udp", 1, 29, 29, 29),
        ("eth,ipv4,udp,vxlan,eth,ipv4,udp", 100, 178, 196, 216),
    ] {
        let sizes = stack(text)
            .with_payload(Bytes::new(payload), Bytes::new(1500))
            .unwrap();
        assert_eq!(
            [sizes.packet, sizes.frame, sizes.wire].map(Bytes::get),
            [packet, frame, wire],
            "{text}"
        );
    }
}

#[test]
fn efficiency_is_92_85_and_98_78_per_cent_at_1500_and_9000() {
    for (mtu, percent) in [(1500, 92.85), (9000, 98.78)] {
        let sizes = stack("eth,ipv6,tcp+ts").largest(Bytes::new(mtu)).unwrap();
        assert!(
            (100.0 * sizes.efficiency() - percent).abs() < 0.005,
            "{sizes:?}"
        );
    }
}

#[test]
fn padding_depends_on_the_size_and_the_tunnels_mtu() {
    let packet = |text: &str, payload: u64| {
        let sizes = stack(text).with_payload(Bytes::new(payload), Bytes::new(1500));
        sizes.unwrap().packet.get()
    };
    // 100 + 2 bytes in blocks of 16: 112; of 4: 104.
    assert_eq!(packet("eth,ipv4,esp+aes-cbc-sha1", 100), 20 + 24 + 112 + 12);
    assert_eq!(packet("eth,ipv4,esp", 100), 20 + 16 + 104 + 16);
    assert_eq!(packet("eth,ipv6,udp,wireguard", 100), 40 + 8 + 32 + 112);
    assert_eq!(packet("eth,ipv6,udp,wireguard", 1420), 1500);
    assert_eq!(packet("eth,ipv6,udp,wireguard", 1410), 1500);
}

#[test]
fn a_bundle_holds_its_packets_and_their_entries() {
    let sizes = stack("eth,ipv4,jumbogen+packets=6,ipv4,udp")
        .largest(Bytes::new(9000))
        .unwrap();
    assert_eq!(sizes.packets, 6);
    // (9000 - 20 - 6)/6 - 4 = 1491.67
    assert_eq!(sizes.units[3], Bytes::new(1491));
    assert_eq!(sizes.carried(), Bytes::new(6 * 1463));
    assert_eq!(sizes.packet, Bytes::new(20 + 6 + 6 * 1495));
}

#[test]
fn a_jumbogram_needs_its_option() {
    let large = Bytes::new(100_000);
    let jumbo = stack("eth,ipv6+jumbo,udp").largest(large).unwrap();
    assert_eq!(jumbo.payload, Bytes::new(100_000 - 56));
    for (text, end) in [
        (
            "eth,vlan,ipv6,tcp+ts",
            "write at most 65535, or jumbograms: --headers eth,vlan,ipv6+jumbo,tcp+ts",
        ),
        // No header but IPv6's outermost one has the option.
        ("eth,ipv4,udp", "write at most 65535"),
        ("eth,ipv4,udp,vxlan,eth,ipv6,udp", "write at most 65535"),
    ] {
        let error = stack(text).largest(large).unwrap_err();
        assert!(error.to_string().ends_with(end), "{error}");
    }
}

#[test]
fn an_mtu_that_does_not_fit_is_rejected_with_one_that_does() {
    for (text, mtu, words) in [
        ("eth,ipv4,tcp", 68, None),
        (
            "eth,ipv4,tcp",
            67,
            Some("leaves an MTU of 67 to ipv4, which needs 68; write at least 68"),
        ),
        (
            "eth,ipv6,tcp",
            1279,
            Some("leaves an MTU of 1279 to ipv6, which needs 1280; write at least 1280"),
        ),
        (
            "eth,ipv4,udp,vxlan,eth,ipv6,tcp",
            1300,
            Some("leaves an MTU of 1250 to ipv6, which needs 1280; write at least 1330"),
        ),
        (
            "eth,ipv4+options=40,tcp+options=40",
            100,
            Some(
                "the headers of eth,ipv4+options=40,tcp+options=40 take 120 bytes and leave no room for payload; write at least 121",
            ),
        ),
    ] {
        let found = stack(text).largest(Bytes::new(mtu)).err();
        assert_eq!(
            found.as_ref().map(ToString::to_string).as_deref(),
            words,
            "{text}"
        );
    }
}

#[test]
fn what_is_no_stack_is_rejected_with_what_would_be_right() {
    for (text, words) in [
        (
            "",
            "a stack has at least one layer; write for instance eth,ipv6,tcp+ts",
        ),
        ("eth,ipv8", "`ipv8` is no layer; write eth, vlan, "),
        ("eth,,tcp", "`` is no layer; write eth, vlan, "),
        (
            "tcp",
            "a stack does not begin with tcp; begin with eth, ipv4 or ipv6",
        ),
        (
            "eth,tcp",
            "tcp does not follow eth; write vlan, qinq, macsec, pppoe, mpls, ipv4, ipv6 or rocev1 behind it",
        ),
        (
            "eth,ipv4,tcp,udp",
            "udp does not follow tcp, which has only a payload; leave it out",
        ),
        (
            "eth,ipv4,udp,vxlan,ipv4",
            "ipv4 does not follow vxlan; write eth behind it",
        ),
        (
            "eth,ipv4,tcp+foo",
            "tcp has no option `foo`; write tcp+ and ts, sack or options",
        ),
        ("eth+fcs", "eth has no option `fcs`; write eth"),
        ("eth,ipv4,tcp+ts=1", "tcp+ts takes no number; write tcp+ts"),
        (
            "eth,ipv4,tcp+sack=5",
            "tcp+sack=`5`: the number is from 1 to 4; write for instance tcp+sack=1",
        ),
        (
            "eth,ipv4,tcp+ts+sack=4",
            "`tcp+ts+sack=4`: 48 bytes of options, but tcp has room for 40; leave some out",
        ),
        (
            "eth,ipv4,tcp+ts+ts",
            "`tcp+ts+ts`: only one ts can be there; leave ts out",
        ),
        (
            "eth,ipv4,esp+aes-gcm+chacha20",
            "`esp+aes-gcm+chacha20`: only one cipher can be there; leave chacha20 out",
        ),
    ] {
        let error = text.parse::<Stack>().expect_err(text).to_string();
        assert!(error.starts_with(words), "{text}: {error}");
    }
    let deep = vec!["eth", "mpls"]
        .into_iter()
        .chain(["mpls"; 40])
        .collect::<Vec<_>>();
    let error = deep.join(",").parse::<Stack>().unwrap_err().to_string();
    assert!(error.contains("at most 32 layers"), "{error}");
}

#[test]
fn every_layer_that_is_carried_exists_and_every_one_can_be_reached() {
    let names: Vec<&str> = PROTOCOLS.iter().map(|protocol| protocol.name).collect();
    for protocol in &PROTOCOLS {
        for carried in protocol.carries {
            assert!(names.contains(carried), "{carried}");
        }
        let is_carried = |other: &Protocol| other.carries.contains(&protocol.name);
        assert!(PROTOCOLS.iter().any(is_carried), "{}", protocol.name);
    }
}

/// Any stack that the table allows, with any options.
fn any_stack() -> impl Strategy<Value = String> {
    prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12).prop_map(|steps| {
        let mut words = vec!["eth".to_owned()];
        let mut last = &PROTOCOLS[0];
        for (index, options) in steps {
            if last.carries.is_empty() {
                break;
            }
            let name = last.carries[index.index(last.carries.len())];
            last = PROTOCOLS
                .iter()
                .find(|protocol| protocol.name == name)
                .unwrap();
            let mut word = name.to_owned();
            let choice = last.options.get(usize::from(options % 8));
            if let Some(choice) = choice {
                word += &format!("+{}", choice.name);
            }
            words.push(word);
        }
        words.join(",")
    })
}

proptest! {
    #[test]
    fn the_largest_packet_fits_and_one_byte_more_does_not(text in any_stack(), mtu in 1280u64..65_536) {
        let stack = stack(&text);
        prop_assert_eq!(stack.to_string(), text);
        if let Ok(sizes) = stack.largest(Bytes::new(mtu)) {
            prop_assert!(sizes.packet.get() <= mtu);
            prop_assert!(sizes.efficiency() < 1.0 && sizes.wire >= sizes.frame);
            let (limits, _) = stack.limits(Bytes::new(mtu)).unwrap();
            let more = stack.sizes(sizes.payload + Bytes::new(1), &limits);
            prop_assert!(more.packet.get() > mtu);
            let larger = stack.largest(Bytes::new(mtu + 1));
            prop_assert!(larger.is_err() || larger.unwrap().payload >= sizes.payload);
        }
    }

    #[test]
    fn a_rejection_names_an_mtu_that_works_and_the_one_below_does_not(text in any_stack(), mtu in 0u64..1500) {
        let stack = stack(&text);
        if let Err(error) = stack.largest(Bytes::new(mtu)) {
            let text = error.to_string();
            let number: u64 = text.rsplit(' ').next().unwrap().parse().unwrap();
            if number <= 65_535 {
                prop_assert!(stack.largest(Bytes::new(number)).is_ok(), "{}", text);
                prop_assert!(stack.largest(Bytes::new(number - 1)).is_err(), "{}", text);
            }
        }
    }

    #[test]
    fn any_text_is_read_or_rejected_in_one_line(text in "[a-z0-9+=, ]{0,60}|.{0,40}") {
        if let Err(error) = text.parse::<Stack>() {
            prop_assert!(error.to_string().contains("; "));
        }
    }
}

/// The table of docs/reference/predict.md.
fn documented() -> String {
    let number = |choice: &Choice| match choice.number {
        Some([least, most, usual]) => {
            format!(
                "`+{}={least}..{most}` (without a number {usual})",
                choice.name
            )
        }
        None => format!("`+{}`", choice.name),
    };
    let row = |protocol: &Protocol| {
        let options = protocol.options.iter().map(|choice| {
            let Choice {
                meaning, source, ..
            } = choice;
            format!("{} {meaning} {source}", number(choice))
        });
        let options: Vec<String> = options.collect();
        let bytes = protocol.bytes;
        let fixed = bytes.header + bytes.trailer + bytes.in_block;
        let carries = match protocol.carries {
            [] => "payload".to_owned(),
            carries => carries.join(", "),
        };
        format!(
            "| `{}` | {} | {fixed} | {} | {carries} | {} |\n",
            protocol.name,
            protocol.title,
            protocol.source,
            options.join("; ")
        )
    };
    PROTOCOLS.iter().map(row).collect()
}

#[test]
fn docs_predict_has_the_table_of_protocols() {
    let page = include_str!("../../../../docs/reference/predict.md");
    let table = documented();
    assert!(
        page.contains(&table),
        "docs/reference/predict.md: its table is now\n{table}"
    );
}
