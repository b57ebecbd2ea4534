//! Nothing measured is lost: kill -9, Ctrl-C, a full disk.

use std::hash::{BuildHasher, RandomState};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::harness::{Dir, Outcome, SHORT, journal};

const TRIALS: usize = 24;

fn command(dir: &Dir, more: &[&str]) -> Command {
    let mut command = dir.command();
    let line = format!("run os-comparison --repeat 4 -o r {SHORT}");
    command.args(line.split_whitespace()).args(more);
    command
}

/// Lets a run go on until it has added `more` trials, or ended.
fn until_more_trials(dir: &Dir, child: &mut Child, more: usize) {
    let wanted = journal(&dir.path().join("r")).len() + more;
    while journal(&dir.path().join("r")).len() < wanted && child.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
}

/// Burns up to `most`, chosen by `draw`, so that the blow falls anywhere.
fn burn(draw: u64, most: Duration) {
    #[expect(
        clippy::disallowed_methods,
        reason = "the moment of the blow must not follow the program's own steps"
    )]
    let begun = Instant::now();
    let part = most.mul_f64((draw >> 11) as f64 / (1u64 << 53) as f64);
    while begun.elapsed() < part {
        std::hint::spin_loop();
    }
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
    let seed = RandomState::new();
    for round in 0..20u64 {
        // The folder is there once a run got as far as its journal.
        let begun = dir.path().join("r/trials.jsonl").exists();
        let resume: &[&str] = if begun { &["--resume"] } else { &[] };
        let mut child = command(&dir, resume)
            .stderr(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        // Half of the blows fall while the run gets ready, half in its trials.
        if round % 2 == 1 {
            until_more_trials(&dir, &mut child, 1);
        }
        burn(seed.hash_one(round), Duration::from_millis(150));
        child.kill().unwrap();
        child.wait().unwrap();
        dir.expect_no_process();
        let now = ids_and_starts(&journal(&dir.path().join("r")));
        assert_eq!(now[..kept.len()], kept, "what was finished has changed");
        kept = now;
    }
    Outcome::of(command(&dir, &["--resume"]).output().unwrap()).fine();
    let all = ids_and_starts(&journal(&dir.path().join("r")));
    assert_eq!(all[..kept.len()], kept);
    let mut ids: Vec<_> = all.into_iter().map(|(id, _)| id).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), TRIALS, "each trial once: {ids:?}");
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
    // SAFETY: the child has not been waited for, so the number is still its own.
    #[allow(unsafe_code)]
    unsafe {
        libc::kill(i32::try_from(child.id()).unwrap(), libc::SIGINT);
    }
    let outcome = Outcome::of(child.wait_with_output().unwrap());
    assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("--resume"), "{}", outcome.stderr);
    dir.expect_no_process();
    let kept = journal(&dir.path().join("r"));
    assert!((2..TRIALS).contains(&kept.len()));
    // Without --resume it is not touched.
    let refused = Outcome::of(command(&dir, &[]).output().unwrap());
    refused.refused(&["--resume", &format!("{} of {TRIALS}", kept.len())]);
    assert_eq!(journal(&dir.path().join("r")), kept);
}
