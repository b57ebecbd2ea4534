//! Reads `[links.NAME.watch]`: the recordings of a simulated link.

use anyhow::Result;
use keyfile::quantity::{span_or, switch};
use plan::setting::Watched;
use units::Span;

use crate::reader::Reader;

/// The recordings of the link `name`.
pub(super) fn read(reader: &mut Reader<'_>, name: &str) -> Result<Watched> {
    let path = |key: &str| format!("links.{name}.{key}");
    let mut on = |key: &str| -> Result<bool> {
        let found = reader.optional(&path(key), switch)?;
        Ok(found.is_some_and(|found| found.value))
    };
    let watched = Watched {
        queue: on("watch.queue")?,
        interval: None,
        drops: on("watch.drops")?,
        delays: on("watch.delays")?,
        capture: on("watch.capture")?,
    };
    let Some(interval) = reader.optional(&path("watch.interval"), span_or("arrival"))? else {
        return Ok(watched);
    };
    let why = match interval.value {
        Some(Span::ZERO) => {
            "no time lies between two packets; write for instance \"10ms\", or \"arrival\" for every one"
        }
        Some(_) if !watched.queue => {
            "only what waits is looked at in intervals; write watch.queue = on too"
        }
        interval => {
            return Ok(Watched {
                interval,
                ..watched
            });
        }
    };
    Err(interval.reject(why))
}
