use super::*;

fn departed() -> Departed {
    Departed {
        offered: 100,
        messages: 90,
        bytes: 90_000,
        rejected: 4,
        unsent: 6,
        lasted: 1_000_000_000,
        first: None,
        timing_error: None,
        echoes: 0,
        round_trips: None,
        round_trip_quantiles: None,
        round_trips_over_time: TimeSeries::default(),
        departures: Vec::new(),
        tcp: None,
        send_buffer: 0,
        receive_buffer: 0,
        stamps_late: None,
        cpu: 0,
        clocks: None,
    }
}

fn arrivals(messages: u64, bytes: u64) -> Arrivals {
    let report = Report {
        messages,
        bytes,
        ..Report::default()
    };
    Arrivals {
        flows: vec![Arrived::of(&report)],
        rejected_peers: 0,
    }
}

#[test]
fn an_agent_that_reports_what_cannot_be_ends_the_trial() {
    let second = Span::from_secs(1);
    assert_eq!(check(&[departed()], &arrivals(90, 90_000), second), Ok(()));
    let wrapping = Departed {
        rejected: u64::MAX,
        ..departed()
    };
    let echoed = Departed {
        echoes: 91,
        ..departed()
    };
    for (sent, received) in [
        (vec![wrapping], arrivals(90, 90_000)),
        (vec![echoed], arrivals(90, 90_000)),
        (vec![departed()], arrivals(91, 90_000)),
        (vec![departed()], arrivals(80, 90_001)),
        (vec![departed()], arrivals(1_000_000_001, 90_000)),
        (Vec::new(), arrivals(90, 90_000)),
    ] {
        let why = check(&sent, &received, second).unwrap_err();
        assert!(why.starts_with("the agents"), "{why}");
    }
}
