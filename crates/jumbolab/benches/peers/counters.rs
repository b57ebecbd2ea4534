//! The kernel's counters of a network namespace.

use std::ops::Sub;

use os::Namespace;
use os::tool::Tool;
use units::Span;

use crate::Result;

/// Counts since the creation of the namespace, or between two readings.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counters {
    /// Frames sent and received by the interface; a super-packet counts as one.
    pub(crate) frames_out: i64,
    pub(crate) frames_in: i64,
    /// Bytes of received frames, including the link header of 14.
    pub(crate) bytes_in: i64,
    /// Datagrams that programs sent and read.
    pub(crate) datagrams_out: i64,
    pub(crate) datagrams_in: i64,
    /// Datagrams dropped because the socket buffer was full.
    pub(crate) no_room: i64,
}

impl Counters {
    /// Reads the counters of `namespace` and of its interface `interface`.
    pub(crate) fn read(namespace: &Namespace, interface: &str) -> Result<Self> {
        let words = ["cat", "/proc/self/net/dev", "/proc/self/net/snmp"].map(str::to_owned);
        let mut tool = Tool::heard(namespace, &words)?;
        if tool.attend(Span::from_secs(5))?.is_none() {
            return Err("the kernel's counters could not be read in time".into());
        }
        let text = String::from_utf8_lossy(tool.output().unwrap_or_default()).into_owned();
        Self::parse(&text, interface).ok_or_else(|| "the kernel's counters make no sense".into())
    }

    /// Parses `/proc/net/dev` followed by `/proc/net/snmp` [proc_pid_net(5)].
    fn parse(text: &str, interface: &str) -> Option<Self> {
        let numbers = |line: &str| -> Vec<i64> {
            line.split_whitespace()
                .filter_map(|word| word.parse().ok())
                .collect()
        };
        let of_interface = text.lines().find_map(|line| {
            let (name, counts) = line.split_once(':')?;
            (name.trim() == interface).then(|| numbers(counts))
        })?;
        let mut of_udp = text.lines().filter_map(|line| line.strip_prefix("Udp: "));
        let names: Vec<&str> = of_udp.next()?.split_whitespace().collect();
        let counts = numbers(of_udp.next()?);
        let udp = |name: &str| {
            let place = names.iter().position(|known| *known == name)?;
            counts.get(place).copied()
        };
        Some(Self {
            bytes_in: *of_interface.first()?,
            frames_in: *of_interface.get(1)?,
            frames_out: *of_interface.get(9)?,
            datagrams_out: udp("OutDatagrams")?,
            datagrams_in: udp("InDatagrams")?,
            no_room: udp("RcvbufErrors")?,
        })
    }
}

impl Sub for Counters {
    type Output = Self;

    fn sub(self, earlier: Self) -> Self {
        Self {
            frames_out: self.frames_out - earlier.frames_out,
            bytes_in: self.bytes_in - earlier.bytes_in,
            frames_in: self.frames_in - earlier.frames_in,
            datagrams_out: self.datagrams_out - earlier.datagrams_out,
            datagrams_in: self.datagrams_in - earlier.datagrams_in,
            no_room: self.no_room - earlier.no_room,
        }
    }
}
