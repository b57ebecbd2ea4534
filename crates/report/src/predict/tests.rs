use document::text;
use model::Transfer;
use serde_json::Value;

use super::*;

fn stack(words: &str) -> Stack {
    words.parse().unwrap()
}

fn full(stack: &Stack, mtus: &[u64]) -> Vec<(Bytes, Sizes)> {
    let mtus = mtus.iter().map(|mtu| Bytes::new(*mtu));
    mtus.map(|mtu| (mtu, stack.largest(mtu).unwrap())).collect()
}

fn rate(bits: u64) -> Rate {
    Rate::from_bits_per_second(bits).unwrap()
}

/// Whether a line of the text has these words, one behind the other.
#[track_caller]
fn has_row(text: &str, words: &str) {
    let words: Vec<&str> = words.split_whitespace().collect();
    let has = |line: &str| line.split_whitespace().collect::<Vec<_>>() == words;
    assert!(text.lines().any(has), "{words:?}: {text}");
}

fn objects(prediction: &Prediction) -> Vec<Value> {
    let lines = prediction.lines.iter();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn headers_have_a_row_each_and_mtus_a_column_each() {
    let stack = stack("eth,ipv4,udp,vxlan,eth,ipv6,tcp+ts");
    let found = of_overhead(&stack, &full(&stack, &[1500, 9000]));
    let text = text(&found.document, 120);
    has_row(&text, "vxlan [RFC7348 s5] 8 1472 8972");
    has_row(&text, "ipv6 [RFC8200 s3] 40 1450 8950");
    has_row(&text, "payload 1378 8878");
    has_row(&text, "1500 1378 160 89.60 1390");
    let lines = objects(&found);
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0]["layers"][3]["size_bytes"], 1472);
    assert_eq!(lines[0]["mss"], 1390);
    assert_eq!(lines[1]["wire_bytes"], 9038);
}

#[test]
fn a_bundle_adds_its_entries_and_sizes_behind_it_are_those_of_one_packet() {
    let bundle = "eth,ipv4,jumbogen+packets=6,ipv4,udp".parse().unwrap();
    let found = of_overhead(&bundle, &full(&bundle, &[9000]));
    let text = text(&found.document, 120);
    has_row(&text, "jumbogen+packets=6 [Salyers2007] 30 8976");
    assert!(text.contains("those of each of its packets"), "{text}");
    assert_eq!(objects(&found)[0]["mss"], Value::Null);
}

#[test]
fn links_have_the_frames_and_the_goodput_that_fill_them() {
    let stack = stack("eth,ipv6,tcp+ts");
    let found = of_limit(
        &stack,
        &[rate(1_000_000_000), rate(100_000_000_000)],
        &full(&stack, &[1500, 9000]),
    );
    let text = text(&found.document, 120);
    has_row(
        &text,
        "1 Gbit/s 1500 1428 1538 81274 928.5 Mbit/s 92.85 12.30",
    );
    has_row(
        &text,
        "100 Gbit/s 9000 8928 9038 1383049 98.78 Gbit/s 98.78 0.7230",
    );
    assert_eq!(found.lines.len(), 4);
}

#[test]
fn a_transfer_has_its_frames_and_its_time() {
    let stack = stack("eth,ipv6,tcp+ts");
    let size = Bytes::new(5_000_000);
    let transfers: Vec<_> = [1500, 4000, 9000]
        .map(|mtu| {
            let mtu = Bytes::new(mtu);
            (mtu, Transfer::new(&stack, size, mtu).unwrap())
        })
        .to_vec();
    let sent = Sent {
        name: "photo.png",
        size,
        rate: rate(1_000_000_000),
        hops: 2,
    };
    let found = of_transfer(&stack, &sent, &transfers);
    let text = text(&found.document, 120);
    has_row(&text, "1500 3502 1428 5385220 43.09 100.0");
    has_row(&text, "9000 561 8928 5061710 40.57 94.1");
    assert!(text.contains("2 links in a row"), "{text}");
    assert_eq!(objects(&found)[1]["frames"], 1273);
}

#[test]
fn lines_of_text_fit_the_terminal_and_drawings_have_a_curve_for_each_name() {
    let stack = stack("eth,qinq,ipv4,udp,geneve+options=8,eth,ipv6,tcp+ts+sack=2");
    let full = full(&stack, &[1500, 9000]);
    for width in [120, 160] {
        for found in [
            of_overhead(&stack, &full),
            of_limit(&stack, &[rate(10_000_000)], &full),
        ] {
            let text = text(&found.document, width);
            let widest = text.lines().map(|line| line.chars().count()).max();
            assert!(widest <= Some(usize::from(width)), "{text}");
            let picture = found.svg();
            assert_eq!(picture.matches("<polyline").count(), 1);
            assert!(picture.ends_with("</svg>\n"), "{picture}");
        }
    }
}
