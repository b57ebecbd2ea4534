//! `jumbolab send` and `jumbolab recv` over loopback.

mod hostile;

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStderr, Command, Stdio};

use serde_json::Value;

use super::harness::{Dir, Outcome};

/// A receiver that listens on loopback; it ends with its test.
pub(crate) struct Receiver {
    child: Child,
    said: BufReader<ChildStderr>,
    pub(crate) port: u16,
}

impl Receiver {
    pub(crate) fn start(dir: &Dir, options: &str) -> Self {
        let mut child = dir
            .command()
            .args(["recv", "--port", "0"])
            .args(options.split_whitespace())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        said.read_line(&mut line).unwrap();
        let port = line.trim().rsplit_once("port ").expect(&line).1;
        Self {
            port: port.parse().expect(&line),
            child,
            said,
        }
    }

    /// What it says until a line with `words`.
    pub(crate) fn says(&mut self, words: &str) -> String {
        let mut line = String::new();
        while !line.contains(words) {
            line.clear();
            assert!(
                self.said.read_line(&mut line).unwrap() > 0,
                "it ended without: {words}"
            );
        }
        line
    }

    /// Sends to it.
    pub(crate) fn send(&self, dir: &Dir, line: &str) -> Outcome {
        dir.run(&format!("send --port {} {line}", self.port))
    }

    /// Asks it to stop, and returns what it printed.
    pub(crate) fn stop(mut self) -> Outcome {
        interrupt(&self.child);
        self.end()
    }

    /// Waits until it ends by itself.
    pub(crate) fn end(&mut self) -> Outcome {
        use std::io::Read as _;
        let (mut stdout, mut stderr) = (String::new(), String::new());
        let mut printed = self.child.stdout.take().unwrap();
        printed.read_to_string(&mut stdout).unwrap();
        self.said.read_to_string(&mut stderr).unwrap();
        Outcome {
            code: self.child.wait().unwrap().code(),
            stdout,
            stderr,
        }
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What Ctrl-C does.
fn interrupt(child: &Child) {
    let pid = libc::pid_t::try_from(child.id()).unwrap();
    #[expect(unsafe_code, reason = "a signal is sent")]
    // SAFETY: to a child that was not waited for yet.
    let sent = unsafe { libc::kill(pid, libc::SIGINT) };
    assert_eq!(sent, 0);
}

#[track_caller]
fn number(object: &Value, key: &str) -> u64 {
    object[key]
        .as_u64()
        .unwrap_or_else(|| panic!("{key} of {object}"))
}

#[test]
fn what_is_sent_arrives_over_both_protocols_and_both_versions_of_ip() {
    let dir = Dir::new();
    let receiver = Receiver::start(&dir, "");
    for host in ["127.0.0.1", "::1"] {
        for protocol in ["udp", "tcp"] {
            let line = format!(
                "{host} --protocol {protocol} --message 100 --gap 100us --packets 200 --json"
            );
            let flow = receiver.send(&dir, &line).fine().json().remove(0);
            for (key, value) in [
                ("offered", 200),
                ("sent", 200),
                ("received", 200),
                ("received_octets", 20_000),
                ("lost", 0),
                ("duplicates", 0),
                ("unstamped", 0),
                ("clock_bound_ns", 0),
            ] {
                assert_eq!(number(&flow, key), value, "{key}: {flow}");
            }
            assert_eq!(
                number(&flow["delay_us"], "count") + number(&flow, "negative"),
                200
            );
            assert_eq!(number(&flow["lateness_us"], "count"), 200);
        }
    }
    let outcome = receiver.stop().fine();
    assert_eq!(
        outcome.stdout.matches("200 messages").count(),
        4,
        "{}",
        outcome.stdout
    );
}

#[test]
fn round_trips_are_measured_at_a_pace_and_one_at_a_time() {
    let dir = Dir::new();
    let receiver = Receiver::start(&dir, "");
    for protocol in ["udp", "tcp"] {
        for gap in ["200us", "0s", "0s --busy"] {
            let line = format!(
                "::1 --protocol {protocol} --meter round-trip --message 64 --gap {gap} --packets 100 --json"
            );
            let flow = receiver.send(&dir, &line).fine().json().remove(0);
            for key in ["sent", "received", "echoes"] {
                assert_eq!(number(&flow, key), 100, "{key}: {flow}");
            }
            assert_eq!(number(&flow["round_trip_us"], "count"), 100);
        }
    }
}

#[test]
fn echoes_come_back_without_a_receiver_where_this_user_may_send_them() {
    let dir = Dir::new();
    for host in ["127.0.0.1", "::1"] {
        for gap in ["1ms", "0s"] {
            let outcome = dir.run(&format!(
                "send {host} --protocol echo --message 100 --gap {gap} --packets 20 --json"
            ));
            if outcome.code == Some(2) {
                outcome.refused(&["ping_group_range"]);
                continue;
            }
            let flow = outcome.fine().json().remove(0);
            assert_eq!(
                (number(&flow, "sent"), number(&flow, "echoes")),
                (20, 20),
                "{flow}"
            );
        }
    }
}

#[test]
fn every_law_is_delivered_as_it_was_offered() {
    let dir = Dir::new();
    dir.write("seen.txt", "# octets\n100\n200\n300\n");
    dir.write("gaps.txt", "100us\n200us\n");
    let receiver = Receiver::start(&dir, "");
    for (message, gap) in [
        ("constant:100", "constant:100us"),
        ("uniform:100,200", "uniform:50us,150us"),
        ("exponential:500", "exponential:100us"),
        ("normal:500,50", "normal:100us,20us"),
        ("poisson:500", "poisson:100us,1us"),
        ("pareto:1.5,100", "pareto:2.5,50us"),
        ("cauchy:500,50", "cauchy:100us,10us"),
        ("gamma:2,250", "gamma:2,50us"),
        ("weibull:0.8,500", "weibull:0.8,100us"),
        ("file:seen.txt", "file:gaps.txt"),
    ] {
        let line = format!("::1 --message {message} --gap {gap} --packets 200 --for 20s --json");
        let flow = receiver.send(&dir, &line).fine().json().remove(0);
        assert_eq!(number(&flow, "offered"), 200, "{message} {gap}: {flow}");
        let [sent, refused] = ["sent", "refused"].map(|key| number(&flow, key));
        assert_eq!(sent + refused, 200, "{flow}");
        assert!(sent > 150, "{flow}");
        assert_eq!(number(&flow, "received"), sent, "{flow}");
        assert_eq!(
            number(&flow, "received_octets"),
            number(&flow, "sent_octets"),
            "{flow}"
        );
    }
}

#[test]
fn bursts_begin_and_end() {
    let dir = Dir::new();
    let receiver = Receiver::start(&dir, "");
    let line = "::1 --message 100 --gap 1ms --on 10ms --off 90ms --for 250ms --json";
    let flow = receiver.send(&dir, line).fine().json().remove(0);
    // Three periods of ten, of which a gap may end in the silence.
    assert!((25..=31).contains(&number(&flow, "sent")), "{flow}");
}

#[test]
fn flows_of_a_file_run_side_by_side() {
    let dir = Dir::new();
    dir.write(
        "flows.toml",
        "[flows.voice]\nmessage = 160\ngap = \"2ms\"\ndscp = 46\n\
         [flows.bulk]\nprotocol = \"tcp\"\nmessage = 2000\ngap = \"500us\"\ncongestion = \"reno\"\nmss = 1000\n\
         [flows.game]\nmeter = \"round-trip\"\nmessage = 80\ngap = \"1ms\"\nttl = 3\n",
    );
    let receiver = Receiver::start(&dir, "--json");
    let flows = receiver
        .send(&dir, "::1 --file flows.toml --for 200ms --json")
        .fine()
        .json();
    let names: Vec<&str> = flows
        .iter()
        .map(|flow| flow["flow"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["voice", "bulk", "game"]);
    for flow in &flows {
        assert!(number(flow, "sent") > 50, "{flow}");
        assert_eq!(number(flow, "sent"), number(flow, "received"), "{flow}");
    }
    assert_eq!(flows[1]["congestion"], "reno");
    assert!(number(&flows[1], "segment_size") <= 1000);
    assert_eq!(number(&flows[2], "echoes"), number(&flows[2], "sent"));
    assert_eq!(receiver.stop().fine().json().len(), 3);
}

#[test]
fn datagrams_that_are_cut_and_merged_by_the_kernel_are_counted_one_by_one() {
    let dir = Dir::new();
    let receiver = Receiver::start(&dir, "");
    let line = "::1 --message 500 --gap 0s --packets 1000 --segmentation 20 --merge --json";
    let flow = receiver.send(&dir, line).fine().json().remove(0);
    assert_eq!(
        (number(&flow, "sent"), number(&flow, "received")),
        (1000, 1000),
        "{flow}"
    );
    assert_eq!(number(&flow, "segmentation"), 20, "it is on record");
    assert_eq!(flow["merge"], true);
}

#[test]
fn sizes_up_to_the_limit_of_the_protocol_arrive_whole() {
    let dir = Dir::new();
    let receiver = Receiver::start(&dir, "");
    for (host, protocol, most) in [
        ("127.0.0.1", "udp", 65_507),
        ("::1", "udp", 65_527),
        ("::1", "tcp", 1_000_000),
    ] {
        let line =
            format!("{host} --protocol {protocol} --message {most} --gap 1ms --packets 5 --json");
        let flow = receiver.send(&dir, &line).fine().json().remove(0);
        assert_eq!(number(&flow, "received_octets"), 5 * most, "{flow}");
    }
    let beyond = receiver.send(&dir, "::1 --message 65528");
    beyond.refused(&["--message 65528", "65527", "nothing is cut to size"]);
}

#[test]
fn both_ends_keep_packet_logs_of_their_own_and_write_over_none() {
    let dir = Dir::new();
    let mut receiver = Receiver::start(&dir, "--once --log logs");
    let line = "::1 --packets 5000 --gap 10us --message 64 --log sent.jlog";
    receiver.send(&dir, line).fine();
    receiver.end().fine();
    let names: Vec<_> = std::fs::read_dir(dir.path().join("logs"))
        .unwrap()
        .collect();
    assert_eq!(names.len(), 1);
    let received = names[0].as_ref().unwrap().path();
    for path in [received, dir.path().join("sent.jlog")] {
        let octets = std::fs::read(&path).unwrap();
        assert!(octets.starts_with(b"JLOG"), "{path:?}");
        assert!(
            octets.len() < 5_000 * 8,
            "{path:?} has {} octets",
            octets.len()
        );
    }
    let again = Receiver::start(&dir, "");
    again
        .send(&dir, line)
        .refused(&["sent.jlog", "name another one"]);
}

#[test]
fn ctrl_c_at_the_sender_keeps_what_was_measured() {
    let dir = Dir::new();
    let mut receiver = Receiver::start(&dir, "--once");
    let sender = dir
        .command()
        .args(["send", "::1", "--for", "50min", "--json", "--port"])
        .arg(receiver.port.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    receiver.says("UDP, one way");
    interrupt(&sender);
    let flow = Outcome::of(sender.wait_with_output().unwrap())
        .fine()
        .json()
        .remove(0);
    assert_eq!(number(&flow, "sent"), number(&flow, "received"), "{flow}");
    assert_eq!(
        receiver.end().fine().stdout.matches("UDP, one way").count(),
        1
    );
}

#[test]
fn a_receiver_that_stops_ends_its_senders_with_what_was_measured() {
    let dir = Dir::new();
    let mut receiver = Receiver::start(&dir, "");
    let sender = dir
        .command()
        .args(["send", "::1", "--for", "50min", "--port"])
        .arg(receiver.port.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    receiver.says("UDP, one way");
    receiver.stop().fine();
    let outcome = Outcome::of(sender.wait_with_output().unwrap());
    outcome.refused(&["the receiver refuses: it was stopped", "until then"]);
    assert!(outcome.stdout.contains("sent"), "{}", outcome.stdout);
}

#[test]
fn only_those_who_know_the_secret_are_served() {
    let dir = Dir::new();
    dir.write("right", "correct horse battery\n");
    dir.write("wrong", "incorrect horse battery\n");
    dir.write("short", "short\n");
    let receiver = Receiver::start(&dir, "--secret right");
    let quick = "::1 --packets 3 --gap 1ms";
    receiver
        .send(&dir, quick)
        .refused(&["asks for a secret", "--secret FILE"]);
    receiver
        .send(&dir, &format!("{quick} --secret wrong"))
        .refused(&["secret is another one"]);
    receiver
        .send(&dir, &format!("{quick} --secret short"))
        .refused(&["8 to 4096 octets"]);
    receiver
        .send(&dir, &format!("{quick} --secret right"))
        .fine();
    let open = Receiver::start(&dir, "");
    open.send(&dir, &format!("{quick} --secret right"))
        .refused(&["does not know the secret"]);
}

#[test]
fn the_bound_of_the_offset_holds_a_clock_that_is_shifted() {
    let dir = Dir::new();
    let receiver = Receiver::start(&dir, "");
    for seconds in [100_000_i64, 86_400 * 30] {
        let sender = dir.command();
        // The sender's clock, which nobody sets, is ahead by so much.
        let outcome = Command::new("unshare")
            .args([
                "--user",
                "--map-root-user",
                "--fork",
                "--time",
                "--monotonic",
            ])
            .arg(seconds.to_string())
            .arg(sender.get_program())
            .args([
                "send",
                "::1",
                "--packets",
                "200",
                "--gap",
                "1ms",
                "--json",
                "--port",
            ])
            .arg(receiver.port.to_string())
            .output()
            .unwrap();
        let flow = Outcome::of(outcome).fine().json().remove(0);
        let offset = flow["clock_offset_ns"].as_i64().unwrap();
        let bound = number(&flow, "clock_bound_ns");
        assert!(offset.abs_diff(-seconds * 1_000_000_000) <= bound, "{flow}");
        assert!((1..20_000_000).contains(&bound), "{flow}");
        assert_eq!(number(&flow, "received"), 200);
    }
}

#[test]
fn another_host_is_served_with_a_secret_or_if_all_are_and_told_so_otherwise() {
    let dir = Dir::new();
    let key = dir.write("key", "correct horse battery\n");
    let program = dir.command().get_program().to_str().unwrap().to_owned();
    let secret = format!("--secret '{}'", key.display());
    let between = |recv: &str, send: &[&str]| {
        let receiver = format!("receiver='{program}' recv --bind {{receiver}} {recv}");
        let outcome = dir
            .command()
            .args([
                "shell",
                "os-comparison",
                "sender",
                "--with",
                &receiver,
                "--",
            ])
            .args([
                &program,
                "send",
                "{receiver}",
                "--packets",
                "40",
                "--gap",
                "1ms",
                "--json",
            ])
            .args(send)
            .output()
            .unwrap();
        Outcome::of(outcome)
    };
    let stranger = between("", &[]);
    assert_eq!(stranger.code, Some(2), "{}", stranger.stderr);
    let words = "it serves its own machine only; start it with --secret FILE";
    assert!(stranger.stderr.contains(words), "{}", stranger.stderr);
    let key = key.to_str().unwrap();
    for (recv, send) in [("--open", &[][..]), (&secret, &["--secret", key])] {
        let flow = between(recv, send).fine().json().remove(0);
        assert_eq!(
            (number(&flow, "sent"), number(&flow, "received")),
            (40, 40),
            "{flow}"
        );
        assert_eq!(
            number(&flow, "clock_bound_ns"),
            0,
            "namespaces share the clock: {flow}"
        );
    }
    // What is bigger than the path, and may not be cut, is not sent.
    let big = ["--message", "2000", "--path-mtu", "do"];
    let flow = between("--open", &big).fine().json().remove(0);
    assert_eq!(
        (number(&flow, "sent"), number(&flow, "unsent")),
        (0, 40),
        "{flow}"
    );
}

#[test]
fn what_cannot_be_sent_is_refused_in_one_line() {
    let dir = Dir::new();
    dir.write("bad.toml", "[flows.x]\nmesage = 3\n");
    let receiver = Receiver::start(&dir, "--flows 2 --longest 5s");
    for (line, words) in [
        (
            "::1 --file bad.toml",
            &["bad.toml:2", "did you mean `message`?"][..],
        ),
        ("::1 --file none.toml", &["none.toml"]),
        ("::1 --flows 3 --for 1s", &["allows 2 flows"]),
        ("::1 --for 6s", &["allows sessions of 5s"]),
        ("::1 -4", &["no IPv4 address"]),
        (
            "::1 --protocol tcp --congestion none-such --packets 3",
            &["none-such"],
        ),
        ("::1 --bind 192.0.2.1 --packets 3", &["192.0.2.1"]),
        ("::1 --device none0 --packets 3", &["none0"]),
        ("no.such.host.invalid", &["no.such.host.invalid"]),
    ] {
        receiver.send(&dir, line).refused(words);
    }
    dir.run("send 127.0.0.1 --port 1")
        .refused(&["nobody listens there", "jumbolab recv"]);
    receiver.send(&dir, "::1 --packets 3 --gap 1ms").fine();
}
