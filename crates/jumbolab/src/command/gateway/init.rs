//! `jumbolab gateway init`: the files of a gateway with one peer, and the other's half.

use std::fmt::Write as _;
use std::io::{ErrorKind, Write as _};
use std::path::Path;

use anyhow::{Context as _, Result, anyhow, bail};
use gateway::configuration::{Simple, read_identity, read_options};
use gateway::driver::Host;
use gateway::machine::PublicKey;
use units::IpMtu;

use super::keygen;
use crate::args::Init;
use crate::output;

pub(super) fn run(args: &Init) -> Result<()> {
    let (key, file) = (
        args.config_dir.join("gateway.key"),
        args.config_dir.join("gateway.toml"),
    );
    let args = &with_mtu(args);
    check(args, None)?;
    let mut said = String::new();
    let is_new = !key.exists();
    let identity = match is_new {
        false => read_identity(&key)?,
        true => {
            files::create_folder(&args.config_dir)
                .with_context(|| args.config_dir.display().to_string())?;
            let identity = keygen::create(&key)?;
            let _ = writeln!(said, "created {}", key.display());
            identity
        }
    };
    if args.public_key.is_some() {
        check(args, Some(&key))?;
        create(&file, &configuration(args, &key))?;
        let _ = writeln!(said, "created {}", file.display());
    }
    if is_new || args.public_key.is_none() {
        let half = half(args, &identity.public().to_string());
        let _ = write!(said, "\nType on the other gateway:\n\n    {half}\n");
    }
    let _ = match args.public_key {
        None => writeln!(said, "\nThen type here what it prints."),
        Some(_) => writeln!(
            said,
            "\nThen type here:\n\n    jumbolab gateway --config {0} --check\n    jumbolab gateway --config {0}",
            file.display()
        ),
    };
    output::print(&said)
}

/// The options with the MTU of the interface toward the peer, where none is written: bundles
/// are no larger, and both gateways may state it.
fn with_mtu(args: &Init) -> Init {
    let toward = |peer| Host::look().ok()?.mtu_toward(peer);
    let mtu = args.peer.parse().ok().and_then(toward);
    let fitting = mtu.map(|mtu| mtu.min(IpMtu::LARGEST).to_string());
    Init {
        mtu: args.mtu.clone().or(fitting),
        ..args.clone()
    }
}

/// Rejects options that make no configuration. Without a key only the others are read.
fn check(args: &Init, key: Option<&Path>) -> Result<()> {
    let one = |value: &str| vec![value.to_owned()];
    let mut values = vec![
        ("peers", "address", "peer", one(&args.peer)),
        ("peers", "local", "local", one(&args.local)),
        ("peers", "prefixes", "prefix", args.prefix.clone()),
    ];
    if let Some(mtu) = &args.mtu {
        values.push(("peers", "mtu", "mtu", one(mtu)));
    }
    if let Some(mtu) = &args.inside_mtu {
        values.push(("inside", "mtu", "inside-mtu", one(mtu)));
    }
    if let (Some(path), Some(public)) = (key, &args.public_key) {
        let path = path.display().to_string();
        values.push(("core", "private_key_file", "config-dir", one(&path)));
        values.push(("peers", "public_key", "public-key", one(public)));
    }
    read_options(&Simple { values })?;
    // The other gateway reads these as its peer's.
    let mirrored = vec![
        ("peers", "address", "local", one(&args.local)),
        ("peers", "local", "peer", one(&args.peer)),
        (
            "peers",
            "prefixes",
            "local-prefix",
            args.local_prefix.clone(),
        ),
    ];
    read_options(&Simple { values: mirrored })?;
    if let Some(prefix) = args
        .prefix
        .iter()
        .find(|one| args.local_prefix.contains(one))
    {
        bail!(
            "--prefix {prefix}: it is also --local-prefix; write a network of the other gateway's hosts"
        );
    }
    if let Some(public) = &args.public_key {
        let read = public.parse::<PublicKey>();
        read.map_err(|bad| anyhow!("--public-key {public}: {bad}"))?;
    }
    Ok(())
}

/// The configuration as TOML.
fn configuration(args: &Init, key: &Path) -> String {
    // The strings of JSON are strings of TOML.
    let string = |text: &str| serde_json::Value::from(text).to_string();
    let prefixes: Vec<String> = args.prefix.iter().map(|prefix| string(prefix)).collect();
    let mtu = args.inside_mtu.as_ref();
    let inside = mtu.map_or_else(String::new, |mtu| format!("[inside]\nmtu = {mtu}\n\n"));
    let mut text = format!(
        "# By `jumbolab gateway init`; `jumbolab gateway --template` has all keys.\n{inside}[core]\nprivate_key_file = {}\n\n[peers.other]\naddress = {}\nlocal = {}\nprefixes = [{}]\n",
        string(&key.display().to_string()),
        string(&args.peer),
        string(&args.local),
        prefixes.join(", "),
    );
    if let Some(public) = &args.public_key {
        let _ = writeln!(text, "public_key = {}", string(public));
    }
    if let Some(mtu) = &args.mtu {
        let _ = writeln!(text, "mtu = {mtu}");
    }
    text
}

/// The command that completes the other gateway.
fn half(args: &Init, public: &str) -> String {
    let mut line = format!(
        "jumbolab gateway init --local {} --peer {}",
        args.peer, args.local
    );
    for prefix in &args.prefix {
        let _ = write!(line, " --local-prefix {prefix}");
    }
    for prefix in &args.local_prefix {
        let _ = write!(line, " --prefix {prefix}");
    }
    if let Some(mtu) = &args.mtu {
        let _ = write!(line, " --mtu {mtu}");
    }
    if let Some(mtu) = &args.inside_mtu {
        let _ = write!(line, " --inside-mtu {mtu}");
    }
    let _ = write!(line, " --public-key {public}");
    line
}

/// Creates a file that did not exist.
fn create(path: &Path, text: &str) -> Result<()> {
    let written = files::create_new(path).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.sync_all()
    });
    written.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => anyhow!(
            "{}: the file exists; remove it, or choose another --config-dir",
            path.display()
        ),
        _ => anyhow!("{}: {error}", path.display()),
    })
}
