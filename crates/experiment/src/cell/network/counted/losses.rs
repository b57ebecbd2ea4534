//! Reads `[links.NAME.losses]`: the period in which drops are attributed to
//! flows.

use anyhow::Result;
use keyfile::quantity::span;
use plan::setting::Losses;
use units::Span;

use super::part;
use crate::reader::Reader;

/// Reads the table of `link`, if it exists; `other` is a link that already has
/// one, since these metrics exist once per trial.
pub(super) fn read(
    reader: &mut Reader<'_>,
    link: &str,
    duration: Span,
    other: Option<&str>,
) -> Result<Option<Losses>> {
    let [window, epoch] = ["window", "epoch"].map(|key| format!("links.{link}.losses.{key}"));
    let Some(found) = reader.optional(&window, part)? else {
        // An epoch without a period must not be ignored.
        return match reader.optional(&epoch, span)? {
            Some(found) => Err(found.reject(format!("it needs {window} = \"0s..25s\" beside it"))),
            None => Ok(None),
        };
    };
    let (from, to) = found.value;
    if to > duration {
        return Err(found.reject(format!(
            "traffic.duration ends at {duration}, before it; write a longer duration"
        )));
    }
    if let Some(other) = other {
        let why = format!("one link alone is looked at for losses, and {other} is; remove one");
        return Err(found.reject(why));
    }
    let epoch = reader.read(&epoch, span)?;
    if epoch.value == Span::ZERO {
        return Err(epoch.reject("write a time above 0, about a round trip"));
    }
    Ok(Some(Losses {
        from,
        to,
        epoch: epoch.value,
    }))
}
