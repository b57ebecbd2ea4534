//! A command that runs to its end.

use std::process::{Command, Stdio};

use units::{Span, Time};

use crate::namespace::{self, Terminal};
use crate::tool::MOST_OUTPUT;
use crate::tool::stream::{ListenOutcome, Stream, hear};
use crate::{clock, interrupt};

/// The most bytes kept of what a command complains about.
pub(super) const MOST_COMPLAINT: usize = 1 << 16;

/// The interval between checks of a command that closed its streams but still runs.
const PAUSE: Span = Span::from_millis(2);

/// The result of a command on another machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// Its exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// Its standard output.
    pub bytes: Vec<u8>,
    /// The first 64 KiB of its standard error.
    pub complaint: String,
}

/// Runs a command for at most `time`. Returns the reason for which it has no result.
pub(super) fn run(words: &[String], input: Stdio, time: Span) -> Result<Output, String> {
    let deadline = clock::monotonic() + time;
    let (program, arguments) = words.split_first().ok_or("a command has no words")?;
    let mut command = Command::new(program);
    command.args(arguments).stdin(input);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    namespace::place(None, Terminal::Absent, &mut command);
    let mut child = command.spawn().map_err(|error| absent(program, &error))?;
    let mut output = Stream::of(child.stdout.take(), MOST_OUTPUT);
    let mut complaint = Stream::of(child.stderr.take(), MOST_COMPLAINT);
    let ended = loop {
        let heard = hear([&mut output, &mut complaint], left_until(deadline));
        match heard.map_err(|error| error.to_string()) {
            Ok(ListenOutcome::AllClosed) => match child.try_wait() {
                Ok(Some(status)) => break Ok(status),
                Ok(None) => clock::sleep(PAUSE),
                Err(error) => break Err(error.to_string()),
            },
            Ok(_) if interrupt::asked() => break Err("stopped".to_owned()),
            Ok(_) => {}
            Err(error) => break Err(error),
        }
        if left_until(deadline) == Span::ZERO {
            break Err(format!(
                "no answer within {} s; see whether the machine is overloaded",
                time.as_secs_f64()
            ));
        }
    };
    if ended.is_err() {
        // It may have ended meanwhile.
        let _ = child.kill();
        let _ = child.wait();
    }
    let code = ended?.code();
    let bytes = output.whole().ok_or("its output is too long")?.to_vec();
    let complaint = String::from_utf8_lossy(complaint.kept()).into_owned();
    Ok(Output {
        code,
        bytes,
        complaint,
    })
}

/// The reason for which the program that connects cannot be started.
pub(super) fn absent(program: &str, error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => {
            let package = match program.ends_with("ssh") {
                true => " (apt-get install openssh-client)",
                false => "",
            };
            format!(
                "there is no program `{program}` here; install it{package}, or set {}",
                super::VARIABLE
            )
        }
        _ => format!("starting `{program}`: {error}"),
    }
}

pub(super) fn left_until(deadline: Time) -> Span {
    deadline.since(clock::monotonic()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Span = Span::from_secs(60);

    fn shell(script: &str, time: Span) -> Result<Output, String> {
        let words = ["sh", "-c", script].map(str::to_owned);
        run(&words, Stdio::null(), time)
    }

    #[test]
    fn a_command_returns_code_output_and_complaint() {
        let output = shell("echo out; echo err >&2; exit 3", LONG).unwrap();
        assert_eq!(output.code, Some(3));
        assert_eq!(output.bytes, b"out\n");
        assert_eq!(output.complaint, "err\n");
    }

    #[test]
    fn a_command_has_a_deadline_and_a_limit() {
        let begun = clock::monotonic();
        let why = shell("exec sleep 100", Span::from_millis(50)).unwrap_err();
        assert!(why.starts_with("no answer within 0.05 s"), "{why}");
        assert!(clock::monotonic().since(begun).unwrap() < LONG);
        let why = shell("head -c 17000000 /dev/zero", LONG).unwrap_err();
        assert_eq!(why, "its output is too long");
    }

    #[test]
    fn a_program_that_is_absent_is_named_with_the_remedy() {
        let why = run(&["no-such-ssh".to_owned()], Stdio::null(), LONG).unwrap_err();
        assert!(
            why.contains("`no-such-ssh`") && why.contains("apt-get"),
            "{why}"
        );
    }
}
