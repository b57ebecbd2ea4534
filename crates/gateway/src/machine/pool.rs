//! Buffers that are used again and again. They have few sizes, and the buffers of a size
//! that nobody uses hold at most [`KEPT`] bytes together: a pool whose buffers grow as
//! they are used would take more memory for hours.

/// The sizes in bytes: most packets of voice and acknowledgements; frames of Ethernet,
/// with tags; jumbo frames of vendors. A larger buffer is made when it is needed.
const SIZES: [usize; 3] = [256, 2_048, 9_216];

/// Bytes of the unused buffers of one size.
const KEPT: usize = 2 << 20;

/// Buffers that wait to be used again, by size.
#[derive(Debug, Default)]
pub(super) struct Pool([Vec<Vec<u8>>; SIZES.len()]);

impl Pool {
    /// A buffer with a copy of `bytes`.
    pub(super) fn keep(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.keep_with_room(bytes, 0)
    }

    /// A copy of these bytes, in a buffer with room for `more` behind them.
    pub(super) fn keep_with_room(&mut self, bytes: &[u8], more: usize) -> Vec<u8> {
        let mut buffer = self.empty(bytes.len() + more);
        buffer.extend_from_slice(bytes);
        buffer
    }

    /// A buffer of `length` zeros.
    pub(super) fn zeros(&mut self, length: usize) -> Vec<u8> {
        let mut buffer = self.empty(length);
        buffer.resize(length, 0);
        buffer
    }

    /// Takes a buffer back.
    pub(super) fn give(&mut self, buffer: Vec<u8>) {
        let size = SIZES.iter().position(|size| *size == buffer.capacity());
        if let Some(size) = size
            && self.0[size].len() < KEPT / SIZES[size]
        {
            self.0[size].push(buffer);
        }
    }

    fn empty(&mut self, length: usize) -> Vec<u8> {
        let Some(size) = SIZES.iter().position(|size| *size >= length) else {
            return Vec::with_capacity(length);
        };
        let mut buffer = self.0[size]
            .pop()
            .unwrap_or_else(|| Vec::with_capacity(SIZES[size]));
        buffer.clear();
        buffer
    }

    /// Bytes of the buffers that are kept.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        self.0.iter().flatten().map(Vec::capacity).sum()
    }
}
