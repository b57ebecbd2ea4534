//! The flows of a session while they run.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver as Queue, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread::{self, Scope};

use crate::machine::control::{Impossible, ReceiverMessage};
use units::{Span, Time};
use wire::control::{Report, SentReport};

use super::reversed::{HEARTBEAT, Incoming};
use super::waits::Waits;
use super::{FlowOutcome, HEAD_START, LOOK, Session};
use crate::driver::sessions::CommonStart;
use crate::driver::sessions::intervals::{Intervals, Reporter};
use crate::driver::sessions::receive::Signal;
use crate::driver::sessions::reverse;
use crate::driver::sessions::send::{Ready, Sent};
use os::error::{Error, Result};
use os::{clock, interrupt, kernel_clock};

/// The flows of a session, ready to begin.
pub(super) struct Flows {
    /// Those that this end sends.
    pub(super) ready: Vec<Ready>,
    /// Those that the receiver sends.
    pub(super) incoming: Vec<Incoming>,
}

/// The flows under way.
struct UnderWay<'a> {
    outcomes: &'a mut [FlowOutcome],
    /// Flows whose threads run.
    left: usize,
    /// Flows whose results the receiver has not told.
    reports: usize,
    reporter: Option<Reporter>,
    /// The flows that the receiver sends.
    reversed: Vec<(u16, Arc<Signal>)>,
    /// The start of the session.
    epoch: Time,
    waits: Waits,
    /// The time at which this end last showed the receiver that it is there.
    asked: Time,
    fault: Option<Error>,
}

/// The end of a flow's thread.
enum Ended {
    Sent(Box<Result<Sent>>),
    Received(Result<Report>),
}

impl Session {
    /// Starts all flows together, and collects the results of both ends. Returns the
    /// error of the session, if any.
    pub(super) fn carry(
        &mut self,
        flows: Flows,
        outcomes: &mut [FlowOutcome],
        epoch: Time,
        intervals: Option<Intervals>,
        common_start: Option<CommonStart>,
    ) -> Result<Option<Error>> {
        let observed = match intervals {
            Some(_) => {
                let sent = flows.ready.iter().map(Ready::observed);
                let received = flows.incoming.iter().map(Incoming::observed);
                Some((sent.collect::<Result<_>>()?, received.collect()))
            }
            None => None,
        };
        let lasts = flows.incoming.iter().map(|flow| flow.lasts).max();
        let reversed = flows.incoming.iter();
        let reversed: Vec<_> = reversed
            .map(|flow| (flow.number, Arc::clone(&flow.signal)))
            .collect();
        let stop = &Arc::clone(&self.stop);
        let common = common_start.map(CommonStart::wait).transpose()?;
        let begin = OnceLock::new();
        let (to, finished) = channel();
        Ok(thread::scope(|scope| {
            let left = start(scope, flows, outcomes, &to, &begin, (epoch, stop));
            if !reversed.is_empty() {
                self.client.begin();
            }
            let begin =
                *begin.get_or_init(|| common.unwrap_or_else(|| clock::monotonic() + HEAD_START));
            let mut under_way = UnderWay {
                reports: outcomes.len(),
                outcomes,
                left,
                reporter: intervals
                    .zip(observed)
                    .map(|(intervals, (sent, received))| {
                        Reporter::new(intervals, sent, received, begin)
                    }),
                reversed,
                epoch,
                waits: Waits::new(lasts.map(|lasts| begin + lasts)),
                asked: begin,
                fault: None,
            };
            while under_way.left > 0 || (under_way.reports > 0 && under_way.fault.is_none()) {
                self.step(&mut under_way, &finished);
            }
            if let Some(mut reporter) = under_way.reporter {
                reporter.tell();
            }
            under_way.fault
        }))
    }

    /// Listens to the receiver for a moment, and notes which flows have ended.
    fn step(&mut self, under_way: &mut UnderWay<'_>, finished: &Queue<(u16, Ended)>) {
        let wait = self.ask(under_way);
        let news = match under_way.fault {
            None => self.listen(wait),
            Some(_) => {
                clock::sleep(wait);
                Ok(Vec::new())
            }
        };
        match news {
            Ok(news) => {
                for one in news {
                    if let ReceiverMessage::Progress(seen) = &one
                        && let Some(bounds) = self.bounds_of(seen.flow, under_way.epoch)
                        && let Err(why) = bounds.check_progress(seen)
                    {
                        under_way.doubt(seen.flow, why);
                    } else {
                        under_way.hear(one);
                    }
                }
            }
            Err(error) => {
                // No receiver is left: the results of this end remain.
                self.stop.store(true, Ordering::Relaxed);
                under_way.stop_reversed();
                under_way.fault = Some(error);
            }
        }
        for (number, end) in finished.try_iter() {
            under_way.left -= 1;
            let is_reversed = matches!(end, Ended::Received(_));
            under_way.waits.end(clock::monotonic(), is_reversed);
            self.finish(under_way, number, end);
        }
        self.stop_in_time(under_way);
    }

    /// Asks the receiver for its part of an interval that has ended, or shows it that
    /// this end is there. Returns the time until there is something to do.
    fn ask(&mut self, under_way: &mut UnderWay<'_>) -> Span {
        let now = clock::monotonic();
        if !under_way.reversed.is_empty() && now > under_way.asked + HEARTBEAT {
            self.client.compare(kernel_clock::nanos_of(now));
            under_way.asked = now;
        }
        let Some(reporter) = &mut under_way.reporter else {
            return LOOK;
        };
        reporter.tell_late(now);
        if under_way.left > 0
            && let Some(number) = reporter.look(now)
        {
            self.client.watch(number);
        }
        reporter.until_next(clock::monotonic()).min(LOOK)
    }

    /// Notes the end of a flow, and tells the receiver.
    fn finish(&mut self, under_way: &mut UnderWay<'_>, number: u16, end: Ended) {
        if let Some(outcome) = under_way.outcomes.get_mut(usize::from(number)) {
            match end {
                Ended::Sent(sent) => match *sent {
                    Ok(sent) => {
                        let (messages, bytes) = sent.all();
                        let totals = [messages, bytes.get(), sent.omitted.messages];
                        self.client.ended(number, totals);
                        outcome.sent = Some(sent);
                    }
                    Err(error) => {
                        self.client.ended(number, [0; 3]);
                        outcome.fault = Some(error.to_string());
                    }
                },
                Ended::Received(Ok(report)) => outcome.report = Some(report),
                Ended::Received(Err(error)) => outcome.fault = Some(error.to_string()),
            }
        }
        if let Some(reporter) = &mut under_way.reporter {
            reporter.ended(number);
            if under_way.left == 0
                && let Some(number) = reporter.last(clock::monotonic())
            {
                self.client.watch(number);
            }
        }
    }

    /// Ends what lasts too long, and what the user has stopped.
    fn stop_in_time(&mut self, under_way: &mut UnderWay<'_>) {
        let now = clock::monotonic();
        if interrupt::asked() && under_way.waits.interrupt(now) {
            for (number, _) in &under_way.reversed {
                self.client.ended(*number, [0; 3]);
            }
        }
        if under_way.waits.gives_up(now) {
            under_way.stop_reversed();
        }
        let is_over = under_way.left == 0 && under_way.fault.is_none();
        if is_over && under_way.waits.are_reports_late(now) {
            let timeout = under_way.waits.timeout();
            under_way.fault = Some(Error::new(
                "waiting for reports",
                format!("none arrived within {timeout}"),
            ));
        }
    }
}

impl UnderWay<'_> {
    /// Takes a message of the receiver.
    fn hear(&mut self, message: ReceiverMessage) {
        match message {
            ReceiverMessage::Report(report) => self.report(report),
            ReceiverMessage::Sent(report) => self.sent(&report),
            ReceiverMessage::Progress(progress) => {
                if let Some(reporter) = &mut self.reporter {
                    reporter.take(&progress);
                }
            }
            _ => {}
        }
    }

    /// Leaves out what the receiver reports of an interval of a flow.
    fn doubt(&mut self, flow: u16, why: Impossible) {
        if let Some(outcome) = self.outcomes.get_mut(usize::from(flow)) {
            outcome.fault.get_or_insert_with(|| {
                format!("the receiver's figures of an interval are impossible: {why}")
            });
        }
    }

    /// The receiver's report of a flow that this end sends.
    fn report(&mut self, report: Report) {
        let is_reversed = self
            .reversed
            .iter()
            .any(|(number, _)| *number == report.flow);
        let outcome = self.outcomes.get_mut(usize::from(report.flow));
        if let Some(outcome) = outcome.filter(|_| !is_reversed) {
            self.reports -= usize::from(outcome.report.is_none());
            outcome.report = Some(report);
        }
    }

    /// The receiver's results of a flow that it sent.
    fn sent(&mut self, report: &SentReport) {
        let mut reversed = self.reversed.iter();
        let Some((number, signal)) = reversed.find(|(number, _)| *number == report.flow) else {
            return;
        };
        if let Some(outcome) = self.outcomes.get_mut(usize::from(*number)) {
            self.reports -= usize::from(outcome.sent.is_none());
            outcome.sent = Some(reverse::sent(report));
            let [warmup, _] = report.warmup;
            signal.expect(report.messages.saturating_add(warmup));
        }
    }

    fn stop_reversed(&self) {
        for (_, signal) in &self.reversed {
            signal.stop();
        }
    }
}

/// Starts the threads of all flows; they begin with `begin`. Returns their number.
fn start<'scope, 'env>(
    scope: &'scope Scope<'scope, 'env>,
    flows: Flows,
    outcomes: &mut [FlowOutcome],
    to: &Sender<(u16, Ended)>,
    begin: &'env OnceLock<Time>,
    (epoch, stop): (Time, &'env Arc<AtomicBool>),
) -> usize {
    let (up, ups) = channel();
    let mut started = 0;
    let mut note = |number: u16, spawned: bool| match spawned {
        true => started += 1,
        false => {
            if let Some(outcome) = outcomes.get_mut(usize::from(number)) {
                outcome.fault = Some("no thread is left for it".to_owned());
            }
        }
    };
    for flow in flows.ready {
        let (to, up, number) = (to.clone(), up.clone(), flow.number());
        let body = move || {
            let _ = up.send(());
            // The receiving end of this channel waits for it.
            let sent = Box::new(flow.run(epoch, *begin.wait(), stop));
            let _ = to.send((number, Ended::Sent(sent)));
        };
        note(
            number,
            thread::Builder::new().spawn_scoped(scope, body).is_ok(),
        );
    }
    for flow in flows.incoming {
        let (to, up, number) = (to.clone(), up.clone(), flow.number);
        let body = move || {
            let _ = up.send(());
            let _ = to.send((number, Ended::Received(flow.run())));
        };
        note(
            number,
            thread::Builder::new().spawn_scoped(scope, body).is_ok(),
        );
    }
    drop(up);
    // A new thread may start later than its flow ends.
    ups.iter().take(started).for_each(drop);
    started
}
