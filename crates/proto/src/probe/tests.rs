//! Tests of investigations over paths.

mod faults;
mod path;
mod properties;
