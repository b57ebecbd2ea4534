//! The worlds that run plans.

use std::fmt;
use std::str::FromStr;

use anyhow::{Error, bail};
use serde::{Deserialize, Serialize};

/// Which world runs a plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum World {
    /// Real kernels in network namespaces of this machine.
    #[default]
    Netns,
    /// A virtual network: a pure function of setting and seed.
    Sim,
}

impl FromStr for World {
    type Err = Error;
    fn from_str(name: &str) -> Result<Self, Error> {
        match name {
            "netns" => Ok(Self::Netns),
            "sim" => Ok(Self::Sim),
            "model" | "hosts" => {
                bail!("world `{name}` is not built yet (docs/roadmap.md); `netns` and `sim` are")
            }
            _ => bail!(
                "there is no world `{}`; there are: netns, sim; model and hosts are not built yet (docs/roadmap.md)",
                name.escape_debug()
            ),
        }
    }
}

impl fmt::Display for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Netns => f.write_str("netns"),
            Self::Sim => f.write_str("sim"),
        }
    }
}
