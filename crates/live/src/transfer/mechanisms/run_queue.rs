//! How long the calling thread could have run and had no processor.

use std::fs::File;
use std::os::unix::fs::FileExt;

/// The kernel's account of the thread that opened it [LinuxDoc sched-stats].
pub(super) struct RunQueue(Option<File>);

impl RunQueue {
    /// The account of the calling thread; of nothing where the kernel keeps none.
    pub(super) fn of_this_thread() -> Self {
        Self(File::open("/proc/thread-self/schedstat").ok())
    }

    /// Nanoseconds since the thread began; 0 where they are not known.
    pub(super) fn waited(&self) -> u64 {
        let mut room = [0; 96];
        let read = self
            .0
            .as_ref()
            .and_then(|file| file.read_at(&mut room, 0).ok());
        read.and_then(|count| parse(&room[..count])).unwrap_or(0)
    }
}

/// The second of three numbers: on a processor, waiting for one, and how often.
fn parse(text: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(text).ok()?;
    text.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_number_is_the_waiting() {
        assert_eq!(parse(b"812345 6789 12\n"), Some(6789));
        assert_eq!(parse(b"812345"), None);
        assert_eq!(parse(b"\xff 1"), None);
    }

    #[test]
    fn it_never_goes_back() {
        let account = RunQueue::of_this_thread();
        let before = account.waited();
        std::thread::yield_now();
        assert!(account.waited() >= before);
    }
}
