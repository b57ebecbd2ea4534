//! Tests of iperf3's protocol with the real iperf3 at one end, over loopback, and with clients
//! that are no iperf3.
//!
//! TCP loses nothing, and each datagram is received or lost: so counts of both ends are compared
//! exactly, and no speed is.
#![expect(
    clippy::disallowed_methods,
    reason = "sockets and clocks are of the tests' own"
)]

mod as_client;
mod as_server;
mod figures;
mod hostile;
#[path = "../cli/schema.rs"]
mod schema;

use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::process::{Child, ChildStderr, Command, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

/// A program that is killed with its test.
struct Program(Child);

impl Program {
    fn start(command: &mut Command) -> Self {
        let command = command.stdin(Stdio::null());
        let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        Self(command.spawn().expect("install iperf3"))
    }

    /// All of its output, at its end.
    fn output(&mut self) -> String {
        let mut text = String::new();
        let stdout = self.0.stdout.as_mut().unwrap();
        stdout.read_to_string(&mut text).unwrap();
        self.0.wait().unwrap();
        text
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// `jumbolab recv --iperf3`, its port, and what it logs.
struct Receiver {
    program: Program,
    port: u16,
    log: BufReader<ChildStderr>,
}

impl Receiver {
    fn start(options: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_jumbolab"));
        command.args(["recv", "--iperf3", "--port", "0", "-4", "--json"]);
        let mut program = Program::start(command.args(options));
        let mut log = BufReader::new(program.0.stderr.take().unwrap());
        let line = line(&mut log);
        let port = line.split_whitespace().skip_while(|word| *word != "port");
        let port = port.skip(1).map(str::parse).next();
        Self {
            program,
            port: port.expect(&line).expect(&line),
            log,
        }
    }

    /// Ends it as Ctrl-C does, and returns its results.
    fn end(mut self) -> Vec<Value> {
        let id = Pid::from_raw(i32::try_from(self.program.0.id()).unwrap());
        kill(id, Signal::SIGINT).unwrap();
        let results = objects(&self.program.output());
        assert!(self.program.0.wait().unwrap().success());
        results
    }
}

/// The next line.
fn line(from: &mut impl BufRead) -> String {
    let mut line = String::new();
    from.read_line(&mut line).unwrap();
    line.trim().to_owned()
}

/// The objects of JSON Lines, each of which is as its schema says.
fn objects(text: &str) -> Vec<Value> {
    let objects = text
        .lines()
        .map(|line| serde_json::from_str(line).expect(line));
    objects.inspect(schema::check).collect()
}

/// The report of iperf3 with -J.
fn iperf3(arguments: &[&str]) -> Value {
    let mut client = Program::start(Command::new("iperf3").args(arguments));
    let text = client.output();
    serde_json::from_str(&text).unwrap_or_else(|_| panic!("{arguments:?}: {text}"))
}

/// A port that nobody uses.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

fn number(object: &Value, key: &str) -> u64 {
    object[key]
        .as_u64()
        .unwrap_or_else(|| panic!("{key} of {object}"))
}

fn sum(objects: &[Value], key: &str) -> u64 {
    objects.iter().map(|object| number(object, key)).sum()
}
