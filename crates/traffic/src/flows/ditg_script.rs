//! Scripts of D-ITG's sender: each line has the options of one flow [D-ITG].
//!
//! A line becomes the keys of a flow. D-ITG takes rates of packets or milliseconds for the
//! times between packets; the order of two parameters differs with `-W` and `-w`, as what it
//! sends shows.

use std::path::Path;
use std::slice;

use anyhow::{Context as _, Error, Result};
use keyfile::{Origin, Section, fault};

use super::file::LARGEST_FILE;

/// The most flows of a script.
const MOST_FLOWS: usize = 1024;

/// Nanoseconds of a millisecond, D-ITG's unit of times.
const MILLISECOND: f64 = 1e6;

/// The flows of a script in order, each with its name. Keys that the script omits are as in
/// `typed`.
///
/// # Errors
/// One line of text with file, line, option and what to write instead.
pub fn read_ditg_script(path: &Path, typed: &Section) -> Result<Vec<(String, Section)>> {
    let name = path.display().to_string();
    let text = files::read_text(path, LARGEST_FILE).with_context(|| name.clone())?;
    parse(&text, &name, typed)
}

/// As [`read_ditg_script`], from text; error messages name `file`.
pub(super) fn parse(text: &str, file: &str, typed: &Section) -> Result<Vec<(String, Section)>> {
    let lines = (1..).zip(text.lines());
    let lines: Vec<_> = lines.filter(|(_, line)| !line.trim().is_empty()).collect();
    if lines.is_empty() || lines.len() > MOST_FLOWS {
        let why = format!("write 1 to {MOST_FLOWS} lines, such as -a 192.0.2.1 -C 1000 -c 512");
        return Err(fault(&Origin::start_of(file), why));
    }
    let flow = |(number, (line, text)): (usize, (usize, &str))| {
        let path = file.into();
        let mut reader = LineReader {
            words: text.split_whitespace().collect::<Vec<_>>().into_iter(),
            origin: Origin::File { path, line },
            keys: Section::default(),
        };
        let keys = reader.read()?;
        Ok((format!("flow-{number}"), keys.over(typed.clone())))
    };
    (1..).zip(lines).map(flow).collect()
}

/// The words of a line, and the keys that those before meant.
struct LineReader<'a> {
    words: std::vec::IntoIter<&'a str>,
    origin: Origin,
    keys: Section,
}

impl<'a> LineReader<'a> {
    fn read(&mut self) -> Result<Section> {
        let mut disables_nagle = false;
        let mut call = None::<[&str; 2]>;
        while let Some(option) = self.words.next() {
            match option {
                "-a" => self.copy(option, "host")?,
                "-rp" => self.copy(option, "destination_port")?,
                "-sp" => self.copy(option, "source_port")?,
                "-Sda" => self.copy(option, "control")?,
                "-sa" => self.copy(option, "source")?,
                "-i" => self.copy(option, "interface")?,
                "-f" => self.copy(option, "ttl")?,
                "-z" => self.copy(option, "packets")?,
                "-t" => self.time(option, "duration")?,
                "-d" => self.time(option, "start")?,
                "-k" => {
                    let kilobytes = self.number(option)?;
                    self.set("bytes", &format!("{:.0}B", kilobytes * 1e3));
                }
                "-m" => match self.word(option)? {
                    "owdm" => self.set("meter", "one-way"),
                    "rttm" => self.set("meter", "round-trip"),
                    _ => return Err(self.reject(option, "write owdm or rttm")),
                },
                "-T" => self.protocol(option)?,
                "-b" => self.service(option)?,
                "-D" => disables_nagle = true,
                "-B" => self.bursts(option)?,
                "-C" | "-U" | "-E" | "-N" | "-O" | "-V" | "-Y" | "-G" | "-W" => {
                    self.gaps(option)?;
                }
                "-c" | "-u" | "-e" | "-n" | "-o" | "-v" | "-y" | "-g" | "-w" => {
                    let letter = &option[1..].to_ascii_uppercase();
                    let sizes = self.distribution(option, letter, |bytes| bytes.to_string())?;
                    self.set("message", &sizes);
                }
                "Telnet" => self.set("preset", "telnet"),
                "DNS" => self.set("preset", "dns"),
                "Quake3" => self.set("preset", "quake3"),
                "CSa" => self.set("preset", "counter-strike-active"),
                "CSi" => self.set("preset", "counter-strike-idle"),
                "VoIP" => call = Some(["g711-1", ""]),
                "-x" if let Some([codec, _]) = &mut call => *codec = self.codec(option)?,
                "-h" if let Some([_, header]) = &mut call => *header = self.header(option)?,
                "-Ft" | "-Fs" => self.series(option)?,
                "-Fp" => self.copy(option, "payload")?,
                // What a sender does anyway: it opens all connections, and keeps times.
                "-H" | "-poll" => {}
                "-j" if self.words.as_slice().first() == Some(&"1") => drop(self.words.next()),
                "-p" if self.words.as_slice().first() == Some(&"2") => drop(self.words.next()),
                _ => return Err(self.unsupported(option)),
            }
        }
        if let Some([codec, header]) = call {
            self.set("preset", &format!("voip-{codec}{header}"));
        }
        let is_stream = (self.keys.text("protocol")?)
            .is_some_and(|protocol| ["tcp", "sctp"].contains(&protocol));
        if is_stream && !disables_nagle {
            self.set("nagle", "on");
        }
        for (key, usual) in [("message", "512"), ("gap", "1ms")] {
            if !self.keys.has(key) && !self.keys.has("preset") {
                self.set(key, usual);
            }
        }
        Ok(std::mem::take(&mut self.keys))
    }

    fn protocol(&mut self, option: &str) -> Result<()> {
        match self.word(option)?.to_ascii_uppercase().as_str() {
            "UDP" => self.set("protocol", "udp"),
            "TCP" => self.set("protocol", "tcp"),
            "ICMP" => {
                self.set("protocol", "icmp");
                self.set("meter", "round-trip");
            }
            // The number of the association means nothing here. ITGSend 2.8.1 itself rejects
            // more streams than one.
            "SCTP" => {
                self.set("protocol", "sctp");
                self.number(option)?;
                let streams = self.positive(option)?;
                self.set("sctp_streams", &streams.to_string());
            }
            "DCCP" => {
                let why = "Linux removed DCCP in version 6.16; write UDP, TCP, SCTP or ICMP";
                return Err(self.reject(option, why));
            }
            _ => return Err(self.reject(option, "write UDP, TCP, SCTP or ICMP")),
        }
        Ok(())
    }

    fn codec(&mut self, option: &str) -> Result<&'static str> {
        Ok(match self.word(option)? {
            "G.711.1" => "g711-1",
            "G.711.2" => "g711-2",
            "G.729.2" => "g729-2",
            "G.729.3" => "g729-3",
            "G.723.1" => "g723-1",
            _ => {
                let codecs = "write one of G.711.1, G.711.2, G.729.2, G.729.3, G.723.1";
                return Err(self.reject(option, codecs));
            }
        })
    }

    /// What stands for the header of calls in the name of a preset.
    fn header(&mut self, option: &str) -> Result<&'static str> {
        match self.word(option)? {
            "RTP" => Ok(""),
            "CRTP" => Ok("-crtp"),
            _ => Err(self.reject(option, "write RTP or CRTP")),
        }
    }

    /// The service byte: a code point, and below it ECN.
    fn service(&mut self, option: &str) -> Result<()> {
        let byte = self.word(option)?.parse::<u8>();
        let byte = byte.map_err(|_| self.reject(option, "write a number from 0 to 255"))?;
        self.set("dscp", &(byte >> 2).to_string());
        if byte & 3 != 0 {
            self.set(
                "ecn",
                ["not-ect", "ect1", "ect0", "ce"][usize::from(byte & 3)],
            );
        }
        Ok(())
    }

    /// Times between packets. Those of `-C`, `-U` and `-E` are rates in packets a second.
    fn gaps(&mut self, option: &str) -> Result<()> {
        let gap = |rate: f64| nanoseconds(1e9 / rate);
        let gaps = match option {
            "-C" => gap(self.positive(option)?),
            "-U" => {
                let (least, most) = (self.positive(option)?, self.positive(option)?);
                format!("uniform:{},{}", gap(most), gap(least))
            }
            "-E" => format!("exponential:{}", gap(self.positive(option)?)),
            "-O" => {
                return Err(self.reject(
                    option,
                    "D-ITG waits for a second divided by a Poisson number, which is no Poisson process; write -E RATE for one",
                ));
            }
            _ => self.distribution(option, &option[1..], milliseconds)?,
        };
        self.set("gap", &gaps);
        Ok(())
    }

    fn bursts(&mut self, option: &str) -> Result<()> {
        for key in ["on_time", "off_time"] {
            let letter = self.word(option)?;
            let times = self.distribution(option, letter, milliseconds)?;
            self.set(key, &times);
        }
        Ok(())
    }

    /// The distribution that D-ITG calls `letter`, with its parameters in words.
    fn distribution(
        &mut self,
        option: &str,
        letter: &str,
        value: fn(f64) -> String,
    ) -> Result<String> {
        let (name, count) = match letter {
            "C" => ("constant", 1),
            "U" => ("uniform", 2),
            "E" => ("exponential", 1),
            "N" => ("normal", 2),
            "O" => ("poisson", 1),
            "V" => ("pareto", 2),
            "Y" => ("cauchy", 2),
            "G" => ("gamma", 2),
            "W" => ("weibull", 2),
            _ => return Err(self.reject(option, "write one of C, U, E, N, O, V, Y, G, W")),
        };
        let first = self.positive(option)?;
        let second = (count == 2).then(|| self.positive(option)).transpose()?;
        let parameters = match (letter, second) {
            // The shape has no unit.
            ("V" | "G", Some(scale)) => format!("{first},{}", value(scale)),
            ("W", Some(shape)) => format!("{shape},{}", value(first)),
            (_, Some(second)) => format!("{},{}", value(first), value(second)),
            (_, None) => value(first),
        };
        Ok(format!("{name}:{parameters}"))
    }

    /// A file of milliseconds or bytes, a value on each line, which are taken in order.
    fn series(&mut self, option: &str) -> Result<()> {
        let path = self.word(option)?;
        let key = if option == "-Ft" { "gap" } else { "message" };
        self.set(key, &format!("series:{path}"));
        Ok(())
    }

    fn copy(&mut self, option: &str, key: &str) -> Result<()> {
        let value = self.word(option)?.to_owned();
        self.set(key, &value);
        Ok(())
    }

    fn time(&mut self, option: &str, key: &str) -> Result<()> {
        let time = milliseconds(self.number(option)?);
        self.set(key, &time);
        Ok(())
    }

    fn set(&mut self, key: &str, value: &str) {
        let value = value.to_owned();
        self.keys
            .set(key, slice::from_ref(&value), self.origin.clone());
    }

    /// The word after an option.
    fn word(&mut self, option: &str) -> Result<&'a str> {
        match self.words.next() {
            Some(word) => Ok(word),
            None => Err(self.reject(option, "its value is missing; write it behind the option")),
        }
    }

    fn number(&mut self, option: &str) -> Result<f64> {
        let number = self.word(option)?.parse::<f64>().ok();
        let number = number.filter(|number| (0.0..1e15).contains(number));
        number.ok_or_else(|| self.reject(option, "write a number of 0 or more"))
    }

    fn positive(&mut self, option: &str) -> Result<f64> {
        let number = self.number(option)?;
        match number > 0.0 {
            true => Ok(number),
            false => Err(self.reject(option, "write a number above 0")),
        }
    }

    fn unsupported(&self, option: &str) -> Error {
        let why = match option {
            "-s" => {
                "the random numbers are others than D-ITG's; leave it out and write send --seed NUMBER"
            }
            "-Ssa" | "-Ssp" | "-Si" => {
                "the control connection leaves as the kernel routes, or from the address of -sa; leave it out"
            }
            "-Sdp" => "all receivers have the control port of send --port PORT; leave it out",
            "-l" | "-x" | "-q" => {
                "leave it out; recv --packet-log-dir DIR writes logs, and decode --ditg-log FILE converts them"
            }
            "-L" | "-X" => "leave it out; recv --packet-log-dir DIR writes logs at the receiver",
            "-p" => "packets have a header of their own; leave it out",
            "-j" => "departures keep the mean rate; leave it out",
            "-VAD" => {
                "D-ITG's packets are smaller then, and have no pauses; leave it out, or write preset = \"voip-...-vad\" into a flow file"
            }
            "-sk" | "-rk" => "no signal is raised on serial lines; leave it out",
            _ => "no such option of a flow; ITGSend -h lists them",
        };
        self.reject(option, why)
    }

    fn reject(&self, option: &str, why: &str) -> Error {
        fault(&self.origin, format!("{option}: {why}"))
    }
}

fn milliseconds(number: f64) -> String {
    nanoseconds(number * MILLISECOND)
}

fn nanoseconds(number: f64) -> String {
    format!("{number:.0}ns")
}

#[cfg(test)]
mod tests;
