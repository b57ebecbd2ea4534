//! A test as a client asked for it, within what a server allows.

use units::{Span, Transport};

use super::{LEAST_DATAGRAM, Parameters};

/// The most streams of a direction, as in iperf3.
pub const MOST_STREAMS: u64 = 128;

/// Limits of iperf3: of a block, of a datagram, of buffers, of a segment, and of a burst.
const LARGEST_BLOCK: u64 = 1 << 20;
const LARGEST_DATAGRAM: u64 = 65_507;
const LARGEST_WINDOW: u64 = 512 << 20;
const LARGEST_SEGMENT: u64 = 9216;
const LONGEST_BURST: u64 = 1000;
const LONGEST_OMISSION: u64 = 600;

/// Who sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The client.
    Forward,
    /// The server.
    Reverse,
    /// Both: the first half of the streams is the client's.
    Both,
}

/// A test that can be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    pub transport: Transport,
    pub direction: Direction,
    /// Streams of a direction.
    pub streams: u16,
    /// Bytes of a block: a write, or a datagram.
    pub block: usize,
    /// The time that results leave out.
    pub omit: Span,
    /// The time after that; `None`: until another limit.
    pub length: Option<Span>,
    /// Bytes that all streams of a direction send together.
    pub bytes: Option<u64>,
    /// Blocks that they send together.
    pub blocks: Option<u64>,
    /// Bits per second of each stream; 0: unlimited.
    pub rate: u64,
    /// Blocks that leave in a row.
    pub burst: u64,
    /// Whether datagrams have numbers of 64 bits.
    pub wide: bool,
    pub window: Option<u64>,
    pub segment: Option<u16>,
    pub no_delay: bool,
    /// Differentiated services code point.
    pub dscp: u8,
    pub congestion: Option<String>,
    pub unfragmented: bool,
    /// Whether the client wants the server's text.
    pub wants_text: bool,
}

/// What a server allows.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// The longest test.
    pub longest: Span,
    /// Whether it sends.
    pub sends: bool,
}

/// Why a test is not run: the number by which iperf3 knows the error, that of the system, and
/// the words for the user of this end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    pub number: u32,
    pub system: u32,
    pub why: String,
}

impl Rejection {
    /// Of a test that only a client with a password may have.
    pub const AUTHORISATION: u32 = 142;
    /// Of parameters that cannot be read.
    pub const PARAMETERS: u32 = 114;
    /// Of a congestion control that this host lacks.
    pub const CONGESTION: u32 = 134;
    /// Of a socket that cannot be opened.
    pub const STREAM: u32 = 202;

    /// What iperf3 3.12 prints about a number that a server may send.
    pub fn words(number: u32) -> Option<&'static str> {
        Some(match number {
            5 => "test duration too long",
            6 => "number of parallel streams too large",
            7 | 20 => "block size not allowed",
            18 => "no SCTP support available",
            27 => "total required bandwidth is larger than the server's limit",
            Self::PARAMETERS => "unable to receive parameters",
            123 | 148 => "unable to set the MSS",
            124 | 130 | 141 => "unable to set the socket buffer size",
            131 => "protocol does not exist",
            Self::CONGESTION => "unable to set the congestion control",
            Self::AUTHORISATION => {
                "the server wants a user name and a password, which jumbolab does not send"
            }
            Self::STREAM => "unable to start a listener for streams",
            _ => return None,
        })
    }

    /// The number and the reason.
    pub fn new(number: u32, why: impl Into<String>) -> Self {
        Self {
            number,
            system: 0,
            why: why.into(),
        }
    }
}

/// The number of the stream at `place`: iperf3 leaves out 2 [iperf3].
pub fn stream_id(place: usize) -> u64 {
    let place = place as u64;
    if place == 0 { 1 } else { place + 2 }
}

impl Request {
    /// Whether the client sends in the stream at `place`.
    pub fn client_sends(&self, place: usize) -> bool {
        match self.direction {
            Direction::Forward => true,
            Direction::Reverse => false,
            Direction::Both => place < usize::from(self.streams),
        }
    }

    /// The streams of all directions.
    pub fn all_streams(&self) -> usize {
        let each = usize::from(self.streams);
        match self.direction {
            Direction::Both => 2 * each,
            Direction::Forward | Direction::Reverse => each,
        }
    }

    /// The parameters by which a client asks for the test. It ends the test itself, so a part
    /// of a second may be left over.
    pub fn parameters(&self) -> Parameters {
        let seconds = |span: Span| span.as_nanos().div_ceil(1_000_000_000);
        Parameters {
            tcp: self.transport == Transport::Tcp,
            udp: self.transport == Transport::Udp,
            omit: seconds(self.omit),
            time: self.length.map_or(0, seconds),
            num: self.bytes.unwrap_or(0),
            blockcount: self.blocks.unwrap_or(0),
            mss: self.segment.map_or(0, u64::from),
            nodelay: self.no_delay,
            parallel: self.streams.into(),
            reverse: self.direction == Direction::Reverse,
            bidirectional: self.direction == Direction::Both,
            // The server sets both buffers, so it is asked for them only if it sends.
            window: match self.direction {
                Direction::Forward => 0,
                Direction::Reverse | Direction::Both => self.window.unwrap_or(0),
            },
            len: self.block as u64,
            bandwidth: self.rate,
            burst: if self.burst > 1 { self.burst } else { 0 },
            tos: u64::from(self.dscp) << 2,
            congestion: self.congestion.clone(),
            udp_counters_64bit: self.wide.into(),
            dont_fragment: self.unfragmented.into(),
            get_server_output: self.wants_text.into(),
            // A server may behave otherwise to clients of other versions.
            client_version: Some("3.12".to_owned()),
            ..Parameters::default()
        }
    }

    /// What a client asks for.
    ///
    /// # Errors
    /// The first thing that cannot be done, with iperf3's number.
    pub fn of(parameters: &Parameters, bounds: Bounds) -> Result<Self, Rejection> {
        reject(parameters, bounds)?;
        let some = |value: u64| Some(value).filter(|value| *value > 0);
        let transport = match parameters.udp {
            true => Transport::Udp,
            false => Transport::Tcp,
        };
        let direction = match (parameters.reverse, parameters.bidirectional) {
            (true, _) => Direction::Reverse,
            (_, true) => Direction::Both,
            _ => Direction::Forward,
        };
        let small = "it was bounded above";
        Ok(Self {
            transport,
            direction,
            streams: u16::try_from(parameters.parallel.max(1)).expect(small),
            block: usize::try_from(parameters.len).expect(small),
            omit: Span::from_secs(parameters.omit),
            length: some(parameters.time).map(Span::from_secs),
            bytes: some(parameters.num),
            blocks: some(parameters.blockcount),
            rate: parameters.bandwidth,
            burst: parameters.burst.max(1),
            wide: parameters.udp_counters_64bit > 0,
            window: some(parameters.window),
            segment: some(parameters.mss).map(|size| u16::try_from(size).expect(small)),
            no_delay: parameters.nodelay,
            dscp: u8::try_from(parameters.tos >> 2).expect(small),
            congestion: parameters.congestion.clone(),
            unfragmented: parameters.dont_fragment > 0,
            wants_text: parameters.get_server_output > 0,
        })
    }
}

/// Rejects what a server does not do.
fn reject(asked: &Parameters, bounds: Bounds) -> Result<(), Rejection> {
    let sends = asked.reverse || asked.bidirectional;
    let limits = [asked.time, asked.num, asked.blockcount];
    let set = limits.iter().filter(|limit| **limit > 0).count();
    let longest = bounds.longest.as_nanos() / 1_000_000_000;
    let length = asked.omit.saturating_add(asked.time);
    let largest = match asked.udp {
        true => LARGEST_DATAGRAM,
        false => LARGEST_BLOCK,
    };
    let least = match asked.udp {
        true => LEAST_DATAGRAM as u64,
        false => 1,
    };
    let size = asked.len;
    let cases = [
        (asked.sctp, 18, "it asks for SCTP".to_owned()),
        (
            asked.authtoken.is_some(),
            Rejection::AUTHORISATION,
            "it sends a user name and a password, and this receiver knows no users".to_owned(),
        ),
        (
            asked.tcp == asked.udp,
            131,
            "it asks for neither TCP nor UDP".to_owned(),
        ),
        (
            asked.reverse && asked.bidirectional,
            25,
            "it asks for -R and --bidir together".to_owned(),
        ),
        (
            asked.parallel > MOST_STREAMS,
            6,
            format!(
                "it asks for {} streams, and {MOST_STREAMS} are allowed",
                asked.parallel
            ),
        ),
        (
            asked.udp && (size < least || size > largest),
            20,
            format!("its datagrams have {size} bytes, and {least} to {largest} are allowed"),
        ),
        (
            size < least || size > largest,
            7,
            format!("its blocks have {size} bytes, and {least} to {largest} are allowed"),
        ),
        (
            set > 1,
            16,
            "it sets more than one of -t, -n and -k".to_owned(),
        ),
        (set == 0, 5, "it sets no end of the test".to_owned()),
        (
            asked.omit > LONGEST_OMISSION,
            12,
            format!(
                "it omits {} s, and {LONGEST_OMISSION} s are allowed",
                asked.omit
            ),
        ),
        (
            length > longest,
            5,
            format!("its test takes {length} s, and --max-duration allows {longest} s"),
        ),
        (
            asked.burst > LONGEST_BURST,
            15,
            format!(
                "its bursts have {} blocks, and {LONGEST_BURST} are allowed",
                asked.burst
            ),
        ),
        (
            asked.window > LARGEST_WINDOW,
            8,
            format!("it asks for buffers of {} bytes", asked.window),
        ),
        (
            asked.mss > LARGEST_SEGMENT,
            10,
            format!("it asks for segments of {} bytes", asked.mss),
        ),
        (
            asked.tos > 255,
            21,
            format!("its type of service is {}", asked.tos),
        ),
        (
            sends && !bounds.sends,
            27,
            "it asks this receiver to send, and --max-payload-rate is 0".to_owned(),
        ),
        (
            sends && asked.flowlabel > 0,
            127,
            "it asks this receiver to send with a flow label".to_owned(),
        ),
        (
            sends && asked.fqrate > 0,
            140,
            "it asks this receiver to send with --fq-rate".to_owned(),
        ),
    ];
    let rejected = cases.into_iter().find(|(applies, ..)| *applies);
    rejected.map_or(Ok(()), |(_, number, why)| Err(Rejection::new(number, why)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: Bounds = Bounds {
        longest: Span::from_secs(3600),
        sends: true,
    };

    fn tcp() -> Parameters {
        Parameters {
            tcp: true,
            time: 10,
            parallel: 1,
            len: 131_072,
            ..Parameters::default()
        }
    }

    #[test]
    fn streams_are_numbered_as_iperf3_does() {
        assert_eq!([0, 1, 2, 3].map(stream_id), [1, 3, 4, 5]);
    }

    #[test]
    fn a_test_of_iperf3s_defaults_is_run() {
        let request = Request::of(&tcp(), BOUNDS).unwrap();
        assert_eq!(request.length, Some(Span::from_secs(10)));
        assert_eq!((request.streams, request.all_streams()), (1, 1));
        let both = Parameters {
            bidirectional: true,
            parallel: 2,
            ..tcp()
        };
        let request = Request::of(&both, BOUNDS).unwrap();
        let sends = [0, 1, 2, 3].map(|place| request.client_sends(place));
        assert_eq!(
            (request.all_streams(), sends),
            (4, [true, true, false, false])
        );
    }

    #[test]
    fn a_test_that_is_asked_for_is_the_one_that_is_run() {
        let asked = [
            tcp(),
            Parameters {
                bidirectional: true,
                mss: 1000,
                tos: 184,
                window: 5,
                ..tcp()
            },
            Parameters {
                reverse: true,
                time: 0,
                num: 5,
                bandwidth: 7,
                burst: 3,
                ..tcp()
            },
            Parameters {
                tcp: false,
                udp: true,
                len: 100,
                udp_counters_64bit: 1,
                ..tcp()
            },
        ];
        for asked in asked {
            let request = Request::of(&asked, BOUNDS).unwrap();
            assert_eq!(Request::of(&request.parameters(), BOUNDS), Ok(request));
        }
    }

    #[test]
    fn what_is_not_done_has_the_number_by_which_iperf3_knows_it() {
        let change = |change: fn(&mut Parameters)| {
            let mut asked = tcp();
            change(&mut asked);
            Request::of(&asked, BOUNDS).unwrap_err().number
        };
        assert_eq!(change(|asked| asked.sctp = true), 18);
        assert_eq!(change(|asked| asked.authtoken = Some("x".to_owned())), 142);
        assert_eq!(change(|asked| asked.udp = true), 131);
        assert_eq!(change(|asked| asked.parallel = 129), 6);
        assert_eq!(change(|asked| asked.len = 1 << 21), 7);
        assert_eq!(change(|asked| asked.len = 0), 7);
        assert_eq!(change(|asked| asked.num = 1), 16);
        assert_eq!(change(|asked| asked.time = 0), 5);
        assert_eq!(change(|asked| asked.time = 3601), 5);
        assert_eq!(change(|asked| asked.omit = u64::MAX), 12);
        assert_eq!(change(|asked| asked.burst = 1001), 15);
        assert_eq!(change(|asked| asked.window = u64::MAX), 8);
        assert_eq!(change(|asked| asked.mss = 65_536), 10);
        assert_eq!(change(|asked| asked.tos = 256), 21);
        assert_eq!(
            change(|asked| (asked.reverse, asked.bidirectional) = (true, true)),
            25
        );
        assert_eq!(
            change(|asked| (asked.reverse, asked.flowlabel) = (true, 5)),
            127
        );
        let small = |asked: &mut Parameters| (asked.tcp, asked.udp, asked.len) = (false, true, 15);
        assert_eq!(change(small), 20);
        let silent = Bounds {
            sends: false,
            ..BOUNDS
        };
        let reverse = Parameters {
            reverse: true,
            ..tcp()
        };
        assert_eq!(Request::of(&reverse, silent).unwrap_err().number, 27);
    }
}
