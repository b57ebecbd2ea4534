//! Tests of discoveries over paths.

mod loss;
mod path;
mod requirements;
mod searches;
