//! Output of a program, kept up to a limit.

use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use units::Span;

use crate::error::{OperationContext, Result};

/// One output stream of a program. Bytes beyond the limit are read and discarded, so
/// the program never blocks.
#[derive(Debug)]
pub(crate) struct Stream {
    pipe: Option<File>,
    kept: Vec<u8>,
    most: usize,
    whole: bool,
}

/// The result of waiting for output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListenOutcome {
    Something,
    Nothing,
    /// A signal arrived first.
    Signal,
    /// All streams are closed.
    AllClosed,
}

impl Stream {
    /// A stream of which at most `most` bytes are kept; it is empty without a pipe.
    pub(crate) fn of(pipe: Option<impl Into<OwnedFd>>, most: usize) -> Self {
        Self {
            pipe: pipe.map(|pipe| File::from(pipe.into())),
            kept: Vec::new(),
            most,
            whole: true,
        }
    }

    /// The bytes kept.
    pub(crate) fn kept(&self) -> &[u8] {
        &self.kept
    }

    /// The complete output, unless it exceeded the limit.
    pub(crate) fn whole(&self) -> Option<&[u8]> {
        self.whole.then_some(&self.kept)
    }

    /// The pipe, while it is open.
    pub(crate) fn as_fd(&self) -> Option<BorrowedFd<'_>> {
        self.pipe.as_ref().map(AsFd::as_fd)
    }

    /// Reads the available bytes once.
    ///
    /// # Errors
    /// The pipe cannot be read.
    pub(crate) fn read(&mut self) -> Result<()> {
        let Some(pipe) = &mut self.pipe else {
            return Ok(());
        };
        let mut bytes = [0; 65_536];
        let count = pipe.read(&mut bytes).during(|| "hearing a program")?;
        let room = self.most - self.kept.len();
        self.whole &= count <= room;
        self.kept.extend_from_slice(&bytes[..count.min(room)]);
        if count == 0 {
            self.pipe = None;
        }
        Ok(())
    }
}

/// Waits for at most `timeout` until one of `streams` is readable, and reads it.
pub(crate) fn hear(streams: [&mut Stream; 2], timeout: Span) -> Result<ListenOutcome> {
    let ready: Vec<bool> = {
        let mut watched: Vec<PollFd<'_>> = streams
            .iter()
            .filter_map(|stream| stream.pipe.as_ref())
            .map(|pipe| PollFd::new(pipe.as_fd(), PollFlags::POLLIN))
            .collect();
        if watched.is_empty() {
            return Ok(ListenOutcome::AllClosed);
        }
        let millis = timeout.as_nanos().div_ceil(1_000_000);
        let timeout = PollTimeout::from(u16::try_from(millis).unwrap_or(u16::MAX));
        match poll(&mut watched, timeout) {
            Ok(0) => return Ok(ListenOutcome::Nothing),
            Err(Errno::EINTR) => return Ok(ListenOutcome::Signal),
            result => result.during(|| "hearing a program")?,
        };
        watched.iter().map(|one| one.any() == Some(true)).collect()
    };
    let open = streams.into_iter().filter(|stream| stream.pipe.is_some());
    for (stream, _) in open.zip(ready).filter(|(_, ready)| *ready) {
        stream.read()?;
    }
    Ok(ListenOutcome::Something)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn stream(most: usize) -> (std::io::PipeWriter, Stream) {
        let (reader, writer) = std::io::pipe().unwrap();
        (writer, Stream::of(Some(OwnedFd::from(reader)), most))
    }

    #[test]
    fn what_passes_the_bound_is_read_and_dropped() {
        let (mut writer, mut bounded) = stream(3);
        let mut silent = Stream::of(None::<OwnedFd>, 0);
        for text in ["ab", "cd", "ef"] {
            writer.write_all(text.as_bytes()).unwrap();
            let heard = hear([&mut bounded, &mut silent], Span::ZERO).unwrap();
            assert_eq!(heard, ListenOutcome::Something);
        }
        assert_eq!((bounded.kept(), bounded.whole()), (&b"abc"[..], None));
        let heard = hear([&mut bounded, &mut silent], Span::ZERO).unwrap();
        assert_eq!(heard, ListenOutcome::Nothing);
        drop(writer);
        hear([&mut bounded, &mut silent], Span::ZERO).unwrap();
        let heard = hear([&mut bounded, &mut silent], Span::ZERO).unwrap();
        assert_eq!(heard, ListenOutcome::AllClosed);
    }

    #[test]
    fn what_fills_the_bound_is_whole() {
        let (mut writer, mut exact) = stream(3);
        let mut silent = Stream::of(None::<OwnedFd>, 0);
        writer.write_all(b"abc").unwrap();
        hear([&mut exact, &mut silent], Span::ZERO).unwrap();
        assert_eq!(exact.whole(), Some(&b"abc"[..]));
    }
}
