use super::*;
use crate::driver::sessions::Name;
use wire::log::{Block, MAGIC, Next, next, open};

#[test]
fn what_is_handed_over_is_in_the_file_on_the_clocks_of_both_ends() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("one.jlog");
    let zero = Zero {
        sender: 1_000,
        here: 5_000,
    };
    let (log, records) = PacketLog::create(&path, LogOwner::Receiver, zero).unwrap();
    let offset = ClockOffset {
        nanos: 4_000,
        bound: 7,
    };
    let from = "[::1]:1".parse().unwrap();
    records.send(Entry::Clocks(1, offset)).unwrap();
    let described = Described {
        flow: 3,
        name: Name::new("voice").unwrap(),
        transport: Some(Protocol::Udp),
        meter: Meter::OneWay,
        from,
        to: from,
        dscp: 46,
    };
    records.send(Entry::Flow(described)).unwrap();
    let record = |sequence| crate::driver::sessions::Record {
        flow: 3,
        size: 100,
        sequence,
        sent: sequence * 10,
        untimed: false,
        received: Some(sequence * 10 + 5),
        stamped: sequence != 1,
        read: None,
    };
    let some = (0..5_000).map(record).collect();
    records.send(Entry::Records(some)).unwrap();
    let sent = Entry::Sent {
        flow: 3,
        messages: 5_000,
        bytes: 500_000,
    };
    records.send(sent).unwrap();
    drop(records);
    log.end().unwrap();

    let bytes = std::fs::read(&path).unwrap();
    open(&bytes).unwrap();
    let mut rest = &bytes[MAGIC.len()..];
    let (mut kept, mut other_entries) = (Vec::new(), Vec::new());
    while let Next::Block(block, length) = next(rest).unwrap() {
        rest = &rest[length..];
        match block {
            Block::Records(records) => {
                let mut batch = wire::log::Batch::default();
                records.read(&mut batch).unwrap();
                kept.extend(batch.records());
            }
            Block::End => break,
            other => other_entries.push(other),
        }
    }
    assert!(rest.is_empty());
    assert_eq!(kept.len(), 5_000);
    let second = Record {
        flow: 3,
        sequence: 1,
        sent: 1_010,
        received: Some(5_015),
        returned: None,
        size: 100,
        marks: Marks {
            late_stamp: true,
            congested: false,
            untimed: false,
        },
    };
    assert_eq!(kept[1], second);
    assert!(!kept[2].marks.late_stamp);
    let estimate = Block::Estimate(estimate(3, 1, offset));
    assert!(other_entries.contains(&estimate), "{other_entries:?}");
    let sent = Block::Sent(Sent {
        flow: 3,
        packets: 5_000,
        bytes: 500_000,
    });
    assert!(other_entries.contains(&sent), "{other_entries:?}");
    let again = PacketLog::create(&path, LogOwner::Receiver, zero)
        .err()
        .unwrap();
    assert!(
        format!("{again:#}").contains("name another one"),
        "{again:#}"
    );
}
#[test]
fn the_logs_of_a_receiver_share_their_space_and_an_end_is_said_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let zero = Zero { sender: 0, here: 0 };
    let record = |sequence| crate::driver::sessions::Record {
        flow: 0,
        size: 100,
        sequence,
        sent: sequence,
        untimed: false,
        received: Some(sequence),
        stamped: true,
        read: None,
    };
    let space = LogSpace::new(Bytes::new(LEAST_SPACE + 1_000));
    let (told, failures) = std::sync::mpsc::channel();
    let supervised = |name: &str| {
        let told = told.clone();
        let supervision = Supervision {
            space: Arc::clone(&space),
            failed: Box::new(move |error| told.send(format!("{error:#}")).unwrap()),
        };
        let path = folder.path().join(name);
        PacketLog::create_supervised(&path, LogOwner::Receiver, zero, supervision)
    };
    let (log, records) = supervised("two.jlog").unwrap();
    // A bundle has 4096 records; their numbers and times do not compress.
    let scattered = |sequence: u64| record(sequence.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 8);
    while !log.is_over() {
        let some = (0..4_096).map(scattered).collect();
        // The log has ended if nobody takes them.
        let _ = records.send(Entry::Records(some));
    }
    let said = failures.recv().unwrap();
    assert!(
        said.contains("two.jlog: the packet logs have reached their limit"),
        "{said}"
    );
    assert!(log.end().is_err());
    let written = std::fs::metadata(folder.path().join("two.jlog"))
        .unwrap()
        .len();
    assert!(written <= LEAST_SPACE + 1_000, "{written}");
    assert!(supervised("three.jlog").is_err());
    assert!(!folder.path().join("three.jlog").exists());
}
