//! Runs a program of the user in a node of a test network, optionally with
//! companion programs in other nodes.

use std::ffi::{OsStr, OsString};
use std::fmt::Write;
use std::io::ErrorKind;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;

use anyhow::{Context, Result, anyhow, bail};
use os::tool::{Tool, in_foreground};
use plan::command_line::{Addresses, CommandLine, ROUTER};
use plan::setting::{Network, Shape};
use plan::{Backend, Cell, Plan, Setting};

use crate::backend::netns::{Netns, TestbedHandle};
use crate::measure::{ended, until_ready};

/// The backend whose test networks shells can use.
pub const BACKEND: Backend = Backend::Netns;

/// The exit codes of shells for a program that cannot be run and for one that
/// does not exist.
const CANNOT_RUN: u8 = 126;
const NOT_FOUND: u8 = 127;

/// The number that shells add to the signal that ended a program.
const BY_SIGNAL: i32 = 128;

/// The programs to run, and their test network.
#[derive(Debug)]
pub struct ShellRequest {
    setting: Setting,
    node: String,
    command: Vec<OsString>,
    /// Programs to start first, in other nodes.
    companions: Vec<(String, CommandLine)>,
}

/// The first cell of `plan` that can be built here and, if there are several, a
/// line that names it and explains how to choose another one.
///
/// # Errors
/// One line of text if no cell can be built.
pub fn choose(plan: &Plan) -> Result<(Setting, Option<String>)> {
    let mut cells = plan.cells.iter().filter(|cell| cell.setting.is_ok());
    let first = cells
        .next()
        .and_then(|cell| Some((cell, cell.setting.as_ref().ok()?)));
    let Some((first, setting)) = first else {
        let reasons = plan
            .cells
            .iter()
            .find_map(|cell| cell.setting.as_ref().err());
        bail!(
            "no cell of {} has a test network here: {}",
            plan.name,
            reasons.map_or("the plan has no cells", String::as_str)
        );
    };
    let others: Vec<&Cell> = cells.collect();
    let note = others.last().map(|last| {
        format!(
            "the test network of {}, the first of {} cells{}",
            first.factors,
            others.len() + 1,
            difference(first, last)
        )
    });
    Ok((setting.clone(), note))
}

/// The options to type for `other` instead of `first`.
fn difference(first: &Cell, other: &Cell) -> String {
    let factors = other.factors.0.iter();
    let changed =
        factors.filter(|(name, level)| name != "copy" && first.factors.level(name) != Some(level));
    let typed: Vec<String> = changed
        .map(|(name, level)| format!("--set {name}={level}"))
        .collect();
    match typed.is_empty() {
        // Copies of one cell: no choice.
        true => String::new(),
        false => format!("; for another one type for instance {}", typed.join(" ")),
    }
}

impl ShellRequest {
    /// `command` in `node` of the test network of `setting`, with companions
    /// written as `NODE=COMMAND`.
    ///
    /// # Errors
    /// One line of text if the node does not exist or a companion is not a
    /// valid command line.
    pub fn new(
        setting: Setting,
        node: &str,
        command: Vec<OsString>,
        companions: &[String],
    ) -> Result<Self> {
        let network = &setting.network;
        known_node(network, node).map_err(|why| anyhow!(why))?;
        let companions = companions
            .iter()
            .map(|text| companion(network, text).map_err(|why| anyhow!("--with {text}: {why}")))
            .collect::<Result<Vec<_>>>()?;
        let has_router = |word: &OsString| word.to_string_lossy().contains(ROUTER);
        if network.shape != Shape::Routed && command.iter().any(has_router) {
            bail!(NO_ROUTER);
        }
        Ok(Self {
            setting,
            node: node.to_owned(),
            command,
            companions,
        })
    }
}

/// The error for `{router}` in a test network without a router.
const NO_ROUTER: &str = "{router} stands for an address, and only shape = \"routed\" has a router; write another node: --set network.shape=routed";

fn companion(network: &Network, text: &str) -> Result<(String, CommandLine), String> {
    let example = "write for instance receiver=\"iperf3 -s\"";
    let (node, line) = text.split_once('=').ok_or(example)?;
    known_node(network, node)?;
    let line: CommandLine = line.parse()?;
    match line.names_router() && network.shape != Shape::Routed {
        true => Err(NO_ROUTER.to_owned()),
        false => Ok((node.to_owned(), line)),
    }
}

fn known_node(network: &Network, node: &str) -> Result<(), String> {
    let names = network.node_names();
    match names.iter().any(|name| name == node) {
        true => Ok(()),
        false => Err(format!(
            "the test network has no node `{}`; name one of {}",
            node.escape_debug(),
            names.join(", ")
        )),
    }
}

/// A test network and the request to run in it.
pub struct Shell {
    // Dropped first: they must end before the sandbox's init process.
    companions: Vec<Tool>,
    netns: Netns,
    request: ShellRequest,
}

/// How the user's program ended.
#[derive(Debug)]
pub struct Exit {
    /// The exit code; 128 plus the number of the signal that ended the program;
    /// 126 or 127 if the program could not be started.
    pub code: u8,
    /// The reason why the program could not be started, if it could not.
    pub complaint: Option<anyhow::Error>,
}

impl Shell {
    /// Enters the sandbox and builds the test network.
    ///
    /// # Errors
    /// One line of text with the remedy if this machine forbids it.
    pub fn open(request: ShellRequest) -> Result<Self> {
        let mut netns = Netns::enter()?;
        netns
            .testbed(&request.setting)?
            .set_congestion_control(&request.setting)?;
        netns.share_links(&request.setting)?;
        Ok(Self {
            companions: Vec::new(),
            netns,
            request,
        })
    }

    /// The nodes with their interfaces, MTUs and addresses, a line each.
    ///
    /// # Errors
    /// No errors beyond those of [`Shell::open`].
    pub fn outline(&mut self) -> Result<String> {
        Ok(outline(self.netns.testbed(&self.request.setting)?))
    }

    /// Starts the companions, then the user's program, and waits for its end.
    /// Ctrl-C goes to the program meanwhile.
    ///
    /// # Errors
    /// A companion cannot be started, or fails before the program begins.
    pub fn run(&mut self) -> Result<Exit> {
        let request = &self.request;
        let handle = self.netns.testbed(&request.setting)?;
        let addresses = handle.addresses();
        for (node, line) in &request.companions {
            let started = start(handle, node, &line.filled(&addresses));
            let tool = started.with_context(|| format!("--with {node}"))?;
            self.companions.push(tool);
        }
        let mut command = self::command(request, &addresses)?;
        let namespace = &handle.node(&request.node)?.namespace;
        Ok(match in_foreground(namespace, &mut command) {
            Ok(status) => {
                let number = status.signal().map(|signal| BY_SIGNAL + signal);
                let code = status.code().or(number).unwrap_or(BY_SIGNAL);
                Exit {
                    code: u8::try_from(code).unwrap_or(u8::MAX),
                    complaint: None,
                }
            }
            Err(error) => Exit {
                code: match error.source.kind() {
                    ErrorKind::NotFound => NOT_FOUND,
                    _ => CANNOT_RUN,
                },
                complaint: Some(error.into()),
            },
        })
    }
}

/// The user's program with the addresses filled in and in its environment.
fn command(request: &ShellRequest, addresses: &Addresses) -> Result<Command> {
    let fill = |word: &OsString| -> OsString {
        let text = word.to_str().map(|word| addresses.fill(word).into());
        text.unwrap_or_else(|| word.clone())
    };
    let mut words = request.command.iter().map(fill);
    let program = words.next().context("the command is empty")?;
    let mut command = Command::new(program);
    command
        .args(words)
        .env("JUMBOLAB_NODE", OsStr::new(&request.node))
        .env("JUMBOLAB_SENDER", addresses.sender.to_string())
        .env("JUMBOLAB_RECEIVER", addresses.receiver.to_string());
    Ok(command)
}

/// Starts a companion and waits until it listens on a socket, if it does.
fn start(handle: &TestbedHandle, node: &str, words: &[String]) -> Result<Tool> {
    let namespace = &handle.node(node)?.namespace;
    let before = namespace.listeners()?;
    let mut tool = Tool::shown(namespace, words)?;
    let listens = || Ok(namespace.listeners()? > before);
    match until_ready(&mut tool, listens)? {
        Some(status) if !status.success() => bail!("{}", ended(&words[0], status, &tool)),
        _ => Ok(tool),
    }
}

fn outline(handle: &TestbedHandle) -> String {
    let interfaces = handle.testbed.interfaces();
    let rows: Vec<[String; 4]> = interfaces
        .map(|(node, interface)| {
            let address = handle.testbed.address(&handle.path, node, interface);
            [
                node.name.to_owned(),
                interface.name.clone(),
                format!("mtu {}", interface.mtu),
                address.map_or_else(|| "-".to_owned(), |address| address.to_string()),
            ]
        })
        .collect();
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let (node, interface, mtu) = (width(0), width(1), width(2));
    let mut text = String::new();
    for row in &rows {
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "{:node$}  {:interface$}  {:mtu$}  {}",
            row[0], row[1], row[2], row[3]
        );
    }
    text
}
