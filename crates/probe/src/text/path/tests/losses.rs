//! Loss by packet size.

use super::*;

/// So many lost packets of a size, with an interval of eight points.
pub(super) fn size_loss(size: u64, sent: u32, lost: u32) -> SizeLoss {
    let share = f64::from(lost) / f64::from(sent);
    let (low, high) = ((share - 0.04).max(0.0), share + 0.04);
    let loss = Loss {
        sent,
        lost,
        share,
        low,
        high,
    };
    let size = Bytes::new(size);
    SizeLoss { size, loss }
}

#[test]
fn loss_by_size_is_the_verdict_and_even_loss_stands_beside_it() {
    let mut report = hole();
    for direction in [&mut report.forward, &mut report.reverse] {
        direction.mtu = Some(Bytes::new(9000));
    }
    let (small, large) = (size_loss(1440, 200, 0), size_loss(9000, 100, 19));
    report.losses = vec![small, large];
    let finding = |direction, per_bit| FindingKind::LossBySize {
        direction,
        small,
        large,
        per_bit,
    };
    report.findings[0].kind = finding(Some(Direction::Forward), None);
    assert_eq!(
        path_sentence(&probed(&report)),
        "The path to host.example (192.0.2.7) delivers packets of 9000 bytes, but 19 % [15, 23] of packets of \
         9000 bytes on the forward path are lost, of 1440 bytes none [0, 4.0]."
    );
    let text = document::text(&of_path(&probed(&report)), 120);
    assert!(
        text.contains("9000   100    19         19 % [15, 23]"),
        "{text}"
    );
    let lines = path_json(&probed(&report));
    let of_kind = |kind: &str| {
        let values = lines.iter().map(|line| serde_json::from_str(line).unwrap());
        let mut values = values.filter(|value: &Value| value["kind"] == kind);
        values.next_back().unwrap()
    };
    assert_eq!(of_kind("loss")["size_bytes"], 9000);
    assert_eq!(of_kind("finding")["larger"]["share"], 0.19);
    report.findings[0].kind = finding(None, Some(3e-6));
    let sentence = path_sentence(&probed(&report));
    assert!(sentence.contains("probability of 3.0e-6"), "{sentence}");
    let even = PathReport {
        verdict: Verdict::Clean,
        findings: Vec::new(),
        losses: vec![size_loss(100, 100, 1), size_loss(9000, 100, 1)],
        ..report.clone()
    };
    let sentence = path_sentence(&probed(&even));
    let expected = "in both directions; 1.0 % [0.0, 5.0] of them are lost, as of smaller ones.";
    assert!(sentence.ends_with(expected), "{sentence}");
    let change = |after, before| path_change_sentence(&probed(after), before);
    assert!(change(&report, &even).starts_with("Large packets are lost now. "));
    assert!(change(&even, &report).starts_with("Large packets are no longer lost. "));
}
