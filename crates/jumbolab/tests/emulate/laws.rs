//! How often chance strikes real datagrams, and how long it holds them back.
//! The emulator's seed is fixed and nothing but the datagrams crosses, so that
//! the same ones are struck whenever this runs.

use super::{Seen, see};

/// Nothing but datagrams crosses: neighbours are known, and IPv6 is off.
const QUIET: &str = r#"
for node in a b; do
    ip netns exec $node sh -c 'echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6'
done
address() { ip -n $1 -brief link show eth0 | { read -r _ _ address _; echo $address; }; }
ip -n a neighbour replace 10.0.0.2 lladdr $(address b) dev eth0 nud permanent
ip -n b neighbour replace 10.0.0.1 lladdr $(address a) dev eth0 nud permanent
"#;

/// What the kernels see of `probe` over a link with `options`.
#[track_caller]
fn cross(options: &str, probe: &str) -> Seen {
    let seen = see(&format!(
        "{QUIET} begin --seed 1 {options}\n probe {probe}\n end\n"
    ));
    assert_eq!(seen.code, "0", "{}", seen.said);
    assert_eq!(seen.there("overrun"), 0.0, "{}", seen.told);
    seen
}

fn probe(seen: &Seen, key: &str) -> f64 {
    seen.probes[0][key].as_f64().expect(key)
}

/// That `count` of `all` is as frequent as `probability` asks: 99 % of all
/// seeds lie within 2.576 standard deviations.
#[track_caller]
fn plausible(count: f64, all: f64, probability: f64) {
    let width = 2.576 * (all * probability * (1.0 - probability)).sqrt();
    let off = (count - all * probability).abs();
    assert!(off < width, "{count} of {all} at {probability}");
}

#[test]
fn bit_errors_lose_long_datagrams_by_the_formula() {
    // 28 octets of IPv4 and UDP, 18 of Ethernet with FCS.
    for size in [100, 1400] {
        let seen = cross(
            "--bit-error-rate 1e-5",
            &format!("udp 10000 {size} 100 100"),
        );
        let bits = 8.0 * (f64::from(size) + 46.0);
        let lost = 10_000.0 - probe(&seen, "received");
        assert_eq!(lost, seen.there("damaged"), "{}", seen.told);
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
    // So slow that the link always has the next one to send.
    let seen = cross(
        "--rate 50mbit --reorder 10% --buffer 5MB",
        "udp 5000 1400 250 250",
    );
    assert_eq!(probe(&seen, "received"), 5_000.0, "{}", seen.told);
    // The last of a burst is not overtaken by the next one: 1 in 250.
    plausible(probe(&seen, "overtaken"), 5_000.0 * 249.0 / 250.0, 0.1);
}

/// How much longer than without jitter 400 datagrams took, in shares of
/// `scale` (in milliseconds); they are so far apart that almost none waits for
/// the one before it.
fn extra(law: &str, scale: f64, gap: u32) -> Vec<f64> {
    let took = |options: &str| {
        let seen = cross(options, &format!("spaced 400 100 {gap}"));
        let took = seen.probes[0]["took"].as_array().unwrap();
        let mut took: Vec<f64> = took.iter().map(|took| took.as_f64().unwrap()).collect();
        assert_eq!(took.len(), 400);
        took.sort_by(f64::total_cmp);
        took
    };
    let without = took("--delay 1ms")[200];
    let with = took(&format!(
        "--delay 1ms --jitter {scale}ms --jitter-law {law}"
    ));
    let share = |took: f64| (took - without) / (scale * 1e3);
    with.into_iter().map(share).collect()
}

#[test]
fn extra_delays_have_the_mean_and_the_range_of_their_law() {
    // Mean, standard deviation, and what one in a hundred exceeds.
    for (law, scale, gap, mean, deviation, high) in [
        ("uniform", 10.0, 12_000, 0.5, 0.2887, 1.0),
        ("normal", 5.0, 18_000, 0.7979, 0.6028, 2.576),
        ("exponential", 4.0, 24_000, 1.0, 1.0, 4.605),
    ] {
        let extra = extra(law, scale, gap);
        let seen = extra.iter().sum::<f64>() / 400.0;
        let width = 2.576 * deviation / 20.0;
        println!(
            "{law}: {seen:.3}, asked {mean} +- {width:.3}, from {:.3}",
            extra[0]
        );
        assert!((seen - mean).abs() < width, "{law}: {seen}");
        assert!(extra[0] > -0.1, "{law}: {}", extra[0]);
        // 99 % of all seeds have at most 9 of 400 there, and the machine may be late.
        let beyond = extra.iter().filter(|&&extra| extra > high * 1.05).count();
        assert!(beyond <= 9, "{law}: {beyond}");
    }
}
