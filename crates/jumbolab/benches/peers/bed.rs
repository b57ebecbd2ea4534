//! A test network of two hosts, and the run of one program in it.

use std::fs;
use std::path::PathBuf;

use backends::testbed::{Addresses, Forwarder, Link, Medium, Node, Path, Tcp, Testbed};
use nix::sys::resource::{UsageWho, getrusage};
use os::clock::monotonic;
use os::tool::Tool;
use units::{Bytes, IpMtu, IpVersion, Span};

use crate::Result;
use crate::counters::Counters;
use crate::observer::Observer;
use crate::outcome::{Outcome, Seen};
use crate::processor::processor_seconds;
use crate::program::Program;
use crate::work::{Kind, PACE, SIZE, Work};

/// The time limit for a receiver to listen, and for a sender beyond its
/// duration.
const READY: Span = Span::from_secs(5);
const LONGER: Span = Span::from_secs(15);
/// The time limit for a receiver after its sender has ended.
const AFTER: Span = Span::from_secs(3);

/// Two namespaces joined by a veth pair without offloads.
pub(crate) struct Bed {
    path: Path,
    testbed: Testbed,
    /// The folder of logs, emptied after every run.
    folder: PathBuf,
}

impl Bed {
    pub(crate) fn build(work: &Work, folder: &std::path::Path) -> Result<Self> {
        let medium = Medium::Kernel {
            rate: None,
            burst: Bytes::ZERO,
            buffer: Bytes::ZERO,
        };
        let ip = IpVersion::V4;
        let mtu = IpMtu::new(work.mtu.into(), ip)?;
        let path = Path {
            graph: None,
            middle: Forwarder::Router,
            ip,
            addresses: Addresses::Static,
            offloads: false,
            segments_per_packet: None,
            tcp: Tcp::default(),
            links: vec![Link { mtu, medium }],
        };
        Ok(Self {
            testbed: Testbed::build(&path)?,
            path,
            folder: folder.join("logs"),
        })
    }

    /// Makes a program write the input of the work, if there is any.
    pub(crate) fn prepare(&self, program: Program, work: &Work) -> Result<()> {
        if work.kind == Kind::Decode {
            self.clear()?;
            self.traffic(program, work)?;
            fs::rename(&self.folder, self.kept(program))?;
        }
        Ok(())
    }

    /// One run of a program.
    pub(crate) fn run(&self, program: Program, work: &Work) -> Result<Outcome> {
        if work.kind == Kind::Decode {
            return self.decode(program, work);
        }
        self.clear()?;
        let (output, seen) = self.traffic(program, work)?;
        Outcome::read(program, work, &output, &seen)
    }

    fn clear(&self) -> Result<()> {
        let _ = fs::remove_dir_all(&self.folder);
        Ok(fs::create_dir(&self.folder)?)
    }

    /// The folder of the program's logs to decode.
    fn kept(&self, program: Program) -> PathBuf {
        self.folder.with_file_name(program.file_name())
    }

    /// Reads the log that the receiver of a program wrote.
    fn decode(&self, program: Program, work: &Work) -> Result<Outcome> {
        let log = program.received(&self.kept(program))?;
        let line = pinned(work.processors[0], program.decoding(&log));
        let (used_before, began) = (used()?, monotonic());
        let mut tool = Tool::heard(&self.testbed.sender().namespace, &line)?;
        let status = tool.attend(Span::from_secs(120))?;
        let took = monotonic().since(began).unwrap_or_default();
        if !status.is_some_and(|status| status.success()) {
            return Err(format!("its decoder fails: {}", said(&tool)).into());
        }
        let text = String::from_utf8_lossy(tool.output().unwrap_or_default()).into_owned();
        let size = fs::metadata(&log)?.len();
        Outcome::decoded(program, &text, size, took, used()? - used_before)
    }

    /// Runs sender and receiver; returns the sender's output and the
    /// observations.
    fn traffic(&self, program: Program, work: &Work) -> Result<(String, Seen)> {
        let [sender, receiver] = [self.testbed.sender(), self.testbed.receiver()];
        let observer = (work.kind == Kind::Departures)
            .then(|| Observer::post(&receiver.namespace))
            .transpose()?;
        let to = self.testbed.destination(&self.path).to_string();
        let lines = program.lines(work, &to, &self.folder);
        let [on_sender, on_receiver] = work.processors;
        let used_before = used()?;
        let before = (count(sender)?, count(receiver)?);
        let listening = receiver.namespace.listeners()?;
        let mut server = Tool::heard(&receiver.namespace, &pinned(on_receiver, lines.receiver))?;
        let deadline = monotonic() + READY;
        while receiver.namespace.listeners()? <= listening {
            if let Some(status) = server.attend(Span::from_millis(2))? {
                return Err(format!("its receiver: {status} {}", said(&server)).into());
            }
            if monotonic() > deadline {
                return Err("its receiver does not listen".into());
            }
        }
        let mut client = Tool::heard(&sender.namespace, &pinned(on_sender, lines.sender))?;
        let timeout = Span::from_secs(work.seconds.into()) + LONGER;
        let status = client.attend(timeout)?;
        let succeeded = status.is_some_and(|status| status.success());
        if !succeeded {
            let ended = status.map_or_else(|| "it does not end".into(), |end| end.to_string());
            return Err(format!("{ended} {} {}", said(&client), said(&server)).into());
        }
        let after = (count(sender)?, count(receiver)?);
        // A receiver for one sender ends now; others are stopped and waited
        // for.
        if program.ends_by_itself() {
            server.attend(AFTER)?;
        }
        drop(server);
        let output = String::from_utf8_lossy(client.output().unwrap_or_default()).into_owned();
        let seen = Seen {
            sender: after.0 - before.0,
            receiver: after.1 - before.1,
            // Includes a millisecond or two for reading the counters.
            processor: used()? - used_before,
            departures: observer
                .map(|observer| {
                    observer.departures(SIZE, Span::from_nanos(1_000_000_000 / u64::from(PACE)))
                })
                .transpose()?,
        };
        Ok((output, seen))
    }
}

/// CPU seconds of all children that have ended.
fn used() -> Result<f64> {
    Ok(processor_seconds(&getrusage(UsageWho::RUSAGE_CHILDREN)?))
}

fn count(node: &Node) -> Result<Counters> {
    Counters::read(&node.namespace, &node.interfaces[0].name)
}

fn pinned(processor: u8, line: Vec<String>) -> Vec<String> {
    let taskset = ["taskset", "-c"].map(str::to_owned);
    [taskset.to_vec(), vec![processor.to_string()], line].concat()
}

/// The program's error output.
fn said(tool: &Tool) -> String {
    let output = String::from_utf8_lossy(tool.output().unwrap_or_default()).into_owned();
    let last = output.lines().rev().find(|line| line.contains("rror"));
    format!("{} {}", tool.complaint(), last.unwrap_or_default().trim())
}
