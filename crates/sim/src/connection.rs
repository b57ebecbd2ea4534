//! Both endpoints of a TCP flow.

use tcp::{Ack, Counts, Data, HEADER, Profile, Range, Receiver, Sender, State};
use units::{Rate, Time};

use crate::fragments::ip_header;
use crate::messages::Messages;
use crate::packet::{Body, Congestion, Content, Contents, Header, Segment};
use crate::{Flow, Tcp, TcpOutcome};

/// Both endpoints of a connection; its segments become packets.
pub(crate) struct Connection {
    sender: Sender,
    receiver: Receiver,
    /// The time of opening; `None` once open.
    opens: Option<Time>,
    /// The time at which the data are handed to the sender; `None` afterwards.
    handed: Option<Time>,
    /// The time from which no new data are sent; `None` afterwards.
    stops: Option<Time>,
    /// The earlier one of these two.
    planned: Option<Time>,
    /// The time from which no packet is sent.
    end: Time,
    /// The common header fields of packets to the receiver, and of packets back.
    forth: Header,
    back: Header,
    /// Bytes of a segment besides its payload.
    header: u32,
    path_mtu: Option<u32>,
    /// Bytes per sequence number, and the limit of bytes.
    grain: u64,
    bytes: u64,
    /// In a box, because most connections have none.
    pub(crate) messages: Option<Box<Messages>>,
    pub(crate) packets: u64,
    /// Begin and stop as in the scenario.
    lasts: [Time; 2],
    first: Option<(Time, u64)>,
    last: Option<Time>,
}

impl Connection {
    /// The connection of `flow`. Its packets are made from `template`, and its first
    /// link carries packets of `first_mtu` bytes. `exact`: every arrival of a message
    /// is kept.
    pub(crate) fn new(
        flow: &Flow,
        tcp: &Tcp,
        template: Header,
        first_mtu: u32,
        end: Time,
        exact: bool,
    ) -> Self {
        let mut settings = tcp.settings.clone();
        settings.segment = tcp.segment(flow.ip, first_mtu);
        settings.write = tcp
            .messages
            .and_then(|messages| u32::try_from(messages.size).ok());
        if let Some(answers) = tcp.answers()
            && settings.profile == Profile::Ns2
        {
            // If numbers count segments, each segment is a message.
            let size = u32::try_from(answers.size).unwrap_or(u32::MAX);
            settings.segment = settings.segment.min(size).max(1);
        }
        let handed = tcp.handed.filter(|_| tcp.bytes.is_some());
        let bytes = match tcp.answers().is_some() || handed.is_some() {
            true => Some(0),
            false => tcp.bytes,
        };
        let mut connection = Self {
            planned: None,
            grain: match settings.profile {
                Profile::Standard => 1,
                Profile::Ns2 => settings.segment.into(),
            },
            bytes: tcp.bytes.unwrap_or(u64::MAX),
            messages: tcp
                .messages
                .map(|one| Box::new(Messages::new(one.size, one.warmup, tcp.bytes, exact))),
            sender: Sender::new(&settings, bytes),
            receiver: Receiver::new(&settings),
            opens: (flow.start < end).then_some(flow.start),
            handed,
            stops: flow.stop,
            end,
            forth: template,
            back: Header {
                to: u32::try_from(flow.from).expect("a scenario has fewer nodes than that"),
                // A separate flow for queues.
                key: template.key ^ 2,
                ..template
            },
            header: HEADER + settings.options,
            path_mtu: None,
            lasts: [flow.start, flow.stop.map_or(end, |stop| stop.min(end))],
            packets: 0,
            first: None,
            last: None,
        };
        connection.plan();
        connection
    }

    /// The time of the sender's next action without an arrival.
    #[inline]
    pub(crate) fn next_of_sender(&self) -> Option<Time> {
        let next = match (self.opens, self.sender.next_timeout(), self.planned) {
            (Some(opens), ..) => opens,
            (None, Some(timer), Some(planned)) => timer.min(planned),
            (None, timer, planned) => timer.or(planned)?,
        };
        (next < self.end).then_some(next)
    }

    /// Finds the next time at which the application acts.
    fn plan(&mut self) {
        self.planned = [self.handed, self.stops].into_iter().flatten().min();
    }

    /// The time of the receiver's next action without an arrival.
    pub(crate) fn next_of_receiver(&self) -> Option<Time> {
        self.receiver.next_timeout().filter(|at| *at < self.end)
    }

    /// Executes the sender's actions due by `now`.
    pub(crate) fn timeout_of_sender(&mut self, now: Time) {
        if self.opens.is_some_and(|at| at <= now) {
            self.opens = None;
            self.sender.start(now);
        }
        if self.handed.is_some_and(|at| at <= now) {
            self.handed = None;
            self.sender.supply(now, self.bytes.div_ceil(self.grain));
        }
        if self.stops.is_some_and(|at| at <= now) {
            self.stops = None;
            self.sender.stop();
        }
        self.sender.timeout(now);
        self.plan();
    }

    /// Executes the receiver's actions due by `now`.
    pub(crate) fn timeout_of_receiver(&mut self, now: Time) {
        self.receiver.timeout(now);
    }

    /// Hands `messages` more messages to the sender.
    pub(crate) fn answer(&mut self, now: Time, messages: u64) {
        let Some(desk) = &mut self.messages else {
            return;
        };
        for _ in 0..messages {
            desk.release(now);
        }
        let bytes = desk.bytes(messages);
        self.sender.supply(now, bytes.div_ceil(self.grain));
    }

    /// Takes data at the receiver. Returns whether they were new, and the number of
    /// messages that they complete.
    pub(crate) fn receive(&mut self, now: Time, data: &Data) -> (bool, u64) {
        let new = self.store(now, data);
        let (there, arrived) = (self.there(), self.receiver.bytes());
        let messages = match &mut self.messages {
            Some(messages) if new => messages.receive(now, there, arrived),
            _ => 0,
        };
        (new, messages)
    }

    /// Takes data at a receiver that acknowledges every segment: the packet with its
    /// content becomes the acknowledgement. Returns whether there is one.
    #[inline]
    pub(crate) fn receive_and_answer(
        &mut self,
        now: Time,
        data: &Data,
        packet: &mut Header,
        content: &mut Content,
    ) -> bool {
        content.body = Body::Segment(Segment::Ack(Ack::NOTHING));
        let Body::Segment(Segment::Ack(ack)) = &mut content.body else {
            unreachable!("it was just set");
        };
        let before = self.receiver.segments();
        let answers = self.receiver.answer(now, data, ack) && now < self.end;
        self.note_arrival(now, before);
        content.sequence = ack.next;
        content.sent = now;
        content.marks = 0;
        *packet = Header {
            size: ip_header(self.back.ip) + ack.header,
            content: packet.content,
            ..self.back
        };
        answers
    }

    /// Notes the arrival of data beyond `before` segments. Returns whether there were
    /// any.
    #[inline]
    fn note_arrival(&mut self, now: Time, before: u64) -> bool {
        let new = self.receiver.segments() > before;
        if new {
            self.last = Some(now);
            if self.first.is_none() {
                self.first = Some((now, self.receiver.bytes()));
            }
        }
        new
    }

    /// Takes data at the receiver. Returns whether they were new.
    fn store(&mut self, now: Time, data: &Data) -> bool {
        let before = self.receiver.segments();
        self.receiver.receive(now, data);
        self.note_arrival(now, before)
    }

    /// Takes an acknowledgement at the sender.
    #[inline]
    pub(crate) fn receive_ack(&mut self, now: Time, ack: &Ack) {
        self.sender.receive(now, ack);
    }

    /// Takes a router's notification that packets above `mtu` do not pass. The path MTU
    /// never increases within a run [RFC8201 s4] [RFC1191 s3].
    pub(crate) fn too_big(&mut self, now: Time, mtu: u32) {
        let ip = self.forth.ip;
        let mtu = mtu.max(ip.smallest_mtu());
        self.path_mtu = Some(self.path_mtu.map_or(mtu, |before| before.min(mtu)));
        self.sender
            .too_big(now, mtu.saturating_sub(ip_header(ip) + self.header));
    }

    /// Takes a queue's notification that it dropped `lost`.
    pub(crate) fn notified(&mut self, now: Time, lost: Range, reduce: bool) {
        self.sender.notified(now, lost, reduce);
    }

    /// The state of the sender.
    pub(crate) fn state(&self) -> State {
        self.sender.state()
    }

    /// The counters of the sender.
    pub(crate) fn counts(&self) -> Counts {
        self.sender.counts()
    }

    /// Bytes received without a gap.
    fn there(&self) -> u64 {
        let numbers = self.receiver.next().saturating_sub(1);
        numbers.saturating_mul(self.grain).min(self.bytes)
    }

    /// The outcome of the connection.
    pub(crate) fn outcome(&self) -> TcpOutcome {
        let goodput = || {
            let (first, bytes) = self.first?;
            let span = self.last?.since(first)?;
            let bits = u128::from(self.receiver.bytes() - bytes) * 8;
            let rate = (bits * 1_000_000_000_000).checked_div(span.as_picos().into())?;
            Rate::from_bits_per_second(u64::try_from(rate).ok()?)
        };
        TcpOutcome {
            sender: self.sender.counts(),
            segments: self.receiver.segments(),
            bytes: self.receiver.bytes(),
            path_mtu: self.path_mtu,
            round_trip: self.sender.state().round_trip,
            began: self.lasts[0],
            ended: match self.last {
                Some(last) if self.there() >= self.bytes => last,
                last => self.lasts[1].max(last.unwrap_or(Time::ZERO)),
            },
            counted: self.messages.as_deref().and_then(Messages::counted),
            first_arrival: self.first.map(|(at, _)| at),
            last_arrival: self.last,
            goodput: goodput(),
        }
    }

    /// Makes the next segment that is ready `packet`; its content is put into `contents`.
    /// Returns whether there was one.
    #[inline(always)]
    pub(crate) fn next_segment(
        &mut self,
        now: Time,
        contents: &mut Contents,
        packet: &mut Header,
    ) -> bool {
        loop {
            let Some(data) = self.sender.poll_transmit() else {
                return false;
            };
            if now >= self.end {
                continue;
            }
            if let Some(messages) = &mut self.messages
                && !data.again
                && data.payload > 0
            {
                let before = (data.sequence - 1).saturating_mul(self.grain);
                messages.send(now, before + u64::from(data.payload));
            }
            self.packets += 1;
            let (place, content) = contents.place();
            place.sequence = data.sequence;
            place.sent = now;
            place.marks = 0;
            place.body = Body::Segment(Segment::Data(data));
            *packet = Header {
                size: ip_header(self.forth.ip) + data.header + data.payload,
                congestion: match data.capable {
                    true => Congestion::Able,
                    false => Congestion::Unable,
                },
                content,
                ..self.forth
            };
            return true;
        }
    }

    /// Whether the sender has another segment ready.
    #[inline]
    pub(crate) fn has_segments(&mut self) -> bool {
        self.sender.has_segments()
    }

    /// Puts the segments that are ready into the outbox of `contents`.
    #[inline]
    pub(crate) fn send(&mut self, now: Time, contents: &mut Contents) {
        let mut packet = self.forth;
        while self.next_segment(now, contents, &mut packet) {
            contents.post_stored(packet);
        }
    }

    /// The acknowledgement that is ready.
    pub(crate) fn acknowledge(&mut self, now: Time) -> Option<(Header, Content)> {
        let ack = self.receiver.poll_transmit()?;
        if now >= self.end {
            return None;
        }
        let packet = Header {
            size: ip_header(self.back.ip) + ack.header,
            ..self.back
        };
        let content = Content {
            sequence: ack.next,
            sent: now,
            marks: 0,
            body: Body::Segment(Segment::Ack(ack)),
        };
        Some((packet, content))
    }
}
