//! Tests of the binary: each test runs it as a process, because its namespaces
//! belong to a single-threaded process.

mod attempts;
mod attempts_at_trials;
mod bad_input;
mod claims;
mod commands;
mod decode;
mod doctor;
mod emulate;
mod endings;
mod fitting;
mod flows;
mod gathering;
mod harness;
mod hostile;
mod journal;
mod jumbograms;
mod latency_breakdown;
mod laws;
mod links;
mod lookup;
mod page;
mod processors;
mod program;
mod red;
mod register;
mod robustness;
mod runs;
mod sandbox;
mod shell;
mod sim;
mod traffic;
mod undisturbed;
mod view;
mod ways_in;
mod worlds;
