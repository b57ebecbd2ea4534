//! Messages that a packet was too big: true, false, and rare ones.

use super::*;

#[test]
fn a_router_that_says_1500_is_named() {
    let report = report(&Path::with(Narrow::told(2, 1500)));
    assert_eq!(
        (report.verdict, report.forward.mtu),
        (Verdict::Problem, mtu(1500))
    );
    assert_eq!(report.forward.limit, Limit::Rejected);
    let rejected = FindingKind::Rejected {
        mtu: Bytes::new(1500),
        router: router(2),
        hop: Some(2),
    };
    assert_eq!(kinds(&report), [&rejected]);
    assert!(!report.findings[0].evidence.is_empty());
    let advice = &report.advice[0];
    assert_eq!(advice.device, Device::Router(router(2)));
    assert_eq!(advice.remedy, Remedy::Mtu(Bytes::new(9000)));
}

#[test]
fn routers_of_two_sizes_are_both_named_the_smaller_size_first() {
    let path = Path {
        narrow: vec![Narrow::told(1, 4000), Narrow::told(3, 1500)],
        ..Path::clean()
    };
    let report = report(&path);
    let named = report.findings.iter().filter_map(|one| match one.kind {
        FindingKind::Rejected { mtu, hop, .. } => Some((mtu.get(), hop)),
        _ => None,
    });
    assert_eq!(
        named.collect::<Vec<_>>(),
        [(1500, Some(3)), (4000, Some(1))]
    );
}

#[test]
fn a_router_that_announces_too_little_does_not_lower_the_result() {
    let narrow = Narrow {
        told: Told::Announces(1400),
        ..Narrow::told(2, 1500)
    };
    let report = report(&Path::with(narrow));
    assert_eq!(report.forward.mtu, mtu(1500));
    assert!(
        kinds(&report).contains(&&FindingKind::AnnouncedTooSmall {
            router: router(2),
            announced: Bytes::new(1400),
            passes: Bytes::new(1500),
        }),
        "{report:#?}"
    );
}

#[test]
fn a_router_that_announces_too_much_is_named() {
    for announced in [1600, 4000, 9000, 60_000] {
        let narrow = Narrow {
            told: Told::Announces(announced),
            ..Narrow::told(2, 1500)
        };
        let report = report(&Path::with(narrow));
        assert_eq!(report.forward.mtu, mtu(1500));
        let named = kinds(&report).iter().any(|kind| {
            matches!(kind,
            FindingKind::AnnouncedTooLarge { router: by, fails_from, .. }
                if *by == router(2) && fails_from.get() == 1501)
        });
        assert!(named, "{announced}: {report:#?}");
    }
}

#[test]
fn messages_that_come_only_now_and_then_are_noticed() {
    for burst in [1, 3, 6] {
        let narrow = Narrow {
            told: Told::Limited(burst),
            ..Narrow::told(2, 1500)
        };
        let report = report(&Path::with(narrow));
        assert_eq!(report.forward.mtu, mtu(1500));
        let named = kinds(&report).iter().any(|kind| {
            matches!(kind, FindingKind::AnswersLimited { router: by, .. } if *by == router(2))
        });
        assert!(named, "{burst}: {report:#?}");
    }
}
