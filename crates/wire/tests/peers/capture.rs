//! Builds captures for tshark.

use jumbolab_wire::pcapng::{Block, LinkType};

/// A capture of one interface with `packets` and their timestamps in nanoseconds.
pub(crate) fn capture<'a>(
    kind: LinkType,
    packets: impl IntoIterator<Item = (u64, &'a [u8])>,
) -> Vec<u8> {
    let mut file = Vec::new();
    let mut put = |block: Block<'_>| {
        let begin = file.len();
        file.resize(begin + block.buffer_len(), 0);
        block.emit(&mut file[begin..]).unwrap();
    };
    put(Block::Section);
    put(Block::Interface {
        kind,
        name: "jumbo0",
        most: 0,
    });
    for (nanos, bytes) in packets {
        put(Block::Packet {
            interface: 0,
            nanos,
            bytes,
            length: u32::try_from(bytes.len()).unwrap(),
        });
    }
    file
}
