//! STAMP between this program and ends that were written after the standards alone, in
//! Python, over loopback: a sender against the reflector of `jumbolab recv`, and
//! reflectors, honest and hostile ones, against `jumbolab probe`.
#![expect(
    clippy::disallowed_methods,
    reason = "sockets and clocks are of the tests' own"
)]

mod probers;
mod probing;

use std::io::{BufRead, BufReader, ErrorKind};
use std::net::{SocketAddr, UdpSocket};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

const SENDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/reflector/sender.py");
const REFLECTOR: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/reflector/reflector.py");

/// A program that is killed with its test.
struct Program(Child);

impl Program {
    fn start(command: &mut Command) -> Self {
        let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        Self(command.spawn().unwrap())
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// `jumbolab recv` with a reflector, and its port.
fn receiver(options: &[&str]) -> (Program, u16, BufReader<std::process::ChildStderr>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_jumbolab"));
    let mut receiver = Program::start(command.args(["recv", "--port", "0"]).args(options));
    let mut said = BufReader::new(receiver.0.stderr.take().unwrap());
    let mut line = String::new();
    said.read_line(&mut line).unwrap();
    let port = line.trim().rsplit_once("port ").expect(&line).1;
    (receiver, port.parse().unwrap(), said)
}

fn lines(said: &mut impl BufRead) -> Vec<String> {
    said.lines().map(Result::unwrap).collect()
}

fn stop(program: &mut Program) {
    let id = Pid::from_raw(i32::try_from(program.0.id()).unwrap());
    kill(id, Signal::SIGTERM).unwrap();
    assert!(program.0.wait().unwrap().success());
}

#[test]
fn an_independent_sender_finds_the_reflector_as_the_standards_say() {
    let (mut receiver, port, mut said) = receiver(&[]);
    for host in ["127.0.0.1", "::1"] {
        let mut python = Command::new("python3");
        let output = python.args([SENDER, host, &port.to_string()]);
        let output = output.output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.stdout, b"fine\n", "{errors}");
    }
    stop(&mut receiver);
    let said = lines(&mut said);
    let expected = [
        "listening on ::1 port ",
        "reflecting STAMP test packets on 127.0.0.1 and ::1 port ",
        "STAMP test packets: 44 reflected, 8 malformed",
    ];
    assert_eq!(said.len(), expected.len(), "{said:?}");
    for (line, words) in said.iter().zip(expected) {
        assert!(line.starts_with(words), "{line}");
    }
    // The reflector has ended with the receiver.
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.connect(("127.0.0.1", port)).unwrap();
    socket
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    socket.send(&[0; 100]).unwrap();
    let answer = socket.recv(&mut [0; 100]).unwrap_err();
    assert_eq!(answer.kind(), ErrorKind::ConnectionRefused);
}

#[test]
fn a_receiver_has_no_reflector_if_told_so_or_if_the_port_is_in_use() {
    let (mut without, port, mut said) = receiver(&["--no-reflector", "--listen", "127.0.0.1"]);
    let taken = UdpSocket::bind(("127.0.0.1", port)).expect("the port is free over UDP");
    stop(&mut without);
    assert_eq!(lines(&mut said), [""; 0]);
    // Another receiver at a port that this test occupies over UDP.
    let port = taken.local_addr().unwrap().port().to_string();
    let mut command = Command::new(env!("CARGO_BIN_EXE_jumbolab"));
    let options = ["recv", "--listen", "127.0.0.1", "--port", &port];
    let mut receiver = Program::start(command.args(options));
    let mut said = BufReader::new(receiver.0.stderr.take().unwrap());
    let mut line = String::new();
    for words in ["listening on", "no STAMP reflector: binding to"] {
        line.clear();
        said.read_line(&mut line).unwrap();
        assert!(line.starts_with(words), "{line}");
    }
    assert!(line.contains("in use"), "{line}");
    stop(&mut receiver);
}

/// A reflector in Python on loopback, and a socket that is connected to it.
fn python(host: &str, kind: &str) -> (Program, UdpSocket) {
    let mut program = Program::start(Command::new("python3").args([REFLECTOR, host, kind]));
    let mut line = String::new();
    let said = program.0.stdout.take().unwrap();
    BufReader::new(said).read_line(&mut line).unwrap();
    let port: u16 = line.trim().parse().unwrap();
    let to = SocketAddr::new(host.parse().unwrap(), port);
    let socket = UdpSocket::bind(SocketAddr::new(to.ip(), 0)).unwrap();
    socket.connect(to).unwrap();
    (program, socket)
}
