//! What workers are asked, and what they answer.

mod fuzz;
mod random;
