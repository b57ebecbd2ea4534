//! A test of a client, at the server.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver as Queue, RecvTimeoutError, Sender};
use std::time::Duration;

use meter::departures::PathMtu;
use os::clock;
use os::deadline::Deadline;
use os::error::{Error, OperationContext, Result};
use os::socket::{self, Kind, MsgFlags, Options, Socket, UDP_RECEIVE_BUFFER};
use units::{Bytes, Span, Time, Transport};

use super::control::Control;
use super::outcome::{FlowOutcome, Outcome};
use super::serve::{Event, Serving};
use super::streams::Streams;
use crate::driver::control_port::Connection;
use crate::driver::sessions::SendingRate;
use crate::machine::iperf3::{
    Bounds, Direction, LARGEST_PARAMETERS, LARGEST_RESULTS, Parameters, Rejection, Request,
    Results, State, opens,
};

/// The longest time for each message of a client, and for all its streams.
const ANSWER: Span = Span::from_secs(10);

/// The longest time for the results of a client. iperf3 waits for up to 10 s for the rest of a
/// block before it reads messages [iperf3].
const RESULTS: Span = Span::from_secs(30);

/// How much later than it said a client may end a test: it drains its buffers before.
const GRACE: Span = Span::from_secs(30);

/// Interval between looks at what the client says.
const LOOK: Span = Span::from_millis(20);

/// A client that sent its cookie.
pub(super) struct Accepted {
    pub(super) session: u64,
    pub(super) control: Socket,
    /// Its streams of TCP, as they come.
    pub(super) streams: Queue<Socket>,
    pub(super) serving: Arc<Serving>,
    pub(super) stop: Arc<AtomicBool>,
    pub(super) to: Sender<Event>,
}

/// A test at the server.
struct Test {
    accepted: Rest,
    control: Control,
    peer: SocketAddr,
    here: SocketAddr,
}

/// What a test keeps of [`Accepted`].
struct Rest {
    session: u64,
    streams: Queue<Socket>,
    serving: Arc<Serving>,
    stop: Arc<AtomicBool>,
    to: Sender<Event>,
}

/// Runs a test and tells of it.
pub(super) fn run(accepted: Accepted) {
    let Accepted {
        session,
        control,
        streams,
        serving,
        stop,
        to,
    } = accepted;
    // A connection that is gone has no test.
    let Ok(peer) = socket::peer_of(&control) else {
        return;
    };
    let told = to.clone();
    let accepted = Rest {
        session,
        streams,
        serving,
        stop,
        to,
    };
    if let Err(error) = Test::of(accepted, control, peer).and_then(|mut test| test.run()) {
        let why = error.to_string();
        // The receiver of events ends after this thread.
        let _ = told.send(Event::Rejected { peer, why });
    }
}

impl Test {
    fn of(accepted: Rest, control: Socket, peer: SocketAddr) -> Result<Self> {
        let connection = Connection::of(control)?;
        Ok(Self {
            here: connection.here()?,
            control: Control::new(connection),
            accepted,
            peer,
        })
    }

    /// Runs the test. An error before its data is returned, one behind them is part of the
    /// outcome.
    fn run(&mut self) -> Result<()> {
        let deadline = self.within(ANSWER);
        self.control.tell(State::ExchangeParameters)?;
        let asked = self.control.json(LARGEST_PARAMETERS, &deadline)?;
        let request = Parameters::parse(&asked)
            .map_err(|why| Rejection::new(Rejection::PARAMETERS, format!("it {why}")))
            .and_then(|asked| Request::of(&asked, self.bounds()));
        let request = match request {
            Ok(request) => Arc::new(self.limited(request)),
            Err(rejection) => return Err(self.reject(rejection)),
        };
        let sockets = self.streams(&request)?;
        let session = self.accepted.session;
        self.send(Event::Began {
            session,
            peer: self.peer,
            request: Arc::clone(&request),
        });
        self.control.tell(State::TestStart)?;
        self.control.tell(State::TestRunning)?;
        let length = request.length.map(|length| length + request.omit);
        let most = length.unwrap_or(self.accepted.serving.longest) + GRACE;
        let until = clock::monotonic() + most;
        let mut streams = Streams::start(&request, sockets, true, until)?;
        let ended = self.finish(&request, &mut streams, until);
        let (theirs, fault) = match ended {
            Ok(theirs) => (Some(theirs), None),
            Err(error) => {
                // The client sees that the test is over, if it is still there.
                let _ = self.control.tell(State::ServerTerminated);
                (None, Some(error.to_string()))
            }
        };
        let flows = streams.outcomes(theirs.as_ref());
        let outcome = Outcome {
            peer: self.peer,
            flows,
            text: None,
            fault,
        };
        self.send(Event::Ended { session, outcome });
        Ok(())
    }

    fn within(&self, span: Span) -> Deadline {
        Deadline::of_owner(clock::monotonic() + span, &self.accepted.stop)
    }

    fn send(&self, event: Event) {
        // The receiver of events ends after this thread.
        let _ = self.accepted.to.send(event);
    }

    fn bounds(&self) -> Bounds {
        let serving = &self.accepted.serving;
        Bounds {
            longest: serving.longest,
            sends: serving.rate != SendingRate::None,
        }
    }

    /// The request, no faster than this receiver may send.
    fn limited(&self, request: Request) -> Request {
        match self.accepted.serving.rate {
            SendingRate::Most(most) if request.direction != Direction::Forward => {
                let most = most.bits_per_second();
                let rate = Some(request.rate).filter(|rate| *rate > 0);
                Request {
                    rate: rate.map_or(most, |rate| rate.min(most)),
                    ..request
                }
            }
            _ => request,
        }
    }

    /// Tells the client why its test is not run, by iperf3's number, and returns the words for
    /// this end.
    fn reject(&self, rejection: Rejection) -> Error {
        let mut bytes = vec![State::ServerError.byte()];
        bytes.extend(rejection.number.to_be_bytes());
        bytes.extend(rejection.system.to_be_bytes());
        // It may be gone; the reason is told here.
        let _ = self.control.send(&bytes);
        Error::new("iperf3", rejection.why)
    }

    /// The connected sockets of all streams, in the order of their numbers.
    fn streams(&mut self, request: &Request) -> Result<Vec<Socket>> {
        let deadline = self.within(ANSWER);
        let sockets = match request.transport {
            Transport::Tcp => {
                self.control.tell(State::CreateStreams)?;
                self.streams_of_tcp(request, &deadline)?
            }
            Transport::Udp => self.streams_of_udp(request, &deadline)?,
        };
        Ok(sockets)
    }

    fn streams_of_tcp(&self, request: &Request, deadline: &Deadline) -> Result<Vec<Socket>> {
        let mut sockets = Vec::new();
        let options = options(request);
        while sockets.len() < request.all_streams() {
            self.permit(deadline)?;
            let look = Duration::from_nanos(LOOK.as_nanos());
            match self.accepted.streams.recv_timeout(look) {
                Ok(stream) => {
                    let applied = socket::apply(&options, &stream, Kind::Stream, self.here.ip());
                    applied.map_err(|error| self.reject_socket(request, &error))?;
                    sockets.push(stream);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Error::new("waiting for streams", "the receiver ends"));
                }
            }
        }
        Ok(sockets)
    }

    /// Each stream has a socket of this port. A datagram of the client's address asks for it,
    /// and the answer goes there alone: so nothing is sent to an address that did not open the
    /// control connection.
    fn streams_of_udp(&mut self, request: &Request, deadline: &Deadline) -> Result<Vec<Socket>> {
        let mut sockets = Vec::new();
        let mut next = self.datagrams(request)?;
        self.control.tell(State::CreateStreams)?;
        while sockets.len() < request.all_streams() {
            let (from, answer) = self.opening(&next, deadline)?;
            socket::connect(&next, from).during(|| format!("connecting to {from}"))?;
            let opened = next;
            // The next datagram may come as soon as this one is answered.
            next = self.datagrams(request)?;
            socket::send(&opened, &answer, MsgFlags::MSG_NOSIGNAL)
                .during(|| format!("answering {from}"))?;
            sockets.push(opened);
        }
        Ok(sockets)
    }

    fn datagrams(&self, request: &Request) -> Result<Socket> {
        let options = Options {
            bind: Some(self.here),
            reuse_address: true,
            stamps: true,
            ..options(request)
        };
        socket::open(Transport::Udp, self.here.ip(), &options)
            .map_err(|error| self.reject_socket(request, &error))
    }

    /// Waits for a datagram that opens a stream, from the client's address.
    fn opening(&self, socket: &Socket, deadline: &Deadline) -> Result<(SocketAddr, [u8; 4])> {
        let mut room = [0; 64];
        loop {
            let permit = self.permit(deadline)?;
            if !socket::wait_to_read(socket, clock::monotonic() + LOOK)? {
                continue;
            }
            let read = socket::receive_from(socket, &mut room, MsgFlags::MSG_DONTWAIT, permit);
            let Ok((length, Some(from))) = read else {
                continue;
            };
            let answer = opens(&room[..length.min(room.len())]);
            if let Some(answer) = answer.filter(|_| from.ip() == self.peer.ip()) {
                return Ok((from, answer));
            }
        }
    }

    fn permit(&self, deadline: &Deadline) -> Result<os::deadline::Permit> {
        deadline.permit().map_err(|_| {
            Error::new(
                "waiting for the client's streams",
                "they did not come in time",
            )
        })
    }

    fn reject_socket(&self, request: &Request, error: &Error) -> Error {
        let congestion = request.congestion.is_some() && request.transport == Transport::Tcp;
        let number = if congestion {
            Rejection::CONGESTION
        } else {
            Rejection::STREAM
        };
        let code = error.source.raw_os_error().unwrap_or(0);
        self.reject(Rejection {
            system: code.unsigned_abs(),
            ..Rejection::new(number, error.to_string())
        })
    }

    /// Waits for the end of the test, and exchanges results.
    fn finish(&mut self, request: &Request, streams: &mut Streams, until: Time) -> Result<Results> {
        let deadline = Deadline::of_owner(until, &self.accepted.stop);
        self.wait(request, streams, &deadline)?;
        streams.stop_sending()?;
        streams.end();
        self.control.tell(State::ExchangeResults)?;
        let deadline = self.within(RESULTS);
        let theirs = self.control.json(LARGEST_RESULTS, &deadline)?;
        let theirs = Results::parse(&theirs).map_err(|why| self.control.malformed(why))?;
        streams.drain(Some(&theirs));
        streams.stop_receiving()?;
        let mut ours = streams.results(Some(&theirs));
        if request.wants_text {
            ours.server_output_text = Some(text(&streams.outcomes(Some(&theirs))));
        }
        self.control.send_json(&ours.json())?;
        self.control.tell(State::DisplayResults)?;
        // A client that leaves without a word has its results all the same.
        let _ = self.control.state(&self.within(ANSWER));
        Ok(theirs)
    }

    /// Waits until the client ends the test; meanwhile reports intervals.
    fn wait(
        &mut self,
        request: &Request,
        streams: &mut Streams,
        deadline: &Deadline,
    ) -> Result<()> {
        let mut omit = Some(request.omit).filter(|omit| *omit > Span::ZERO);
        let every = self.accepted.serving.interval;
        let mut next = every;
        loop {
            let state = self.control.poll(LOOK, deadline)?;
            let now = clock::monotonic();
            let elapsed = streams.elapsed(now);
            if omit.is_some_and(|omit| elapsed >= omit) {
                omit = None;
                streams.omit(now);
            }
            if let (Some(every), Some(at)) = (every, next)
                && elapsed >= at
            {
                let interval = streams.interval(now);
                let session = self.accepted.session;
                self.send(Event::Interval { session, interval });
                // Late looks leave out the intervals that they missed.
                let passed = elapsed.as_picos() / every.as_picos().max(1) + 1;
                next = Some(Span::from_picos(passed * every.as_picos()));
            }
            match state {
                Some(State::TestEnd) => return Ok(()),
                Some(State::ClientTerminated) => {
                    return Err(Error::new(self.control.listening(), "it ended the test"));
                }
                Some(_) => {
                    let why = "it sent a message that does not belong here";
                    return Err(Error::new(self.control.listening(), why));
                }
                None => {}
            }
        }
    }
}

/// The options of a stream's socket at the server.
fn options(request: &Request) -> Options {
    let is_tcp = request.transport == Transport::Tcp;
    let window = request.window.map(Bytes::new);
    Options {
        dscp: request.dscp,
        path_mtu: match request.unfragmented {
            true => PathMtu::Do,
            false => PathMtu::Machine,
        },
        send_buffer: window,
        receive_buffer: window.or_else(|| (!is_tcp).then_some(UDP_RECEIVE_BUFFER)),
        congestion: request.congestion.clone().filter(|_| is_tcp),
        segment: request.segment.filter(|_| is_tcp),
        no_delay: request.no_delay && is_tcp,
        ..Options::default()
    }
}

/// The lines that a client with `--get-server-output` prints.
fn text(flows: &[FlowOutcome]) -> String {
    let mut text = String::new();
    for flow in flows {
        let ends = [("sent", &flow.sent), ("received", &flow.received)];
        for (what, count) in ends {
            let Some(count) = count else { continue };
            let name = flow.name.as_str();
            let (bytes, seconds) = (count.bytes.get(), count.lasted.as_secs_f64());
            let _ = write!(text, "{name}: {what} {bytes} bytes in {seconds:.3} s");
            if let Some(lost) = count.lost {
                let _ = write!(text, ", {lost} datagrams lost");
            }
            text.push('\n');
        }
    }
    text
}
