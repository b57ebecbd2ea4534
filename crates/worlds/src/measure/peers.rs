//! Investigations by other probers: programs and the kernel's TCP.

mod ping;
mod scamper;
mod tracepath;

use std::net::IpAddr;

use os::clock;
use plan::command_line::joined;
use plan::setting::{Peer, Probe};
use plan::{Setting, evidence};
use traffic::driver::discovery::{TCP_STEP, Task};
use units::{Bytes, IpVersion, Seed, Span, Time};

use super::checks::flags_of_probe;
use super::command::{WHILE, attend, ended, left_until, not_started};
use super::disturbance::{Disturbance, StallMetering, watched};
use super::{End, Pair, Programs};
use crate::agent::Failure;
use crate::measurements::{Measurements, PeerAnswer, PeerLimit, PeerVerdict};
use ping::Bisection;

/// The most characters of a program's output that are kept as evidence.
const MOST_KEPT: usize = 8_000;

/// The hops after which programs that trace a path give up: twice those of a path of
/// five links, because each silent hop takes seconds.
const MOST_HOPS: &str = "8";

/// The question to a prober.
struct Question<'a> {
    setting: &'a Setting,
    probe: &'a Probe,
    to: IpAddr,
    deadline: Time,
}

/// The answer of a prober, and what it took.
struct Answered {
    answer: PeerAnswer,
    took: Span,
    /// Whether the time limit ended it.
    is_late: bool,
    /// The command line and the output of the last program.
    program: Option<(String, String)>,
    /// Connections and datagrams of unauthenticated peers at the far end.
    refused_peers: u64,
}

/// The end of a program.
struct Ran {
    output: String,
    is_late: bool,
}

/// Lets `peer` investigate the path. The random streams and the faults of its links begin
/// with the prober and derive from `seed`.
///
/// # Errors
/// [`Failure::Transfer`] if the program is missing or fails.
pub(super) fn peer(
    pair: &mut Pair<'_>,
    (setting, probe): (&Setting, &Probe),
    peer: Peer,
    seed: Seed,
) -> Result<Measurements, Failure> {
    if let Some((program, package)) = peer.program()
        && plan::command_line::is_missing(program)
    {
        return Err(Failure::Transfer(format!(
            "not run: no program `{program}`; apt-get install {package}"
        )));
    }
    let before = pair.meters.sent()?;
    let (answered, disturbance) = watched(pair, StallMetering::On, |pair| {
        pair.meters.restart_links(seed)?;
        let question = Question {
            setting,
            probe,
            to: pair.path.addresses.receiver,
            deadline: clock::monotonic() + probe.timeout,
        };
        question.put_to(peer, pair)
    })?;
    let sent = pair.meters.sent()?.since(before);
    // The CPU time of the programs is not known.
    let disturbance = Disturbance {
        ours: None,
        ..disturbance
    };
    disturbance.valid()?;

    let mut measurements = Measurements::default();
    let Answered { answer, took, .. } = &answered;
    measurements.put_peer((setting, probe), answer, &pair.path.routers, *took);
    measurements.put_sent(sent);
    measurements.flags = flags_of_probe(setting, &disturbance, &pair.path);
    measurements.take_disturbance(setting, &disturbance);
    measurements.judge(&disturbance);
    measurements.take_refused_peers(answered.refused_peers);
    measurements.note(evidence::ENDED_BY_TIME_LIMIT, answered.is_late);
    if let Some((command, output)) = answered.program {
        measurements.note(evidence::COMMAND, command);
        let kept: String = output.chars().take(MOST_KEPT).collect();
        measurements.note(evidence::OUTPUT, kept);
    }
    Ok(measurements)
}

impl Question<'_> {
    fn put_to(&self, peer: Peer, pair: &mut Pair<'_>) -> Result<Answered, Failure> {
        match peer {
            Peer::Tracepath => {
                let to = self.to.to_string();
                let words = ["tracepath", self.version(), "-n", "-m", MOST_HOPS, &to];
                let interface = self.interface_mtu();
                self.one_program(pair, &words, |text| tracepath::answer(text, interface))
            }
            Peer::Scamper => {
                let to = self.to.to_string();
                // Over IPv6 its probes of one flow are not answered by Linux.
                let method = match self.setting.network.ip {
                    IpVersion::V4 => "udp-paris",
                    IpVersion::V6 => "udp",
                };
                let trace = format!("trace -M -w 1 -m {MOST_HOPS} -P {method}");
                let words = ["scamper", "-c", &trace, "-i", &to];
                let interface = self.interface_mtu();
                self.one_program(pair, &words, |text| scamper::answer(text, interface))
            }
            Peer::Ping => self.bisection(pair),
            Peer::TcpMtuProbing => {
                pair.programs.probe_by_tcp()?;
                self.connection(pair)
            }
        }
    }

    /// The option for the version of IP.
    const fn version(&self) -> &'static str {
        match self.setting.network.ip {
            IpVersion::V4 => "-4",
            IpVersion::V6 => "-6",
        }
    }

    /// The MTU of the sender's interface.
    fn interface_mtu(&self) -> Bytes {
        let first = self.setting.network.links.first();
        first.map_or(self.probe.up_to, |link| link.mtu.bytes())
    }

    /// The answer in the output of one program.
    fn one_program(
        &self,
        pair: &Pair<'_>,
        words: &[&str],
        answer: impl FnOnce(&str) -> PeerAnswer,
    ) -> Result<Answered, Failure> {
        let began = clock::monotonic();
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let ran = self.run(pair.programs.as_ref(), &words, &[0, 1])?;
        Ok(Answered {
            answer: answer(&ran.output),
            took: since(began),
            is_late: ran.is_late,
            program: Some((joined(&words), ran.output)),
            refused_peers: 0,
        })
    }

    /// Echoes of the size asked for, and then a bisection.
    fn bisection(&self, pair: &Pair<'_>) -> Result<Answered, Failure> {
        let began = clock::monotonic();
        let ip = self.setting.network.ip;
        let least = Bytes::new(ip.smallest_mtu().into());
        let mut bisection = Bisection::new(least, self.probe.up_to);
        let mut all = String::new();
        let mut command = String::new();
        let mut is_late = false;
        while let Some(size) = bisection.next_size() {
            let words = ping::words(self.version(), size - ip.header(), self.to);
            // 1: no answer.
            let ran = self.run(pair.programs.as_ref(), &words, &[0, 1])?;
            all.push_str(&ran.output);
            command = joined(&words);
            if ran.is_late {
                is_late = true;
                break;
            }
            bisection.take(ping::echoes(&ran.output));
        }
        Ok(Answered {
            answer: bisection.answer(),
            took: since(began),
            is_late,
            program: Some((command, all)),
            refused_peers: 0,
        })
    }

    /// The size on which a connection settles.
    fn connection(&self, pair: &mut Pair<'_>) -> Result<Answered, Failure> {
        let (settled, refused_peers) = pair.agents.discover(&Task {
            to: self.to,
            timeout: self.probe.timeout,
        })?;
        Ok(Answered {
            answer: PeerAnswer {
                mtu: settled.mtu,
                step: TCP_STEP,
                limit: None,
                verdict: None,
            },
            took: settled.took,
            is_late: settled.is_late,
            program: None,
            refused_peers,
        })
    }

    /// Runs a program in the sender, until the deadline at most.
    fn run(
        &self,
        programs: &dyn Programs,
        words: &[String],
        codes: &[i32],
    ) -> Result<Ran, Failure> {
        let mut program = programs
            .start(End::Sender, words)
            .map_err(not_started("sender"))?;
        let status = loop {
            let left = left_until(self.deadline);
            let status = attend(program.as_mut(), WHILE.min(left))?;
            if status.is_some() || left == Span::ZERO {
                break status;
            }
        };
        if let Some(status) = status
            && !status.code().is_some_and(|code| codes.contains(&code))
        {
            return Err(Failure::Transfer(ended("sender", status, program.as_ref())));
        }
        let output = program.output().unwrap_or_default();
        Ok(Ran {
            output: String::from_utf8_lossy(output).into_owned(),
            is_late: status.is_none(),
        })
    }
}

fn since(began: Time) -> Span {
    clock::monotonic().since(began).unwrap_or_default()
}

/// The octets that a word states.
fn octets(word: &str) -> Option<Bytes> {
    let digits = word.trim_matches(|c: char| !c.is_ascii_digit());
    let number: u32 = digits.parse().ok()?;
    Some(Bytes::new(number.into()))
}
