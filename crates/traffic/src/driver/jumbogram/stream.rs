//! TCP super-packets above 64 KiB ("BIG TCP"), today's successors of jumbograms, which
//! exist inside hosts only.

use std::io::{self, Read, Write};
use std::net::{Ipv6Addr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use units::Span;

use super::carry::Counted;
use super::jumbo_path::JumboPath;
use super::measure::{Measured, alone};
use os::error::{Error, OperationContext, Result};
use os::offload::LARGEST_SUPER;
use os::{clock, cpu_time, kernel_clock};

/// The largest super-packets that it makes by default.
pub const ORDINARY_SUPER: u32 = 65_536;

/// Bytes per write and read of a program.
const PIECE: usize = 1 << 20;

/// The longest time without progress of a stream.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Measures TCP over loopback of `jumbo_path` for `length`: single messages of `size`
/// bytes first, then the throughput. Its super-packets have up to `size` bytes,
/// within [`ORDINARY_SUPER`] and [`LARGEST_SUPER`].
///
/// # Errors
/// If the kernel rejects the size, or the stream stops.
pub fn super_packets(jumbo_path: &JumboPath, size: u32, length: Span) -> Result<Measured> {
    let most = size.clamp(ORDINARY_SUPER, LARGEST_SUPER);
    jumbo_path.set_super_packets(most)?;
    let [_, to] = jumbo_path.addresses;
    let operation = || "opening a stream over loopback";
    let (stream, there) = jumbo_path.at_sender(|| both_ends(to).during(operation))?;
    for end in [&stream, &there] {
        end.set_nodelay(true).during(operation)?;
        end.set_read_timeout(Some(TIMEOUT)).during(operation)?;
        end.set_write_timeout(Some(TIMEOUT)).during(operation)?;
    }
    let alone = alone(length);
    let (delays, stream, there) = messages(stream, there, size as usize, alone)?;
    let before = Counted::by(jumbo_path)?;
    let machine = cpu_time::Machine::sample()?;
    let programs = cpu_time::Process::sample()?;
    let began = clock::monotonic();
    let bytes = flood(stream, there, length - alone)?;
    let elapsed = clock::monotonic().since(began).unwrap_or(Span::ZERO);
    let programs = cpu_time::Process::sample()? - programs;
    let machine = cpu_time::Machine::sample()?.since(&machine);
    let packets = Counted::by(jumbo_path)?.packets - before.packets;
    Ok(Measured {
        packet: most.into(),
        jumbogram: false,
        delays,
        messages: bytes / u64::from(size),
        bytes,
        elapsed,
        programs: programs.cpu,
        machine: machine.busy,
        packets,
        window: 0,
        lost: 0,
    })
}

/// A stream to a listener of this process.
#[expect(clippy::disallowed_methods, reason = "a stream of this process alone")]
fn both_ends(to: Ipv6Addr) -> io::Result<(TcpStream, TcpStream)> {
    let listener = TcpListener::bind((to, 0))?;
    let stream = TcpStream::connect(listener.local_addr()?)?;
    Ok((stream, listener.accept()?.0))
}

/// Sorted delays of messages of `size` bytes: from just before a message is written
/// until all of it was read, with no other in flight.
fn messages(
    mut out: TcpStream,
    mut there: TcpStream,
    size: usize,
    length: Span,
) -> Result<(Vec<Span>, TcpStream, TcpStream)> {
    let operation = || "carrying messages over a stream";
    thread::scope(|scope| {
        let reading = move || -> Result<TcpStream> {
            let mut message = vec![0; size];
            loop {
                there.read_exact(&mut message).during(operation)?;
                let now = kernel_clock::monotonic_nanos().to_be_bytes();
                there.write_all(&now).during(operation)?;
                if message[0] != 0 {
                    return Ok(there);
                }
            }
        };
        let reading = thread::Builder::new().spawn_scoped(scope, reading);
        let reading = reading.during(|| "starting a thread")?;
        let mut message = vec![0; size];
        let mut delays = Vec::new();
        let deadline = clock::monotonic() + length;
        let writing = (|| -> Result<()> {
            while message[0] == 0 {
                message[0] = u8::from(clock::monotonic() >= deadline && delays.len() >= 20);
                let sent = kernel_clock::monotonic_nanos();
                out.write_all(&message).during(operation)?;
                let mut read = [0; 8];
                out.read_exact(&mut read).during(operation)?;
                let taken = u64::from_be_bytes(read).saturating_sub(sent);
                delays.push(Span::from_nanos(taken));
            }
            Ok(())
        })();
        let there = reading.join().expect("a reader does not panic");
        writing?;
        delays.sort_unstable();
        Ok((delays, out, there?))
    })
}

/// Writes at full speed for `length`. Returns the bytes that were read.
fn flood(mut out: TcpStream, mut there: TcpStream, length: Span) -> Result<u64> {
    let operation = || "filling a stream";
    thread::scope(|scope| {
        let reading = move || -> Result<u64> {
            let mut piece = vec![0; PIECE];
            let mut bytes = 0;
            loop {
                match there.read(&mut piece) {
                    Ok(0) => return Ok(bytes),
                    Ok(read) => bytes += read as u64,
                    // For example after the process was stopped and continued.
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(error).during(operation),
                }
            }
        };
        let reading = thread::Builder::new().spawn_scoped(scope, reading);
        let reading = reading.during(|| "starting a thread")?;
        let piece = vec![0; PIECE];
        let deadline = clock::monotonic() + length;
        let mut writing = Ok(());
        while writing.is_ok() && clock::monotonic() < deadline {
            writing = out.write_all(&piece).during(operation);
        }
        // The end of the stream ends the reader.
        drop(out);
        let bytes = reading.join().expect("a reader does not panic")?;
        writing?;
        match bytes {
            0 => Err(Error::new(operation(), "nothing arrived")),
            bytes => Ok(bytes),
        }
    })
}
