//! Mixes of messages.

use std::path::Path;

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use model::Message;
use units::Bytes;

/// The most bytes and lines of a file with a mix.
const LARGEST_FILE: u64 = 64 * 1024;
const MOST_LINES: usize = 256;

/// RTP with 20 ms of G.711, 64 kbit/s [RFC3551 s4.5.14] [RFC3550 s5.1].
const VOIP: [(u64, f64); 1] = [(160 + 12, 1.0)];

/// A block of NFS [Mulahuwaish s2] with a header of 128 bytes, which is our choice, and
/// a request of as much.
const NFS: [(u64, f64); 2] = [(128, 1.0), (8192 + 128, 1.0)];

/// Requests, and answers from small to large; our choice.
const WEB: [(u64, f64); 4] = [(500, 10.0), (2_000, 6.0), (20_000, 3.0), (200_000, 1.0)];

/// The mix of this name, or of a file.
///
/// # Errors
/// One line with the place, the value, and what would be right.
pub(super) fn mix(name: &str) -> Result<Vec<Message>> {
    let of = |messages: &[(u64, f64)]| -> Vec<Message> {
        let messages = messages.iter();
        messages
            .map(|(size, weight)| (Bytes::new(*size), *weight))
            .collect()
    };
    match name {
        "voip" => Ok(of(&VOIP)),
        "nfs" => Ok(of(&NFS)),
        "web" => Ok(of(&WEB)),
        _ => {
            let path = Path::new(name);
            let text = files::read_text(path, LARGEST_FILE);
            let text = text.with_context(|| {
                format!("--traffic-mix {name}: is neither web, nfs nor voip, and as a file")
            })?;
            read(&text).map_err(|why| match files::may_be_secret(path, &text) {
                false => anyhow!("{name}:{why}"),
                true => anyhow!(
                    "--traffic-mix {name}: this is no size and weight, and is not shown, as it may be a secret; name a file with lines such as 1500 7"
                ),
            })
        }
    }
}

/// The lines of a file: a size and a weight; `#` begins a remark.
fn read(text: &str) -> Result<Vec<Message>> {
    let mut messages = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let (size, weight) = line.split_once(char::is_whitespace).unwrap_or((line, "1"));
        let size = size
            .parse::<Bytes>()
            .map_err(|why| anyhow!("{number}: {size}: {why}"))?;
        let weight = weight
            .trim()
            .parse()
            .ok()
            .filter(|weight: &f64| *weight > 0.0 && weight.is_finite());
        let Some(weight) = weight.filter(|_| size > Bytes::ZERO) else {
            bail!("{number}: write a size and a weight above 0, for instance 1500 7");
        };
        messages.push((size, weight));
        ensure!(
            messages.len() <= MOST_LINES,
            "{number}: at most {MOST_LINES} sizes; write fewer"
        );
    }
    ensure!(
        !messages.is_empty(),
        "1: has no size; write lines such as 1500 7"
    );
    Ok(messages)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_sizes_with_weights() {
        let found = read("# a mix\n46 7\n576 4 # and\n\n1.5kB\n").unwrap();
        let bytes: Vec<_> = found
            .iter()
            .map(|(size, weight)| (size.get(), *weight))
            .collect();
        assert_eq!(bytes, [(46, 7.0), (576, 4.0), (1_500, 1.0)]);
    }

    #[test]
    fn lines_that_are_no_message_are_rejected_with_their_number() {
        for (text, words) in [
            ("", "1: has no size"),
            ("46 7\nx", "2: x: that is no number"),
            ("46 0", "1: write a size and a weight above 0"),
            ("46 nan", "1: write a size"),
            ("0 1", "1: write a size"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.starts_with(words), "{text}: {error}");
        }
        let error = read(&"46 7\n".repeat(300)).unwrap_err().to_string();
        assert!(error.starts_with("257: at most 256 sizes"), "{error}");
    }
}
