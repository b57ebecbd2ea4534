//! `jumbolab gateway keygen`: keys of gateways.

use std::io::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result};
use gateway::machine::{Identity, KEY_LEN};
use os::random::random;

use crate::args::Keygen;
use crate::output;

pub(super) fn run(args: &Keygen) -> Result<()> {
    let identity = create(&args.file)?;
    match args.preshared {
        true => Ok(()),
        false => output::print(&format!("{}\n", identity.public())),
    }
}

/// Creates a file with a new private key. A key that two gateways share is as long.
pub(super) fn create(path: &Path) -> Result<Identity> {
    let identity = Identity::new(random::<KEY_LEN>()?.into());
    let written = files::create_private(path).and_then(|mut file| {
        let text = identity.text();
        file.write_all(text.as_bytes())?;
        file.write_all(b"\n")?;
        file.sync_all()
    });
    written.with_context(|| path.display().to_string())?;
    Ok(identity)
}
