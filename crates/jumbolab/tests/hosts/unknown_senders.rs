//! An unknown sender in the measured network connects to every data port of a trial: it is
//! rejected and counted, and the trial is as without it. The tokens of the trials are in no
//! process list, message or file.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Stdio;

use os::clock;
use plan::evidence;
use results::folder::Folder;
use serde_json::Value;
use units::Span;

use crate::bed::{Bed, Between};
use crate::run::{HOSTS, said};

/// The keys of all kinds of traffic.
const HEAD: &str = "\
format = 1
name = \"unknown-senders\"
[network]
ip = 4
mtu_method = \"mss\"
[host]
offloads = \"on\"
[sweep]
\"network.mtu\" = [1500, 9000]
[trials]
repeat = 1
retry_limit = \"none\"
";

/// Kinds of traffic that have data ports.
const TRAFFIC: [(&str, &str); 5] = [
    (
        "a transfer over TCP",
        "[traffic]\nsize = \"500kB\"\nwarmup = \"100kB\"\ncpu_bytes = \"1MB\"\n",
    ),
    (
        "a transfer over UDP",
        "[traffic]\nprotocol = \"udp\"\nmessage = 1000\nsize = \"500kB\"\ncpu_bytes = \"1MB\"\n",
    ),
    (
        "requests over TCP",
        "[traffic]\nkind = \"request-response\"\nsize = \"20kB\"\nmin_size = 100\nmax_size = 1000\nsize_step = 300\nreference_size = 400\n",
    ),
    (
        "requests over UDP",
        "[traffic]\nkind = \"request-response\"\nsize = \"20kB\"\nprotocol = \"udp\"\nmin_size = 100\nmax_size = 1000\nsize_step = 300\nreference_size = 400\n",
    ),
    (
        "flows",
        "[traffic]\nkind = \"flows\"\nduration = \"1s\"\n[flows.talk]\nmessage = 160\ngap = \"20ms\"\n\
         [flows.bulk]\nprotocol = \"tcp\"\nmessage = 1000\ngap = \"1ms\"\n",
    ),
];

/// The unknown sender: it says something wrong to the TCP port or the UDP port that it is given.
const UNKNOWN_SENDER: &str = "\
if [ $1 = tcp ]; then exec 3<>/dev/tcp/10.8.0.2/$2 && echo an unknown sender >&3 && read -t 2 -r answer <&3
else for one in 1 2 3; do echo an unknown sender >/dev/udp/10.8.0.2/$2; done; fi 2>/dev/null";

/// The ports of the receiver in the measured network, by protocol.
fn ports(bed: &Bed) -> BTreeSet<(String, String)> {
    let mut ss = bed.on("b", "ss");
    let output = ss.args(["-H", "-l", "-n", "-t", "-u", "src", "10.8.0.2"]);
    let text = String::from_utf8(output.output().unwrap().stdout).unwrap();
    let ports = text.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let protocol = words.next()?;
        let port = words.find_map(|word| word.strip_prefix("10.8.0.2:"))?;
        Some((protocol.to_owned(), port.to_owned()))
    });
    ports.collect()
}

/// All 16 bytes in a row that a text of requests has as numbers.
fn tokens(value: &Value, found: &mut BTreeSet<Vec<u8>>) {
    match value {
        Value::Array(values) => {
            let bytes = values.iter().map(|one| u8::try_from(one.as_u64()?).ok());
            match bytes.collect::<Option<Vec<u8>>>() {
                Some(bytes) if bytes.len() == 16 => drop(found.insert(bytes)),
                _ => values.iter().for_each(|value| tokens(value, found)),
            }
        }
        Value::Object(values) => values.values().for_each(|value| tokens(value, found)),
        _ => {}
    }
}

/// The spellings of a token: its bytes, as numbers, and as hexadecimal digits.
fn spellings(token: &[u8]) -> [String; 3] {
    let numbers: Vec<String> = token.iter().map(u8::to_string).collect();
    let hex = token.iter().map(|byte| format!("{byte:02x}")).collect();
    [text(token), numbers.join(","), hex]
}

/// A character for each byte.
fn text(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| char::from(*byte)).collect()
}

fn contents(folder: &Path, all: &mut Vec<u8>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            contents(&entry.path(), all);
        } else if kind.is_file() {
            all.extend(fs::read(entry.path()).unwrap());
        }
    }
}

#[test]
fn an_unknown_sender_is_rejected_and_counted_and_tokens_are_nowhere_to_be_read() {
    let bed = Bed::new(Between::Switches);
    // An `ssh` that keeps what the agents are told, and tells the sender late: a TCP port listens
    // only until its sender has come.
    let tee = bed.path("tee");
    fs::create_dir(bed.path("told")).unwrap();
    let told = bed.path("told");
    let (told, config) = (told.display(), bed.path("config"));
    let script = format!(
        "#!/bin/sh\n\
         late() {{ while IFS= read -r line; do sleep 0.06; printf '%s\\n' \"$line\"; done; }}\n\
         case \"$*\" in *\" a \"*agent*) pass=late;; *) pass=cat;; esac\n\
         tee {told}/$$ | $pass | ssh -F {} \"$@\"\n",
        config.display()
    );
    crate::bed::write_program(&tee, &script);
    let (mut visible, mut processes) = (Vec::new(), BTreeSet::new());
    for (number, (kind, traffic)) in TRAFFIC.iter().enumerate() {
        let file = format!("{number}.toml");
        fs::write(bed.path(&file), format!("{HEAD}{traffic}")).unwrap();
        let results = format!("r{number}");
        let words = [&["run", &file][..], &HOSTS, &["-o", &results]].concat();
        let mut command = bed.command(&words);
        command.env("JUMBOLAB_SSH", &tee);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut met = BTreeSet::new();
        let mut unknown_senders = Vec::new();
        while child.try_wait().unwrap().is_none() {
            for (protocol, port) in ports(&bed) {
                if met.insert((protocol.clone(), port.clone())) {
                    let mut unknown_sender = bed.on("c", "bash");
                    let unknown_sender =
                        unknown_sender.args(["-c", UNKNOWN_SENDER, "bash", &protocol, &port]);
                    unknown_senders.push(unknown_sender.spawn().unwrap());
                }
            }
            processes.extend(process_lists(&bed));
            clock::sleep(Span::from_millis(5));
        }
        let output = child.wait_with_output().unwrap();
        unknown_senders.iter_mut().for_each(|one| drop(one.wait()));
        let told = said(&output);
        assert!(
            matches!(output.status.code(), Some(0 | 1)),
            "{kind}: {told}"
        );
        visible.extend([output.stdout, output.stderr].concat());
        let (_, _, trials) = Folder::read(&bed.path(&results)).unwrap();
        assert_eq!(trials.len(), 2, "{kind}");
        let mut rejected = 0;
        for trial in &trials {
            assert_eq!(trial.failure, None, "{kind}");
            let positive = trial.metrics.iter().filter(|(_, value)| **value > 0.0);
            assert!(positive.count() > 0, "{kind}: {:?}", trial.metrics);
            rejected += trial.evidence.get(evidence::REJECTED_PEERS).unwrap_or(0);
        }
        assert!(rejected > 0, "{kind}: {met:?}");
        contents(&bed.path(&results), &mut visible);
    }
    for host in ["a", "b"] {
        contents(&bed.host_folder(host), &mut visible);
    }
    let mut known = BTreeSet::new();
    for entry in fs::read_dir(bed.path("told")).unwrap().flatten() {
        let text = fs::read(entry.path()).unwrap();
        for line in String::from_utf8_lossy(&text).lines() {
            let json = line.split_once(' ').map_or("", |(_name, json)| json);
            let value = serde_json::from_str(json).unwrap_or_default();
            tokens(&value, &mut known);
        }
    }
    assert!(known.len() >= 2 * TRAFFIC.len(), "{} tokens", known.len());
    visible.extend(processes.into_iter().flatten());
    let visible = text(&visible);
    for spelling in known.iter().flat_map(|token| spellings(token)) {
        assert!(!visible.contains(&spelling), "{spelling:?}");
    }
}

/// The command lines and environments of all processes of both hosts and the controller.
fn process_lists(bed: &Bed) -> Vec<Vec<u8>> {
    let places = [None, Some("a"), Some("b")];
    let ids = places.into_iter().flat_map(|place| bed.processes(place));
    let files = ids.flat_map(|(id, _)| {
        ["cmdline", "environ"]
            .map(|file| fs::read(format!("/proc/{id}/{file}")).unwrap_or_default())
    });
    files.collect()
}
