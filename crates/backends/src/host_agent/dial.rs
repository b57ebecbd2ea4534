//! The connection of a run to a server of agents. A worker of this program carries it, so that
//! the run sees an agent as it sees one behind `ssh`.

use std::ffi::OsStr;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use anyhow::{Context, Result, anyhow, bail};
use os::deadline::Deadline;
use os::error::OperationContext as _;
use os::host_name::host_and_port;
use os::socket::Options;
use os::worker::{ARGUMENT, Command};
use os::{far_host, own_executable, random, secrecy};
use traffic::driver::control_port::{Connection, sealed};
use units::Span;

use super::channel::{FrameKind, PIECE, PORT, RunId};

/// The role of the worker.
pub(crate) const ROLE: &str = "agent-connection";

/// The scheme of a destination with a server of agents.
pub(crate) const SCHEME: &str = "tcp://";

/// The time for a connection.
const CONNECTING: Span = Span::from_secs(10);

/// The longest silence of the server, which answers each heartbeat.
const SILENCE: Span = Span::from_secs(6);

/// The time for the worker to end after its input has ended.
const GRACE: Span = Span::from_millis(500);

/// The remedy if nobody listens.
const ABSENT: &str = "no server of agents listens there; start `jumbolab agent --listen ADDRESS --secret-file FILE` on that host";

/// A server of agents, and the run that uses it.
pub(crate) struct AgentServer {
    /// As the user wrote it, without the scheme.
    destination: String,
    secret_file: PathBuf,
    run: RunId,
}

impl AgentServer {
    /// The server at a destination `tcp://HOST[:PORT]`; `None` if it is another destination.
    ///
    /// # Errors
    /// There is no secret, or no name of a host.
    pub(crate) fn of(destination: &str, secret_file: Option<&Path>) -> Result<Option<Self>> {
        let Some(rest) = destination.strip_prefix(SCHEME) else {
            return Ok(None);
        };
        server(rest)?;
        let secret_file = secret_file.with_context(|| {
            format!(
                "{destination} needs secret_file=FILE, the file of `jumbolab agent --listen` there"
            )
        })?;
        Ok(Some(Self {
            destination: rest.to_owned(),
            secret_file: secret_file.to_owned(),
            run: random::random()?,
        }))
    }

    /// The command that starts another agent there.
    ///
    /// # Errors
    /// The system does not tell the file of this program.
    pub(crate) fn command(&self) -> Result<Command<'static>> {
        let run: String = self.run.iter().map(|byte| format!("{byte:02x}")).collect();
        let words: [&OsStr; 5] = [
            ARGUMENT.as_ref(),
            ROLE.as_ref(),
            self.destination.as_ref(),
            self.secret_file.as_os_str(),
            run.as_ref(),
        ];
        let name = format!("agent on {SCHEME}{}", self.destination);
        let program = own_executable::path()?;
        let program = program.to_string_lossy();
        Ok(Command::new(&program, words, GRACE).called(name).leased())
    }
}

/// The host and the port of a destination without its scheme.
fn server(text: &str) -> Result<(&str, u16)> {
    let (host, port) = host_and_port(text).with_context(|| {
        format!(
            "`{SCHEME}{text}`: write {SCHEME}HOST or {SCHEME}HOST:PORT, an IPv6 address with a port in brackets"
        )
    })?;
    Ok((host, port.unwrap_or(PORT)))
}

/// Connects to the server that the arguments name, and carries its agent's input and output.
///
/// # Errors
/// There is no agent, or the connection is lost: one line with the reason.
pub(crate) fn serve(arguments: impl Iterator<Item = String>) -> Result<()> {
    let arguments: Vec<String> = arguments.collect();
    let [destination, secret_file, run] = arguments.as_slice() else {
        bail!("{ROLE} needs a destination, a file and a run");
    };
    let secret = secrecy::read_secret(Path::new(secret_file));
    let secret = secret.with_context(|| format!("secret_file={secret_file}"))?;
    let (host, port) = server(destination)?;
    let mut connected = Err(anyhow!("{host} has no address"));
    for address in far_host::addresses(host, port, ("--host", None))? {
        let connection = Connection::to(address, &Options::default(), CONNECTING, ABSENT);
        connected = connection.map_err(Into::into);
        if connected.is_ok() {
            break;
        }
    }
    let connection = Arc::new(connected?);
    let (mut sending, mut receiving) = sealed::begin(&connection, &secret)?;
    sending.send(&run_id(run).context("the run has no name")?)?;
    let send = move || {
        let mut room = vec![0; PIECE];
        while let Ok(count @ 1..) = io::stdin().read(&mut room) {
            if sending.send(&room[..count]).is_err() {
                break;
            }
        }
        // The run has ended, and with this process the connection.
        std::process::exit(0)
    };
    thread::Builder::new()
        .spawn(send)
        .during(|| "starting a thread")?;
    loop {
        take(&receiving.next(&Deadline::fixed(SILENCE))?)?;
    }
}

/// Passes on what a frame of the server carries.
fn take(content: &[u8]) -> Result<()> {
    match FrameKind::of(content) {
        Some((FrameKind::Alive, _)) => {}
        Some((FrameKind::Output, bytes)) => {
            let mut output = io::stdout().lock();
            output.write_all(bytes)?;
            output.flush()?;
        }
        Some((FrameKind::Complaint, bytes)) => io::stderr().write_all(bytes)?,
        Some((FrameKind::Rejected, why)) => bail!("{}", String::from_utf8_lossy(why)),
        None => bail!("the server speaks another protocol; use the same jumbolab at both ends"),
    }
    Ok(())
}

/// The name of a run from its digits.
fn run_id(digits: &str) -> Option<RunId> {
    let byte = |at| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
    let bytes: Option<Vec<u8>> = (0..digits.len()).step_by(2).map(byte).collect();
    bytes?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_needs_a_secret_and_a_port() {
        let why = AgentServer::of("tcp://b:x", None).err().unwrap();
        assert!(why.to_string().contains("tcp://HOST:PORT"), "{why}");
        assert!(AgentServer::of("user@b", None).unwrap().is_none());
        let why = AgentServer::of("tcp://b", None).err().unwrap().to_string();
        assert!(why.starts_with("tcp://b needs secret_file=FILE"), "{why}");
    }

    #[test]
    fn the_name_of_a_run_comes_from_its_digits() {
        let digits = "000102030405060708090a0b0c0d0eff";
        assert_eq!(run_id(digits).map(|run| (run[1], run[15])), Some((1, 255)));
        for bad in ["", "0", &digits[2..], "zz0102030405060708090a0b0c0d0eff"] {
            assert_eq!(run_id(bad), None, "{bad}");
        }
    }
}
