//! Reads the settings of the link from options and `--reverse-option`.

use anyhow::{Error, Result, anyhow, ensure};
use keyfile::{Origin, Section, fault, meant};
use link::written::{buffer, queue_of};
use link::{JitterDistribution, Settings, TooBig};
use queue::Limit;
use units::{BadText, Bytes, Framing, Rate, Span};

use crate::args::Emulate;
use crate::command::probabilities::{probability, share};

/// The maximum propagation delay; frames in flight are kept in memory.
const LONGEST: Span = Span::from_secs(60);

/// The hold time of a frame to be overtaken on a link without a rate.
const HOLD: Span = Span::from_millis(1);

/// The keys of `--reverse-option`; each is also an option.
const KEYS: [&str; 13] = [
    "rate",
    "delay",
    "jitter",
    "jitter-distribution",
    "loss",
    "bit-error-rate",
    "reorder",
    "duplicate",
    "buffer",
    "queue",
    "mtu",
    "too-big",
    "cut-through",
];

/// Both directions, between interfaces whose larger MTU is `largest`.
///
/// # Errors
/// One line of text with the option, the value and the expected value.
pub(super) fn directions(args: &Emulate, largest: Bytes) -> Result<[Settings; 2]> {
    let mut there = Section::default();
    let options = [
        ("rate", &args.rate),
        ("delay", &args.delay),
        ("jitter", &args.jitter),
        ("jitter-distribution", &args.jitter_distribution),
        ("loss", &args.loss),
        ("bit-error-rate", &args.bit_error_rate),
        ("reorder", &args.reorder),
        ("duplicate", &args.duplicate),
        ("buffer", &args.buffer),
        ("queue", &args.queue),
        ("mtu", &args.mtu),
        ("too-big", &args.too_big),
    ];
    for (key, value) in options {
        if let Some(value) = value {
            there.option(key, value);
        }
    }
    if args.cut_through {
        there.option("cut-through", "yes");
    }
    let mut back = there.clone();
    for assignment in &args.reverse_option {
        let origin = Origin::option("reverse-option", assignment);
        let Some((key, value)) = assignment.split_once('=') else {
            return Err(fault(&origin, "write KEY=VALUE, for instance rate=1mbit"));
        };
        if !KEYS.contains(&key) {
            return Err(fault(
                &origin,
                format!("unknown option{}", meant(key, KEYS)),
            ));
        }
        back.set(key, &[value.to_owned()], origin);
    }
    Ok([settings(&there, largest)?, settings(&back, largest)?])
}

/// A positive duration.
pub(super) fn duration(option: &str, text: &str) -> Result<Span> {
    let span: Span = text
        .parse()
        .map_err(|why: BadText| anyhow!("{option} {text}: {why}"))?;
    ensure!(
        span > Span::default(),
        "{option} {text}: write a time above 0, for instance 30s, or leave the option out to run until Ctrl-C"
    );
    Ok(span)
}

/// The settings of a link. A frame to be overtaken is held for the transmission time of four
/// frames of the largest size, so that three can overtake it.
fn settings(keys: &Section, largest: Bytes) -> Result<Settings> {
    let rate = match keys.text("rate")? {
        None | Some("none") => None,
        Some(_) => keys.quantity::<Rate>("rate")?,
    };
    let jitter = delay(keys, "jitter")?;
    let distributions = [
        ("uniform", JitterDistribution::Uniform),
        ("normal", JitterDistribution::Normal),
        ("exponential", JitterDistribution::Exponential),
    ];
    let jitter_distribution = keys.word("jitter-distribution", "uniform", &distributions)?;
    if jitter_distribution != JitterDistribution::Uniform && jitter == Span::ZERO {
        return Err(keys.reject(
            "jitter-distribution",
            "needs --jitter, for instance --jitter 2ms",
        ));
    }
    let mtu: Option<Bytes> = keys.quantity("mtu")?;
    if mtu.is_some_and(|mtu| !(68..=65_535).contains(&mtu.get())) {
        return Err(keys.reject("mtu", "write an IP MTU from 68 to 65535, for instance 1500"));
    }
    let answers = [("drop", TooBig::Drop), ("answer", TooBig::Answer)];
    let too_big = keys.word("too-big", "drop", &answers)?;
    if too_big == TooBig::Answer && mtu.is_none() {
        return Err(keys.reject("too-big", "needs --mtu, for instance --mtu 1400"));
    }
    let packet = mtu.unwrap_or(largest).min(largest);
    let frame = Framing::Ethernet.frame_size(packet);
    let buffer = keys.read_by("buffer", buffer)?;
    let buffer = buffer.unwrap_or(Limit::Bytes(Bytes::new(500_000)));
    if matches!(buffer, Limit::Bytes(size) if size < frame) {
        let why = format!(
            "a frame of {} B does not fit; write at least that size, for instance 500kB",
            frame.get()
        );
        return Err(keys.reject("buffer", why));
    }
    let queue = keys.text("queue")?.unwrap_or("droptail");
    let queue = queue_of(queue, buffer, rate, frame).map_err(|why| keys.reject("queue", why))?;
    let share = |key| Ok::<_, Error>(keys.read_by(key, share)?.unwrap_or_default());
    let wire = Framing::Ethernet.wire_size(packet);
    Ok(Settings {
        largest_packet: mtu,
        delay: delay(keys, "delay")?,
        jitter,
        jitter_distribution,
        loss: share("loss")?,
        bit_error_rate: keys
            .read_by("bit-error-rate", probability)?
            .unwrap_or_default(),
        reorder: share("reorder")?,
        hold: rate.map_or(HOLD, |rate| rate.serialise(wire * 4)),
        duplicate: share("duplicate")?,
        cut_through: keys.word("cut-through", "no", &[("yes", true), ("no", false)])?,
        too_big,
        ..Settings::perfect(rate, queue)
    })
}

/// A delay of frames, with an upper bound.
fn delay(keys: &Section, key: &str) -> Result<Span> {
    let delay = keys.quantity(key)?.unwrap_or(Span::ZERO);
    match delay <= LONGEST {
        true => Ok(delay),
        false => Err(keys.reject(key, format!("write at most {LONGEST}, for instance 10ms"))),
    }
}

#[cfg(test)]
mod tests {
    use anyhow::bail;
    use clap::Parser;
    use queue::Spec;

    use super::*;
    use crate::args::{Args, Command, OnLinux, examples_of};

    fn directions_of(line: &str) -> Result<[Settings; 2]> {
        let words = format!("jumbolab emulate --between a b {line}");
        let parsed = Args::try_parse_from(words.split_whitespace())?;
        let Command::OnLinux(OnLinux::Emulate(args)) = parsed.command else {
            bail!("another command")
        };
        directions(&args, Bytes::new(1500))
    }

    #[test]
    fn every_example_describes_a_link() {
        for example in examples_of("emulate") {
            let Command::OnLinux(OnLinux::Emulate(args)) = example.parse().command else {
                panic!("{} emulates nothing", example.line)
            };
            assert!(
                directions(&args, Bytes::new(1500)).is_ok(),
                "{}",
                example.line
            );
        }
    }

    #[test]
    fn both_directions_are_alike_but_for_what_the_way_back_overrides() {
        let [there, back] = directions_of(
            "--rate 12345678bit --delay 10ms --loss 1% --reverse-option rate=none --reverse-option queue=dropfront",
        )
        .unwrap();
        assert_eq!(there.rate, Rate::from_bits_per_second(12_345_678));
        assert_eq!(there.loss.to_bits(), 0.01f64.to_bits());
        assert_eq!(back.rate, None);
        let limit = Limit::Bytes(Bytes::new(500_000));
        assert_eq!(back.queue, Spec::DropFront { limit });
        let again = Settings {
            rate: there.rate,
            queue: there.queue.clone(),
            hold: there.hold,
            ..back
        };
        assert_eq!(again, there);
    }

    #[test]
    fn distributions_of_jitter_and_answers_are_asked_for_each_direction() {
        let [there, back] = directions_of(
            "--jitter 2ms --jitter-distribution normal --mtu 1400 --reverse-option too-big=answer --reverse-option jitter-distribution=exponential",
        )
        .unwrap();
        assert_eq!(there.jitter_distribution, JitterDistribution::Normal);
        assert_eq!(there.too_big, TooBig::Drop);
        assert_eq!(back.jitter_distribution, JitterDistribution::Exponential);
        assert_eq!(back.too_big, TooBig::Answer);
    }

    #[test]
    fn each_direction_has_a_discipline_of_its_own() {
        let [there, back] = directions_of(
            "--rate 10mbit --buffer 35packets --queue red,min=3,ecn=on --reverse-option queue=fq_codel,queues=16",
        )
        .unwrap();
        let Spec::Red(red) = there.queue else {
            panic!("{:?}", there.queue)
        };
        assert_eq!((red.limit, red.ecn), (Limit::Packets(35), true));
        assert!(matches!(back.queue, Spec::FqCodel(fair) if fair.queues == 16));
    }

    #[test]
    fn a_key_without_an_override_may_be_named_again() {
        let [there, back] = directions_of(
            "--rate 1mbit --reverse-option rate=1mbit --reverse-option cut-through=no",
        )
        .unwrap();
        assert_eq!(there, back);
    }

    #[test]
    fn what_cannot_be_is_rejected_by_option_value_and_example() {
        for (line, words) in [
            (
                "--rate 10",
                "--rate 10: 10 has no unit; write 10bit or 10mbit",
            ),
            ("--rate 0mbit", "--rate 0mbit: a rate of zero"),
            ("--delay 61s", "--delay 61s: write at most 60s"),
            (
                "--loss 0.1",
                "--loss 0.1: write a share of frames in per cent",
            ),
            ("--loss 101%", "--loss 101%: write"),
            ("--loss NaN%", "--loss NaN%: write"),
            (
                "--bit-error-rate 2",
                "--bit-error-rate 2: write a probability",
            ),
            (
                "--queue blue",
                "--queue blue: no such queue; write droptail",
            ),
            (
                "--queue red",
                "--queue red: rate: RED reckons with the rate of its link",
            ),
            (
                "--rate 1mbit --reverse-option queue=red,min=20",
                "--reverse-option queue=red,min=20: red.max: min must be a number",
            ),
            (
                "--buffer 0packets",
                "--buffer 0packets: write a number of packets",
            ),
            ("--buffer 1517", "--buffer 1517: a frame of 1518 B"),
            ("--mtu 67", "--mtu 67: write an IP MTU from 68"),
            (
                "--jitter 1ms --jitter-distribution gauss",
                "--jitter-distribution gauss: write one of uniform",
            ),
            (
                "--jitter-distribution normal",
                "--jitter-distribution normal: needs --jitter",
            ),
            (
                "--mtu 1400 --too-big tell",
                "--too-big tell: write one of drop, answer",
            ),
            ("--too-big answer", "--too-big answer: needs --mtu"),
            (
                "--reverse-option rate",
                "--reverse-option rate: write KEY=VALUE",
            ),
            (
                "--reverse-option color=red",
                "--reverse-option color=red: unknown option; write one of rate",
            ),
            (
                "--reverse-option rate=1",
                "--reverse-option rate=1: 1 has no unit",
            ),
        ] {
            let error = directions_of(line).expect_err(line).to_string();
            assert!(error.contains(words), "{line}: {error}");
        }
    }

    mod fuzz {
        use proptest::prelude::*;
        use proptest::sample::select;

        use super::*;

        /// Values of each kind, and some at their limits.
        const VALUES: &[&str] = &[
            "1mbit",
            "0bit",
            "1bit",
            "18446744073709551615bit",
            "1e309mbit",
            "none",
            "10ms",
            "60s",
            "60.000000000001s",
            "1ps",
            "-1ms",
            "0%",
            "0.1%",
            "100%",
            "nan%",
            "1e-300%",
            "1e-9",
            "1",
            "1500",
            "67",
            "68",
            "65535",
            "65536",
            "1518B",
            "500kB",
            "1packets",
            "4294967296packets",
            "droptail",
            "red,min=3,max=9",
            "mred,candidates=arriving",
            "pie,update=10us",
            "fq_codel,queues=0",
            "codel,target=1ps",
            "uniform",
            "normal",
            "exponential",
            "drop",
            "answer",
            "yes",
            "no",
            "",
            "\u{1b}[2J",
            "=",
            ",",
        ];

        proptest! {
            #[test]
            fn a_described_link_is_rejected_in_one_line_or_can_be_built(
                options in prop::collection::btree_map(
                    select(KEYS.to_vec()),
                    select(VALUES),
                    0..6,
                ),
                back in prop::collection::vec((select(KEYS.to_vec()), select(VALUES)), 0..3),
                noise in prop_oneof![4 => Just(None), 1 => ".{0,8}".prop_map(Some)],
            ) {
                let mut words: Vec<String> = ["jumbolab", "emulate", "--between", "a", "b"].map(str::to_owned).to_vec();
                for (key, value) in options {
                    words.push(match key {
                        "cut-through" => "--cut-through".to_owned(),
                        key => format!("--{key}={value}"),
                    });
                }
                for (key, value) in back {
                    words.push(format!("--reverse-option={key}={value}"));
                }
                words.extend(noise.map(|noise| format!("--reverse-option={noise}")));
                let parsed = Args::try_parse_from(&words).unwrap();
                let Command::OnLinux(OnLinux::Emulate(args)) = parsed.command else {
                    panic!("another command")
                };
                match directions(&args, Bytes::new(1_500)) {
                    Err(error) => {
                        let error = crate::output::one_line(&format!("{error:#}"));
                        prop_assert!(error.starts_with("--") && !error.contains('\n'), "{error}");
                    }
                    Ok(directions) => {
                        for settings in directions {
                            let shares = [settings.loss, settings.reorder, settings.duplicate, settings.bit_error_rate];
                            prop_assert!(shares.iter().all(|share| (0.0..=1.0).contains(share)));
                            prop_assert!(settings.delay <= LONGEST && settings.jitter <= LONGEST);
                        }
                    }
                }
            }
        }
    }
}
