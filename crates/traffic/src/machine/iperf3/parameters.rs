//! The parameters that a client sends.

use serde::{Deserialize, Serialize};

use super::Malformed;

/// The parameters of a test, with iperf3's names [iperf3]. Those that a client does not set are
/// absent, and unknown ones are ignored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Parameters {
    #[serde(skip_serializing_if = "is_false")]
    pub tcp: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub udp: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub sctp: bool,
    /// Seconds that results leave out.
    pub omit: u64,
    /// Seconds after those; 0: another limit.
    pub time: u64,
    /// Bytes of all streams of a direction; 0: another limit.
    pub num: u64,
    /// Blocks of all streams of a direction; 0: another limit.
    pub blockcount: u64,
    #[serde(rename = "MSS", skip_serializing_if = "is_zero")]
    pub mss: u64,
    #[serde(skip_serializing_if = "is_false")]
    pub nodelay: bool,
    /// Streams of a direction.
    pub parallel: u64,
    /// Whether the server sends.
    #[serde(skip_serializing_if = "is_false")]
    pub reverse: bool,
    /// Whether both send.
    #[serde(skip_serializing_if = "is_false")]
    pub bidirectional: bool,
    /// Bytes of both buffers of a socket.
    #[serde(skip_serializing_if = "is_zero")]
    pub window: u64,
    /// Bytes of a block.
    pub len: u64,
    /// Bits per second of each stream; 0: unlimited.
    #[serde(skip_serializing_if = "is_zero")]
    pub bandwidth: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub fqrate: u64,
    /// Blocks in a row at this rate.
    #[serde(skip_serializing_if = "is_zero")]
    pub burst: u64,
    /// The byte of the type of service.
    #[serde(rename = "TOS", skip_serializing_if = "is_zero")]
    pub tos: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub flowlabel: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congestion: Option<String>,
    /// Whether the client wants the text that the server prints.
    #[serde(skip_serializing_if = "is_zero")]
    pub get_server_output: u64,
    /// Whether datagrams have numbers of 64 bits.
    #[serde(skip_serializing_if = "is_zero")]
    pub udp_counters_64bit: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub dont_fragment: u64,
    /// The user's name and password, encrypted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authtoken: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_version: Option<String>,
}

impl Parameters {
    /// Reads parameters.
    ///
    /// # Errors
    /// They are no JSON, or a value has another type.
    pub fn parse(json: &[u8]) -> Result<Self, Malformed> {
        serde_json::from_slice(json).map_err(|_| Malformed::Json)
    }

    /// The JSON.
    pub fn json(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("numbers and text are JSON")
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_false(value: &bool) -> bool {
    !value
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_zero(value: &u64) -> bool {
    *value == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What iperf3 3.12 sends with `-n 20K -l 1000 -b 10M -P 2 -u`.
    const UDP: &str = r#"{"udp":true,"omit":0,"time":0,"num":20480,"blockcount":0,"parallel":2,"len":1000,"bandwidth":10000000,"pacing_timer":1000,"client_version":"3.12"}"#;

    #[test]
    fn parameters_of_iperf3_are_read_and_written() {
        let read = Parameters::parse(UDP.as_bytes()).unwrap();
        let expected = Parameters {
            udp: true,
            num: 20_480,
            parallel: 2,
            len: 1000,
            bandwidth: 10_000_000,
            client_version: Some("3.12".to_owned()),
            ..Parameters::default()
        };
        assert_eq!(read, expected);
        assert_eq!(Parameters::parse(&read.json()), Ok(read));
        for bad in ["", "hello", r#"{"len":-1}"#, r#"{"tcp":1}"#] {
            assert_eq!(
                Parameters::parse(bad.as_bytes()),
                Err(Malformed::Json),
                "{bad}"
            );
        }
    }
}
