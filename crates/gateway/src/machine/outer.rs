//! The service byte (DSCP and ECN) of bundles, and what it does to the packets in them.
//!
//! A bundle is a tunnel between an IP header outside and one for each packet inside,
//! with the bundle's own header as a shim between them [RFC9601 s3]. One header outside
//! stands for packets with different marks, so the ingress states what every packet in
//! the bundle can bear ([`outer_ecn`]), and a mark that the bundle gets outside is the
//! mark of each packet in it ([`inner_ecn`]).

/// Not ECN-capable [RFC3168 s5].
pub const NOT_ECT: u8 = 0b00;
/// ECN-capable, of the kind for scalable congestion control [RFC9331 s4.1].
pub const ECT_1: u8 = 0b01;
/// ECN-capable.
pub const ECT_0: u8 = 0b10;
/// Congestion experienced.
pub const CE: u8 = 0b11;

/// The ECN field of a bundle with these packets, in the normal mode of a tunnel
/// [RFC6040 s4.1]: the field of all packets if they have one in common. Otherwise
/// ECT(0), which every ECN-capable packet can bear, and Not-ECT as soon as one packet is
/// not capable, because a router would mark the bundle where it must drop that packet.
///
/// Packets that carry CE count as ECT(0) among others, so that the marks of one flow
/// do not spread to its company in the bundle.
pub fn outer_ecn(inner: impl Iterator<Item = u8>) -> u8 {
    let mut common = None;
    for ecn in inner.map(|service| service & CE) {
        common = Some(match common {
            None => ecn,
            Some(known) if known == ecn => ecn,
            Some(NOT_ECT) => NOT_ECT,
            Some(_) if ecn == NOT_ECT => NOT_ECT,
            Some(_) => ECT_0,
        });
    }
    common.unwrap_or(NOT_ECT)
}

/// The ECN field of a packet that arrives with `inner` in a bundle with `outer`; `None`
/// if it must be dropped [RFC6040 s4.2].
pub const fn inner_ecn(inner: u8, outer: u8) -> Option<u8> {
    match (inner & CE, outer & CE) {
        (NOT_ECT, CE) => None,
        (NOT_ECT, _) => Some(NOT_ECT),
        (_, CE) | (CE, _) => Some(CE),
        (ECT_0, ECT_1) => Some(ECT_1),
        (inner, _) => Some(inner),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_leave_a_tunnel_with_the_marks_of_the_standards_table() {
        // [RFC6040 Fig 4]: rows by the inner field, columns by the outer one.
        let columns = [NOT_ECT, ECT_0, ECT_1, CE];
        let rows = [
            (NOT_ECT, [Some(NOT_ECT), Some(NOT_ECT), Some(NOT_ECT), None]),
            (ECT_0, [Some(ECT_0), Some(ECT_0), Some(ECT_1), Some(CE)]),
            (ECT_1, [Some(ECT_1), Some(ECT_1), Some(ECT_1), Some(CE)]),
            (CE, [Some(CE); 4]),
        ];
        for (inner, expected) in rows {
            for (outer, expected) in columns.into_iter().zip(expected) {
                assert_eq!(
                    inner_ecn(inner, outer),
                    expected,
                    "{inner:02b} in {outer:02b}"
                );
            }
        }
    }

    #[test]
    fn packets_enter_a_tunnel_as_the_standard_says_and_the_weakest_decides() {
        // [RFC6040 Fig 3]: a single packet's field is copied.
        for ecn in [NOT_ECT, ECT_0, ECT_1, CE] {
            assert_eq!(outer_ecn([ecn, ecn].into_iter()), ecn);
        }
        for (inner, outer) in [
            ([ECT_0, ECT_1], ECT_0),
            ([ECT_1, CE], ECT_0),
            ([CE, ECT_0], ECT_0),
            ([CE, NOT_ECT], NOT_ECT),
            ([NOT_ECT, ECT_1], NOT_ECT),
        ] {
            assert_eq!(outer_ecn(inner.into_iter()), outer, "{inner:?}");
        }
        assert_eq!(outer_ecn(std::iter::empty()), NOT_ECT);
    }

    #[test]
    fn no_mark_is_lost_and_none_is_made_up_on_an_uncongested_way() {
        // Every set of two packets.
        for one in 0..4 {
            for other in 0..4 {
                let outer = outer_ecn([one, other].into_iter());
                assert_eq!(inner_ecn(one, outer), Some(one));
                assert_eq!(inner_ecn(other, outer), Some(other));
                // A router marks only what is capable.
                if outer != NOT_ECT {
                    assert_eq!(inner_ecn(one, CE), Some(CE));
                    assert_eq!(inner_ecn(other, CE), Some(CE));
                }
            }
        }
    }
}
