//! Traffic of datagram flows.

use jumbolab_sim::Datagrams;
use meter::departures::{Bursts, Distribution, Schedule};
use units::{Bytes, Seed, Time};

use crate::network::{SECOND, at, bare, pair, run};

#[test]
fn a_flow_sends_what_its_schedule_says_and_no_more() {
    let bursts = Bursts {
        on: Distribution::Exponential(0.01 * SECOND),
        off: Distribution::Weibull(0.8, 0.02 * SECOND),
    };
    let distributions = [
        Distribution::Normal(1e9, 5e8),
        Distribution::Poisson(2e9, 1e9),
        Distribution::Pareto(0.9, 1e8),
        Distribution::Cauchy(1e9, 1e8),
        Distribution::Gamma(2.0, 5e8),
        Distribution::Weibull(0.8, 1e9),
        Distribution::Empirical(vec![1e8, 1e9, 1e9].into()),
    ];
    for gaps in distributions {
        for (bursts, bytes) in [(None, None), (Some(bursts.clone()), Some(100_000))] {
            // Some exceed the largest datagram and are rejected.
            let payloads = Distribution::Pareto(1.1, 400.0);
            let mut scenario = pair(
                &bare(1_000_000_000, 1_000_000),
                Datagrams {
                    bursts: bursts.clone(),
                    bytes,
                    ..Datagrams::new(gaps.clone(), payloads.clone())
                },
            );
            scenario.end = at(1.0);
            let seed = Seed::new(1).derive("flow/f");
            let mut schedule = Schedule::new(Time::ZERO, gaps.clone(), payloads, seed)
                .until(at(1.0))
                .carried(Bytes::ZERO..=Bytes::new(65_507));
            if let Some(bytes) = bytes {
                schedule = schedule.bytes(bytes);
            }
            if let Some(bursts) = bursts {
                schedule = schedule.bursts(bursts).unwrap();
            }
            let drawn: Vec<u64> = schedule.map(|(_, size)| size.get()).collect();
            let mut sizes = drawn.clone();
            sizes.retain(|size| *size <= 65_507);
            let flow = &run(scenario).flows[0];
            assert!(flow.sent > 10, "{gaps:?}");
            assert_eq!(flow.sent, sizes.len() as u64, "{gaps:?}");
            assert_eq!(flow.sent + flow.rejected, drawn.len() as u64, "{gaps:?}");
            assert_eq!(flow.sent_bytes.get(), sizes.iter().sum::<u64>(), "{gaps:?}");
        }
    }
}
