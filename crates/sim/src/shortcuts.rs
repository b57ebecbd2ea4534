//! The shortcuts that most packets take instead of the plain way (`engine/packets.rs`).
//!
//! Each saves work and changes no outcome; a test turns off one after the other, and all.
//!
//! | shortcut | file | instead |
//! |---|---|---|
//! | fast links | [`link::FastLink`] | of a queue that is asked when a packet leaves it: the outcome of a packet is known on arrival |
//! | headers | `engine/ahead.rs` | of packets in memory: a header goes from link to link by value |
//! | rows | `arrivals.rs` | of an entry in the event queue for each link: packets under way are sorted |
//! | lookahead | `lookahead.rs`, `engine/ahead.rs` | of an event at the end of each link: a packet enters the next link ahead of time |
//! | senders | `engine/ahead.rs` | of an event for an acknowledgement: its sender acts ahead of time |
//!
//! Only headers are in rows and pass ahead of time, and only by fast links; only with
//! lookahead do senders act ahead of time.

/// Which shortcuts an engine takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shortcuts {
    pub(crate) fast_links: bool,
    pub(crate) headers: bool,
    pub(crate) rows: bool,
    pub(crate) lookahead: bool,
    pub(crate) senders: bool,
}

impl Shortcuts {
    /// All of them: every run but those of a test.
    pub(crate) const ALL: Self = Self {
        fast_links: true,
        headers: true,
        rows: true,
        lookahead: true,
        senders: true,
    };
}
