//! The lease of a process that another machine controls, on systems other than Linux: it ends
//! when it has heard nothing for that time.

use std::io::{self, BufRead as _, BufReader, Read};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Duration;

use units::Span;

use crate::error::{OperationContext, Result};

/// The longest silence of the controller. `ssh` gives a connection up a little later.
pub const LEASE: Span = Span::from_secs(5);

/// A heartbeat as a line.
const HEARTBEAT: &str = "";

/// The longest line that is read; who sends more is broken.
const LONGEST: u64 = 16 << 20;

/// The requests on standard input. `beat` is called for each line and each heartbeat at once,
/// whatever the process does meanwhile. When the input ends or is silent for [`LEASE`], the
/// process ends, with its traffic.
///
/// # Errors
/// There is no thread.
pub fn requests(mut beat: impl FnMut() + Send + 'static) -> Result<Receiver<String>> {
    let doing = || "listening to the controller";
    // A pipe of Windows cannot be read until a deadline, so another thread waits for it.
    let (lines, heard) = mpsc::channel();
    let read = move || read_lines(io::stdin(), &lines);
    let reader = thread::Builder::new().name("controller".to_owned());
    reader.spawn(read).during(doing)?;
    let (sender, receiver) = mpsc::channel();
    let listen = move || {
        while let Some(line) = next_line(&heard, LEASE) {
            beat();
            if line != HEARTBEAT && sender.send(line).is_err() {
                break;
            }
        }
        std::process::exit(0)
    };
    let thread = thread::Builder::new().name("requests".to_owned());
    thread.spawn(listen).during(doing)?;
    Ok(receiver)
}

/// Passes the lines of `input` on, until it ends or nobody hears them.
fn read_lines(input: impl Read, lines: &Sender<String>) {
    let mut input = BufReader::new(input);
    loop {
        let mut line = Vec::new();
        let read = input.by_ref().take(LONGEST).read_until(b'\n', &mut line);
        // The last one has no end: the controller was cut off within it.
        if read.is_err() || line.pop() != Some(b'\n') {
            return;
        }
        let line = String::from_utf8_lossy(&line).into_owned();
        if lines.send(line).is_err() {
            return;
        }
    }
}

/// The next line; `None` if the input ends or is silent for `lease`.
fn next_line(lines: &Receiver<String>, lease: Span) -> Option<String> {
    let lease = Duration::from_nanos(lease.as_nanos());
    lines.recv_timeout(lease).ok()
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;
    use crate::clock;

    #[test]
    fn a_lease_ends_with_silence_and_with_the_input_and_not_before() {
        let (input, mut writer) = io::pipe().unwrap();
        let (sender, lines) = mpsc::channel();
        let thread = thread::Builder::new();
        let thread = thread.spawn(move || read_lines(input, &sender)).unwrap();
        let long = Span::from_secs(60);
        writer.write_all(b"\none\nhalf of").unwrap();
        assert_eq!(next_line(&lines, long).as_deref(), Some(HEARTBEAT));
        assert_eq!(next_line(&lines, long).as_deref(), Some("one"));
        // What is no whole line is no sign of life.
        let begun = clock::monotonic();
        let lease = Span::from_millis(30);
        assert_eq!(next_line(&lines, lease), None);
        assert!(clock::monotonic().since(begun).unwrap() >= lease);
        writer.write_all(b" two\nand a part").unwrap();
        drop(writer);
        assert_eq!(next_line(&lines, long).as_deref(), Some("half of two"));
        assert_eq!(next_line(&lines, long), None, "a part is no line");
        thread.join().unwrap();
    }
}
