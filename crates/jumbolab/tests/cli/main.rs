//! Tests of the binary: each test runs it as a process, because its namespaces
//! belong to a single-threaded process.

mod addresses;
mod attempts;
mod attempts_at_trials;
mod background;
mod bad_input;
mod claims;
mod commands;
mod consent;
mod decode;
mod fitting;
mod flows;
mod for_programs;
mod gathering;
mod harness;
mod hostile;
mod journal;
mod latency_breakdown;
mod laws;
mod limits;
mod lookup;
mod page;
mod path_faults;
mod predict;
mod processors;
mod program;
mod red;
mod register;
mod robustness;
mod sim;
mod traffic;
mod undisturbed;
mod unprivileged;
mod view;
mod ways_in;
mod workers;
