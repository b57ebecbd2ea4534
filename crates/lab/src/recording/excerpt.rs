//! The part of a recording that a page replays.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use anyhow::{Context, Result, bail};
use files::Folder;
use plan::Trial;
use plan::queue_recording::{Excerpt, Loss, QueueRecording, QueueWindow, QueuedPacket};
use proto::link::{Arrival, Fate};
use units::Time;

use super::{Decision, FOLDER, Recorded, reason, word};

/// The largest recording of which a page shows a part: 64 MiB.
const LARGEST: u64 = 1 << 26;

/// The flow of cross traffic.
const CROSS_TRAFFIC: u64 = u64::MAX;

/// The packets of `trial` about the first loss or mark at or after `from`, on the
/// first of its recorded links; `None` without a recording, or if it is too large.
///
/// # Errors
/// The recording cannot be read.
pub fn excerpt(folder: &Folder, trial: &Trial, from: Time) -> Result<Option<QueueRecording>> {
    let files = trial.evidence.list("recordings").unwrap_or_default();
    let mut names = files.iter().filter_map(|file| {
        let name = file.as_str()?.strip_prefix(FOLDER)?.strip_prefix('/')?;
        let link = name.strip_prefix(trial.id.as_str())?.strip_prefix('-')?;
        Some((name, link.strip_suffix(".csv")?))
    });
    let Some((name, link)) = names.next() else {
        return Ok(None);
    };
    let place = || format!("cannot read {FOLDER}/{name}");
    let file = { folder.folder(FOLDER) }
        .and_then(|files| files.open_file(name))
        .with_context(place)?;
    if file.metadata().with_context(place)?.len() > LARGEST {
        return Ok(None);
    }
    let recorded = Recorded::parse(file).with_context(place)?;
    let mut flows = Flows::default();
    let mut parts: [Excerpt; 2] = Default::default();
    for (part, traced) in parts.iter_mut().zip(&recorded.directions) {
        let decided = traced.packets.iter();
        let decided = decided.map(|(arrival, decision)| (arrival, *decision));
        *part = excerpt_of(decided, &mut flows, from).with_context(place)?;
    }
    let (direction, part) = Excerpt::of_link(parts);
    let all = recorded.directions[direction].packets.len() as u64;
    Ok(Some(QueueRecording {
        trial: trial.id.to_string(),
        factors: (*trial.factors).clone(),
        link: link.to_owned(),
        window: flows.window(direction, part, all),
    }))
}

/// The flows of a recording, numbered as they come.
#[derive(Default)]
pub(crate) struct Flows(BTreeMap<u64, usize>);

impl Flows {
    fn number(&mut self, flow: u64) -> usize {
        let next = self.0.len();
        *self.0.entry(flow).or_insert(next)
    }

    /// The shown part of one direction, which has `recorded` packets. Its flows are
    /// numbered anew and named.
    pub(crate) fn window(&self, direction: usize, part: Excerpt, recorded: u64) -> QueueWindow {
        let cross_traffic = self.0.get(&CROSS_TRAFFIC);
        let mut shown: BTreeMap<usize, usize> = BTreeMap::new();
        let (mut flows, mut named) = (Vec::new(), 0);
        let Excerpt {
            mut packets,
            decided,
        } = part;
        for packet in &mut packets {
            let is_cross = cross_traffic == Some(&packet.flow);
            packet.flow = *shown.entry(packet.flow).or_insert_with(|| {
                flows.push(match is_cross {
                    true => "cross traffic".to_owned(),
                    false => name(named),
                });
                named += usize::from(!is_cross);
                flows.len() - 1
            });
        }
        QueueWindow {
            direction,
            flows,
            packets: packets.into(),
            decided,
            recorded,
        }
    }
}

/// The name of a flow: a letter, since a page gives names that differ by numbers
/// alone one colour.
fn name(number: usize) -> String {
    match u8::try_from(number).ok().filter(|number| *number < 26) {
        Some(letter) => format!("flow {}", char::from(b'A' + letter)),
        None => format!("flow {}", number + 1),
    }
}

/// The packets of one direction about the first loss or mark at or after `from`. The
/// average of the discipline is not recorded.
pub(crate) fn excerpt_of<'a>(
    decided: impl Iterator<Item = (&'a Arrival, Option<Decision>)>,
    flows: &mut Flows,
    from: Time,
) -> Result<Excerpt> {
    // When the packets that wait leave the queue, the next one on top.
    let mut leaving: BinaryHeap<Reverse<Time>> = BinaryHeap::new();
    let mut excerpt = Excerpt::default();
    for (arrival, decision) in decided {
        if excerpt.is_whole() {
            break;
        }
        while leaving.peek().is_some_and(|next| next.0 <= arrival.at) {
            leaving.pop();
        }
        let waiting = u32::try_from(leaving.len()).unwrap_or(u32::MAX);
        leaving.push(Reverse(
            decision.map_or(Time::from_picos(u64::MAX), |decision| decision.at),
        ));
        let left = match &decision {
            None => None,
            Some(decision) => Some((decision.at, loss(decision)?)),
        };
        let packet = QueuedPacket {
            at: arrival.at,
            waiting,
            average: None,
            flow: flows.number(arrival.flow),
            size: arrival.size,
            inner: arrival.header.live.max(1),
            left,
            is_marked: decision.is_some_and(|decision| decision.marked),
            inner_drops: Vec::new(),
        };
        excerpt.take(packet, from);
    }
    Ok(excerpt)
}
/// The loss that a decision means; `None` if the packet was delivered.
fn loss(decision: &Decision) -> Result<Option<Loss>> {
    let name = match (decision.fate, decision.reason) {
        (Fate::Delivered | Fate::Duplicated, _) => return Ok(None),
        (Fate::Dropped, Some(why)) => reason(why),
        (fate, _) => word(fate),
    };
    match Loss::named(name) {
        Some(loss) => Ok(Some(loss)),
        None => bail!("`{name}` needs a reason"),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use plan::synthetic::{factors, trial};
    use serde_json::json;

    use super::*;

    #[test]
    fn a_recorded_link_is_a_queue_with_fates_and_lengths() {
        let folder = tempfile::tempdir().unwrap();
        let limit = queue::Limit::Packets(2);
        let settings = proto::link::Settings::perfect(None, queue::Spec::DropTail { limit });
        let first = json!({"format": 3, "origin_ps": 0, "ways": [settings, settings]});
        let text = format!(
            "# jumbolab recording {first}\n{}\n# chance 0 0 0 1\n# chance 1 0 0 2\n\
             10,10,0,1518,{CROSS_TRAFFIC},delivered,1,,0,0,0,0,0,1,\n\
             20,90,0,1518,7,delivered,2,,0,0,0,0,0,1,\n\
             30,30,0,1518,{CROSS_TRAFFIC},dropped,3,full,0,0,0,0,0,1,\n\
             40,,0,64,7,waiting,4,,0,0,0,0,0,1,\n# end\n",
            super::super::COLUMNS
        );
        fs::create_dir(folder.path().join(FOLDER)).unwrap();
        fs::write(folder.path().join("recordings/c00-r01-a-b.csv"), text).unwrap();
        let mut trial = trial(factors(1500), 1, &[]);
        trial.id = "c00-r01".into();
        let results = Folder::open(folder.path()).unwrap();
        assert_eq!(excerpt(&results, &trial, Time::ZERO).unwrap(), None);
        let files = json!(["recordings/c00-r01-a-b.csv"]);
        trial.evidence.insert("recordings", files);
        let found = excerpt(&results, &trial, Time::ZERO).unwrap().unwrap();
        assert_eq!(found.link, "a-b");
        let found = found.window;
        assert_eq!((found.direction, found.recorded), (0, 4));
        assert_eq!(found.flows, ["cross traffic", "flow A"]);
        assert_eq!(found.decided, Some(2));
        let waiting: Vec<u32> = found.packets.iter().map(|packet| packet.waiting).collect();
        assert_eq!(waiting, [0, 0, 1, 1]);
        let (_, loss) = found.packets[2].left.unwrap();
        assert_eq!(loss.map(Loss::name), Some("full"));
        assert_eq!(found.packets[3].left, None);
    }
}
