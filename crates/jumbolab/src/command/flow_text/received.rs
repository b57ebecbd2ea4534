//! The text of a receiver's report of a flow.

use std::fmt::Write as _;

use meter::call_quality::CallQuality;
use meter::clock_offset::ClockOffset;
use traffic::driver::sessions::{Codec, DelayDistribution, Meter, Report, TIMED};
use units::{Bytes, Span};

use super::intervals::amount;
use super::{nanos, omitted, quantiles, rates, share, stamps, time};

/// The receiver's results of a flow, relative to the number of messages if that
/// is known.
pub(super) fn received(
    report: &Report,
    sent: Option<u64>,
    meter: Meter,
    offset: Option<ClockOffset>,
) -> String {
    let bytes = Bytes::new(report.bytes);
    let size = amount(bytes);
    let mut text = match (report.warmup, sent) {
        // The sender's line has the number already.
        (0, _) | (_, Some(_)) => String::new(),
        (messages, None) => omitted(messages, "received"),
    };
    let _ = write!(text, "  received    {} messages, {size}", report.messages);
    text += &rates(report.messages, bytes, Span::from_nanos(report.lasted));
    if let Some(sent) = sent {
        text += &share(sent.saturating_sub(report.messages), sent);
    }
    text += "\n";
    let remarks = [
        report.duplicates,
        report.reordered,
        report.overflowed.unwrap_or(0),
        report.merged,
    ];
    if remarks.iter().any(|count| *count > 0) {
        let overflowed = report
            .overflowed
            .map_or_else(|| "an unknown number".to_owned(), |count| count.to_string());
        let _ = writeln!(
            text,
            "  of these    {} duplicates, {} reordered; also {overflowed} dropped for lack of receive buffer, {} merged reads",
            report.duplicates, report.reordered, report.merged
        );
    }
    let untimed = untimed(report);
    if meter == Meter::OneWay && untimed > 0 {
        let _ = writeln!(
            text,
            "  no delay    {untimed} messages of less than {TIMED} bytes are too short to state when they were sent"
        );
    }
    if meter == Meter::OneWay && (report.delayed > 0 || report.negative > 0) {
        let bound = offset.map_or(0, |offset| offset.bound);
        let bound = if bound > 0 {
            format!(", each ± {} by the clock offset", nanos(bound))
        } else {
            String::new()
        };
        let _ = writeln!(text, "  delay       {}{bound}", quantiles(&delays(report)));
        if has_jitter(report) {
            let jitter = time(Span::from_nanos(report.jitter));
            let _ = writeln!(text, "  jitter      {jitter} (RFC 3550)");
        }
        if report.negative > 0 {
            let _ = writeln!(
                text,
                "  impossible  {} have a negative delay because the clocks differ",
                report.negative
            );
        }
        text += &stamps::line(report.unstamped, stamps::of(report));
    }
    text
}

/// Messages that were too short to state when they were sent, of a one-way flow.
pub(super) fn untimed(report: &Report) -> u64 {
    let timed = report.delayed.saturating_add(report.negative);
    report.messages.saturating_sub(timed)
}

/// Whether two delays or more have a jitter.
pub(super) fn has_jitter(report: &Report) -> bool {
    report.delayed.saturating_add(report.negative) > 1
}

/// The delays of received messages.
pub(super) fn delays(report: &Report) -> DelayDistribution {
    DelayDistribution {
        count: report.delayed,
        least: Span::from_nanos(report.least),
        mean: Span::from_nanos(report.mean),
        median: Span::from_nanos(report.median),
        p95: Span::from_nanos(report.p95),
        p99: Span::from_nanos(report.p99),
        most: Span::from_nanos(report.most),
    }
}

/// The quality of a call of which `sent` packets were sent. Losses count as random.
pub(super) fn call(
    codec: Option<Codec>,
    report: &Report,
    sent: Option<u64>,
) -> Option<CallQuality> {
    let (codec, sent) = (codec?, sent.filter(|sent| *sent > 0)?);
    let delay = Span::from_nanos(report.p99).as_secs_f64();
    let lost = sent.saturating_sub(report.messages) as f64 / sent as f64;
    (report.delayed > 0).then(|| CallQuality::new(codec, delay, lost, 1.0))
}
