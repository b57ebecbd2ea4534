//! A client of an iperf3 server.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use os::deadline::Deadline;
use os::error::{Error, OperationContext, Result};
use os::random::random;
use os::socket::{self, Errno, MsgFlags, Options, Socket, UDP_RECEIVE_BUFFER};
use os::{clock, interrupt};
use units::{Bytes, Span, Time, Transport};

use super::control::Control;
use super::outcome::Outcome;
use super::streams::Streams;
use crate::driver::control_port::Connection;
use crate::driver::sessions::Intervals;
use crate::machine::iperf3::{
    COOKIE_LEN, Cookie, Direction, LARGEST_RESULTS, Rejection, Request, Results, State, answers,
};

/// The longest time for each answer of the server.
const ANSWER: Span = Span::from_secs(10);

/// Interval between looks at the server and the streams.
const LOOK: Span = Span::from_millis(20);

/// The time in which the server's program reads what its system has acknowledged. It reads
/// nothing more once it knows that the test has ended [iperf3].
const READING: Span = Span::from_millis(50);

/// The silence after which a server has sent all that it will.
const SILENCE: Span = Span::from_secs(5);

/// The remedy if nobody listens.
const ABSENT: &str = "no iperf3 server listens there; start `iperf3 -s` or `jumbolab recv --iperf3` on that host, and name its port with --port";

/// The task of a client.
pub struct Plan {
    /// The server's address.
    pub to: SocketAddr,
    pub request: Request,
    /// The local address and interface of all sockets.
    pub socket: Options,
    /// Reports while the streams run, if they are wanted.
    pub intervals: Option<Intervals>,
}

/// Runs a test. The outcome holds the measurements made before an error, and the error.
///
/// # Errors
/// If it cannot begin: nobody listens, the server rejects, or the kernel does.
pub fn run(plan: Plan) -> Result<Outcome> {
    let Plan {
        to,
        request,
        socket,
        mut intervals,
    } = plan;
    let connection = Connection::to(to, &socket, ANSWER, ABSENT)?;
    let mut control = Control::new(connection);
    let cookie = cookie()?;
    control.send(&cookie)?;
    expect(&mut control, State::ExchangeParameters)?;
    control.send_json(&request.parameters().json())?;
    expect(&mut control, State::CreateStreams)?;
    let options = options(&request, &socket);
    let sockets = (0..request.all_streams()).map(|_| match request.transport {
        Transport::Tcp => stream(to, &options, &cookie),
        Transport::Udp => datagrams(to, &options),
    });
    let sockets: Result<Vec<Socket>> = sockets.collect();
    let sockets = sockets.inspect_err(|_| {
        // The server waits for no more streams, if it is still there.
        let _ = control.tell(State::ClientTerminated);
    })?;
    expect(&mut control, State::TestStart)?;
    expect(&mut control, State::TestRunning)?;
    let request = Arc::new(request);
    let never = Time::from_picos(u64::MAX);
    let mut streams = Streams::start(&request, sockets, false, never)?;
    let finished = wait(&mut control, &request, &mut streams, &mut intervals)
        .and_then(|()| finish(&mut control, &request, &mut streams));
    let (theirs, fault) = match finished {
        Ok(theirs) => (Some(theirs), None),
        Err(error) => (None, Some(error.to_string())),
    };
    Ok(Outcome {
        peer: to,
        flows: streams.outcomes(theirs.as_ref()),
        text: theirs.and_then(|theirs| theirs.server_output_text),
        fault,
    })
}

/// A new cookie: 36 letters and digits, as iperf3's are, and a zero byte.
fn cookie() -> Result<Cookie> {
    const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let chance = random::<{ COOKIE_LEN - 1 }>()?;
    let mut cookie = [0; COOKIE_LEN];
    for (letter, byte) in cookie.iter_mut().zip(chance) {
        *letter = LETTERS[usize::from(byte % 32)];
    }
    Ok(cookie)
}

fn options(request: &Request, wanted: &Options) -> Options {
    let is_tcp = request.transport == Transport::Tcp;
    Options {
        bind: wanted.bind,
        device: wanted.device.clone(),
        dscp: request.dscp,
        send_buffer: request.window.map(Bytes::new),
        receive_buffer: (!is_tcp).then_some(UDP_RECEIVE_BUFFER),
        congestion: request.congestion.clone().filter(|_| is_tcp),
        segment: request.segment.filter(|_| is_tcp),
        no_delay: request.no_delay && is_tcp,
        stamps: !is_tcp,
        timeout: Some(ANSWER),
        ..Options::default()
    }
}

/// A stream of TCP, which begins with the cookie.
fn stream(to: SocketAddr, options: &Options, cookie: &Cookie) -> Result<Socket> {
    let doing = || format!("opening a stream to {to}");
    let socket = socket::open(Transport::Tcp, to.ip(), options)?;
    socket::connect(&socket, to)
        .map_err(|errno| match errno {
            Errno::EINPROGRESS | Errno::EAGAIN => Errno::ETIMEDOUT,
            other => other,
        })
        .during(doing)?;
    // A new connection has room for a few bytes.
    match socket::send(&socket, cookie, MsgFlags::MSG_NOSIGNAL).during(doing)? {
        COOKIE_LEN => Ok(socket),
        _ => Err(Error::new(doing(), "the system took a part of the cookie")),
    }
}

/// A stream of UDP, which begins with a datagram that the server answers.
fn datagrams(to: SocketAddr, options: &Options) -> Result<Socket> {
    let doing = || format!("opening a stream of UDP to {to}");
    let socket = socket::open(Transport::Udp, to.ip(), options)?;
    socket::connect(&socket, to).during(doing)?;
    let (question, answer) = answers();
    socket::send(&socket, &question, MsgFlags::MSG_NOSIGNAL).during(doing)?;
    let deadline = Deadline::fixed(ANSWER);
    let mut room = [0; 64];
    while let Ok(permit) = deadline.permit() {
        if interrupt::asked() {
            return Err(Error::new(doing(), "stopped by the user"));
        }
        if !socket::wait_to_read(&socket, clock::monotonic() + LOOK)? {
            continue;
        }
        match socket::receive(&socket, &mut room, MsgFlags::MSG_DONTWAIT, permit) {
            Ok(length) if room[..length] == answer || room[..length] == question => {
                return Ok(socket);
            }
            Ok(_) | Err(Errno::EAGAIN | Errno::EINTR) => {}
            Err(error) => return Err(error).during(doing),
        }
    }
    let why = "the server did not answer the first datagram; let UDP to and from this port pass";
    Err(Error::new(format!("{}; {why}", doing()), why))
}

/// Waits for this state.
fn expect(control: &mut Control, wanted: State) -> Result<()> {
    let deadline = Deadline::fixed(ANSWER);
    let state = control.state(&deadline)?;
    match state {
        state if state == wanted => Ok(()),
        other => Err(unexpected(control, other)),
    }
}

/// The error of a state that ends the test.
fn unexpected(control: &mut Control, state: State) -> Error {
    let server = control.connection.peer().ip();
    let why = match state {
        State::Busy => "the server runs another test; try again when it has ended".to_owned(),
        State::ServerTerminated => "the server ended the test".to_owned(),
        State::ServerError => match control.error(&Deadline::fixed(ANSWER)) {
            Ok((number, system)) => rejected(number, system),
            Err(_) => "the server rejects the test, and gives no reason".to_owned(),
        },
        _ => format!("the server sent the message {state:?}, which does not belong here"),
    };
    Error::new(format!("testing with {server}"), why)
}

fn rejected(number: u32, system: u32) -> String {
    let words = Rejection::words(number).map_or_else(String::new, |words| format!(": {words}"));
    let system = i32::try_from(system).ok().filter(|system| *system > 0);
    let system = system.map_or_else(String::new, |code| {
        format!(" ({})", io::Error::from_raw_os_error(code))
    });
    format!("the server rejects the test with iperf3's error {number}{words}{system}")
}

/// Waits until the test is over; meanwhile reports intervals.
fn wait(
    control: &mut Control,
    request: &Request,
    streams: &mut Streams,
    intervals: &mut Option<Intervals>,
) -> Result<()> {
    let mut omit = Some(request.omit).filter(|omit| *omit > Span::ZERO);
    let length = request.length.map(|length| request.omit + length);
    let mut next = intervals.as_ref().map(|intervals| intervals.every);
    let (mut received, mut at) = (0, clock::monotonic());
    // The end is known here, and nothing else ends a wait of a few milliseconds.
    let deadline = Deadline::fixed_at(Time::from_picos(u64::MAX));
    while !interrupt::asked() {
        let now = clock::monotonic();
        let elapsed = streams.elapsed(now);
        if omit.is_some_and(|omit| elapsed >= omit) {
            omit = None;
            streams.omit(now);
        }
        let (bytes, blocks) = streams.received();
        if bytes != received {
            (received, at) = (bytes, now);
        }
        if is_over(request, streams, elapsed, bytes, blocks)
            || (request.length.is_none() && bytes > 0 && now.since(at) >= Some(SILENCE))
        {
            break;
        }
        if let (Some(intervals), Some(due)) = (intervals.as_mut(), next)
            && elapsed >= due
        {
            (intervals.tell)(streams.interval(now));
            let passed = elapsed.as_picos() / intervals.every.as_picos().max(1) + 1;
            next = Some(Span::from_picos(passed * intervals.every.as_picos()));
        }
        let left = omit.or(length).map(|length| {
            let left = length.as_picos().saturating_sub(elapsed.as_picos());
            Span::from_picos(left)
        });
        let wait = left.map_or(LOOK, |left| left.min(LOOK));
        if let Some(state) = control.poll(wait, &deadline)? {
            return Err(unexpected(control, state));
        }
    }
    Ok(())
}

fn is_over(request: &Request, streams: &Streams, elapsed: Span, bytes: u64, blocks: u64) -> bool {
    if let Some(length) = request.length {
        return elapsed >= request.omit + length;
    }
    let have_received = match (request.bytes, request.blocks) {
        (Some(most), _) => bytes >= most,
        (None, Some(most)) => blocks >= most,
        (None, None) => true,
    };
    match request.direction {
        Direction::Forward => streams.have_sent(),
        Direction::Reverse => have_received,
        Direction::Both => streams.have_sent() && have_received,
    }
}

/// Ends the test, and exchanges results.
fn finish(control: &mut Control, request: &Request, streams: &mut Streams) -> Result<Results> {
    streams.stop_sending()?;
    if request.direction != Direction::Reverse {
        streams.settle();
        clock::sleep(READING);
    }
    control.tell(State::TestEnd)?;
    expect(control, State::ExchangeResults)?;
    streams.drain(None);
    control.send_json(&streams.results(None).json())?;
    let theirs = control.json(LARGEST_RESULTS, &Deadline::fixed(ANSWER))?;
    let theirs = Results::parse(&theirs).map_err(|why| control.malformed(why))?;
    streams.drain(Some(&theirs));
    streams.stop_receiving()?;
    expect(control, State::DisplayResults)?;
    // The results are there, whether or not the server hears of the end.
    let _ = control.tell(State::Done);
    Ok(theirs)
}
