//! Tests of investigations over paths.

mod faults;
mod hostile;
mod path;
mod properties;
