//! TCP held against ns-2.35, against closed forms, and against what it must
//! do whatever happens.

mod known;
mod links;
mod ns2;
mod recording;
mod wire;
