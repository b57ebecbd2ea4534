//! The frequency of impairments of real datagrams, and their delays. The
//! emulator's seed is fixed and only the datagrams cross the link, so that
//! every run impairs the same ones.

use super::processors::Processors;
use super::undisturbed::until_undisturbed;
use super::{Seen, see};

/// Only datagrams cross: neighbours are configured, and IPv6 is off.
const QUIET: &str = r#"
for node in a b; do
    ip netns exec $node sh -c 'echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6'
done
address() { ip -n $1 -brief link show eth0 | { read -r _ _ address _; echo $address; }; }
ip -n a neighbour replace 10.0.0.2 lladdr $(address b) dev eth0 nud permanent
ip -n b neighbour replace 10.0.0.1 lladdr $(address a) dev eth0 nud permanent
"#;

/// The kernels' observations of `probe` over a link with `options`.
#[track_caller]
fn cross(options: &str, probe: &str) -> Seen {
    let seen = see(&format!(
        "{QUIET} begin --seed 1 {options}\n probe {probe}\n end\n"
    ));
    assert_eq!(seen.code, "0", "{}", seen.said);
    assert_eq!(seen.there("overrun"), 0.0, "{}", seen.report);
    seen
}

fn probe(seen: &Seen, key: &str) -> f64 {
    seen.probes[0][key].as_f64().expect(key)
}

/// Asserts that `count` of `all` agrees with `probability`: 99 % of all seeds
/// lie within 2.576 standard deviations.
#[track_caller]
fn plausible(count: f64, all: f64, probability: f64) {
    let width = 2.576 * (all * probability * (1.0 - probability)).sqrt();
    let off = (count - all * probability).abs();
    assert!(off < width, "{count} of {all} at {probability}");
}

#[test]
fn bit_errors_lose_long_datagrams_by_the_formula() {
    // 28 bytes of IPv4 and UDP, 18 of Ethernet with FCS.
    for size in [100, 1400] {
        let seen = cross("--bit-error-rate 1e-5", &format!("udp 10000 {size} 50 50"));
        let bits = 8.0 * (f64::from(size) + 46.0);
        let lost = 10_000.0 - probe(&seen, "received");
        assert_eq!(lost, seen.there("damaged"), "{}", seen.report);
        plausible(lost, 10_000.0, 1.0 - (1.0 - 1e-5f64).powf(bits));
    }
}

#[test]
fn datagrams_arrive_twice_as_often_as_was_asked() {
    let seen = cross("--duplicate 3%", "udp 10000 100 100 120");
    assert_eq!(probe(&seen, "distinct"), 10_000.0);
    plausible(probe(&seen, "received") - 10_000.0, 10_000.0, 0.03);
}

#[test]
fn datagrams_are_overtaken_as_often_as_was_asked() {
    // So slow that the link always has a frame to send.
    let seen = cross(
        "--rate 50mbit --reorder 10% --buffer 5MB",
        "udp 5000 1400 100 100",
    );
    assert_eq!(probe(&seen, "received"), 5_000.0, "{}", seen.report);
    // The last frame of a burst has none behind it to overtake it.
    plausible(probe(&seen, "overtaken"), 5_000.0 * 0.99, 0.1);
}

/// The number of datagrams with measured delays.
const SPACED: usize = 300;

/// The number of times that each datagram is sent. The same impairments affect
/// it every time, and other load makes it later, never earlier. If the machine
/// was busy throughout and the mean is still too late, this number is added.
const ROUNDS: usize = 3;
const MORE_ROUNDS: usize = 3;

/// The earliest delay of each datagram over some rounds, in microseconds, in
/// ascending order.
fn earliest(options: &str, gap: u32, plausible: impl Fn(&[f64]) -> bool) -> Vec<f64> {
    let mut earliest = vec![f64::INFINITY; SPACED];
    let measurement = format!("the earliest arrivals with {options}");
    until_undisturbed(&measurement, 1 + MORE_ROUNDS, || {
        let processors = Processors::now();
        for _ in 0..ROUNDS {
            let seen = cross(options, &format!("spaced {SPACED} 100 {gap}"));
            let took = seen.probes[0]["took"].as_array().unwrap();
            assert_eq!(took.len(), SPACED);
            for (earliest, took) in earliest.iter_mut().zip(took) {
                *earliest = earliest.min(took.as_f64().unwrap());
            }
        }
        let mut sorted = earliest.clone();
        sorted.sort_by(f64::total_cmp);
        match processors.disturbed() {
            Some(disturbed) if !plausible(&sorted) => Err(disturbed),
            _ => Ok(sorted),
        }
    })
    .unwrap()
}

#[test]
fn extra_delays_have_the_mean_and_the_range_of_their_distribution() {
    let without = earliest("--delay 1ms", 3_000, |_| true)[SPACED / 2];
    // The scale in milliseconds; a gap so long that almost no datagram waits
    // for the previous one; mean, standard deviation, and 99th percentile.
    for (distribution, scale, gap, mean, deviation, high) in [
        ("uniform", 8.0, 9_000, 0.5, 0.2887, 1.0),
        ("normal", 4.0, 14_000, 0.7979, 0.6028, 2.576),
        ("exponential", 3.0, 18_000, 1.0, 1.0, 4.605),
    ] {
        let options =
            format!("--delay 1ms --jitter {scale}ms --jitter-distribution {distribution}");
        let count = SPACED as f64;
        let width = 2.576 * deviation / count.sqrt();
        // The smallest extra delay, the mean, and the number beyond `high`: 99
        // % of all seeds have at most 8 of 300 there.
        let of = |took: &[f64]| {
            let extra = took.iter().map(|took| (took - without) / (scale * 1e3));
            let extra: Vec<f64> = extra.collect();
            let beyond = extra.iter().filter(|&&extra| extra > high * 1.05).count();
            (extra[0], extra.iter().sum::<f64>() / count, beyond)
        };
        let took = earliest(&options, gap, |took| {
            let (_, seen, beyond) = of(took);
            seen < mean + width && beyond <= 8
        });
        let (least, seen, beyond) = of(&took);
        assert!(
            (seen - mean).abs() < width,
            "{distribution}: {seen}, not {mean}"
        );
        assert!(least > -0.1, "{distribution}: {least}");
        assert!(beyond <= 8, "{distribution}: {beyond}");
    }
}
