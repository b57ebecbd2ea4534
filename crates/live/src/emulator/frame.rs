//! Frames in buffers that are used again and again.

use queue::{Packet, View};
use units::{Bytes, Framing};

use crate::sys::packet::HEADER;

/// Sizes of buffers: short packets, standard frames, jumbo frames, the largest
/// that an interface can have, each with its header.
const CLASSES: [usize; 4] = [256, 2_048, 10_240, 65_600];

/// A frame as it came, the virtio header in front.
#[derive(Debug)]
pub(super) struct Frame {
    octets: Vec<u8>,
    flow: u64,
}

impl Frame {
    /// What is handed to a packet socket.
    pub(super) fn octets(&self) -> &[u8] {
        &self.octets
    }
}

impl Packet for Frame {
    /// Its size on the wire, from the destination address to the FCS, which a
    /// packet socket never shows.
    fn view(&self) -> View {
        let frame = Bytes::new((self.octets.len() - HEADER) as u64) + Framing::FCS;
        View {
            size: frame.max(Framing::SMALLEST_FRAME),
            flow: self.flow,
        }
    }
}

/// Buffers that are free, by class.
#[derive(Debug, Default)]
pub(super) struct Pool {
    free: [Vec<Vec<u8>>; CLASSES.len()],
}

impl Pool {
    /// A frame with a copy of `header` and `frame`.
    pub(super) fn keep(&mut self, header: &[u8], frame: &[u8], flow: u64) -> Frame {
        let size = header.len() + frame.len();
        let class = class_of(size);
        let mut octets = self.free[class]
            .pop()
            .unwrap_or_else(|| Vec::with_capacity(CLASSES[class].max(size)));
        octets.extend_from_slice(header);
        octets.extend_from_slice(frame);
        Frame { octets, flow }
    }

    /// Takes a frame's buffer back.
    pub(super) fn release(&mut self, frame: Frame) {
        let mut octets = frame.octets;
        let class = class_of(octets.len());
        octets.clear();
        self.free[class].push(octets);
    }
}

fn class_of(size: usize) -> usize {
    let fits = |&class: &usize| size <= class;
    CLASSES.iter().position(fits).unwrap_or(CLASSES.len() - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_come_back_to_their_class_and_frames_count_as_on_the_wire() {
        let mut pool = Pool::default();
        for (frame, wire) in [
            (60, 64),
            (42, 64),
            (1514, 1518),
            (9014, 9018),
            (65_549, 65_553),
        ] {
            let kept = pool.keep(&[0; HEADER], &vec![7; frame], 1);
            assert_eq!(kept.view().size, Bytes::new(wire));
            assert_eq!(kept.octets().len(), HEADER + frame);
            let place = kept.octets().as_ptr();
            pool.release(kept);
            let again = pool.keep(&[0; HEADER], &vec![8; frame], 1);
            assert_eq!(again.octets().as_ptr(), place, "no allocation for {frame}");
            pool.release(again);
        }
    }
}
