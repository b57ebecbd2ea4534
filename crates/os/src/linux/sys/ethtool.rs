//! Features and settings of an interface through the ethtool ioctl
//! [LinuxUapi ethtool.h].

mod device;
mod settings;

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

pub(crate) use device::{driver_info, stamping, statistics};
pub(crate) use settings::{
    CoalescingField, Ring, coalescing, coalescing_field, rings, set_coalescing_field, set_ring,
};

// linux/ethtool.h and linux/sockios.h, the kernel's public interface.
const SIOCETHTOOL: libc::Ioctl = 0x8946;
const ETHTOOL_GSTRINGS: u32 = 0x1b;
const ETHTOOL_GSSET_INFO: u32 = 0x37;
const ETHTOOL_GFEATURES: u32 = 0x3a;
const ETHTOOL_SFEATURES: u32 = 0x3b;
const ETH_SS_FEATURES: u32 = 4;
/// Bytes of one name in a string set.
const STRING_LEN: usize = 32;

/// One feature of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Feature {
    /// Whether it is on now.
    pub active: bool,
    /// Whether it is asked for: it is on when the features that it needs are on.
    pub requested: bool,
    /// Whether it can be changed.
    pub available: bool,
    /// Number of its bit.
    index: usize,
}

/// The features of `interface` by name.
pub fn features(control: BorrowedFd<'_>, interface: &str) -> io::Result<BTreeMap<String, Feature>> {
    let names = names(control, interface, ETH_SS_FEATURES)?;
    let blocks = names.len().div_ceil(32);
    // struct ethtool_gfeatures: cmd, size, then per block
    // available, requested, active, never_changed.
    let mut request = vec![0u32; 2 + 4 * blocks];
    request[0] = ETHTOOL_GFEATURES;
    request[1] = u32::try_from(blocks).map_err(io::Error::other)?;
    ioctl(control, interface, &mut request)?;
    let bit =
        |field: usize, index: usize| request[2 + 4 * (index / 32) + field] >> (index % 32) & 1 == 1;
    Ok(names
        .into_iter()
        .enumerate()
        .map(|(index, name)| {
            (
                name,
                Feature {
                    active: bit(2, index),
                    requested: bit(1, index),
                    available: bit(0, index),
                    index,
                },
            )
        })
        .collect())
}

/// Enables or disables the `wanted` features; unchangeable ones are skipped.
pub fn set_features<'a>(
    control: BorrowedFd<'_>,
    interface: &str,
    wanted: impl Iterator<Item = (&'a Feature, bool)>,
    count: usize,
) -> io::Result<()> {
    let blocks = count.div_ceil(32);
    // struct ethtool_sfeatures: cmd, size, then per block valid, requested.
    let mut request = vec![0u32; 2 + 2 * blocks];
    request[0] = ETHTOOL_SFEATURES;
    request[1] = u32::try_from(blocks).map_err(io::Error::other)?;
    for (feature, on) in wanted.filter(|(feature, _)| feature.available) {
        let block = 2 + 2 * (feature.index / 32);
        request[block] |= 1 << (feature.index % 32);
        request[block + 1] |= u32::from(on) << (feature.index % 32);
    }
    ioctl(control, interface, &mut request)
}

/// Whether a feature creates or splits packets larger than the MTU, by the kernel's
/// name.
pub fn is_offload(feature: &str) -> bool {
    feature.ends_with("-segmentation") || matches!(feature, "rx-gro" | "rx-gro-hw" | "rx-lro")
}

/// The names in a string set, in the order of their numbers.
fn names(control: BorrowedFd<'_>, interface: &str, set: u32) -> io::Result<Vec<String>> {
    // struct ethtool_sset_info: cmd, reserved, mask (64 bits), count.
    let mut info = [ETHTOOL_GSSET_INFO, 0, 1 << set, 0, 0];
    ioctl(control, interface, &mut info)?;
    let count = usize::try_from(info[4]).map_err(io::Error::other)?;
    // struct ethtool_gstrings: cmd, string_set, len, then the strings.
    let mut strings = vec![0u32; 3 + count * STRING_LEN / 4];
    strings[..3].copy_from_slice(&[ETHTOOL_GSTRINGS, set, info[4]]);
    ioctl(control, interface, &mut strings)?;
    Ok(bytes(&strings[3..])
        .chunks_exact(STRING_LEN)
        .map(text)
        .collect())
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

/// The text before the first zero.
fn text(bytes: &[u8]) -> String {
    let text = bytes.split(|&byte| byte == 0).next();
    String::from_utf8_lossy(text.unwrap_or_default()).into_owned()
}

/// `struct ifreq` as SIOCETHTOOL reads it.
#[repr(C)]
struct InterfaceRequest {
    name: [u8; libc::IFNAMSIZ],
    data: *mut u32,
    rest: [u8; 16],
}

fn ioctl(control: BorrowedFd<'_>, interface: &str, data: &mut [u32]) -> io::Result<()> {
    let mut name = [0; libc::IFNAMSIZ];
    let fits = interface.len() < name.len();
    name.iter_mut()
        .zip(interface.bytes())
        .for_each(|(to, from)| *to = from);
    if !fits {
        return Err(io::Error::from_raw_os_error(libc::ENAMETOOLONG));
    }
    let mut request = InterfaceRequest {
        name,
        data: data.as_mut_ptr(),
        rest: [0; 16],
    };
    // SAFETY: `request` is at least as large as `struct ifreq`, its name ends in a
    // zero, and `data` outlives the call. The kernel reads and writes as many words as
    // the sizes inside `data` state, which the callers above match to its length.
    let result = unsafe { libc::ioctl(control.as_raw_fd(), SIOCETHTOOL, &raw mut request) };
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}
