//! Damaged messages are read or rejected, and nothing that they say grows memory.

use proptest::prelude::*;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use units::Span;

use super::*;

const PARAMETERS: &str = r#"{"tcp":true,"omit":1,"time":1,"num":0,"blockcount":0,"MSS":1000,"nodelay":true,"parallel":2,"window":102400,"len":131072,"bandwidth":1000000,"pacing_timer":500,"TOS":32,"flowlabel":5,"title":"tit","extra_data":"abc","congestion":"cubic","get_server_output":1,"udp_counters_64bit":1,"dont_fragment":1,"client_version":"3.12"}"#;
const RESULTS: &str = r#"{"cpu_util_total":1.5,"cpu_util_user":0,"cpu_util_system":1.5,"sender_has_retransmits":1,"congestion_used":"bbr","streams":[{"id":1,"bytes":1310720,"retransmits":18446744073709551615,"jitter":2.1e-05,"errors":0,"packets":11,"start_time":0,"end_time":1.000415}]}"#;

/// The mutations of each message in an ordinary test.
const MUTATIONS: u32 = 100_000;

/// Changes, removes, doubles or cuts a few bytes.
fn damage(bytes: &mut Vec<u8>, random: &mut ChaCha8Rng) {
    for _ in 0..random.random_range(1..4) {
        if bytes.is_empty() {
            return;
        }
        let at = random.random_range(0..bytes.len());
        match random.random_range(0..5) {
            0 => bytes[at] = random.random(),
            1 => bytes[at] ^= 1 << random.random_range(0..8),
            2 => drop(bytes.remove(at)),
            3 => bytes.insert(at, b"0123456789-e.\"{}[],:"[random.random_range(0..20)]),
            _ => bytes.truncate(at),
        }
    }
}

#[test]
fn damaged_messages_are_read_or_rejected() {
    let mut random = ChaCha8Rng::seed_from_u64(48);
    let bounds = Bounds {
        longest: Span::from_secs(3600),
        sends: true,
    };
    let (mut read, mut rejected) = (0, 0);
    for _ in 0..MUTATIONS {
        let mut parameters = framed(PARAMETERS.as_bytes());
        damage(&mut parameters, &mut random);
        let mut input = Input::default();
        input.push(&parameters);
        let json = input.json(LARGEST_PARAMETERS);
        let asked = json.map(|json| json.map(|json| Parameters::parse(&json)));
        match asked {
            Ok(Some(Ok(asked))) => {
                read += 1;
                if let Ok(request) = Request::of(&asked, bounds) {
                    assert!(request.all_streams() <= 256);
                    assert!((1..=1 << 20).contains(&request.block));
                }
            }
            _ => rejected += 1,
        }
        let mut results = RESULTS.as_bytes().to_vec();
        damage(&mut results, &mut random);
        match Results::parse(&results) {
            Ok(results) => {
                read += 1;
                assert_eq!(Results::parse(&results.json()), Ok(results));
            }
            Err(_) => rejected += 1,
        }
    }
    // Both happen, or the test tells nothing.
    assert!(
        read > MUTATIONS / 10 && rejected > MUTATIONS / 10,
        "{read} {rejected}"
    );
}

#[test]
fn any_datagrams_are_counted_or_ignored() {
    let mut random = ChaCha8Rng::seed_from_u64(49);
    for wide in [false, true] {
        let mut arrivals = Arrivals::new(wide);
        for number in 1..MUTATIONS {
            let mut datagram = vec![0; random.random_range(0..20)];
            random.fill(&mut datagram[..]);
            if random.random_bool(0.9) && datagram.len() >= LEAST_DATAGRAM {
                let header = Header {
                    sent_micros: random.random_range(0..1 << 40),
                    number: number.into(),
                };
                header.emit(&mut datagram, wide);
            }
            let Some(header) = Header::parse(&datagram, wide) else {
                assert!(datagram.len() < LEAST_DATAGRAM);
                continue;
            };
            arrivals.record(header, random.random());
            assert!(arrivals.received() <= arrivals.highest());
            assert!(arrivals.jitter() >= 0.0);
        }
    }
}

proptest! {
    #[test]
    fn any_bytes_are_states_json_or_malformed(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut input = Input::default();
        input.push(&bytes);
        while let Ok(Some(_)) = input.state() {
            let before = input.len();
            if let Ok(Some(json)) = input.json(100) {
                prop_assert!(json.len() + 4 == before - input.len());
            }
        }
        prop_assert!(input.len() <= bytes.len());
    }
}
