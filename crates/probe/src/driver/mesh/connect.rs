//! Starts the program on the hosts of a mesh.

use std::thread;

use os::Worker;
use os::request::{self, Reply, Request};
use os::ssh::{Become, Destination, Ssh};
use serde::de::DeserializeOwned;
use units::{Span, Time};

use super::HostLine;
use super::prober::ROLE;

/// The time for the program on a host to end.
const GRACE: Span = Span::from_millis(500);

/// The program on a host. It ends when this value is dropped.
pub(super) struct Connected {
    worker: Worker,
    /// Ends after the worker.
    ssh: Ssh,
}

impl Connected {
    /// # Errors
    /// The host has dropped out: one line.
    pub(super) fn ask<R: Request>(&mut self, request: &R) -> Result<(), String> {
        let line = request::line(request).map_err(|error| error.to_string())?;
        let sent = self.worker.send_line(&line);
        sent.map_err(|error| self.reason(&error))
    }

    /// The next reply until `deadline`.
    ///
    /// # Errors
    /// The host has dropped out: one line.
    pub(super) fn hear<T: DeserializeOwned>(
        &mut self,
        deadline: Time,
    ) -> Result<Option<Reply<T>>, String> {
        let line = self.worker.receive_line(deadline);
        let line = line.map_err(|error| self.reason(&error))?;
        let reply = line.map(|line| request::heard(&line)).transpose();
        reply.map_err(|_| "the program there answers with something else".to_owned())
    }

    /// The reason for which the host has dropped out: that of the connection, if it has
    /// ended.
    fn reason(&mut self, error: &os::Error) -> String {
        match self.ssh.lost() {
            Some(lost) => lost.source.to_string(),
            None => format!("the program there ended, or was killed: {}", error.source),
        }
    }
}

/// Starts the program on all hosts with a destination at the same time. Returns it, or
/// the reason for which it could not be started, by host.
pub(super) fn connect(hosts: &[HostLine]) -> (Vec<Option<Connected>>, Vec<Option<String>>) {
    let reached: Vec<Option<os::Result<(Ssh, String)>>> = thread::scope(|scope| {
        let reach = |host: &HostLine| {
            let (destination, privilege) = (host.ssh.clone()?, host.privilege.clone());
            let reach = move || reach(&destination, privilege.as_ref());
            Some(thread::Builder::new().spawn_scoped(scope, reach))
        };
        let threads: Vec<_> = hosts.iter().map(reach).collect();
        threads
            .into_iter()
            .map(|thread| {
                let reached = thread?.map_err(|source| os::Error {
                    operation: "starting a thread".to_owned(),
                    source,
                });
                Some(
                    reached.and_then(|thread| thread.join().expect("no code of the thread panics")),
                )
            })
            .collect()
    });
    // A worker ends with the thread that starts it, so this one does.
    let start = |reached: Option<os::Result<(Ssh, String)>>| {
        reached.map(|reached| {
            // The line names the host already.
            let (ssh, program) = reached.map_err(|error| error.source.to_string())?;
            let words = [program.as_str(), os::worker::ARGUMENT, ROLE];
            let command = ssh.command(&words, GRACE);
            let worker = command.and_then(Worker::spawn);
            let worker = worker.map_err(|error| error.to_string())?;
            Ok(Connected { worker, ssh })
        })
    };
    let started = reached.into_iter().map(start);
    started
        .map(|started: Option<Result<Connected, String>>| match started {
            None => (None, None),
            Some(Ok(connected)) => (Some(connected), None),
            Some(Err(why)) => (None, Some(why)),
        })
        .unzip()
}

fn reach(destination: &Destination, privilege: Option<&Become>) -> os::Result<(Ssh, String)> {
    let ssh = Ssh::connect(destination, privilege)?;
    let program = ssh.program()?;
    Ok((ssh, program))
}
