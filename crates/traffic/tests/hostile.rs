//! Hostile bytes: generated with the structure of valid ones, then damaged. They cause
//! no panic and no growth of memory, unauthenticated peers get no answer, and the next
//! session is served.
//!
//! `JUMBOLAB_FUZZ_CASES=10000000 cargo test --release -p jumbolab-traffic --test hostile -- --nocapture`
//! runs more cases, and prints how many were accepted.

#[path = "hostile/control.rs"]
mod control;
#[path = "hostile/datagrams.rs"]
mod datagrams;

use std::process::Command;
use std::{env, fs};

/// Reproducible random numbers. Any generator will do.
struct Chance(u64);

impl Chance {
    fn new() -> Self {
        Self(1)
    }

    fn number(&mut self) -> u64 {
        // The finalizer makes low bits as random as high ones.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// A random number below `limit`.
    fn below(&mut self, limit: usize) -> usize {
        let limit = u64::try_from(limit).unwrap();
        usize::try_from(self.number() % limit).unwrap()
    }

    fn byte(&mut self) -> u8 {
        self.number().to_le_bytes()[0]
    }

    /// A small, the largest, or any number.
    fn extreme(&mut self) -> u64 {
        match self.below(4) {
            0 => u64::MAX - self.number() % 3,
            1 => self.number(),
            _ => self.number() % 100,
        }
    }

    /// Changes one byte, or removes or appends one.
    fn damage(&mut self, bytes: &mut Vec<u8>) {
        let at = self.below(bytes.len().max(1));
        match self.below(8) {
            0 => bytes.truncate(at),
            1 => bytes.push(self.byte()),
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << self.below(8);
                }
            }
        }
    }
}

/// The number of cases.
fn cases() -> u64 {
    let cases = env::var("JUMBOLAB_FUZZ_CASES").ok();
    cases.map_or(20_000, |cases| cases.parse().unwrap())
}

/// Runs the test `name` in its own process: memory of other tests would disturb the
/// measurement.
#[expect(clippy::print_stdout, reason = "figures of long runs")]
fn in_a_process_of_its_own(name: &str, test: impl FnOnce()) {
    const ALONE: &str = "JUMBOLAB_TEST_ALONE";
    if env::var_os(ALONE).is_some() {
        return test();
    }
    let mut command = Command::new(env::current_exe().unwrap());
    let output = command
        .args(["--exact", name, "--nocapture"])
        .env(ALONE, "1")
        .output()
        .unwrap();
    let [stdout, stderr] =
        [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    println!("{stdout}{stderr}");
    assert!(
        output.status.success() && stdout.contains("1 passed"),
        "{name}"
    );
}

/// Runs all cases. Compares the memory with that after a tenth of them, and the share
/// of accepted cases with three in ten.
#[expect(clippy::print_stdout, reason = "figures of long runs")]
fn try_all(what: &str, mut case: impl FnMut(u64) -> bool) {
    let cases = cases();
    let (mut accepted, mut then) = (0, 0);
    for number in 0..cases {
        accepted += u64::from(case(number));
        if number == cases / 10 {
            then = resident();
        }
    }
    let grown = resident().saturating_sub(then);
    println!("{what}: {accepted} of {cases} accepted, memory grew by {grown} kB");
    assert!(accepted * 10 >= cases * 3, "{accepted} of {cases}");
    // A leaked session or flow takes at least 1 kB: of 20 000 cases 18 000 follow the
    // first measurement.
    assert!(grown < 1 << 10, "memory grew by {grown} kB");
}

/// Memory of this process, in kB.
fn resident() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let words = line.unwrap().split_whitespace();
    words.rev().nth(1).unwrap().parse().unwrap()
}
