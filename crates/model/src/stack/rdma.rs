//! The headers of RDMA over Ethernet (RoCE).

use super::layer::HeaderBytes;
use super::protocol::{Choice, adds, longer};

/// The bytes of RoCE: the global route header of version 1, the base transport header
/// of 12, the payload in words of four, and a check of 4 bytes [InfiniBand s5.2].
pub(super) const fn roce(route: u64) -> HeaderBytes {
    HeaderBytes {
        trailer: 4,
        block: 4,
        ..HeaderBytes::header(route + 12)
    }
}

/// The extended headers of RDMA operations.
pub(super) const RDMA: [Choice; 4] = [
    adds(
        "reth",
        "header of RDMA reads and writes, in their first packet",
        "[InfiniBand s9.3.3]",
        |bytes, _| longer(bytes, 16),
    ),
    adds(
        "deth",
        "header of datagrams",
        "[InfiniBand s9.3.2]",
        |bytes, _| longer(bytes, 8),
    ),
    adds(
        "aeth",
        "header of acknowledgements and read responses",
        "[InfiniBand s9.3.5]",
        |bytes, _| longer(bytes, 4),
    ),
    adds(
        "imm",
        "immediate data",
        "[InfiniBand s9.3.6]",
        |bytes, _| longer(bytes, 4),
    ),
];
