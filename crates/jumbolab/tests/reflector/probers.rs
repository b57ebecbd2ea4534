//! Other probers on the paths of `pmtu-faults` between kernels: programs, and the kernel's TCP.
//! The table of docs/evidence/probers.md, without what changes while it is probed:
//!
//!     cargo test -p jumbolab --test reflector other_probers -- --ignored --nocapture
//!
//! `JUMBOLAB_FAULTS` names those of a shorter run, with spaces between.

mod ping;
mod scamper;
mod tracepath;

use std::fmt::Write;
use std::fs;
use std::net::IpAddr;
use std::process::Command;

use serde_json::Value;
use units::{Bytes, IpVersion};

const TCP: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/reflector/probers/tcp.py"
);

const PROBERS: [&str; 4] = ["tracepath", "scamper", "tcp_mtu_probing", "ping"];

const FAULTS: &str = "clean too-big filtered too-small-mtu too-large-mtu rare silent first-link \
    asymmetric branch udp-hole mss mss-answer df-cleared vxlan fragments bit-errors lossy10 lossy40 range \
    below-1280 icmp-filter echo10 loss5 loss15 silent-loss5 silent-loss15 congestion";

/// Trials of each prober on each path of the table.
const TRIALS: usize = 5;

/// The MTU of the sender's interface.
const INTERFACE: Bytes = Bytes::new(9_000);

/// TCP of Linux stops searching where less than this is to be gained:
/// `net.ipv4.tcp_probe_threshold` [LinuxDoc ip-sysctl].
const TCP_STEP: Bytes = Bytes::new(8);

/// The hops after which programs that trace a path give up: twice those of a path of
/// five links, because each silent hop takes seconds.
const MOST_HOPS: u32 = 8;

/// The answer of a prober, as far as it gives one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Answer {
    /// The path MTU towards the far end.
    mtu: Option<Bytes>,
    limit: Option<Limit>,
}

/// The place of the link that limits the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Limit {
    Nowhere,
    /// Behind the router of this address.
    Router(IpAddr),
    /// Behind the hop of this number; 0 is the local host.
    Hop(usize),
}

/// A path with a fault.
struct Path<'a> {
    fault: &'a str,
    ip: IpVersion,
}

/// What a prober did, and whether it was right.
#[derive(Debug)]
struct Outcome {
    mtu_right: bool,
    hop_right: Option<bool>,
    seconds: f64,
    packets: u64,
}

/// The end of a program in the sender.
struct FinishedProgram {
    output: String,
    seconds: f64,
    /// What the interface of the sender sent.
    packets: u64,
    /// The routers, the nearest first.
    routers: Vec<IpAddr>,
}

impl Path<'_> {
    /// `jumbolab` with `words`, on this path and in spite of concurrent tests.
    fn command(&self, words: &[&str]) -> Command {
        let ip = match self.ip {
            IpVersion::V4 => 4,
            IpVersion::V6 => 6,
        };
        let mut command = Command::new(env!("CARGO_BIN_EXE_jumbolab"));
        command
            .args(words)
            .args(["--set", "network.timing_error=1min"]);
        command.arg(format!("--set=fault={}", self.fault));
        command.arg(format!("--set=ip={ip}"));
        command
    }

    /// What the settings of the links say, by a trial of `jumbolab run`.
    fn expected(&self) -> Value {
        let dir = tempfile::tempdir().unwrap();
        let words = "run pmtu-faults --on netns --repeat 1 --set trials.retry_limit=none -o r";
        let words: Vec<&str> = words.split_whitespace().collect();
        let output = self.command(&words).current_dir(&dir).output().unwrap();
        let journal = fs::read_to_string(dir.path().join("r/trials.jsonl"));
        let journal = journal.unwrap_or_else(|error| panic!("{error}: {output:?}"));
        let trial: Value = serde_json::from_str(journal.lines().next().unwrap()).unwrap();
        trial["evidence"]["expected"].clone()
    }

    /// Runs `line` in the sender, and a program in the receiver meanwhile.
    fn run(&self, line: &str, receiver: Option<&str>) -> FinishedProgram {
        let mut command = self.command(&["shell", "pmtu-faults", "sender"]);
        command.args(receiver.map(|line| format!("--with=receiver={line}")));
        let now = "echo \"@ $(date +%s.%N)\"";
        let script = format!("{now}; {line}; {now}; cat /proc/self/net/dev");
        let output = command.args(["--", "sh", "-c", &script]).output().unwrap();
        let [stdout, stderr] =
            [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
        let (before, rest) = stdout.split_once('\n').expect(&stderr);
        let (output, rest) = rest.split_once("@ ").expect(&stderr);
        let (after, interfaces) = rest.split_once('\n').unwrap();
        let [before, after] = [before.trim_start_matches("@ "), after];
        let instant = |text: &str| text.parse::<f64>().unwrap();
        let sent = interfaces.lines().filter_map(|line| {
            let (name, counts) = line.split_once(':')?;
            let sent = counts.split_whitespace().nth(9)?;
            (name.trim() != "lo").then(|| sent.parse::<u64>().unwrap())
        });
        FinishedProgram {
            output: output.to_owned(),
            seconds: instant(after) - instant(before),
            packets: sent.sum(),
            routers: routers(&stderr),
        }
    }

    /// Lets a prober investigate the path, of which `expected` says what is right.
    fn investigate(&self, prober: &str, expected: &Value) -> Outcome {
        let (version, method) = match self.ip {
            IpVersion::V4 => ("-4", "udp-paris"),
            // Its probes of one flow are not answered by Linux.
            IpVersion::V6 => ("-6", "udp"),
        };
        let (ran, answer, step) = match prober {
            "tracepath" => {
                let line = format!("tracepath {version} -n -m {MOST_HOPS} {{receiver}}");
                let ran = self.run(&line, None);
                let answer = tracepath::answer(&ran.output, INTERFACE);
                (ran, answer, Bytes::ZERO)
            }
            "scamper" => {
                let trace = format!("trace -M -w 1 -m {MOST_HOPS} -P {method}");
                let ran = self.run(&format!("scamper -c '{trace}' -i {{receiver}}"), None);
                let answer = scamper::answer(&ran.output, INTERFACE);
                (ran, answer, Bytes::ZERO)
            }
            "ping" => {
                let (ran, answer) = self.bisect(version);
                (ran, answer, Bytes::ZERO)
            }
            _ => {
                let receiver = format!("python3 {TCP} receive");
                let line = format!("python3 {TCP} send {{receiver}}");
                let mut ran = self.run(&line, Some(&receiver));
                let mut words = ran.output.split_whitespace();
                let mtu = words.next().and_then(bytes);
                let millis = words.next().and_then(|word| word.parse::<f64>().ok());
                // It settled that long before the end.
                ran.seconds = millis.map_or(ran.seconds, |millis| millis / 1000.0);
                (ran, Answer { mtu, limit: None }, TCP_STEP)
            }
        };
        Outcome {
            mtu_right: mtu_is_right(&answer, expected, self.up_to(), step),
            hop_right: hop_is_right(&answer, expected, &ran.routers),
            seconds: ran.seconds,
            packets: ran.packets,
        }
    }

    /// Echoes of the size asked for, and then a bisection.
    fn bisect(&self, version: &str) -> (FinishedProgram, Answer) {
        let least = Bytes::new(self.ip.smallest_mtu().into());
        let mut bisection = ping::Bisection::new(least, self.up_to());
        let mut all: Option<FinishedProgram> = None;
        while let Some(size) = bisection.next_size() {
            let mut ran = self.run(&ping::line(version, size - self.ip.header()), None);
            bisection.take(ping::echoes(&ran.output));
            if let Some(earlier) = all {
                ran.seconds += earlier.seconds;
                ran.packets += earlier.packets;
            }
            all = Some(ran);
        }
        (all.unwrap(), bisection.answer())
    }

    /// The size asked for.
    fn up_to(&self) -> Bytes {
        match self.fault {
            "vxlan" => Bytes::new(1_500),
            _ => INTERFACE,
        }
    }
}

/// The addresses of the routers towards the sender in the outline of a test network, which has a
/// line for each interface.
fn routers(outline: &str) -> Vec<IpAddr> {
    let mut names = Vec::new();
    let towards_sender = outline.lines().filter_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let name = *words.first()?;
        let is_first = name.starts_with("router") && !names.contains(&name);
        names.push(name);
        words.last()?.parse().ok().filter(|_| is_first)
    });
    towards_sender.collect()
}

/// Whether the path MTU is right. No answer is wrong: every prober is asked for it.
fn mtu_is_right(answer: &Answer, expected: &Value, up_to: Bytes, step: Bytes) -> bool {
    let right = Bytes::new(expected["forward"].as_u64().unwrap());
    let mtu = answer.mtu.map(|mtu| mtu.min(up_to));
    mtu.is_some_and(|mtu| mtu == right || (mtu < right && right - mtu < step))
}

/// Whether the place of the limit is right; `None` if it names none, or the fault has none.
fn hop_is_right(answer: &Answer, expected: &Value, routers: &[IpAddr]) -> Option<bool> {
    let link = match expected["fault"].as_str() {
        Some("mss-clamped" | "fragments-dropped" | "below-ipv6" | "loss-by-size") => return None,
        None if expected["fault"].is_null() => None,
        _ => expected["link"].as_u64(),
    };
    let place = match answer.limit? {
        Limit::Nowhere => return Some(link.is_none()),
        Limit::Hop(hop) => Some(hop),
        Limit::Router(router) => {
            let place = routers.iter().position(|known| *known == router);
            place.map(|place| place + 1)
        }
    };
    let place = place.and_then(|place| u64::try_from(place).ok());
    Some(link.is_some() && place == link)
}

/// The bytes that a word states.
fn bytes(word: &str) -> Option<Bytes> {
    let digits = word.trim_matches(|c: char| !c.is_ascii_digit());
    let number: u32 = digits.parse().ok()?;
    Some(Bytes::new(number.into()))
}

#[test]
fn other_probers_find_the_router_that_says_that_packets_are_too_big() {
    let path = Path {
        fault: "too-big",
        ip: IpVersion::V4,
    };
    let expected = path.expected();
    for prober in ["tracepath", "scamper", "tcp_mtu_probing"] {
        let outcome = path.investigate(prober, &expected);
        assert!(outcome.mtu_right, "{prober}: {outcome:?}");
        // A connection names no hop.
        let hop = (prober != "tcp_mtu_probing").then_some(true);
        assert_eq!(outcome.hop_right, hop, "{prober}");
        assert!(outcome.packets > 4, "{prober}: {outcome:?}");
    }
}

#[test]
#[ignore = "a comparison of an hour, for docs/evidence/probers.md"]
#[expect(clippy::print_stdout, reason = "its table is what it is run for")]
fn other_probers_beside_each_other() {
    let chosen = std::env::var("JUMBOLAB_FAULTS");
    for fault in chosen.as_deref().unwrap_or(FAULTS).split_whitespace() {
        let ip = match fault {
            // Routers of IPv6 fragment nothing.
            "df-cleared" => IpVersion::V4,
            _ => IpVersion::V6,
        };
        let path = Path { fault, ip };
        let expected = path.expected();
        let mut row = format!("| `{fault}` |");
        for prober in PROBERS {
            let trials = (0..TRIALS).map(|_| path.investigate(prober, &expected));
            let mut all: Vec<Outcome> = trials.collect();
            let mtus = all.iter().filter(|one| one.mtu_right).count();
            let named = all.iter().filter_map(|one| one.hop_right);
            let (given, hops) = (named.clone().count(), named.filter(|right| *right).count());
            all.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
            let Outcome {
                seconds, packets, ..
            } = all[TRIALS / 2];
            write!(
                row,
                " {prober}: MTU {mtus} of {TRIALS}, hop {hops} of {given}, {seconds:.1} s, {packets} packets |"
            )
            .unwrap();
        }
        println!("{row}");
    }
}

#[test]
fn a_path_mtu_is_right_within_the_step_of_the_prober() {
    let expected = serde_json::json!({ "forward": 1_500 });
    let is_right = |mtu: u64, step| {
        let answer = Answer {
            mtu: Some(Bytes::new(mtu)),
            limit: None,
        };
        mtu_is_right(&answer, &expected, INTERFACE, Bytes::new(step))
    };
    assert!(is_right(1_500, 0) && is_right(1_493, 8));
    assert!(!is_right(1_492, 8) && !is_right(1_501, 8) && !is_right(1_499, 0));
    let none = mtu_is_right(&Answer::default(), &expected, INTERFACE, TCP_STEP);
    assert!(!none);
}

#[test]
fn a_hop_is_right_by_number_and_by_router_and_absent_without_a_place() {
    let routers = ["198.18.0.2", "198.18.1.2"].map(|router| router.parse().unwrap());
    let is_right = |limit, fault: Value| {
        let expected = serde_json::json!({ "fault": fault, "link": 2 });
        let answer = Answer { mtu: None, limit };
        hop_is_right(&answer, &expected, &routers)
    };
    let hole = || serde_json::json!({ "black-hole": "forward" });
    let router = |number: usize| Some(Limit::Router(routers[number]));
    assert_eq!(is_right(Some(Limit::Hop(2)), hole()), Some(true));
    assert_eq!(is_right(Some(Limit::Hop(1)), hole()), Some(false));
    assert_eq!(is_right(router(1), hole()), Some(true));
    assert_eq!(is_right(router(0), hole()), Some(false));
    assert_eq!(is_right(Some(Limit::Nowhere), hole()), Some(false));
    assert_eq!(is_right(Some(Limit::Nowhere), Value::Null), Some(true));
    assert_eq!(is_right(Some(Limit::Hop(2)), Value::Null), Some(false));
    assert_eq!(is_right(None, hole()), None);
    let clamped = Value::from("mss-clamped");
    assert_eq!(is_right(Some(Limit::Nowhere), clamped), None);
}
