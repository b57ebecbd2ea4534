//! Tests of discoveries over paths.

mod path;
mod requirements;
mod searches;
