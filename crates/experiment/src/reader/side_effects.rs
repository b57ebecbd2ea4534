//! What the values that were read do outside of a run.

use keyfile::{Node, Origin};
use plan::SideEffect;

use super::Reader;
use crate::keys::{KeySupport, Support};

impl Reader<'_> {
    /// What the value at `path` does.
    pub(super) fn side_effect(&self, path: &str, node: &Node) -> Option<SideEffect> {
        let is_idle = |support: &Support| matches!(support.takes, KeySupport::NoEffect(_));
        match self.support(path).is_some_and(is_idle) {
            true => None,
            false => {
                let builds = self.backend?.profile().builds_network;
                self.key(path)?.side_effect(&self.full(path), node, builds)
            }
        }
    }

    /// What the default of the key at `path` does, although nothing states it.
    pub(super) fn default_side_effect(&self, path: &str) -> Option<SideEffect> {
        let value = self.key(path)?.default.value()?;
        let origin = Origin::Default;
        self.side_effect(path, &Node { value, origin })
    }
}
