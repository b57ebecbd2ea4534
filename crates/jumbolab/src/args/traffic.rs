//! `send` and `recv` on the command line.

use std::net::IpAddr;
use std::path::PathBuf;

use keyfile::Section;

use super::{ELSEWHERE, Family, Jumbogram};

/// The default port of a receiver's control connections.
pub(crate) const PORT: u16 = 7770;

/// That of an iperf3 server, as an option's default.
const IPERF3_PORT: &str = "5201";

#[derive(Debug, clap::Args)]
#[command(after_help = RECV_NOTES)]
pub(crate) struct Recv {
    /// Use jumbograms: UDP datagrams, each as one IPv6 packet of any size.
    #[arg(long, hide = ELSEWHERE, conflicts_with_all = ["secret_file", "packet_log_dir", "interval", "json_stream", "no_reflector", "ipv4"])]
    pub(crate) jumbogram: bool,
    /// Stop after one session, after one complete jumbogram, or after one log.
    #[arg(long)]
    pub(crate) once: bool,
    /// The other end is iperf3: `send` runs a test with the `iperf3 -s` of HOST, `recv` answers clients of iperf3, one test at a time (see docs/guides/iperf3.md).
    #[arg(long, conflicts_with_all = ["jumbogram", "secret_file", "packet_log_dir", "no_reflector", "data_ports", "max_sessions", "max_flows", "max_busy_poll"])]
    pub(crate) iperf3: bool,

    /// Local address to listen on. Repeatable [default: 127.0.0.1 and ::1; with --open, all addresses].
    #[arg(long, value_name = "ADDRESS", help_heading = "Access")]
    pub(crate) listen: Vec<IpAddr>,
    #[command(flatten, next_help_heading = "Access")]
    pub(crate) family: Family,
    /// Port of the listening end [default: 7770; with --iperf3, 5201].
    #[arg(long, value_name = "PORT", default_value_if("iperf3", "true", IPERF3_PORT), default_value_t = PORT, hide_default_value = true, help_heading = "Access")]
    pub(crate) port: u16,
    /// Ports for the data of flows: one, or the first and the last, such as 7771-7779 [default: any, as the kernel or a sender chooses].
    #[arg(long, value_name = "PORT|FIRST-LAST", help_heading = "Access")]
    pub(crate) data_ports: Option<String>,
    /// File with the secret that both ends share; only its owner may have access to it.
    #[arg(long, value_name = "FILE", help_heading = "Access")]
    pub(crate) secret_file: Option<PathBuf>,
    /// Serve all senders, without a secret.
    #[arg(long, conflicts_with = "secret_file", help_heading = "Access")]
    pub(crate) open: bool,

    /// Do not reflect STAMP test packets (RFC 8762). They are answered over UDP on the same port, for any sender, at a limited rate.
    #[arg(long, help_heading = "Access")]
    pub(crate) no_reflector: bool,

    /// Maximum number of concurrent sessions.
    #[arg(
        long,
        value_name = "COUNT",
        default_value_t = 8,
        help_heading = "Limits"
    )]
    pub(crate) max_sessions: u16,
    /// Maximum number of flows in a session.
    #[arg(
        long,
        value_name = "COUNT",
        default_value_t = 64,
        help_heading = "Limits"
    )]
    pub(crate) max_flows: u16,
    /// Maximum number of flows, over all sessions, that may poll for messages (`send --busy-poll`). Each occupies a processor.
    #[arg(
        long,
        value_name = "COUNT",
        default_value_t = 0,
        help_heading = "Limits"
    )]
    pub(crate) max_busy_poll: u16,
    /// Maximum payload rate of each flow that the receiver sends (`send --reverse`); 0: it sends none [default: unlimited].
    #[arg(long, value_name = "BITS/S", help_heading = "Limits")]
    pub(crate) max_payload_rate: Option<String>,
    /// Maximum duration of a session.
    #[arg(
        long,
        value_name = "TIME",
        default_value = "1h",
        help_heading = "Limits"
    )]
    pub(crate) max_duration: String,

    /// Write a packet log of each session to this folder (see docs/reference/formats.md).
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub(crate) packet_log_dir: Option<PathBuf>,
    /// Send each packet log to a host with `recv --take-logs`, after the flows, and remove it here once it is stored there.
    #[arg(long, value_name = "HOST[:PORT]", requires_all = ["packet_log_dir", "secret_file"], help_heading = "Output")]
    pub(crate) log_to: Option<String>,
    /// Take packet logs of receivers with --log-to and the same secret, and store them in this folder. No traffic is received.
    #[arg(long, value_name = "DIR", requires = "secret_file", conflicts_with_all = ["jumbogram", "iperf3", "packet_log_dir", "data_ports", "no_reflector", "max_sessions", "max_flows", "max_busy_poll", "max_payload_rate", "max_duration", "interval", "json", "json_stream"], help_heading = "Output")]
    pub(crate) take_logs: Option<PathBuf>,
    /// Maximum size of all packet logs together. Each counts as 64 KiB at least.
    #[arg(
        long,
        value_name = "BYTES",
        default_value = "10GiB",
        help_heading = "Output"
    )]
    pub(crate) max_packet_log_size: String,
    /// Report each interval of this length; 0: none [default: 1s; with --json, none].
    #[arg(long, value_name = "TIME", help_heading = "Output")]
    pub(crate) interval: Option<String>,
    /// Print JSON Lines instead of text (see docs/reference/json.md).
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
    /// Print the JSON Lines of each interval while flows run, and then those of --json.
    #[arg(long, conflicts_with = "json", help_heading = "Output")]
    pub(crate) json_stream: bool,
}

#[derive(Debug, clap::Args)]
#[command(after_help = SEND_NOTES)]
pub(crate) struct Send {
    /// Name or address of the receiving host; of the flows in a file, those without `host`.
    #[arg(required_unless_present_any = ["jumbogram", "flow_file", "ditg_script"])]
    pub(crate) host: Option<String>,
    /// The other end is iperf3: `send` runs a test with the `iperf3 -s` of HOST, `recv` answers clients of iperf3, one test at a time (see docs/guides/iperf3.md).
    #[arg(long, conflicts_with_all = ["jumbogram", "secret_file", "flow_file", "ditg_script", "packet_log"], help_heading = "Connection")]
    pub(crate) iperf3: bool,

    /// Port of the listening end [default: 7770; with --iperf3, 5201].
    #[arg(long, value_name = "PORT", default_value_if("iperf3", "true", IPERF3_PORT), default_value_t = PORT, hide_default_value = true, help_heading = "Connection")]
    pub(crate) port: u16,
    #[command(flatten, next_help_heading = "Connection")]
    pub(crate) family: Family,
    /// File with the secret that both ends share; only its owner may have access to it.
    #[arg(long, value_name = "FILE", help_heading = "Connection")]
    pub(crate) secret_file: Option<PathBuf>,

    /// Read flows from the tables [flows.NAME] of a TOML file. Options apply to keys that a table does not set.
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with = "flows",
        help_heading = "Flows"
    )]
    pub(crate) flow_file: Option<PathBuf>,
    /// Read flows from a script of D-ITG: the options of ITGSend, a line for each flow.
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["flows", "flow_file"],
        help_heading = "Flows"
    )]
    pub(crate) ditg_script: Option<PathBuf>,
    /// Number of flows with the same options, each with its own random numbers.
    #[arg(
        long,
        value_name = "COUNT",
        default_value_t = 1,
        help_heading = "Flows"
    )]
    pub(crate) flows: u16,
    /// The receiver sends, and this end receives. All connections are opened from here. One-way flows only, and no echo requests.
    #[arg(long, conflicts_with = "bidir", help_heading = "Flows")]
    pub(crate) reverse: bool,
    /// Flows in both directions at the same time: each, and NAME-reverse.
    #[arg(long, help_heading = "Flows")]
    pub(crate) bidir: bool,
    /// Seed of the random numbers.
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = 1,
        help_heading = "Flows"
    )]
    pub(crate) seed: u64,

    #[command(flatten)]
    pub(crate) keys: FlowKeys,
    #[command(flatten)]
    pub(crate) jumbo: Jumbogram,

    /// Record every message in a new packet log (see docs/reference/formats.md).
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) packet_log: Option<PathBuf>,
    /// Report each interval of this length; 0: none [default: 1s; with --json, none].
    #[arg(long, value_name = "TIME", help_heading = "Output")]
    pub(crate) interval: Option<String>,
    /// Print JSON Lines instead of text (see docs/reference/json.md).
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
    /// Print the JSON Lines of each interval while flows run, and then those of --json.
    #[arg(long, conflicts_with = "json", help_heading = "Output")]
    pub(crate) json_stream: bool,
}

/// The options that are also keys of a flow in a file.
#[derive(Debug, clap::Args)]
pub(crate) struct FlowKeys {
    /// Traffic of an application: `telnet`, `dns`, `quake3`, `counter-strike-active`, `counter-strike-idle`, or a call with `voip-g711-1`, `voip-g711-2`, `voip-g729-2`, `voip-g729-3` or `voip-g723-1`, each also with `-crtp` (compressed headers) and `-vad` (no packets in pauses). Sets protocol, message, gap, on-time and off-time; those options replace parts of it.
    #[arg(long, value_name = "NAME", help_heading = TRAFFIC)]
    preset: Option<String>,
    /// Protocol to send: `icmp` (echo requests), `udp` or `tcp`; `send` also has `udplite` and `sctp`, on Linux [default: udp].
    #[arg(long, value_name = "PROTOCOL", help_heading = TRAFFIC)]
    protocol: Option<String>,
    /// Measurement: `one-way`, or `round-trip` (the receiver returns every message) [default: one-way].
    #[arg(long, value_name = "METER", help_heading = TRAFFIC)]
    meter: Option<String>,
    /// Message size, including the header of Jumbolab: a size or a distribution. The header has 28 bytes, and in shorter messages what fits; those below 10 bytes have no delay [default: 512; tcp: 128KiB].
    #[arg(long, value_name = "BYTES|DISTRIBUTION", help_heading = TRAFFIC)]
    pub(crate) message: Option<String>,
    /// File whose bytes the messages have behind their header, one message after the other, and from the start again after the end [default: zeros].
    #[arg(long, value_name = "FILE", help_heading = TRAFFIC)]
    payload: Option<String>,
    /// Time between messages: a time or a distribution. 0s sends as fast as possible; a round trip then starts when the one before has ended [default: 1ms; tcp: 0s].
    #[arg(long, value_name = "TIME|DISTRIBUTION", help_heading = TRAFFIC)]
    pub(crate) gap: Option<String>,
    /// Payload rate, with messages evenly spaced, for example 10mbit. Replaces --gap.
    #[arg(long, value_name = "BITS/S", conflicts_with = "gap", help_heading = TRAFFIC)]
    payload_rate: Option<String>,
    /// Send in bursts of this length: a time or a distribution.
    #[arg(long, value_name = "TIME|DISTRIBUTION", help_heading = TRAFFIC)]
    on_time: Option<String>,
    /// Pause between bursts: a time or a distribution.
    #[arg(long, value_name = "TIME|DISTRIBUTION", help_heading = TRAFFIC)]
    off_time: Option<String>,

    /// Start time, counted from when all flows are ready [default: 0s].
    #[arg(long, value_name = "TIME", help_heading = DURATION)]
    start: Option<String>,
    /// Leave the first part of the flow out of the results of both ends; --duration, --packets and --bytes count from its end [default: 0s].
    #[arg(long, value_name = "TIME", help_heading = DURATION)]
    omit: Option<String>,
    /// Stop after this time [default: 10s; with --packets or --bytes, unlimited].
    #[arg(long, value_name = "TIME", help_heading = DURATION)]
    pub(crate) duration: Option<String>,
    /// Stop time, counted as --start is. Replaces --duration.
    #[arg(long, value_name = "TIME", conflicts_with = "duration", help_heading = DURATION)]
    stop: Option<String>,
    /// Stop after this number of messages.
    #[arg(long, value_name = "COUNT", help_heading = DURATION)]
    pub(crate) packets: Option<String>,
    /// Stop after this amount of payload.
    #[arg(long, value_name = "BYTES", help_heading = DURATION)]
    bytes: Option<String>,

    /// Differentiated services code point: a number from 0 to 63, or a name such as EF, AF41 or CS1.
    #[arg(long, value_name = "DSCP", help_heading = SOCKET)]
    dscp: Option<String>,
    /// UDP and UDP-Lite: explicit congestion notification, the two bits below the code point: `not-ect`, `ect0`, `ect1` or `ce` [default: not-ect].
    #[arg(long, value_name = "ECN", help_heading = SOCKET)]
    ecn: Option<String>,
    /// IPv6: flow label of the packets that this end sends, a number of 20 bits such as 0x12345 [default: as the kernel chooses].
    #[arg(long, hide = ELSEWHERE, value_name = "LABEL", help_heading = SOCKET)]
    flow_label: Option<String>,
    /// Time to live (IPv4) or hop limit (IPv6).
    #[arg(long, value_name = "HOPS", help_heading = SOCKET)]
    ttl: Option<String>,
    /// Path MTU discovery by the kernel: `dont` (DF clear), `want` (DF set, large packets fragmented), `do` (DF set, large packets rejected), `probe` (DF set, known path MTU ignored) or `default` (system setting) [default: default].
    #[arg(long, value_name = "MODE", help_heading = SOCKET)]
    pmtudisc: Option<String>,
    /// Source address [default: as the kernel chooses].
    #[arg(long, value_name = "ADDRESS", help_heading = SOCKET)]
    source: Option<String>,
    /// Name or address of the receiver for the control connection, if the data go to another one of its addresses [default: HOST].
    #[arg(long, value_name = "HOST", help_heading = SOCKET)]
    control: Option<String>,
    /// Port of this end for the flow's data; with --flows, this and the following ones [default: as the kernel chooses].
    #[arg(long, value_name = "PORT", help_heading = SOCKET)]
    source_port: Option<String>,
    /// Port of the receiver for the flow's data; with --flows, this and the following ones. A receiver limits them with --data-ports [default: as the receiver chooses].
    #[arg(long, value_name = "PORT", help_heading = SOCKET)]
    destination_port: Option<String>,
    /// Outgoing interface [default: as the kernel routes].
    #[arg(long, hide = ELSEWHERE, value_name = "INTERFACE", help_heading = SOCKET)]
    interface: Option<String>,
    /// Send buffer [default: the kernel's].
    #[arg(long, value_name = "BYTES", help_heading = SOCKET)]
    send_buffer: Option<String>,
    /// Receive buffer of the receiver, at most 64 MiB [default: 16 MiB; tcp: the kernel's].
    #[arg(long, value_name = "BYTES", help_heading = SOCKET)]
    receive_buffer: Option<String>,
    /// Poll for messages at both ends instead of sleeping: lower latency, one processor busy at each end. The receiver needs --max-busy-poll.
    #[arg(long, help_heading = SOCKET)]
    busy_poll: bool,
    /// TCP and SCTP: enable Nagle's algorithm.
    #[arg(long, help_heading = SOCKET)]
    nagle: bool,
    /// UDP-Lite: bytes of each packet that the checksum covers, from its header of 8 bytes on; the receiver drops packets with a smaller coverage [default: 0, whole packets].
    #[arg(long, hide = ELSEWHERE, value_name = "BYTES", help_heading = SOCKET)]
    checksum_coverage: Option<String>,
    /// SCTP: streams of the association, from 1 to 1024, on which messages leave in turn [default: 1].
    #[arg(long, hide = ELSEWHERE, value_name = "COUNT", help_heading = SOCKET)]
    sctp_streams: Option<String>,
    /// SCTP: messages may overtake others of their stream.
    #[arg(long, hide = ELSEWHERE, help_heading = SOCKET)]
    unordered: bool,
    /// TCP: maximum segment size.
    #[arg(long, hide = ELSEWHERE, value_name = "BYTES", help_heading = SOCKET)]
    mss: Option<String>,
    /// TCP: congestion control, for example cubic.
    #[arg(long, hide = ELSEWHERE, value_name = "NAME", help_heading = SOCKET)]
    congestion: Option<String>,
    /// UDP: messages per system call, cut into datagrams by the kernel or the network card (GSO). Hosts then forward super-packets.
    #[arg(long, hide = ELSEWHERE, value_name = "COUNT", help_heading = SOCKET)]
    gso: Option<String>,
    /// UDP: let the receiver's kernel merge datagrams into super-packets (GRO).
    #[arg(long, hide = ELSEWHERE, help_heading = SOCKET)]
    gro: bool,
}

const TRAFFIC: &str = "Traffic (also keys of [flows.NAME], with underscores)";
const DURATION: &str = "Duration (also keys of [flows.NAME])";
const SOCKET: &str = "Socket (also keys of [flows.NAME], with underscores)";

impl FlowKeys {
    /// The outgoing interface.
    pub(crate) fn interface(&self) -> Option<&str> {
        self.interface.as_deref()
    }

    /// The options given, as the keys of a flow.
    pub(crate) fn typed(&self) -> Section {
        let mut keys = Section::default();
        for (key, value) in [
            ("preset", &self.preset),
            ("protocol", &self.protocol),
            ("meter", &self.meter),
            ("message", &self.message),
            ("payload", &self.payload),
            ("gap", &self.gap),
            ("payload_rate", &self.payload_rate),
            ("on_time", &self.on_time),
            ("off_time", &self.off_time),
            ("start", &self.start),
            ("omit", &self.omit),
            ("duration", &self.duration),
            ("stop", &self.stop),
            ("packets", &self.packets),
            ("bytes", &self.bytes),
            ("dscp", &self.dscp),
            ("ecn", &self.ecn),
            ("flow_label", &self.flow_label),
            ("ttl", &self.ttl),
            ("pmtudisc", &self.pmtudisc),
            ("source", &self.source),
            ("control", &self.control),
            ("source_port", &self.source_port),
            ("destination_port", &self.destination_port),
            ("interface", &self.interface),
            ("checksum_coverage", &self.checksum_coverage),
            ("sctp_streams", &self.sctp_streams),
            ("mss", &self.mss),
            ("congestion", &self.congestion),
            ("send_buffer", &self.send_buffer),
            ("receive_buffer", &self.receive_buffer),
            ("gso", &self.gso),
        ] {
            if let Some(value) = value {
                keys.option(key, value);
            }
        }
        for (key, set) in [
            ("nagle", self.nagle),
            ("unordered", self.unordered),
            ("gro", self.gro),
            ("busy_poll", self.busy_poll),
        ] {
            if set {
                keys.option(key, "on");
            }
        }
        keys
    }
}

/// The text of [`RECV_NOTES`] on every system.
macro_rules! recv_notes {
    () => {
        "Runs until Ctrl-C. Senders connect to the port of --port; flows use ports that the kernel chooses, or those of --data-ports. Without --secret-file and --open, only senders on this machine are served."
    };
}

const RECV_NOTES: &str = match ELSEWHERE {
    true => recv_notes!(),
    false => concat!(
        recv_notes!(),
        "\nWith --jumbogram, it receives from `send --jumbogram`, without access control."
    ),
};

/// The text of [`SEND_NOTES`] on every system.
macro_rules! send_notes {
    () => {
        "\
Distributions for --message, --gap, --on-time and --off-time (sizes like 1500 or 2kB, times like 1ms):
  constant:1500                the same value each time; also without the name
  uniform:40,1500              minimum and maximum
  exponential:500              mean; as gaps, a Poisson process
  normal:512,64                mean and standard deviation
  poisson:500, poisson:5ms     mean count; a time may name its unit: poisson:20ms,1ms
  pareto:1.5,40                shape and scale (the minimum)
  cauchy:500,50                median and scale
  gamma:2,250                  shape and scale
  weibull:0.8,500              shape and scale
  file:sizes.txt               a random line of a file with one value per line
  series:sizes.txt             the lines of a file in order, from the first one again after the last
  file:link.pcap, series:link.pcap
                               the sizes, or the gaps, of the IP packets in a capture (pcap, pcapng)
Negative values are never drawn. A message of a size that the protocol cannot carry is not sent,
and counted as rejected."
    };
}

const SEND_NOTES: &str = match ELSEWHERE {
    true => send_notes!(),
    false => concat!(
        "\
With --jumbogram, messages go to `recv --jumbogram` on HOST, or without HOST through namespaces of this machine;
--capture writes what arrives there, with --duration the first datagram only.
",
        send_notes!()
    ),
};

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser as _;

    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        send: Send,
    }

    #[test]
    fn the_port_of_iperf3_is_the_default_of_its_tests_alone() {
        for (words, port) in [
            (&["send", "h"][..], PORT),
            (&["send", "h", "--iperf3"], 5201),
            (&["send", "h", "--iperf3", "--port", "7"], 7),
        ] {
            let line = Line::try_parse_from(words).ok().unwrap();
            assert_eq!(line.send.port, port, "{words:?}");
        }
    }
}
