//! The commands that need Linux.

use clap::Subcommand;

#[cfg(feature = "gateway")]
use super::Gateway;
use super::{Emulate, Shell};

#[derive(Debug, Subcommand)]
pub(crate) enum OnLinux {
    /// Run a program in a node of an experiment's test network.
    Shell(Shell),
    /// Emulate a link between two network interfaces.
    Emulate(Box<Emulate>),
    /// Aggregate packets of the hosts of a site into jumbo frames to another gateway.
    #[cfg(feature = "gateway")]
    Gateway(Box<Gateway>),
}
