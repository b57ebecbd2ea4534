//! `jumbolab send` and `jumbolab recv` over loopback.

mod black_hole;
mod delivered;
mod dripping;
mod ends;
mod hostile;
mod hostile_receiver;
mod hostile_sender;
mod intervals;
mod logs;
mod measures;
mod omitted;
mod own_host;
mod own_receiver;
mod own_sender;
mod packets;
mod payload;
mod ports;
mod presets;
mod protocols;
mod receivers;
mod remote_logs;
mod reverse;
mod short;
mod storage;

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStderr, Command, Stdio};

use super::harness::{Dir, Outcome};

/// Runs a script in a network namespace that has nothing but loopback. What it starts ends
/// with it.
fn in_own_network(dir: &Dir, script: &str) -> Outcome {
    let program = dir.command();
    let program = program.get_program().to_str().unwrap();
    let script = format!("jumbolab() {{ {program} \"$@\"; }}; ip link set lo up\n{script}");
    let mut command = Command::new("timeout");
    command.args(["60", "unshare", "-Urnmpf", "--mount-proc", "--kill-child"]);
    command.args(["sh", "-ec", &script]).current_dir(dir.path());
    Outcome::of(command.stdin(Stdio::null()).output().unwrap())
}

/// A receiver on loopback; it ends with its test.
pub(crate) struct Receiver {
    child: Child,
    said: BufReader<ChildStderr>,
    pub(crate) port: u16,
}

impl Receiver {
    pub(crate) fn start(dir: &Dir, options: &str) -> Self {
        Self::start_as(dir.command(), options)
    }

    /// Starts it with `command`, which runs the binary.
    pub(crate) fn start_as(mut command: Command, options: &str) -> Self {
        let mut child = command
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

    /// Its output up to a line with `words`.
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

    /// Sends to the receiver.
    pub(crate) fn send(&self, dir: &Dir, line: &str) -> Outcome {
        dir.run(&format!("send --port {} {line}", self.port))
    }

    /// Starts a sender to the receiver.
    pub(crate) fn begin(&self, dir: &Dir, line: &str) -> Child {
        let port = self.port.to_string();
        dir.command()
            .args(["send", "--port", &port])
            .args(line.split_whitespace())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// The process id.
    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    /// Kills the receiver with SIGKILL.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Asks the receiver to stop, and returns its output.
    pub(crate) fn stop(mut self) -> Outcome {
        interrupt(&self.child);
        self.end()
    }

    /// Waits until the receiver ends by itself.
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

/// The effect of Ctrl-C.
fn interrupt(child: &Child) {
    let pid = libc::pid_t::try_from(child.id()).unwrap();
    #[expect(unsafe_code, reason = "a signal is sent")]
    // SAFETY: to a child that was not waited for yet.
    let sent = unsafe { libc::kill(pid, libc::SIGINT) };
    assert_eq!(sent, 0);
}
