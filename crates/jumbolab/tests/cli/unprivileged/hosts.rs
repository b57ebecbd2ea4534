//! Admission of senders, and the clocks of hosts.

use std::process::Command;

use crate::harness::{Dir, Outcome};
use crate::lookup::Object;
use crate::traffic::Receiver;

#[test]
fn only_those_who_know_the_secret_are_served() {
    let dir = Dir::new();
    dir.write_private("right", "correct horse battery\n");
    dir.write_private("wrong", "incorrect horse battery\n");
    dir.write_private("short", "short\n");
    let receiver = Receiver::start(&dir, "--secret-file right");
    let quick = "::1 --packets 3 --gap 1ms";
    receiver
        .send(&dir, quick)
        .rejected(&["demands a secret", "--secret-file FILE"]);
    receiver
        .send(&dir, &format!("{quick} --secret-file wrong"))
        .rejected(&["secret is another one"]);
    receiver
        .send(&dir, &format!("{quick} --secret-file short"))
        .rejected(&["8 to 4096 bytes"]);
    receiver
        .send(&dir, &format!("{quick} --secret-file right"))
        .fine();
    let open = Receiver::start(&dir, "");
    open.send(&dir, &format!("{quick} --secret-file right"))
        .rejected(&["does not know the secret"]);
}

#[test]
fn the_bound_of_the_offset_holds_a_clock_that_is_shifted() {
    let dir = Dir::new();
    let receiver = Receiver::start(&dir, "");
    for seconds in [100_000_i64, 86_400 * 30] {
        let sender = dir.command();
        // The offset of the sender's monotonic clock.
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
        let offset = flow.figure("clock_offset_s");
        let bound = flow.figure("clock_error_bound_s");
        assert!((offset + seconds as f64).abs() <= bound, "{flow}");
        assert!(bound > 0.0 && bound < 0.02, "{flow}");
        assert_eq!(flow.count("received"), 200);
    }
}

#[test]
fn a_port_that_somebody_has_at_one_address_is_not_taken_at_the_other() {
    let dir = Dir::new();
    // Of the three ports that the kernel tries first, one is taken at ::1 alone.
    let script = "\
        echo 4000 4015 >/proc/sys/net/ipv4/ip_local_port_range; \
        \"$0\" recv --listen ::1 --port 4001 >/dev/null 2>taken & taken=$!; \
        trap \"kill -KILL $taken\" EXIT; \
        until grep -qs 'port 4001' taken; do kill -0 $taken; done; \
        for run in 1 2 3 4 5 6 7 8; do \
            rm -f chosen; \"$0\" recv --port 0 --no-reflector 2>chosen & chosen=$!; \
            until grep -qs '::1 port\\|jumbolab:' chosen; do kill -0 $chosen; done; \
            kill -INT $chosen; wait $chosen; cat chosen; \
        done; \
        code=0; \"$0\" recv --port 4001 2>rejected || code=$?; \
        echo code $code; cat rejected";
    let outcome = dir.in_namespaces(script).fine();
    let lines: Vec<&str> = outcome.stdout.lines().collect();
    assert_eq!(lines.len(), 2 * 8 + 2, "{lines:?}");
    for both in lines[..16].chunks(2) {
        let ports = ["listening on 127.0.0.1 port ", "listening on ::1 port "]
            .iter()
            .zip(both)
            .map(|(words, line)| line.strip_prefix(words).expect(line));
        let ports: Vec<&str> = ports.collect();
        assert!(ports[0] == ports[1] && ports[0] != "4001", "{both:?}");
    }
    assert_eq!(lines[16], "code 2");
    let rejected = lines[17];
    assert!(
        rejected.contains("::1 port 4001") || rejected.contains("[::1]:4001"),
        "{rejected}"
    );
    assert!(rejected.contains("in use"), "{rejected}");
}

#[test]
fn another_host_is_served_with_a_secret_or_if_all_are_and_told_so_otherwise() {
    let dir = Dir::new();
    let key = dir.write_private("key", "correct horse battery\n");
    let program = dir.command().get_program().to_str().unwrap().to_owned();
    let secret = format!("--secret-file '{}'", key.display());
    let between = |recv: &str, send: &[&str]| {
        let receiver = format!("receiver='{program}' recv --listen {{receiver}} {recv}");
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
    let other = between("", &[]);
    assert_eq!(other.code, Some(2), "{}", other.stderr);
    let words = "it serves its own machine only; start it with --secret-file FILE";
    assert!(other.stderr.contains(words), "{}", other.stderr);
    let key = key.to_str().unwrap();
    for (recv, send) in [("--open", &[][..]), (&secret, &["--secret-file", key])] {
        let flow = between(recv, send).fine().json().remove(0);
        assert_eq!(
            (flow.count("sent"), flow.count("received")),
            (40, 40),
            "{flow}"
        );
        assert_eq!(
            flow.figure("clock_error_bound_s"),
            0.0,
            "namespaces share the clock: {flow}"
        );
    }
    // Messages that exceed the path MTU and must not be fragmented are not
    // sent.
    let big = ["--message", "2000", "--pmtudisc", "do"];
    let outcome = between("--open", &big);
    assert_eq!(outcome.code, Some(1), "all are lost: {}", outcome.stderr);
    let flow = outcome.json().remove(0);
    assert_eq!(
        (flow.count("sent"), flow.count("unsent")),
        (0, 40),
        "{flow}"
    );
}
