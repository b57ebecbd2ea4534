//! Tests of all readers of this crate together.

mod fuzz;
