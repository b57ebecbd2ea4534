//! Logs between this program and the real D-ITG: the figures of both decoders are the same.

use std::fs;
use std::process::{Command, Stdio};

use tempfile::TempDir;
use wire::log::ditg::DitgRecord;

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

/// A log of D-ITG: packets of 100 bytes with these numbers, a second apart.
fn log_of_ditg(numbers: &[u32]) -> Vec<u8> {
    let packets = numbers.iter().zip(0_u64..).map(|(number, second)| {
        let record = DitgRecord {
            flow: 1,
            sequence: *number,
            source: "127.0.0.1:1000".parse().unwrap(),
            destination: "127.0.0.1:2000".parse().unwrap(),
            sent: second * 1_000_000_000,
            received: second * 1_000_000_000 + 250_000_000,
            size: 100,
        };
        record.emit()
    });
    packets.flatten().collect()
}

#[test]
fn losses_in_any_order_are_those_of_the_real_decoder() {
    for seed in 0..40_u32 {
        // Seven of ten of up to twelve packets come, some later than the one after them.
        let draw = |number: u32| (seed * 64 + number + 1).wrapping_mul(0x9e37_79b9) >> 16;
        let mut numbers: Vec<_> = (1..3 + draw(0) % 10)
            .filter(|it| draw(*it) % 10 < 7)
            .collect();
        for (place, number) in (1..numbers.len()).zip(20..) {
            if draw(number) % 4 == 0 {
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
