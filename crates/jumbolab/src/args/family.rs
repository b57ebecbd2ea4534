//! The version of IP on the command line.

use units::IpVersion;

/// The options that choose a version of IP.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub(crate) struct Family {
    /// Use IPv4 only.
    #[arg(short = '4', long, conflicts_with = "ipv6")]
    ipv4: bool,
    /// Use IPv6 only.
    #[arg(short = '6', long)]
    ipv6: bool,
}

impl Family {
    /// The version that was asked for; `None`: either.
    pub(crate) const fn version(self) -> Option<IpVersion> {
        match (self.ipv4, self.ipv6) {
            (true, _) => Some(IpVersion::V4),
            (false, true) => Some(IpVersion::V6),
            (false, false) => None,
        }
    }
}
