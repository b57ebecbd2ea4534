//! A discipline as it is written down.

use alloc::boxed::Box;

use crate::{Discipline, DropFront, DropTail, Limit, Packet};

/// A queue that would hold nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a queue that holds nothing passes nothing; give it room for a packet")]
pub struct Empty;

/// A discipline and its parameters.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Spec {
    /// See [`DropTail`].
    DropTail {
        /// How much may wait.
        limit: Limit,
    },
    /// See [`DropFront`].
    DropFront {
        /// How much may wait.
        limit: Limit,
    },
}

impl Spec {
    /// The discipline, empty.
    ///
    /// # Errors
    /// Where it could never hold a packet.
    pub fn build<P: Packet + 'static>(&self) -> Result<Box<dyn Discipline<P>>, Empty> {
        let (Self::DropTail { limit } | Self::DropFront { limit }) = *self;
        if limit.is_zero() {
            return Err(Empty);
        }
        Ok(match self {
            Self::DropTail { .. } => Box::new(DropTail::new(limit)),
            Self::DropFront { .. } => Box::new(DropFront::new(limit)),
        })
    }
}
