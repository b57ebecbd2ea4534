//! Runs over hosts without `ssh`, each with a server of agents.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Command, Stdio};

use results::folder::Folder;

use crate::bed::{Bed, Between, signal, until};
use crate::run::{complaints, said};

/// A transfer for which the MTU of both interfaces is changed.
const EXPERIMENT: &str = "\
format = 1
name = \"served\"
[network]
ip = 4
[host]
offloads = \"on\"
[traffic]
size = \"500kB\"
warmup = \"100kB\"
cpu_bytes = \"1MB\"
[sweep]
\"network.mtu\" = [1500, 4000]
[trials]
repeat = 3
retry_limit = \"none\"
[compare]
factor = \"network.mtu\"
baseline = 1500
";

/// The most lines of a server before it listens.
const GREETING: usize = 2;

/// A bed with an experiment and two secrets.
fn bed() -> Bed {
    let bed = Bed::new(Between::Cable);
    fs::write(bed.path("t.toml"), EXPERIMENT).unwrap();
    for (name, text) in [
        ("secret", "a secret of this test\n"),
        ("other", "another one\n"),
    ] {
        let path = bed.path(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    }
    bed
}

/// The address of a host toward the controller.
fn address(host: &str) -> &str {
    match host {
        "a" => "10.9.1.2",
        _ => "10.9.2.2",
    }
}

/// A server on a host, which ends when it is dropped.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A server on a host, once it listens.
fn serve(bed: &Bed, host: &str) -> Server {
    let mut command = bed.on(host, env!("CARGO_BIN_EXE_jumbolab"));
    command.args(["agent", "--listen", address(host), "--secret-file"]);
    let mut server = { command.arg(bed.path("secret")).stderr(Stdio::piped()) }
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(server.stderr.take().unwrap()).lines();
    let greeting: Vec<String> = lines.by_ref().take(GREETING).map(Result::unwrap).collect();
    assert_eq!(
        greeting[0],
        format!("listening on {} port 7771", address(host))
    );
    assert!(
        greeting[1].contains("tcp dport 7771 accept"),
        "{greeting:?}"
    );
    std::thread::Builder::new()
        .spawn(move || lines.for_each(drop))
        .unwrap();
    Server(server)
}

/// The run with a file of the secret for each host. There is no `ssh`.
fn command(bed: &Bed, secrets: [&str; 2], results: &str, more: &[&str]) -> Command {
    let host = |role: &str, name: &str, secret: &str| {
        let place = address(name);
        format!("{role}=tcp://{place},secret_file={secret},interface=meas")
    };
    let sender = host("sender", "a", secrets[0]);
    let receiver = host("receiver", "b", secrets[1]);
    let words = [
        "run", "t.toml", "--on", "hosts", "--host", &sender, "--host", &receiver, "-o", results,
    ];
    let mut command = bed.command(&[&words, more].concat());
    command.env("JUMBOLAB_SSH", "/nonexistent");
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

const SECRETS: [&str; 2] = ["secret", "secret"];

/// Ends a server as Ctrl-C does, and asserts that it was in order.
fn stop(mut server: Server) {
    signal("-INT", &[server.0.id()]);
    assert!(server.0.wait().unwrap().success());
}

#[test]
fn a_run_over_servers_of_agents_changes_hosts_and_restores_them() {
    let bed = bed();
    let before = ["a", "b"].map(|host| bed.state(host));
    let servers = ["a", "b"].map(|host| serve(&bed, host));
    let output = command(&bed, SECRETS, "r", &[]).output().unwrap();
    assert!(
        matches!(output.status.code(), Some(0 | 1)),
        "{}",
        said(&output)
    );
    let (_, facts, trials) = Folder::read(&bed.path("r")).unwrap();
    assert_eq!(trials.len(), 6);
    assert!(trials.iter().all(|trial| trial.metrics["throughput"] > 0.0));
    let interfaces: Vec<&str> = facts.hosts.iter().map(|host| &*host.interface).collect();
    assert_eq!(interfaces, ["meas", "meas"]);
    servers.into_iter().for_each(stop);
    for (host, before) in ["a", "b"].iter().zip(before) {
        until(|| bed.state(host) == before);
    }
}

#[test]
fn a_host_is_as_before_when_its_server_or_the_run_is_killed_and_the_run_is_resumed() {
    let bed = bed();
    let before = ["a", "b"].map(|host| bed.state(host));
    for victim in ["server", "run"] {
        fs::remove_dir_all(bed.path("r")).unwrap_or_default();
        let [sender, mut receiver] = ["a", "b"].map(|host| serve(&bed, host));
        let mut run = command(&bed, SECRETS, "r", &[]).spawn().unwrap();
        // The first trial has begun.
        let journal = bed.path("r/trials.jsonl");
        until(|| {
            let lines = fs::read_to_string(&journal).unwrap_or_default();
            lines.contains('\n') || run.try_wait().unwrap().is_some()
        });
        if victim == "server" {
            receiver.0.kill().unwrap();
        } else {
            run.kill().unwrap();
        }
        let output = run.wait_with_output().unwrap();
        // A quick machine may have ended the run before.
        assert_ne!(output.status.code(), Some(1), "{victim}: {}", said(&output));
        if victim == "run" {
            stop(receiver);
        } else {
            receiver.0.wait().unwrap();
        }
        stop(sender);
        for (host, before) in ["a", "b"].iter().zip(&before) {
            until(|| bed.state(host) == *before);
        }
        let servers = ["a", "b"].map(|host| serve(&bed, host));
        let resumed = command(&bed, SECRETS, "r", &["--resume"]).output().unwrap();
        assert!(
            matches!(resumed.status.code(), Some(0 | 1)),
            "{victim}: {}",
            said(&resumed)
        );
        let (_, _, trials) = Folder::read(&bed.path("r")).unwrap();
        assert_eq!(trials.len(), 6, "{victim}");
        servers.into_iter().for_each(stop);
    }
}

#[test]
fn others_get_no_agent() {
    let bed = bed();
    let servers = ["a", "b"].map(|host| serve(&bed, host));
    for (secrets, told) in [
        (["secret", "other"], "use the same --secret-file"),
        (["nowhere", "secret"], "secret_file=nowhere: no such file"),
    ] {
        let output = command(&bed, secrets, "r", &[]).output().unwrap();
        let text = said(&output);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains(told) && complaints(&text) == 1, "{text}");
    }
    // Bytes of chance, and a handshake without an end, which has no answer either.
    let script = "import socket, os\n\
        for size in (48, 5000, 7):\n    \
            with socket.create_connection(('10.9.1.2', 7771)) as s:\n        \
                s.sendall(os.urandom(size))\n        \
                try: assert s.recv(99) == b''\n        \
                except ConnectionResetError: pass\n";
    let output = bed
        .on("a", "python3")
        .args(["-c", script])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", said(&output));
    assert!(bed.agents("a").is_empty());
    // A second run while the first one has agents.
    let mut first = command(&bed, SECRETS, "r", &["--set", "trials.repeat=50"])
        .spawn()
        .unwrap();
    until(|| bed.path("r/plan.toml").exists() || first.try_wait().unwrap().is_some());
    let second = command(&bed, SECRETS, "r2", &[]).output().unwrap();
    let text = said(&second);
    assert_eq!(second.status.code(), Some(2), "{text}");
    assert!(text.contains("this host serves another run"), "{text}");
    first.kill().unwrap();
    first.wait().unwrap();
    servers.into_iter().for_each(stop);
}
