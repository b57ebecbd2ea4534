//! Packet logs that a receiver sends to another host: `recv --log-to`, `recv --take-logs`.
#![expect(
    clippy::disallowed_methods,
    reason = "the other end is one of the test's own"
)]

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::time::Duration;

use secret::Secret;
use secret::channel::{Begun, HANDSHAKE_LEN, Opener, Sealer, accept};
use traffic::machine::log_transfer::{FromSender, FromTaker, LogName};

use super::super::harness::Dir;
use super::super::lookup::Object;
use super::Receiver;
use super::storage::receiver_with_room;

const SECRET: &str = "correct horse battery";

fn folder() -> Dir {
    let dir = Dir::new();
    dir.write_private("key", SECRET);
    dir.write_private("another", "another horse battery");
    dir
}

fn taker(dir: &Dir, options: &str) -> Receiver {
    Receiver::start(
        dir,
        &format!("--take-logs taken --secret-file key {options}"),
    )
}

/// A receiver whose logs go to `port`.
fn source(dir: &Dir, port: u16, key: &str) -> Receiver {
    let options = format!("--packet-log-dir logs --log-to 127.0.0.1:{port} --secret-file {key}");
    Receiver::start(dir, &options)
}

/// The visible and hidden files in a folder of the test.
fn files(dir: &Dir, folder: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir.path().join(folder)).unwrap();
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn a_log_arrives_byte_for_byte_and_is_removed_only_then() {
    let dir = folder();
    let taker = taker(&dir, "");
    let mut source = source(&dir, taker.port, "key");
    let sender = source.begin(
        &dir,
        "::1 --secret-file key --gap 200us --packets 5000 --json",
    );
    // A second name keeps the bytes of the file.
    while !dir.path().join("logs").exists() || files(&dir, "logs").is_empty() {
        std::thread::sleep(Duration::from_millis(10));
    }
    let local = files(&dir, "logs").remove(0);
    let copy = dir.path().join("copy.jlog");
    fs::hard_link(&local, &copy).unwrap();
    let sent = sender.wait_with_output().unwrap();
    assert!(sent.status.success());
    let line = source.says("sent the log");
    assert!(line.contains("to 127.0.0.1"), "{line}");
    assert!(!local.exists());
    let taken = files(&dir, "taken");
    let name = local.file_name().unwrap().to_str().unwrap();
    let expected = format!("taken/127.0.0.1-{name}");
    assert_eq!(taken, [dir.path().join(&expected)]);
    assert_eq!(fs::read(&taken[0]).unwrap(), fs::read(&copy).unwrap());
    let page = dir.run(&format!("decode {expected} --json"));
    let page = page.fine().json().remove(0);
    assert_eq!((page.count("received"), page.count("lost")), (5_000, 0));
    source.stop().fine();
    let said = taker.stop().fine().stderr;
    assert!(said.contains(&format!("stored 127.0.0.1-{name}")), "{said}");
}

#[test]
fn a_receiver_of_one_session_sends_its_log_before_it_ends() {
    let dir = folder();
    let mut taker = taker(&dir, "--once");
    let options = format!(
        "--once --packet-log-dir logs --log-to [::1]:{} --secret-file key",
        taker.port
    );
    let mut source = Receiver::start(&dir, &options);
    let flow = source.send(&dir, "::1 --secret-file key --packets 20");
    flow.fine();
    source.end().fine();
    taker.end().fine();
    assert!(files(&dir, "logs").is_empty());
    let taken = files(&dir, "taken").remove(0);
    let taken = taken.file_name().unwrap().to_str().unwrap();
    assert!(taken.starts_with("__1-"), "{taken}");
}

/// Sends a flow to a receiver whose logs go to `port`, and returns what it prints at its end.
fn logged(dir: &Dir, port: u16, key: &str, expected: &str) -> String {
    let mut source = source(dir, port, key);
    let flow = source.send(
        dir,
        &format!("::1 --secret-file {key} --packets 2000 --gap 0s"),
    );
    flow.fine();
    let line = source.says("was not sent and stays there");
    assert!(line.contains(expected), "{line}");
    let kept = files(dir, "logs");
    assert_eq!(kept.len(), 1);
    assert!(
        line.contains(kept[0].file_name().unwrap().to_str().unwrap()),
        "{line}"
    );
    let outcome = source.stop();
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    let log = kept[0].strip_prefix(dir.path()).unwrap().display();
    let page = dir.run(&format!("decode {log} --json")).fine();
    let page = page.json().remove(0);
    assert!(page.count("received") > 0, "{page}");
    fs::remove_file(&kept[0]).unwrap();
    line
}

#[test]
fn another_secret_and_an_absent_or_full_host_leave_the_log_here() {
    let dir = folder();
    let taker = taker(&dir, "--max-packet-log-size 70kB");
    logged(&dir, taker.port, "another", "closed the connection");
    assert!(files(&dir, "taken").is_empty());
    // The first log takes all of the space.
    let source = source(&dir, taker.port, "key");
    source
        .send(&dir, "::1 --secret-file key --packets 20")
        .fine();
    source.stop().fine();
    assert_eq!(files(&dir, "taken").len(), 1);
    let line = logged(&dir, taker.port, "key", "have reached their limit of 70kB");
    assert!(line.contains("--max-packet-log-size"), "{line}");
    assert_eq!(files(&dir, "taken").len(), 1);
    let port = taker.port;
    let said = taker.stop().fine().stderr;
    assert!(said.contains("the secrets differ"), "{said}");
    logged(&dir, port, "key", "nobody takes logs there");
}

#[test]
fn a_full_disk_at_the_other_host_leaves_the_log_here_and_the_service_on() {
    let dir = folder();
    let taker = receiver_with_room(&dir, 16, "--take-logs taken --secret-file key");
    let mut source = source(&dir, taker.port, "key");
    let send = |packets| {
        let options = format!("::1 --secret-file key --packets {packets} --gap 50us");
        source.send(&dir, &options).fine();
    };
    send(20_000);
    send(10);
    let line = source.says("was not sent and stays there");
    assert!(
        line.contains("cannot write") && line.contains("has room"),
        "{line}"
    );
    source.says("sent the log");
    assert_eq!(source.stop().code, Some(1));
    assert_eq!(
        (files(&dir, "logs").len(), files(&dir, "taken").len()),
        (1, 1)
    );
    taker.stop().fine();
}

/// A connection of the test that knows the secret.
struct Sealed {
    stream: TcpStream,
    sealer: Sealer,
    opener: Opener,
}

impl Sealed {
    fn to(port: u16) -> Self {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let secret = Secret::new(SECRET.into());
        let (begun, first) = Begun::new(&secret, [1; 32].into());
        stream.write_all(&first).unwrap();
        let mut second = [0; HANDSHAKE_LEN];
        stream.read_exact(&mut second).unwrap();
        let (sealer, opener) = begun.complete(&second).unwrap();
        Self {
            stream,
            sealer,
            opener,
        }
    }

    fn of(mut stream: TcpStream) -> Self {
        let mut first = [0; HANDSHAKE_LEN];
        stream.read_exact(&mut first).unwrap();
        let secret = Secret::new(SECRET.into());
        let (sealer, opener, second) = accept(&secret, [2; 32].into(), &first).unwrap();
        stream.write_all(&second).unwrap();
        Self {
            stream,
            sealer,
            opener,
        }
    }

    fn tell(&mut self, content: &[u8]) {
        let frame = self.sealer.seal(content);
        // The other end may have rejected what came before.
        let _ = self.stream.write_all(&frame);
    }

    /// The next frame; `None` at the end of the connection.
    fn next(&mut self) -> Option<Vec<u8>> {
        let mut room = [0; 1 << 16];
        loop {
            if let Some(content) = self.opener.open().unwrap() {
                return Some(content);
            }
            match self.stream.read(&mut room) {
                Ok(count @ 1..) => self.opener.push(&room[..count]),
                _ => return None,
            }
        }
    }

    fn answer(&mut self) -> FromTaker {
        FromTaker::parse(&self.next().unwrap()).unwrap()
    }

    fn reason(&mut self) -> String {
        match self.answer() {
            FromTaker::Rejected(why) => why,
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_host_that_ends_at_any_point_or_confirms_another_log_leaves_the_log_here() {
    let dir = folder();
    for (frames, answers, expected) in [
        (0, &[][..], "closed the connection"),
        (1, &[FromTaker::Begin], "closed the connection"),
        (3, &[FromTaker::Begin], "closed the connection"),
        (1, &[FromTaker::Stored([0; 32])], "about another log"),
        (
            3,
            &[FromTaker::Begin, FromTaker::Stored([0; 32])],
            "about another log",
        ),
        (1, &[FromTaker::Rejected("no room".to_owned())], "no room"),
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let answers = answers.to_vec();
        let far_end = std::thread::spawn(move || {
            let mut far_end = Sealed::of(listener.accept().unwrap().0);
            let mut answers = answers.iter();
            for number in 0..frames {
                let frame = far_end.next();
                let is_last = number + 1 == frames;
                if number == 0 || is_last {
                    let answer = answers.next().map(FromTaker::content);
                    answer.iter().for_each(|content| far_end.tell(content));
                }
                drop(frame);
            }
        });
        let line = logged(&dir, port, "key", "");
        far_end.join().unwrap();
        // What was unread when it closed makes the kernel reset the connection.
        let others = ["reset", "broken pipe"];
        let fits = line.contains(expected) || others.iter().any(|why| line.contains(why));
        assert!(fits, "{frames}, {expected}: {line}");
    }
}

#[test]
fn hostile_peers_change_nothing_and_do_not_stop_the_service() {
    let dir = folder();
    let taker = taker(&dir, "--max-packet-log-size 1MB");
    let offer = |size, name| {
        let name = LogName::new(name).unwrap();
        FromSender::Offer { size, name }.content()
    };
    // Bytes of chance, before and after a handshake.
    for length in [1, 47, 48, 49, 5_000] {
        let mut stream = TcpStream::connect(("127.0.0.1", taker.port)).unwrap();
        let _ = stream.write_all(&vec![0xa5; length]);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        assert!(
            answer.is_empty(),
            "nobody without the secret gets an answer"
        );
    }
    // Names that lead elsewhere, and a run that looks for an agent.
    let good = offer(10, "good.jlog");
    for name in [
        "../x.jlog",
        "/etc/x.jlog",
        ".x.jlog",
        "a/b.jlog",
        "x\0.jlog",
        "x",
        "",
    ] {
        let bad = [&good[..good.len() - "good.jlog".len()], name.as_bytes()].concat();
        let mut peer = Sealed::to(taker.port);
        peer.tell(&bad);
        assert!(peer.reason().contains("another protocol"), "{name:?}");
    }
    let mut peer = Sealed::to(taker.port);
    peer.tell(&[7; 16]);
    assert!(peer.reason().contains("another protocol"));
    // Sizes.
    for size in [1_000_001, u64::MAX] {
        let mut peer = Sealed::to(taker.port);
        peer.tell(&offer(size, "large.jlog"));
        assert!(peer.reason().contains("limit of 1MB"));
    }
    // Each rejected one gives its space back, so there is room for the next.
    for (pieces, expected) in [
        (&[FromSender::Piece(&[1; 700_000 / 16])][..], "are missing"),
        (
            &vec![FromSender::Piece(&[1; 60_000]); 12],
            "more than the 700000 bytes",
        ),
        (&[FromSender::Alive, FromSender::Alive], "are missing"),
    ] {
        let mut peer = Sealed::to(taker.port);
        peer.tell(&offer(700_000, "one.jlog"));
        assert_eq!(peer.answer(), FromTaker::Begin);
        for piece in pieces {
            peer.tell(&piece.content());
        }
        peer.tell(&FromSender::End([3; 32]).content());
        assert!(peer.reason().contains(expected), "{expected}");
    }
    let mut peer = Sealed::to(taker.port);
    peer.tell(&offer(4, "one.jlog"));
    assert_eq!(peer.answer(), FromTaker::Begin);
    peer.tell(&FromSender::Piece(b"four").content());
    peer.tell(&FromSender::End([3; 32]).content());
    assert!(peer.reason().contains("differ"));
    // One that ends in the middle, and one that says nothing at the same time.
    let mut gone = Sealed::to(taker.port);
    gone.tell(&offer(700_000, "one.jlog"));
    assert_eq!(gone.answer(), FromTaker::Begin);
    gone.tell(&FromSender::Piece(&[1; 60_000]).content());
    drop(gone);
    let silent = TcpStream::connect(("127.0.0.1", taker.port)).unwrap();
    // An honest one is served.
    let mut source = source(&dir, taker.port, "key");
    source
        .send(&dir, "::1 --secret-file key --packets 20")
        .fine();
    source.says("sent the log");
    drop(silent);
    source.stop().fine();
    taker.stop().fine();
    assert_eq!(files(&dir, "taken").len(), 1, "{:?}", files(&dir, "taken"));
}

#[test]
fn options_of_remote_logs_need_a_secret_and_a_folder() {
    let dir = folder();
    for (options, words) in [
        ("--log-to b --secret-file key", &["--packet-log-dir"][..]),
        ("--log-to b --packet-log-dir logs", &["--secret-file"]),
        ("--take-logs taken", &["--secret-file"]),
        (
            "--take-logs taken --secret-file key --packet-log-dir logs",
            &["--take-logs"],
        ),
        (
            "--log-to [::1 --packet-log-dir logs --secret-file key",
            &["--log-to [::1", "in brackets"],
        ),
    ] {
        dir.run(&format!("recv --port 0 {options}")).rejected(words);
    }
    assert!(!dir.path().join("logs").exists() && !dir.path().join("taken").exists());
}
