//! Changes of a host are put back whatever happens to the agent.
//!
//! The program enters a sandbox, whose interfaces play those of a host. It is its own
//! agent and its own watchdog, so it has no test harness: threads cannot enter a
//! sandbox.
#![expect(
    clippy::print_stdout,
    reason = "agents answer on it, and there is no harness"
)]

use std::fs;
use std::io::{self, BufRead as _};
use std::mem::ManuallyDrop;
use std::process::{self, Child, ChildStdin, ChildStdout, Stdio};

use jumbolab_os::host_changes::{self, HostChanges, Wanted};
use jumbolab_os::lease::LEASE;
use jumbolab_os::{Sandbox, clock, kernel_clock, nic, worker};
use nix::mount::{MsFlags, mount};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use units::{Span, Time};

/// The time within which everything is back after any fault.
const BACK: Span = Span::from_secs(10);

/// The interval between looks at another process.
const PAUSE: Span = Span::from_millis(1);

/// The faults of an agent.
const FAULTS: [Signal; 3] = [Signal::SIGKILL, Signal::SIGTERM, Signal::SIGHUP];

fn main() {
    match worker::role().as_deref() {
        Some(worker::INIT_PROCESS) => worker::init_process(),
        Some(host_changes::ROLE) => host_changes::serve().unwrap(),
        Some(_) => agent(),
        None => tests(),
    }
}

/// An agent: a JSON line for each change, `beat`, and `restore` or `drop`; an answer to each
/// line but the last.
fn agent() {
    let run = std::env::args().nth(3).unwrap();
    let mut changes = match HostChanges::begin(&run) {
        Ok(changes) => changes,
        Err(error) => return println!("{error}"),
    };
    println!("begun {}", changes.notes().join("; "));
    let heartbeat = changes.heartbeat();
    for line in io::stdin().lock().lines() {
        let line = line.unwrap();
        let done = match line.as_str() {
            "beat" => heartbeat.beat(),
            "restore" => break,
            "drop" => return drop(changes),
            wanted => changes.apply(&serde_json::from_str(wanted).unwrap()),
        };
        println!(
            "{}",
            done.map_or_else(|error| error.to_string(), |()| "done".to_owned())
        );
    }
    match changes.restore() {
        Ok(notes) => println!("restored {}", notes.join("; ")),
        Err(error) => println!("{error}"),
    }
}

fn tests() {
    // A test that fails leaves agents behind. The kernel ends them with this process;
    // to end the sandbox earlier would wait for them.
    let _sandbox = ManuallyDrop::new(Sandbox::enter().unwrap());
    // The lock of a host is below /run.
    let none = None::<&str>;
    mount(none, "/run", Some("tmpfs"), MsFlags::empty(), none).unwrap();
    for line in [
        "link set lo up",
        "link add v0 type veth peer name v1",
        "link add link v0 name upper type macvlan",
        "link set v0 up",
        "link set v1 up",
        "link set upper up",
        "address add 10.9.0.1/24 dev v0",
        "address add 10.9.1.1/24 dev upper",
        "address add fd09::1/64 dev v0 nodad",
        "address add fd09:1::1/64 dev upper nodad",
        "-6 route add fd0a::/64 via fd09::2 dev v0 mtu 1450",
        "-6 route add fd0b::/64 via fd09:1::2 dev upper mtu 1350 hoplimit 9",
        "route add 10.10.0.0/24 via 10.9.0.2 dev v0 mtu 1300",
    ] {
        // Without link-local addresses no duplicate address detection changes the
        // routes in the middle of a test.
        if line.starts_with("link set v0") {
            for interface in ["v0", "v1", "upper"] {
                let file = format!("/proc/sys/net/ipv6/conf/{interface}/addr_gen_mode");
                fs::write(file, "1").unwrap();
            }
        }
        ip(line);
    }
    let tests: [(&str, fn()); 8] = [
        (
            "any_change_is_put_back_after_any_fault_at_any_instant",
            any_fault,
        ),
        (
            "everything_is_put_back_after_a_lost_heartbeat",
            lost_heartbeat,
        ),
        (
            "the_next_run_puts_back_what_a_killed_watchdog_left",
            killed_watchdog,
        ),
        (
            "an_agent_does_not_wait_for_ever_for_a_watchdog_that_is_stuck",
            stuck_watchdog,
        ),
        (
            "a_second_run_is_rejected_with_the_name_of_the_first",
            second_run,
        ),
        (
            "a_value_of_another_program_stays_and_is_reported",
            another_program,
        ),
        (
            "the_management_interface_and_those_below_it_are_rejected",
            management,
        ),
        (
            "an_mtu_that_removes_ipv6_is_rejected_with_the_reason",
            ipv6_removed,
        ),
    ];
    let filter = std::env::args().skip(1).find(|word| !word.starts_with('-'));
    let wanted = |name: &str| filter.as_deref().is_none_or(|filter| name.contains(filter));
    for (name, test) in tests.into_iter().filter(|(name, _)| wanted(name)) {
        test();
        println!("test {name} ... ok");
    }
}

/// An agent's process.
struct Agent {
    child: Child,
    input: ChildStdin,
    output: io::Lines<io::BufReader<ChildStdout>>,
}

impl Agent {
    fn start(run: &str, connection: Option<&str>) -> Self {
        // `nohup` would make it ignore one of the faults.
        let mut command = process::Command::new("env");
        command
            .arg("--default-signal=HUP")
            .arg(std::env::current_exe().unwrap())
            .args([worker::ARGUMENT, "agent", run])
            .env_remove("SSH_CONNECTION")
            .envs(connection.map(|connection| ("SSH_CONNECTION", connection)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let output = io::BufReader::new(child.stdout.take().unwrap());
        Self {
            input: child.stdin.take().unwrap(),
            output: output.lines(),
            child,
        }
    }

    /// An agent that has locked the host.
    fn begun() -> Self {
        let mut agent = Self::start("a-run", None);
        assert_eq!(agent.hear(), "begun ");
        agent
    }

    fn send(&mut self, line: &str) {
        use std::io::Write as _;
        writeln!(self.input, "{line}").unwrap();
    }

    fn hear(&mut self) -> String {
        self.output.next().unwrap().unwrap()
    }

    fn ask(&mut self, line: &str) -> String {
        self.send(line);
        self.hear()
    }

    fn apply(&mut self, wanted: &Wanted) -> String {
        self.ask(&serde_json::to_string(wanted).unwrap())
    }

    fn restore(mut self) -> String {
        let answer = self.ask("restore");
        self.child.wait().unwrap();
        answer
    }

    fn end(mut self, signal: Signal) {
        kill(pid(self.child.id()), signal).unwrap();
        self.child.wait().unwrap();
    }

    /// The process id of its watchdog.
    fn watchdog(&self) -> u32 {
        let id = self.child.id();
        let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap();
        children.trim().parse().unwrap()
    }
}

fn pid(id: u32) -> Pid {
    Pid::from_raw(i32::try_from(id).unwrap())
}

/// Every value of the host that a run could change, as other programs show it.
fn state() -> String {
    let show = |line: &str| {
        let output = process::Command::new("ip").args(line.split(' ')).output();
        String::from_utf8(output.unwrap().stdout).unwrap()
    };
    let mut text = [
        "-d link",
        "-4 route show table all",
        "-6 route show table all",
        "address",
    ]
    .map(show)
    .concat();
    for interface in ["v0", "v1", "upper"] {
        let mtu = fs::read_to_string(format!("/proc/sys/net/ipv6/conf/{interface}/mtu")).unwrap();
        let mut nic = nic::named(interface).unwrap();
        nic.counters = nic::Counters::default();
        text += &format!("{interface}: IPv6 {mtu}{nic:?}\n");
    }
    text
}

fn ip(line: &str) {
    let status = process::Command::new("ip").args(line.split(' ')).status();
    assert!(status.unwrap().success(), "ip {line}");
}

/// Asserts that the host becomes as `before` in time, and that nothing of the run is
/// left.
#[track_caller]
fn expect_back(before: &str, since: Time) {
    loop {
        let now = state();
        let late = clock::monotonic().since(since).unwrap() > BACK;
        let files = fs::exists("/run/jumbolab").unwrap();
        if now == before && !files {
            return;
        }
        assert!(!late, "before:\n{before}\nnow:\n{now}\nfiles left: {files}");
        clock::sleep(PAUSE);
    }
}

fn mtu(interface: &str, mtu: u32) -> Wanted {
    Wanted {
        interface: interface.to_owned(),
        mtu: Some(mtu),
        ..Wanted::default()
    }
}

fn any_wanted() -> impl Strategy<Value = Wanted> {
    let interface = prop_oneof![Just("v0"), Just("upper")].prop_map(str::to_owned);
    let sizes = [1280_u32, 1300, 1400, 1500, 2000, 9000];
    let mtu = proptest::option::of(proptest::sample::select(sizes.to_vec()));
    let names = [
        "tx-tcp-segmentation",
        "tx-generic-segmentation",
        "tx-udp-segmentation",
        "rx-gro",
        "tx-checksum-ip-generic",
        "tx-scatter-gather",
    ];
    let name = proptest::sample::select(names.to_vec()).prop_map(str::to_owned);
    let offloads = proptest::collection::vec((name, any::<bool>()), 0..4);
    (interface, mtu, offloads).prop_map(|(interface, mtu, offloads)| Wanted {
        interface,
        mtu,
        offloads,
        ..Wanted::default()
    })
}

fn any_fault() {
    let mut runner = TestRunner::new(Config {
        cases: 60,
        failure_persistence: None,
        ..Config::default()
    });
    let steps = proptest::collection::vec(any_wanted(), 1..5);
    let fault = proptest::sample::select(FAULTS.to_vec());
    let delay = (0_u64..8_000).prop_map(Span::from_micros);
    runner
        .run(&(steps, fault, delay), |(steps, fault, delay)| {
            let before = state();
            let mut agent = Agent::begun();
            let begun = clock::monotonic();
            for wanted in &steps {
                agent.send(&serde_json::to_string(wanted).unwrap());
            }
            kernel_clock::sleep_until(begun + delay);
            agent.end(fault);
            expect_back(&before, clock::monotonic());
            Ok(())
        })
        .unwrap();
}

fn lost_heartbeat() {
    let before = state();
    let mut agent = Agent::begun();
    assert_eq!(agent.ask("beat"), "done");
    assert_eq!(agent.apply(&mtu("v0", 1300)), "done");
    let changed = clock::monotonic();
    assert_ne!(state(), before);
    expect_back(&before, changed);
    let lease = clock::monotonic().since(changed).unwrap();
    assert!(lease > LEASE - Span::from_secs(1), "after {lease}");
    let answer = agent.apply(&mtu("v0", 1300));
    assert!(answer.contains("5 s without a heartbeat"), "{answer}");
    assert_eq!(state(), before);
    agent.end(Signal::SIGKILL);
}

fn killed_watchdog() {
    let before = state();
    let mut agent = Agent::begun();
    assert_eq!(agent.apply(&mtu("upper", 1300)), "done");
    assert_eq!(agent.apply(&mtu("v0", 1280)), "done");
    let changed = state();
    kill(pid(agent.watchdog()), Signal::SIGKILL).unwrap();
    let answer = agent.apply(&mtu("v0", 1400));
    assert!(answer.contains("its watchdog has ended"), "{answer}");
    agent.end(Signal::SIGKILL);
    assert_eq!(state(), changed);
    let mut next = Agent::start("next", None);
    let answer = next.hear();
    assert!(
        answer.contains("of an earlier run were put back"),
        "{answer}"
    );
    assert_eq!(state(), before);
    assert_eq!(next.restore(), "restored ");
    expect_back(&before, clock::monotonic());
}

fn stuck_watchdog() {
    let before = state();
    let mut agent = Agent::begun();
    assert_eq!(agent.apply(&mtu("v0", 1300)), "done");
    let watchdog = pid(agent.watchdog());
    kill(watchdog, Signal::SIGSTOP).unwrap();
    let begun = clock::monotonic();
    agent.send("drop");
    agent.child.wait().unwrap();
    let took = clock::monotonic().since(begun).unwrap();
    assert!(took < BACK, "{took}");
    assert_ne!(state(), before);
    kill(watchdog, Signal::SIGCONT).unwrap();
    expect_back(&before, clock::monotonic());
}

fn second_run() {
    let before = state();
    let mut first = Agent::start("mtu-sweep", None);
    first.hear();
    assert_eq!(first.apply(&mtu("v0", 9000)), "done");
    let mut second = Agent::start("second", None);
    let answer = second.hear();
    assert!(
        answer.contains("in use by the run mtu-sweep of "),
        "{answer}"
    );
    second.child.wait().unwrap();
    assert_eq!(first.restore(), "restored ");
    assert_eq!(state(), before);
    let third = Agent::begun();
    assert_eq!(third.restore(), "restored ");
}

fn another_program() {
    let before = state();
    let mut agent = Agent::begun();
    assert_eq!(agent.apply(&mtu("v0", 9000)), "done");
    ip("link set v0 mtu 4000");
    let answer = agent.apply(&mtu("v0", 1280));
    assert!(answer.contains("another program changed it"), "{answer}");
    let answer = agent.restore();
    assert!(
        answer.contains("the MTU of v0 is 4000, but this run set it to 9000"),
        "{answer}"
    );
    assert!(state().contains("mtu 4000"));
    ip("link set v0 mtu 1500");
    ip("-6 route replace fd0a::/64 via fd09::2 dev v0 mtu 1450");
    assert_eq!(state(), before);
}

fn management() {
    let before = state();
    let mut agent = Agent::start("a-run", Some("10.9.1.2 50000 10.9.1.1 22"));
    agent.hear();
    for (interface, words) in [
        ("upper", "it is used by the ssh connection; name another"),
        (
            "v0",
            "it is used by the ssh connection of upper; name another",
        ),
    ] {
        let answer = agent.apply(&mtu(interface, 1400));
        assert!(answer.contains(words), "{answer}");
    }
    assert_eq!(state(), before);
    assert_eq!(agent.apply(&mtu("v1", 1400)), "done");
    let allowed = Wanted {
        allow_management_interface: true,
        ..mtu("upper", 1400)
    };
    assert_eq!(agent.apply(&allowed), "done");
    assert_eq!(agent.restore(), "restored ");
    assert_eq!(state(), before);
}

fn ipv6_removed() {
    let before = state();
    let mut agent = Agent::begun();
    for (mtu_wanted, words) in [
        (
            1279,
            "the kernel would remove the IPv6 addresses and routes of v0",
        ),
        (70_000, "its driver allows 65535 at most"),
    ] {
        let answer = agent.apply(&mtu("v0", mtu_wanted));
        assert!(answer.contains(words), "{answer}");
    }
    assert_eq!(agent.restore(), "restored ");
    assert_eq!(state(), before);
}
