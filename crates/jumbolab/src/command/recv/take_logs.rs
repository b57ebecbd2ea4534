//! `jumbolab recv --take-logs`: takes packet logs of receivers on other hosts.

use std::path::Path;

use anyhow::{Context as _, Result};
use files::Folder;
use os::interrupt;
use traffic::driver::log_transfer::{Event, EventKind, Server};

use super::{at_addresses, log_space, secret};
use crate::args::Recv;
use crate::command::log_thread::LogThread;

/// Takes logs until the user stops it.
pub(super) fn run(args: &Recv, folder: &Path) -> Result<()> {
    let file = args.secret_file.as_deref();
    let secret = secret(file.context("--take-logs needs --secret-file FILE")?)?;
    let space = log_space(args)?;
    interrupt::listen()?;
    let named = || format!("--take-logs {}", folder.display());
    files::create_folder(folder).with_context(named)?;
    let folder = Folder::open(folder).with_context(named)?;
    let server = at_addresses(args, |listen| {
        let folder = folder.try_clone().with_context(named)?;
        let space = std::sync::Arc::clone(&space);
        Ok(Server::open(&listen, secret.clone(), folder, space)?)
    })?;
    let log = LogThread::start()?;
    for address in server.addresses() {
        let (ip, port) = (address.ip(), address.port());
        log.info(format!("listening for packet logs on {ip} port {port}"));
    }
    let ended = server.run(args.once, |Event { peer, kind }| match kind {
        EventKind::Stored { name, bytes } => {
            log.info(format!("{}: stored {name}, {bytes} bytes", peer.ip()));
        }
        EventKind::Rejected(why) => log.rejected(peer.ip(), &why),
    });
    log.end();
    Ok(ended?)
}
