//! Settings that backends between kernels cannot run as they are written, found without them.

pub(super) mod hosts;
pub(super) mod netns;
mod segment_limit;
