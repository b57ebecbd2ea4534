//! `jumbolab agent`.

use std::io::{self, IsTerminal as _};
use std::net::SocketAddr;
use std::path::Path;

use anyhow::{Result, bail};
use backends::host_agent::{self, Event, EventKind, Server};
use os::{interrupt, own_executable};

use super::flow_text::secret;
use super::log_thread::LogThread;
use crate::args::Agent;

pub(crate) fn run(args: &Agent) -> Result<()> {
    match &args.secret_file {
        Some(file) => listen(args, file),
        None if io::stdin().is_terminal() => bail!(
            "`jumbolab run --on hosts` starts this command by ssh; for a host without ssh add --listen ADDRESS --secret-file FILE"
        ),
        None => host_agent::serve(),
    }
}

/// Serves until the user stops it.
fn listen(args: &Agent, secret_file: &Path) -> Result<()> {
    let secret = secret(secret_file)?;
    interrupt::listen()?;
    let addresses = args.listen.iter();
    let addresses: Vec<SocketAddr> = addresses
        .map(|ip| SocketAddr::new(*ip, args.port))
        .collect();
    let server = Server::open(&addresses, secret)?;
    let log = LogThread::start()?;
    for address in server.addresses() {
        log.info(format!(
            "listening on {} port {}",
            address.ip(),
            address.port()
        ));
    }
    if let Some(address) = server.addresses().first() {
        log.info(firewall(address.port())?);
    }
    let ended = server.run(|Event { peer, kind }| match kind {
        EventKind::Began => log.info(format!("{peer}: an agent began")),
        EventKind::Ended => log.info(format!("{peer}: it ended")),
        EventKind::Rejected(why) => log.rejected(peer.ip(), &why),
    });
    log.end();
    Ok(ended?)
}

/// A firewall rule for the controller and for the other end of its traffic. The program does not
/// set it.
fn firewall(port: u16) -> Result<String> {
    let program = own_executable::path()?;
    let rule = match std::env::consts::OS {
        "windows" => format!(
            "New-NetFirewallRule -DisplayName jumbolab -Direction Inbound -Action Allow -Program '{}' -RemoteAddress CONTROLLER,OTHER_END",
            program.display()
        ),
        "linux" => format!(
            "nft add rule inet filter input ip saddr CONTROLLER tcp dport {port} accept; nft add rule inet filter input ip saddr OTHER_END accept"
        ),
        _ => format!(
            "pass in proto tcp from CONTROLLER to any port {port}; pass in from OTHER_END (pf.conf)"
        ),
    };
    Ok(format!("if a firewall is in the way: {rule}"))
}
