//! Whether the far end answers at a limited rate, whatever the size of the packets.

use units::{Span, Time};

use super::super::Protocol;
use super::super::asker::Asker;
use super::super::history::{AnswerLimit, SmallPacket};
use super::super::kind::Kind;
use super::super::loss_by_size::{SizeCounts, chance_of_more};
use super::Reachability;

/// Small packets in a row, and the losses among them from which on a limit is possible.
const WINDOW: usize = 20;
const DOUBTED: usize = 6;

/// Packets at a slower rate, looked at after so many, and the time between them.
const LOOK: usize = 15;
const LOOKS: usize = 3;
const SLOWLY: Span = Span::from_millis(20);

/// Small packets of another protocol, and the time between them.
const OTHERS: u32 = 20;
const APART: Span = Span::from_millis(5);

/// Packets at last, which are sent half as often again as the answers came.
const LAST: usize = 8;

/// The accepted probability that loss is taken for a limit, and the tests among which it is
/// divided.
const FALSE_LIMIT: f64 = 0.001;
const TESTS: usize = LOOKS * SINCE.len() + 1 + LAST;

/// Times since the last answer by which packets are compared: one that allows the next
/// answer, whatever the limit is, is among them.
const SINCE: [Span; 18] = [
    Span::from_millis(7),
    Span::from_millis(9),
    Span::from_millis(12),
    Span::from_millis(15),
    Span::from_millis(20),
    Span::from_millis(26),
    Span::from_millis(34),
    Span::from_millis(44),
    Span::from_millis(57),
    Span::from_millis(74),
    Span::from_millis(96),
    Span::from_millis(125),
    Span::from_millis(160),
    Span::from_millis(210),
    Span::from_millis(270),
    Span::from_millis(350),
    Span::from_millis(460),
    Span::from_millis(600),
];

/// Looks for a limit of the answers of one protocol. `None` while it is open; then `None`
/// if there is no limit.
///
/// Under a limit a packet is answered if the last answer was long enough ago. Random loss
/// does not depend on that: packets sent soon after an answer and later are compared by
/// Fisher's exact test [Fisher1935]. If few answers came, they are compared with those of
/// another protocol, or with packets that are sent more slowly than the answers came.
pub(in crate::machine) fn walk(
    ask: &mut Asker<'_>,
    reach: &Reachability,
    protocol: Protocol,
) -> Option<Option<AnswerLimit>> {
    if let Some(known) = ask.history.limit() {
        return Some(Some(known));
    }
    let Some(kind) = small(ask, reach, protocol) else {
        return Some(None);
    };
    if (ask.history.counts(kind).lost as usize) < DOUBTED {
        return Some(None);
    }
    let all = ask.history.small(protocol);
    let is_known = |sent: &&SmallPacket| sent.is_answered.is_some();
    let known: Vec<SmallPacket> = all.iter().take_while(is_known).copied().collect();
    let lost: Vec<usize> = (0..known.len())
        .filter(|&index| known[index].is_lost())
        .collect();
    let mut doubted = lost.windows(DOUBTED);
    let Some(doubted) = doubted.find(|lost| lost[DOUBTED - 1] - lost[0] < WINDOW) else {
        return Some(None);
    };
    let begin = doubted[0];
    let slow = later_by(&known, begin, SLOWLY);
    for number in (1..=LOOKS).map(|look| look * LOOK) {
        let Some(&last) = slow.get(number - 1) else {
            let is_missing = later_by(&all, begin, SLOWLY).len() < number;
            return more(ask, kind, is_missing, SLOWLY);
        };
        if depends_on_last_answer(&known[begin..=last]) {
            return Some(Some(limit(protocol, &known[begin..=last], slow[0] - begin)));
        }
    }
    let series = &known[begin..=slow[LOOKS * LOOK - 1]];
    let limit = limit(protocol, series, slow[0] - begin);
    if let Some(other) = other(ask, reach, protocol) {
        if !ask.sends(other, OTHERS, APART) {
            return None;
        }
        let others = ask.history.counts(other);
        let others = SizeCounts {
            size: other.size,
            sent: others.answered + others.lost,
            lost: others.lost,
        };
        return Some(is_proven(others, counts(series)).then_some(limit));
    }
    let apart = limit.every + Span::from_picos(limit.every.as_picos() / 2);
    let mut alone = SizeCounts::default();
    for index in later_by(&known, begin, apart).into_iter().take(LAST) {
        alone = alone.with(!known[index].is_lost());
        if is_proven(alone, counts(series)) {
            return Some(Some(limit));
        }
    }
    if (alone.sent as usize) < LAST {
        let is_missing = later_by(&all, begin, apart).len() < LAST;
        return more(ask, kind, is_missing, apart);
    }
    Some(None)
}

/// The packets behind an index that were sent so long after the one before.
fn later_by(sent: &[SmallPacket], begin: usize, apart: Span) -> Vec<usize> {
    let gap = |index: usize| sent[index].at.since(sent[index - 1].at);
    let behind = begin + 1..sent.len();
    behind
        .filter(|&index| gap(index).is_some_and(|gap| gap >= apart))
        .collect()
}

/// Sends a packet if some are missing, and waits for the outcome of the others.
fn more<T>(ask: &mut Asker<'_>, kind: Kind, is_missing: bool, apart: Span) -> Option<T> {
    if is_missing {
        ask.send_after(kind, ask.history.counts(kind).last_sent, apart);
    }
    ask.wait();
    None
}

/// The small packets whose answers may be limited; those of a reflector are not.
fn small(ask: &Asker<'_>, reach: &Reachability, protocol: Protocol) -> Option<Kind> {
    match protocol {
        Protocol::Icmp => Some(Kind::small(protocol)),
        Protocol::Tcp if reach.tcp => Some(Kind::bare_syn(ask.settings.version())),
        Protocol::Tcp | Protocol::Udp => None,
    }
}

/// Small packets of another protocol that is answered.
fn other(ask: &Asker<'_>, reach: &Reachability, protocol: Protocol) -> Option<Kind> {
    if ask.settings.reflector.is_there() && reach.answers.contains(&Protocol::Udp) {
        return Some(Kind::test_packet());
    }
    let is_tcp = protocol != Protocol::Tcp && reach.tcp;
    is_tcp.then(|| Kind::bare_syn(ask.settings.version()))
}

fn counts(series: &[SmallPacket]) -> SizeCounts {
    let add = |sum: SizeCounts, one: &SmallPacket| sum.with(!one.is_lost());
    series.iter().fold(SizeCounts::default(), add)
}

/// Whether chance hardly explains that so many more of the others are lost.
fn is_proven(less: SizeCounts, more: SizeCounts) -> bool {
    chance_of_more(less, more) < FALSE_LIMIT / TESTS as f64
}

/// Whether packets are answered because the last answer is long enough ago. The packets
/// are in the order of sending.
fn depends_on_last_answer(series: &[SmallPacket]) -> bool {
    SINCE.iter().any(|&since| {
        let [mut soon, mut later] = [SizeCounts::default(); 2];
        for one in series {
            let side = match one.since_answer {
                Some(span) if span < since => &mut soon,
                Some(_) => &mut later,
                None => continue,
            };
            *side = side.with(!one.is_lost());
        }
        is_proven(later, soon)
    })
}

/// The limit that such packets show, of which those from an index on are slower. Packets
/// that a burst may have answered are left out: the ones before the first loss, and the
/// fast ones if slower ones were lost as well.
fn limit(protocol: Protocol, series: &[SmallPacket], slower: usize) -> AnswerLimit {
    let (fast, slow) = series.split_at(slower);
    let limited = match counts(slow).lost {
        0 => fast,
        _ => slow,
    };
    let first_lost = limited.iter().position(|one| one.is_lost());
    let limited = &limited[first_lost.unwrap_or(0)..];
    let answered = limited.iter().filter(|one| !one.is_lost());
    let answered: Vec<Time> = answered.map(|one| one.at).collect();
    let (first, last, number) = match (&answered[..], limited) {
        ([first, .., last], _) => (*first, *last, answered.len() - 1),
        (_, [first, .., last]) => (first.at, last.at, 1),
        _ => (Time::ZERO, Time::ZERO + SLOWLY, 1),
    };
    let whole = last.since(first).unwrap_or(SLOWLY);
    let every = Span::from_picos(whole.as_picos() / number as u64);
    AnswerLimit { protocol, every }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// The packets of all looks, each answered if `is_answered` says so.
    fn series(mut is_answered: impl FnMut(Time) -> bool) -> Vec<SmallPacket> {
        let fast = (0..WINDOW as u64).map(|number| APART * number);
        let slow = (0..(LOOKS * LOOK) as u64).map(|number| APART * 20 + SLOWLY * number);
        let mut last: Option<Time> = None;
        let packets = fast.chain(slow).map(|span| {
            let at = Time::ZERO + span;
            let since_answer = last.and_then(|last| at.since(last));
            let is_answered = is_answered(at);
            last = if is_answered { Some(at) } else { last };
            SmallPacket {
                at,
                since_answer,
                is_answered: Some(is_answered),
            }
        });
        packets.collect()
    }

    #[test]
    fn a_token_bucket_is_recognised_with_its_rate() {
        for (per_second, burst) in [(7, 1), (10, 4), (35, 1), (60, 5)] {
            let every = Span::from_picos(1_000_000_000_000 / per_second);
            let mut full_at = Time::ZERO;
            let series = series(|now| {
                let next = full_at.max(now) + every;
                let is_answered = next <= now + every * burst;
                full_at = if is_answered { next } else { full_at };
                is_answered
            });
            assert!(depends_on_last_answer(&series), "{per_second} {burst}");
            let found = limit(Protocol::Icmp, &series, WINDOW).every;
            // The answers come at a multiple of the time between packets.
            let ratio = found.as_secs_f64() / every.as_secs_f64();
            assert!((0.8..1.5).contains(&ratio), "{per_second} {burst}: {ratio}");
        }
    }

    #[test]
    fn random_loss_is_taken_for_a_limit_in_one_of_500_series_at_most() {
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        for loss in [0.3, 0.5, 0.7, 0.9] {
            let limits = (0..1_000).filter(|_| {
                let series = series(|_| !rng.random_bool(loss));
                depends_on_last_answer(&series)
            });
            let wrong = limits.count();
            assert!(wrong <= 2, "{loss}: {wrong} of 1000");
        }
    }
}
