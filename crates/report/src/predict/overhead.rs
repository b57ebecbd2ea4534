//! The bytes that each layer of a stack adds to a packet and to its frame.

use document::json_line;
use model::{Layer, Sizes, Stack};
use serde::Serialize;
use units::Bytes;

use super::chart::{Chart, Curve};
use super::{Prediction, curve, document, percent, table};

/// TCP's header without options, which the MSS does not count [RFC9293 s3.7.1].
const TCP_HEADER: Bytes = Bytes::new(20);

#[derive(Serialize)]
struct LayerLine<'a> {
    layer: &'a str,
    added_bytes: u64,
    size_bytes: u64,
    sources: &'a [&'static str],
}

#[derive(Serialize)]
struct Line<'a> {
    kind: &'static str,
    stack: &'a str,
    mtu: u64,
    layers: Vec<LayerLine<'a>>,
    payload_bytes: u64,
    packets: u64,
    packet_bytes: u64,
    frame_bytes: u64,
    wire_bytes: u64,
    efficiency_percent: f64,
    mss: Option<u64>,
}

/// The headers of a stack in packets that fill each of these MTUs.
pub fn of_overhead(stack: &Stack, full: &[(Bytes, Sizes)]) -> Prediction {
    let name = stack.to_string();
    let mtus = full.iter().map(|(mtu, _)| format!("MTU {}", mtu.get()));
    let mut columns = vec!["layer".to_owned(), "source".to_owned(), "adds".to_owned()];
    columns.extend(mtus);
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    let by_layer = table(2, &columns, layer_rows(stack, full));
    let totals = full.iter().map(|(mtu, sizes)| {
        let bytes = [
            mtu.get(),
            sizes.carried().get(),
            (sizes.wire - sizes.carried()).get(),
        ];
        let mss = mss(stack, sizes).map_or_else(|| "-".to_owned(), |mss| mss.to_string());
        let bytes = bytes.map(|bytes| bytes.to_string()).into_iter();
        bytes.chain([percent(sizes.efficiency()), mss]).collect()
    });
    let columns = ["MTU", "payload", "overhead", "efficiency %", "MSS"];
    let totals = table(1, &columns, totals.collect());
    let lines = full
        .iter()
        .map(|(mtu, sizes)| line(stack, &name, *mtu, sizes));
    let points = curve(stack, full.iter().map(|(mtu, _)| mtu.get()));
    let points = points
        .iter()
        .map(|(mtu, sizes)| (*mtu as f64, 100.0 * sizes.efficiency()));
    Prediction {
        lines: lines.collect(),
        chart: Chart {
            title: format!("Payload as a share of the wire: {name}"),
            horizontal: "MTU (bytes)".to_owned(),
            vertical: "efficiency (%)".to_owned(),
            curves: vec![Curve {
                name: name.clone(),
                points: points.collect(),
            }],
        },
        document: document(
            format!("Headers of {name}, in bytes"),
            notes(stack),
            vec![by_layer, totals],
        ),
    }
}

/// The bytes that each layer adds at an MTU.
fn added<'a>(
    stack: &'a Stack,
    sizes: &'a Sizes,
) -> impl Iterator<Item = (&'a Layer, Bytes, Bytes)> {
    stack.layers().iter().enumerate().map(|(place, layer)| {
        let unit = sizes.units[place];
        let inner = sizes.units.get(place + 1).copied().unwrap_or(sizes.payload);
        (layer, unit - inner * layer.units(), unit)
    })
}

/// A row for each layer: the bytes that it adds, and the size of its unit.
fn layer_rows(stack: &Stack, full: &[(Bytes, Sizes)]) -> Vec<Vec<String>> {
    let all: Vec<Vec<_>> = full
        .iter()
        .map(|(_, sizes)| added(stack, sizes).collect())
        .collect();
    let layers = stack.layers().iter().enumerate().map(|(place, layer)| {
        let adds: Vec<u64> = all.iter().map(|of| of[place].1.get()).collect();
        let units = all.iter().map(|of| of[place].2.get().to_string());
        let head = [
            layer.word().to_owned(),
            layer.sources().join(" "),
            range(&adds),
        ];
        head.into_iter().chain(units).collect()
    });
    let row = |name: &str, source: &str, adds: &[u64], size: fn(&Sizes) -> Bytes| -> Vec<String> {
        let adds = match adds {
            [] => String::new(),
            adds => range(adds),
        };
        let sizes = full.iter().map(|(_, sizes)| size(sizes).get().to_string());
        [name.to_owned(), source.to_owned(), adds]
            .into_iter()
            .chain(sizes)
            .collect()
    };
    let mut rows = Vec::new();
    if stack.framing() > 0 {
        let beside: Vec<u64> = full
            .iter()
            .map(|(_, sizes)| (sizes.wire - sizes.frame).get())
            .collect();
        let source = "[IEEE802.3 s3.1.1] [IEEE802.3 s4.4.2]";
        rows.push(row("preamble, gap", source, &beside, |sizes| sizes.wire));
    }
    rows.extend(layers);
    rows.push(row("payload", "", &[], |sizes| sizes.payload));
    rows
}

/// One number, or the least and the largest of several.
fn range(numbers: &[u64]) -> String {
    match (numbers.iter().min(), numbers.iter().max()) {
        (Some(least), Some(most)) if least != most => format!("{least} to {most}"),
        (Some(least), _) => least.to_string(),
        _ => String::new(),
    }
}

/// The MSS that the MTU leaves to a segment, if TCP is innermost [RFC9293 s3.7.1].
fn mss(stack: &Stack, sizes: &Sizes) -> Option<u64> {
    let last = stack.layers().last()?;
    let unit = sizes.units.last()?;
    (last.protocol().name == "tcp").then(|| (*unit - TCP_HEADER).get())
}

fn notes(stack: &Stack) -> Vec<String> {
    let mut notes = vec![match stack.framing() {
        0 => "The MTU limits the outermost packet; there is no framing, so that the wire is the packet.".to_owned(),
        _ => "The MTU limits the packet behind Ethernet and its tags. The frame counts addresses, type, tags and check sequence; the wire also preamble and gap.".to_owned(),
    }];
    let inner = stack.layers().iter().skip(stack.framing() + 1);
    if inner.clone().any(|layer| layer.ip().is_some()) {
        notes.push(
            "The size at an inner ipv4 or ipv6 is the largest MTU that its interface may have."
                .to_owned(),
        );
    }
    if stack.layers().iter().any(|layer| layer.units() > 1) {
        notes.push("Sizes behind a bundle are those of each of its packets.".to_owned());
    }
    notes
}

fn line(stack: &Stack, name: &str, mtu: Bytes, sizes: &Sizes) -> String {
    let layer = |(layer, adds, unit): (&Layer, Bytes, Bytes)| {
        (
            layer.word().to_owned(),
            adds.get(),
            unit.get(),
            layer.sources().to_vec(),
        )
    };
    let layers: Vec<_> = added(stack, sizes).map(layer).collect();
    json_line(&Line {
        kind: "overhead",
        stack: name,
        mtu: mtu.get(),
        layers: layers
            .iter()
            .map(|(word, adds, size, sources)| LayerLine {
                layer: word,
                added_bytes: *adds,
                size_bytes: *size,
                sources,
            })
            .collect(),
        payload_bytes: sizes.payload.get(),
        packets: sizes.packets,
        packet_bytes: sizes.packet.get(),
        frame_bytes: sizes.frame.get(),
        wire_bytes: sizes.wire.get(),
        efficiency_percent: 100.0 * sizes.efficiency(),
        mss: mss(stack, sizes),
    })
}
