//! Counters of a gateway: each packet and each arrival is in exactly one of them, or
//! waits.

/// The reason why a packet was not forwarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// It is no whole IP packet.
    Malformed,
    /// Its addresses are such that no router forwards it.
    Martian,
    /// Its hop limit was used up.
    HopLimit,
    /// The table has no prefix for its destination.
    NoRoute,
    /// It is larger than a bundle can state.
    TooBig,
    /// It met congestion in a bundle, and cannot be marked [RFC6040 s4.2].
    Congestion,
    /// Too many packets waited to be let out.
    Overflow,
    /// The other pieces of its packet did not come, or contradicted it.
    Incomplete,
    /// The queue toward the core had no room.
    QueueFull,
    /// The queue's distribution drew it.
    QueueEarly,
    /// The queue was too long on average.
    QueueForced,
    /// It waited too long in the queue.
    QueueLate,
    /// The bundle could not be written.
    Unwritten,
    /// No key has been agreed upon yet.
    NoKey,
}

/// The reason why an arrival from the core was not unpacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// It came from no configured peer.
    UnknownSender,
    /// Its bytes contradict themselves.
    Malformed,
    /// It is a plain packet, and such are not forwarded.
    Plain,
    /// It is not sealed, and its sender's key is known.
    Unsealed,
    /// It belongs to a session or a handshake that is not known, or not any more.
    UnknownKey,
    /// It is not from whom it claims to be.
    Forged,
    /// It came before, by its number in the session or by its time.
    Replayed,
    /// More handshake messages or probes came than are processed.
    Limited,
    /// Its sequence number came before.
    Duplicate,
    /// Bundles behind it were unpacked already.
    Late,
}

impl Cause {
    /// Every cause, in the order of [`Drops`].
    pub const ALL: [Self; 14] = [
        Self::Malformed,
        Self::Martian,
        Self::HopLimit,
        Self::NoRoute,
        Self::TooBig,
        Self::Congestion,
        Self::Overflow,
        Self::Incomplete,
        Self::QueueFull,
        Self::QueueEarly,
        Self::QueueForced,
        Self::QueueLate,
        Self::Unwritten,
        Self::NoKey,
    ];

    /// Its name in metrics and logs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::Martian => "martian",
            Self::HopLimit => "hop_limit",
            Self::NoRoute => "no_route",
            Self::TooBig => "too_big",
            Self::Congestion => "congestion",
            Self::Overflow => "overflow",
            Self::Incomplete => "incomplete",
            Self::QueueFull => "queue_full",
            Self::QueueEarly => "queue_early",
            Self::QueueForced => "queue_forced",
            Self::QueueLate => "queue_late",
            Self::Unwritten => "unwritten",
            Self::NoKey => "no_key",
        }
    }

    pub(super) const fn of(reason: queue::Reason) -> Self {
        match reason {
            queue::Reason::Full => Self::QueueFull,
            queue::Reason::Early => Self::QueueEarly,
            queue::Reason::Forced => Self::QueueForced,
            queue::Reason::Late => Self::QueueLate,
        }
    }
}

impl Rejection {
    /// Every rejection, in the order of [`Rejections`].
    pub const ALL: [Self; 10] = [
        Self::UnknownSender,
        Self::Malformed,
        Self::Plain,
        Self::Unsealed,
        Self::UnknownKey,
        Self::Forged,
        Self::Replayed,
        Self::Limited,
        Self::Duplicate,
        Self::Late,
    ];

    /// Its name in metrics and logs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::UnknownSender => "unknown_sender",
            Self::Malformed => "malformed",
            Self::Plain => "plain",
            Self::Unsealed => "unsealed",
            Self::UnknownKey => "unknown_key",
            Self::Forged => "forged",
            Self::Replayed => "replayed",
            Self::Limited => "limited",
            Self::Duplicate => "duplicate",
            Self::Late => "late",
        }
    }
}

/// Packets by the cause of their drop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drops([u64; Cause::ALL.len()]);

/// Arrivals by the reason of their rejection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rejections([u64; Rejection::ALL.len()]);

impl Drops {
    /// The number of packets dropped for `cause`.
    pub const fn of(&self, cause: Cause) -> u64 {
        self.0[cause as usize]
    }

    /// The number of all.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    pub(super) const fn add(&mut self, cause: Cause, packets: u64) {
        self.0[cause as usize] += packets;
    }
}

impl Rejections {
    /// The number of arrivals rejected for `rejection`.
    pub const fn of(&self, rejection: Rejection) -> u64 {
        self.0[rejection as usize]
    }

    /// The number of all.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    pub(super) const fn add(&mut self, rejection: Rejection) {
        self.0[rejection as usize] += 1;
    }
}

/// Counters toward the core. Of all that came, counted by [`Outward::came`] and
/// [`Outward::pieces`], each packet or piece was sent, was dropped, or waits:
/// `came + pieces = bundled + alone + drops + waiting`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outward {
    /// Packets from inside.
    pub came: u64,
    /// Their bytes.
    pub came_bytes: u64,
    /// Pieces that cutting added.
    pub pieces: u64,
    /// Bundles sent.
    pub bundles: u64,
    /// Packets and pieces in them.
    pub bundled: u64,
    /// Packets sent alone.
    pub alone: u64,
    /// Bytes of IP sent.
    pub sent_bytes: u64,
    /// Packets sent with a congestion mark that this gateway's queue gave them.
    pub marked: u64,
    /// Packets that were taken out of bundles by this gateway's queue. They are among
    /// the drops.
    pub taken_out: u64,
    /// Handshake messages, cookies and confirmations of sessions, sent.
    pub handshakes: u64,
    /// Probes of the path, answers to them, and messages that bundles are missed, sent.
    pub probes: u64,
    /// Packets dropped.
    pub drops: Drops,
}

/// Counters toward the inside. Each arrival was unpacked, was plain, was for this gateway
/// itself, was rejected, or waits for bundles before it:
/// `arrived = bundles + plain + handshakes + probes + notices + rejections + waiting`. Each packet or piece was let out,
/// was joined to the piece before it, was dropped, or waits:
/// `unpacked + plain = released + joined + drops + waiting`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Inward {
    /// Datagrams and packets from the core.
    pub arrived: u64,
    /// Their bytes.
    pub arrived_bytes: u64,
    /// Bundles unpacked.
    pub bundles: u64,
    /// Bundles that did not come, or too late (`Rejection::Late`), as the numbers of others
    /// show. Those are among them that the peer's own queue dropped.
    pub lost_bundles: u64,
    /// Packets and pieces found in them.
    pub unpacked: u64,
    /// Pieces that were joined to the piece before them.
    pub joined: u64,
    /// Packets that routers had dropped out of them.
    pub missing: u64,
    /// Packets that travelled alone and unchanged.
    pub plain: u64,
    /// Those of peers that were in order.
    pub handshakes: u64,
    /// Probes of peers, their answers, and their messages that bundles are missed.
    pub probes: u64,
    /// Messages of routers that bundles are too big, which were believed.
    pub notices: u64,
    /// Packets let out to the inside.
    pub released: u64,
    /// Their bytes.
    pub released_bytes: u64,
    /// Packets that got a congestion mark from the outside of their bundle.
    pub marked: u64,
    /// Arrivals rejected.
    pub rejections: Rejections,
    /// Packets dropped.
    pub drops: Drops,
}

/// Counters in both directions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Toward the core.
    pub outward: Outward,
    /// Toward the inside.
    pub inward: Inward,
}

/// Packets and bundles that wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    /// For company, or for the rate toward the core.
    pub outward: u64,
    /// To be let out to the inside, and pieces for the next one of their packet.
    pub inward: u64,
    /// Bundles that wait for others before them.
    pub bundles: u64,
}

/// Counters of a gateway.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// By peer.
    pub peers: Vec<Traffic>,
    /// Of no peer: unknown destinations and senders, malformed packets.
    pub other: Traffic,
    /// ICMP errors sent to the inside, and those that the rate limit or the rules held
    /// back.
    pub errors: u64,
    /// Packets whose sender was not told, because errors are limited or not allowed.
    pub errors_withheld: u64,
}

impl Counts {
    /// The counters of peers and others together.
    pub fn total(&self) -> Traffic {
        let mut total = self.other;
        for peer in &self.peers {
            total.add(peer);
        }
        total
    }

    /// The counters of `peer`, or those of no peer.
    pub(super) fn of(&mut self, peer: Option<usize>) -> &mut Traffic {
        match peer.and_then(|peer| self.peers.get_mut(peer)) {
            Some(traffic) => traffic,
            None => &mut self.other,
        }
    }
}

impl Traffic {
    /// Adds the counters of another.
    pub fn add(&mut self, other: &Self) {
        let Self { outward, inward } = self;
        for (sum, more) in [
            (&mut outward.came, other.outward.came),
            (&mut outward.came_bytes, other.outward.came_bytes),
            (&mut outward.pieces, other.outward.pieces),
            (&mut outward.bundles, other.outward.bundles),
            (&mut outward.bundled, other.outward.bundled),
            (&mut outward.alone, other.outward.alone),
            (&mut outward.sent_bytes, other.outward.sent_bytes),
            (&mut outward.marked, other.outward.marked),
            (&mut outward.taken_out, other.outward.taken_out),
            (&mut outward.handshakes, other.outward.handshakes),
            (&mut outward.probes, other.outward.probes),
            (&mut inward.arrived, other.inward.arrived),
            (&mut inward.arrived_bytes, other.inward.arrived_bytes),
            (&mut inward.bundles, other.inward.bundles),
            (&mut inward.lost_bundles, other.inward.lost_bundles),
            (&mut inward.unpacked, other.inward.unpacked),
            (&mut inward.joined, other.inward.joined),
            (&mut inward.missing, other.inward.missing),
            (&mut inward.plain, other.inward.plain),
            (&mut inward.handshakes, other.inward.handshakes),
            (&mut inward.probes, other.inward.probes),
            (&mut inward.notices, other.inward.notices),
            (&mut inward.released, other.inward.released),
            (&mut inward.released_bytes, other.inward.released_bytes),
            (&mut inward.marked, other.inward.marked),
        ] {
            *sum += more;
        }
        for (sum, more) in outward.drops.0.iter_mut().zip(other.outward.drops.0) {
            *sum += more;
        }
        for (sum, more) in inward.drops.0.iter_mut().zip(other.inward.drops.0) {
            *sum += more;
        }
        for (sum, more) in inward
            .rejections
            .0
            .iter_mut()
            .zip(other.inward.rejections.0)
        {
            *sum += more;
        }
    }
}
