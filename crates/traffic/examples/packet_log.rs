//! Writes a packet log of realistic traffic, for benchmarks by hand:
//!
//!     cargo run --release -p jumbolab-traffic --example packet_log -- 3000000 typical.jlog
//!
//! One flow: gaps are exponential with a mean of 20 us, delays a base of 300 us
//! and an exponential part with a mean of 20 us, sizes uniform from 64 to 1472
//! bytes. One packet in a thousand is lost, one in a thousand overtaken, one
//! in ten thousand comes twice.

use std::fs::File;
use std::io::Write;

use anyhow::{Context, Result};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use wire::log::{Clock, Facts, Flow, Marks, Record, Role, Sent, Writer};

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let packets = arguments.next().context("name the number of packets")?;
    let packets: u64 = packets.parse()?;
    let path = arguments.next().context("name the file")?;
    let mut file = File::create(path)?;
    let mut out = Vec::new();
    let mut writer = Writer::new(
        &Facts {
            role: Role::Receiver,
            sent: Clock::Program,
            received: Clock::Kernel,
            returned: Clock::None,
            wall: 0,
            start: 0,
        },
        &mut out,
    );
    let flow = Flow {
        number: 0,
        name: "typical".into(),
        protocol: 17,
        dscp: 0,
        source: "[2001:db8::1]:40000".parse()?,
        destination: "[2001:db8::2]:5000".parse()?,
    };
    writer.flow(&flow, &mut out);
    let mut chance = ChaCha8Rng::seed_from_u64(1);
    let (mut sent, mut bytes) = (1_000_000_000, 0);
    let mut overtaken = None;
    for sequence in 0..packets {
        sent += exponential(&mut chance);
        let size = chance.random_range(64..=1472);
        bytes += u64::from(size);
        let record = Record {
            flow: 0,
            sequence,
            sent,
            received: Some(sent + 300_000 + exponential(&mut chance)),
            returned: None,
            size,
            marks: Marks::default(),
        };
        match chance.random_range(0..10_000) {
            0..10 => continue,
            10..20 if overtaken.is_none() => {
                overtaken = Some(record);
                continue;
            }
            20 => writer.record(record, &mut out),
            _ => (),
        }
        writer.record(record, &mut out);
        if let Some(late) = overtaken.take() {
            let received = record.received;
            writer.record(Record { received, ..late }, &mut out);
        }
        if out.len() > 1 << 20 {
            file.write_all(&out)?;
            out.clear();
        }
    }
    let sent = Sent {
        flow: 0,
        packets,
        bytes,
    };
    writer.sent(&sent, &mut out);
    writer.finish(&mut out);
    Ok(file.write_all(&out)?)
}

/// Nanoseconds with a mean of 20 us.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a logarithm of a number up to 1 is not positive"
)]
fn exponential(chance: &mut ChaCha8Rng) -> u64 {
    (-20_000.0 * (1.0 - chance.random::<f64>()).ln()) as u64
}
