//! Requests and replies of any content are read or rejected with one line.

use os::request::{Job, Request, heard, line, read};
use proptest::prelude::*;

use super::random::random;
use crate::{agent, edge_gateway, emulation, host_agent, stall_meter};

/// A request of the type `R` and an answer to it, as lines, with their readers.
struct Exchange {
    lines: [String; 2],
    readers: [Reader; 2],
}

type Reader = fn(&str) -> Result<(), String>;

/// How to read a request to the worker that serves it.
trait Served: Sized {
    fn requests(name: &str, json: &str) -> Option<os::Result<Job<Self>>>;
}

macro_rules! served {
    ($($server:ty: $($requests:path),+ => $($request:path),+;)*) => {
        $(
            impl Served for $server {
                fn requests(name: &str, json: &str) -> Option<os::Result<Job<Self>>> {
                    None$(.or_else(|| $requests(name, json)))+
                }
            }
        )*
        /// All requests.
        const ALL: &[fn(u64) -> Exchange] = &[$($(exchange::<$request>),+),*];
    };
}

served! {
    agent::Agent: agent::all_requests =>
        agent::Receive, agent::SendTransfer, agent::Record, agent::Finish, agent::ReceiveFlows,
        agent::SendFlows, agent::AnswerMessages, agent::SendMessages, agent::AnswerProbes,
        agent::SendProbes, agent::AnswerClock, agent::CompareClocks,
        agent::OpenFarEnd, agent::CloseFarEnd, agent::OpenProber,
        agent::Investigate, agent::Connect, agent::Carry, agent::Disconnect, agent::Sample;
    host_agent::Host: host_agent::all_requests =>
        host_agent::Describe, host_agent::ListInterfaces, host_agent::DescribeNics,
        host_agent::FindInterface, host_agent::TryCongestion, host_agent::DefaultCongestion,
        host_agent::FindProgram, host_agent::SampleMachine, host_agent::SampleProcess,
        host_agent::BeginStalls, host_agent::EndStalls, host_agent::BeginMetering,
        host_agent::EndMetering, host_agent::CountDrops, host_agent::CountFragments,
        host_agent::CountListeners, host_agent::StartProgram, host_agent::AttendProgram,
        host_agent::EndProgram, host_agent::BeginCapture, host_agent::EndCapture,
        host_agent::BeginReflecting, host_agent::EndReflecting, host_agent::ProbePath,
        host_agent::BeginChanges, host_agent::Change, host_agent::Restore;
    emulation::Emulating: emulation::requests =>
        emulation::ReportCounters, emulation::Reseed, emulation::Begin, emulation::Window,
        emulation::Observe, emulation::Observations, emulation::End;
    Option<emulation::Emulating>: emulation::opening => emulation::Open;
    Option<edge_gateway::Gateway>: edge_gateway::requests =>
        edge_gateway::Open, edge_gateway::Sample;
    stall_meter::Metering: stall_meter::requests => stall_meter::Begin, stall_meter::End;
}

fn exchange<R: Request<Server: Served + 'static>>(seed: u64) -> Exchange {
    let answer: Result<R::Answer, String> = match seed % 8 {
        0 => Err("no\nanswer".to_owned()),
        _ => Ok(random(seed)),
    };
    Exchange {
        lines: [
            line(&random::<R>(seed)).unwrap(),
            serde_json::to_string(&answer).unwrap(),
        ],
        readers: [
            |line| match read(line, <R::Server as Served>::requests) {
                Ok(_job) => Ok(()),
                Err(error) => Err(error.to_string()),
            },
            |line| heard::<R::Answer>(line)?.map(drop),
        ],
    }
}

/// The line with the bytes from `at` on replaced.
fn damaged(line: &str, at: prop::sample::Index, length: usize, by: &[u8]) -> String {
    let from = at.index(line.len() + 1);
    let to = line.len().min(from + length);
    let bytes = [&line.as_bytes()[..from], by, &line.as_bytes()[to..]].concat();
    // As lines are read.
    String::from_utf8_lossy(&bytes).into_owned()
}

fn replacement() -> impl Strategy<Value = Vec<u8>> {
    let words = [
        "",
        "0",
        "-1",
        "1e999",
        "18446744073709551616",
        "null",
        "[]",
        "{}",
        "\"\"",
        "[[[[[[[[",
        "\"\u{1b}[2J\\n\"",
        "{\"Ok\":",
        " ",
        "\n",
        "Err",
        "\\u0000",
        "\\ud800",
    ];
    let words = prop::sample::select(words.to_vec()).prop_map(|word| word.as_bytes().to_vec());
    prop_oneof![words, prop::collection::vec(any::<u8>(), 0..12)]
}

#[test]
fn every_request_and_every_answer_is_read_again() {
    for exchange in ALL {
        for seed in 0..16 {
            let Exchange { lines, readers } = exchange(seed);
            assert_eq!(readers[0](&lines[0]), Ok(()), "{}", lines[0]);
            let expected = match seed % 8 {
                0 => Err("no answer".to_owned()),
                _ => Ok(()),
            };
            assert_eq!(readers[1](&lines[1]), expected, "{}", lines[1]);
        }
    }
}

proptest! {
    #[test]
    fn a_damaged_request_or_reply_is_read_or_rejected_with_one_line(
        which in any::<prop::sample::Index>(),
        seed in any::<u64>(),
        (at, length) in (any::<prop::sample::Index>(), 0..40_usize),
        by in replacement(),
    ) {
        let Exchange { lines, readers } = which.get(ALL)(seed);
        for (line, read) in lines.iter().zip(readers) {
            for line in [damaged(line, at, length, &by), String::from_utf8_lossy(&by).into_owned()] {
                let rejected = read(&line).err().unwrap_or_default();
                prop_assert!(!rejected.contains(char::is_control), "{rejected:?}");
            }
        }
    }

    #[test]
    fn text_that_nests_deeply_is_rejected(
        which in any::<prop::sample::Index>(),
        depth in 1_000..100_000_usize,
        open in "[\\[{]",
    ) {
        let Exchange { lines, readers } = which.get(ALL)(1);
        let nested = open.repeat(depth);
        let (name, _) = lines[0].split_once(' ').unwrap();
        let request = format!("{name} {nested}");
        prop_assert!(readers[0](&request).is_err());
        let result = format!("{{\"Ok\":{nested}");
        for reply in [&nested, &result] {
            prop_assert!(readers[1](reply).is_err());
        }
    }
}
