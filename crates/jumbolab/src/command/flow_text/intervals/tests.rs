use traffic::driver::sessions::{Name, Quantiles, TcpInterval};

use super::*;

fn received(messages: u64, lost: u64) -> ReceivedInterval {
    ReceivedInterval {
        lasted: Span::from_secs(1),
        messages,
        bytes: Bytes::new(messages * 1_250),
        lost,
        delays: Quantiles {
            count: messages,
            median: Span::from_nanos(52_340),
            p95: Span::from_micros(90),
            p99: Span::from_micros(1_204),
            most: Span::from_millis(2),
        },
        jitter: Span::from_nanos(310),
        warmup: 0,
    }
}

fn interval(count: u16) -> Interval {
    let flow = |flow: u16| FlowInterval {
        flow,
        name: Name::new(&format!("flow-{flow}")).unwrap(),
        omitted: false,
        sent: Some(SentInterval {
            messages: 100_000,
            bytes: Bytes::new(125_000_000),
            tcp: Some(TcpInterval {
                retransmitted: 3,
                window: Bytes::new(123_456),
                round_trip: Span::from_micros(99),
                stuck: None,
            }),
            ..SentInterval::default()
        }),
        received: Some(received(99_000, 1_000)),
        echoes: None,
    };
    Interval {
        from: Span::from_secs(9),
        to: Span::from_secs(10),
        flows: (0..count).map(flow).collect(),
    }
}

#[test]
fn columns_line_up_and_the_head_comes_back() {
    let mut table = Table::of_receiver();
    let text: String = (0..12).map(|_| table.lines(&interval(2), "1 ")).collect();
    let lines: Vec<&str> = text.lines().collect();
    let heads = lines.iter().filter(|line| line.starts_with("flow "));
    assert_eq!(heads.count(), 2, "{text}");
    assert!(
        lines.iter().all(|line| line.len() == lines[0].len()),
        "{text}"
    );
    assert_eq!(
        lines[..4],
        [
            "flow                interval received received at            lost  delay p50       p99    jitter",
            "[1 flow-0]      9.00-10.00 s   124 MB  990 Mbit/s   1000 (1.00 %)    52.3 us   1.20 ms    310 ns",
            "[1 flow-1]      9.00-10.00 s   124 MB  990 Mbit/s   1000 (1.00 %)    52.3 us   1.20 ms    310 ns",
            "[1 SUM]         9.00-10.00 s   248 MB 1.98 Gbit/s   2000 (1.00 %)          -         -         -",
        ]
    );
}

#[test]
fn a_sum_has_what_can_be_added() {
    let sum = Figures::sum(&interval(3).flows, 1.0);
    let cells = [
        Column::Sent,
        Column::SentRate,
        Column::Retransmitted,
        Column::Window,
        Column::TcpRoundTrip,
    ]
    .map(|column| column.cell(&sum).unwrap_or_default());
    assert_eq!(cells, ["375 MB", "3.00 Gbit/s", "9", "", ""]);
}

#[test]
fn a_sender_that_falls_behind_is_named_with_both_rates() {
    let sent = |messages, due, millis| SentInterval {
        messages,
        due,
        behind: Span::from_millis(millis),
        ..SentInterval::default()
    };
    for (interval, words) in [
        (
            sent(81_000, Some(100_000.0), 190),
            "sent 81.0 k of 100 k messages/s: the sender fell behind by 190 ms",
        ),
        (
            sent(0, None, 1_500),
            "sent nothing: the sender fell behind by 1.50 s",
        ),
        // As many as were due, however late, and almost as many.
        (sent(1_000, Some(1_000.0), 500), ""),
        (sent(995, Some(1_000.0), 5), ""),
        (sent(0, None, 0), ""),
    ] {
        assert_eq!(fell_behind(&interval, 1.0).unwrap_or_default(), words);
    }
}

#[test]
fn a_path_mtu_is_told_with_the_router_that_stated_it() {
    let notice = |router| PathMtuNotice { mtu: 1500, router };
    let router = Some([10, 9, 1, 2].into());
    assert_eq!(path_mtu(&notice(router)), "1500, told by 10.9.1.2");
    assert_eq!(path_mtu(&notice(None)), "1500, known to this host");
}

#[test]
fn numbers_have_three_digits_and_decimal_prefixes() {
    for (number, text) in [
        (0.0, "0 B"),
        (999.0, "999 B"),
        (999.7, "1.00 kB"),
        (1_234.0, "1.23 kB"),
        (99_960.0, "100 kB"),
        (12_345_678.0, "12.3 MB"),
        (1.25e9, "1.25 GB"),
        (1e18, "1000000 TB"),
    ] {
        assert_eq!(prefixed(number, "B"), text);
    }
    assert_eq!(short(Span::from_nanos(52_340)), "52.3 us");
    assert_eq!(short(Span::from_nanos(7)), "7.00 ns");
}

#[test]
fn loss_is_unknown_while_nothing_arrives() {
    let lost = |flows: &[FlowInterval]| Column::Lost.cell(&Figures::sum(flows, 1.0));
    let mut flows = interval(2).flows;
    flows[0].received = Some(received(0, 0));
    assert_eq!(Column::Lost.cell(&Figures::of(&flows[0], 1.0)), None);
    assert_eq!(lost(&flows), None);
    // One that arrives shows those before it.
    flows[0].received = Some(received(1, 400));
    assert_eq!(lost(&flows).unwrap(), "1400 (1.39 %)");
    flows[0].received = Some(received(10, 0));
    let cell = Column::Lost.cell(&Figures::of(&flows[0], 1.0));
    assert_eq!(cell.unwrap(), "0");
}

#[test]
fn a_stuck_stream_is_named_once_while_the_receiver_answers() {
    let peer = "[fe80::7%3]:7070".parse().unwrap();
    let mut stuck = interval(1);
    let mut table = Table::of_receiver();
    table.peers.insert(stuck.flows[0].name, peer);
    let sent = stuck.flows[0].sent.as_mut().unwrap();
    sent.tcp.as_mut().unwrap().stuck = Some(3_948);
    let mut silent = stuck.clone();
    silent.flows[0].received = None;
    let says = |table: &mut Table, interval: &Interval| {
        let text = table.lines(interval, "");
        let found = text
            .lines()
            .find_map(|line| line.strip_prefix("[flow-0] segments "));
        found.map(str::to_owned)
    };
    assert_eq!(says(&mut table, &silent), None);
    assert_eq!(
        says(&mut table, &stuck).unwrap(),
        "of 3948 bytes are not delivered, small ones are: an MTU black hole? type: jumbolab probe fe80::7%3 --port 7070"
    );
    assert_eq!(says(&mut table, &stuck), None);
    assert_eq!(says(&mut table, &interval(1)), None);
    assert!(says(&mut table, &stuck).is_some());
}
