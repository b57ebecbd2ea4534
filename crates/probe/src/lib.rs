//! What a path supports: the sizes that it carries in each direction, the hop that drops
//! larger packets, and what to set.
//!
//! The [`machine`] investigates and has no I/O. The [`driver`] gives it sockets, and
//! [`virtual_path`] a path of bytes in virtual time. [`text`] describes the result.

pub mod driver;
pub mod machine;
pub mod text;
pub mod virtual_path;
