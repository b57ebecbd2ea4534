//! TCP compared with ns-2.35, with the kernel, with closed forms, and with its
//! invariants.

mod closed_loop;
mod dumbbell;
mod known;
mod links;
mod linux;
mod ns2;
mod recording;
mod wire;
