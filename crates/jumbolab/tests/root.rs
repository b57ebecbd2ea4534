//! Tests that need real root: they start the program both as root and as
//! another user.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::process::{Command, Output, Stdio};

use os::clock;
use os::frames::Pool;
use os::kernel_clock::Mapping;
use os::pacing::{Poller, Round, Stop};
use os::port::{Port, Purpose};
use tempfile::TempDir;
use units::Span;

/// The user `nobody` on every Linux.
const ORDINARY: u32 = 65_534;

/// A folder that `owner` may write to, with a readable copy of the program.
fn folder(owner: u32) -> TempDir {
    let folder = TempDir::new().unwrap();
    assert_eq!(
        fs::metadata(folder.path()).unwrap().uid(),
        0,
        "these tests need a real root"
    );
    // By another process: a test that starts a program meanwhile would hand it
    // a file that is open for writing, and nobody can execute such a file.
    let copied = Command::new("cp")
        .arg(env!("CARGO_BIN_EXE_jumbolab"))
        .arg(folder.path().join("jumbolab"))
        .status();
    assert!(copied.unwrap().success());
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
    fs::create_dir(folder.path().join("own")).unwrap();
    std::os::unix::fs::chown(folder.path().join("own"), Some(owner), Some(owner)).unwrap();
    folder
}

fn run(folder: &TempDir, user: u32) -> Output {
    Command::new(folder.path().join("jumbolab"))
        .args([
            "run",
            "os-comparison",
            "--repeat",
            "1",
            "-o",
            "r",
            "--set",
            "scenario=LU-LU",
        ])
        .args([
            "--set",
            "size=500kB",
            "--set",
            "network.timing_error=1min",
            "--set",
            "warmup=300kB",
            "--set",
            "cpu_bytes=1MB",
            "--set",
            "rate=200mbit",
        ])
        .current_dir(folder.path().join("own"))
        .env_remove("HOME")
        .stdin(Stdio::null())
        .uid(user)
        .gid(user)
        .output()
        .unwrap()
}

#[track_caller]
fn check(user: u32) {
    let folder = folder(user);
    let output = run(&folder, user);
    // Whether its short trials are sound is not judged.
    assert!(
        matches!(output.status.code(), Some(0 | 1)),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let plan = folder.path().join("own/r/plan.toml");
    assert_eq!(
        fs::metadata(&plan).unwrap().uid(),
        user,
        "the results are the user's own"
    );
    let text = fs::read_to_string(plan).unwrap();
    assert!(text.contains(&format!("root = {}", user == 0)), "{text}");
}

#[test]
fn a_real_root_runs_without_a_user_namespace() {
    check(0);
}

#[test]
fn an_ordinary_user_runs_everything_and_owns_the_results() {
    check(ORDINARY);
}

#[test]
fn jumbograms_go_from_namespace_to_namespace_and_through_a_router() {
    let folder = folder(0);
    for (over, size) in [
        ("namespaces", 190_000),
        ("namespaces", 65_536),
        ("namespaces", 1_000_000),
        ("router", 190_000),
        ("router", 1_452),
    ] {
        let output = json(&jumbogram(&folder, 0, over, size, &["--packets", "3"]));
        assert_eq!(output["jumbogram"], size > 65_527, "{output}");
        for count in ["sent", "whole", "packets"] {
            assert_eq!(output[count], 3, "{count} of {output}");
        }
        let forwarded = if over == "router" { Some(3) } else { None };
        assert_eq!(output["forwarded"].as_u64(), forwarded, "{output}");
        let output = json(&jumbogram(&folder, 0, over, size, &["--duration", "100ms"]));
        assert_eq!(output["over"], over);
        // Other tests share the kernel's queues, which may have no room for a
        // packet.
        assert!(
            output["messages"].as_u64() > output["lost"].as_u64(),
            "{output}"
        );
    }
}

#[test]
fn an_ordinary_user_has_jumbograms_over_loopback_and_hears_why_not_elsewhere() {
    let folder = folder(ORDINARY);
    let output = json(&jumbogram(&folder, ORDINARY, "loopback", 190_000, &[]));
    assert_eq!(output["whole"], 1, "{output}");
    for over in ["namespaces", "router"] {
        let output = jumbogram(&folder, ORDINARY, over, 190_000, &[]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
        assert!(said.contains("sudo"), "{said}");
    }
}

#[test]
fn a_gateway_of_an_ordinary_user_is_rejected_in_one_line() {
    let folder = folder(ORDINARY);
    for (path, operation) in [
        (&[][..], "making the TUN interface jumbo0"),
        (&["--inside-interface", "lo"], "opening lo for a gateway"),
    ] {
        let output = Command::new(folder.path().join("jumbolab"))
            .args(["gateway", "--local", "127.0.0.1", "--peer", "203.0.113.2"])
            .args(["--prefix", "10.2.0.0/16", "--duration", "1s"])
            .args(path)
            .stdin(Stdio::null())
            .uid(ORDINARY)
            .gid(ORDINARY)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
        assert!(said.contains(operation), "{said}");
        assert!(said.contains("root") || said.contains("sudo"), "{said}");
    }
}

#[test]
fn a_frame_goes_out_of_a_port_and_comes_back_with_the_instant_at_which_it_came() {
    let purpose = Purpose {
        noun: "a test",
        verb: "testing",
    };
    let error = Port::open("no-such-thing", purpose).map(drop).unwrap_err();
    assert!(error.to_string().contains("no-such-thing"), "{error}");
    let mut port = Port::open("lo", purpose).unwrap();
    let (pool, mut mapping) = (Pool::default(), Mapping::now());
    let mut poller = Poller::new().unwrap();
    // Nobody else sends frames of the first type for local experiments
    // [IEEE802] that say this.
    let mut bytes = vec![0; 12];
    bytes.extend([0x88, 0xb5]);
    bytes.extend(format!("{}", std::process::id()).bytes());
    bytes.resize(3_000, 7);
    let sent = clock::monotonic();
    port.send(&[pool.frame(&bytes)]).unwrap();
    let mut came = None;
    while came.is_none() {
        let now = clock::monotonic();
        mapping.renew();
        let more = port.receive(&mapping, now, &pool, |at, frame| {
            if frame.ethernet() == bytes {
                came = Some(at);
            }
        });
        let round = Round {
            now,
            more,
            next: None,
            longest: None,
        };
        let stop = Stop {
            control: None,
            deadline: Some(sent + Span::from_secs(60)),
        };
        let late = poller.wait([&port], stop, round).unwrap();
        assert!(!late, "no frame came back");
    }
    let came = came.unwrap();
    // The wall clock, of which stamps are, is compared to within some microseconds.
    let slack = Span::from_millis(1);
    assert!(sent < came + slack && came < clock::monotonic() + slack);
    assert_eq!(port.rejected().unsent, 0);
}

fn jumbogram(folder: &TempDir, user: u32, over: &str, size: u32, more: &[&str]) -> Output {
    Command::new(folder.path().join("jumbolab"))
        .args([
            "send",
            "--jumbogram",
            "--message",
            &size.to_string(),
            "--topology",
            over,
        ])
        .arg("--json")
        .args(more)
        .current_dir(folder.path().join("own"))
        .stdin(Stdio::null())
        .uid(user)
        .gid(user)
        .output()
        .unwrap()
}

#[track_caller]
fn json(output: &Output) -> serde_json::Value {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_secret_of_another_user_is_rejected_and_the_owner_of_one_is_not_dumped() {
    let folder = folder(ORDINARY);
    let key = folder.path().join("key");
    fs::write(&key, "correct horse battery\n").unwrap();
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    std::os::unix::fs::chown(&key, Some(ORDINARY), Some(ORDINARY)).unwrap();
    let program = |line: &str, user: u32| {
        let mut command = Command::new(folder.path().join("jumbolab"));
        command.args(line.split(' ')).uid(user).gid(user);
        command.current_dir(folder.path()).stdin(Stdio::null());
        command
    };
    let gateway = "gateway --peer 192.0.2.2 --local 192.0.2.1 --check --private-key-file key --public-key 3p7bfXt9wbTTW2HC7OQ1Nz+DQ8hbeGdNrfx+FG+IK08=";
    for line in [
        "recv --port 0 --secret-file key",
        "send ::1 --secret-file key",
        gateway,
    ] {
        let output = program(line, 0).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        let right = "it belongs to another user; type: chown root key; chmod 600 key";
        assert!(said.contains(right), "{line}: {said}");
        assert_eq!(output.status.code(), Some(2), "{line}: {said}");
    }
    // The files of a process below /proc are root's if it is not dumped [prctl(2)].
    for (options, owner) in [("--secret-file key", 0), ("--open", ORDINARY)] {
        let mut receiver = program(&format!("recv --port 0 {options}"), ORDINARY);
        let mut receiver = receiver.stderr(Stdio::piped()).spawn().unwrap();
        let mut said = BufReader::new(receiver.stderr.take().unwrap()).lines();
        said.next().unwrap().unwrap();
        let found = fs::metadata(format!("/proc/{}/mem", receiver.id())).unwrap();
        receiver.kill().unwrap();
        receiver.wait().unwrap();
        assert_eq!(found.uid(), owner, "{options}");
    }
}

/// A mix of one to four flows of D-ITG for half a second, by the bits of `seed`.
fn mix_of_ditg(seed: u64) -> String {
    let gaps = ["-C 200", "-E 300", "-U 100 400", "-N 250 20", "-O 150"];
    let sizes = ["-c 300", "-u 100 900", "-e 500", "-n 600 50", "-o 400"];
    let draw = |number: u64, below: usize| {
        let mixed = (seed * 4 + number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33;
        usize::try_from(mixed).unwrap() % below
    };
    let flows = 1 + draw(0, 4);
    let flow = |number: usize| {
        let with = |what: u64| number as u64 * 3 + what + 1;
        let (gap, size) = (
            gaps[draw(with(0), gaps.len())],
            sizes[draw(with(1), sizes.len())],
        );
        let protocol = ["UDP", "TCP"][draw(with(2), 2)];
        let port = 10_001 + number;
        format!("-a 127.0.0.1 -rp {port} -T {protocol} {gap} {size} -t 500\n")
    };
    (0..flows).map(flow).collect()
}

/// Sends a mix between D-ITG's programs in a network of their own, where every tenth datagram is
/// lost, and keeps the logs of both ends. It repeats what the machine did not let begin.
const DITG: &str = "
ip link set lo up
nft -f - <<'NFT'
table inet loss {
 chain input {
  type filter hook input priority 0
  udp dport 10001-10004 numgen random mod 10 < 1 drop
 }
}
NFT
for try in $(seq 200); do
    rm -f r.log s.log
    timeout -s INT 30 ITGRecv -l r.log & receiver=$!
    until ss -Hltn 'sport = 9000' | grep -q . || ! kill -0 $receiver; do :; done
    ITGSend mix -l s.log && sent=yes || sent=
    kill -INT $receiver
    wait $receiver || true
    [ -z \"$sent\" ] || [ ! -s r.log ] || exit 0
done
exit 1
";

/// A mix of one to four flows of ours for half a second, by the bits of `seed`.
fn mix_of_ours(seed: u64) -> String {
    let gaps = [
        "5ms",
        "exponential:3ms",
        "uniform:2ms,10ms",
        "normal:4ms,1ms",
    ];
    let sizes = ["300", "uniform:300,900", "exponential:500", "normal:600,50"];
    let draw = |number: u64, below: usize| {
        let mixed = (seed * 16 + number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33;
        usize::try_from(mixed).unwrap() % below
    };
    let flow = |number: u64| {
        let protocol = ["udp", "tcp"][draw(3 * number + 1, 2)];
        let gap = gaps[draw(3 * number + 2, gaps.len())];
        let size = sizes[draw(3 * number + 3, sizes.len())];
        format!(
            "[flows.f{number}]\nprotocol = \"{protocol}\"\ngap = \"{gap}\"\nmessage = \"{size}\"\n"
        )
    };
    (0..1 + draw(0, 4) as u64).map(flow).collect()
}

/// Sends a mix of ours likewise, and keeps the logs of both ends. The control messages of the
/// program are not lost: they are short.
const OURS: &str = "
ip link set lo up
nft -f - <<'NFT'
table inet loss {
 chain input {
  type filter hook input priority 0
  meta l4proto udp meta length > 200 numgen random mod 10 < 1 drop
 }
}
NFT
$JUMBOLAB recv --listen 127.0.0.1 --port 7999 --open --packet-log-dir logs --once & receiver=$!
until ss -Hltn 'sport = 7999' | grep -q . || ! kill -0 $receiver; do :; done
$JUMBOLAB send 127.0.0.1 --port 7999 --flow-file mix --duration 500ms --packet-log s.jlog
wait $receiver
mv logs/*.jlog r.jlog
";

/// The figures of each flow and of all, as `label = figure` by the heading above them.
fn figures_of_ditg(text: &str) -> Vec<(String, String)> {
    let mut about = String::new();
    let mut figures = Vec::new();
    for line in text.lines() {
        let number = line
            .strip_prefix("Flow number:")
            .or_else(|| line.strip_prefix("flow "));
        if let Some(number) = number {
            let number = number.split_whitespace().next();
            about = format!("flow {}", number.unwrap_or_default());
        } else if line.contains("TOTAL RESULTS") || line == "all flows" {
            about = "all".to_owned();
        } else if let Some((label, figure)) = line.split_once('=') {
            let figure = figure.split_whitespace().collect::<Vec<_>>().join(" ");
            figures.push((format!("{about}: {}", label.trim()), figure));
        }
    }
    // Of one flow we print no sum. D-ITG counts wrong lines and flows, too, and prints a burst of
    // none as an integer.
    let has_one = !figures.iter().any(|(label, _)| label.starts_with("flow 2"));
    figures.retain(|(label, _)| !label.ends_with("Number of flows"));
    figures.retain(|(label, _)| !has_one || !label.starts_with("all"));
    let is_none = |figure: &str| ["0 pkt", "0.000000 pkt", "0 (0.00 %)"].contains(&figure);
    figures.retain(|(label, figure)| !label.ends_with("Error lines") && !is_none(figure));
    figures.sort();
    figures
}

/// Whether two figures are the same; the last digit of a quotient may differ by one, because the
/// real decoder takes times of day as floating-point numbers, which are exact to 10 ps.
fn is_same_figure(one: &(String, String), other: &(String, String)) -> bool {
    let number = |figure: &str| {
        figure
            .split(' ')
            .next()
            .and_then(|it| it.parse::<f64>().ok())
    };
    let close = match (number(&one.1), number(&other.1)) {
        (Some(one), Some(other)) => (one - other).abs() < 1.5e-6 + 1e-9 * one,
        _ => false,
    };
    let is_quotient = ["delay", "jitter", "deviation", "bitrate", "packet rate"]
        .iter()
        .any(|it| one.0.ends_with(it));
    one == other || one.0 == other.0 && is_quotient && close
}

/// `JUMBOLAB_DITG_MIXES` is the number of mixes.
fn mixes_of_ditg() -> std::ops::Range<u64> {
    let mixes = std::env::var("JUMBOLAB_DITG_MIXES").ok();
    0..mixes.map_or(2, |mixes| mixes.parse().unwrap())
}

/// The output of a program in a folder with a mix of flows.
fn inside(folder: &TempDir, program: &str, words: &[&str]) -> String {
    let mut command = Command::new(program);
    let command = command.args(words).current_dir(folder.path());
    let command = command.env("JUMBOLAB", env!("CARGO_BIN_EXE_jumbolab"));
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{program} {words:?}: {output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Asserts that our figures of the log `ours` are those of the real decoder of `theirs`.
#[track_caller]
fn compare_with_ditg(folder: &TempDir, ours: &str, theirs: &[&str], mix: &str) {
    let expected = figures_of_ditg(&inside(folder, "ITGDec", theirs));
    let words = ["decode", ours, "--definitions", "ditg", "--by-flow"];
    let mut text = inside(folder, env!("CARGO_BIN_EXE_jumbolab"), &words);
    if ours.ends_with(".jlog") {
        // Numbers of D-ITG begin with one.
        for number in (0..4).rev() {
            text = text.replace(
                &format!("\nflow {number} "),
                &format!("\nflow {} ", number + 1),
            );
        }
    }
    let found = figures_of_ditg(&text);
    assert!(!found.is_empty());
    let mut pairs = found.iter().zip(&expected);
    let same =
        found.len() == expected.len() && pairs.all(|(one, other)| is_same_figure(one, other));
    assert!(
        same,
        "{ours} of\n{mix}: {found:#?} instead of {expected:#?}"
    );
}

#[test]
fn logs_of_the_real_d_itg_have_the_figures_of_its_decoder() {
    for seed in mixes_of_ditg() {
        let folder = TempDir::new().unwrap();
        let mix = mix_of_ditg(seed);
        fs::write(folder.path().join("mix"), &mix).unwrap();
        inside(&folder, "unshare", &["-n", "bash", "-e", "-c", DITG]);
        inside(&folder, "ITGDec", &["r.log", "-l", "r.txt"]);
        compare_with_ditg(&folder, "r.log", &["r.log"], &mix);
        compare_with_ditg(&folder, "s.log", &["s.log"], &mix);
        compare_with_ditg(&folder, "r.txt", &["r.txt", "-t"], &mix);
    }
}

/// A log in D-ITG's binary format: packets of 100 bytes with these numbers, a second apart.
fn log_of_ditg(numbers: &[u64]) -> Vec<u8> {
    let address = *b"127.0.0.1";
    let mut log = Vec::new();
    for (second, number) in numbers.iter().enumerate() {
        for word in [1, *number, 1000, 2000, 10, 0, 10, 0, 100] {
            log.extend(&word.to_le_bytes()[..4]);
        }
        for _ in 0..2 {
            log.extend(address);
            log.extend([0; 46 - 9]);
        }
        for time in [second as f64, second as f64 + 0.25] {
            log.extend(time.to_le_bytes());
        }
    }
    log
}

#[test]
fn losses_in_any_order_are_those_of_the_real_decoder() {
    for seed in 0..40_u64 {
        // Seven of ten of up to twelve packets come, some later than the one after them.
        let draw = |number: u64| (seed * 64 + number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33;
        let mut numbers: Vec<_> = (1..3 + draw(0) % 10)
            .filter(|it| draw(*it) % 10 < 7)
            .collect();
        for place in 1..numbers.len() {
            if draw(20 + place as u64) % 4 == 0 {
                numbers.swap(place - 1, place);
            }
        }
        if !numbers.is_empty() {
            let folder = TempDir::new().unwrap();
            fs::write(folder.path().join("l.log"), log_of_ditg(&numbers)).unwrap();
            compare_with_ditg(&folder, "l.log", &["l.log"], &format!("{numbers:?}"));
        }
    }
}

#[test]
fn logs_of_ours_have_their_figures_in_the_decoder_of_the_real_d_itg() {
    for seed in mixes_of_ditg() {
        let folder = TempDir::new().unwrap();
        let mix = mix_of_ours(seed);
        fs::write(folder.path().join("mix"), &mix).unwrap();
        inside(&folder, "unshare", &["-n", "bash", "-e", "-c", OURS]);
        for end in ["r", "s"] {
            let (ours, theirs) = (format!("{end}.jlog"), format!("{end}.dat"));
            let words = ["decode", &ours, "--ditg-log", &theirs];
            inside(&folder, env!("CARGO_BIN_EXE_jumbolab"), &words);
            compare_with_ditg(&folder, &ours, &[&theirs], &mix);
            compare_with_ditg(&folder, &theirs, &[&theirs], &mix);
        }
    }
}
