//! TCP held against ns-2.35, against the kernel's, against closed forms, and against what it must
//! do whatever happens.

mod closed_loop;
mod dumbbell;
mod known;
mod links;
mod linux;
mod ns2;
mod recording;
mod wire;
