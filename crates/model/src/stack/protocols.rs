//! The protocols that stacks are made of.

use super::layer::HeaderBytes;
use super::protocol::{Protocol, adds, longer};
use super::rdma::{RDMA, roce};

/// The layers above Ethernet, its tags and MPLS.
const NETWORK: [&str; 2] = ["ipv4", "ipv6"];

/// The layers above Ethernet or a tag.
const LINK: [&str; 8] = [
    "vlan", "qinq", "macsec", "pppoe", "mpls", "ipv4", "ipv6", "rocev1",
];

/// The layers above the Internet Protocol.
const INTERNET: [&str; 8] = [
    "tcp", "udp", "sctp", "ipv4", "ipv6", "gre", "esp", "jumbogen",
];

/// The bytes of ESP: 4 of SPI and 4 of sequence number, the initialisation
/// vector, and behind the padding its length and the next header
/// [RFC4303 s2], all in blocks of at least four bytes [RFC4303 s2.4].
const fn esp(vector: u64, block: u64, check: u64) -> HeaderBytes {
    HeaderBytes {
        trailer: check,
        block,
        in_block: 2,
        ..HeaderBytes::header(8 + vector)
    }
}

const CIPHER: &str = "cipher";

/// All protocols, in the order of the documentation.
pub static PROTOCOLS: [Protocol; 27] = [
    Protocol::new(
        "eth",
        "Ethernet",
        HeaderBytes::header(14),
        "[IEEE802.3 s3.1.1]",
        &LINK,
        &[],
    ),
    Protocol::new(
        "vlan",
        "one VLAN tag",
        HeaderBytes::header(4),
        "[IEEE802.1Q]",
        &LINK,
        &[],
    ),
    Protocol::new(
        "qinq",
        "two VLAN tags: of the service and of the customer",
        HeaderBytes::header(8),
        "[IEEE802.1Q]",
        &["vlan", "macsec", "pppoe", "mpls", "ipv4", "ipv6", "rocev1"],
        &[],
    ),
    // The security tag with the channel's identifier, which Linux sends unless told
    // otherwise, and a check of 16 bytes.
    Protocol::new(
        "macsec",
        "MACsec, with the identifier of the secure channel",
        HeaderBytes {
            trailer: 16,
            ..HeaderBytes::header(16)
        },
        "[IEEE802.1AE s9.3]",
        &["vlan", "qinq", "pppoe", "mpls", "ipv4", "ipv6", "rocev1"],
        &[adds(
            "no-sci",
            "tag without the identifier of the secure channel",
            "[IEEE802.1AE s9.3]",
            |bytes, _| HeaderBytes {
                header: bytes.header - 8,
                ..bytes
            },
        )],
    ),
    Protocol::new(
        "pppoe",
        "PPPoE: six bytes, and two of PPP",
        HeaderBytes::header(8),
        "[RFC2516 s7]",
        &NETWORK,
        &[],
    ),
    Protocol::new(
        "mpls",
        "one MPLS label",
        HeaderBytes::header(4),
        "[RFC3032 s2.1]",
        &["mpls", "ipv4", "ipv6", "eth", "jumbogen"],
        &[adds(
            "cw",
            "control word of a pseudowire",
            "[RFC4385 s3]",
            |bytes, _| longer(bytes, 4),
        )],
    ),
    Protocol::new(
        "ipv4",
        "IPv4",
        HeaderBytes::header(20),
        "[RFC791 s3.1]",
        &INTERNET,
        &[adds(
            "options",
            "bytes of options, padded to four",
            "[RFC791 s3.1]",
            |bytes, number| longer(bytes, number.next_multiple_of(4)),
        )
        .numbered([1, 40, 4])],
    )
    .at_most(60),
    Protocol::new(
        "ipv6",
        "IPv6",
        HeaderBytes::header(40),
        "[RFC8200 s3]",
        &INTERNET,
        &[
            adds(
                "hbh",
                "hop-by-hop options: bytes of the header, padded to eight",
                "[RFC8200 s4.3]",
                |bytes, number| longer(bytes, number.next_multiple_of(8)),
            )
            .numbered([8, 2048, 8]),
            adds(
                "jumbo",
                "hop-by-hop header with the length of a jumbogram",
                "[RFC2675 s2]",
                |bytes, _| longer(bytes, 8),
            )
            .in_group("hbh"),
            adds(
                "dst",
                "destination options: bytes of the header, padded to eight",
                "[RFC8200 s4.6]",
                |bytes, number| longer(bytes, number.next_multiple_of(8)),
            )
            .numbered([8, 2048, 8]),
            adds(
                "srh",
                "segment routing header: segments",
                "[RFC8754 s2]",
                |bytes, number| longer(bytes, 8 + 16 * number),
            )
            .numbered([1, 127, 1]),
            adds("frag", "fragment header", "[RFC8200 s4.5]", |bytes, _| {
                longer(bytes, 8)
            }),
        ],
    ),
    Protocol::new(
        "gre",
        "GRE",
        HeaderBytes::header(4),
        "[RFC2784 s2.1]",
        &["ipv4", "ipv6", "eth", "mpls"],
        &[
            adds(
                "csum",
                "checksum and reserved bytes",
                "[RFC2784 s2.1]",
                |bytes, _| longer(bytes, 4),
            ),
            adds("key", "key", "[RFC2890 s2]", |bytes, _| longer(bytes, 4)),
            adds("seq", "sequence number", "[RFC2890 s2]", |bytes, _| {
                longer(bytes, 4)
            }),
        ],
    ),
    Protocol::new(
        "esp",
        "IPsec ESP, with AES-GCM unless an option names another cipher",
        esp(8, 4, 16),
        "[RFC4303 s2]",
        &["ipv4", "ipv6", "tcp", "udp", "gre", "aggfrag"],
        &[
            adds(
                "aes-gcm",
                "AES-GCM, check of 16 bytes",
                "[RFC4106 s3]",
                |_, _| esp(8, 4, 16),
            )
            .in_group(CIPHER),
            adds("chacha20", "ChaCha20-Poly1305", "[RFC7634 s2]", |_, _| {
                esp(8, 4, 16)
            })
            .in_group(CIPHER),
            adds(
                "aes-cbc-sha1",
                "AES-CBC, blocks of 16 bytes [RFC3602 s3], and HMAC-SHA-1-96",
                "[RFC2404 s2]",
                |_, _| esp(16, 16, 12),
            )
            .in_group(CIPHER),
            adds(
                "aes-cbc-sha256",
                "AES-CBC [RFC3602 s3], and HMAC-SHA-256-128",
                "[RFC4868 s2]",
                |_, _| esp(16, 16, 16),
            )
            .in_group(CIPHER),
        ],
    ),
    Protocol::new(
        "aggfrag",
        "AGGFRAG of IP-TFS; one whole packet in each, though it also cuts and joins them",
        HeaderBytes::header(4),
        "[RFC9347 s6.1.1]",
        &NETWORK,
        &[adds(
            "cc",
            "header with congestion control",
            "[RFC9347 s6.1.2]",
            |bytes, _| longer(bytes, 20),
        )],
    ),
    Protocol::new(
        "jumbogen",
        "JumboGen bundle: six bytes, and four for each packet",
        HeaderBytes {
            units: 2,
            entry: 4,
            ..HeaderBytes::header(6)
        },
        "[Salyers2007]",
        &NETWORK,
        &[adds(
            "packets",
            "packets in the bundle",
            "[Salyers2007]",
            |bytes, number| HeaderBytes {
                units: number,
                ..bytes
            },
        )
        .numbered([1, 4095, 2])],
    ),
    Protocol::new(
        "udp",
        "UDP",
        HeaderBytes::header(8),
        "[RFC768]",
        &[
            "vxlan",
            "geneve",
            "gtpu",
            "wireguard",
            "openvpn",
            "l2tp",
            "gue",
            "quic",
            "rtp",
            "sctp",
            "rocev2",
            "esp",
            "gre",
            "mpls",
            "jumbogen",
        ],
        &[],
    ),
    Protocol::new(
        "vxlan",
        "VXLAN",
        HeaderBytes::header(8),
        "[RFC7348 s5]",
        &["eth"],
        &[],
    ),
    Protocol::new(
        "geneve",
        "Geneve",
        HeaderBytes::header(8),
        "[RFC8926 s3.4]",
        &["eth", "ipv4", "ipv6", "mpls"],
        &[adds(
            "options",
            "bytes of options, padded to four",
            "[RFC8926 s3.4]",
            |bytes, number| longer(bytes, number.next_multiple_of(4)),
        )
        .numbered([1, 252, 4])],
    ),
    Protocol::new(
        "gtpu",
        "GTP-U",
        HeaderBytes::header(8),
        "[TS29.281 s5.1]",
        &NETWORK,
        &[
            // The optional fields are there together or not at all.
            adds(
                "seq",
                "sequence number, with the other optional fields",
                "[TS29.281 s5.1]",
                |bytes, _| HeaderBytes::header(max(bytes.header, 12)),
            ),
            adds(
                "pdu",
                "extension header of a PDU session (5G), with the optional fields",
                "[TS38.415 s5.5.2]",
                |bytes, _| HeaderBytes::header(max(bytes.header, 16)),
            ),
        ],
    ),
    // 16 bytes of header and 16 of check; the content is padded to 16 bytes,
    // on Linux not beyond the MTU of the tunnel.
    Protocol::new(
        "wireguard",
        "WireGuard",
        HeaderBytes {
            trailer: 16,
            block: 16,
            stops_at_mtu: true,
            ..HeaderBytes::header(16)
        },
        "[Donenfeld2017 s5.4.6]",
        &NETWORK,
        &[],
    ),
    // Opcode and peer four bytes, packet number four, and a check of 16 bytes in
    // front of the packet.
    Protocol::new(
        "openvpn",
        "OpenVPN over UDP with an AEAD cipher, without compression",
        HeaderBytes::header(4 + 4 + 16),
        "[OpenVPN]",
        &["ipv4", "ipv6", "eth"],
        &[],
    ),
    Protocol::new(
        "l2tp",
        "L2TP, version 2",
        HeaderBytes::header(6),
        "[RFC2661 s3.1]",
        &["ppp"],
        &[
            adds("length", "length field", "[RFC2661 s3.1]", |bytes, _| {
                longer(bytes, 2)
            }),
            adds("seq", "sequence numbers", "[RFC2661 s3.1]", |bytes, _| {
                longer(bytes, 4)
            }),
        ],
    ),
    Protocol::new(
        "ppp",
        "PPP: address, control and protocol",
        HeaderBytes::header(4),
        "[RFC1662 s3.1]",
        &NETWORK,
        &[adds(
            "acfc",
            "address and control compressed",
            "[RFC1661 s6.6]",
            |bytes, _| HeaderBytes {
                header: bytes.header - 2,
                ..bytes
            },
        )],
    ),
    Protocol::new(
        "gue",
        "Generic UDP Encapsulation",
        HeaderBytes::header(4),
        "[Herbert2019 s3.2]",
        &["ipv4", "ipv6", "gre", "esp", "mpls"],
        &[adds(
            "options",
            "bytes of extension fields, padded to four",
            "[Herbert2019 s3.2]",
            |bytes, number| longer(bytes, number.next_multiple_of(4)),
        )
        .numbered([1, 124, 4])],
    ),
    // One byte of flags, the destination's identifier, a packet number, and a
    // check of 16 bytes [RFC9001 s5.3].
    Protocol::new(
        "quic",
        "QUIC, short header; its frames are payload",
        HeaderBytes {
            trailer: 16,
            ..HeaderBytes::header(1 + 8 + 2)
        },
        "[RFC9000 s17.3.1]",
        &[],
        &[
            adds(
                "cid",
                "bytes of the connection identifier",
                "[RFC9000 s17.3.1]",
                |bytes, number| HeaderBytes {
                    header: bytes.header - 8 + number,
                    ..bytes
                },
            )
            .numbered([0, 20, 8]),
            adds(
                "pn",
                "bytes of the packet number",
                "[RFC9000 s17.3.1]",
                |bytes, number| HeaderBytes {
                    header: bytes.header - 2 + number,
                    ..bytes
                },
            )
            .numbered([1, 4, 2]),
        ],
    ),
    Protocol::new(
        "rtp",
        "RTP",
        HeaderBytes::header(12),
        "[RFC3550 s5.1]",
        &[],
        &[],
    ),
    // The common header, and one chunk of data, whose payload is padded.
    Protocol::new(
        "sctp",
        "SCTP, with one DATA chunk",
        HeaderBytes {
            block: 4,
            ..HeaderBytes::header(12 + 16)
        },
        "[RFC9260 s3.3.1]",
        &[],
        &[adds(
            "i-data",
            "I-DATA chunk instead",
            "[RFC8260 s2.1]",
            |bytes, _| longer(bytes, 4),
        )],
    ),
    Protocol::new(
        "rocev1",
        "RoCE v1: global route and base transport headers; RDMA payload is a power of two, 256 to 4096 bytes",
        roce(40),
        "[InfiniBand A16.5]",
        &[],
        &RDMA,
    ),
    Protocol::new(
        "rocev2",
        "RoCE v2: base transport header; RDMA payload as of version 1",
        roce(0),
        "[InfiniBand A17.3]",
        &[],
        &RDMA,
    ),
    Protocol::new(
        "tcp",
        "TCP",
        HeaderBytes::header(20),
        "[RFC9293 s3.1]",
        &[],
        &[
            adds(
                "ts",
                "timestamps, padded to 12 bytes",
                "[RFC7323 s3.2]",
                |bytes, _| longer(bytes, 12),
            ),
            adds(
                "sack",
                "selective acknowledgement: blocks; with its padding 4 bytes, and 8 a block",
                "[RFC2018 s3]",
                |bytes, number| longer(bytes, 4 + 8 * number),
            )
            .numbered([1, 4, 1]),
            adds(
                "options",
                "bytes of other options, padded to four",
                "[RFC9293 s3.1]",
                |bytes, number| longer(bytes, number.next_multiple_of(4)),
            )
            .numbered([1, 40, 4]),
        ],
    )
    .at_most(60),
];

const fn max(one: u64, other: u64) -> u64 {
    if one > other { one } else { other }
}
