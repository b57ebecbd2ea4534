//! Systems that do not state all of their connections.

use proptest::prelude::*;
use units::{Bytes, Span};

use super::server::{Server, Stated, settings};
use super::{holes, mtu, test};
use crate::machine::tcp_mss::{MOST_CONNECTIONS, TcpSettings};
use crate::machine::{Advice, Device, FindingKind, Limit, NotSeen, Remedy, Verdict};

fn data_alone() -> Server {
    Server {
        stated: Stated::Data,
        ..Server::default()
    }
}

fn sending() -> Server {
    Server {
        stated: Stated::Sending,
        ..Server::default()
    }
}

#[test]
fn a_clean_path_is_clean_and_no_size_is_claimed_that_nobody_stated() {
    let (report, test) = test(data_alone());
    assert_eq!(report.verdict, Verdict::Clean);
    let directions = [report.forward, report.reverse];
    assert_eq!(
        directions.map(|one| (one.mtu, one.limit)),
        [(None, Limit::Unstated); 2]
    );
    assert_eq!(report.asked, Bytes::new(1500));
    assert_eq!(
        report.not_seen,
        [
            NotSeen::SentSizes,
            NotSeen::ArrivedSizes,
            NotSeen::Acknowledgements
        ]
    );
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    assert_eq!(
        (report.protocols[0].largest, report.protocols[0].mss),
        (None, None)
    );
    assert!(test.connections() <= 4, "{}", test.connections());
    assert!(report.took < Span::from_secs(1), "{}", report.took);
}

#[test]
fn where_segments_are_stated_their_mss_and_the_forward_path_are_known() {
    let (report, _) = test(sending());
    assert_eq!(report.verdict, Verdict::Clean);
    assert_eq!(report.protocols[0].mss, Some(1460));
    assert_eq!(
        (report.forward.mtu, report.forward.limit),
        (mtu(1500), Limit::Asked)
    );
    assert_eq!(
        (report.reverse.mtu, report.reverse.limit),
        (None, Limit::Unstated)
    );
    assert_eq!(report.not_seen, [NotSeen::ArrivedSizes]);
    let (report, _) = test(Server {
        mss: 1360,
        sends: 1360,
        ..sending()
    });
    assert_eq!(
        (report.verdict, report.asked),
        (Verdict::Clean, Bytes::new(1400))
    );
    assert!(matches!(
        report.findings[0].kind,
        FindingKind::SmallMss { seen: 1360, .. }
    ));
}

#[test]
fn a_hole_on_the_forward_path_is_exact_where_segments_are_stated() {
    for limit in [900, 1280, 1357, 1443, 1492, 1499] {
        let (report, test) = test(Server {
            forward: limit,
            ..sending()
        });
        assert_eq!(holes(&report), [Some(limit + 1), None], "{report:?}");
        assert_eq!(report.forward.mtu, mtu(limit));
        assert_eq!(report.verdict, Verdict::Problem);
        assert!(test.connections() <= 8, "{}", test.connections());
    }
}

#[test]
fn answers_show_a_hole_on_the_forward_path_within_the_unstated_options() {
    for limit in [600, 900, 1280, 1357, 1443, 1488, 1499] {
        let (report, test) = test(Server {
            forward: limit,
            ..data_alone()
        });
        let passes = limit - 12;
        assert_eq!(holes(&report), [Some(limit + 1), None], "{report:?}");
        assert_eq!(
            (report.forward.mtu, report.forward.limit),
            (mtu(passes), Limit::Vanish)
        );
        assert_eq!(report.verdict, Verdict::Problem);
        assert!(report.not_seen.contains(&NotSeen::Options));
        assert!(!report.not_seen.contains(&NotSeen::ExactSize));
        assert!(test.connections() < MOST_CONNECTIONS);
        // A size that is known to pass, and no other one, is advised.
        let clamp = Remedy::Mss(u16::try_from(passes - 40).unwrap());
        let own = |one: &Advice| one.device == Device::Own && one.remedy == clamp;
        assert!(report.advice.iter().any(own), "{:?}", report.advice);
    }
}

#[test]
fn a_hole_on_the_reverse_path_is_found_without_its_size() {
    for server in [data_alone(), sending()] {
        for limit in [900, 1443, 1499] {
            let (report, _) = test(Server {
                reverse: limit,
                ..server.clone()
            });
            assert_eq!(holes(&report), [None, Some(1500)], "{report:?}");
            assert_eq!(report.verdict, Verdict::Problem);
            assert!(report.reverse.mtu <= mtu(limit));
            assert!(report.not_seen.contains(&NotSeen::ReverseSize));
            let is_of_size = |one: &Advice| matches!(one.remedy, Remedy::Mss(_));
            assert!(!report.advice.iter().any(is_of_size), "{report:?}");
            assert!(report.took < Span::from_secs(4), "{}", report.took);
        }
    }
}

#[test]
fn holes_of_both_directions_are_found() {
    let (report, _) = test(Server {
        forward: 1400,
        reverse: 1404,
        ..data_alone()
    });
    assert_eq!(holes(&report), [Some(1401), Some(1500)], "{report:?}");
}

#[test]
fn a_path_mtu_that_the_system_knows_limits_the_packets_that_are_claimed() {
    let (mut report, mut test) = test(data_alone());
    assert_eq!(report.verdict, Verdict::Clean);
    test.knows_mtu(Bytes::new(1400));
    report = test.report();
    assert_eq!(
        (report.forward.mtu, report.forward.limit),
        (mtu(1400), Limit::Rejected)
    );
    let known = FindingKind::KnownMtu {
        mtu: Bytes::new(1400),
    };
    assert_eq!(report.findings[0].kind, known);
    assert_eq!(report.verdict, Verdict::Problem);
}

#[test]
fn a_server_that_speaks_first_shows_nothing_of_the_forward_path() {
    // Its requests would be answered by what it says anyway.
    let (report, _) = test(Server {
        greets: 40,
        forward: 1400,
        ..data_alone()
    });
    assert_eq!(holes(&report), [None; 2]);
    assert_eq!(report.forward.limit, Limit::NotSeen);
    assert_eq!(report.verdict, Verdict::Unclear);
    assert!(report.not_seen.contains(&NotSeen::Unanswered));
}

#[test]
fn sizes_above_the_interface_are_not_sent() {
    let asked = TcpSettings {
        asked: Some(Bytes::new(9000)),
        ..settings()
    };
    for server in [data_alone(), sending()] {
        let (report, _) = server.tested(asked, 1);
        assert_eq!(report.forward.limit, Limit::Interface);
        assert_eq!(report.verdict, Verdict::Problem);
    }
}

#[test]
fn ordinary_loss_is_no_hole_where_answers_alone_decide() {
    let wrong = (0..200).filter(|&seed| {
        let server = Server {
            loss: 0.02,
            ..data_alone()
        };
        let (report, _) = server.tested(settings(), seed);
        report.verdict == Verdict::Problem
    });
    let wrong: Vec<u64> = wrong.collect();
    assert!(wrong.len() <= 2, "{wrong:?}");
}

#[test]
fn a_size_that_was_asked_for_is_not_exceeded_by_unstated_options() {
    let asked = |size| TcpSettings {
        asked: Some(Bytes::new(size)),
        ..settings()
    };
    let narrow = Server {
        forward: 1400,
        ..data_alone()
    };
    let (report, _) = narrow.tested(asked(1400), 1);
    assert_eq!(
        (report.verdict, report.asked),
        (Verdict::Clean, Bytes::new(1400))
    );
    let (report, _) = narrow.tested(asked(1401), 1);
    assert_eq!(holes(&report), [Some(1401), None]);
    // The far end sends full packets whatever was asked for.
    let (report, _) = Server {
        reverse: 1400,
        ..data_alone()
    }
    .tested(asked(1400), 1);
    assert_eq!(report.verdict, Verdict::Unclear);
    assert_eq!(report.reverse.limit, Limit::NotSeen);
    assert!(report.not_seen.contains(&NotSeen::ReverseSize));
    assert!(!report.not_seen.contains(&NotSeen::LargeAnswers));
}

#[test]
fn small_answers_show_nothing_of_large_packets() {
    let (report, _) = test(Server {
        answer: 300,
        ..data_alone()
    });
    assert_eq!(report.verdict, Verdict::Unclear);
    assert_eq!(report.reverse.limit, Limit::NotSeen);
    assert!(report.not_seen.contains(&NotSeen::LargeAnswers));
}

proptest! {
    #[test]
    fn a_hole_is_found_wherever_it_is_and_no_other_one(
        forward in 620_u64..=1600, reverse in 620_u64..=1600, answer in 2_300_u64..100_000, rtt in 0_u64..200, thinks in 0_u64..200, is_sequential: bool, states_sending: bool,
    ) {
        let server = Server {
            forward, reverse, answer, is_sequential,
            rtt: Span::from_millis(rtt),
            thinks: Span::from_millis(thinks),
            stated: if states_sending { Stated::Sending } else { Stated::Data },
            ..Server::default()
        };
        let (report, _) = server.tested(settings(), 1);
        let [forward_hole, reverse_hole] = holes(&report);
        prop_assert_eq!(forward_hole.is_some(), forward < 1500, "{:?}", report);
        prop_assert!(forward_hole.is_none_or(|hole| hole > forward), "{:?}", report);
        let unstated = if states_sending { 0 } else { 12 };
        let passes = report.forward.mtu.map_or(0, Bytes::get);
        prop_assert!(passes <= forward && (forward >= 1500 || passes + unstated + 2 >= forward), "{:?}", report);
        prop_assert!(report.reverse.mtu <= mtu(reverse));
        prop_assert_eq!(report.verdict == Verdict::Clean, forward.min(reverse) >= 1500, "{:?}", report);
        prop_assert!(reverse_hole.is_none() || reverse < 1500, "{:?}", report);
    }
}
