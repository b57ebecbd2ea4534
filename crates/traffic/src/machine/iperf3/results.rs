//! The results that both ends exchange.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Number;

use super::{Malformed, whole};

/// The largest JSON of results that is read: 256 streams, and the text of a long test.
pub const LARGEST_RESULTS: usize = 1 << 20;

/// The results of one end, with iperf3's names [iperf3].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Results {
    /// The end's processor time, in percent of one processor.
    #[serde(default)]
    pub cpu_util_total: f64,
    #[serde(default)]
    pub cpu_util_user: f64,
    #[serde(default)]
    pub cpu_util_system: f64,
    /// 1 if the end sends and counts retransmissions; `None`: it receives.
    #[serde(default, with = "count")]
    pub sender_has_retransmits: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub congestion_used: Option<String>,
    /// What the server prints, if the client asked for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_output_text: Option<String>,
    pub streams: Vec<StreamResults>,
}

/// A stream at one end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StreamResults {
    #[serde(with = "count")]
    pub id: Option<u64>,
    #[serde(with = "count")]
    pub bytes: Option<u64>,
    /// Segments retransmitted; `None` of a receiver, and of UDP.
    #[serde(default, with = "count")]
    pub retransmits: Option<u64>,
    /// Seconds.
    #[serde(default)]
    pub jitter: f64,
    /// Datagrams lost.
    #[serde(default, with = "count")]
    pub errors: Option<u64>,
    /// Datagrams, with those that were lost.
    #[serde(default, with = "count")]
    pub packets: Option<u64>,
    #[serde(default)]
    pub start_time: f64,
    /// Seconds.
    #[serde(default)]
    pub end_time: f64,
}

impl Results {
    /// Reads results.
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

    /// The results of the stream `id`.
    pub fn stream(&self, id: u64) -> Option<&StreamResults> {
        self.streams.iter().find(|stream| stream.id == Some(id))
    }
}

/// Counts. iperf3 writes an unknown one as -1, or as 2^64 - 1, and other numbers as floats if
/// they are large.
mod count {
    use super::{Deserialize, Deserializer, Number, Serialize, Serializer, whole};

    #[expect(clippy::ref_option, reason = "serde passes a reference")]
    pub(super) fn serialize<S: Serializer>(
        count: &Option<u64>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match count {
            Some(count) => count.serialize(serializer),
            None => (-1).serialize(serializer),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<u64>, D::Error> {
        let number = Number::deserialize(deserializer)?;
        let float = number.as_f64().filter(|float| (0.0..1e18).contains(float));
        let count = number.as_u64().filter(|count| *count < u64::MAX);
        Ok(count.or_else(|| float.map(whole)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What an iperf3 3.12 server sent as the receiver of two UDP streams.
    const SERVER: &str = r#"{"cpu_util_total":12.370782687720096,"cpu_util_user":0,"cpu_util_system":12.359422924003182,"sender_has_retransmits":18446744073709551615,"streams":[{"id":1,"bytes":11000,"retransmits":18446744073709551615,"jitter":2.0717304923606206e-05,"errors":0,"packets":11,"start_time":0,"end_time":0.008746},{"id":3,"bytes":10000,"retransmits":-1,"jitter":0,"errors":1,"packets":11,"start_time":0,"end_time":0.008746}]}"#;

    #[test]
    fn results_of_iperf3_are_read() {
        let read = Results::parse(SERVER.as_bytes()).unwrap();
        assert_eq!(read.sender_has_retransmits, None);
        let [first, second] = [1, 3].map(|id| read.stream(id).unwrap());
        assert_eq!((first.bytes, first.retransmits), (Some(11_000), None));
        assert!((first.jitter - 2.071_730_492_360_620_6e-5).abs() < 1e-20);
        assert_eq!((second.errors, second.packets), (Some(1), Some(11)));
        assert_eq!(read.stream(2), None);
        assert_eq!(Results::parse(&read.json()), Ok(read.clone()));
        assert!(
            String::from_utf8(read.json())
                .unwrap()
                .contains(r#""retransmits":-1"#)
        );
        for bad in ["{}", r#"{"streams":[{}]}"#, r#"{"streams":{}}"#, "{"] {
            assert_eq!(
                Results::parse(bad.as_bytes()),
                Err(Malformed::Json),
                "{bad}"
            );
        }
    }
}
