//! `jumbolab gateway` between two sites and a core, in network namespaces with the kernels'
//! traffic. Each test is a shell script in namespaces of its own, which end with it.

mod cut;
mod endurance;
mod kills;
mod labels;
mod passing;
mod path;
mod processor;
mod record;
mod reload;
mod rings;
mod routes;
#[path = "../cli/schema.rs"]
mod schema;
mod sealed;
mod setup;
mod super_packets;
mod traffic;

use std::process::{Command, Stdio};
use std::sync::{PoisonError, RwLock};

use serde_json::{Value, json};
use tempfile::TempDir;

/// The output of a script.
struct Seen {
    /// Its output.
    printed: String,
    /// The log lines of both gateways.
    logs: [Vec<Value>; 2],
}

/// Seconds after which a script that takes a few is taken to hang.
const HANGS: u64 = 300;

/// Rings of AF_XDP lock memory, of which a user has a share. A test of rings has it alone;
/// elsewhere gateways do without a ring if they must.
static LOCKED_MEMORY: RwLock<()> = RwLock::new(());

/// Runs `script` behind the bed of namespaces, as root of a user namespace.
#[track_caller]
fn see(script: &str) -> Seen {
    see_for(script, HANGS)
}

/// The same, while no other test runs.
#[track_caller]
fn see_alone(script: &str) -> Seen {
    let _alone = LOCKED_MEMORY
        .write()
        .unwrap_or_else(PoisonError::into_inner);
    run(script, HANGS)
}

/// The same, of a script that hangs after so many seconds.
#[track_caller]
fn see_for(script: &str, seconds: u64) -> Seen {
    let _together = LOCKED_MEMORY.read().unwrap_or_else(PoisonError::into_inner);
    run(script, seconds)
}

#[track_caller]
fn run(script: &str, seconds: u64) -> Seen {
    let most = seconds.to_string();
    let folder = TempDir::new().unwrap();
    let bed = include_str!("bed.sh");
    let output = Command::new("unshare")
        .args(["-Urnmp", "--kill-child", "--fork", "--mount-proc"])
        .args(["timeout", &most, "sh", "-c", &format!("{bed}{script}")])
        .current_dir(folder.path())
        .env("JUMBOLAB", env!("CARGO_BIN_EXE_jumbolab"))
        .env(
            "PROBE",
            concat!(env!("CARGO_MANIFEST_DIR"), "/tests/gateway/probe.py"),
        )
        .env(
            "KILLS",
            concat!(env!("CARGO_MANIFEST_DIR"), "/tests/gateway/kills.py"),
        )
        .env(
            "PASSING",
            concat!(env!("CARGO_MANIFEST_DIR"), "/tests/gateway/passing.py"),
        )
        .env(
            "BIG_TCP",
            concat!(env!("CARGO_MANIFEST_DIR"), "/tests/gateway/big_tcp.py"),
        )
        .env(
            "DISSECTOR",
            concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/../../docs/reference/jumbolab-bundle.lua"
            ),
        )
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap_or_default();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let complaint = String::from_utf8_lossy(&output.stderr);
    let said =
        ["ga", "gb"].map(|node| read(&format!("{node}.said")) + &read(&format!("{node}.log")));
    assert!(
        output.status.success(),
        "{complaint}\n{printed}\n{}",
        said.concat()
    );
    assert!(!said.concat().contains("panicked"), "{}", said.concat());
    let lines = |name: &str| {
        let text = read(name);
        let lines = text
            .lines()
            .map(|line| serde_json::from_str(line).expect(line));
        let lines: Vec<Value> = lines.collect();
        lines.iter().for_each(schema::check);
        lines
    };
    Seen {
        printed,
        logs: [lines("ga.log"), lines("gb.log")],
    }
}

impl Seen {
    /// A last counter of a gateway: 0 for that of a, 1 for that of b.
    #[track_caller]
    fn last(&self, gateway: usize, counter: &str) -> u64 {
        let last = self.logs[gateway].last().expect("it logged something");
        assert_eq!(last["kind"], "stopped", "{last}");
        last[counter].as_u64().expect(counter)
    }

    /// The milliseconds until pings crossed, as `crosses_after` printed them.
    #[track_caller]
    fn after(&self, name: &str) -> u64 {
        let objects = self.objects();
        let found = objects.iter().find(|one| one["after"] == name);
        found.expect(&self.printed)["ms"]
            .as_u64()
            .expect("a number")
    }

    /// The number of log lines of a gateway with this event.
    fn events(&self, gateway: usize, event: &str) -> usize {
        let of_kind = |line: &&Value| line["kind"] == event;
        self.logs[gateway].iter().filter(of_kind).count()
    }

    /// Whether each packet that came to the gateways is in one of their counters, and
    /// each that was sent came out at the other end.
    #[track_caller]
    fn conserved(&self) {
        self.accounted();
        for (near, far) in [(0, 1), (1, 0)] {
            let sent = self.last(near, "bundled") + self.last(near, "alone");
            // On a busy machine the kernel may drop bundles in front of a gateway, and counts them.
            let unpacked = self.last(far, "unpacked");
            let is_whole = self.last(far, "core_overrun") == 0;
            assert!(
                unpacked == sent || unpacked < sent && !is_whole,
                "{unpacked} of {sent} to gateway {far}"
            );
        }
    }

    /// Whether each packet that came to one of the gateways is in one of its counters.
    #[track_caller]
    fn accounted(&self) {
        for gateway in [0, 1] {
            let last = |counter| self.last(gateway, counter);
            let came = last("received") + last("pieces");
            let sent = last("bundled") + last("alone") + last("dropped");
            assert_eq!(came, sent, "gateway {gateway}");
            let out = last("released") + last("inward_dropped") + last("joined");
            assert_eq!(last("unpacked"), out, "gateway {gateway}");
            let inside = last("inside_sent") + last("inside_rejected");
            let released = last("released") + last("errors") + last("inside_fragments");
            assert_eq!(released, inside, "gateway {gateway}");
        }
    }

    /// The verdict and the MTU of each path that `probe` printed, as pairs.
    fn probed(&self) -> Vec<Value> {
        let objects = self.objects();
        let paths = objects.iter().filter(|line| line["kind"] == "path");
        let pair = |path: &Value| json!([path["verdict"], path["forward"]["mtu"]]);
        paths.map(pair).collect()
    }

    /// The JSON objects that the script printed.
    fn objects(&self) -> Vec<Value> {
        let lines = self.printed.lines().filter(|line| line.starts_with('{'));
        lines
            .map(|line| serde_json::from_str(line).expect(line))
            .collect()
    }
}
