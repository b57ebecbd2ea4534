//! The streams of a running test at one end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use os::clock;
use os::cpu_time::Process;
use os::deadline::Deadline;
use os::error::{Error, OperationContext, Result};
use os::socket::{
    Socket, TcpState, end_stream, stated_tcp_state, stated_unacknowledged, tcp_progress,
};
use units::{Bytes, Span, Time, Transport};
use wire::control::Name;

use super::counters::{Counters, Totals};
use super::outcome::{Count, FlowOutcome};
use super::stream::{Job, Quota, start};
use crate::driver::sessions::{
    FlowInterval, Interval, ReceivedInterval, SentInterval, TcpInterval,
};
use crate::machine::iperf3::{Request, Results, StreamResults, stream_id, whole};

/// A stream without arrivals for so long has none on their way.
const QUIET: Span = Span::from_millis(200);

/// The longest wait for what is on its way.
const LONGEST_WAIT: Span = Span::from_secs(5);

/// Interval between looks at counters.
const LOOK: Span = Span::from_millis(5);

/// The streams of a test.
pub(super) struct Streams {
    request: Arc<Request>,
    streams: Vec<Stream>,
    stop_sending: Arc<AtomicBool>,
    stop_receiving: Arc<AtomicBool>,
    begin: Time,
    /// The time from the start that results leave out.
    counted_from: Span,
    /// The end of sending.
    end: Option<Time>,
    /// Processor time at the start.
    cpu: Option<Process>,
    /// The last interval: its end, and the totals then.
    from: Time,
}

struct Stream {
    name: Name,
    sends: bool,
    socket: Socket,
    counters: Arc<Counters>,
    thread: Option<JoinHandle<Result<()>>>,
    /// The totals at the end of the omitted time, and at the last interval.
    omitted: Totals,
    before: Totals,
    tcp: Option<TcpState>,
    totals: Option<Totals>,
}

impl Streams {
    /// Starts the threads of connected sockets, which end at `until` at the latest.
    ///
    /// # Errors
    /// The system's.
    pub(super) fn start(
        request: &Arc<Request>,
        sockets: Vec<Socket>,
        serves: bool,
        until: Time,
    ) -> Result<Self> {
        let begin = clock::monotonic();
        let mut streams = Self {
            request: Arc::clone(request),
            streams: Vec::new(),
            stop_sending: Arc::default(),
            stop_receiving: Arc::default(),
            begin,
            counted_from: Span::ZERO,
            end: None,
            cpu: Process::sample().ok(),
            from: begin,
        };
        let quota = request.bytes.or(request.blocks).map(Quota::new);
        let quota = quota.map(Arc::new);
        for (place, socket) in sockets.into_iter().enumerate() {
            let sends = request.client_sends(place) != serves;
            let stop = match sends {
                true => &streams.stop_sending,
                false => &streams.stop_receiving,
            };
            let counters = Arc::<Counters>::default();
            let job = Job {
                socket: socket.try_clone().during(|| "sharing a socket")?,
                request: Arc::clone(request),
                counters: Arc::clone(&counters),
                quota: quota.clone(),
                deadline: Deadline::of_owner(until, stop),
                begin,
            };
            let thread = Some(start(job, sends)?);
            streams.streams.push(Stream {
                name: name(request, place),
                sends,
                socket,
                counters,
                thread,
                omitted: Totals::default(),
                before: Totals::default(),
                tcp: None,
                totals: None,
            });
        }
        Ok(streams)
    }

    /// The time since the start.
    pub(super) fn elapsed(&self, now: Time) -> Span {
        now.since(self.begin).unwrap_or_default()
    }

    /// Leaves out of the results what was counted until now, and the time.
    pub(super) fn omit(&mut self, now: Time) {
        self.counted_from = self.elapsed(now);
        for stream in &mut self.streams {
            stream.omitted = stream.totals();
        }
    }

    /// The bytes and blocks that this end has received.
    pub(super) fn received(&self) -> (u64, u64) {
        let received = self.streams.iter().filter(|stream| !stream.sends);
        let totals: Vec<Totals> = received.map(Stream::totals).collect();
        let sum = |of: fn(&Totals) -> u64| totals.iter().map(of).sum();
        let bytes: u64 = sum(|totals| totals.bytes);
        let blocks = match self.request.transport {
            Transport::Udp => sum(|totals| totals.packets),
            Transport::Tcp => bytes / self.request.block.max(1) as u64,
        };
        (bytes, blocks)
    }

    /// Whether all that this end has to send was sent.
    pub(super) fn have_sent(&self) -> bool {
        let mut senders = self.streams.iter().filter(|stream| stream.sends);
        senders.all(|stream| stream.thread.as_ref().is_none_or(JoinHandle::is_finished))
    }

    /// Ends the interval since the last one.
    pub(super) fn interval(&mut self, now: Time) -> Interval {
        let from = std::mem::replace(&mut self.from, now);
        let [from, to] = [from, now].map(|at| self.elapsed(at));
        let lasted = Span::from_picos(to.as_picos() - from.as_picos());
        let flows = self.streams.iter_mut().enumerate();
        let middle = from.as_picos() / 2 + to.as_picos() / 2;
        let omitted = middle < self.request.omit.as_picos();
        let flows = flows.map(|(place, stream)| FlowInterval {
            omitted,
            ..stream.interval(place, lasted, &self.request)
        });
        Interval {
            from,
            to,
            flows: flows.collect(),
        }
    }

    /// Ends sending at this end.
    ///
    /// # Errors
    /// A stream failed.
    pub(super) fn stop_sending(&mut self) -> Result<()> {
        self.stop_sending.store(true, Ordering::Relaxed);
        self.end = Some(clock::monotonic());
        for stream in self.streams.iter_mut().filter(|stream| stream.sends) {
            stream.join()?;
            stream.tcp = stated_tcp_state(&stream.socket).ok().flatten();
            stream.totals = Some(stream.totals());
        }
        Ok(())
    }

    /// Ends what this end sends over TCP: a client of iperf3 that waits for the rest of a block
    /// reads the end instead.
    pub(super) fn end(&self) {
        let is_tcp = self.request.transport == Transport::Tcp;
        for stream in self.streams.iter().filter(|stream| is_tcp && stream.sends) {
            // A stream that is gone has ended.
            let _ = end_stream(&stream.socket);
        }
    }

    /// Waits until the other end's system has all that was sent, if TCP says so.
    pub(super) fn settle(&self) {
        let until = clock::monotonic() + LONGEST_WAIT;
        let is_open = |stream: &Stream| {
            let waits = stated_unacknowledged(&stream.socket);
            stream.sends && waits.is_ok_and(|waits| waits.is_some_and(|waits| waits > 0))
        };
        let streams = self.request.transport == Transport::Tcp;
        while streams && self.streams.iter().any(is_open) && clock::monotonic() < until {
            clock::sleep(LOOK);
        }
    }

    /// Waits until all that `sent` says has arrived, or nothing arrives for a while.
    pub(super) fn drain(&self, sent: Option<&Results>) {
        let begin = clock::monotonic();
        loop {
            let now = clock::monotonic();
            let is_whole = |(place, stream): (usize, &Stream)| {
                let sent = sent.and_then(|sent| sent.stream(stream_id(place)));
                let totals = stream.totals().since(stream.omitted);
                let whole = sent.is_some_and(|sent| match self.request.transport {
                    Transport::Tcp => Some(totals.bytes) >= sent.bytes,
                    Transport::Udp => Some(totals.packets) >= sent.packets,
                });
                let last = stream.counters.last().unwrap_or(begin).max(begin);
                let is_over = stream.thread.as_ref().is_none_or(JoinHandle::is_finished);
                stream.sends || whole || is_over || now.since(last) >= Some(QUIET)
            };
            if self.streams.iter().enumerate().all(is_whole) || now >= begin + LONGEST_WAIT {
                return;
            }
            clock::sleep(LOOK);
        }
    }

    /// Ends receiving at this end.
    ///
    /// # Errors
    /// A stream failed.
    pub(super) fn stop_receiving(&mut self) -> Result<()> {
        self.stop_receiving.store(true, Ordering::Relaxed);
        for stream in &mut self.streams {
            stream.join()?;
            if stream.totals.is_none() {
                stream.totals = Some(stream.totals());
            }
        }
        Ok(())
    }

    /// The results of this end, given those of the other if they are known.
    pub(super) fn results(&self, theirs: Option<&Results>) -> Results {
        let (total, user) = self.cpu_percent();
        let sends = self.streams.iter().any(|stream| stream.sends);
        let is_tcp = self.request.transport == Transport::Tcp;
        let of_stream = |(place, stream): (usize, &Stream)| {
            let id = stream_id(place);
            let count = self.count(place, theirs);
            let all = |received: u64| received + count.lost.unwrap_or(0);
            // iperf3 counts the datagrams of the omitted time, too, and takes them off when it
            // prints [iperf3].
            let omitted = stream.omitted.highest;
            StreamResults {
                id: Some(id),
                bytes: Some(count.bytes.get()),
                retransmits: count.retransmitted,
                jitter: count.jitter.unwrap_or_default().as_secs_f64(),
                errors: Some(count.lost.unwrap_or(0)),
                packets: Some(match stream.sends {
                    true => count.datagrams.map_or(0, |sent| sent + omitted),
                    false => count
                        .datagrams
                        .map_or(0, |received| all(received) + omitted),
                }),
                start_time: 0.0,
                end_time: count.lasted.as_secs_f64(),
            }
        };
        Results {
            cpu_util_total: total,
            cpu_util_user: user,
            cpu_util_system: total - user,
            sender_has_retransmits: sends.then(|| u64::from(is_tcp)),
            congestion_used: self.congestion(),
            server_output_text: None,
            streams: self.streams.iter().enumerate().map(of_stream).collect(),
        }
    }

    /// The outcomes of the streams, with the other end's results.
    pub(super) fn outcomes(&self, theirs: Option<&Results>) -> Vec<FlowOutcome> {
        let outcome = |(place, stream): (usize, &Stream)| {
            let here = Some(self.count(place, theirs));
            let there = theirs.and_then(|theirs| theirs.stream(stream_id(place)));
            let there = there.map(|there| reported(there, stream.sends, &self.request));
            let (sent, received) = match stream.sends {
                true => (here, there),
                false => (there, here),
            };
            let remote = theirs.and_then(|theirs| theirs.congestion_used.clone());
            let local = stream.tcp.as_ref().map(|tcp| tcp.congestion.clone());
            FlowOutcome {
                name: stream.name,
                transport: self.request.transport,
                reverse: !self.request.client_sends(place),
                sent_here: stream.sends,
                sent,
                received,
                congestion: if stream.sends { local } else { remote },
            }
        };
        self.streams.iter().enumerate().map(outcome).collect()
    }

    /// What this end counted of a stream. Of datagrams to this end it also knows those that
    /// were lost behind the last one that arrived, if the other end reported how many it sent
    /// and nothing was left out.
    fn count(&self, place: usize, theirs: Option<&Results>) -> Count {
        let stream = &self.streams[place];
        let totals = stream.totals.unwrap_or_else(|| stream.totals());
        let totals = totals.since(stream.omitted);
        let end = self.end.unwrap_or(self.from);
        let end = match stream.counters.last() {
            Some(last) if !stream.sends => end.max(last),
            _ => end,
        };
        let lasted = self.elapsed(end).as_picos();
        let lasted = Span::from_picos(lasted.saturating_sub(self.counted_from.as_picos()));
        let is_udp = self.request.transport == Transport::Udp;
        let received = is_udp && !stream.sends;
        let sent = theirs.and_then(|theirs| theirs.stream(stream_id(place))?.packets);
        let sent = sent.filter(|_| self.request.omit == Span::ZERO);
        // No honest number is much above what arrived, so a wrong one does no harm but here.
        let lost = totals
            .lost()
            .max(sent.unwrap_or(0).saturating_sub(totals.packets));
        Count {
            bytes: Bytes::new(totals.bytes),
            lasted,
            datagrams: is_udp.then_some(totals.packets),
            lost: received.then_some(lost),
            duplicates: received.then_some(totals.duplicates),
            reordered: received.then_some(totals.reordered),
            jitter: received.then(|| Span::from_nanos(totals.jitter)),
            retransmitted: (!is_udp && stream.sends).then_some(totals.retransmitted),
        }
    }

    fn congestion(&self) -> Option<String> {
        let is_tcp = self.request.transport == Transport::Tcp;
        let first = self.streams.first().filter(|_| is_tcp)?;
        let known = first.tcp.clone();
        let known = known.or_else(|| stated_tcp_state(&first.socket).ok().flatten());
        known.map(|tcp| tcp.congestion)
    }

    /// The processor time of this program in percent of a processor: all, and that of the
    /// user.
    fn cpu_percent(&self) -> (f64, f64) {
        let (Some(before), Ok(now)) = (&self.cpu, Process::sample()) else {
            return (0.0, 0.0);
        };
        let seconds = self.elapsed(clock::monotonic()).as_secs_f64();
        let share = |now: Span, before: Span| {
            100.0 * (now.as_secs_f64() - before.as_secs_f64()).max(0.0) / seconds.max(1e-9)
        };
        (share(now.cpu, before.cpu), share(now.user, before.user))
    }
}

impl Drop for Streams {
    fn drop(&mut self) {
        self.stop_sending.store(true, Ordering::Relaxed);
        self.stop_receiving.store(true, Ordering::Relaxed);
        for stream in &mut self.streams {
            // The test has failed already, or there is no error.
            let _ = stream.join();
        }
    }
}

impl Stream {
    fn join(&mut self) -> Result<()> {
        self.thread.take().map_or(Ok(()), |thread| {
            let failed = |_| Error::new("running a stream", "its thread failed");
            thread.join().map_err(failed)?
        })
    }

    fn totals(&self) -> Totals {
        let progress = tcp_progress(&self.socket).filter(|_| self.sends);
        Totals {
            retransmitted: progress.map_or(0, |progress| progress.retransmitted),
            ..self.counters.totals()
        }
    }

    fn interval(&mut self, place: usize, lasted: Span, request: &Request) -> FlowInterval {
        let totals = self.totals();
        let part = totals.since(std::mem::replace(&mut self.before, totals));
        let is_tcp = request.transport == Transport::Tcp;
        let progress = tcp_progress(&self.socket).filter(|_| is_tcp);
        let sent = SentInterval {
            messages: part.packets,
            bytes: Bytes::new(part.bytes),
            unsent: part.unsent,
            tcp: progress.map(|tcp| TcpInterval {
                retransmitted: part.retransmitted,
                window: tcp.window,
                round_trip: tcp.round_trip,
                stuck: tcp.stuck,
            }),
            ..SentInterval::default()
        };
        let blocks = part.bytes / request.block.max(1) as u64;
        let received = ReceivedInterval {
            lasted,
            messages: if is_tcp { blocks } else { part.packets },
            bytes: Bytes::new(part.bytes),
            lost: if is_tcp { 0 } else { part.lost() },
            jitter: Span::from_nanos(totals.jitter),
            ..ReceivedInterval::default()
        };
        FlowInterval {
            flow: u16::try_from(place).unwrap_or(u16::MAX),
            name: self.name,
            omitted: false,
            sent: self.sends.then_some(sent),
            received: (!self.sends).then_some(received),
            echoes: None,
        }
    }
}

/// The count of the other end, as it reported it.
fn reported(there: &StreamResults, sent_here: bool, request: &Request) -> Count {
    let is_udp = request.transport == Transport::Udp;
    let seconds = |seconds: f64| Span::from_nanos(whole(seconds.clamp(0.0, 1e6) * 1e9));
    let lost = there.errors.filter(|_| is_udp && sent_here);
    // The packets have those of the omitted time, the bytes have not.
    let blocks = there.bytes.unwrap_or(0) / request.block.max(1) as u64;
    let all = match request.omit {
        Span::ZERO => there.packets,
        _ => Some(blocks + lost.unwrap_or(0)),
    };
    let all = all.filter(|_| is_udp);
    Count {
        bytes: Bytes::new(there.bytes.unwrap_or(0)),
        lasted: seconds(there.end_time - there.start_time),
        // A receiver's packets of iperf3 are all up to the highest number.
        datagrams: all.map(|all| all.saturating_sub(lost.unwrap_or(0))),
        lost,
        duplicates: None,
        reordered: None,
        jitter: (is_udp && sent_here).then(|| seconds(there.jitter)),
        retransmitted: there.retransmits.filter(|_| !is_udp && !sent_here),
    }
}

/// The name of a stream: `flow`, `flow-2`, `flow-2-reverse`.
fn name(request: &Request, place: usize) -> Name {
    let each = usize::from(request.streams);
    let number = place % each.max(1) + 1;
    let base = match each {
        1 => "flow".to_owned(),
        _ => format!("flow-{number}"),
    };
    let name = match place >= each {
        true => format!("{base}-reverse"),
        false => base,
    };
    Name::new(&name).expect("it is short, of letters and digits")
}
