//! Rows as text for the terminal.

use std::fmt::Write;

use meter::ditg::{DitgLosses, DitgStats};
use meter::streaming_recorder::FlowSummary;

use super::row::{Decoded, Departures, Row, RowStats, Scope, Slice};

/// The text of a decoded log.
pub fn text(decoded: &Decoded) -> String {
    let mut page = format!("{}\n", decoded.title);
    let (intervals, whole): (Vec<&Row>, Vec<&Row>) =
        decoded.rows.iter().partition(|row| row.start.is_some());
    for row in whole {
        let _ = writeln!(page, "\n{}", heading(&row.scope));
        match &row.stats {
            RowStats::Standard(summary, bound) => standard(&mut page, summary, *bound),
            RowStats::Ditg(stats, losses) => ditg(&mut page, stats, losses.as_ref()),
            RowStats::Departures(sent) => departures(&mut page, sent),
            RowStats::Slice(_) => (),
        }
        if let Some(call) = row.call() {
            let _ = writeln!(page, "  {:<10} {call}", "call");
        }
    }
    if let Some(first) = intervals.first() {
        let wide = intervals
            .iter()
            .map(|row| short(&row.scope).chars().count());
        let wide = wide.max().unwrap_or(0);
        let names: &[&str] = match first.stats {
            RowStats::Ditg(..) => &["packets", "kbit/s", "delay ms", "jitter ms"],
            _ => &[
                "packets",
                "missing",
                "Mbit/s",
                "min ms",
                "mean ms",
                "median ms",
                "99 % ms",
                "max ms",
            ],
        };
        let _ = write!(page, "\n{:>12}  {:wide$}", "from s", "flow");
        for name in names {
            let _ = write!(page, " {name:>10}");
        }
        page.push('\n');
        for row in intervals {
            let (start, flow) = (row.start.unwrap_or_default(), short(&row.scope));
            let _ = write!(page, "{start:>12.3}  {flow:wide$}");
            for cell in cells(&row.stats) {
                let _ = write!(page, " {cell:>10}");
            }
            page.push('\n');
        }
    }
    page
}

fn cells(stats: &RowStats) -> Vec<String> {
    match stats {
        RowStats::Slice(Slice {
            packets,
            missing,
            bytes,
            seconds,
            delay_min,
            delay_mean,
            delay_p50,
            delay_p99,
            delay_max,
        }) => vec![
            packets.to_string(),
            missing.to_string(),
            format!("{:.3}", *bytes as f64 * 8.0 / seconds / 1e6),
            millis(*delay_min),
            millis(*delay_mean),
            millis(*delay_p50),
            millis(*delay_p99),
            millis(*delay_max),
        ],
        RowStats::Ditg(stats, _) => vec![
            stats.packets.to_string(),
            number(stats.bitrate),
            millis(stats.mean_delay),
            millis(stats.jitter),
        ],
        RowStats::Standard(..) | RowStats::Departures(_) => Vec::new(),
    }
}

fn heading(scope: &Scope) -> String {
    match scope {
        Scope::All => "all flows".into(),
        Scope::Number(number) => format!("flow {number}"),
        Scope::Flow(flow) if flow.protocol == 0 => format!(
            "flow {} from {} to {}",
            flow.number, flow.source, flow.destination
        ),
        Scope::Flow(flow) => format!(
            "flow {} {:?}: {} from {} to {}, DSCP {}",
            flow.number,
            flow.name,
            protocol(flow.protocol),
            flow.source,
            flow.destination,
            flow.dscp
        ),
    }
}

/// The names of the protocols that this program sends, by assigned number
/// [RFC768] [RFC9293] [RFC792] [RFC4443] [RFC9260] [RFC3828].
fn protocol(number: u8) -> String {
    match number {
        1 => "ICMP".into(),
        6 => "TCP".into(),
        17 => "UDP".into(),
        132 => "SCTP".into(),
        136 => "UDP-Lite".into(),
        58 => "ICMPv6".into(),
        number => format!("protocol {number}"),
    }
}

fn short(scope: &Scope) -> String {
    match scope {
        Scope::All => "all".into(),
        Scope::Number(number) => number.to_string(),
        Scope::Flow(flow) => format!("{} {}", flow.number, flow.name.escape_debug()),
    }
}

fn departures(page: &mut String, sent: &Departures) {
    let logged = match sent.logged == sent.sent {
        true => String::new(),
        false => format!(", {} of them in this log", sent.logged),
    };
    let _ = writeln!(page, "  {:<10} {} sent{logged}", "packets", sent.sent);
    let _ = writeln!(
        page,
        "  {:<10} {} B in {:.6} s, {} Mbit/s",
        "payload",
        sent.bytes,
        sent.seconds,
        number(sent.rate.map(|rate| rate / 1e6))
    );
}

fn standard(page: &mut String, summary: &FlowSummary, bound: Option<f64>) {
    let (order, delay) = (&summary.order, &summary.delay);
    let mut line = |name: &str, text: String| {
        let _ = writeln!(page, "  {name:<10} {text}");
    };
    line(
        "packets",
        format!(
            "{} sent, {} arrived, {} lost{}, {} duplicates",
            order.expected,
            summary.received,
            order.lost,
            percent(order.loss()),
            order.duplicates
        ),
    );
    if order.loss_bursts > 0 {
        line(
            "loss",
            format!(
                "{} bursts, mean {} packets, longest {}",
                order.loss_bursts,
                number(order.mean_loss_burst()),
                order.longest_loss_burst
            ),
        );
    }
    if order.reordered > 0 {
        line(
            "order",
            format!(
                "{} reordered{}, mean extent {}, largest {}; overtaken by the 3 before: {}",
                order.reordered,
                percent(order.reordering()),
                number(order.mean_extent()),
                order.largest_extent,
                order.n_reordered[2]
            ),
        );
    }
    line(
        "payload",
        format!(
            "{} B in {:.6} s, {} Mbit/s",
            summary.bytes,
            summary.seconds,
            number(summary.goodput.map(|rate| rate / 1e6))
        ),
    );
    let odd = [
        (order.unexpected, "with numbers that were never sent"),
        (order.stale, "too late to distinguish from duplicates"),
        (summary.unstamped, "without a stamp"),
        (
            delay.negative,
            "that arrived before they were sent: clocks disagree",
        ),
    ];
    for (count, what) in odd.into_iter().filter(|(count, _)| *count > 0) {
        line("odd", format!("{count} packets {what}"));
    }
    if delay.count + delay.ipdv_count == 0 {
        return;
    }
    let mut row = |name: &str, cells: [String; 8]| {
        let _ = write!(page, "  {name:<10}");
        for cell in cells {
            let _ = write!(page, " {cell:>10}");
        }
        page.push('\n');
    };
    row(
        "",
        [
            "min",
            "mean",
            "median",
            "95 %",
            "99 %",
            "99.9 %",
            "max",
            "deviation",
        ]
        .map(String::from),
    );
    row(
        "delay ms",
        [
            delay.min,
            delay.mean,
            delay.p50,
            delay.p95,
            delay.p99,
            delay.p999,
            delay.max,
            delay.standard_deviation,
        ]
        .map(millis),
    );
    row(
        "PDV ms",
        [
            None,
            None,
            None,
            None,
            delay.pdv_p99,
            delay.pdv_p999,
            None,
            None,
        ]
        .map(millis),
    );
    row(
        "IPDV ms",
        [
            None,
            delay.ipdv_mean,
            delay.ipdv_p50,
            delay.ipdv_p95,
            delay.ipdv_p99,
            None,
            delay.ipdv_max,
            None,
        ]
        .map(millis),
    );
    let mut line = |name: &str, text: String| {
        let _ = writeln!(page, "  {name:<10} {text}");
    };
    if delay.jitter_rfc3550.is_some() {
        line(
            "jitter ms",
            format!("{:>10} (RFC 3550)", millis(delay.jitter_rfc3550)),
        );
    }
    if let Some(bound) = bound {
        line(
            "clocks",
            format!(
                "delays are right to {} ms, the bound of the offset",
                millis(Some(bound))
            ),
        );
    }
}

/// The lines of D-ITG's decoder, with its units and digits.
fn ditg(page: &mut String, stats: &DitgStats, losses: Option<&DitgLosses>) {
    let mut line = |name: &str, text: String| {
        let _ = writeln!(page, "{name:<24} = {text}");
    };
    let real = |value: Option<f64>, unit: &str| format!("{:>13.6} {unit}", value.unwrap_or(0.0));
    line("Total time", real(Some(stats.seconds), "s"));
    line("Total packets", format!("{:>13}", stats.packets));
    line("Minimum delay", real(stats.min_delay, "s"));
    line("Maximum delay", real(stats.max_delay, "s"));
    line("Average delay", real(stats.mean_delay, "s"));
    line("Average jitter", real(stats.jitter, "s"));
    line(
        "Delay standard deviation",
        real(stats.standard_deviation, "s"),
    );
    line("Bytes received", format!("{:>13}", stats.bytes));
    line("Average bitrate", real(stats.bitrate, "Kbit/s"));
    line("Average packet rate", real(stats.packet_rate, "pkt/s"));
    if let Some(losses) = losses {
        let lost = losses.lost() as f64;
        let share = 100.0 * lost / (lost + stats.packets as f64).max(1.0);
        line(
            "Packets dropped",
            format!("{:>13} ({share:.2} %)", losses.lost()),
        );
        line(
            "Average loss-burst size",
            real(Some(losses.mean_burst()), "pkt"),
        );
    }
}

fn millis(seconds: Option<f64>) -> String {
    seconds.map_or_else(|| "-".into(), |seconds| format!("{:.6}", seconds * 1e3))
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "-".into(), |value| format!("{value:.3}"))
}

fn percent(share: Option<f64>) -> String {
    share.map_or_else(String::new, |share| format!(" ({:.4} %)", share * 100.0))
}
