//! Worker processes that exchange lines of text with this process: inside the sandbox,
//! or behind a program that reaches them.

mod input;
pub mod roll;

use std::ffi::OsStr;
use std::io::{self, Read};
use std::iter;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::process::{self, Child, ChildStdout, Stdio};

use units::{Span, Time};

use crate::error::{Error, OperationContext, Result};
use crate::lines::Lines;
use crate::linux::pipes::{self, Watched};
use crate::namespace::{self, Namespace, Terminal};
use crate::tool::stream::{ListenOutcome, Stream, hear};
use crate::{clock, own_executable, signals};
use input::Input;

/// The first argument that makes the program a worker; its role follows.
pub const ARGUMENT: &str = "--worker";

/// The role in which this process was started, if it is a worker. Every program that
/// uses namespaces checks this first.
pub fn role() -> Option<String> {
    let mut words = std::env::args().skip(1);
    (words.next()? == ARGUMENT).then(|| words.next().unwrap_or_default())
}

/// The words behind the role.
pub fn arguments() -> impl Iterator<Item = String> {
    std::env::args().skip(3)
}

/// The role of the sandbox's first process.
pub const INIT_PROCESS: &str = "init";

/// The most bytes kept of its standard error.
const MOST_COMPLAINT: usize = 1 << 16;

/// The time for a worker whose output has ended to say why, and to end.
const LAST_WORDS: Span = Span::from_secs(1);

/// Interval between checks whether a worker has ended.
const PAUSE: Span = Span::from_millis(2);

/// A command that starts a worker: a program that reads requests from its standard
/// input, answers on its standard output, and ends when its input ends.
pub struct Command<'a> {
    program: process::Command,
    /// The network namespace in which it starts; `None`: the caller's.
    namespace: Option<&'a Namespace>,
    /// Name of the worker in messages.
    name: String,
    /// The time for the worker to end after its input has ended; it is killed
    /// afterwards.
    grace: Span,
    /// Whether its standard error is kept for messages; otherwise it is the caller's.
    is_apart: bool,
    /// Whether it ends without heartbeats.
    has_lease: bool,
}

impl Command<'static> {
    /// A program that is a worker or reaches one on another machine, for instance
    /// `ssh`. It starts in the caller's namespaces.
    ///
    /// When its [`Worker`] is dropped, its input ends, and the program is killed after
    /// `grace` unless it has ended.
    pub fn new(
        program: &str,
        arguments: impl IntoIterator<Item = impl AsRef<OsStr>>,
        grace: Span,
    ) -> Self {
        let mut command = process::Command::new(program);
        command.args(arguments);
        Self {
            program: command,
            namespace: None,
            name: program.to_owned(),
            grace,
            is_apart: true,
            has_lease: false,
        }
    }

    /// The same for a worker that reads its input by [`requests`](crate::lease::requests): it gets
    /// heartbeats from a thread until its [`Worker`] is dropped.
    #[must_use]
    pub fn leased(self) -> Self {
        let has_lease = true;
        Self { has_lease, ..self }
    }

    /// The same, with another name in messages.
    #[must_use]
    pub fn called(self, name: String) -> Self {
        Self { name, ..self }
    }
}

impl<'a> Command<'a> {
    /// This program again, as a worker in `role`, inside `namespace` or the caller's.
    /// It is killed when its [`Worker`] is dropped.
    pub fn local(namespace: Option<&'a Namespace>, role: &str) -> Self {
        let mut program = process::Command::new(own_executable::FILE);
        program.arg0("jumbolab").args([ARGUMENT, role]);
        Self {
            program,
            namespace,
            name: role.to_owned(),
            grace: Span::ZERO,
            is_apart: false,
            has_lease: false,
        }
    }
}

/// A process that exchanges lines with this one.
///
/// It dies when its parent dies, and ends when its input ends.
pub struct Worker {
    child: Child,
    /// In messages.
    name: String,
    input: Input,
    output: Lines<ChildStdout>,
    /// The standard error of another program.
    complaint: Stream,
    grace: Span,
    /// Of a local worker. Dropped before it is ended.
    entry: Option<roll::Entry>,
}

impl Worker {
    /// Starts the worker of `command`, which ignores Ctrl-C and hang-ups of the
    /// terminal.
    ///
    /// # Errors
    /// If the kernel rejects to start it or to enter the namespace.
    pub fn spawn(command: Command<'_>) -> Result<Self> {
        let Command {
            mut program,
            namespace,
            name,
            grace,
            is_apart,
            has_lease,
        } = command;
        program.stdin(Stdio::piped()).stdout(Stdio::piped());
        if is_apart {
            // Its own, because `ssh` makes its streams non-blocking.
            program.stderr(Stdio::piped());
        }
        // Another program may want Ctrl-C in spite of that, as `ssh` does.
        let terminal = match is_apart {
            true => Terminal::Absent,
            false => Terminal::Ignored,
        };
        namespace::place(namespace, terminal, &mut program);
        let operation = || format!("starting the worker `{name}`");
        let mut child = program.spawn().during(operation)?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(Error::new(operation(), "it has no pipes"));
        };
        let input = Input::new(input, has_lease).during(operation)?;
        let complaint = Stream::of(child.stderr.take(), MOST_COMPLAINT);
        let entry = match is_apart {
            true => None,
            false => Some(roll::Entry::new(&child, name.clone(), &output)?),
        };
        Ok(Self {
            child,
            name,
            entry,
            input,
            output: Lines::new(output),
            complaint,
            grace,
        })
    }

    /// Sends one line.
    ///
    /// # Errors
    /// If the worker has ended.
    pub fn send_line(&mut self, line: &str) -> Result<()> {
        let Err(error) = self.input.write_line(line) else {
            return Ok(());
        };
        let operation = format!("writing to the worker `{}`", self.name);
        match error.kind() {
            // It may have said why it ended.
            io::ErrorKind::BrokenPipe => Err(Error::new(operation, self.exit_message())),
            _ => Err(error).during(|| operation),
        }
    }

    /// Waits for one line until the monotonic clock shows `deadline`, or a signal
    /// arrives; `None` in either case.
    ///
    /// # Errors
    /// If this worker or another local one has ended, or its line is too long.
    pub fn receive_line(&mut self, deadline: Time) -> Result<Option<String>> {
        loop {
            if let Some(line) = self.output.next_line() {
                return Ok(Some(line));
            }
            let left = deadline.since(clock::monotonic()).unwrap_or_default();
            let output = Watched::Input(self.output.as_fd());
            let complaint = self.complaint.as_fd().map(Watched::Input);
            let own = iter::once(output).chain(complaint);
            let others = match self.entry {
                Some(_) => roll::others(&self.child),
                None => Vec::new(),
            };
            let all = own.chain(others.iter().map(|other| other.watched()));
            let watched: Vec<Watched<'_>> = all.collect();
            let ready = pipes::wait(&watched, left).during(|| "waiting for a worker")?;
            let Some(ready) = ready else {
                return Ok(None);
            };
            let own = ready.len() - others.len();
            if ready[1..own].contains(&true) {
                self.complaint.read()?;
            }
            if ready[0] {
                if !self.output.fill()? {
                    let operation = format!("hearing the worker `{}`", self.name);
                    return Err(Error::new(operation, self.exit_message()));
                }
            } else if let Some(ended) = ready[own..].iter().position(|ended| *ended) {
                return Err(others[ended].ended());
            }
            // It may write all the time and end no line.
            if left == Span::ZERO {
                return Ok(self.output.next_line());
            }
        }
    }

    fn exit_message(&mut self) -> String {
        let mut none = Stream::of(None::<OwnedFd>, 0);
        // It may have closed its output, and go on.
        let deadline = clock::monotonic() + LAST_WORDS;
        let in_time = || clock::monotonic() < deadline;
        let mut said_more = || hear([&mut self.complaint, &mut none], Span::ZERO);
        while in_time() && matches!(said_more(), Ok(ListenOutcome::Something)) {}
        while in_time() && matches!(self.child.try_wait(), Ok(None)) {
            clock::sleep(PAUSE);
        }
        let said = String::from_utf8_lossy(self.complaint.kept());
        let said = said.lines().rfind(|line| !line.trim().is_empty());
        let said = said.map_or_else(String::new, |line| format!(": {}", line.trim()));
        match self.child.try_wait() {
            Ok(Some(status)) => format!("it ended early ({status}){said}"),
            Ok(None) => format!("it closed its output early{said}"),
            Err(_) => format!("it ended early{said}"),
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.entry = None;
        // Closing its input asks it to end; killing it enforces this. Failures do not
        // matter: it may have ended already.
        let mut closed = self.input.close();
        let deadline = clock::monotonic() + self.grace;
        while clock::monotonic() < deadline && matches!(self.child.try_wait(), Ok(None)) {
            clock::sleep(PAUSE);
            closed = closed || self.input.close();
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The init process: it waits until its parent ends. As the first process of its
/// namespace it inherits the orphans of users' programs [pid_namespaces(7)], which
/// vanish without a wait when they end.
pub fn init_process() {
    signals::forget_children();
    let mut sink = [0; 64];
    while !matches!(std::io::stdin().read(&mut sink), Ok(0) | Err(_)) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Span = Span::from_secs(60);

    fn soon() -> Time {
        clock::monotonic() + LONG
    }

    #[test]
    fn any_program_that_speaks_in_lines_is_a_worker() {
        let none: [&str; 0] = [];
        let mut worker = Worker::spawn(Command::new("cat", none, LONG)).unwrap();
        for line in ["one", "", "three"] {
            worker.send_line(line).unwrap();
            assert_eq!(worker.receive_line(soon()).unwrap().as_deref(), Some(line));
        }
    }

    #[test]
    fn the_end_of_any_local_worker_ends_each_wait_at_once() {
        let local = |script: &str| {
            let command = Command::new("sh", ["-c", script], Span::ZERO);
            let command = Command {
                is_apart: false,
                ..command.called(format!("role of {script}"))
            };
            Worker::spawn(command).unwrap()
        };
        let mut waiting = local("exec sleep 1000");
        let other = local("read line; echo lost; exit 3");
        let dropped = local("exec sleep 2000");
        drop(dropped);
        let begun = clock::monotonic();
        let soon = begun + Span::from_millis(20);
        assert_eq!(waiting.receive_line(soon).unwrap(), None);
        let mut far = Worker::spawn(Command::new("sleep", ["1000"], Span::ZERO)).unwrap();
        other.input.write_line("").unwrap();
        let error = waiting.receive_line(begun + LONG).unwrap_err();
        let told =
            "the worker `role of read line; echo lost; exit 3` was killed, or ended early: lost";
        assert!(error.to_string().ends_with(told), "{error}");
        assert!(clock::monotonic().since(begun).unwrap() < LONG);
        // Programs that reach other machines have errors of their own.
        let soon = clock::monotonic() + Span::from_millis(20);
        assert_eq!(far.receive_line(soon).unwrap(), None);
    }

    #[test]
    fn a_worker_has_its_time_to_leave_and_no_more() {
        // It prints its process id and stays for the given time after the end of its
        // input.
        let says = |seconds: &str, grace| {
            let script = "echo $$; read nothing; exec sleep $0";
            let command = Command::new("sh", ["-c", script, seconds], grace);
            let mut worker = Worker::spawn(command).unwrap();
            let line = worker.receive_line(soon()).unwrap().unwrap();
            let begun = clock::monotonic();
            drop(worker);
            assert!(!std::path::Path::new(&format!("/proc/{line}")).exists());
            clock::monotonic().since(begun).unwrap()
        };
        assert!(says("0.1", LONG) >= Span::from_millis(100));
        assert!(says("1000", Span::ZERO) < LONG);
        assert!(says("1000", Span::from_millis(50)) < LONG);
    }

    #[test]
    fn a_worker_that_writes_errors_all_the_time_moves_no_deadline() {
        let command = Command::new("sh", ["-c", "while :; do echo x >&2; done"], Span::ZERO);
        let mut worker = Worker::spawn(command).unwrap();
        let deadline = clock::monotonic() + Span::from_millis(50);
        assert_eq!(worker.receive_line(deadline).unwrap(), None);
    }

    #[test]
    fn a_worker_that_closes_its_output_and_goes_on_is_not_waited_for() {
        let script = "echo reason >&2; exec >&-; exec sleep 1000";
        let command = Command::new("sh", ["-c", script], Span::ZERO);
        let mut worker = Worker::spawn(command).unwrap();
        let error = worker.receive_line(soon()).unwrap_err().to_string();
        assert!(
            error.ends_with("closed its output early: reason"),
            "{error}"
        );
    }

    #[test]
    fn a_worker_with_a_lease_gets_heartbeats_that_stop_no_end() {
        let count = "read line && echo \"<$line>\"; exec sleep 1000";
        let command = Command::new("sh", ["-c", count], Span::ZERO).leased();
        let mut worker = Worker::spawn(command).unwrap();
        let line = worker.receive_line(soon()).unwrap();
        assert_eq!(line.as_deref(), Some("<>"));
        let none: [&str; 0] = [];
        let mut worker = Worker::spawn(Command::new("cat", none, LONG).leased()).unwrap();
        let child = worker.child.id();
        for _ in 0..2 {
            assert_eq!(worker.receive_line(soon()).unwrap().as_deref(), Some(""));
        }
        let begun = clock::monotonic();
        drop(worker);
        assert!(!std::path::Path::new(&format!("/proc/{child}")).exists());
        assert!(clock::monotonic().since(begun).unwrap() < LONG);
    }

    #[test]
    fn the_error_of_a_worker_that_cannot_start_or_has_ended_says_so() {
        let none: [&str; 0] = [];
        let Err(error) = Worker::spawn(Command::new("/no/such/program", none, LONG)) else {
            panic!("there is no such program");
        };
        let text = error.to_string();
        assert!(
            text.starts_with("starting the worker `/no/such/program`"),
            "{text}"
        );
        let mut worker = Worker::spawn(Command::new("true", none, LONG)).unwrap();
        let error = worker.receive_line(soon()).unwrap_err();
        assert!(error.to_string().contains("it ended early"), "{error}");
        let script = "echo first >&2; echo reason >&2; exit 3";
        let mut worker = Worker::spawn(Command::new("sh", ["-c", script], LONG)).unwrap();
        let error = worker.receive_line(soon()).unwrap_err().to_string();
        assert!(error.ends_with("(exit status: 3): reason"), "{error}");
        let mut worker = Worker::spawn(Command::new("sh", ["-c", script], LONG)).unwrap();
        // A pipe takes lines until its reader has ended.
        let error = loop {
            if let Err(error) = worker.send_line("more") {
                break error.to_string();
            }
        };
        assert!(error.ends_with("(exit status: 3): reason"), "{error}");
    }
}
