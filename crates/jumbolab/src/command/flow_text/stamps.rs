//! Timestamps that the program gives to arrivals: how many, and how precise.

use os::ProgramStamps;
use serde::Serialize;
use traffic::driver::sessions::Report;
use units::Span;
use units::with_unit::seconds;

use super::time;

/// The precision of the program's timestamps in JSON.
#[derive(Serialize)]
pub(super) struct Stamps {
    #[serde(serialize_with = "seconds::serialize")]
    stamp_resolution_s: Span,
    #[serde(serialize_with = "seconds::serialize")]
    stamp_late_p99_s: Span,
}

impl From<ProgramStamps> for Stamps {
    fn from(ProgramStamps { resolution, late }: ProgramStamps) -> Self {
        Self {
            stamp_resolution_s: resolution,
            stamp_late_p99_s: late,
        }
    }
}

/// The precision that a receiver reports of its timestamps.
pub(super) fn of(report: &Report) -> Option<ProgramStamps> {
    report.stamps.map(|stamps| ProgramStamps {
        resolution: Span::from_nanos(stamps.resolution),
        late: Span::from_nanos(stamps.late),
    })
}

/// A line about `count` arrivals with a timestamp of the program; nothing without any.
pub(super) fn line(count: u64, stamps: Option<ProgramStamps>) -> String {
    if count == 0 {
        return String::new();
    }
    let precision = stamps.map_or_else(String::new, |ProgramStamps { resolution, late }| {
        format!(
            ": resolution {}, p99 {} late over loopback",
            time(resolution),
            time(late)
        )
    });
    format!(
        "  unstamped   {count} have a timestamp of the program, none of the kernel{precision}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_precision_of_stamps_is_stated_where_there_are_some() {
        let stamps = ProgramStamps {
            resolution: Span::from_nanos(100),
            late: Span::from_micros(62),
        };
        assert_eq!(line(0, Some(stamps)), "");
        assert_eq!(
            line(7, Some(stamps)),
            "  unstamped   7 have a timestamp of the program, none of the kernel: resolution 100 ns, p99 62.00 us late over loopback\n"
        );
        assert!(line(7, None).ends_with("none of the kernel\n"));
        let json = serde_json::to_string(&Stamps::from(stamps)).unwrap();
        assert_eq!(
            json,
            r#"{"stamp_resolution_s":1e-7,"stamp_late_p99_s":0.000062}"#
        );
    }
}
