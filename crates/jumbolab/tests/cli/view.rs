//! The view of a run on a terminal.

use std::fs::File;
use std::io::Read as _;
use std::process::Stdio;
use std::thread;

use nix::pty::{Winsize, openpty};

use crate::harness::Dir;

/// A short simulated run of two queues.
const RUN: &str = "run red-increase -o r --repeat 2 --set queue=red,droptail --set duration=2s \
                   --set small_start=1s --set start_interval=10ms --set h1=0s..1s --set h2=1s..2s";

/// The screen that a run draws on a terminal of this size.
fn shown(line: &str, columns: u16, rows: u16) -> String {
    let dir = Dir::new();
    let size = Winsize {
        ws_row: rows,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    let terminal = openpty(&size, None).unwrap();
    let mut child = dir
        .command()
        .env("TERM", "xterm")
        .args(line.split_whitespace())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::from(terminal.slave))
        .spawn()
        .unwrap();
    let mut master = File::from(terminal.master);
    #[expect(
        clippy::disallowed_methods,
        reason = "a test panics where it has no thread"
    )]
    let reader = thread::spawn(move || {
        let mut text = Vec::new();
        // The read fails once no process has the terminal open.
        let _ = master.read_to_end(&mut text);
        text
    });
    assert!(child.wait().unwrap().success());
    String::from_utf8(reader.join().unwrap()).unwrap()
}

#[test]
fn a_terminal_shows_the_links_the_trial_and_the_means_in_its_usual_mode() {
    let shown = shown(RUN, 100, 40);
    for part in [
        "bottleneck (r1 - r2): 1.5 Mbit/s; MTU 1500; delay 20 ms",
        "/4 trials",
        "trial queue=",
        "drop-tail",
        "trials",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    // Neither another screen nor a hidden cursor: nothing to restore after a kill.
    assert!(!shown.contains("\u{1b}[?"), "{shown:?}");
    // At the end the view is gone.
    assert!(shown.ends_with("\r\u{1b}[2K"), "{shown:?}");
}

#[test]
fn a_small_terminal_has_a_small_view_and_a_plain_one_has_lines() {
    let small = shown(RUN, 30, 6);
    assert!(small.contains("/4  "), "{small}");
    assert!(!small.contains("bottleneck"), "{small}");
    let plain = shown(&format!("{RUN} --plain"), 100, 40);
    assert!(plain.contains("4 trials, 0 already done"), "{plain}");
    assert!(!plain.contains('\u{1b}'), "{plain:?}");
}
