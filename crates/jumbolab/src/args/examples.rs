//! The examples at the end of each command's help.

use super::Build;

/// A line to type.
pub(crate) struct Example {
    /// Its purpose, in one line.
    pub(crate) purpose: &'static str,
    pub(crate) line: &'static str,
    /// Whether the command is there without Linux, and the example is not.
    needs_linux: bool,
}

#[cfg(test)]
impl Example {
    /// The arguments of the program, split as a shell splits them.
    pub(crate) fn parse(&self) -> super::Args {
        use clap::FromArgMatches as _;

        let typed = self.line.split(['>', '|']).next().unwrap_or_default();
        let script = format!("printf '%s\\0' {typed}");
        let mut shell = std::process::Command::new("sh");
        let output = shell.args(["-c", &script]).output().unwrap();
        assert!(output.status.success(), "{typed}");
        let words = String::from_utf8(output.stdout).unwrap();
        let words = words.split_terminator('\0');
        let matches = super::command().try_get_matches_from(words);
        let matches = matches.unwrap_or_else(|error| panic!("{typed}: {error}"));
        super::Args::from_arg_matches(&matches).unwrap()
    }
}

/// The examples of a command, by its name; those of no command are for who types none.
pub(crate) fn examples_of(command: &str) -> Vec<&'static Example> {
    let of_command = EXAMPLES.iter().filter(|(name, _)| *name == command);
    let all = of_command.flat_map(|(_, examples)| *examples);
    let there = all.filter(|example| !example.needs_linux || Build::HERE.is_linux());
    there.collect()
}

pub(crate) const fn example(purpose: &'static str, line: &'static str) -> Example {
    Example {
        purpose,
        line,
        needs_linux: false,
    }
}

/// An example of a command that is there without Linux, too.
const fn on_linux(purpose: &'static str, line: &'static str) -> Example {
    Example {
        needs_linux: true,
        ..example(purpose, line)
    }
}

const EXAMPLES: &[(&str, &[Example])] = &[
    (
        "",
        &[
            example(
                "Which packets a path supports",
                "jumbolab probe 192.0.2.1 --max-mtu 9000",
            ),
            on_linux(
                "What jumbo frames would gain on this machine",
                "jumbolab run jumbo-frames",
            ),
            example(
                "Whether published results can be reproduced",
                "jumbolab claims",
            ),
        ],
    ),
    (
        "list",
        &[example(
            "Name and title of every shipped experiment",
            "jumbolab list",
        )],
    ),
    (
        "show",
        &[
            example(
                "Read an experiment, its comments and its short names",
                "jumbolab show os-comparison",
            ),
            example(
                "Start an experiment of your own from it",
                "jumbolab show os-comparison --template > my.toml",
            ),
        ],
    ),
    (
        "run",
        &[
            on_linux(
                "Measure two MTUs at 100 Mbit/s, five trials each",
                "jumbolab run os-comparison --set mtu=1500,9000 --set rate=100mbit --repeat 5",
            ),
            example(
                "Simulate a shipped experiment",
                "jumbolab run mtu-and-queues --on sim",
            ),
            example(
                "Write an experiment of your own",
                "jumbolab run --template > my.toml",
            ),
            example(
                "Pass recorded frames through another queue",
                "jumbolab run replay --recording frames.csv --set queue=codel",
            ),
        ],
    ),
    (
        "sensitivity",
        &[
            example(
                "Search the settings that a paper does not state for ten minutes",
                "jumbolab sensitivity aqm-congestion",
            ),
            example(
                "Search 20000 trials with one TCP, two at a time",
                "jumbolab sensitivity aqm-congestion --set tcp=reno --max-trials 20000 --threads 2",
            ),
        ],
    ),
    (
        "claims",
        &[
            example("All claims of a paper", "jumbolab claims egan"),
            example(
                "All that is known of one claim",
                "jumbolab claims mred-drop",
            ),
        ],
    ),
    (
        "report",
        &[
            example(
                "Print a report again",
                "jumbolab report results/os-comparison-1a2b3c4d",
            ),
            example("Compare two runs", "jumbolab report before after"),
            example(
                "Export all trials",
                "jumbolab report before --csv > trials.csv",
            ),
        ],
    ),
    (
        "shell",
        &[
            example(
                "Open a shell in the sender",
                "jumbolab shell os-comparison sender --set mtu=9000",
            ),
            example(
                "Run iperf3 from the sender to the receiver",
                "jumbolab shell os-comparison sender --with receiver=\"iperf3 -s\" -- iperf3 -c {receiver} -t 2",
            ),
        ],
    ),
    (
        "predict",
        &[
            example(
                "Frames and time of a file at three MTUs",
                "jumbolab predict --file photo.png",
            ),
            example(
                "The same of 5 MB over two links with a switch between them",
                "jumbolab predict --size 5MB --rate 10gbit --hops 2",
            ),
            example(
                "What larger MTUs would bring to hosts measured at 1500",
                "jumbolab predict --from results/host-costs-1a2b3c4d --mtu 4000,9000",
            ),
            example(
                "A table of single figures, fitted at MTU 1500 alone",
                "jumbolab predict --from study.csv --fit-max-mtu 1500 --rate 1gbit --spread 2%",
            ),
        ],
    ),
    (
        "predict wait",
        &[
            example(
                "Waits behind full packets at two MTUs",
                "jumbolab predict wait --rate 1gbit --load 30%,70% --mtu 1500,9000",
            ),
            example(
                "Behind the packets of web traffic",
                "jumbolab predict wait --traffic-mix web",
            ),
        ],
    ),
    (
        "predict bundle",
        &[
            example(
                "Bytes that bundles of two and six packets add or save",
                "jumbolab predict bundle --packets-per-bundle 2,6",
            ),
            example(
                "Waits for a timer of 500 us",
                "jumbolab predict bundle --max-wait 500us --arrivals 2000,20000",
            ),
        ],
    ),
    (
        "predict overhead",
        &[
            example(
                "TCP with timestamps over IPv6 and Ethernet",
                "jumbolab predict overhead --headers eth,ipv6,tcp+ts --mtu 1500,4000,9000",
            ),
            example(
                "The MTU that VXLAN leaves to the packets in it",
                "jumbolab predict overhead --headers eth,vlan,ipv4,udp,vxlan,eth,ipv6,tcp --mtu 1500,9216",
            ),
            example(
                "An IPsec tunnel with AES-CBC, drawn for MTUs up to 9216",
                "jumbolab predict overhead --headers eth,ipv4,esp+aes-cbc-sha256,ipv4,tcp+ts --plot esp.svg",
            ),
        ],
    ),
    (
        "predict limit",
        &[
            example(
                "Packets per second and goodput of Gigabit Ethernet",
                "jumbolab predict limit --rate 1gbit",
            ),
            example(
                "Datagrams over IPv4 at two rates, as JSON Lines",
                "jumbolab predict limit --rate 10gbit,100gbit --headers eth,ipv4,udp --json",
            ),
        ],
    ),
    (
        "predict optimal",
        &[
            example(
                "A long path that loses packets and bits",
                "jumbolab predict optimal --bit-error-rate 1e-6 --loss 0.1% --rtt 20ms",
            ),
            example(
                "Blocks of NFS on a link with errors, drawn",
                "jumbolab predict optimal --bit-error-rate 1e-7 --traffic-mix nfs --plot nfs.svg",
            ),
        ],
    ),
    (
        "predict arithmetic",
        &[
            example(
                "What the papers compute, and what is exact",
                "jumbolab predict arithmetic",
            ),
            example("One paper", "jumbolab predict arithmetic 2019"),
        ],
    ),
    (
        "probe",
        &[
            example(
                "Which packets the path to a host delivers, up to the MTU of the interface",
                "jumbolab probe 192.0.2.1",
            ),
            example(
                "Whether a path supports jumbo frames, over IPv6 and for TCP to an open port",
                "jumbolab probe host.example --max-mtu 9000 -6 --port 22",
            ),
            on_linux(
                "Which packets reach a web server and come back, by its TCP connections and without root",
                "jumbolab probe https://host.example",
            ),
            example(
                "The result as JSON Lines",
                "jumbolab probe 192.0.2.1 --protocol icmp,udp --json",
            ),
            on_linux(
                "The paths between all hosts of a file, and the odd host among them",
                "jumbolab probe --mesh hosts.txt --max-mtu 9000",
            ),
            on_linux(
                "What a change did to them: before.json has the output of --json before it",
                "jumbolab probe --mesh hosts.txt --compare before.json",
            ),
            on_linux(
                "The MTUs of all interfaces and routes of this host, without a packet",
                "jumbolab probe --self",
            ),
        ],
    ),
    (
        "emulate",
        &[
            example(
                "An asymmetric access link",
                "jumbolab emulate --between eth1 eth2 --rate 20mbit --delay 15ms --reverse-option rate=2mbit",
            ),
            example(
                "A CoDel queue, with the outcome of every frame recorded",
                "jumbolab emulate --between eth1 eth2 --rate 10mbit --queue codel --record frames.csv --duration 60",
            ),
        ],
    ),
    (
        "gateway",
        &[
            example(
                "Print a configuration, and use it",
                "jumbolab gateway --template > gateway.toml",
            ),
            example(
                "Aggregator what hosts behind eth1 send to the networks of one peer",
                "jumbolab gateway --inside-interface eth1 --local 192.0.2.1 --peer 192.0.2.2 --prefix 10.2.0.0/16",
            ),
            example(
                "Take what the kernel routes, with the log in a file",
                "jumbolab gateway --config gateway.toml --log gateway.log",
            ),
        ],
    ),
    (
        "gateway init",
        &[example(
            "Begin on one gateway; the other one completes it with the key that this prints",
            "jumbolab gateway init --local fd00::1 --peer fd00::2 --local-prefix fd01::/64 --prefix fd02::/64",
        )],
    ),
    (
        "gateway keygen",
        &[
            example(
                "Create a key pair, and print the public key for the other gateway",
                "jumbolab gateway keygen gateway.key",
            ),
            example(
                "Create a key that both gateways share besides",
                "jumbolab gateway keygen --preshared west.psk",
            ),
        ],
    ),
    (
        "send",
        &[
            example(
                "1000 datagrams of 512 bytes per second, for 10 s",
                "jumbolab send 192.0.2.1 --secret-file key.txt",
            ),
            example(
                "Round trips of small messages, each sent when the one before is back",
                "jumbolab send ::1 --meter round-trip --message 64 --gap 0s",
            ),
            example(
                "Four flows from a host that runs `iperf3 -s`",
                "jumbolab send 192.0.2.1 --iperf3 --protocol tcp --flows 4 --reverse",
            ),
            example(
                "TCP with a given congestion control and segment size",
                "jumbolab send ::1 --protocol tcp --congestion cubic --mss 1428",
            ),
            example(
                "A Poisson process in random bursts",
                "jumbolab send ::1 --gap exponential:100us --on-time exponential:1s --off-time exponential:2s",
            ),
            example(
                "ICMP echo requests that must not be fragmented",
                "jumbolab send 192.0.2.1 --protocol icmp --message 1472 --pmtudisc do",
            ),
            example(
                "Flows from a file, with a packet log",
                "jumbolab send ::1 --flow-file flows.toml --duration 1min --packet-log sent.jlog",
            ),
            example(
                "One jumbogram over loopback",
                "jumbolab send --jumbogram --message 190000",
            ),
            example(
                "Latency, throughput and processor time of jumbograms",
                "jumbolab send --jumbogram --message 190000 --duration 1s",
            ),
        ],
    ),
    (
        "recv",
        &[
            example("Serve senders on this machine", "jumbolab recv"),
            example(
                "Serve senders that know the secret in key.txt",
                "jumbolab recv --listen 192.0.2.1 --secret-file key.txt",
            ),
            example(
                "Serve one session and print it as JSON",
                "jumbolab recv --once --json",
            ),
            example(
                "Run tests with clients of iperf3 on other hosts",
                "jumbolab recv --iperf3 --open --listen 192.0.2.1",
            ),
            example(
                "Receive jumbograms from any host",
                "jumbolab recv --jumbogram --open",
            ),
        ],
    ),
    (
        "decode",
        &[
            example("Print one page per log", "jumbolab decode received.jlog"),
            example(
                "Add a row per flow and per second, as CSV",
                "jumbolab decode received.jlog --by-flow --interval 1s --csv",
            ),
            example(
                "Print every packet, also the lost ones",
                "jumbolab decode sent.jlog received.jlog --packets",
            ),
            example(
                "Write a log for D-ITG's decoder",
                "jumbolab decode received.jlog --ditg-log received.dat",
            ),
        ],
    ),
    (
        "doctor",
        &[
            example("Check this machine", "jumbolab doctor"),
            on_linux(
                "Check two hosts for experiments between them",
                "jumbolab doctor user@a b",
            ),
        ],
    ),
    (
        "agent",
        &[example(
            "Serve runs that know a secret, on a host without ssh",
            "jumbolab agent --listen 192.0.2.2 --secret-file secret",
        )],
    ),
    (
        "completions",
        &[
            example(
                "Install for bash",
                "jumbolab completions bash > ~/.local/share/bash-completion/completions/jumbolab",
            ),
            example(
                "Install for fish",
                "jumbolab completions fish > ~/.config/fish/completions/jumbolab.fish",
            ),
        ],
    ),
    (
        "man",
        &[
            example("Read a page", "jumbolab man run | man -l -"),
            example(
                "Install all pages",
                "jumbolab man --dir ~/.local/share/man/man1",
            ),
        ],
    ),
];
