//! Limits of the system that leave the program too little: each ends in one line and exit
//! code 2.

use crate::harness::{Dir, Outcome};

const SIMULATED: &str = "\
format = 1
name = \"limits\"
world = \"sim\"
[traffic]
protocol = \"udp\"
size = \"50kB\"
[sweep]
\"network.mtu\" = [1280, 4000]
[trials]
repeat = 3
";

/// The size of a stack that no address space has room for: the system refuses each thread.
const NO_THREADS: (&str, &str) = ("RUST_MIN_STACK", "140737488355328");

#[test]
fn a_thread_that_the_system_refuses_is_an_error_in_words() {
    for (line, words) in [
        ("run limits.toml -o r -q", "starting a thread"),
        ("run limits.toml -o s -q --threads 1", "starting a thread"),
        (
            "send 127.0.0.1 --protocol echo --for 1s",
            "starting a thread",
        ),
    ] {
        let dir = Dir::new();
        dir.write("limits.toml", SIMULATED);
        let mut command = dir.command();
        command
            .args(line.split(' '))
            .env(NO_THREADS.0, NO_THREADS.1);
        let outcome = Outcome::of(command.output().unwrap());
        outcome.refused(&[words, "Resource temporarily unavailable"]);
    }
}

#[test]
fn a_run_that_was_refused_its_threads_is_resumed() {
    let dir = Dir::new();
    dir.write("limits.toml", SIMULATED);
    let mut command = dir.command();
    command.args(["run", "limits.toml", "-o", "r", "-q"]);
    command.env(NO_THREADS.0, NO_THREADS.1);
    Outcome::of(command.output().unwrap()).refused(&["--resume"]);
    dir.run("run limits.toml -o r --resume").fine();
    assert_eq!(dir.trials("r", 6).len(), 6);
}
