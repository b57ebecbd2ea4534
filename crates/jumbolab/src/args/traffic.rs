//! `send` and `recv` as they are typed.

use std::net::IpAddr;
use std::path::PathBuf;

use lab::flows::Keys;

use super::Jumbogram;

/// Where a receiver listens unless it is told otherwise.
pub(crate) const PORT: u16 = 7770;

#[derive(Debug, clap::Args)]
#[command(after_help = RECV_HELP)]
pub(crate) struct Recv {
    /// Listen on this address of the host; may be said again [default: 127.0.0.1 and ::1; with --open all].
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) bind: Vec<IpAddr>,
    /// The port of the control connections; those of flows are the kernel's choice [default: 7770].
    #[arg(long, value_name = "N", default_value_t = PORT, hide_default_value = true)]
    pub(crate) port: u16,
    /// Serve whoever knows the secret in this file, and nobody else.
    #[arg(long, value_name = "FILE")]
    pub(crate) secret: Option<PathBuf>,
    /// Serve anybody who reaches this host, without a secret.
    #[arg(long, conflicts_with = "secret")]
    pub(crate) open: bool,
    /// Receive what `send --jumbogram` sends, whoever sends it, and nothing else.
    #[arg(long, conflicts_with_all = ["secret", "log"])]
    pub(crate) jumbogram: bool,
    /// End after one session, or one jumbogram.
    #[arg(long)]
    pub(crate) once: bool,
    /// Sessions at a time, of senders that proved what they must know.
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub(crate) sessions: u16,
    /// Flows of a session.
    #[arg(long, value_name = "N", default_value_t = 64)]
    pub(crate) flows: u16,
    /// How long a session may last.
    #[arg(long, value_name = "TIME", default_value = "1h")]
    pub(crate) longest: String,

    /// Keep every message of every session in a packet log of its own, in a file of this folder (docs/formats.md).
    #[arg(long, value_name = "DIR")]
    pub(crate) log: Option<PathBuf>,
    /// One JSON object a flow instead of text (docs/formats.md).
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
#[command(after_help = SEND_HELP)]
pub(crate) struct Send {
    /// The host that receives, by name or address.
    #[arg(required_unless_present_any = ["jumbogram", "malformed"])]
    pub(crate) host: Option<String>,
    /// The control port of its `jumbolab recv`.
    #[arg(long, value_name = "N", default_value_t = PORT)]
    pub(crate) port: u16,
    /// Use IPv4.
    #[arg(short = '4', long, conflicts_with = "ipv6")]
    pub(crate) ipv4: bool,
    /// Use IPv6.
    #[arg(short = '6', long)]
    pub(crate) ipv6: bool,
    /// The secret of the receiver, in a file, because other users see command lines.
    #[arg(long, value_name = "FILE")]
    pub(crate) secret: Option<PathBuf>,
    /// Flows from the tables [flows.NAME] of a TOML file; options say what they do not.
    #[arg(long, value_name = "FILE", conflicts_with = "flows")]
    pub(crate) file: Option<PathBuf>,
    /// So many flows that are alike but for their luck.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) flows: u16,
    /// The seed of all chance.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Keep every message in a packet log, a new file (docs/formats.md).
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Option<PathBuf>,

    /// One JSON object a flow instead of text (docs/formats.md).
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) jumbo: Jumbogram,
    #[command(flatten)]
    pub(crate) keys: FlowKeys,
}

/// The options that are keys of a flow in a file too.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Flows (keys of [flows.NAME] too, with underscores)")]
pub(crate) struct FlowKeys {
    /// udp, tcp, or echo: ICMP echoes, for which no receiver is needed [default: udp].
    #[arg(long, value_name = "NAME")]
    protocol: Option<String>,
    /// one-way, or round-trip: the receiver sends every message back [default: one-way].
    #[arg(long, value_name = "HOW")]
    meter: Option<String>,
    /// Octets of a message, our header of 28 among them: a size or a law [default: 512; tcp: 128KiB].
    #[arg(long, value_name = "LAW")]
    message: Option<String>,
    /// Time from one message to the next: a time or a law; 0s for as fast as it goes, of round trips each once the one before is back [default: 1ms; tcp: 0s].
    #[arg(long, value_name = "LAW")]
    pub(crate) gap: Option<String>,
    /// Payload a second instead of a gap, e.g. 10mbit: messages leave evenly.
    #[arg(long, value_name = "RATE", conflicts_with = "gap")]
    rate: Option<String>,
    /// Send in bursts: how long each lasts, a time or a law.
    #[arg(long, value_name = "LAW")]
    on: Option<String>,
    /// How long it is silent between bursts.
    #[arg(long, value_name = "LAW")]
    off: Option<String>,
    /// When it begins, after all flows are ready [default: 0s].
    #[arg(long, value_name = "TIME")]
    start: Option<String>,
    /// How long it lasts [default: 10s, or for ever with --packets or --octets].
    #[arg(long = "for", value_name = "TIME")]
    pub(crate) length: Option<String>,
    /// When it stops, counted as --start is, instead of --for.
    #[arg(long, value_name = "TIME", conflicts_with = "length")]
    stop: Option<String>,
    /// End after so many messages.
    #[arg(long, value_name = "N")]
    pub(crate) packets: Option<String>,
    /// End after so much.
    #[arg(long, value_name = "SIZE")]
    octets: Option<String>,
    /// Differentiated services code point, 0 to 63.
    #[arg(long, value_name = "N")]
    dscp: Option<String>,
    /// Time to live, or hop limit.
    #[arg(long, value_name = "N")]
    ttl: Option<String>,
    /// What the kernel does about the path's MTU: dont (no DF), want (DF, fragments what is too big), do (DF, refuses it), probe (DF, whatever is known), machine [default: machine].
    #[arg(long, value_name = "HOW")]
    path_mtu: Option<String>,
    /// Send from this address.
    #[arg(long, value_name = "ADDRESS")]
    bind: Option<String>,
    /// Send through this interface.
    #[arg(long, value_name = "NAME")]
    device: Option<String>,
    /// Let Nagle's algorithm hold small messages back (tcp).
    #[arg(long)]
    nagle: bool,
    /// The most octets of a segment (tcp).
    #[arg(long, value_name = "N")]
    mss: Option<String>,
    /// Congestion control, e.g. cubic (tcp).
    #[arg(long, value_name = "NAME")]
    congestion: Option<String>,
    /// Send buffer [default: the kernel's choice].
    #[arg(long, value_name = "SIZE")]
    send_buffer: Option<String>,
    /// The receiver's buffer, at most 64 MiB [default: 16 MiB; tcp: the kernel's choice].
    #[arg(long, value_name = "SIZE")]
    receive_buffer: Option<String>,
    /// Hand over so many messages a call, which the kernel or the network card cuts: fewer calls, and bundles where others have packets (udp).
    #[arg(long, value_name = "N")]
    segmentation: Option<String>,
    /// Let the receiver's kernel merge datagrams: bundles arrive where others have packets (udp).
    #[arg(long)]
    merge: bool,
    /// Both ends ask for what comes without ever sleeping: quicker, and a processor each.
    #[arg(long)]
    busy: bool,
}

impl FlowKeys {
    /// What was typed, as a flow reads it.
    pub(crate) fn typed(&self) -> Keys {
        let mut keys = Keys::default();
        for (key, value) in [
            ("protocol", &self.protocol),
            ("meter", &self.meter),
            ("message", &self.message),
            ("gap", &self.gap),
            ("rate", &self.rate),
            ("on", &self.on),
            ("off", &self.off),
            ("start", &self.start),
            ("for", &self.length),
            ("stop", &self.stop),
            ("packets", &self.packets),
            ("octets", &self.octets),
            ("dscp", &self.dscp),
            ("ttl", &self.ttl),
            ("path_mtu", &self.path_mtu),
            ("bind", &self.bind),
            ("device", &self.device),
            ("mss", &self.mss),
            ("congestion", &self.congestion),
            ("send_buffer", &self.send_buffer),
            ("receive_buffer", &self.receive_buffer),
            ("segmentation", &self.segmentation),
        ] {
            if let Some(value) = value {
                keys.option(key, value.as_str());
            }
        }
        for (key, set) in [
            ("nagle", self.nagle),
            ("merge", self.merge),
            ("busy", self.busy),
        ] {
            if set {
                keys.option(key, "on");
            }
        }
        keys
    }
}

/// What the arguments alone do not say.
const RECV_HELP: &str = "\
Without --secret or --open only senders on this machine are served. Ctrl-C ends it.

  jumbolab recv                                        for this machine
  jumbolab recv --bind 192.0.2.1 --secret key.txt      for whoever knows what is in key.txt
  jumbolab recv --once --json                          one session, and what arrived as JSON
  jumbolab recv --jumbogram --open                     what `send --jumbogram` sends";

/// Likewise.
const SEND_HELP: &str = "\
Laws of --message, --gap, --on and --off (sizes in octets, 1500 or 2kB; times, 1ms):
  1500, constant:1500          always the same
  uniform:40,1500              from the least to the most
  exponential:500              by its mean; as gaps, a Poisson process
  normal:512,64                mean and standard deviation
  poisson:500, poisson:5ms     a count by its mean; a time may name the unit that is counted: poisson:20ms,1ms
  pareto:1.5,40                shape and scale, which is the least
  cauchy:500,50                median and scale
  gamma:2,250                  shape and scale
  weibull:0.8,500              shape and scale
  file:sizes.txt               one of the values in a file, one a line, all alike
Nothing is drawn below zero. A size that the protocol cannot carry is not sent, and counted as refused.

  jumbolab send 192.0.2.1 --secret key.txt             1000 datagrams of 512 octets a second, for 10 s
  jumbolab send ::1 --message 64 --gap 0s              as many small ones as it can
  jumbolab send ::1 --meter round-trip --message 64 --gap 0s --busy
  jumbolab send ::1 --protocol tcp --congestion cubic --mss 1428
  jumbolab send ::1 --gap exponential:100us --message uniform:40,1400 --on exponential:1s --off exponential:2s
  jumbolab send 192.0.2.1 --protocol echo --message 1472 --path-mtu do
  jumbolab send ::1 --file flows.toml --for 1min --log sent.jlog
  jumbolab send --jumbogram 190000                     one, over loopback of a namespace of its own
  jumbolab send --jumbogram 190000 --over router       as root: through a router
  jumbolab send --jumbogram 190000 --for 1s            how fast, how long, at what cost
  jumbolab send --malformed";
