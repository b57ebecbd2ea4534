//! Compares a TCP download over a core of 1500 bytes: through gateways with an MTU of 1500
//! and of 9000 inside, without a gateway, and with IP fragmentation of 9000:
//!
//!     cargo bench -p jumbolab --bench cutting -- 5 plain fragments gateway
//!
//! The arguments are the number of rounds, and systems or parts of their names. It needs
//! iproute2 and iperf3. Every system has the same link between the gateways: `jumbolab
//! emulate`, which drops 0, 0.1 and 1 % of the frames of each direction. Hosts send without
//! segmentation offload, so that each packet costs what it would cost a router. A run of one
//! system takes about seven seconds.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program of its own"
)]

#[path = "../shared/asked.rs"]
mod asked;
#[path = "../shared/machine.rs"]
mod machine;
#[path = "../shared/statistics.rs"]
mod statistics;

use std::process::{Command, ExitCode, Stdio};

use asked::Asked;
use statistics::{median, sorted};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Rounds, in each of which every system runs once with each loss.
const ROUNDS: usize = 5;

/// Seconds of a download.
const SECONDS: u32 = 5;

/// Shares of lost frames, as `jumbolab emulate` reads them.
const LOSSES: [&str; 3] = ["0%", "0.1%", "1%"];

/// A system: its name, the MTU of the hosts, and the script that starts it.
const SYSTEMS: [(&str, u32, &str); 4] = [
    ("plain-1500", 1_500, PLAIN),
    ("fragments-9000", 9_000, FRAGMENTS),
    ("gateway-1500", 1_500, GATEWAYS),
    ("gateway-9000", 9_000, GATEWAYS),
];

/// Forwarding by the kernels.
const PLAIN: &str = "
forwarding
ip -n ga route add 10.2.0.0/24 via 192.0.2.2
ip -n gb route add 10.1.0.0/24 via 192.0.2.1
";

/// The same with packets that routers may fragment.
const FRAGMENTS: &str = "
forwarding
for node in a b; do set_in $node net.ipv4.ip_no_pmtu_disc=1; done
ip -n ga route add 10.2.0.0/24 via 192.0.2.2
ip -n gb route add 10.1.0.0/24 via 192.0.2.1
";

/// `jumbolab gateway` with packet sockets.
const GATEWAYS: &str = "
begin ga --inside-interface in --mtu 1500 --local 192.0.2.1 --peer 192.0.2.2 --prefix 10.2.0.0/24
begin gb --inside-interface in --mtu 1500 --local 192.0.2.2 --peer 192.0.2.1 --prefix 10.1.0.0/24
";

/// The bed of the gateway's tests with an emulated link between the gateways.
const LINK: &str = r#"
for link in 'a eth0' 'ga in' 'gb in' 'b eth0'; do
    set -- $link
    ip -n $1 link set $2 mtu $HOSTS gso_max_segs 1
done
for end in west east; do
    ip -n c address flush dev $end
    ip -n c link set $end mtu 1500
done
for node in ga gb; do ip -n $node link set out mtu 1500; done
ip -n gb address flush dev out
address gb out 192.0.2.2/24
in_node c "$JUMBOLAB" emulate --between west east --delay 1ms --buffer 4MB --loss "$LOSS" >/dev/null 2>&1 &
"#;

/// Downloads from b to a. Prints bits per second, and the processor time of the machine in
/// seconds.
const DOWNLOAD: &str = r#"
in_node a ping -q -c 3 -i 0.1 -w 10 10.2.0.2 >/dev/null
serve_iperf3 b
busy() { awk '/^cpu / { print $2 + $3 + $4 + $7 + $8 }' /proc/stat; }
before=$(busy)
in_node a iperf3 -c 10.2.0.2 -p $iperf3_port -t "$SECONDS" -R --json >downloaded
after=$(busy)
bits=$(awk '/"sum_received"/ { sum = 1 } sum && /bits_per_second/ { gsub("[^0-9.e+]", "", $2); print $2; exit }' downloaded)
echo "download $bits $(((after - before) * 10))"
"#;

/// The result of a run.
#[derive(Clone, Copy)]
struct Outcome {
    /// Goodput in Mbit/s.
    goodput: f64,
    /// Processor time of the machine in milliseconds for each Mbit.
    cost: f64,
}

fn main() -> ExitCode {
    match compare() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn compare() -> Result<()> {
    let Asked { rounds, names } = Asked::read(ROUNDS, &SYSTEMS.map(|(name, ..)| name))?;
    println!("{}", machine::machine());
    let cells = SYSTEMS
        .into_iter()
        .flat_map(|system| LOSSES.map(|loss| (system, loss)));
    let cells: Vec<_> = cells
        .filter(|((name, ..), _)| names.contains(name))
        .collect();
    let mut outcomes = vec![Vec::new(); cells.len()];
    for round in 0..rounds {
        // Every other round is in reverse order, so that no system always follows the
        // same one.
        let mut turn: Vec<usize> = (0..cells.len()).collect();
        if round % 2 == 1 {
            turn.reverse();
        }
        for place in turn {
            let ((name, mtu, script), loss) = cells[place];
            match run(mtu, script, loss) {
                Ok(outcome) => outcomes[place].push(outcome),
                Err(error) => eprintln!("{name}, loss {loss}: {error}"),
            }
        }
    }
    println!("\n| system | loss | goodput, Mbit/s | CPU ms per Mbit | runs |");
    println!("|---|---|---|---|---|");
    for (((name, ..), loss), outcomes) in cells.iter().zip(&outcomes) {
        let goodput = cell(outcomes.iter().map(|outcome| outcome.goodput), 0);
        let cost = cell(outcomes.iter().map(|outcome| outcome.cost), 2);
        println!(
            "| {name} | {loss} | {goodput} | {cost} | {} |",
            outcomes.len()
        );
    }
    Ok(())
}

/// The median of `values` with their range.
fn cell(values: impl Iterator<Item = f64>, digits: usize) -> String {
    let values = sorted(values);
    match values[..] {
        [] => "-".to_owned(),
        [only] => format!("{only:.digits$}"),
        [least, .., most] => {
            let middle = median(&values);
            format!("{middle:.digits$} ({least:.digits$} to {most:.digits$})")
        }
    }
}

/// A download in namespaces of its own.
fn run(mtu: u32, script: &str, loss: &str) -> Result<Outcome> {
    let folder = tempfile::tempdir()?;
    let bed = include_str!("../../tests/gateway/bed.sh");
    let script = [bed, LINK, script, DOWNLOAD].concat();
    let output = Command::new("unshare")
        .args(["-Urnmp", "--kill-child", "--fork", "--mount-proc"])
        .args(["timeout", "60", "sh", "-c", &script])
        .current_dir(folder.path())
        .env("JUMBOLAB", env!("CARGO_BIN_EXE_jumbolab"))
        .env("HOSTS", mtu.to_string())
        .env("LOSS", loss)
        .env("SECONDS", SECONDS.to_string())
        .stdin(Stdio::null())
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let words = printed
        .lines()
        .find_map(|line| line.strip_prefix("download "));
    let (bits, millis) = words
        .and_then(|words| words.split_once(' '))
        .ok_or_else(|| format!("no result: {printed}"))?;
    let (bits, millis): (f64, f64) = (bits.parse()?, millis.parse()?);
    let goodput = bits / 1e6;
    Ok(Outcome {
        goodput,
        cost: millis / (goodput * f64::from(SECONDS)),
    })
}
