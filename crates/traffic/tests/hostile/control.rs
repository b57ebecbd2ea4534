//! Hostile control messages in all states of a receiver.

use jumbolab_traffic::machine::control::{
    Client, Limits, ReceiverMessage, Request, Server, Settings,
};
use meter::departures::Distribution;
use secret::Secret;
use units::{Span, Time};
use wire::control::{
    self, Control, Flow, LONGEST, Meter, Name, Progress, Protocol, Report, Reverse, Traffic,
};

use super::{Chance, in_a_process_of_its_own, try_all};

const LIMITS: Limits = Limits {
    flows: 4,
    longest: Span::from_secs(60),
    handshake: Span::from_secs(5),
    idle: Span::from_secs(3),
};

/// Bytes of a challenge and of a rejection, the most that an unauthenticated peer gets.
const CHALLENGE: usize = 2 + 32;
const REJECTION: usize = 4;

/// Bytes of the longest answer to one message: an authenticated report.
const ANSWER: usize = 2 + LONGEST;

/// One connection, and the messages of its sender.
struct Session {
    server: Server,
    /// An authenticated sender, for sessions that need the secret.
    client: Client,
    /// Whether a secret is required.
    sealed: bool,
    admitted: bool,
    begun: bool,
    flows: usize,
    /// Bytes sent to an unauthenticated peer.
    said: usize,
}

#[test]
fn control_messages_of_any_structure_in_any_order_harm_no_receiver() {
    let name = "control::control_messages_of_any_structure_in_any_order_harm_no_receiver";
    in_a_process_of_its_own(name, any_structure);
}

fn any_structure() {
    let mut chance = Chance::new();
    let mut session = Session::begin(&mut chance);
    try_all("control messages", |number| {
        if number % 1_000 == 999 {
            a_true_session_is_served(&mut chance);
        }
        let accepted = session.step(&mut chance);
        // Some sessions last until they are rejected, others break off.
        if !accepted || chance.below(40) == 0 {
            session = Session::begin(&mut chance);
        }
        accepted
    });
}

impl Session {
    fn begin(chance: &mut Chance) -> Self {
        let sealed = chance.below(2) == 0;
        let secret = |text: &str| Secret::new(text.as_bytes().to_vec());
        let known = sealed.then(|| secret("right"));
        let secret = match chance.below(8) {
            0 => Some(secret("wrong")),
            1 => None,
            _ => known.clone(),
        };
        let settings = Settings {
            secret: known,
            limits: LIMITS,
            nonce: [chance.byte(); 16],
            clock: [1; 8],
        };
        Self {
            server: Server::new(Time::ZERO, settings),
            client: Client::new(secret, [chance.byte(); 16], [2; 8]),
            sealed,
            admitted: false,
            begun: false,
            flows: 0,
            said: 0,
        }
    }

    /// Sends one message. Returns whether it was accepted.
    fn step(&mut self, chance: &mut Chance) -> bool {
        let bytes = self.next(chance);
        let received = self.server.receive(chance.extreme(), &bytes);
        let accepted = received.is_ok();
        for request in received.unwrap_or_default() {
            self.answer(request, chance);
        }
        let said = std::mem::take(self.server.output());
        assert!(said.len() <= ANSWER, "{} bytes at once", said.len());
        if !self.admitted {
            self.said += said.len();
            let (proven, least) = (self.server.is_open(), CHALLENGE + REJECTION);
            assert!(!proven && self.said <= least, "{} bytes", self.said);
        }
        // The client's result does not matter here.
        let _ = self.client.receive(chance.extreme(), &said);
        accepted
    }

    /// The sender's next bytes: valid until it is authenticated, then any message of a
    /// sender; some are damaged.
    fn next(&mut self, chance: &mut Chance) -> Vec<u8> {
        let waiting = std::mem::take(self.client.output());
        let mut bytes = match (waiting.is_empty(), self.admitted && self.sealed) {
            (false, _) => waiting,
            // Only an end with the secret can authenticate frames.
            (true, true) => {
                self.say(chance);
                std::mem::take(self.client.output())
            }
            (true, false) => frame(&message(chance)),
        };
        if chance.below(12) == 0 {
            chance.damage(&mut bytes);
        }
        bytes
    }

    fn say(&mut self, chance: &mut Chance) {
        match message(chance) {
            Control::Flow(flow) => self.client.open(flow),
            Control::Ended {
                flow,
                messages,
                bytes,
                warmup,
            } => self.client.ended(flow, [messages, bytes, warmup]),
            Control::Clocks {
                epoch,
                offset,
                bound,
            } => self.client.clocks(epoch, offset, bound),
            Control::Farewell if chance.below(8) == 0 => self.client.farewell(),
            Control::Watch { number } => self.client.watch(number),
            Control::Reverse(reverse) => self.client.reverse(reverse),
            Control::Begin => self.client.begin(),
            _ => self.client.compare(chance.extreme()),
        }
    }

    fn answer(&mut self, request: Request, chance: &mut Chance) {
        match request {
            Request::Admit => {
                assert!(!self.admitted, "nobody is admitted twice");
                self.admitted = true;
                self.server.admit(Time::ZERO);
                assert!(self.server.is_open());
            }
            Request::Open(flow) => {
                assert!(self.admitted);
                self.flows += 1;
                assert!(self.flows <= usize::from(LIMITS.flows));
                self.server.ready(flow.flow, 4_000, 1 << 20);
            }
            Request::Ended { flow, .. } => {
                assert!(self.admitted);
                if chance.below(2) == 0 {
                    let report = Report {
                        flow,
                        ..Report::default()
                    };
                    std::mem::take(self.server.output());
                    self.server.report(report);
                }
            }
            Request::Reverse(reverse) => {
                assert!(self.admitted && !self.begun);
                self.flows += 1;
                assert!(self.flows <= usize::from(LIMITS.flows));
                let distributions = [reverse.traffic.gaps, reverse.traffic.sizes];
                for distribution in distributions.iter().filter_map(Distribution::of_wire) {
                    assert!(distribution.check().is_ok());
                }
                self.server.ready(reverse.flow.flow, 4_000, 0);
            }
            Request::Begin => {
                assert!(self.admitted && !self.begun);
                self.begun = true;
            }
            Request::Watch { number } => {
                assert!(self.admitted);
                let progress = Progress {
                    number,
                    ..Progress::default()
                };
                std::mem::take(self.server.output());
                self.server.progress(progress);
            }
            Request::Clocks { .. } | Request::Farewell => assert!(self.admitted),
        }
    }
}

/// Serves a valid session after hostile ones.
fn a_true_session_is_served(chance: &mut Chance) {
    let mut session = Session::begin(chance);
    let secret = session.sealed.then(|| Secret::new(b"right".to_vec()));
    session.client = Client::new(secret, [3; 16], [2; 8]);
    let mut welcome = false;
    for _ in 0..2 {
        let said = std::mem::take(session.client.output());
        let requests = session.server.receive(0, &said).unwrap();
        for request in requests {
            session.answer(request, chance);
        }
        let answer = std::mem::take(session.server.output());
        let news = session.client.receive(0, &answer).unwrap();
        welcome |= matches!(news[..], [ReceiverMessage::Welcome { .. }]);
    }
    assert!(welcome);
}

fn frame(message: &Control) -> Vec<u8> {
    let mut room = [0; LONGEST];
    let length = message.emit(&mut room);
    let mut bytes = u16::try_from(length).unwrap().to_be_bytes().to_vec();
    bytes.extend(&room[..length]);
    bytes
}

/// Mostly messages of an authenticated sender, with any fields.
fn message(chance: &mut Chance) -> Control {
    let number = u16::try_from(chance.below(5)).unwrap();
    match chance.below(30) {
        0 => Control::Hello {
            version: number,
            nonce: [chance.byte(); 16],
            clock: [chance.byte(); 8],
        },
        1 => Control::Proof([chance.byte(); 32]),
        2 => Control::Farewell,
        3 => Control::Tell {
            asked: chance.extreme(),
            received: chance.extreme(),
            answered: chance.extreme(),
        },
        4 => Control::Report(Report::default()),
        5..8 => Control::Flow(flow(number, chance)),
        8..10 => Control::Ended {
            flow: number,
            messages: chance.extreme(),
            bytes: chance.extreme(),
            warmup: chance.extreme(),
        },
        24 => Control::Watch {
            number: u32::from(number),
        },
        25 => Control::Progress(Progress::default()),
        26..29 => Control::Reverse(Reverse {
            flow: flow(number, chance),
            traffic: traffic(chance),
        }),
        29 => Control::Begin,
        10..14 => Control::Clocks {
            epoch: chance.extreme(),
            offset: chance.extreme().cast_signed(),
            bound: chance.extreme(),
        },
        _ => Control::Ask {
            sent: chance.extreme(),
        },
    }
}

fn traffic(chance: &mut Chance) -> Traffic {
    let distribution = |chance: &mut Chance| control::Distribution {
        family: chance.byte() % control::Distribution::FAMILIES,
        parameters: [chance.extreme(), chance.extreme()],
    };
    Traffic {
        seed: chance.extreme(),
        delay: chance.extreme(),
        length: chance.extreme(),
        omit: chance.extreme(),
        packets: chance.extreme(),
        bytes: chance.extreme(),
        gaps: distribution(chance),
        sizes: distribution(chance),
        paced: chance.below(2) == 0,
        nagle: chance.below(2) == 0,
        ecn: chance.byte() % 4,
        ttl: chance.byte(),
        path_mtu: chance.byte() % Traffic::PATH_MTU_MODES,
        segmentation: u16::from(chance.byte()),
        send_buffer: u32::from(chance.byte()),
        congestion: [0; control::LONGEST_CONGESTION],
    }
}

fn flow(number: u16, chance: &mut Chance) -> Flow {
    let large = |chance: &mut Chance| u32::try_from(chance.extreme() >> 32).unwrap();
    Flow {
        flow: number,
        name: Name::new("one").unwrap(),
        transport: [Protocol::Udp, Protocol::Tcp][chance.below(2)],
        meter: [Meter::OneWay, Meter::RoundTrip][chance.below(2)],
        busy: chance.below(2) == 0,
        merge: chance.below(2) == 0,
        dscp: chance.byte() % 64,
        buffer: large(chance),
        largest: large(chance),
        port: u16::from(chance.byte()) * 257,
        at: [chance.byte() / 128; 16],
        codec: None,
        cookie: [chance.byte(); 16],
    }
}
