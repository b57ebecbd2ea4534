//! Values of connections that a system does not state.

use units::Bytes;

use super::{hole, probed};
use crate::machine::{DirectionResult, Limit, NotSeen, PathReport, Verdict};
use crate::text::path::{of_path, path_sentence};

#[test]
fn what_the_system_does_not_state_is_not_claimed() {
    let unstated = DirectionResult {
        mtu: None,
        limit: Limit::Unstated,
        loss: None,
    };
    let mut report = PathReport {
        verdict: Verdict::Clean,
        asked: Bytes::new(1500),
        forward: unstated,
        reverse: unstated,
        findings: Vec::new(),
        not_seen: vec![NotSeen::SentSizes, NotSeen::Acknowledgements],
        ..hole()
    };
    let far_end = "host.example (192.0.2.7)";
    assert_eq!(
        path_sentence(&probed(&report)),
        format!(
            "TCP connections to {far_end} deliver their largest packets in both directions, of at most 1500 bytes."
        )
    );
    let text = document::text(&of_path(&probed(&report)), 120);
    for words in [
        "the largest packets pass; this system does not state their size",
        "The MSS and the size of the packets sent: this system does not state them",
        "What was acknowledged and sent again: this system does not state it",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    report.verdict = Verdict::Unclear;
    report.reverse.limit = Limit::NotSeen;
    let sentence = path_sentence(&probed(&report));
    assert!(
        sentence.contains("whether the reverse path delivers them was not tested"),
        "{sentence}"
    );
    report.verdict = Verdict::Clean;
    report.reverse = unstated;
    report.forward = DirectionResult {
        mtu: Some(Bytes::new(1500)),
        limit: Limit::Asked,
        loss: None,
    };
    assert_eq!(
        path_sentence(&probed(&report)),
        format!("Packets of 1500 bytes reach {far_end}, and its largest packets arrive.")
    );
}

#[test]
fn a_path_mtu_within_unstated_options_is_a_range() {
    let mut report = hole();
    report.not_seen = vec![NotSeen::Options];
    report.forward.mtu = Some(Bytes::new(1388));
    report.protocols[0].fails_from = Some(Bytes::new(1401));
    let sentence = path_sentence(&probed(&report));
    assert!(
        sentence.contains("is 1388 to 1400 bytes, not 9000: "),
        "{sentence}"
    );
}
