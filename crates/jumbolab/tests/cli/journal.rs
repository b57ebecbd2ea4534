//! Finished trials survive kill -9, Ctrl-C and a full disk.

use std::process::{Child, Command, Stdio};

use os::{clock, kernel_clock};
use serde_json::Value;
use units::Span;

use crate::harness::{Dir, Outcome, SHORT, holds, journal};

const TRIALS: usize = 24;

fn command(dir: &Dir, more: &[&str]) -> Command {
    let mut command = dir.command();
    let line = format!("run os-comparison --repeat 4 -o r {SHORT}");
    command.args(line.split_whitespace()).args(more);
    command
}

/// Waits until a run has added `more` trials, or ended.
fn until_more_trials(dir: &Dir, child: &mut Child, more: usize) {
    let wanted = journal(&dir.path().join("r")).len() + more;
    let more = holds(|| {
        journal(&dir.path().join("r")).len() >= wanted || child.try_wait().unwrap().is_some()
    });
    assert!(more, "the run stands still");
}

/// Sends SIGINT to a process that has not been waited for.
fn interrupt(child: &Child) {
    // SAFETY: the child has not been waited for, so the number is still its own.
    #[allow(unsafe_code)]
    let sent = unsafe { libc::kill(i32::try_from(child.id()).unwrap(), libc::SIGINT) };
    assert_eq!(sent, 0);
}

/// Waits for up to 150 ms, chosen by `seed` and `round`, so that the moment of
/// a kill does not depend on the program's own steps.
fn wait_at_random(seed: u64, round: u64) {
    // Any hash will do: that of FNV-1a.
    let bytes = [seed.to_le_bytes(), round.to_le_bytes()].concat();
    let hash = bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash: u64, &byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
    clock::sleep(Span::from_micros((hash >> 16) % 150_000));
}

/// The seed in `JUMBOLAB_KILL_SEED`, or a new one in each run, printed if the
/// test fails.
#[expect(clippy::print_stdout, reason = "a failure is repeated with its seed")]
fn seed() -> u64 {
    let seed = std::env::var("JUMBOLAB_KILL_SEED");
    let seed = seed.map_or_else(
        |_| kernel_clock::monotonic_nanos(),
        |seed| seed.parse().unwrap(),
    );
    println!("moments of kills: JUMBOLAB_KILL_SEED={seed}");
    seed
}

fn ids_and_starts(trials: &[Value]) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    trials
        .iter()
        .map(|trial| (text(&trial["id"]), text(&trial["start"])))
        .collect()
}

#[test]
fn twenty_kills_lose_nothing_and_repeat_nothing() {
    let dir = Dir::new();
    let mut kept = Vec::new();
    let seed = seed();
    for round in 0..20u64 {
        // The folder is there once a run got as far as its journal.
        let begun = dir.path().join("r/trials.jsonl").exists();
        let resume: &[&str] = if begun { &["--resume"] } else { &[] };
        let mut child = command(&dir, resume)
            .stderr(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        // Half of the kills hit the preparation of the run, half its trials.
        if round % 2 == 1 {
            until_more_trials(&dir, &mut child, 1);
        }
        wait_at_random(seed, round);
        child.kill().unwrap();
        child.wait().unwrap();
        dir.expect_no_process();
        let now = ids_and_starts(&journal(&dir.path().join("r")));
        assert_eq!(now[..kept.len()], kept, "what was finished has changed");
        kept = now;
    }
    Outcome::of(command(&dir, &["--resume"]).output().unwrap()).ran();
    let all = ids_and_starts(&journal(&dir.path().join("r")));
    assert_eq!(all[..kept.len()], kept);
    let mut ids: Vec<_> = all.into_iter().map(|(id, _)| id).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), TRIALS, "each trial once: {ids:?}");
}

/// Two simulated trials that take minutes each.
const LONG: &str = "\
format = 1
name = \"long\"
backend = \"sim\"
[network]
shape = \"pair\"
[traffic]
kind = \"flows\"
duration = \"3000s\"
[flows.bulk]
message = 1000
gap = \"10us\"
[sweep]
\"network.mtu\" = [1500, 9000]
[trials]
repeat = 1
";

#[test]
fn a_long_simulated_trial_ends_soon_when_it_is_interrupted_and_is_not_kept() {
    let dir = Dir::new();
    dir.write("long.toml", LONG);
    let mut child = (dir.command().args(["run", "long.toml", "-o", "r"]))
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    // The folder is there when trials begin.
    assert!(holds(|| dir.path().join("r/plan.toml").exists()));
    interrupt(&child);
    assert!(holds(|| child.try_wait().unwrap().is_some()), "it goes on");
    let outcome = Outcome::of(child.wait_with_output().unwrap()).stopped();
    assert!(outcome.stderr.contains("--resume"), "{}", outcome.stderr);
    let kept = journal(&dir.path().join("r"));
    assert!(
        kept.iter().all(|trial| trial["failure"].is_null()),
        "{kept:?}"
    );
    assert!(kept.len() < 2, "{kept:?}");
}

#[test]
fn an_interrupted_run_says_how_to_go_on() {
    let dir = Dir::new();
    let mut child = command(&dir, &[])
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    until_more_trials(&dir, &mut child, 2);
    interrupt(&child);
    let outcome = Outcome::of(child.wait_with_output().unwrap()).stopped();
    assert!(outcome.stderr.contains("--resume"), "{}", outcome.stderr);
    dir.expect_no_process();
    let kept = journal(&dir.path().join("r"));
    assert!((2..TRIALS).contains(&kept.len()));
    // Without --resume the folder is not touched.
    let rejected = Outcome::of(command(&dir, &[]).output().unwrap());
    rejected.rejected(&["--resume", &format!("{} of {TRIALS}", kept.len())]);
    assert_eq!(journal(&dir.path().join("r")), kept);
}

#[test]
fn a_run_that_ignores_the_end_of_its_terminal_goes_on() {
    let dir = Dir::new();
    let line = "run mtu-and-queues --on sim --set traffic.duration=20ms --repeat 3 -o r";
    let script = format!(
        "trap '' HUP; \"$0\" {line} >/dev/null 2>&1 & \
         until test -s r/trials.jsonl; do kill -0 $! || exit 9; sleep 0.01; done; \
         kill -HUP $!; wait $!"
    );
    let mut command = Command::new("sh");
    command
        .args(["-c", &script])
        .arg(dir.command().get_program());
    Outcome::of(command.current_dir(dir.path()).output().unwrap()).ran();
}
