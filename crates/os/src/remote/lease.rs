//! The lease of a process that another machine controls: it ends when it has heard nothing
//! for that time, because a network that is cut closes no connection.
//!
//! The controller's [`Worker`](crate::Worker) sends an empty line every [`HEARTBEAT_INTERVAL`].

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::sync::mpsc::{self, Receiver};
use std::thread;

use units::Span;

use crate::error::{OperationContext, Result};
use crate::lines::{Lines, ReadOutcome};
use crate::{clock, tool};

/// The longest silence of the controller. `ssh` gives a connection up a little later.
pub const LEASE: Span = Span::from_secs(5);

/// The interval of heartbeats.
pub(crate) const HEARTBEAT_INTERVAL: Span = Span::from_secs(1);

/// A heartbeat as a line.
pub(crate) const HEARTBEAT: &str = "";

/// The requests on standard input, read by a thread, which calls `beat` for each line and
/// each heartbeat at once, whatever the process does meanwhile.
///
/// When the input ends or is silent for [`LEASE`], the thread ends the programs of the
/// user that this process started, and then the process, with its traffic.
///
/// # Errors
/// If there is no input or no thread.
pub fn requests(mut beat: impl FnMut() + Send + 'static) -> Result<Receiver<String>> {
    let doing = || "opening the controller's pipe";
    let input = io::stdin().as_fd().try_clone_to_owned().during(doing)?;
    let mut lines = Lines::new(File::from(input));
    let (sender, receiver) = mpsc::channel();
    let listen = move || {
        while let Some(line) = next_line(&mut lines, LEASE) {
            beat();
            if line != HEARTBEAT && sender.send(line).is_err() {
                break;
            }
        }
        tool::end_all();
        std::process::exit(0)
    };
    let thread = thread::Builder::new().name("requests".to_owned());
    thread.spawn(listen).during(doing)?;
    Ok(receiver)
}

/// The next line; `None` if the input ends or is silent for `lease`.
pub(crate) fn next_line<R: io::Read + AsFd>(lines: &mut Lines<R>, lease: Span) -> Option<String> {
    let deadline = clock::monotonic() + lease;
    loop {
        match lines.receive(deadline).ok()? {
            ReadOutcome::Line(line) => return Some(line),
            ReadOutcome::Nothing if clock::monotonic() < deadline => {}
            ReadOutcome::Nothing | ReadOutcome::End => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn a_lease_ends_with_silence_and_with_the_input_and_not_before() {
        let (reader, mut writer) = io::pipe().unwrap();
        let mut lines = Lines::new(File::from(std::os::fd::OwnedFd::from(reader)));
        let long = Span::from_secs(60);
        writer.write_all(b"\none\nhalf of").unwrap();
        assert_eq!(next_line(&mut lines, long).as_deref(), Some(HEARTBEAT));
        assert_eq!(next_line(&mut lines, long).as_deref(), Some("one"));
        // What is no whole line is no sign of life.
        let begun = clock::monotonic();
        let lease = Span::from_millis(30);
        assert_eq!(next_line(&mut lines, lease), None);
        assert!(clock::monotonic().since(begun).unwrap() >= lease);
        writer.write_all(b" two\n").unwrap();
        drop(writer);
        assert_eq!(next_line(&mut lines, long).as_deref(), Some("half of two"));
        assert_eq!(next_line(&mut lines, long), None);
    }
}
